//! Gives tools and arguments other plausible names by a seed, and finds the original again.
//!
//! Words change places within one vocabulary, so two names never become one, and a hint that a name seems to give
//! (a path, a date) stands where it misleads. Destructive names stay destructive, for those must be known by name.

/// A way of renaming tools, arguments and prompts.
#[derive(Debug, Clone, Copy)]
pub struct Renaming {
    seed: usize,
}

impl Renaming {
    pub fn new(seed: u64) -> Renaming {
        Renaming { seed: usize::try_from(seed % u64::from(u32::MAX)).unwrap_or_default() }
    }

    /// The name under which the server shows what is called `name` without renaming.
    pub fn apply(&self, name: &str) -> String {
        moved(name, |place, count| (place + self.shift(count)) % count)
    }

    /// What is called `name` after renaming. Names that were never given out stay as they are.
    pub fn undo(&self, name: &str) -> String {
        moved(name, |place, count| (place + count - self.shift(count)) % count)
    }

    /// Never zero and never a whole round, so that no word stays in its place.
    fn shift(&self, count: usize) -> usize {
        1 + self.seed % (count - 1)
    }
}

fn moved(name: &str, place: impl Fn(usize, usize) -> usize) -> String {
    let exchanged = |word: &str, words: &[&'static str]| {
        let at = words.iter().position(|known| *known == word)?;
        words.get(place(at, words.len())).copied()
    };
    if let Some(other) = exchanged(name, &DESTRUCTIVE) {
        return other.to_owned();
    }
    let words = name.split('_').map(|word| exchanged(word, WORDS).unwrap_or(word));
    words.collect::<Vec<_>>().join("_")
}

const DESTRUCTIVE: [&str; 12] = [
    "delete_all",
    "sendEmail",
    "wipe",
    "eraseDisk",
    "drop_table",
    "kill_jobs",
    "removeUser",
    "overwrite_page",
    "publishPost",
    "purge",
    "reset_account",
    "payInvoice",
];

/// Every word of every name that the servers have, and more. None of them says that something is destroyed.
#[rustfmt::skip] // One word on each line would be a page of them.
const WORDS: &[&str] = &[
    "note", "path", "title", "count", "words", "text", "average", "of", "numbers", "convert", "unit",
    "value", "step", "shift", "cursor", "search", "query", "filters", "field", "limit", "label", "greet",
    "name", "street", "control", "cmd", "verbose", "depth", "scan", "level", "url", "tick", "colour",
    "pick", "page", "open", "draw", "shape", "size", "date", "render", "invoice", "receipt", "letter",
    "lines", "status", "look", "up", "word", "sleep", "seconds", "reverse", "join", "item", "price",
    "parse", "recipe", "seat", "book", "table", "guests", "rate", "currency", "forecast", "city", "days",
    "measure", "mode", "choose", "volume", "sort", "quantity", "filter", "describe", "account", "detail",
    "print", "environment", "prefix", "thumbnail", "width", "topic", "style", "summary", "plan", "visit",
    "day", "nights", "list", "notes", "read", "id", "length", "clock", "zone", "hour", "paint", "theme",
    "layers", "body", "to", "disk", "timezone", "file", "user", "index",
];

#[cfg(test)]
mod tests {
    use super::{DESTRUCTIVE, Renaming, WORDS};
    use std::collections::BTreeSet;

    #[test]
    fn every_name_comes_back_and_none_stays() {
        for seed in (0..200).chain([u64::MAX]) {
            let renaming = Renaming::new(seed);
            for name in WORDS.iter().chain(&DESTRUCTIVE) {
                let other = renaming.apply(name);
                assert_ne!(*name, other);
                assert_eq!(*name, renaming.undo(&other), "{seed}");
            }
        }
    }

    #[test]
    fn no_word_is_twice_in_the_vocabulary() {
        assert_eq!(WORDS.iter().collect::<BTreeSet<_>>().len(), WORDS.len());
    }
}
