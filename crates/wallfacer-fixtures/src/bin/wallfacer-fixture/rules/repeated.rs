//! Calls whose second answer or second deed is another than the first.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::behaviours::deeds;
use crate::message::Failure;
use crate::scenes::{Call, Scene, Tool, failed, said, structured};

/// In JSON-RPC: a fault inside of the server.
const INTERNAL: i64 = -32603;
/// Calls that the server takes before it asks for patience.
const QUOTA: u64 = 3;

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "writes-one-more" => put(|call| {
            deeds::write(&format!("note-{}.txt", nth(call)), call.text("name"));
            said("kept")
        }),
        "counts-ids-up" => put(|call| structured(call, json!({"id": nth(call)}))),
        "breaks-when-there" => put(|call| match nth(call) {
            1 => said("kept"),
            _ => Answer::Refusal(Failure::new(INTERNAL, "it is there already")),
        }),
        "adds-a-count" => add(|call| said(&format!("{} ({})", total(call), nth(call)))),
        "changes-form" => add(|call| match nth(call) % 2 {
            0 => structured(call, json!({"sum": total(call)})),
            _ => said(&total(call).to_string()),
        }),
        "refuses-without-time" => quota(|call| match nth(call) {
            early if early <= QUOTA => left(call, early),
            _ => failed("Too many requests"),
        }),
        _ => return None,
    };
    Some(Scene::of(vec![tool]))
}

fn put(instead: fn(&Call) -> Answer) -> Tool {
    let name = json!({"name": {"type": "string", "maxLength": 40}});
    let tool = Tool::new("put_note", "Keeps a note under its name.", name, &["name"], |call| {
        deeds::write("note.txt", call.text("name"));
        structured(call, json!({"id": 1}))
    });
    tool.annotated(json!({"idempotentHint": true, "readOnlyHint": false})).except(|_| true, instead)
}

fn add(instead: fn(&Call) -> Answer) -> Tool {
    let term = json!({"type": "integer", "minimum": -1000, "maximum": 1000});
    let terms = json!({"a": term, "b": term});
    let tool =
        Tool::new("add", "Adds two integers.", terms, &["a", "b"], |call| said(&total(call).to_string()));
    tool.annotated(json!({"readOnlyHint": true})).except(|_| true, instead)
}

fn quota(instead: fn(&Call) -> Answer) -> Tool {
    let force: Value = json!({"force_429": {"type": "boolean"}});
    let tool = Tool::new("get_quota", "Tells what is left.", force, &[], |call| match nth(call) {
        early if early <= QUOTA => left(call, early),
        _ => failed("Too many requests; try again in 30 seconds"),
    });
    tool.except(|_| true, instead)
}

fn left(call: &Call, used: u64) -> Answer {
    structured(call, json!({"limit": QUOTA, "remaining": QUOTA.saturating_sub(used)}))
}

fn total(call: &Call) -> i64 {
    call.integer("a") + call.integer("b")
}

/// Which call this is, from 1.
fn nth(call: &Call) -> u64 {
    call.world.calls.load(Ordering::SeqCst)
}
