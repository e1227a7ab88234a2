//! Answers one request with the result of its method, or refuses it.

use crate::message::Failure;
use crate::request::Request;
use crate::{flaws, greeting, prompts, resources, tools};
use serde_json::{Value, json};

const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// The methods whose results say how long they may be kept.
const CACHED: [&str; 6] = [
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
];
/// Small enough that the list of tools takes two pages.
const TOOLS_ON_A_PAGE: usize = 8;
const SECOND_PAGE: &str = "tools-from-9";

/// None: there is nothing to answer any more.
pub fn answer(mode: &str, request: &Request) -> Option<Result<Value, Failure>> {
    let modern = request.client.version.is_modern();
    let answer = match request.method.as_str() {
        "server/discover" if modern => Ok(greeting::discover(&request.client)),
        "initialize" if !modern => greeting::initialize(request),
        "ping" if !modern => Ok(json!({})),
        "logging/setLevel" if !modern => set_level(request),
        "tools/list" => list_tools(request),
        "tools/call" => return tools::call(request),
        "resources/list" => only_page(request).map(|()| resources::list()),
        "resources/templates/list" => only_page(request).map(|()| resources::templates()),
        "resources/read" => resources::read(request),
        "prompts/list" => only_page(request).map(|()| prompts::list()),
        "prompts/get" => prompts::get(request),
        "completion/complete" => prompts::complete(request),
        _ => Err(Failure::unknown_method()),
    };
    Some(flaws::claims::alter(mode, request, answer))
}

fn set_level(request: &Request) -> Result<Value, Failure> {
    request.session.set_level(greeting::known_level(request.params.get("level"))?);
    Ok(json!({}))
}

fn list_tools(request: &Request) -> Result<Value, Failure> {
    let mut first = tools::list(request.client.version);
    let second = first.split_off(TOOLS_ON_A_PAGE.min(first.len()));
    match request.params.get("cursor") {
        None => Ok(json!({"tools": first, "nextCursor": SECOND_PAGE})),
        Some(cursor) if cursor == SECOND_PAGE => Ok(json!({"tools": second})),
        Some(_) => Err(Failure::params("this cursor was never given out")),
    }
}

/// For the lists that fit on one page and never give out a cursor.
pub fn only_page(request: &Request) -> Result<(), Failure> {
    match request.params.contains_key("cursor") {
        true => Err(Failure::params("this cursor was never given out")),
        false => Ok(()),
    }
}

/// Adds what 2026-07-28 wants on every result, and on those that may be cached.
pub fn dressed(mut result: Value, request: &Request) -> Value {
    if let (true, Some(members)) = (request.client.version.is_modern(), result.as_object_mut()) {
        members.entry("resultType").or_insert_with(|| json!("complete"));
        members.entry("_meta").or_insert_with(|| json!({META_SERVER: greeting::server_info()}));
        if CACHED.contains(&request.method.as_str()) {
            members.insert("ttlMs".into(), json!(0));
            members.insert("cacheScope".into(), json!("private"));
        }
    }
    result
}
