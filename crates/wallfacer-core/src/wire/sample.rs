//! Bytes or text of a server in, a short form that is safe to show out.

/// What of a foreign answer goes into a message.
const SAMPLE_CHARS: usize = 160;
/// What of stderr goes into a message.
const STDERR_LINES: usize = 12;
const STDERR_LINE_CHARS: usize = 300;

/// The beginning of some bytes, on one line.
pub fn sample(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(4 * SAMPLE_CHARS)];
    shortened(&String::from_utf8_lossy(head), SAMPLE_CHARS)
}

/// The last lines of what a server wrote to stderr.
pub fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(STDERR_LINES)..].iter();
    last.map(|line| shortened(line, STDERR_LINE_CHARS)).collect::<Vec<_>>().join("\n")
}

/// At most so many characters, on one line. What could steer a terminal, or reorder what is read, is shown as a code.
pub fn shortened(text: &str, most: usize) -> String {
    let text = text.trim();
    let mut shown = String::with_capacity(text.len().min(4 * most));
    for character in text.chars().take(most) {
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            hidden if is_hidden(hidden) => shown.extend(hidden.escape_unicode()),
            plain => shown.push(plain),
        }
    }
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// Control characters, and those that change the direction or take no room.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(character, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        let hostile = "a\u{1b}[31mred\u{202e}x\u{9b}1m\nb";
        assert_eq!(shortened(hostile, 100), "a\\u{1b}[31mred\\u{202e}x\\u{9b}1m b");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shortened("abcdef", 3), "abc…");
        assert_eq!(shortened("abc", 3), "abc");
    }

    #[test]
    fn only_the_last_lines_of_stderr_are_shown() {
        let text: String = (0..100).map(|number| format!("line {number}\n\n")).collect();
        let shown = last_lines(text.as_bytes());
        assert!(shown.starts_with("line 88") && shown.ends_with("line 99"));
    }
}
