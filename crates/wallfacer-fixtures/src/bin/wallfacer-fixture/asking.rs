//! The tools that need something of the client: legacy versions send it a request and wait; 2026-07-28
//! answers `input_required` and is called again with what was asked for.

use crate::answer::Answer as Done;
use crate::message::{self, Failure};
use crate::request::Request;
use crate::scenes::Call;
use crate::tools::{failed, said};
use crate::validate::validate;
use crate::version::Version;
use serde_json::{Map, Value, json};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::LazyLock;

/// The one key under which something is asked for.
const KEY: &str = "answer";

type Arguments = Map<String, Value>;
type Answer = Option<Result<Value, Failure>>;

/// What is asked of the client, and the capability it must have declared for that.
struct Question {
    capability: &'static str,
    since: Version,
    method: &'static str,
    params: Value,
}

pub fn confirm(request: &Request, arguments: &Arguments) -> Answer {
    let wanted = json!({
        "type": "object",
        "properties": {"agree": {"type": "boolean", "description": "whether to go on"}},
        "required": ["agree"],
    });
    let question = Question {
        capability: "elicitation",
        since: Version::June2025,
        method: "elicitation/create",
        params: json!({"message": arguments["question"], "requestedSchema": wanted}),
    };
    ask(request, arguments, &question, |answer| match answer["action"].as_str() {
        Some("accept") => match validate(&wanted, &answer["content"]) {
            Ok(()) if answer["content"]["agree"] == true => said("agreed"),
            Ok(()) => said("not agreed"),
            Err(fault) => failed(&format!("the answer does not fit the question: {fault}")),
        },
        Some("decline" | "cancel") => said("no answer given"),
        _ => failed("the answer has no known action"),
    })
}

pub fn summarize(request: &Request, arguments: &Arguments) -> Answer {
    let prompt = format!("Sum up: {}", arguments["text"].as_str().unwrap_or_default());
    let question = Question {
        capability: "sampling",
        since: Version::November2024,
        method: "sampling/createMessage",
        params: json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
            "maxTokens": 100,
        }),
    };
    ask(request, arguments, &question, |answer| match answer["content"]["text"].as_str() {
        Some(text) => said(text),
        None => failed("the model gave no text"),
    })
}

pub fn roots(request: &Request, arguments: &Arguments) -> Answer {
    ask(request, arguments, &for_roots(), |answer| match answer["roots"].as_array() {
        Some(roots) => said(&format!("{} roots", roots.len())),
        None => failed("the client named no roots"),
    })
}

/// What a tool does with the first directory that the client names.
pub fn in_root(call: &Call, then: impl Fn(&Path) -> Value) -> Done {
    let arguments = call.arguments.as_object().cloned().unwrap_or_default();
    let answer = ask(call.request, &arguments, &for_roots(), |answer| {
        let root = answer["roots"][0]["uri"].as_str().and_then(|uri| uri.strip_prefix("file://"));
        root.map_or_else(|| failed("the client named no roots"), |root| then(Path::new(root)))
    });
    answer.map_or(Done::Withdrawn, Done::from)
}

fn for_roots() -> Question {
    Question { capability: "roots", since: Version::November2024, method: "roots/list", params: json!({}) }
}

fn ask(
    request: &Request,
    arguments: &Arguments,
    question: &Question,
    read: impl Fn(&Value) -> Value,
) -> Answer {
    let client = &request.client;
    let able = client.can(question.capability) && client.version >= question.since;
    match client.version.is_modern() {
        true if able => Some(ask_by_return(request, arguments, question, read)),
        true => Some(Err(Failure::with_data(
            message::MISSING_CAPABILITY,
            format!("this tool needs the client's `{}`", question.capability),
            json!({"requiredCapabilities": {question.capability: {}}}),
        ))),
        false if able => ask_by_request(request, question, read),
        false => Some(Ok(failed(&format!("the client has no `{}`", question.capability)))),
    }
}

fn ask_by_request(request: &Request, question: &Question, read: impl Fn(&Value) -> Value) -> Answer {
    let id = request.session.fresh_id();
    let answer = request.session.ask(&id, question.method, &question.params, &request.asker());
    match answer {
        Some(answer) if answer.get("result").is_some() => Some(Ok(read(&answer["result"]))),
        Some(_) => Some(Ok(failed("the client refused"))),
        None if request.cancellation.is_set() => None,
        None => Some(Ok(failed("the client did not answer"))),
    }
}

fn ask_by_return(
    request: &Request,
    arguments: &Arguments,
    question: &Question,
    read: impl Fn(&Value) -> Value,
) -> Result<Value, Failure> {
    let state = seal(question.method, arguments);
    let again = json!({
        "resultType": "input_required",
        "inputRequests": {KEY: {"method": question.method, "params": question.params}},
        "requestState": state,
    });
    if !request.params.contains_key("inputResponses") && !request.params.contains_key("requestState") {
        return Ok(again);
    }
    let responses = request.object("inputResponses")?;
    if request.text("requestState")? != state {
        return Err(Failure::params("`requestState` is not the one that was given out"));
    }
    match responses.get(KEY) {
        None => Ok(again),
        Some(answer) if answer.is_object() => Ok(read(answer)),
        Some(_) => Err(Failure::params(format!("`inputResponses.{KEY}` must be an object"))),
    }
}

/// A state that only this process could have given out, and only for this very question.
fn seal(method: &str, arguments: &Arguments) -> String {
    static SECRET: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    format!("{:016x}", SECRET.hash_one((method, Value::from(arguments.clone()).to_string())))
}
