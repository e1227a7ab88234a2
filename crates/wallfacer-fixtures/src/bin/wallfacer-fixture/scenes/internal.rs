//! Servers that answer an input which they should refuse with a fault of their own.

use super::death::{node_trace, python_trace};
use super::scene::{Scene, Tool, failed, refused, said};
use crate::answer::Answer;
use crate::message::Failure;
use serde_json::json;

const INTERNAL_ERROR: i64 = -32603;
const SERVER_ERROR: i64 = -32000;

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "internal-error-on-one-value" => one_value(),
        "python-trace-in-result" => python_trace_in_result(),
        "node-trace-in-error" => node_trace_in_error(),
        _ => return None,
    })
}

fn one_value() -> Scene {
    let arguments = json!({"item": {"type": "string", "enum": ["tea", "coffee", "milk"]}});
    let tool = Tool::new("price_of", "Tells what something costs.", arguments, &["item"], |call| match call
        .text("item")
    {
        "milk" => refused("milk is not for sale"),
        _ => said("two coins"),
    });
    Scene::around(tool.except(
        |call| call.text("item") == "milk",
        |_| Answer::Refusal(Failure::new(INTERNAL_ERROR, "unexpected condition")),
    ))
}

fn python_trace_in_result() -> Scene {
    let arguments = json!({"text": {"type": "string"}});
    let tool = Tool::new("parse_recipe", "Parses a recipe.", arguments, &["text"], |call| {
        match call.text("text").is_empty() {
            true => refused("the recipe is empty"),
            false => said("a recipe"),
        }
    });
    let trace = python_trace("call_tool", "parse_recipe", 33, "IndexError: list index out of range");
    Scene::around(tool.except(|call| call.text("text").is_empty(), move |_| failed(&trace)))
}

fn node_trace_in_error() -> Scene {
    let arguments = json!({"guests": {"type": "integer", "minimum": 0, "maximum": 12}});
    let tool = Tool::new("seat_guests", "Finds a table.", arguments, &["guests"], |call| {
        match call.integer("guests") {
            0 => refused("nobody is coming"),
            _ => said("table five"),
        }
    });
    let words = "TypeError: Cannot read properties of undefined (reading 'seats')";
    let trace = node_trace("findTable", 52, words);
    Scene::around(tool.except(
        |call| call.integer("guests") == 0,
        move |_| Answer::Refusal(Failure::new(SERVER_ERROR, trace.as_str())),
    ))
}
