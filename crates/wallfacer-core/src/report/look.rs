//! How a text for a person looks: how wide it is, and whether it has colours. Whoever prints it knows; nobody here asks.

/// Below this a terminal shows no table in any useful way.
const NARROWEST: usize = 60;
/// Longer lines are hard to read, however wide the window.
const WIDEST: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    width: usize,
    coloured: bool,
    detail: Detail,
}

/// How much of a report is shown to a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// The verdict alone.
    Quiet,
    /// The gravest findings in full, the rest in a line each.
    #[default]
    Usual,
    /// Everything.
    Full,
}

/// What a piece of text is, which its colour says again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Bad,
    Warning,
    Good,
    Heading,
    Faint,
}

impl Look {
    /// As in a file or a pipe.
    pub const PLAIN: Look = Look { width: 80, coloured: false, detail: Detail::Usual };

    pub fn terminal(width: usize, coloured: bool) -> Look {
        Look { width: width.clamp(NARROWEST, WIDEST), coloured, detail: Detail::Usual }
    }

    /// The same with more or less in it.
    pub fn with_detail(self, detail: Detail) -> Look {
        Look { detail, ..self }
    }

    pub(super) fn detail(self) -> Detail {
        self.detail
    }

    /// The sequences for a terminal that a text of this look has; whatever else steers one is not of ours.
    pub fn codes(self) -> &'static [&'static str] {
        if self.coloured {
            &["\u{1b}[0m", "\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[1;32m", "\u{1b}[1m", "\u{1b}[2m"]
        } else {
            &[]
        }
    }

    pub(super) fn width(self) -> usize {
        self.width
    }

    pub(super) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Bad => "1;31",
            Tone::Warning => "1;33",
            Tone::Good => "1;32",
            Tone::Heading => "1",
            Tone::Faint => "2",
        };
        if self.coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// The text in lines that leave room for what stands before each.
    pub(super) fn wrapped(self, text: &str, before: usize) -> Vec<String> {
        let room = self.width.saturating_sub(before).max(NARROWEST / 2);
        let mut lines = vec![String::new()];
        for word in text.split(' ').flat_map(|word| pieces(word, room)) {
            let last = lines.last_mut().expect("there is always a line");
            let used = last.chars().count();
            if used == 0 {
                last.push_str(&word);
            } else if used + 1 + word.chars().count() <= room {
                last.push(' ');
                last.push_str(&word);
            } else {
                lines.push(word);
            }
        }
        lines
    }
}

/// A word that no line has room for, in several.
fn pieces(word: &str, room: usize) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    if characters.len() <= room {
        return vec![word.to_owned()];
    }
    characters.chunks(room).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_within_a_word_only_where_it_is_too_long() {
        let look = Look::terminal(60, false);
        assert_eq!(look.wrapped("one two", 20), ["one two"]);
        let text = format!("{} {}", "a".repeat(30), "b".repeat(15));
        assert_eq!(look.wrapped(&text, 20), ["a".repeat(30), "b".repeat(15)]);
        assert_eq!(look.wrapped(&"c".repeat(50), 20), ["c".repeat(40), "c".repeat(10)]);
    }

    #[test]
    fn colours_are_there_only_where_they_are_wanted() {
        assert_eq!(Look::PLAIN.paint(Tone::Bad, "x"), "x");
        assert_eq!(Look::terminal(80, true).paint(Tone::Bad, "x"), "\u{1b}[1;31mx\u{1b}[0m");
    }

    #[test]
    fn the_codes_are_those_that_are_painted_with() {
        let look = Look::terminal(80, true);
        for tone in [Tone::Bad, Tone::Warning, Tone::Good, Tone::Heading, Tone::Faint] {
            let painted = look.paint(tone, "");
            assert_eq!(wallfacer_text::page(&painted, look.codes()), painted);
        }
        assert!(Look::PLAIN.codes().is_empty());
    }
}
