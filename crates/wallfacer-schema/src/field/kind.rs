//! The name and description of a field in, its [`Kind`] out. Whole words only: `path` does not hide in `empathy`.

use super::words;

/// What a field holds, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
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
const PAIRS: &[(&str, &str, Kind)] = &[
    ("time", "zone", Kind::Timezone),
    ("file", "name", Kind::FileName),
    ("file", "path", Kind::Path),
    ("host", "name", Kind::Host),
    ("repo", "path", Kind::Directory),
    ("repository", "path", Kind::Directory),
    ("project", "path", Kind::Directory),
    ("base", "path", Kind::Directory),
    ("root", "path", Kind::Directory),
    ("working", "directory", Kind::Directory),
    ("first", "name", Kind::Person),
    ("last", "name", Kind::Person),
    ("full", "name", Kind::Person),
    ("branch", "name", Kind::Branch),
    ("repo", "name", Kind::Repository),
    ("repository", "name", Kind::Repository),
    ("user", "name", Kind::Owner),
    ("mime", "type", Kind::MimeType),
    ("content", "type", Kind::MimeType),
    ("media", "type", Kind::MimeType),
    ("api", "key", Kind::Secret),
    ("access", "key", Kind::Secret),
    ("phone", "number", Kind::Phone),
    ("country", "code", Kind::Country),
    ("date", "time", Kind::DateTime),
    ("search", "term", Kind::SearchQuery),
];

/// Single words of a name; the last word of the name is asked first, for `url_path` is a path.
const WORDS: &[(&str, Kind)] = &[
    ("path", Kind::Path),
    ("paths", Kind::Path),
    ("filepath", Kind::Path),
    ("filename", Kind::FileName),
    ("file", Kind::Path),
    ("files", Kind::Path),
    ("source", Kind::Path),
    ("destination", Kind::Path),
    ("dir", Kind::Directory),
    ("dirname", Kind::Directory),
    ("directory", Kind::Directory),
    ("directories", Kind::Directory),
    ("folder", Kind::Directory),
    ("cwd", Kind::Directory),
    ("workspace", Kind::Directory),
    ("workdir", Kind::Directory),
    ("root", Kind::Directory),
    ("url", Kind::Url),
    ("urls", Kind::Url),
    ("uri", Kind::Url),
    ("uris", Kind::Url),
    ("link", Kind::Url),
    ("href", Kind::Url),
    ("website", Kind::Url),
    ("homepage", Kind::Url),
    ("endpoint", Kind::Url),
    ("webhook", Kind::Url),
    ("host", Kind::Host),
    ("hostname", Kind::Host),
    ("hosts", Kind::Host),
    ("domain", Kind::Host),
    ("domains", Kind::Host),
    ("server", Kind::Host),
    ("port", Kind::Port),
    ("ip", Kind::IpAddress),
    ("ipv4", Kind::IpAddress),
    ("email", Kind::Email),
    ("emails", Kind::Email),
    ("mail", Kind::Email),
    ("recipient", Kind::Email),
    ("phone", Kind::Phone),
    ("tel", Kind::Phone),
    ("command", Kind::Command),
    ("cmd", Kind::Command),
    ("commands", Kind::Command),
    ("shell", Kind::Command),
    ("args", Kind::Command),
    ("arguments", Kind::Command),
    ("sql", Kind::Sql),
    ("statement", Kind::Sql),
    ("query", Kind::SearchQuery),
    ("queries", Kind::SearchQuery),
    ("search", Kind::SearchQuery),
    ("keyword", Kind::SearchQuery),
    ("keywords", Kind::SearchQuery),
    ("q", Kind::SearchQuery),
    ("term", Kind::SearchQuery),
    ("code", Kind::Code),
    ("script", Kind::Code),
    ("snippet", Kind::Code),
    ("function", Kind::Code),
    ("html", Kind::Html),
    ("json", Kind::Json),
    ("payload", Kind::Json),
    ("expression", Kind::Expression),
    ("formula", Kind::Expression),
    ("equation", Kind::Expression),
    ("glob", Kind::Glob),
    ("globs", Kind::Glob),
    ("pattern", Kind::Glob),
    ("patterns", Kind::Glob),
    ("id", Kind::Identifier),
    ("ids", Kind::Identifier),
    ("key", Kind::Identifier),
    ("slug", Kind::Identifier),
    ("uuid", Kind::Uuid),
    ("guid", Kind::Uuid),
    ("timezone", Kind::Timezone),
    ("tz", Kind::Timezone),
    ("datetime", Kind::DateTime),
    ("timestamp", Kind::DateTime),
    ("since", Kind::DateTime),
    ("until", Kind::DateTime),
    ("date", Kind::Date),
    ("day", Kind::Date),
    ("birthday", Kind::Date),
    ("deadline", Kind::Date),
    ("time", Kind::Time),
    ("year", Kind::Year),
    ("language", Kind::Language),
    ("lang", Kind::Language),
    ("locale", Kind::Language),
    ("country", Kind::Country),
    ("region", Kind::Country),
    ("city", Kind::City),
    ("location", Kind::City),
    ("address", Kind::City),
    ("currency", Kind::Currency),
    ("owner", Kind::Owner),
    ("org", Kind::Owner),
    ("organization", Kind::Owner),
    ("user", Kind::Owner),
    ("username", Kind::Owner),
    ("login", Kind::Owner),
    ("author", Kind::Person),
    ("repo", Kind::Repository),
    ("repository", Kind::Repository),
    ("branch", Kind::Branch),
    ("base", Kind::Branch),
    ("head", Kind::Branch),
    ("sha", Kind::Revision),
    ("commit", Kind::Revision),
    ("revision", Kind::Revision),
    ("ref", Kind::Branch),
    ("version", Kind::Version),
    ("person", Kind::Person),
    ("name", Kind::Label),
    ("names", Kind::Label),
    ("title", Kind::Label),
    ("label", Kind::Label),
    ("labels", Kind::Label),
    ("tag", Kind::Label),
    ("tags", Kind::Label),
    ("category", Kind::Label),
    ("description", Kind::Text),
    ("content", Kind::Text),
    ("text", Kind::Text),
    ("message", Kind::Text),
    ("body", Kind::Text),
    ("prompt", Kind::Text),
    ("token", Kind::Secret),
    ("password", Kind::Secret),
    ("secret", Kind::Secret),
    ("color", Kind::Color),
    ("colour", Kind::Color),
    ("template", Kind::Template),
    ("latitude", Kind::Latitude),
    ("lat", Kind::Latitude),
    ("longitude", Kind::Longitude),
    ("lon", Kind::Longitude),
];

/// Words that mostly come with numbers.
const COUNTS: &[(&str, Kind)] = &[
    ("lng", Kind::Longitude),
    ("limit", Kind::Count),
    ("count", Kind::Count),
    ("size", Kind::Count),
    ("max", Kind::Count),
    ("length", Kind::Count),
    ("lines", Kind::Count),
    ("amount", Kind::Count),
    ("number", Kind::Count),
    ("timeout", Kind::Count),
    ("width", Kind::Count),
    ("height", Kind::Count),
    ("page", Kind::Page),
    ("offset", Kind::Page),
    ("index", Kind::Page),
    ("percent", Kind::Percentage),
];

/// What a description gives away when the name does not; each is looked for as a phrase between word ends.
const PHRASES: &[(&str, Kind)] = &[
    ("iana", Kind::Timezone),
    ("timezone", Kind::Timezone),
    ("hh mm", Kind::Time),
    ("iso 8601", Kind::DateTime),
    ("yyyy mm dd", Kind::Date),
    ("sql", Kind::Sql),
    ("glob", Kind::Glob),
    ("shell command", Kind::Command),
    ("email address", Kind::Email),
    ("file path", Kind::Path),
    ("path to", Kind::Path),
    ("absolute path", Kind::Path),
    ("url", Kind::Url),
    ("uuid", Kind::Uuid),
    ("ip address", Kind::IpAddress),
    ("search query", Kind::SearchQuery),
];

/// Longest description looked at, in characters; a hostile one has no end.
const MAX_DESCRIPTION: usize = 400;

pub(crate) fn of_field(name: &str, description: &str) -> Option<Kind> {
    let words = words::split(name);
    let described = description_words(description);
    of_words(&words, &described).or_else(|| of_description(&described))
}

fn description_words(description: &str) -> String {
    let short: String = description.chars().take(MAX_DESCRIPTION).collect();
    format!(" {} ", words::split(&short).join(" "))
}

fn of_words(words: &[String], described: &str) -> Option<Kind> {
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
        Kind::SearchQuery if described.contains(" sql ") => Kind::Sql,
        Kind::Time if described.contains(" iso ") => Kind::DateTime,
        other => other,
    })
}

fn of_description(described: &str) -> Option<Kind> {
    PHRASES.iter().find(|(phrase, _)| described.contains(&format!(" {phrase} "))).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_by_whole_words() {
        for (name, expected) in [
            ("repo_path", Some(Kind::Directory)),
            ("filePath", Some(Kind::Path)),
            ("source_timezone", Some(Kind::Timezone)),
            ("imageUrl", Some(Kind::Url)),
            ("user_email", Some(Kind::Email)),
            ("maxResults", Some(Kind::Count)),
            ("empathy", None),
            ("rename", None),
            ("memory", None),
        ] {
            assert_eq!(of_field(name, ""), expected, "{name}");
        }
    }

    #[test]
    fn a_description_helps_where_the_name_does_not() {
        assert_eq!(of_field("x", "IANA timezone name"), Some(Kind::Timezone));
        assert_eq!(of_field("query", "SELECT SQL query to execute"), Some(Kind::Sql));
        assert_eq!(of_field("when", "24-hour format (HH:MM)"), Some(Kind::Time));
    }
}
