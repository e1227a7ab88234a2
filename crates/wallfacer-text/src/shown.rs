//! Puts a text on one line, with what acts in it shown as its code.

use crate::command::begins_anywhere;
use crate::letter::{acts, code};

/// All of a text on one line. Line feeds and tabs become blanks, other characters that act become their codes.
pub fn shown(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (place, letter) in text.char_indices() {
        match letter {
            '\n' | '\r' | '\t' => line.push(' '),
            '#' if begins_anywhere(&text[place..]) => line.push_str(&code(letter)),
            letter if acts(letter) => line.push_str(&code(letter)),
            letter => line.push(letter),
        }
    }
    line
}

/// The same of at most so many characters, without the blanks around them.
pub fn shortened(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        None => shown(text),
        Some((end, _)) => shown(&text[..end]) + "…",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        let hostile = "a\u{1b}[31mred\u{202e}x\u{9b}1m\nb\u{e0041}";
        assert_eq!(shortened(hostile, 100), "a\\x1b[31mred\\u{202e}x\\u{9b}1m b\\u{e0041}");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shortened("abcdef", 3), "abc…");
        assert_eq!(shortened(" abc\n", 3), "abc");
        assert_eq!(shortened("äöü", 2), "äö…");
    }

    #[test]
    fn a_command_that_counts_anywhere_in_a_line_is_none_any_more() {
        assert_eq!(shown("a ##[error]b ###vso[x] ## [y]"), "a \\x23#[error]b #\\x23#vso[x] ## [y]");
    }
}
