//! Splits a name into words in lower case: `createUser`, `create_user` and `create-user` are the same two.

/// Longer names are cut: what a server calls its tools is not bounded.
const MAX_NAME_CHARS: usize = 256;

pub(crate) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().take(MAX_NAME_CHARS).collect();
    let mut words = vec![String::new()];
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| letters[index]);
        let after = letters.get(index + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                // `HTTPServer` is HTTP and Server: the last capital of a row begins the next word.
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether these words follow each other in the name.
pub(super) fn has_phrase(words: &[String], phrase: &[&str]) -> bool {
    words.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(word, wanted)| word == wanted))
}

pub(super) fn has_any(words: &[String], wanted: &[&str]) -> bool {
    words.iter().any(|word| wanted.contains(&word.as_str()))
}
