//! Splits a name such as `repoPath`, `repo_path` or `HTTPUrl` into its words in lower case.

/// Longer names and texts are cut: what a server writes is not bounded.
const MAX_CHARS: usize = 4_096;

/// The words of a name or a text, in lower case.
pub fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let characters: Vec<char> = name.chars().take(MAX_CHARS).collect();
    for (index, &character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            found.extend(finished(&mut word));
            continue;
        }
        let previous = index.checked_sub(1).map(|before| characters[before]);
        let next = characters.get(index + 1);
        // `aB` opens a word at B, `ABc` opens one at B too.
        let opens = character.is_uppercase()
            && (previous.is_some_and(|previous| previous.is_lowercase() || previous.is_numeric())
                || (previous.is_some_and(char::is_uppercase)
                    && next.is_some_and(|next| next.is_lowercase())));
        if opens {
            found.extend(finished(&mut word));
        }
        word.extend(character.to_lowercase());
    }
    found.extend(finished(&mut word));
    found
}

fn finished(word: &mut String) -> Option<String> {
    (!word.is_empty()).then(|| std::mem::take(word))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_fall_apart_at_case_and_punctuation() {
        for (name, expected) in [
            ("repoPath", vec!["repo", "path"]),
            ("repo_path", vec!["repo", "path"]),
            ("HTTPUrl", vec!["http", "url"]),
            ("file-name.txt", vec!["file", "name", "txt"]),
            ("ip4Address", vec!["ip4", "address"]),
            ("", vec![]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
    }
}
