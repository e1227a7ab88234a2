//! Writes what acts in a JSON document as the escapes that JSON has: the document says the same, and printing it does
//! nothing.

use std::fmt::Write as _;

use crate::command::begins_anywhere;
use crate::letter::acts;

/// The same document. Outside of its strings nothing but blanks and line feeds acts, so each escape stands in a string.
pub fn json(document: &str) -> String {
    let mut written = String::with_capacity(document.len());
    for (place, letter) in document.char_indices() {
        let is_layout = matches!(letter, '\n' | '\t' | '\r');
        if acts(letter) && !is_layout || letter == '#' && begins_anywhere(&document[place..]) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _infallible = write!(written, "\\u{unit:04x}");
            }
        } else {
            written.push(letter);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped_and_everything_else_is_as_it_was() {
        let document = "{\n  \"a\u{9b}\": \"\u{7f}\u{202e}é🦀 ##[x] \u{e0041}\\n\"\n}\n";
        let written = "{\n  \"a\\u009b\": \"\\u007f\\u202eé🦀 \\u0023#[x] \\udb40\\udc41\\n\"\n}\n";
        assert_eq!(json(document), written);
        assert_eq!(json(written), written);
    }
}
