//! Strings: realistic ones first, then by format, by pattern, or plain.

use super::Maker;
use crate::{
    error::Unable,
    plan::{shape::Shape, strings::StringShape},
};

/// Characters that a plain string has above its minimum.
const USUAL_LENGTH: usize = 12;
/// Look-around and several patterns at once are met by trying, so patterns get more tries than other things.
const PATTERN_TRIES: usize = 100;
/// What stands where nothing is known, in a value that is to have certain parts.
const PLAIN: &str = "example";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const WORDS: [&str; 12] =
    ["test", "example", "alpha", "beta", "hello", "value", "foo", "bar", "sample", "data", "item", "one"];

impl Maker<'_> {
    pub(super) fn make_string(&mut self, shape: &Shape) -> Result<String, Unable> {
        let rules = &shape.string;
        // A call that is refused tests nothing, so what the name suggests is nearly always followed.
        if !rules.words.is_empty() && self.choices.below(8) < 7 {
            return Ok(rules.words[self.choices.index(rules.words.len())].to_owned());
        }
        let most = rules.max.unwrap_or(usize::MAX).min(rules.min.saturating_add(USUAL_LENGTH));
        // A call that is to work has a word where nothing is known; that a text may be empty is tried elsewhere.
        if self.having.is_some() && rules.is_plain() && rules.fits(PLAIN) {
            return Ok(PLAIN.to_owned());
        }
        let length = rules.min + self.choices.index(most - rules.min + 1);
        self.make_string_of(shape, length)
    }

    /// A string of about this length; exactly so when neither pattern nor format has a say.
    pub(crate) fn make_string_of(&mut self, shape: &Shape, length: usize) -> Result<String, Unable> {
        let rules = &shape.string;
        if rules.is_plain() {
            return Ok(self.plain(length));
        }
        if rules.patterns.is_empty() { self.by_format(shape) } else { self.by_pattern(shape, length) }
    }

    fn plain(&mut self, length: usize) -> String {
        let word = WORDS[self.choices.index(WORDS.len())];
        if length >= word.len() && length <= USUAL_LENGTH {
            // A word, and letters to fill up.
            let mut text = word.to_owned();
            for _ in word.len()..length {
                text.push(char::from(LETTERS[self.choices.index(LETTERS.len())]));
            }
            return text;
        }
        // Drawing each letter of a long string would fill the record with what no test depends on.
        let first = self.choices.index(LETTERS.len());
        (0..length).map(|index| char::from(LETTERS[(first + index * 7) % LETTERS.len()])).collect()
    }

    fn by_format(&mut self, shape: &Shape) -> Result<String, Unable> {
        let rules = &shape.string;
        for _ in 0..self.planning.limits.tries {
            let format = rules.formats[self.choices.index(rules.formats.len())];
            let made = format.make(self.choices);
            for candidate in [made.clone(), padded(rules, made)] {
                if rules.fits(&candidate) {
                    return Ok(candidate);
                }
            }
        }
        let edges = rules.formats.iter().flat_map(|format| format.edges());
        if let Some(edge) = edges.copied().find(|edge| rules.fits(edge)) {
            return Ok(edge.to_owned());
        }
        let hints_only = rules.formats.iter().all(|format| !format.asserted);
        if hints_only {
            return Ok(self.plain(rules.min));
        }
        Err(Unable::unsupported(&shape.at, "format", "no string of this format and length found"))
    }

    fn by_pattern(&mut self, shape: &Shape, length: usize) -> Result<String, Unable> {
        let rules = &shape.string;
        for attempt in 0..PATTERN_TRIES {
            self.count_step()?;
            let pattern = &rules.patterns[attempt % rules.patterns.len()];
            let wanted = length.max(rules.min).max(pattern.shortest());
            let Some(made) = pattern.write(self.choices, wanted) else { continue };
            for candidate in [made.clone(), padded(rules, made)] {
                if rules.fits(&candidate) {
                    return Ok(candidate);
                }
            }
            if self.choices.is_spent() && attempt >= rules.patterns.len() {
                break;
            }
        }
        // An asserted format is the narrower demand: maybe one of its strings matches.
        for format in rules.formats.clone() {
            for _ in 0..self.planning.limits.tries {
                let made = format.make(self.choices);
                if rules.fits(&made) {
                    return Ok(made);
                }
            }
        }
        let text = rules.patterns.first().map_or("", |pattern| &pattern.text);
        Err(Unable::unsupported(&shape.at, "pattern", format!("no string found for `{text}`")))
    }
}

/// With letters at the end up to the shortest length, where the rules leave the end open.
fn padded(rules: &StringShape, mut string: String) -> String {
    let missing = rules.min.saturating_sub(string.chars().count());
    if missing > 0 && rules.patterns.iter().all(|pattern| pattern.is_open_at_end()) {
        string.extend(std::iter::repeat_n('a', missing));
    }
    string
}
