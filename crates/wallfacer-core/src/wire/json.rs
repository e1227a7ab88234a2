//! Scans JSON text for where each top-level member lies and for what is odd about it.
//!
//! A parser that builds values would lose what we are here to see (duplicate keys, huge numbers, lone surrogates)
//! and recurse on hostile nesting. This one walks the text once, with a stack of its own.

use std::collections::BTreeSet;
use std::ops::Range;

use super::fault::{Fault, Faults};

/// Where the parts of a JSON text lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outline {
    Object(Vec<Member>),
    Array(Vec<Range<usize>>),
    Scalar,
}

/// One member of the outermost object. The key is kept as written between its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub key: Range<usize>,
    pub value: Range<usize>,
}

/// The text is no JSON; `at` is the offset where that became certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson {
    pub at: usize,
}

/// Above this many keys an object's duplicates are found through a set: comparing each with each would be quadratic.
const FEW_KEYS: usize = 24;
/// What an ordinary reply needs; more is made room for when it comes.
const USUAL_DEPTH: usize = 8;
const USUAL_KEYS: usize = 16;
const USUAL_MEMBERS: usize = 4;

/// Outlines one JSON text; faults that leave it readable go into `faults`.
pub fn outline(text: &str, max_depth: usize, faults: &mut Faults) -> Result<Outline, NotJson> {
    let mut scanner = Scanner::new(text, max_depth, faults);
    scanner.run()
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Open<'a>>,
    /// The keys of all objects that are open, one object's behind another's: one list serves a whole message.
    keys: Vec<&'a [u8]>,
    max_depth: usize,
    faults: &'a mut Faults,
    members: Vec<Member>,
    items: Vec<Range<usize>>,
}

/// A container that is not closed yet.
enum Open<'a> {
    Array,
    Object {
        /// Where its keys begin in the scanner's list.
        first: usize,
        /// All of its keys, once they are too many to be compared one by one.
        many: BTreeSet<&'a [u8]>,
    },
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, max_depth: usize, faults: &'a mut Faults) -> Self {
        let text = text.as_bytes();
        Scanner {
            text,
            at: 0,
            open: Vec::with_capacity(USUAL_DEPTH),
            keys: Vec::with_capacity(USUAL_KEYS),
            max_depth,
            faults,
            members: Vec::with_capacity(USUAL_MEMBERS),
            items: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<Outline, NotJson> {
        self.skip_space();
        let first = self.peek();
        self.value()?;
        self.skip_space();
        if self.at != self.text.len() {
            return Err(self.not_json());
        }
        Ok(match first {
            Some(b'{') => Outline::Object(std::mem::take(&mut self.members)),
            Some(b'[') => Outline::Array(std::mem::take(&mut self.items)),
            _ => Outline::Scalar,
        })
    }

    /// Reads one whole value, however deep, without recursion.
    fn value(&mut self) -> Result<(), NotJson> {
        // Start offset and key of the top-level part being read.
        let mut part = (0, 0..0);
        loop {
            self.skip_space();
            let start = self.at;
            let opened = match self.peek() {
                Some(b'{') => {
                    self.begin(Open::Object { first: self.keys.len(), many: BTreeSet::new() }, b'}')
                }
                Some(b'[') => self.begin(Open::Array, b']'),
                Some(b'"') => self.string().map(|_| false)?,
                Some(b'-' | b'0'..=b'9') => self.number().map(|()| false)?,
                _ => self.word().map(|()| false)?,
            };
            if self.open.len() == 1 && !opened || self.open.len() == 2 && opened {
                part.0 = start;
            }
            if opened {
                self.key_if_object(&mut part)?;
                continue;
            }
            if !self.after_value(&mut part)? {
                return Ok(());
            }
        }
    }

    /// After a complete value: closes what ends here, and says whether another value follows.
    fn after_value(&mut self, part: &mut (usize, Range<usize>)) -> Result<bool, NotJson> {
        loop {
            if self.open.len() == 1 {
                self.keep_part(part);
            }
            let Some(container) = self.open.last() else { return Ok(false) };
            let close = if matches!(container, Open::Array) { b']' } else { b'}' };
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.key_if_object(part)?;
                    return Ok(true);
                }
                Some(byte) if byte == close => {
                    self.at += 1;
                    if let Some(Open::Object { first, .. }) = self.open.pop() {
                        self.keys.truncate(first);
                    }
                }
                _ => return Err(self.not_json()),
            }
        }
    }

    /// Opens a container; false when it was empty and is closed again.
    fn begin(&mut self, container: Open<'a>, close: u8) -> bool {
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(close) {
            self.at += 1;
            return false;
        }
        self.open.push(container);
        if self.open.len() == self.max_depth + 1 {
            self.faults.add(Fault::TooDeep);
        }
        true
    }

    fn key_if_object(&mut self, part: &mut (usize, Range<usize>)) -> Result<(), NotJson> {
        if !matches!(self.open.last(), Some(Open::Object { .. })) {
            return Ok(());
        }
        self.skip_space();
        if self.peek() != Some(b'"') {
            return Err(self.not_json());
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.not_json());
        }
        self.at += 1;
        if self.open.len() == 1 {
            part.1 = key.clone();
        }
        if self.seen_before(&self.text[key]) {
            self.faults.add(Fault::DuplicateKey);
        }
        Ok(())
    }

    /// Takes a key of the innermost object down; true when it was there already.
    fn seen_before(&mut self, key: &'a [u8]) -> bool {
        let Some(Open::Object { first, many }) = self.open.last_mut() else { return false };
        let few = &self.keys[*first..];
        if few.len() < FEW_KEYS {
            let seen = few.contains(&key);
            self.keys.push(key);
            return seen;
        }
        if many.is_empty() {
            many.extend(few);
        }
        !many.insert(key)
    }

    fn keep_part(&mut self, part: &(usize, Range<usize>)) {
        let value = part.0..self.at;
        match self.open[0] {
            Open::Array => self.items.push(value),
            Open::Object { .. } => self.members.push(Member { key: part.1.clone(), value }),
        }
    }

    /// A string; gives what lies between its quotes.
    fn string(&mut self) -> Result<Range<usize>, NotJson> {
        self.at += 1;
        let start = self.at;
        let mut high_surrogate = false;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    high_surrogate = self.escape(high_surrogate)?;
                    continue;
                }
                Some(0..=0x1f) | None => return Err(self.not_json()),
                Some(_) => self.skip_plain(),
            }
            self.end_surrogate(&mut high_surrogate);
        }
        self.end_surrogate(&mut high_surrogate);
        self.at += 1;
        Ok(start..self.at - 1)
    }

    /// Passes over what stands for itself in a string.
    fn skip_plain(&mut self) {
        let rest = &self.text[self.at..];
        let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
        self.at += plain.unwrap_or(rest.len());
    }

    fn end_surrogate(&mut self, pending: &mut bool) {
        if std::mem::take(pending) {
            self.faults.add(Fault::LoneSurrogate);
        }
    }

    /// One escape; true when it is the first half of a surrogate pair.
    fn escape(&mut self, mut pending: bool) -> Result<bool, NotJson> {
        let kind = self.text.get(self.at + 1).copied();
        if kind != Some(b'u') {
            self.end_surrogate(&mut pending);
            return match kind {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                    self.at += 2;
                    Ok(false)
                }
                _ => Err(self.not_json()),
            };
        }
        let digits = self.text.get(self.at + 2..self.at + 6).ok_or(self.not_json())?;
        let digits = std::str::from_utf8(digits).map_err(|_| self.not_json())?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(self.not_json());
        }
        let unit = u32::from_str_radix(digits, 16).map_err(|_| self.not_json())?;
        self.at += 6;
        match unit {
            0xd800..=0xdbff => {
                self.end_surrogate(&mut pending);
                Ok(true)
            }
            0xdc00..=0xdfff if pending => Ok(false),
            0xdc00..=0xdfff => {
                self.faults.add(Fault::LoneSurrogate);
                Ok(false)
            }
            _ => {
                self.end_surrogate(&mut pending);
                Ok(false)
            }
        }
    }

    fn number(&mut self) -> Result<(), NotJson> {
        let start = self.at;
        self.skip(b'-');
        let digits = self.digits();
        if digits == 0 || digits > 1 && self.text[self.at - digits] == b'0' {
            return Err(self.not_json());
        }
        let integer = self.text[start..self.at].len();
        if self.skip(b'.') && self.digits() == 0 {
            return Err(self.not_json());
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _signed = self.skip(b'+') || self.skip(b'-');
            if self.digits() == 0 {
                return Err(self.not_json());
            }
        }
        if self.at - start == integer && does_not_fit(&self.text[start..self.at]) {
            self.faults.add(Fault::BigNumber);
        }
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn word(&mut self) -> Result<(), NotJson> {
        for word in [b"true".as_slice(), b"false", b"null"] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(());
            }
        }
        Err(self.not_json())
    }

    fn skip(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn not_json(&self) -> NotJson {
        NotJson { at: self.at }
    }
}

/// An integer that neither i64 nor u64 holds: most JSON readers would round it.
fn does_not_fit(digits: &[u8]) -> bool {
    const ALWAYS_FITS: usize = 18;
    digits.len() > ALWAYS_FITS
        && std::str::from_utf8(digits)
            .is_ok_and(|text| text.parse::<i64>().is_err() && text.parse::<u64>().is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Result<Outline, NotJson>, Faults) {
        let mut faults = Faults::default();
        let outline = outline(text, 64, &mut faults);
        (outline, faults)
    }

    fn members(text: &str) -> Vec<(String, String)> {
        match read(text).0 {
            Ok(Outline::Object(members)) => {
                members.into_iter().map(|m| (text[m.key].to_owned(), text[m.value].to_owned())).collect()
            }
            other => panic!("no object: {other:?}"),
        }
    }

    #[test]
    fn top_level_members_are_found_with_their_exact_text() {
        let text = r#" {"id" : 1.0, "result":{"a":[1,{"b":2}]},"empty":{},"list":[ ],"text":"x\"y"} "#;
        let wanted = [
            ("id", "1.0"),
            ("result", r#"{"a":[1,{"b":2}]}"#),
            ("empty", "{}"),
            ("list", "[ ]"),
            ("text", r#""x\"y""#),
        ];
        let wanted: Vec<_> = wanted.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        assert_eq!(members(text), wanted);
    }

    #[test]
    fn items_of_a_top_level_array_are_found() {
        let text = r#"[ {"a":1}, 2 ,[],[[3]] ]"#;
        let Ok(Outline::Array(items)) = read(text).0 else { panic!("no array") };
        let items: Vec<_> = items.into_iter().map(|range| &text[range]).collect();
        assert_eq!(items, [r#"{"a":1}"#, "2", "[]", "[[3]]"]);
    }

    #[test]
    fn what_serde_json_refuses_is_refused_and_what_it_takes_is_taken() {
        let texts = [
            "",
            "{",
            "}",
            "{}",
            "[]",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "nul",
            "null",
            "01",
            "-",
            "-0",
            "1.",
            "1.5e",
            "1e5",
            "1E+5",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u0041\"",
            "\"a\nb\"",
            "tru",
            "true false",
            "[1 2]",
            "[[[]]]",
            "{\"a\":{\"b\":[{}]}}",
            "\"unterminated",
            " 1 ",
            "+1",
            ".5",
            "[,]",
        ];
        for text in texts {
            let theirs = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(read(text).0.is_ok(), theirs, "{text:?}");
        }
    }

    #[test]
    fn duplicate_keys_are_found_at_any_depth_and_in_large_objects() {
        assert!(read(r#"{"a":1,"a":2}"#).1.has(Fault::DuplicateKey));
        assert!(read(r#"[{"b":{"a":1,"c":{"a":2},"a":3}}]"#).1.has(Fault::DuplicateKey));
        assert!(!read(r#"{"a":{"a":{"a":1}}}"#).1.has(Fault::DuplicateKey));
        let many: Vec<_> = (0..1000).map(|n| format!("\"k{n}\":{n}")).collect();
        assert!(!read(&format!("{{{}}}", many.join(","))).1.has(Fault::DuplicateKey));
        assert!(read(&format!("{{{},\"k7\":0}}", many.join(","))).1.has(Fault::DuplicateKey));
    }

    #[test]
    fn numbers_that_would_be_rounded_are_named() {
        assert!(read("123456789012345678901234567890").1.has(Fault::BigNumber));
        assert!(!read("18446744073709551615").1.has(Fault::BigNumber));
        assert!(!read("1.23456789012345678901234567890").1.has(Fault::BigNumber));
    }

    #[test]
    fn lone_surrogates_are_named_and_pairs_are_not() {
        assert!(read(r#""\ud83d""#).1.has(Fault::LoneSurrogate));
        assert!(read(r#""\ude00""#).1.has(Fault::LoneSurrogate));
        assert!(read(r#""\ud83dx\ude00""#).1.has(Fault::LoneSurrogate));
        assert!(!read(r#""\ud83d\ude00""#).1.has(Fault::LoneSurrogate));
    }

    #[test]
    fn nesting_of_a_million_levels_is_read_without_recursion() {
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let (outline, faults) = read(&deep);
        assert!(outline.is_ok());
        assert!(faults.has(Fault::TooDeep));
    }
}
