//! Undoes the escapes of URLs, JSON, HTML and programming languages in a text, so that a secret is found however its
//! letters are written.

use std::ops::Range;

use memchr::{memchr2_iter, memchr3_iter};

/// The names that HTML has for letters it escapes.
const HTML_NAMES: [(&[u8], u8); 5] =
    [(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&apos;", b'\'')];
/// The most digits of a number in an HTML escape, or between the braces of `\u{…}`.
const MOST_DIGITS: usize = 7;
/// Marks where a text was cut.
pub const CUT: &str = "…";
/// No escape of one character is longer.
const LONGEST: usize = 12;

/// A text with one layer of escapes undone.
#[derive(Debug)]
pub struct Unescaped {
    pub bytes: Vec<u8>,
    /// Where something was undone, in order.
    escapes: Vec<Escape>,
}

#[derive(Debug)]
struct Escape {
    written: Range<usize>,
    meant: Range<usize>,
}

/// The text with one layer of escapes undone, where it has any. What merely looks like an escape is left as it is.
pub fn unescape(text: &[u8]) -> Option<Unescaped> {
    let mut undone = Unescaped { bytes: Vec::new(), escapes: Vec::new() };
    let mut done = 0;
    for at in memchr3_iter(b'%', b'\\', b'&', text) {
        if at < done {
            continue;
        }
        let mut meant = [0; 4];
        let unfinished = || Some((unfinished(&text[at..])?, &[][..]));
        let Some((length, meant)) = escape(&text[at..], &mut meant).or_else(unfinished) else { continue };
        undone.bytes.extend_from_slice(&text[done..at]);
        let start = undone.bytes.len();
        undone.bytes.extend_from_slice(meant);
        done = at + length;
        undone.escapes.push(Escape { written: at..done, meant: start..undone.bytes.len() });
    }
    if undone.escapes.is_empty() {
        return None;
    }
    undone.bytes.extend_from_slice(&text[done..]);
    Some(undone)
}

/// The text without its line breaks, where it has any: what is long and encoded is often broken into lines. What
/// indents the next line goes with the break.
pub fn unbroken(text: &[u8]) -> Option<Unescaped> {
    let mut undone = Unescaped { bytes: Vec::new(), escapes: Vec::new() };
    let mut done = 0;
    for at in memchr2_iter(b'\n', b'\r', text) {
        if at < done {
            continue;
        }
        undone.bytes.extend_from_slice(&text[done..at]);
        done = at + text[at..].iter().take_while(|byte| b"\r\n\t ".contains(byte)).count();
        let here = undone.bytes.len();
        undone.escapes.push(Escape { written: at..done, meant: here..here });
    }
    if undone.escapes.is_empty() {
        return None;
    }
    undone.bytes.extend_from_slice(&text[done..]);
    Some(undone)
}

impl Unescaped {
    /// Where in the text stands what is here in the unescaped bytes.
    pub fn written(&self, at: &Range<usize>) -> Range<usize> {
        let start = match self.before(at.start) {
            Some(escape) if at.start < escape.meant.end => escape.written.start,
            escape => shifted(escape, at.start),
        };
        let end = match self.before(at.end) {
            Some(escape) if escape.meant.start < at.end && at.end < escape.meant.end => escape.written.end,
            Some(escape) if escape.meant.start == at.end => escape.written.start,
            escape => shifted(escape, at.end),
        };
        start..end
    }

    /// The last escape that begins here or before.
    fn before(&self, at: usize) -> Option<&Escape> {
        let next = self.escapes.partition_point(|escape| escape.meant.start <= at);
        next.checked_sub(1).map(|last| &self.escapes[last])
    }
}

fn shifted(escape: Option<&Escape>, at: usize) -> usize {
    escape.map_or(at, |escape| escape.written.end + at - escape.meant.end)
}

/// How long the escape is with which a text begins, and what it means.
fn escape<'a>(text: &[u8], meant: &'a mut [u8; 4]) -> Option<(usize, &'a [u8])> {
    match text.first()? {
        b'%' => {
            meant[0] = number(text.get(1..3)?, 16)? as u8;
            Some((3, &meant[..1]))
        }
        b'\\' => backslash(text, meant),
        _ => html(text, meant),
    }
}

/// The length of an escape that was cut in the middle. It is dropped, so that what stands before it is still seen as the
/// beginning of a secret.
fn unfinished(text: &[u8]) -> Option<usize> {
    let near = &text[..text.len().min(LONGEST + CUT.len())];
    let cut = near.windows(CUT.len()).position(|bytes| bytes == CUT.as_bytes())?;
    let is_of_escape = |byte: &u8| byte.is_ascii_alphanumeric() || b"#{\\".contains(byte);
    text[1..cut].iter().all(is_of_escape).then_some(cut)
}

fn backslash<'a>(text: &[u8], meant: &'a mut [u8; 4]) -> Option<(usize, &'a [u8])> {
    let byte = match text.get(1)? {
        letter @ (b'"' | b'\\' | b'/' | b'\'') => *letter,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'e' => 27,
        b'x' => {
            meant[0] = number(text.get(2..4)?, 16)? as u8;
            return Some((4, &meant[..1]));
        }
        b'0'..=b'3' if text.get(2..4).is_some_and(|digits| number(digits, 8).is_some()) => {
            meant[0] = number(&text[1..4], 8)? as u8;
            return Some((4, &meant[..1]));
        }
        b'0' => 0,
        b'u' if text.get(2) == Some(&b'{') => {
            let digits = text[3..].iter().take(MOST_DIGITS).position(|byte| *byte == b'}')?;
            return letter(3 + digits + 1, number(&text[3..3 + digits], 16)?, meant);
        }
        b'u' => {
            let unit = number(text.get(2..6)?, 16)?;
            if !(0xd800..0xdc00).contains(&unit) {
                return letter(6, unit, meant);
            }
            let second = text.get(6..8).filter(|begin| *begin == b"\\u").and(text.get(8..12))?;
            let second = number(second, 16).filter(|unit| (0xdc00..0xe000).contains(unit))?;
            return letter(12, 0x1_0000 + ((unit - 0xd800) << 10) + (second - 0xdc00), meant);
        }
        b'U' => return letter(10, number(text.get(2..10)?, 16)?, meant),
        _ => return None,
    };
    meant[0] = byte;
    Some((2, &meant[..1]))
}

fn html<'a>(text: &[u8], meant: &'a mut [u8; 4]) -> Option<(usize, &'a [u8])> {
    if let Some((name, byte)) = HTML_NAMES.iter().find(|(name, _)| text.starts_with(name)) {
        meant[0] = *byte;
        return Some((name.len(), &meant[..1]));
    }
    let digits = text.strip_prefix(b"&#")?;
    let (begin, digits, base) = match digits.first()? {
        b'x' | b'X' => (3, &digits[1..], 16),
        _ => (2, digits, 10),
    };
    let end = digits.iter().take(MOST_DIGITS + 1).position(|byte| *byte == b';')?;
    letter(begin + end + 1, number(&digits[..end], base)?, meant)
}

fn letter(length: usize, code: u32, meant: &mut [u8; 4]) -> Option<(usize, &[u8])> {
    let letter = char::from_u32(code)?;
    Some((length, letter.encode_utf8(meant).as_bytes()))
}

/// A number that is all digits; at most eight of them.
fn number(digits: &[u8], base: u32) -> Option<u32> {
    let value = |byte: &u8| char::from(*byte).to_digit(base);
    let is_number = (1..=8).contains(&digits.len());
    is_number.then(|| {
        digits.iter().try_fold(0_u32, |number, byte| number.checked_mul(base)?.checked_add(value(byte)?))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_write_a_letter_is_undone() {
        for (written, meant) in [
            ("a%20b%2Fc%c3%A9", "a b/cé"),
            (r#"\"a\\b\/c\n\u00e9\u{1f600}\ud83d\ude00\x41\101"#, "\"a\\b/c\né😀😀AA"),
            ("&lt;&#39;&#x41;&amp;", "<'A&"),
        ] {
            assert_eq!(String::from_utf8(unescape(written.as_bytes()).unwrap().bytes).unwrap(), meant);
        }
    }

    #[test]
    fn what_only_looks_like_an_escape_is_left() {
        for text in [
            "100% of\\",
            "a & b",
            "%zz",
            "\\ud83d x",
            "\\u12",
            "&#;",
            "&#99999999;",
            "\\q",
            "%",
            "\\u{110000}",
            "\\u{1f600",
        ] {
            assert!(unescape(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_place_is_found_again_where_it_is_written() {
        let text = r"ab\u0063d%65f";
        let undone = unescape(text.as_bytes()).unwrap();
        assert_eq!(undone.bytes, b"abcdef");
        for (meant, written) in [
            (0..2, "ab"),
            (1..3, r"b\u0063"),
            (2..3, r"\u0063"),
            (3..4, "d"),
            (3..6, "d%65f"),
            (0..6, text),
            (4..5, "%65"),
        ] {
            assert_eq!(&text[undone.written(&meant)], written, "{meant:?}");
        }
    }
}
