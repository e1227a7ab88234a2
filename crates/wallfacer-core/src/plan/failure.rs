//! Tells whether a result that counts as a success says in words that nothing was done: "Error: no such note",
//! `{"success": false}`. Such a call has reached nothing, and what it says is read as a refusal.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::lesson::said;

/// A longer text is content, and may speak of errors.
const MAX_TEXT: usize = 1_200;

/// What a result says, where that is that the call failed.
pub fn failure_in_words(result: &Value) -> Option<String> {
    let text = said(result);
    let text = text.trim();
    let structured = result.get("structuredContent").filter(|value| value.is_object());
    let written = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    if [structured, written.as_ref()].into_iter().flatten().any(is_failure) {
        return Some(text.to_owned());
    }
    (written.is_none() && !text.is_empty() && text.len() <= MAX_TEXT && begins_with_failure(text))
        .then(|| text.to_owned())
}

fn is_failure(value: &Value) -> bool {
    let denied = |key: &str| value.get(key) == Some(&Value::Bool(false));
    let status = value.get("status").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let told = match value.get("error") {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(_) | Value::Bool(true)) => true,
        _ => false,
    };
    // Some wrap the text of their answer.
    let inner = value.get("result").and_then(Value::as_str).is_some_and(begins_with_failure);
    let succeeded = ["success", "ok"].iter().any(|key| value.get(*key) == Some(&Value::Bool(true)));
    !succeeded
        && (denied("success")
            || denied("ok")
            || told
            || inner
            || ["error", "failed", "failure"].contains(&status.as_str()))
}

fn begins_with_failure(text: &str) -> bool {
    static BEGINS: LazyLock<Regex> = LazyLock::new(|| {
        let verbs = r"error|errors|failed|failure|exception|traceback|cannot|can't|could not|couldn't|unable to|invalid|unknown|unsupported|unrecognized|missing|not found|no such";
        Regex::new(&format!(r"(?i)^[^\w]{{0,6}}(?:{verbs}|\w+ ?error|[\w ]{{0,40}} error:)\b"))
            .expect("a fixed pattern")
    });
    static SAYS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^[^\n]{0,200}\b(?:not found|does not exist|doesn't exist|is required|are required|is not valid|is not available|failed to|failed:|error:)[^\n]{0,300}$")
            .expect("a fixed pattern")
    });
    let text = text.trim();
    BEGINS.is_match(text) || SAYS.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(text: &str) -> Value {
        json!({ "content": [{ "type": "text", "text": text }] })
    }

    #[test]
    fn failures_are_told_in_many_words() {
        for text in [
            "Error: no such note",
            "❌ Failed to open the shelf",
            "{\"success\": false, \"message\": \"no\"}",
            "{\"error\": \"no such note\"}",
            "{\"status\": \"error\"}",
            "Note 'x' not found",
            "The parameter path is required.",
            "ValueError: bad",
        ] {
            assert!(failure_in_words(&result(text)).is_some(), "{text}");
        }
    }

    #[test]
    fn what_was_done_is_no_failure() {
        for text in [
            "",
            "Hello",
            "No notes yet",
            "{\"success\": true, \"error\": null}",
            "{\"items\": [], \"error\": \"\"}",
            "Found 3 notes\nError handling in Rust",
        ] {
            assert!(failure_in_words(&result(text)).is_none(), "{text}");
        }
        assert!(failure_in_words(&result(&"error ".repeat(1_000))).is_none());
    }
}
