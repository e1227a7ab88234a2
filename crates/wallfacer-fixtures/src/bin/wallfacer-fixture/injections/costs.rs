//! What a call costs.

use serde_json::json;

use crate::scenes::{Scene, Tool, failed, said};

/// A text that is longer is not looked at by the correct twins, nor is more than this written out.
const LONGEST: usize = 1 << 20;
/// What an expression is held against.
const LINE: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "time-runs-away" => Tool::new(
            "trim_text",
            "Takes away white space at the end.",
            json!({"text": {"type": "string"}}),
            &["text"],
            |call| {
                let text = call.text("text");
                if text.len() > LONGEST { failed("too long") } else { said(text.trim_end()) }
            },
        )
        .except(|_| true, |call| said(&format!("{} places end in white space", places(call.text("text"))))),
        "pattern-that-backtracks" => Tool::new(
            "search_pages",
            "Searches the pages.",
            json!({"pattern": {"type": "string"}}),
            &["pattern"],
            |call| said(&format!("{}", LINE.contains(call.text("pattern")))),
        )
        .except(
            |call| repeated(call.text("pattern")).is_some(),
            |call| {
                let times = repeated(call.text("pattern")).unwrap_or_default();
                said(&format!("{}", matches(LINE.as_bytes(), times)))
            },
        ),
        "memory-runs-away" => Tool::new(
            "read_document",
            "Tells how long a document is.",
            json!({"document": {"type": "string"}}),
            &["document"],
            |call| match expanded(call.text("document"), LONGEST) {
                Some(text) => said(&text.len().to_string()),
                None => failed("too long"),
            },
        )
        .except(
            |_| true,
            |call| match expanded(call.text("document"), usize::MAX) {
                Some(text) => said(&text.len().to_string()),
                None => failed("too long"),
            },
        ),
        _ => return None,
    };
    Some(Scene::around(tool))
}

/// Each run of white space is walked from each of its letters, as an expression that backtracks does.
fn places(text: &str) -> usize {
    let letters: Vec<char> = text.chars().collect();
    let ends = |start: &usize| letters[*start..].iter().take_while(|letter| letter.is_whitespace()).count();
    (0..letters.len()).filter(|start| *start + ends(start) == letters.len()).count()
}

/// How often `(a+)` is to come before a `b`.
fn repeated(pattern: &str) -> Option<usize> {
    pattern.strip_prefix("(a+){")?.strip_suffix("}b")?.parse().ok()
}

/// Tries every length of every repetition before it gives up.
fn matches(line: &[u8], times: usize) -> bool {
    if times == 0 {
        return line.first() == Some(&b'b');
    }
    let letters = line.iter().take_while(|letter| **letter == b'a').count();
    (1..=letters).rev().any(|length| matches(&line[length..], times - 1))
}

/// A document with its entities written out, each of which doubles the one before; none where that is too long.
fn expanded(document: &str, longest: usize) -> Option<String> {
    let mut text = String::new();
    for declared in document.split("<!ENTITY ").skip(1) {
        let value = declared.split('"').nth(1).unwrap_or_default();
        text = if value.starts_with('&') { text.repeat(2) } else { value.to_owned() };
        if text.len() > longest {
            return None;
        }
    }
    Some(text)
}
