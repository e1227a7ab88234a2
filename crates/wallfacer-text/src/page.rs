//! The last gate before a text of several lines is printed: whatever acts and was not shown as a code before is so here.

use crate::command::{begins_a_line, begins_anywhere};
use crate::letter::{acts, code};

/// The text with its own lines, tabs and the given sequences of ours. The first letter of a line that a CI system would
/// take for a command is shown as a code.
pub fn page(text: &str, ours: &[&str]) -> String {
    let mut page = String::with_capacity(text.len());
    let mut is_blank = true;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some(sequence) = ours.iter().find(|sequence| rest.starts_with(**sequence)) {
            page.push_str(sequence);
            rest = &rest[sequence.len()..];
            continue;
        }
        let is_command = begins_anywhere(rest) || is_blank && begins_a_line(rest);
        let stays = matches!(letter, '\n' | '\t') || rest.starts_with("\r\n") || !acts(letter);
        match stays && !is_command {
            true => page.push(letter),
            false => page.push_str(&code(letter)),
        }
        is_blank = letter == '\n' || is_blank && letter.is_whitespace();
        rest = &rest[letter.len_utf8()..];
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ours_stay_and_what_acts_in_them_does_not() {
        assert_eq!(page("a\n\tb\r\u{1b}[2J\u{202e}\n", &[]), "a\n\tb\\x0d\\x1b[2J\\u{202e}\n");
        assert_eq!(page("häppy 🦀\r\n", &[]), "häppy 🦀\r\n");
    }

    #[test]
    fn no_line_begins_with_a_command_whatever_stands_before_it() {
        let text = "::a::\n  ::b::\n\u{3000}\t::c:: ::d::\nx ::e:: ##[f]\n:: \n";
        let shown = "\\x3a:a::\n  \\x3a:b::\n\u{3000}\t\\x3a:c:: ::d::\nx ::e:: \\x23#[f]\n\\x3a: \n";
        assert_eq!(page(text, &[]), shown);
        assert_eq!(page(shown, &[]), shown, "what is harmless stays as it is");
    }

    #[test]
    fn colours_of_ours_stay_and_hide_no_command() {
        assert_eq!(
            page("\u{1b}[1m::x::\u{1b}[0m\u{1b}[5m", &["\u{1b}[1m", "\u{1b}[0m"]),
            "\u{1b}[1m\\x3a:x::\u{1b}[0m\\x1b[5m"
        );
    }
}
