//! Servers whose reply to one value is no reply.

use super::scene::{Call, Scene, Tool, said};
use crate::answer::Answer;
use crate::flaws::spelling;
use crate::message;
use crate::request::Request;
use crate::tools;
use serde_json::{Value, json};

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "noise-on-one-value" => on_one_mode(|request, reply| {
            request.outlet.line(b"DEBUG entering turbo mode");
            request.outlet.send(&reply);
        }),
        "wrong-id-on-one-value" => on_one_mode(|request, reply| {
            request.outlet.send(&message::result(&json!("the-previous-one"), &reply["result"]));
        }),
        "result-and-error-on-one-value" => on_one_mode(|request, mut reply| {
            reply["error"] = json!({"code": -32000, "message": "turbo mode is not available"});
            request.outlet.send(&reply);
        }),
        "unescaped-quote" => unescaped_quote(),
        _ => return None,
    })
}

fn on_one_mode(send: fn(&Request, Value)) -> Scene {
    let arguments = json!({"mode": {"type": "string", "enum": ["eco", "normal", "turbo"]}});
    let tool = Tool::new("choose_mode", "Chooses a mode.", arguments, &["mode"], |_| said("chosen"));
    Scene::around(
        tool.except(
            |call| call.text("mode") == "turbo",
            move |_| Answer::Instead(tools::said("chosen"), send),
        ),
    )
}

fn unescaped_quote() -> Scene {
    let arguments = json!({"text": {"type": "string", "maxLength": 5000}});
    let tool = Tool::new("reverse_text", "Reverses a text.", arguments, &["text"], |call| {
        Answer::Result(reversed(call))
    });
    Scene::around(tool.except(
        |call| call.text("text").contains('"'),
        |call| {
            Answer::Instead(reversed(call), |request, reply| {
                let text = reply["result"]["content"][0]["text"].to_string().replace("\\\"", "\"");
                request.outlet.line(&spelling::with_text(&reply, text.as_bytes()));
            })
        },
    ))
}

fn reversed(call: &Call) -> Value {
    tools::said(&call.text("text").chars().rev().collect::<String>())
}
