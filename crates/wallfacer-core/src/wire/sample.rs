//! Cuts what a server wrote to what a message has room for, in a form that is safe to show.

use wallfacer_text::shortened;

/// What of a foreign answer goes into a message.
const SAMPLE_CHARS: usize = 160;
/// What of stderr goes into a message.
const STDERR_LINES: usize = 12;
const STDERR_LINE_CHARS: usize = 300;

/// Blanks that are kept before a line.
const MOST_BLANKS: usize = 4;

/// The beginning of some bytes, on one line.
pub fn sample(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(4 * SAMPLE_CHARS)];
    shortened(&String::from_utf8_lossy(head), SAMPLE_CHARS)
}

/// Lines of what announces a failure that are shown where the stack below it is long.
const ANNOUNCED_LINES: usize = 3;

/// The last lines of what a server wrote to stderr.
pub fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| indented(line, STDERR_LINE_CHARS)).collect()
    };
    let last = lines.len().saturating_sub(STDERR_LINES);
    match lines.iter().rposition(|line| announces(line)).filter(|place| *place < last) {
        Some(place) => {
            let mut all = shown(&lines[place..place + ANNOUNCED_LINES]);
            all.push("…".to_owned());
            all.extend(shown(&lines[last + ANNOUNCED_LINES..]));
            all.join("\n")
        }
        None => shown(&lines[last..]).join("\n"),
    }
}

/// A line of at most so many characters, with the blanks before it: they say what belongs to what in a stack trace.
pub fn indented(line: &str, most: usize) -> String {
    let blanks = line.chars().take_while(|letter| letter.is_whitespace()).count().min(MOST_BLANKS);
    format!("{:blanks$}{}", "", shortened(line, most.saturating_sub(blanks)))
}

/// Whether a line says what went wrong, as languages do that print the stack below it.
fn announces(line: &str) -> bool {
    let line = line.trim_start();
    line.contains("' panicked at ")
        || line.contains(") panicked at ")
        || ["panic: ", "fatal error: ", "Exception in thread ", "Unhandled exception", "Uncaught "]
            .iter()
            .any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_is_shown_where_the_stack_stands_below_it() {
        // From a stack that is shown in full on.
        for frames in 9..40 {
            let stack: String = (0..frames).map(|number| format!("  {number}: frame\n")).collect();
            let text = format!(
                "ready\nthread 'main' panicked at src/tools.rs:7:5:\ndivide by zero\nstack backtrace:\n{stack}"
            );
            let shown = last_lines(text.as_bytes());
            let first = "thread 'main' panicked at src/tools.rs:7:5:\ndivide by zero\n";
            assert!(shown.starts_with(first), "{shown}");
            let last = format!("{}: frame", frames - 1);
            assert!(shown.ends_with(&last) && shown.lines().count() <= STDERR_LINES + 1, "{shown}");
        }
    }

    #[test]
    fn only_the_last_lines_of_stderr_are_shown() {
        let text: String = (0..100).map(|number| format!("line {number}\n\n")).collect();
        let shown = last_lines(text.as_bytes());
        assert!(shown.starts_with("line 88") && shown.ends_with("line 99"));
    }
}
