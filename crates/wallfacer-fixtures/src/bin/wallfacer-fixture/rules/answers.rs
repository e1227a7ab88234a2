//! Texts and lists of a length that the server was not made for.

use serde_json::json;

use crate::answer::Answer;
use crate::message::Failure;
use crate::scenes::{Call, Scene, Tool, refused, said};

/// What a correct server of this kind still takes.
const LONGEST: usize = 4 << 10;
/// In JSON-RPC: a fault inside of the server.
const INTERNAL: i64 = -32603;

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "fails-on-long-text" => echo(|call| call.text("text").len() > 60_000),
        "fails-on-many-words" => echo(|call| call.text("text").split_whitespace().count() > 1_000),
        "fails-on-empty-text" => echo(|call| call.text("text").is_empty()),
        "fails-on-empty-list" => sum(|call| items(call) == 0),
        "fails-on-long-list" => sum(|call| items(call) >= 1_000),
        "refuses-under-another-code" => echo(|_| false).except(
            |call| call.text("text").len() > LONGEST || call.text("text").is_empty(),
            |_| Answer::Refusal(Failure::new(INTERNAL, "text must have between 1 and 4096 characters")),
        ),
        _ => return None,
    };
    Some(Scene::of(vec![tool]))
}

/// Its other argument must be there, too.
fn echo(fails: fn(&Call) -> bool) -> Tool {
    let arguments =
        json!({"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1, "maximum": 3}});
    let tool = Tool::new("echo", "Gives back the text.", arguments, &["text", "times"], |call| {
        match call.text("text").len() > LONGEST {
            true => refused("the text is too long"),
            false => said(call.text("text")),
        }
    });
    tool.except(fails, |_| broken())
}

fn sum(fails: fn(&Call) -> bool) -> Tool {
    let items = json!({"items": {"type": "array", "items": {"type": "integer"}}});
    let tool = Tool::new("sum", "Adds up.", items, &["items"], |call| {
        said(
            &call.arguments["items"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|item| item.as_f64())
                .sum::<f64>()
                .to_string(),
        )
    });
    tool.except(fails, |_| broken())
}

fn items(call: &Call) -> usize {
    call.arguments["items"].as_array().map_or(0, Vec::len)
}

fn broken() -> Answer {
    Answer::Refusal(Failure::new(INTERNAL, "list index out of range"))
}
