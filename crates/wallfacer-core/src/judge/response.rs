//! Turns an answered step into the `response` that rules read.

use serde_json::{Value, json};

use super::checks::reply;
use crate::observe::{Answer, Seen};
use crate::run::Taken;
use crate::wire::{Outcome, sample, shortened};

/// Letters of a name that are told.
const SHOWN: usize = 80;

/// None where there is nothing to judge: a death, a silence, or bytes that are no answer.
pub fn response(taken: &Taken, seen: &Seen) -> Option<Value> {
    match seen.answer {
        Answer::Completed | Answer::ToolError => reply::message(taken)?.result(),
        Answer::Rejected { code } | Answer::Failed { code } => Some(refusal(taken, code)),
        Answer::Malformed | Answer::Silent | Answer::NotAwaited | Answer::Gone { .. } => None,
    }
}

/// Why there is nothing to judge, after a call of this tool.
pub fn unanswered(tool: &str, answer: &Answer) -> String {
    let tool = shortened(tool, SHOWN);
    match answer {
        Answer::Gone { .. } => format!("`{tool}` gave no answer to judge: the server ended"),
        Answer::Malformed => format!("`{tool}` gave no answer to judge: what came is no valid message"),
        _ => format!("`{tool}` gave no answer to judge within its time limit; --tool-timeout gives it more"),
    }
}

fn refusal(taken: &Taken, code: i64) -> Value {
    let mut error = json!({ "code": code });
    match (reply::error(taken), &taken.outcome) {
        (Some(said), _) => {
            error["message"] = Value::from(said.message.as_str());
            if let Some(data) = &said.data {
                error["data"] = data.clone();
            }
        }
        (None, Some(Outcome::Refused { body, .. })) => error["message"] = Value::from(sample(body)),
        (None, _) => error["message"] = Value::from(""),
    }
    json!({ "isError": true, "error": error })
}
