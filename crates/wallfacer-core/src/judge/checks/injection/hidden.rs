//! Whether a tool that is in no list answers: its name is answered otherwise than one that nobody has.

use std::sync::LazyLock;

use regex::Regex;

use super::super::reply;
use crate::plan::Case;
use crate::run::{Recording, Taken};

/// What of an answer is shown.
const MAX_SHOWN: usize = 200;

/// The answer of the hidden tool, where there is one.
pub fn answers(case: &Case, recording: &Recording, tool: &str) -> Option<String> {
    let [nobody, hidden] = &recording.steps[..] else { return None };
    let [first, _] = &case.steps[..] else { return None };
    let (unknown, said) = (words(nobody)?, words(hidden)?);
    let plain = |text: &str, name: &str| text.replace(name, "*").to_lowercase();
    let none = first.tool().unwrap_or_default();
    let is_there = plain(&unknown, none) != plain(&said, tool) && !REFUSED.is_match(&said);
    is_there.then(|| {
        let shown: String = said.chars().take(MAX_SHOWN).collect();
        format!("`{tool}` is answered: {shown}")
    })
}

/// What says that there is no such tool, or that it must not be called.
static REFUSED: LazyLock<Regex> = LazyLock::new(|| {
    let none = r"unknown|not found|no such|does ?n[o']t exist|not exist|unrecognized|unsupported|not supported|no tool";
    let barred =
        r"disabled|not (?:currently )?(?:allowed|enabled|available|permitted|registered|implemented|a valid)";
    let denied = r"unavailable|denied|forbidden|prohibited|blocked|read.?only|restricted|invalid tool|requires? .{0,40}(?:mode|enabled)";
    Regex::new(&format!("(?i)(?:{none}|{barred}|{denied})")).expect("a constant")
});

/// What was answered, in words; none without an answer.
fn words(taken: &Taken) -> Option<String> {
    let message = reply::message(taken)?;
    if let Some(error) = reply::error(taken) {
        return Some(error.message.clone());
    }
    let result = message.result()?;
    Some(result.get("content").unwrap_or(&result).to_string())
}
