//! Texts that act when they are printed as they are, and what must not be found in anything that a test prints.

/// What each of them does, and the text. They are short, so that no table cuts off what acts.
pub const HOSTILE_TEXTS: &[(&str, &str)] = &[
    ("sets the title of a terminal", "\u{1b}]0;owned\u{7}"),
    ("sets the clipboard", "\u{1b}]52;c;b3duZWQ=\u{7}"),
    ("clears a terminal", "\u{1b}[2J\u{1b}[H"),
    ("controls a device", "\u{1b}Pq\u{1b}\\"),
    ("begins a sequence with one character", "\u{9b}31mred"),
    ("sets a title with one character", "\u{9d}0;owned\u{9c}"),
    ("writes over a line", "no\rb\u{8}\u{7f}"),
    ("turns the direction", "\u{202e}txt.exe\u{202c}"),
    ("isolates a direction", "\u{2066}x\u{2069}\u{200f}\u{61c}"),
    ("takes no room", "a\u{200b}b\u{feff}"),
    ("separates lines", "a\u{2028}b\u{2029}c"),
    ("hides words in tags", "\u{e0041}\u{e007f}"),
    ("begins a line of a report", "a\nPASSED  forged"),
    ("begins a line with a command", "a\n::error::forged"),
    ("is a command of a workflow", "::add-mask::forged"),
    ("is an older command of a workflow", "##[error]forged"),
    ("is a command of a pipeline", "##vso[task.x]forged"),
    ("is a link", "[log in](http://evil.test)"),
    ("is a picture", "![x](http://evil.test/x)"),
    ("is a tag", "<img src=//evil.test/x>"),
];

/// What in a printed text acts, with some of what stands around it. The list is written out once more here, so that it
/// finds what the product's own list forgets.
pub fn acting(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let told = |why: &str| format!("line {}: {why}: {:.200}", number + 1, line.escape_debug());
        found.extend(
            line.chars()
                .filter(|letter| is_forbidden(*letter))
                .map(|letter| told(&letter.escape_unicode().to_string())),
        );
        let command = line.trim_start().starts_with("::").then_some("::");
        // Indented it is evidence; a verdict stands at the beginning of a line.
        let forged = line.starts_with("PASSED  forged").then_some("a verdict");
        let anywhere = ["##[", "##vso["].into_iter().filter(|command| line.contains(command));
        found.extend(command.into_iter().chain(forged).chain(anywhere).map(told));
    }
    found
}

fn is_forbidden(letter: char) -> bool {
    matches!(letter,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_that_acts_where_it_is_printed_is_found() {
        for (what, text) in HOSTILE_TEXTS.iter().filter(|(_, text)| !text.contains("evil.test")) {
            assert!(!acting(text).is_empty(), "{what}");
        }
        assert_eq!(acting("  a ::b:: # [c]\n\tplain é 🦀\n"), [""; 0]);
    }
}
