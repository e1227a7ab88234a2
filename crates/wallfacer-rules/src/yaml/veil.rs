//! Hides `{{` and `}}` of placeholders from the YAML parser, to which a brace without quotes begins a map. Nothing
//! moves: every character stays at its byte.

use crate::text;
use std::borrow::Cow;

/// Characters that no script uses, each two bytes long like the braces it stands for.
const UNUSED: std::ops::RangeInclusive<char> = '\u{07b2}'..='\u{07bf}';

#[derive(Debug)]
pub(super) struct Veil {
    pub(super) text: String,
    open: char,
    close: char,
}

impl Veil {
    /// `None` if the text uses what is used by nobody.
    pub(super) fn over(text: &str) -> Option<Self> {
        let mut free = UNUSED.filter(|letter| !text.contains(*letter));
        let (open, close) = (free.next()?, free.next()?);
        let mut veiled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let (before, braces) = rest.split_at(start);
            veiled.push_str(before);
            if let Some(after) = braces.strip_prefix("{{{{") {
                veiled.push_str("{{{{");
                rest = after;
            } else if let Some(inner) = text::placeholder(&braces[2..]) {
                veiled.push(open);
                veiled.push_str(inner);
                veiled.push(close);
                rest = &braces[inner.len() + 4..];
            } else {
                veiled.push('{');
                rest = &braces[1..];
            }
        }
        veiled.push_str(rest);
        Some(Self { text: veiled, open, close })
    }

    pub(super) fn lift<'a>(&self, word: &'a str) -> Cow<'a, str> {
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
    fn only_placeholders_are_veiled_and_nothing_moves() {
        for (text, veiled) in [
            ("tool: {{a}}.x", "tool: \u{7b2}a\u{7b3}.x"),
            ("{ b: {{a}}}", "{ b: \u{7b2}a\u{7b3}}"),
            ("'{{{{a}}'", "'{{{{a}}'"),
            ("{{{a}}", "{\u{7b2}a\u{7b3}"),
            ("{{7*7}} {{ steps.a.b }}", "{{7*7}} \u{7b2} steps.a.b \u{7b3}"),
            ("{a: {b: {}}} {{", "{a: {b: {}}} {{"),
            ("{{open", "{{open"),
        ] {
            let veil = Veil::over(text).unwrap();
            assert_eq!(veil.text, veiled);
            assert_eq!(veil.text.len(), text.len());
            assert_eq!(veil.lift(&veil.text), text);
        }
    }

    #[test]
    fn a_text_that_uses_the_veil_gets_another() {
        let veil = Veil::over("\u{7b2}{{a}}").unwrap();
        assert_eq!(veil.text, "\u{7b2}\u{7b3}a\u{7b4}");
        assert!(Veil::over(&UNUSED.collect::<String>()).is_none());
    }
}
