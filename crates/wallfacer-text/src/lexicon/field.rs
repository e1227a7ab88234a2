//! What a field holds, guessed from its name and description. Whole words only: `path` does not hide in `empathy`.

use super::words;

/// What a field holds, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldKind {
    Path,
    Directory,
    FileName,
    Url,
    Host,
    Port,
    IpAddress,
    Email,
    Phone,
    Command,
    Sql,
    SearchQuery,
    Code,
    Html,
    Json,
    Expression,
    Glob,
    Identifier,
    Uuid,
    Timezone,
    DateTime,
    Date,
    Time,
    Year,
    Language,
    Country,
    City,
    Currency,
    Owner,
    Repository,
    Branch,
    Revision,
    Version,
    Person,
    Label,
    Text,
    Secret,
    Color,
    MimeType,
    Latitude,
    Longitude,
    Count,
    Page,
    Percentage,
    Template,
    Regex,
    Cron,
    Base64,
    Hash,
    Package,
    Selector,
    Ticker,
    Duration,
    Diagram,
    Graph,
    Markdown,
    Csv,
    Xml,
    Yaml,
    Cell,
    CellRange,
    Sheet,
    Table,
    Column,
    Namespace,
    Unit,
    Month,
    Hour,
    Coordinates,
    PreprintId,
    Doi,
    Isbn,
    PubMedId,
    VideoId,
    VideoUrl,
    Vulnerability,
    Image,
    Arn,
    Bucket,
    Airport,
    Coin,
    TradingPair,
    Isin,
    Iban,
    PostalCode,
    Slug,
    Wikidata,
    Protein,
    Molecule,
    Film,
    Subnet,
    MacAddress,
}

/// Things that the whole world numbers in one way. What a name such as `id` leaves open, these words settle, wherever they
/// stand: in the name, in the description, in a refusal.
const NUMBERED: &[(&str, FieldKind)] = &[
    ("arxiv id", FieldKind::PreprintId),
    ("arxiv ids", FieldKind::PreprintId),
    ("arxiv identifier", FieldKind::PreprintId),
    ("arxiv paper", FieldKind::PreprintId),
    ("doi", FieldKind::Doi),
    ("dois", FieldKind::Doi),
    ("isbn", FieldKind::Isbn),
    ("isbn13", FieldKind::Isbn),
    ("pmid", FieldKind::PubMedId),
    ("pmids", FieldKind::PubMedId),
    ("pubmed id", FieldKind::PubMedId),
    ("pubmed ids", FieldKind::PubMedId),
    ("youtube video id", FieldKind::VideoId),
    ("youtube video", FieldKind::VideoId),
    ("youtube id", FieldKind::VideoId),
    ("video id", FieldKind::VideoId),
    ("cve", FieldKind::Vulnerability),
    ("cve id", FieldKind::Vulnerability),
    ("docker image", FieldKind::Image),
    ("container image", FieldKind::Image),
    ("image tag", FieldKind::Image),
    ("arn", FieldKind::Arn),
    ("bucket", FieldKind::Bucket),
    ("bucket name", FieldKind::Bucket),
    ("iata", FieldKind::Airport),
    ("airport code", FieldKind::Airport),
    ("airport", FieldKind::Airport),
    ("coin id", FieldKind::Coin),
    ("coin ids", FieldKind::Coin),
    ("cryptocurrency id", FieldKind::Coin),
    ("trading pair", FieldKind::TradingPair),
    ("isin", FieldKind::Isin),
    ("iban", FieldKind::Iban),
    ("zip code", FieldKind::PostalCode),
    ("zipcode", FieldKind::PostalCode),
    ("postal code", FieldKind::PostalCode),
    ("postcode", FieldKind::PostalCode),
    ("owner repo", FieldKind::Slug),
    ("wikidata", FieldKind::Wikidata),
    ("wikidata id", FieldKind::Wikidata),
    ("uniprot", FieldKind::Protein),
    ("smiles", FieldKind::Molecule),
    ("imdb id", FieldKind::Film),
    ("cidr", FieldKind::Subnet),
    ("subnet", FieldKind::Subnet),
    ("mac address", FieldKind::MacAddress),
];

/// Two words that belong together, looked for first.
const PAIRS: &[(&str, &str, FieldKind)] = &[
    ("time", "zone", FieldKind::Timezone),
    ("file", "name", FieldKind::FileName),
    ("file", "path", FieldKind::Path),
    ("host", "name", FieldKind::Host),
    ("repo", "path", FieldKind::Directory),
    ("repository", "path", FieldKind::Directory),
    ("project", "path", FieldKind::Directory),
    ("base", "path", FieldKind::Directory),
    ("root", "path", FieldKind::Directory),
    ("working", "directory", FieldKind::Directory),
    ("first", "name", FieldKind::Person),
    ("last", "name", FieldKind::Person),
    ("full", "name", FieldKind::Person),
    ("branch", "name", FieldKind::Branch),
    ("repo", "name", FieldKind::Repository),
    ("repository", "name", FieldKind::Repository),
    ("user", "name", FieldKind::Owner),
    ("mime", "type", FieldKind::MimeType),
    ("content", "type", FieldKind::MimeType),
    ("media", "type", FieldKind::MimeType),
    ("api", "key", FieldKind::Secret),
    ("access", "key", FieldKind::Secret),
    ("phone", "number", FieldKind::Phone),
    ("country", "code", FieldKind::Country),
    ("date", "time", FieldKind::DateTime),
    ("search", "term", FieldKind::SearchQuery),
    ("file", "type", FieldKind::Label),
    ("output", "path", FieldKind::Path),
    ("currency", "code", FieldKind::Currency),
    ("language", "code", FieldKind::Language),
    ("lang", "code", FieldKind::Language),
    ("cell", "range", FieldKind::CellRange),
    ("start", "cell", FieldKind::Cell),
    ("end", "cell", FieldKind::Cell),
    ("target", "cell", FieldKind::Cell),
    ("source", "range", FieldKind::CellRange),
    ("data", "range", FieldKind::CellRange),
    ("sheet", "name", FieldKind::Sheet),
    ("table", "name", FieldKind::Table),
    ("column", "name", FieldKind::Column),
    ("package", "name", FieldKind::Package),
    ("commit", "message", FieldKind::Text),
    ("commit", "hash", FieldKind::Revision),
    ("start", "date", FieldKind::Date),
    ("end", "date", FieldKind::Date),
    ("start", "time", FieldKind::DateTime),
    ("end", "time", FieldKind::DateTime),
    ("css", "selector", FieldKind::Selector),
    ("regular", "expression", FieldKind::Regex),
    ("file", "pattern", FieldKind::Glob),
    ("stock", "symbol", FieldKind::Ticker),
    ("line", "number", FieldKind::Count),
    ("data", "base64", FieldKind::Base64),
    ("json", "data", FieldKind::Json),
    ("json", "string", FieldKind::Json),
    ("csv", "data", FieldKind::Csv),
    ("repo", "url", FieldKind::Url),
];

/// Single words of a name; the last word of the name is asked first, for `url_path` is a path.
const WORDS: &[(&str, FieldKind)] = &[
    ("path", FieldKind::Path),
    ("paths", FieldKind::Path),
    ("filepath", FieldKind::Path),
    ("filename", FieldKind::FileName),
    ("file", FieldKind::Path),
    ("files", FieldKind::Path),
    ("source", FieldKind::Path),
    ("destination", FieldKind::Path),
    ("dir", FieldKind::Directory),
    ("dirname", FieldKind::Directory),
    ("directory", FieldKind::Directory),
    ("directories", FieldKind::Directory),
    ("folder", FieldKind::Directory),
    ("cwd", FieldKind::Directory),
    ("workspace", FieldKind::Directory),
    ("workdir", FieldKind::Directory),
    ("root", FieldKind::Directory),
    ("url", FieldKind::Url),
    ("urls", FieldKind::Url),
    ("uri", FieldKind::Url),
    ("uris", FieldKind::Url),
    ("link", FieldKind::Url),
    ("href", FieldKind::Url),
    ("website", FieldKind::Url),
    ("homepage", FieldKind::Url),
    ("endpoint", FieldKind::Url),
    ("webhook", FieldKind::Url),
    ("host", FieldKind::Host),
    ("hostname", FieldKind::Host),
    ("hosts", FieldKind::Host),
    ("domain", FieldKind::Host),
    ("domains", FieldKind::Host),
    ("server", FieldKind::Host),
    ("port", FieldKind::Port),
    ("ip", FieldKind::IpAddress),
    ("ipv4", FieldKind::IpAddress),
    ("email", FieldKind::Email),
    ("emails", FieldKind::Email),
    ("mail", FieldKind::Email),
    ("recipient", FieldKind::Email),
    ("phone", FieldKind::Phone),
    ("tel", FieldKind::Phone),
    ("command", FieldKind::Command),
    ("cmd", FieldKind::Command),
    ("commands", FieldKind::Command),
    ("shell", FieldKind::Command),
    ("args", FieldKind::Command),
    ("arguments", FieldKind::Command),
    ("sql", FieldKind::Sql),
    ("statement", FieldKind::Sql),
    ("query", FieldKind::SearchQuery),
    ("queries", FieldKind::SearchQuery),
    ("search", FieldKind::SearchQuery),
    ("keyword", FieldKind::SearchQuery),
    ("keywords", FieldKind::SearchQuery),
    ("q", FieldKind::SearchQuery),
    ("term", FieldKind::SearchQuery),
    ("code", FieldKind::Code),
    ("script", FieldKind::Code),
    ("snippet", FieldKind::Code),
    ("function", FieldKind::Code),
    ("html", FieldKind::Html),
    ("json", FieldKind::Json),
    ("payload", FieldKind::Json),
    ("expression", FieldKind::Expression),
    ("formula", FieldKind::Expression),
    ("equation", FieldKind::Expression),
    ("glob", FieldKind::Glob),
    ("globs", FieldKind::Glob),
    ("pattern", FieldKind::Glob),
    ("patterns", FieldKind::Glob),
    ("id", FieldKind::Identifier),
    ("ids", FieldKind::Identifier),
    ("key", FieldKind::Identifier),
    ("slug", FieldKind::Identifier),
    ("uuid", FieldKind::Uuid),
    ("guid", FieldKind::Uuid),
    ("timezone", FieldKind::Timezone),
    ("tz", FieldKind::Timezone),
    ("datetime", FieldKind::DateTime),
    ("timestamp", FieldKind::DateTime),
    ("since", FieldKind::DateTime),
    ("until", FieldKind::DateTime),
    ("date", FieldKind::Date),
    ("day", FieldKind::Date),
    ("birthday", FieldKind::Date),
    ("deadline", FieldKind::Date),
    ("time", FieldKind::Time),
    ("year", FieldKind::Year),
    ("language", FieldKind::Language),
    ("lang", FieldKind::Language),
    ("locale", FieldKind::Language),
    ("country", FieldKind::Country),
    ("region", FieldKind::Country),
    ("city", FieldKind::City),
    ("location", FieldKind::City),
    ("address", FieldKind::City),
    ("currency", FieldKind::Currency),
    ("owner", FieldKind::Owner),
    ("org", FieldKind::Owner),
    ("organization", FieldKind::Owner),
    ("user", FieldKind::Owner),
    ("username", FieldKind::Owner),
    ("login", FieldKind::Owner),
    ("author", FieldKind::Person),
    ("repo", FieldKind::Repository),
    ("repository", FieldKind::Repository),
    ("branch", FieldKind::Branch),
    ("base", FieldKind::Branch),
    ("head", FieldKind::Branch),
    ("sha", FieldKind::Revision),
    ("commit", FieldKind::Revision),
    ("revision", FieldKind::Revision),
    ("ref", FieldKind::Branch),
    ("version", FieldKind::Version),
    ("person", FieldKind::Person),
    ("name", FieldKind::Label),
    ("names", FieldKind::Label),
    ("title", FieldKind::Label),
    ("label", FieldKind::Label),
    ("labels", FieldKind::Label),
    ("tag", FieldKind::Label),
    ("tags", FieldKind::Label),
    ("category", FieldKind::Label),
    ("description", FieldKind::Text),
    ("content", FieldKind::Text),
    ("text", FieldKind::Text),
    ("message", FieldKind::Text),
    ("body", FieldKind::Text),
    ("prompt", FieldKind::Text),
    ("token", FieldKind::Secret),
    ("password", FieldKind::Secret),
    ("secret", FieldKind::Secret),
    ("color", FieldKind::Color),
    ("colour", FieldKind::Color),
    ("template", FieldKind::Template),
    ("latitude", FieldKind::Latitude),
    ("lat", FieldKind::Latitude),
    ("longitude", FieldKind::Longitude),
    ("lon", FieldKind::Longitude),
    ("regex", FieldKind::Regex),
    ("regexp", FieldKind::Regex),
    ("cron", FieldKind::Cron),
    ("schedule", FieldKind::Cron),
    ("base64", FieldKind::Base64),
    ("hash", FieldKind::Hash),
    ("checksum", FieldKind::Hash),
    ("package", FieldKind::Package),
    ("dependency", FieldKind::Package),
    ("library", FieldKind::Package),
    ("selector", FieldKind::Selector),
    ("xpath", FieldKind::Selector),
    ("ticker", FieldKind::Ticker),
    ("symbol", FieldKind::Ticker),
    ("duration", FieldKind::Duration),
    ("interval", FieldKind::Duration),
    ("mermaid", FieldKind::Diagram),
    ("diagram", FieldKind::Diagram),
    ("dot", FieldKind::Graph),
    ("graphviz", FieldKind::Graph),
    ("markdown", FieldKind::Markdown),
    ("md", FieldKind::Markdown),
    ("csv", FieldKind::Csv),
    ("xml", FieldKind::Xml),
    ("svg", FieldKind::Xml),
    ("yaml", FieldKind::Yaml),
    ("yml", FieldKind::Yaml),
    ("range", FieldKind::CellRange),
    ("cell", FieldKind::Cell),
    ("sheet", FieldKind::Sheet),
    ("worksheet", FieldKind::Sheet),
    ("table", FieldKind::Table),
    ("tables", FieldKind::Table),
    ("column", FieldKind::Column),
    ("columns", FieldKind::Column),
    ("namespace", FieldKind::Namespace),
    ("unit", FieldKind::Unit),
    ("units", FieldKind::Unit),
    ("month", FieldKind::Month),
    ("hour", FieldKind::Hour),
    ("coordinates", FieldKind::Coordinates),
    ("ipv6", FieldKind::IpAddress),
    ("hex", FieldKind::Color),
    ("markup", FieldKind::Html),
    ("image", FieldKind::Path),
    ("workbook", FieldKind::Path),
    ("document", FieldKind::Path),
    ("db", FieldKind::Path),
    ("database", FieldKind::Path),
    ("project", FieldKind::Directory),
    ("topic", FieldKind::SearchQuery),
    ("question", FieldKind::Text),
    ("comment", FieldKind::Text),
    ("note", FieldKind::Text),
    ("summary", FieldKind::Text),
    ("notes", FieldKind::Text),
    ("thought", FieldKind::Text),
    ("subject", FieldKind::Label),
    ("group", FieldKind::Label),
    ("heading", FieldKind::Label),
    ("caption", FieldKind::Label),
];

/// Words that mostly come with numbers.
const COUNTS: &[(&str, FieldKind)] = &[
    ("lng", FieldKind::Longitude),
    ("limit", FieldKind::Count),
    ("count", FieldKind::Count),
    ("size", FieldKind::Count),
    ("max", FieldKind::Count),
    ("length", FieldKind::Count),
    ("lines", FieldKind::Count),
    ("amount", FieldKind::Count),
    ("number", FieldKind::Count),
    ("timeout", FieldKind::Count),
    ("width", FieldKind::Count),
    ("height", FieldKind::Count),
    ("page", FieldKind::Page),
    ("offset", FieldKind::Page),
    ("index", FieldKind::Page),
    ("percent", FieldKind::Percentage),
    ("percentage", FieldKind::Percentage),
    ("row", FieldKind::Count),
    ("rows", FieldKind::Count),
    ("line", FieldKind::Count),
    ("depth", FieldKind::Count),
    ("level", FieldKind::Count),
    ("start", FieldKind::Count),
    ("end", FieldKind::Count),
];

/// What a description gives away when the name does not; each is looked for as a phrase between word ends.
const PHRASES: &[(&str, FieldKind)] = &[
    ("iana", FieldKind::Timezone),
    ("timezone", FieldKind::Timezone),
    ("hh mm", FieldKind::Time),
    ("iso 8601", FieldKind::DateTime),
    ("yyyy mm dd", FieldKind::Date),
    ("sql", FieldKind::Sql),
    ("glob", FieldKind::Glob),
    ("shell command", FieldKind::Command),
    ("email address", FieldKind::Email),
    ("file path", FieldKind::Path),
    ("path to", FieldKind::Path),
    ("absolute path", FieldKind::Path),
    ("url", FieldKind::Url),
    ("uuid", FieldKind::Uuid),
    ("ip address", FieldKind::IpAddress),
    ("search query", FieldKind::SearchQuery),
    ("iso 4217", FieldKind::Currency),
    ("currency code", FieldKind::Currency),
    ("iso 3166", FieldKind::Country),
    ("country code", FieldKind::Country),
    ("iso 639", FieldKind::Language),
    ("language code", FieldKind::Language),
    ("time zone", FieldKind::Timezone),
    ("iso8601", FieldKind::DateTime),
    ("iso date", FieldKind::DateTime),
    ("isoformat", FieldKind::DateTime),
    ("rfc 3339", FieldKind::DateTime),
    ("rfc3339", FieldKind::DateTime),
    ("e mail", FieldKind::Email),
    ("email", FieldKind::Email),
    ("uri", FieldKind::Url),
    ("regular expression", FieldKind::Regex),
    ("regex", FieldKind::Regex),
    ("cron expression", FieldKind::Cron),
    ("base64", FieldKind::Base64),
    ("css selector", FieldKind::Selector),
    ("mime type", FieldKind::MimeType),
    ("hex color", FieldKind::Color),
    ("hex colour", FieldKind::Color),
    ("hex code", FieldKind::Color),
    ("mermaid", FieldKind::Diagram),
    ("graphviz", FieldKind::Graph),
    ("ticker", FieldKind::Ticker),
    ("stock symbol", FieldKind::Ticker),
    ("commit hash", FieldKind::Revision),
    ("git ref", FieldKind::Revision),
    ("json string", FieldKind::Json),
    ("json object", FieldKind::Json),
    ("markdown", FieldKind::Markdown),
    ("directory", FieldKind::Directory),
    ("math expression", FieldKind::Expression),
    ("mathematical expression", FieldKind::Expression),
    ("package name", FieldKind::Package),
    ("cell range", FieldKind::CellRange),
    ("cell reference", FieldKind::Cell),
    ("cell address", FieldKind::Cell),
    ("left cell", FieldKind::Cell),
    ("destination cell", FieldKind::Cell),
    ("single cell", FieldKind::Cell),
    ("phone number", FieldKind::Phone),
    ("domain name", FieldKind::Host),
    ("latitude", FieldKind::Latitude),
    ("longitude", FieldKind::Longitude),
];

/// Longest description looked at, in characters; a hostile one has no end.
const MAX_DESCRIPTION: usize = 400;

impl FieldKind {
    /// What a field of this name holds, as far as its name and description tell.
    pub fn of(name: &str, description: &str) -> Option<FieldKind> {
        let described = description_words(description);
        let words = words(name);
        numbered(&format!(" {} ", words.join(" ")))
            .or_else(|| match of_words(&words, &described) {
                Some(open) if open.is_open() => numbered(&described).or(Some(open)),
                kind => kind,
            })
            .or_else(|| numbered(&described))
            .or_else(|| of_description(&described).next())
    }

    /// Whether a name that means this leaves open which of many things it is.
    fn is_open(self) -> bool {
        matches!(self, FieldKind::Identifier | FieldKind::Label)
    }

    /// The kinds that a text speaks of, such as a refusal that asks for an IANA time zone.
    pub fn spoken_of(text: &str) -> Vec<FieldKind> {
        let mut kinds = Vec::new();
        let text = description_words(text);
        numbered(&text).into_iter().chain(of_description(&text)).for_each(|kind| {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        });
        kinds
    }
}

fn description_words(description: &str) -> String {
    let short: String = description.chars().take(MAX_DESCRIPTION).collect();
    // Names that have a capital inside, such as arXiv, are words as well.
    format!(" {} . {} ", words(&short).join(" "), words(&short.to_lowercase()).join(" "))
}

fn of_words(words: &[String], described: &str) -> Option<FieldKind> {
    let pair = words.windows(2).find_map(|pair| {
        PAIRS
            .iter()
            .find(|(first, second, _)| pair[0] == *first && pair[1] == *second)
            .map(|(.., kind)| *kind)
    });
    let single = || {
        let known = |word: &str| WORDS.iter().chain(COUNTS).find(|(known, _)| *known == word);
        let one_of = |word: &str| word.strip_suffix('s').and_then(known);
        words.iter().rev().find_map(|word| known(word).or_else(|| one_of(word))).map(|(_, kind)| *kind)
    };
    let kind = pair.or_else(single)?;
    // A query is often SQL, a pattern often a regular one, and only the description says so.
    Some(match kind {
        FieldKind::SearchQuery if described.contains(" sql ") => FieldKind::Sql,
        FieldKind::Url if described.contains(" youtube ") => FieldKind::VideoUrl,
        FieldKind::Time if described.contains(" iso ") => FieldKind::DateTime,
        FieldKind::Glob
            if [" regex ", " regexp ", " regular expression "]
                .iter()
                .any(|word| described.contains(word)) =>
        {
            FieldKind::Regex
        }
        other => other,
    })
}

/// Which of the numbered things a text speaks of; the longest of its names decides.
fn numbered(text: &str) -> Option<FieldKind> {
    let spoken = NUMBERED.iter().filter(|(phrase, _)| text.contains(&format!(" {phrase} ")));
    spoken.max_by_key(|(phrase, _)| phrase.len()).map(|(_, kind)| *kind)
}

fn of_description(described: &str) -> impl Iterator<Item = FieldKind> {
    let found = PHRASES.iter().filter(|(phrase, _)| described.contains(&format!(" {phrase} ")));
    found.map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_by_whole_words() {
        for (name, expected) in [
            ("repo_path", Some(FieldKind::Directory)),
            ("filePath", Some(FieldKind::Path)),
            ("source_timezone", Some(FieldKind::Timezone)),
            ("imageUrl", Some(FieldKind::Url)),
            ("user_email", Some(FieldKind::Email)),
            ("maxResults", Some(FieldKind::Count)),
            ("empathy", None),
            ("rename", None),
            ("memory", None),
        ] {
            assert_eq!(FieldKind::of(name, ""), expected, "{name}");
        }
    }

    #[test]
    fn what_is_numbered_by_the_whole_world_is_known_by_its_name() {
        for (name, description, expected) in [
            ("paper_id", "The arXiv ID of the paper", FieldKind::PreprintId),
            ("doi", "", FieldKind::Doi),
            ("videoId", "", FieldKind::VideoId),
            ("id", "CVE ID of the vulnerability", FieldKind::Vulnerability),
            ("zip_code", "", FieldKind::PostalCode),
            ("url", "YouTube video URL or ID", FieldKind::VideoUrl),
            ("commits", "", FieldKind::Revision),
            // A name that says what it is leaves nothing to the description.
            ("url", "Address of an arXiv paper", FieldKind::Url),
            ("note_id", "The note", FieldKind::Identifier),
        ] {
            assert_eq!(FieldKind::of(name, description), Some(expected), "{name}");
        }
        assert_eq!(FieldKind::spoken_of("invalid arXiv ID format"), [FieldKind::PreprintId]);
    }

    #[test]
    fn a_description_helps_where_the_name_does_not() {
        assert_eq!(FieldKind::of("x", "IANA timezone name"), Some(FieldKind::Timezone));
        assert_eq!(FieldKind::of("query", "SELECT SQL query to execute"), Some(FieldKind::Sql));
        assert_eq!(FieldKind::of("when", "24-hour format (HH:MM)"), Some(FieldKind::Time));
    }
}
