//! Asks for words and phrases in names.

pub(crate) use wallfacer_text::lexicon::words;

/// Whether these words follow each other in the name.
pub(super) fn has_phrase(words: &[String], phrase: &[&str]) -> bool {
    words.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(word, wanted)| word == wanted))
}

pub(super) fn has_any(words: &[String], wanted: &[&str]) -> bool {
    words.iter().any(|word| wanted.contains(&word.as_str()))
}
