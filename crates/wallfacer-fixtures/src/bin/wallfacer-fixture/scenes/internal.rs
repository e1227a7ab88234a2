//! Servers that answer an input which they should refuse with a fault of their own.

use super::death::{node_trace, python_trace};
use super::scene::{Call, Entry, Scene, Tool, count_words, failed, refused, said};
use crate::answer::Answer;
use crate::message::Failure;
use serde_json::{Value, json};

const INTERNAL_ERROR: i64 = -32603;
const SERVER_ERROR: i64 = -32000;

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "internal-error-on-one-value" => one_value(),
        "python-trace-in-result" => python_trace_in_result(),
        "node-trace-in-error" => node_trace_in_error(),
        "refuses-by-wrong-code" => wrong_code(),
        "checks-no-arguments" => checks_no_arguments(),
        "program-missing" => lacking(|| internal(&node_trace("start", 12, "Error: spawn plotter ENOENT"))),
        "key-missing" => lacking(|| {
            failed(&python_trace("call_tool", "price_of", 9, "ValueError: The API key is not set"))
        }),
        "page-for-data" => lacking(|| internal("Unexpected token '<', \"<!doctype \"... is not valid JSON")),
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

fn internal(text: &str) -> Answer {
    Answer::Refusal(Failure::new(INTERNAL_ERROR, text))
}

/// Refuses one value in each of three tools; the correct twin with the code that is meant for it.
fn wrong_code() -> Scene {
    let arguments = || json!({"item": {"type": "string", "enum": ["tea", "coffee", "milk"]}});
    let tool = |name: &str| {
        Tool::new(name, "Tells something of an item.", arguments(), &["item"], |call| {
            match call.text("item") {
                "milk" => refused("there is no milk"),
                _ => said("two coins"),
            }
        })
    };
    let is_milk: fn(&Call) -> bool = |call| call.text("item") == "milk";
    let list = "[{\"code\": \"invalid_type\", \"expected\": \"object\", \"path\": [\"item\"]}]";
    Scene::of(vec![
        tool("price_of").except(is_milk, move |_| internal(list)),
        tool("describe_item").except(is_milk, |_| internal("syntax error at or near \"milk\"")),
        count_words(),
        tool("sort_item").except(is_milk, |_| {
            internal("Sorting failed: what is wet needs a bottle. Take another shelf instead.")
        }),
    ])
}

/// Two tools that rely on their schemas without checking arguments against them; the fixed twin checks.
fn checks_no_arguments() -> Scene {
    let tool = |name: &str| {
        let lines = json!({"lines": {"type": "array", "items": {"type": "string"}}});
        let tool = Tool::new(name, "Does something with lines.", lines, &["lines"], |_| said("done"));
        tool.entry(Entry::Anything).except(
            |call| !has_only_lines(call),
            |call| {
                internal(match call.arguments.get("lines") {
                    None => "Cannot read properties of undefined (reading 'map')",
                    Some(Value::Null) => "Cannot read properties of null (reading 'map')",
                    Some(Value::Array(_)) => "line.trim is not a function",
                    Some(_) => "lines.map is not a function",
                })
            },
        )
    };
    Scene::of(vec![tool("join_lines"), count_words(), tool("reverse_lines")])
}

fn has_only_lines(call: &Call) -> bool {
    let lines = call.arguments["lines"].as_array().filter(|lines| lines.iter().all(Value::is_string));
    lines.is_some() && call.arguments.as_object().is_some_and(|members| members.len() == 1)
}

/// Fails on every call, for want of something outside.
fn lacking(answer: fn() -> Answer) -> Scene {
    let arguments = json!({"item": {"type": "string", "minLength": 1, "maxLength": 40}});
    let tool =
        Tool::new("price_of", "Tells what something costs.", arguments, &["item"], |_| said("two coins"));
    Scene::around(tool.except(|_| true, move |_| answer()))
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
