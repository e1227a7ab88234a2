//! Names the folder that a finding is stored in by its subject: safe on every file system, and never that of another.

use crate::plan::Subject;

/// The folder of what is about the server as a whole.
const SERVER: &str = "_server";
/// Names up to this length are kept whole; with what is added, every file system takes the result.
const MAX_LENGTH: usize = 64;
/// What Windows keeps for its devices, with or without an ending.
const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// A name that every file system takes as it is stays so. Any other gets a mark that no such name can have, and the
/// hash of the whole.
pub fn folder(subject: &Subject) -> String {
    match subject {
        Subject::Server => SERVER.to_owned(),
        Subject::Tool(name) if is_plain(name) => name.clone(),
        Subject::Tool(name) => marked("", name),
        Subject::Resource(name) => marked("_resource-", name),
        Subject::Prompt(name) => marked("_prompt-", name),
        Subject::Completion(name) => marked("_completion-", name),
    }
}

/// Small letters only, for some file systems do not tell them from capitals.
fn is_plain(name: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= MAX_LENGTH
        && name.bytes().all(|byte| letters(byte) || b"_-.".contains(&byte))
        && name.bytes().next().is_some_and(letters)
        && !name.ends_with('.')
        && !is_reserved(name)
}

fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    RESERVED.contains(&stem.trim_end_matches(|digit: char| digit.is_ascii_digit()))
}

fn marked(kind: &str, name: &str) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let readable: String = name.chars().take(MAX_LENGTH / 2).map(safe).collect();
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{kind}{readable}~{}", &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn tool(name: &str) -> String {
        folder(&Subject::Tool(name.to_owned()))
    }

    #[test]
    fn an_ordinary_name_stays_as_it_is() {
        for name in ["search", "get_user", "read-file", "v1.2.list", "a", "company", "console"] {
            assert_eq!(tool(name), name);
        }
        assert_eq!(folder(&Subject::Server), "_server");
    }

    #[test]
    fn no_two_names_share_a_folder_even_where_case_is_not_told() {
        let long = "x".repeat(300);
        let longer = "x".repeat(301);
        let marked = tool("Search");
        let names = [
            "search", "Search", "SEARCH", "sea rch", "sea_rch", "sea/rch", "sea\\rch", "", ".", "..", "../x",
            "_server", "con", "CON", "nul.txt", "com1", "lpt9.log", "a.", "a ", "a", "é", "e\u{301}", "🦀",
            "a\0b", "-x", &long, &longer, &marked,
        ];
        let mut folders: BTreeSet<String> = names.iter().map(|name| tool(name).to_lowercase()).collect();
        folders.extend(
            [Subject::Prompt("search".into()), Subject::Resource("search".into())].iter().map(folder),
        );
        folders.insert(folder(&Subject::Server));
        assert_eq!(folders.len(), names.len() + 3);
    }

    #[test]
    fn a_folder_is_safe_on_every_file_system() {
        let long = "Ü".repeat(300);
        for name in ["..", "../../etc", "CON", "com1", "a:b", "a*?", "\u{202e}x", "x.", ".hidden", &long] {
            let folder = tool(name);
            assert!(folder.len() < 100 && !folder.starts_with('.') && !folder.ends_with('.'), "{folder}");
            assert!(
                folder.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-~.".contains(&byte)),
                "{folder}"
            );
            assert!(folder.contains('~') && !is_reserved(&folder.to_lowercase()), "{folder}");
        }
    }
}
