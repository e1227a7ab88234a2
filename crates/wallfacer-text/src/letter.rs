//! Which characters act, and how each is shown instead.

/// Whether a character steers a terminal, turns the direction of what is read, breaks a line or takes no room.
///
/// A line feed and a tab act too: where a layout of our own needs them, it asks for them itself.
pub fn acts(letter: char) -> bool {
    letter.is_control() || ACTING.iter().any(|(first, last)| (*first..=*last).contains(&letter))
}

/// Beside the control characters: what changes the direction, and what is not to be seen. Emoji keep their variation
/// selectors, which change nothing but their looks.
const ACTING: [(char, char); 16] = [
    ('\u{ad}', '\u{ad}'),       // soft hyphen
    ('\u{34f}', '\u{34f}'),     // combining grapheme joiner
    ('\u{61c}', '\u{61c}'),     // Arabic letter mark
    ('\u{115f}', '\u{1160}'),   // Hangul fillers
    ('\u{17b4}', '\u{17b5}'),   // Khmer vowels without a form
    ('\u{180b}', '\u{180f}'),   // Mongolian selectors
    ('\u{200b}', '\u{200f}'),   // zero width, and marks of direction
    ('\u{2028}', '\u{202e}'),   // separators of lines and paragraphs, and overrides of direction
    ('\u{2060}', '\u{206f}'),   // invisible operators, and isolates of direction
    ('\u{3164}', '\u{3164}'),   // Hangul filler
    ('\u{feff}', '\u{feff}'),   // byte order mark
    ('\u{ffa0}', '\u{ffa0}'),   // Hangul filler
    ('\u{fff0}', '\u{fffb}'),   // marks of annotation
    ('\u{1bca0}', '\u{1bca3}'), // controls of shorthand
    ('\u{1d173}', '\u{1d17a}'), // controls of notes
    ('\u{e0000}', '\u{e0fff}'), // tags, in which whole sentences can be hidden
];

/// `\x1b`, or `\u{202e}` for what is not ASCII.
pub(crate) fn code(letter: char) -> String {
    match u32::from(letter) {
        number @ 0..0x80 => format!("\\x{number:02x}"),
        number => format!("\\u{{{number:x}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_hides_or_turns_acts_and_what_people_write_does_not() {
        for letter in "\0\u{7}\u{8}\n\r\t\u{1b}\u{7f}\u{80}\u{9b}\u{9f}\u{61c}\u{200b}\u{200e}\u{2028}\u{202e}\u{2066}\u{2069}\u{feff}\u{e0001}\u{e007f}".chars() {
            assert!(acts(letter), "{letter:?}");
        }
        for letter in "aZ09 ~é日本語🦀עִבְרִית العربية e\u{301}❤\u{fe0f}".chars() {
            assert!(!acts(letter), "{letter:?}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(ACTING.iter().all(|(first, last)| first <= last));
        assert!(ACTING.is_sorted());
    }
}
