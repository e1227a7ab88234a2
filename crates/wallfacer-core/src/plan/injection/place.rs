//! Finds the strings and numbers in the arguments of a call, each with its place and what its name says it is for.

use serde_json::Value;

use wallfacer_text::lexicon::words;

/// Strings of one call that are tried; more would be the same again.
const MAX_PLACES: usize = 24;
/// Parts of the arguments that are looked at.
const MAX_NODES: usize = 500;

/// A string or a number within arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// A JSON pointer.
    pub at: String,
    /// The nearest key above it.
    pub name: String,
    pub value: String,
    pub purpose: Purpose,
}

/// What a string is for, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Directory,
    File,
    Address,
    Statement,
    /// Run or evaluated: to do so is no injection.
    Program,
    Pattern,
    Prose,
    /// A number, which a server that does not look may take as a text.
    Number,
    Unknown,
}

/// Words of arguments that are run or evaluated.
const PROGRAM: [&str; 9] =
    ["command", "commands", "cmd", "shell", "args", "argv", "arguments", "flags", "javascript"];
/// What stands before `code` where that is a program: a country has a code too.
const CODE: [&str; 8] = ["js", "program", "python", "script", "shell", "source", "sql", "typescript"];
const ADDRESS: [&str; 16] = [
    "domain", "endpoint", "feed", "host", "hostname", "href", "link", "links", "proxy", "site", "uri",
    "uris", "url", "urls", "webhook", "website",
];
const DIRECTORY: [&str; 15] = [
    "cwd",
    "dir",
    "directories",
    "directory",
    "folder",
    "folders",
    "project",
    "repo",
    "repository",
    "root",
    "subdir",
    "subdirectory",
    "subfolder",
    "workdir",
    "workspace",
];
const FILE: [&str; 16] = [
    "dest",
    "destination",
    "dst",
    "file",
    "filename",
    "filenames",
    "filepath",
    "filepaths",
    "files",
    "outfile",
    "path",
    "pathname",
    "paths",
    "source",
    "src",
    "sources",
];

impl Purpose {
    pub fn of(name: &str) -> Purpose {
        let words = words(name);
        let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        if is(&PROGRAM) || is_code(name) {
            Purpose::Program
        } else if is(&ADDRESS) {
            Purpose::Address
        } else if is(&DIRECTORY) {
            Purpose::Directory
        } else if is(&FILE) {
            Purpose::File
        } else if is(&["sql", "query", "statement"]) {
            Purpose::Statement
        } else if is(&["pattern", "patterns", "regex", "regexp", "glob", "search", "filter", "grep"]) {
            Purpose::Pattern
        } else if is(&["text", "content", "contents", "body", "message", "description", "comment", "title"]) {
            Purpose::Prose
        } else {
            Purpose::Unknown
        }
    }

    pub fn is_path(self) -> bool {
        matches!(self, Purpose::Directory | Purpose::File)
    }
}

/// Whether what is called so is evaluated, rather than handed to a shell.
pub fn is_code(name: &str) -> bool {
    match &words(name)[..] {
        [.., before, last] if last == "code" => CODE.contains(&before.as_str()),
        [only] => ["code", "python", "javascript"].contains(&only.as_str()),
        _ => false,
    }
}

/// The strings and numbers of some arguments, also within lists and objects.
pub fn places(arguments: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), String::new(), arguments)];
    for _ in 0..MAX_NODES {
        let Some((at, name, value)) = open.pop() else { break };
        match value {
            Value::Object(members) => open.extend(members.iter().rev().map(|(key, value)| {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                (format!("{at}/{escaped}"), key.clone(), value)
            })),
            Value::Array(items) => open.extend(
                items
                    .iter()
                    .enumerate()
                    .rev()
                    .map(|(index, item)| (format!("{at}/{index}"), name.clone(), item)),
            ),
            Value::String(text) if found.len() < MAX_PLACES => {
                found.push(Place { at, purpose: Purpose::of(&name), name, value: text.clone() });
            }
            Value::Number(number) if found.len() < MAX_PLACES => {
                found.push(Place { at, purpose: Purpose::Number, name, value: number.to_string() });
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strings_are_found_wherever_they_lie() {
        let arguments = json!({ "a/b": "x", "edits": [{ "path": "y", "n": 1 }, ["z"]] });
        let found: Vec<(String, String)> =
            places(&arguments).into_iter().map(|place| (place.at, place.name)).collect();
        let wanted =
            [("/a~1b", "a/b"), ("/edits/0/path", "path"), ("/edits/0/n", "n"), ("/edits/1/0", "edits")];
        assert_eq!(found, wanted.map(|(at, name)| (at.to_owned(), name.to_owned())));
        assert!(places(&arguments).iter().all(|place| arguments.pointer(&place.at).is_some()));
    }

    #[test]
    fn names_tell_what_a_string_is_for() {
        for (name, purpose) in [
            ("rootFolder", Purpose::Directory),
            ("pagePath", Purpose::File),
            ("imageUrl", Purpose::Address),
            ("sql", Purpose::Statement),
            ("empathy", Purpose::Unknown),
            ("source_code", Purpose::Program),
            ("countryCode", Purpose::Unknown),
        ] {
            assert_eq!(Purpose::of(name), purpose, "{name}");
        }
    }
}
