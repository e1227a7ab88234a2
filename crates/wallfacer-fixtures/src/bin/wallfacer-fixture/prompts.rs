//! The prompts, and the completion of their arguments and of the resource template's.

use crate::message::Failure;
use crate::request::Request;
use crate::resources;
use serde_json::{Value, json};

pub fn list() -> Value {
    json!({"prompts": [
        {
            "name": "greet",
            "description": "Greets someone.",
            "arguments": [
                {"name": "name", "description": "who is greeted", "required": true},
                {"name": "style", "description": "formal or warm", "required": false},
            ],
        },
        {"name": "introduce", "description": "Has the model say what it is."},
    ]})
}

pub fn get(request: &Request) -> Result<Value, Failure> {
    let arguments = request.object("arguments")?;
    if let Some((name, _)) = arguments.iter().find(|(_, value)| !value.is_string()) {
        return Err(Failure::params(format!("argument `{name}` must be a string")));
    }
    let text = match request.text("name")? {
        "greet" => {
            let name = arguments.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| Failure::params("argument `name` is required"))?;
            match arguments.get("style").and_then(Value::as_str) {
                Some(style) => format!("Greet {name} in a {style} way."),
                None => format!("Greet {name}."),
            }
        }
        "introduce" => "Say what you are.".to_owned(),
        _ => return Err(Failure::params("there is no such prompt")),
    };
    Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
}

pub fn complete(request: &Request) -> Result<Value, Failure> {
    let reference = request.object("ref")?;
    let argument = request.object("argument")?;
    let field = |name: &str| argument.get(name).and_then(Value::as_str);
    let (Some(name), Some(begun)) = (field("name"), field("value")) else {
        return Err(Failure::params("`argument` needs `name` and `value`"));
    };
    let member = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
    let candidates: Vec<String> = match (member("type"), member("name"), member("uri"), name) {
        ("ref/prompt", "greet", _, "name") => words(&["Ada", "Alan", "Grace"]),
        ("ref/prompt", "greet", _, "style") => words(&["formal", "warm"]),
        ("ref/resource", _, "memo://day/{number}", "number") => resources::day_numbers(),
        _ => return Err(Failure::params("there is nothing of this name to complete")),
    };
    let values: Vec<String> = candidates.into_iter().filter(|word| word.starts_with(begun)).collect();
    Ok(json!({"completion": {"total": values.len(), "hasMore": false, "values": values}}))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
