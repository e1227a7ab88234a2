//! Servers that do not answer, and some that only take their time.

use super::scene::{Call, Scene, Tool, said};
use crate::answer::Answer;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "hang-on-one-value" => one_value(),
        "hang-of-whole-server" => whole_server(),
        "waits-to-be-told" => Scene::around(read_clock().except(|_| true, |_| Answer::Never)),
        "hang-while-waiting" => waits_alone(),
        "sleeps-as-asked" => sleeps_as_asked(),
        "slow-with-length" => slow_with_length(),
        "hang-in-company" => in_company(),
        _ => return None,
    })
}

fn pick_colour() -> Tool {
    let arguments = json!({"colour": {"type": "string", "enum": ["red", "green", "blue"]}});
    Tool::new("pick_colour", "Picks a colour.", arguments, &["colour"], |_| said("picked"))
}

fn is_blue(call: &Call) -> bool {
    call.text("colour") == "blue"
}

fn one_value() -> Scene {
    Scene::around(pick_colour().except(is_blue, |_| Answer::Never))
}

fn whole_server() -> Scene {
    Scene::around(pick_colour().except(is_blue, |call| {
        call.world.fall_silent();
        Answer::Never
    }))
}

fn read_clock() -> Tool {
    let about = "Waits until the clock of a zone strikes.";
    Tool::new("read_clock", about, json!({"zone": {"type": "string"}}), &["zone"], |_| said("struck"))
}

fn waits_alone() -> Scene {
    Scene::around(read_clock().except(
        |_| true,
        |call| {
            call.world.fall_silent();
            Answer::Never
        },
    ))
}

/// Waits, unless the client has had enough before.
fn after(time: Duration, call: &Call) -> Answer {
    match call.request.cancellation.pause(time, call.request.outlet.as_ref()) {
        true => said("done"),
        false => Answer::Withdrawn,
    }
}

fn sleeps_as_asked() -> Scene {
    let arguments = json!({"seconds": {"type": "integer", "minimum": 0, "maximum": 400}});
    let about = "Answers after as many seconds as it is told to wait.";
    let tool = Tool::new("sleep", about, arguments, &["seconds"], |_| said("done")).waits();
    Scene::around(
        tool.except(
            |_| true,
            |call| after(Duration::from_secs(call.integer("seconds").unsigned_abs()), call),
        ),
    )
}

fn slow_with_length() -> Scene {
    /// For each byte: about three seconds for a mebibyte.
    const PACE: Duration = Duration::from_micros(3);
    let arguments = json!({"text": {"type": "string"}});
    let tool = Tool::new("reverse_text", "Reverses a text, slowly.", arguments, &["text"], |_| said("done"));
    let slow = |call: &Call| {
        let length = u32::try_from(call.text("text").len()).unwrap_or(u32::MAX);
        after(PACE.saturating_mul(length), call)
    };
    Scene::around(tool.waits().except(|_| true, slow))
}

fn in_company() -> Scene {
    /// Long enough that calls in flight meet here.
    const WORK: Duration = Duration::from_millis(30);
    let arguments = json!({"words": {"type": "array", "items": {"type": "string"}, "maxItems": 5}});
    let tool = Tool::new("join_words", "Joins some words.", arguments, &["words"], |call| {
        let words = call.arguments["words"].as_array().into_iter().flatten().filter_map(Value::as_str);
        said(&words.collect::<Vec<_>>().join(" "))
    });
    Scene::around(tool.waits().except(
        |_| true,
        |call| match call.world.running.load(Ordering::SeqCst) {
            1 => after(WORK, call),
            _ => Answer::Never,
        },
    ))
}
