//! Answers the questions that a server puts to its client, with safe defaults that fit what was asked for. Roots are
//! those that the user names, and none else, so that we never widen what a server may touch; yes-or-no questions are
//! answered with no.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// A form with more fields is declined: no honest question is that long.
const MAX_FIELDS: usize = 200;
/// The longest text we make up to meet a `minLength`.
const MAX_TEXT: u64 = 10_000;

/// What we answer: a result, or a JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub enum Reaction {
    Result(Value),
    Error { code: i64, message: &'static str },
}

/// Answers a request of the server, or one entry of `inputRequests`.
pub fn react(method: &str, params: &Value, roots: &[PathBuf]) -> Reaction {
    Reaction::Result(match method {
        "ping" => json!({}),
        "roots/list" => json!({ "roots": roots.iter().map(|root| named(root)).collect::<Vec<Value>>() }),
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "ok" },
            "model": "wallfacer",
            "stopReason": "endTurn",
        }),
        "elicitation/create" => elicit(params),
        _ => return Reaction::Error { code: -32601, message: "Method not found" },
    })
}

/// The answers to the questions of an `input_required` result, by their keys.
pub fn react_to_all(requests: &Map<String, Value>, roots: &[PathBuf]) -> Map<String, Value> {
    let answer = |(key, request): (&String, &Value)| {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = request.get("params").unwrap_or(&Value::Null);
        match react(method, params, roots) {
            Reaction::Result(result) => Some((key.clone(), result)),
            Reaction::Error { .. } => None,
        }
    };
    requests.iter().take(MAX_FIELDS).filter_map(answer).collect()
}

/// A directory as an address, with its own name.
fn named(root: &Path) -> Value {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(byte);
    let bytes = root.as_os_str().as_encoded_bytes().iter();
    let path: String = bytes
        .map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    let name = root.file_name().map(|name| name.to_string_lossy());
    json!({ "uri": format!("file://{path}"), "name": name })
}

fn elicit(params: &Value) -> Value {
    let url_mode = params.get("mode").and_then(Value::as_str) == Some("url");
    match params.get("requestedSchema").filter(|_| !url_mode).and_then(fill_form) {
        Some(content) => json!({ "action": "accept", "content": content }),
        None => json!({ "action": "decline" }),
    }
}

/// A value for each required field of a flat form.
fn fill_form(schema: &Value) -> Option<Map<String, Value>> {
    let fields = schema.get("properties")?.as_object()?;
    let required: Vec<&str> = match schema.get("required") {
        Some(names) => names.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?,
        None => Vec::new(),
    };
    if required.len() > MAX_FIELDS {
        return None;
    }
    required.into_iter().map(|name| Some((name.to_owned(), fill_field(fields.get(name)?)?))).collect()
}

fn fill_field(field: &Value) -> Option<Value> {
    if let Some(default) = field.get("default") {
        return Some(default.clone());
    }
    let choices = |key: &str| field.get(key).and_then(Value::as_array);
    if let Some(choice) = choices("enum").and_then(|all| all.first()) {
        return Some(choice.clone());
    }
    if let Some(choice) = choices("oneOf").and_then(|all| all.first()) {
        return choice.get("const").cloned();
    }
    match field.get("type").and_then(Value::as_str)? {
        "boolean" => Some(Value::Bool(false)),
        "integer" => field_number(field).map(|number| Value::from(number.ceil() as i64)),
        "number" => field_number(field).map(Value::from),
        "string" => fill_text(field),
        "array" => fill_choices(field),
        _ => None,
    }
}

fn field_number(field: &Value) -> Option<f64> {
    let bound = |key: &str| field.get(key).and_then(Value::as_f64);
    let low = bound("minimum").unwrap_or(f64::MIN);
    let high = bound("maximum").unwrap_or(f64::MAX);
    (low <= high).then(|| 0.0_f64.clamp(low, high))
}

fn fill_text(field: &Value) -> Option<Value> {
    let text = match field.get("format").and_then(Value::as_str) {
        Some("email") => "user@example.com",
        Some("uri") => "https://example.com/",
        Some("date") => "2026-01-01",
        Some("date-time") => "2026-01-01T00:00:00Z",
        _ => {
            let least = field.get("minLength").and_then(Value::as_u64).unwrap_or(1);
            let most = field.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
            let wanted = least.max(1).min(most);
            return (wanted <= MAX_TEXT).then(|| Value::from("x".repeat(wanted as usize)));
        }
    };
    Some(Value::from(text))
}

/// A choice of several: as few as allowed, from the start of the list.
fn fill_choices(field: &Value) -> Option<Value> {
    let items = field.get("items")?;
    let all: Vec<Value> = match (items.get("enum"), items.get("anyOf")) {
        (Some(choices), _) => choices.as_array()?.clone(),
        (None, Some(choices)) => {
            choices.as_array()?.iter().filter_map(|one| one.get("const").cloned()).collect()
        }
        (None, None) => return None,
    };
    let least = field.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
    (least <= all.len()).then(|| Value::from(all[..least].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(method: &str, params: Value) -> Value {
        match react(method, &params, &[]) {
            Reaction::Result(result) => result,
            error => panic!("{error:?}"),
        }
    }

    #[test]
    fn roots_are_those_that_are_named_and_none_else() {
        assert_eq!(result("roots/list", json!({})), json!({ "roots": [] }));
        let Reaction::Result(told) = react("roots/list", &json!({}), &["/data/the book".into()]) else {
            panic!("an error")
        };
        assert_eq!(told, json!({ "roots": [{ "uri": "file:///data/the%20book", "name": "the book" }] }));
    }

    #[test]
    fn a_form_is_filled_with_the_least_that_fits() {
        let schema = json!({
            "type": "object",
            "properties": {
                "sure": { "type": "boolean" },
                "name": { "type": "string", "minLength": 3 },
                "mail": { "type": "string", "format": "email" },
                "age": { "type": "integer", "minimum": 18 },
                "colour": { "type": "string", "enum": ["red", "blue"] },
                "size": { "oneOf": [{ "const": "s", "title": "Small" }] },
                "tags": { "type": "array", "minItems": 1, "items": { "enum": ["a", "b"] } },
                "left_out": { "type": "string" },
                "given": { "type": "string", "default": "already" },
            },
            "required": ["sure", "name", "mail", "age", "colour", "size", "tags", "given"],
        });
        let answer = result("elicitation/create", json!({ "message": "?", "requestedSchema": schema }));
        assert_eq!(
            answer,
            json!({ "action": "accept", "content": {
                "sure": false, "name": "xxx", "mail": "user@example.com", "age": 18,
                "colour": "red", "size": "s", "tags": ["a"], "given": "already",
            }})
        );
    }

    #[test]
    fn a_form_that_cannot_be_filled_and_a_url_are_declined() {
        let nested = json!({ "properties": { "a": { "type": "object" } }, "required": ["a"] });
        for params in
            [json!({ "requestedSchema": nested }), json!({ "mode": "url", "url": "https://x.example" })]
        {
            assert_eq!(result("elicitation/create", params), json!({ "action": "decline" }));
        }
    }

    #[test]
    fn an_unknown_question_gets_method_not_found() {
        assert!(matches!(react("harness/unknown", &Value::Null, &[]), Reaction::Error { code: -32601, .. }));
    }
}
