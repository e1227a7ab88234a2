//! Hides `{{` and `}}` of placeholders from the YAML parser, to which a brace without quotes begins a map. Nothing
//! moves: every character stays at its byte.

use crate::text;
use std::borrow::Cow;

/// Characters that no script uses, each two bytes long like the braces it stands for.
const UNUSED: std::ops::RangeInclusive<char> = '\u{07b2}'..='\u{07bf}';

#[derive(Debug)]
pub(super) struct Masked {
    pub(super) text: String,
    open: char,
    close: char,
}

impl Masked {
    /// `None` if the text itself uses all the characters that could stand for braces.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut free = UNUSED.filter(|letter| !text.contains(*letter));
        let (open, close) = (free.next()?, free.next()?);
        let mut masked = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let (before, braces) = rest.split_at(start);
            masked.push_str(before);
            if let Some(after) = braces.strip_prefix("{{{{") {
                masked.push_str("{{{{");
                rest = after;
            } else if let Some(inner) = text::placeholder(&braces[2..]) {
                masked.push(open);
                masked.push_str(inner);
                masked.push(close);
                rest = &braces[inner.len() + 4..];
            } else {
                masked.push('{');
                rest = &braces[1..];
            }
        }
        masked.push_str(rest);
        Some(Self { text: masked, open, close })
    }

    pub(super) fn unmask<'a>(&self, word: &'a str) -> Cow<'a, str> {
        if word.contains(self.open) {
            Cow::Owned(word.replace(self.open, "{{").replace(self.close, "}}"))
        } else {
            Cow::Borrowed(word)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_placeholders_are_masked_and_nothing_moves() {
        for (text, expected) in [
            ("tool: {{a}}.x", "tool: \u{7b2}a\u{7b3}.x"),
            ("{ b: {{a}}}", "{ b: \u{7b2}a\u{7b3}}"),
            ("'{{{{a}}'", "'{{{{a}}'"),
            ("{{{a}}", "{\u{7b2}a\u{7b3}"),
            ("{{7*7}} {{ steps.a.b }}", "{{7*7}} \u{7b2} steps.a.b \u{7b3}"),
            ("{a: {b: {}}} {{", "{a: {b: {}}} {{"),
            ("{{open", "{{open"),
        ] {
            let masked = Masked::new(text).unwrap();
            assert_eq!(masked.text, expected);
            assert_eq!(masked.text.len(), text.len());
            assert_eq!(masked.unmask(&masked.text), text);
        }
    }

    #[test]
    fn a_text_that_uses_the_mask_gets_another() {
        let masked = Masked::new("\u{7b2}{{a}}").unwrap();
        assert_eq!(masked.text, "\u{7b2}\u{7b3}a\u{7b4}");
        assert!(Masked::new(&UNUSED.collect::<String>()).is_none());
    }
}
