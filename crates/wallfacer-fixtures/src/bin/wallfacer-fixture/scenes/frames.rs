//! Servers that cannot bear a message which is no proper request. Their twins answer it as JSON-RPC has it.

use super::death;
use super::scene::{Frame, Scene, Tool, said};
use crate::message;
use serde_json::{Value, json};

/// Every method that a client may ask for, in any version.
const METHODS: [&str; 25] = [
    "initialize",
    "server/discover",
    "ping",
    "logging/setLevel",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/cancel",
    "tasks/update",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
];

pub fn scene(flaw: &str) -> Option<Scene> {
    let frames: fn(&Frame) -> bool = match flaw {
        "dies-on-malformed-json" => |frame| match frame.parsed {
            Err(_) => death::exit(1, "SyntaxError: unexpected token"),
            Ok(_) => false,
        },
        "dies-on-batch" => |frame| match frame.parsed {
            Ok(Value::Array(_)) => death::exit(1, "a batch is not a message"),
            _ => false,
        },
        "dies-on-unknown-method" => |frame| match method(frame) {
            Some(method) if !METHODS.contains(&method) => death::exit(1, "no handler for this method"),
            _ => false,
        },
        "dies-on-params-array" => |frame| match frame.parsed {
            Ok(message) if message["params"].is_array() => death::exit(1, "params has no keys"),
            _ => false,
        },
        "answers-notification" => answers_notification,
        "mute-after-half-line" => mute_after_half_line,
        "loop-ends-on-bad-frame" => loop_ends_on_bad_frame,
        "mute-and-always-ends-badly" => |frame| {
            frame.world.ends_by(|| loop_ended("close_pages"));
            mute_after_half_line(frame)
        },
        "ignores-garbage" => ignores_garbage,
        _ => return None,
    };
    let arguments = json!({"page": {"type": "string", "enum": ["first", "last"]}});
    let tool = Tool::new("open_page", "Opens a page.", arguments, &["page"], |_| said("opened"));
    Some(Scene { frames: Some(frames), ..Scene::around(tool) })
}

fn method<'a>(frame: &Frame<'a>) -> Option<&'a str> {
    frame.parsed.as_ref().ok()?.get("method")?.as_str()
}

fn answers_notification(frame: &Frame) -> bool {
    let has_id = frame.parsed.as_ref().is_ok_and(|message| message.get("id").is_some());
    let answers = method(frame).is_some() && !has_id;
    if answers {
        frame.outlet.send(&message::result(&Value::Null, &json!({})));
    }
    answers
}

/// What ends too soon is taken for the first part of something longer, and waited for.
fn mute_after_half_line(frame: &Frame) -> bool {
    if frame.parsed.as_ref().is_err_and(serde_json::Error::is_eof) {
        frame.world.fall_silent();
    }
    false
}

/// What ends the loop that reads ends the whole server at once, or only when there is nothing more to read.
fn loop_ends_on_bad_frame(frame: &Frame) -> bool {
    match frame.parsed {
        Err(_) => loop_ended("read_message"),
        Ok(message) if message["jsonrpc"] != "2.0" => {
            frame.world.ends_by(|| loop_ended("read_message"));
            frame.world.fall_silent();
            true
        }
        Ok(_) => false,
    }
}

fn loop_ended(function: &str) -> ! {
    death::python("serve", function, 48, "ValidationError: this is no message")
}

/// What looks like a whole message has a sender that waits, so it is refused as usual.
fn ignores_garbage(frame: &Frame) -> bool {
    let text = frame.bytes.trim_ascii();
    let is_whole = text.starts_with(b"{") && text.ends_with(b"}");
    frame.parsed.is_err() && !is_whole
}
