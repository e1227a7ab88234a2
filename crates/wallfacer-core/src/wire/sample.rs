//! Cuts what a server wrote to what a message has room for, in a form that is safe to show.

use wallfacer_text::shortened;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_of_stderr_are_shown() {
        let text: String = (0..100).map(|number| format!("line {number}\n\n")).collect();
        let shown = last_lines(text.as_bytes());
        assert!(shown.starts_with("line 88") && shown.ends_with("line 99"));
    }
}
