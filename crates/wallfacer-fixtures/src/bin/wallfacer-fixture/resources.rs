//! The resources: two fixed ones and a template.

use crate::message::{self, Failure};
use crate::request::Request;
use crate::tools::PICTURE;
use serde_json::{Value, json};

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

pub fn list() -> Value {
    json!({"resources": [
        {"uri": "memo://welcome", "name": "welcome", "mimeType": "text/plain"},
        {"uri": "memo://picture", "name": "picture", "mimeType": "image/png"},
    ]})
}

pub fn templates() -> Value {
    json!({"resourceTemplates": [
        {"uriTemplate": "memo://day/{number}", "name": "day", "mimeType": "text/plain"},
    ]})
}

pub fn read(request: &Request) -> Result<Value, Failure> {
    let uri = request.text("uri")?;
    let content = match uri {
        "memo://welcome" => Some(json!({"uri": uri, "mimeType": "text/plain", "text": "welcome"})),
        "memo://picture" => Some(json!({"uri": uri, "mimeType": "image/png", "blob": PICTURE})),
        _ => day(uri).map(|day| json!({"uri": uri, "mimeType": "text/plain", "text": day})),
    };
    match content {
        Some(content) => Ok(json!({"contents": [content]})),
        None => Err(Failure::with_data(
            match request.client.version.is_modern() {
                true => message::INVALID_PARAMS,
                false => message::RESOURCE_NOT_FOUND,
            },
            "there is no such resource",
            json!({"uri": uri}),
        )),
    }
}

fn day(uri: &str) -> Option<&'static str> {
    let number: usize = uri.strip_prefix("memo://day/")?.parse().ok()?;
    DAYS.get(number.checked_sub(1)?).copied()
}

/// The numbers that the template takes.
pub fn day_numbers() -> Vec<String> {
    (1..=DAYS.len()).map(|number| number.to_string()).collect()
}
