//! What the checks read out of replies.

use serde_json::Value;

use crate::run::{Recording, Taken};
use crate::wire::{Body, Content, ErrorObject, Incoming, Outcome};

/// The message that settled a step, whatever it was.
pub fn message(taken: &Taken) -> Option<&Incoming> {
    match taken.outcome.as_ref()? {
        Outcome::Reply(incoming) => Some(incoming),
        Outcome::Refused { said, .. } | Outcome::Broken { said, .. } => said.as_ref(),
        Outcome::Lost(_) => None,
    }
}

/// The error object of a reply.
pub fn error(taken: &Taken) -> Option<&ErrorObject> {
    match &message(taken)?.content {
        Content::Reply { body: Body::Error(error), .. } => Some(error),
        _ => None,
    }
}

/// The result of the last step.
pub fn result(recording: &Recording) -> Option<Value> {
    message(recording.steps.last()?)?.result()
}

/// Half-finished answers are not results yet.
pub fn is_complete(result: &Value) -> bool {
    result.get("resultType").and_then(Value::as_str).is_none_or(|kind| kind == "complete")
}

/// Whether a text holds the trace of an exception that nobody caught.
pub fn has_stack_trace(text: &str) -> bool {
    const SIGNS: [&str; 5] = [
        "Traceback (most recent call last)",
        "panicked at ",
        "goroutine 1 [",
        "Exception in thread \"",
        "stack backtrace:",
    ];
    SIGNS.iter().any(|sign| text.contains(sign)) || text.lines().filter(|line| is_frame(line)).count() >= 2
}

/// A line such as `    at run (/app/server.js:10:5)`.
fn is_frame(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("at ") else { return false };
    let place = rest.rsplit(['(', ' ']).next().unwrap_or_default().trim_end_matches(')');
    let mut parts = place.rsplitn(3, ':');
    let number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    number(parts.next()) && (number(parts.next()) || place.contains(".java:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_told_from_prose() {
        let node = "TypeError: x\n    at run (/app/server.js:10:5)\n    at /app/index.js:3:1\n";
        assert!(has_stack_trace(node));
        assert!(has_stack_trace("Traceback (most recent call last):\n  File \"a.py\", line 1"));
        assert!(!has_stack_trace("Look at this: the meeting is at 10:30\nor at 11:45"));
        assert!(!has_stack_trace("MCP error -32602: Invalid arguments"));
    }
}
