//! Tells of what kind an answer is: two are of one kind when nothing but what was sent, and what differs from call to
//! call, tells them apart.

use serde_json::Value;

use crate::findings::{Cause, Given};
use crate::observe::Answer;
use crate::plan::{Case, said};
use crate::run::Recording;
use crate::wire::{Body, Content, Outcome};

/// Levels, members and items of a result whose shape is looked at; two answers that differ only below are alike.
const MAX_LEVELS: usize = 4;
const MAX_MEMBERS: usize = 32;

/// The kind of the last answer, as a number; none where nothing came, for that is looked into elsewhere.
pub fn kind(case: &Case, answer: &Answer, recording: &Recording) -> Option<u64> {
    let reply = match recording.steps.last()?.outcome.as_ref()? {
        Outcome::Reply(reply) => reply,
        _ => return None,
    };
    let given = Given::of(case);
    let (cause, shape) = match &reply.content {
        Content::Reply { body: Body::Error(error), .. } => {
            (Cause::error(error.code.unwrap_or_default(), &error.message, &given), String::new())
        }
        _ => {
            let result = reply.result().unwrap_or(Value::Null);
            let structured = result.get("structuredContent");
            let shape =
                format!("{}{}", blocks(&result), structured.map(|it| shape(it, 0)).unwrap_or_default());
            (Cause::error(0, &said(&result), &given), shape)
        }
    };
    let class = match answer {
        Answer::Completed => "completed",
        Answer::ToolError => "tool error",
        _ => "other",
    };
    let text = serde_json::to_string(&(class, &cause, shape)).ok()?;
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes().first_chunk().map(|first| u64::from_le_bytes(*first))
}

/// The types of the blocks of a result; equal ones in a row count once.
fn blocks(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten().take(MAX_MEMBERS);
    let mut types: Vec<&str> = blocks.filter_map(|block| block.get("type")?.as_str()).collect();
    types.dedup();
    types.join(" ")
}

/// Types and names of members, without the values.
fn shape(value: &Value, level: usize) -> String {
    match value {
        Value::Object(members) if level < MAX_LEVELS => {
            let members = members.iter().take(MAX_MEMBERS);
            let members: Vec<String> =
                members.map(|(name, value)| format!("{name}:{}", shape(value, level + 1))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) if level < MAX_LEVELS => {
            let mut items: Vec<String> =
                items.iter().take(MAX_MEMBERS).map(|item| shape(item, level + 1)).collect();
            items.sort();
            items.dedup();
            format!("[{}]", items.join(","))
        }
        Value::Object(_) => "object".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null => "null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_shape_is_names_and_types() {
        let value = json!({ "items": [{ "id": "a" }, { "id": "b" }], "more": true, "next": null });
        assert_eq!(shape(&value, 0), "{items:[{id:text}],more:true,next:null}");
        assert_eq!(shape(&json!([[[[[1]]]]]), 0), "[[[[array]]]]");
    }

    #[test]
    fn blocks_count_once_in_a_row() {
        let block = |kind: &str| json!({ "type": kind });
        let result = json!({ "content": [block("text"), block("text"), block("image")] });
        assert_eq!(blocks(&result), "text image");
    }
}
