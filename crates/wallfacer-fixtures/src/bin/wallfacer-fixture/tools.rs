//! The tools: what is said of them, and what a call of each does.

use crate::asking;
use crate::message::Failure;
use crate::request::Request;
use crate::session::Level;
use crate::validate::validate;
use crate::version::Version;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use std::time::Duration;

/// A grey pixel, as PNG in base64.
pub const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";

static TOOLS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let text = json!({"type": "string"});
    let term = json!({"type": "integer", "minimum": -1_000_000, "maximum": 1_000_000});
    vec![
        tool("echo", "Gives back the text.", json!({"text": text}), &["text"]),
        with(
            tool("add", "Adds two integers.", json!({"a": term, "b": term}), &["a", "b"]),
            json!({"outputSchema": {
                "type": "object",
                "properties": {"sum": {"type": "integer"}},
                "required": ["sum"],
                "additionalProperties": false,
            }}),
        ),
        tool(
            "plan_trip",
            "Sums up a trip: who travels, where to, how.",
            json!({
                "traveller": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": 80},
                        "age": {"type": "integer", "minimum": 0, "maximum": 130},
                    },
                    "required": ["name"],
                    "additionalProperties": false,
                },
                "stops": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 5,
                    "items": {
                        "type": "object",
                        "properties": {
                            "city": {"type": "string", "minLength": 1, "maxLength": 80},
                            "nights": {"type": "integer", "minimum": 1, "maximum": 30},
                        },
                        "required": ["city", "nights"],
                        "additionalProperties": false,
                    },
                },
                "class": {"type": "string", "enum": ["economy", "business", "first"]},
                "budget": {"type": "number", "minimum": 0, "maximum": 1_000_000},
            }),
            &["traveller", "stops", "class"],
        ),
        tool("confirm", "Asks the user to agree.", json!({"question": text}), &["question"]),
        tool("summarize", "Has the client's model sum up a text.", json!({"text": text}), &["text"]),
        tool("roots", "Names the client's roots.", json!({}), &[]),
        tool(
            "count",
            "Counts up, telling how far it has come.",
            json!({"to": {"type": "integer", "minimum": 1, "maximum": 100}}),
            &["to"],
        ),
        tool(
            "wait",
            "Answers after some time.",
            // Below any sensible time limit, so that the largest valid value is no hang.
            json!({"milliseconds": {"type": "integer", "minimum": 0, "maximum": 3000}}),
            &["milliseconds"],
        ),
        tool("picture", "Gives a picture.", json!({}), &[]),
        with(
            tool(
                "lookup",
                "Looks up a word.",
                json!({"word": {"type": "string", "enum": ["apple", "pear"]}}),
                &["word"],
            ),
            json!({
                "title": "Dictionary",
                "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
            }),
        ),
        tool("report", "Answers after the stream was interrupted, where there is one.", json!({}), &[]),
        tool(
            "route",
            "Names the region that serves a request; proxies may read it from a header.",
            json!({
                "region": {"type": "string", "x-mcp-header": "Region"},
                "replicas": {"type": "integer", "minimum": 1, "maximum": 9, "x-mcp-header": "Replicas"},
            }),
            &["region"],
        ),
    ]
});

pub fn tool(name: &str, about: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "name": name,
        "description": about,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        },
    })
}

pub fn with(mut tool: Value, more: Value) -> Value {
    if let (Some(tool), Value::Object(more)) = (tool.as_object_mut(), more) {
        tool.extend(more);
    }
    tool
}

pub fn list(version: Version) -> Vec<Value> {
    as_seen_by(version, TOOLS.clone())
}

/// The tools as a client of this version may see them.
pub fn as_seen_by(version: Version, mut tools: Vec<Value>) -> Vec<Value> {
    for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
        if version < Version::March2025 {
            tool.remove("annotations");
        }
        if version < Version::June2025 {
            tool.remove("title");
            tool.remove("outputSchema");
        }
    }
    tools
}

/// The input schema of a tool, for those who check headers against arguments.
pub fn input_schema(name: &str) -> Option<&'static Value> {
    TOOLS.iter().find(|tool| tool["name"] == name).map(|tool| &tool["inputSchema"])
}

/// Whether a call may take long, so that it needs a thread of its own where the reader is shared.
pub fn may_wait(params: &Map<String, Value>, version: Version) -> bool {
    match params.get("name").and_then(Value::as_str) {
        Some("wait") => true,
        Some("confirm" | "summarize" | "roots") => !version.is_modern(),
        _ => false,
    }
}

/// One `tools/call`. None: the client has withdrawn it, so there is nothing to answer.
pub fn call(request: &Request) -> Option<Result<Value, Failure>> {
    let (name, arguments) = match named(request) {
        Ok(named) => named,
        Err(failure) => return Some(Err(failure)),
    };
    let Some(schema) = input_schema(name) else {
        return Some(Err(Failure::params("there is no such tool")));
    };
    if let Err(fault) = validate(schema, &Value::Object(arguments.clone())) {
        return Some(refusal(request.client.version, fault));
    }
    match name {
        "echo" => Some(Ok(said(arguments["text"].as_str().unwrap_or_default()))),
        "add" => Some(Ok(add(&arguments, request.client.version))),
        "plan_trip" => Some(Ok(plan_trip(&arguments))),
        "confirm" => asking::confirm(request, &arguments),
        "summarize" => asking::summarize(request, &arguments),
        "roots" => asking::roots(request, &arguments),
        "count" => Some(Ok(count(request, &arguments))),
        "wait" => wait(request, &arguments),
        "picture" => Some(Ok(json!({
            "content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}],
        }))),
        "lookup" => Some(Ok(lookup(&arguments))),
        "report" => Some(Ok(report(request))),
        _ => Some(Ok(route(&arguments))),
    }
}

fn named(request: &Request) -> Result<(&str, Map<String, Value>), Failure> {
    Ok((request.text("name")?, request.object("arguments")?))
}

/// Later versions want the model to see what was wrong, so that it can correct itself.
pub fn refusal(version: Version, fault: String) -> Result<Value, Failure> {
    match version >= Version::November2025 {
        true => Ok(failed(&fault)),
        false => Err(Failure::params(fault)),
    }
}

pub fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub fn failed(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

pub fn integer(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| value.as_f64().unwrap_or_default() as i64)
}

fn add(arguments: &Map<String, Value>, version: Version) -> Value {
    let structured = json!({"sum": integer(&arguments["a"]) + integer(&arguments["b"])});
    let mut result = said(&structured.to_string());
    if version >= Version::June2025 {
        result["structuredContent"] = structured;
    }
    result
}

fn plan_trip(arguments: &Map<String, Value>) -> Value {
    let stops = arguments["stops"].as_array().map(Vec::as_slice).unwrap_or_default();
    let nights: i64 = stops.iter().map(|stop| integer(&stop["nights"])).sum();
    let name = arguments["traveller"]["name"].as_str().unwrap_or_default();
    let class = arguments["class"].as_str().unwrap_or_default();
    said(&format!("{name} travels {class}, {} stops, {nights} nights", stops.len()))
}

fn count(request: &Request, arguments: &Map<String, Value>) -> Value {
    let to = integer(&arguments["to"]).unsigned_abs();
    request.log(Level::INFO, "counting");
    for done in 1..=to {
        request.progress(done, to);
        request.log(Level::DEBUG, &format!("at {done}"));
    }
    said(&format!("counted to {to}"))
}

fn wait(request: &Request, arguments: &Map<String, Value>) -> Option<Result<Value, Failure>> {
    let time = Duration::from_millis(integer(&arguments["milliseconds"]).unsigned_abs());
    let done = request.cancellation.pause(time, request.outlet.as_ref());
    done.then(|| Ok(said(&format!("waited {} ms", time.as_millis()))))
}

fn lookup(arguments: &Map<String, Value>) -> Value {
    match arguments["word"].as_str() {
        Some("apple") => said("the fruit of the apple tree"),
        _ => said("the fruit of the pear tree"),
    }
}

fn report(request: &Request) -> Value {
    request.outlet.suspend();
    said("all is well")
}

fn route(arguments: &Map<String, Value>) -> Value {
    let region = arguments["region"].as_str().unwrap_or_default();
    let replicas = arguments.get("replicas").map_or(1, integer);
    said(&format!("{region} with {replicas} replicas"))
}
