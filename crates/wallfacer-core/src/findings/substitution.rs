//! Replaces many texts by their marks in one pass, so that no mark is taken for one of the texts.

use std::cmp::Reverse;

/// What is replaced by what.
#[derive(Debug, Clone, Default)]
pub struct Substitution {
    /// None of the texts is empty.
    pairs: Vec<(String, String)>,
}

impl Substitution {
    pub fn add(&mut self, text: &str, mark: &str) {
        if !text.is_empty() {
            self.pairs.push((text.to_owned(), mark.to_owned()));
        }
    }

    /// Whether the text is such texts and nothing else.
    pub fn is_made_of(&self, text: &str) -> bool {
        let mut rest = text;
        while !rest.is_empty() {
            let wanted =
                self.pairs.iter().map(|(wanted, _)| wanted).filter(|wanted| rest.starts_with(*wanted));
            match wanted.max_by_key(|wanted| wanted.len()) {
                Some(wanted) => rest = &rest[wanted.len()..],
                None => return false,
            }
        }
        true
    }

    /// Where two begin at one place, the longer one is taken, so that no rest of it is left.
    pub fn apply(&self, text: &str) -> String {
        let mut next: Vec<Option<usize>> = self.pairs.iter().map(|(wanted, _)| text.find(wanted)).collect();
        let mut shown = String::with_capacity(text.len());
        let mut done = 0;
        while let Some((at, wanted, mark)) = self.first(&next) {
            shown.push_str(&text[done..at]);
            shown.push_str(mark);
            done = at + wanted.len();
            for (next, (wanted, _)) in next.iter_mut().zip(&self.pairs) {
                if next.is_some_and(|next| next < done) {
                    *next = text[done..].find(wanted).map(|at| at + done);
                }
            }
        }
        shown.push_str(&text[done..]);
        shown
    }

    fn first(&self, next: &[Option<usize>]) -> Option<(usize, &str, &str)> {
        let found =
            next.iter().zip(&self.pairs).filter_map(|(at, (text, mark))| Some(((*at)?, &**text, &**mark)));
        found.min_by_key(|(at, text, _)| (*at, Reverse(text.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(pairs: &[(&str, &str)], text: &str) -> String {
        let mut substitution = Substitution::default();
        pairs.iter().for_each(|(text, mark)| substitution.add(text, mark));
        substitution.apply(text)
    }

    #[test]
    fn the_longer_of_two_that_begin_alike_is_taken() {
        assert_eq!(apply(&[("ab", "1"), ("abcd", "2")], "ab abcd abc xabcdab"), "1 2 1c x21");
    }

    #[test]
    fn a_mark_is_not_taken_for_a_text() {
        assert_eq!(apply(&[("a", "<b>"), ("b", "<a>")], "ab ba"), "<b><a> <a><b>");
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        assert_eq!(apply(&[("", "x")], "abc"), "abc");
        assert_eq!(apply(&[("é", "e")], ""), "");
    }
}
