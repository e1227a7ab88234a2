//! Guesses from the name and description of a field what it holds. Whole words only: `path` does not hide in `empathy`.

use super::words;

/// What a field holds, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
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
}

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
];

/// Longest description looked at, in characters; a hostile one has no end.
const MAX_DESCRIPTION: usize = 400;

pub(crate) fn of_field(name: &str, description: &str) -> Option<FieldKind> {
    let words = words::split(name);
    let described = description_words(description);
    of_words(&words, &described).or_else(|| of_description(&described))
}

fn description_words(description: &str) -> String {
    let short: String = description.chars().take(MAX_DESCRIPTION).collect();
    format!(" {} ", words::split(&short).join(" "))
}

fn of_words(words: &[String], described: &str) -> Option<FieldKind> {
    let pair = words.windows(2).find_map(|pair| {
        PAIRS
            .iter()
            .find(|(first, second, _)| pair[0] == *first && pair[1] == *second)
            .map(|(.., kind)| *kind)
    });
    let single = || {
        words.iter().rev().find_map(|word| {
            WORDS.iter().chain(COUNTS).find(|(known, _)| known == word).map(|(_, kind)| *kind)
        })
    };
    let kind = pair.or_else(single)?;
    // A query is often SQL, a pattern often a regular one, and only the description says so.
    Some(match kind {
        FieldKind::SearchQuery if described.contains(" sql ") => FieldKind::Sql,
        FieldKind::Time if described.contains(" iso ") => FieldKind::DateTime,
        other => other,
    })
}

fn of_description(described: &str) -> Option<FieldKind> {
    PHRASES.iter().find(|(phrase, _)| described.contains(&format!(" {phrase} "))).map(|(_, kind)| *kind)
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
            assert_eq!(of_field(name, ""), expected, "{name}");
        }
    }

    #[test]
    fn a_description_helps_where_the_name_does_not() {
        assert_eq!(of_field("x", "IANA timezone name"), Some(FieldKind::Timezone));
        assert_eq!(of_field("query", "SELECT SQL query to execute"), Some(FieldKind::Sql));
        assert_eq!(of_field("when", "24-hour format (HH:MM)"), Some(FieldKind::Time));
    }
}
