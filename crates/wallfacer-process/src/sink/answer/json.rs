//! A JSON document as a service may send it: what was asked for, with the members that such documents commonly have and
//! those that the server was seen to miss.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::Mark;
use super::asked::{Asked, is_plural};
use super::entity::{Things, is_list};
use super::graphql;
use super::shapes::{Part, Shape, Type};

/// Calls of a batch that are answered.
const MAX_BATCH: usize = 64;
/// Members of what was sent that come back.
const MAX_ECHOED: usize = 64;
/// Members whose place nobody knows that are put into one document: an answer that is larger than any service's keeps the
/// server from its work. And how deep.
const MAX_NAMED: usize = 600;
const DEEPEST_NAMED: usize = 2;
/// Lists under the names that services commonly have for them; given where it is not known what is missing.
const LISTS: [&str; 24] = [
    "records",
    "entries",
    "hits",
    "docs",
    "documents",
    "rows",
    "values",
    "nodes",
    "articles",
    "posts",
    "users",
    "messages",
    "files",
    "projects",
    "issues",
    "comments",
    "events",
    "products",
    "pages",
    "images",
    "videos",
    "features",
    "organic",
    "members",
];
/// Objects of that sort.
const OBJECTS: [&str; 10] =
    ["result", "response", "info", "meta", "current", "query", "page_info", "web", "item", "object"];

pub(super) fn document(asked: &Asked, shape: &Shape, mark: Mark<'_>) -> String {
    let things = Things::of(asked, mark);
    let sent = asked.sent();
    let mut document =
        protocols(asked, sent.as_ref(), shape, &things).unwrap_or_else(|| plain(asked, shape, &things));
    if !shape.named.is_empty() {
        name_members(&mut document, shape, &things);
    }
    for (path, is) in &shape.at {
        put(&mut document, path, "item", is, &things);
    }
    if let (Value::Object(members), true) = (&mut document, mark.marker.len() > 1) {
        members.entry("revision").or_insert_with(|| json!(mark.marker));
    }
    format!("{document}\n")
}

/// What is laid down by a protocol.
fn protocols(asked: &Asked, sent: Option<&Value>, shape: &Shape, things: &Things<'_>) -> Option<Value> {
    let segments = asked.segments();
    let last = segments.last().map(String::as_str).unwrap_or_default();
    if let Some(query) = sent.and_then(|sent| sent.get("query")).and_then(Value::as_str)
        && let Some(data) = graphql::data(query, shape, things)
    {
        return Some(json!({ "data": data }));
    }
    let reply = |call: &Value| {
        let id = call.get("id").cloned().unwrap_or_default();
        json!({ "jsonrpc": "2.0", "id": id, "result": things.entity(1, false) })
    };
    match sent {
        Some(Value::Array(calls)) if calls.first().is_some_and(|call| call.get("jsonrpc").is_some()) => {
            return Some(calls.iter().take(MAX_BATCH).map(reply).collect());
        }
        Some(call) if call.get("jsonrpc").is_some() => return Some(reply(call)),
        _ => {}
    }
    let grants =
        sent.is_some_and(|sent| sent.get("grant_type").is_some() || sent.get("client_secret").is_some());
    if grants || matches!(last, "token" | "access_token" | "access-token") {
        return Some(json!({
            "access_token": format!("token-{}", things.mark.marker), "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": format!("refresh-{}", things.mark.marker), "scope": "", "token": things.mark.marker,
        }));
    }
    None
}

fn plain(asked: &Asked, shape: &Shape, things: &Things<'_>) -> Value {
    let segments = asked.segments();
    let lists = is_list_wanted(asked, &segments) ^ (shape.variant == 4);
    if shape.variant == 2 {
        return json!([things.entity(1, true), things.entity(1, true)]);
    }
    let rich = shape.variant > 0;
    let mut members = match things.entity(1, rich) {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    for name in ["ok", "success"] {
        members.insert(name.to_owned(), json!(true));
    }
    let list = || json!([things.entity(1, rich)]);
    if lists {
        for name in ["items", "results", "data"] {
            members.insert(name.to_owned(), list());
        }
    } else {
        members.insert("data".to_owned(), things.entity(1, rich));
    }
    for name in ["total", "total_count", "count", "page"] {
        members.insert(name.to_owned(), json!(1));
    }
    members.insert("next".to_owned(), Value::Null);
    members.insert("has_more".to_owned(), json!(false));
    for segment in segments.iter().filter(|segment| is_plural(segment) && segment.len() < 40) {
        members.entry(segment.clone()).or_insert_with(list);
    }
    of_some_services(&segments, &asked.host, &mut members, things);
    for (name, value) in &asked.query {
        select(name, value, &mut members, things);
    }
    if rich {
        for name in LISTS.iter().filter(|_| shape.variant != 3) {
            members.entry((*name).to_owned()).or_insert_with(list);
        }
        for name in OBJECTS {
            let mut object = things.entity(2, false);
            object["results"] = list();
            object["items"] = list();
            members.entry(name.to_owned()).or_insert(object);
        }
    }
    if let Some(Value::Object(sent)) = asked.sent() {
        echo(sent, &mut members);
    }
    Value::Object(members)
}

/// Whether several things are asked for.
fn is_list_wanted(asked: &Asked, segments: &[String]) -> bool {
    let last = segments.last().map(String::as_str).unwrap_or_default().trim_end_matches(".json");
    let searches =
        ["search", "list", "query", "find", "all", "top", "latest", "browse", "autocomplete", "suggest"];
    let pages =
        ["page", "per_page", "limit", "offset", "cursor", "q", "query", "search", "page_size", "max_results"];
    is_plural(last) || searches.contains(&last) || asked.parameter(&pages).is_some()
}

/// `fields=a,b` and `hourly=a,b` name what is to be there.
fn select(name: &str, value: &str, members: &mut Map<String, Value>, things: &Things<'_>) {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.len() < 64
            && word.chars().next().is_some_and(|first| first.is_ascii_alphabetic())
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
    };
    let words: Vec<&str> = value.split(',').map(str::trim).take(MAX_ECHOED).collect();
    if !words.iter().all(|word| is_word(word)) {
        return;
    }
    if matches!(name, "fields" | "select" | "include" | "expand" | "columns" | "properties" | "attributes") {
        for word in words {
            members.entry(word.to_owned()).or_insert_with(|| things.value(word, 1));
        }
    } else if words.len() > 1 || matches!(name, "current" | "hourly" | "daily" | "minutely_15") {
        // Columns, where there are several moments; else one value each.
        let column = if name == "current" { json!(1.5) } else { json!([1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]) };
        let mut selected: Map<String, Value> =
            words.iter().map(|word| ((*word).to_owned(), column.clone())).collect();
        let days: Vec<String> = (15..22).map(|day| format!("2025-01-{day}T12:00")).collect();
        let time = if name == "current" { json!(days[0]) } else { json!(days) };
        selected.insert("time".to_owned(), time);
        let units: Map<String, Value> =
            words.iter().map(|word| ((*word).to_owned(), json!("unit"))).collect();
        members.entry(format!("{name}_units")).or_insert(Value::Object(units));
        members.entry(name.to_owned()).or_insert(Value::Object(selected));
    }
}

/// Documents of some kinds of service are alike wherever they are.
fn of_some_services(segments: &[String], host: &str, members: &mut Map<String, Value>, things: &Things<'_>) {
    let has = |word: &str| segments.iter().any(|segment| segment.eq_ignore_ascii_case(word));
    let text = format!("An example, revision {}", things.mark.marker);
    if has("completions") || has("messages") || has("responses") || has("generate") {
        let message = json!({ "role": "assistant", "content": text });
        members.insert(
            "choices".to_owned(),
            json!([{ "index": 0, "message": message, "text": text,
            "finish_reason": "stop" }]),
        );
        members.insert(
            "usage".to_owned(),
            json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 }),
        );
    }
    if has("embeddings") {
        members.insert("data".to_owned(), json!([{ "index": 0, "embedding": [0.1, 0.2, 0.3] }]));
    }
    // Registries of packages.
    let package = segments.iter().rfind(|segment| !matches!(segment.as_str(), "json" | "latest"));
    let name = package.cloned().unwrap_or_default();
    if host.starts_with("registry.") {
        let release = json!({ "name": name, "version": "1.0.0", "description": text, "dependencies": {},
            "dist": { "tarball": format!("https://{host}/{name}-1.0.0.tgz"), "shasum": "example" } });
        members.insert("name".to_owned(), json!(name));
        members.insert("dist-tags".to_owned(), json!({ "latest": "1.0.0" }));
        members.insert("versions".to_owned(), json!({ "1.0.0": release }));
        members.insert("time".to_owned(),
            json!({ "created": "2025-01-15T12:00:00Z", "modified": "2025-01-15T12:00:00Z", "1.0.0": "2025-01-15T12:00:00Z" }));
        members
            .insert("maintainers".to_owned(), json!([{ "name": "example", "email": "someone@example.com" }]));
        members.insert("objects".to_owned(), json!([{ "package": release, "score": { "final": 0.5 } }]));
    }
    if has("pypi") || segments.last().is_some_and(|last| last == "json") && segments.len() > 1 {
        let file = json!({ "filename": format!("{name}-1.0.0.tar.gz"), "packagetype": "sdist", "size": 1,
            "url": format!("https://{host}/{name}-1.0.0.tar.gz"), "upload_time_iso_8601": "2025-01-15T12:00:00Z" });
        members.insert("info".to_owned(), json!({ "name": name, "version": "1.0.0", "summary": text,
            "author": "example", "license": "MIT", "requires_dist": [], "requires_python": ">=3.8", "project_urls": {},
            "home_page": format!("https://{host}/{name}"), "classifiers": [], "description": text }));
        members.insert("releases".to_owned(), json!({ "1.0.0": [file] }));
        members.insert("urls".to_owned(), json!([file]));
    }
}

/// What was sent comes back, as services do that make or change something.
fn echo(sent: Map<String, Value>, members: &mut Map<String, Value>) {
    for (name, value) in sent.into_iter().take(MAX_ECHOED) {
        let fits = match members.get(&name) {
            None => true,
            Some(Value::Array(_)) => value.is_array(),
            Some(Value::Object(_)) => value.is_object(),
            Some(_) => !value.is_array() && !value.is_object() && !value.is_null() && name != "status",
        };
        if fits {
            members.insert(name, value);
        }
    }
}

/// Puts members whose place nobody knows wherever they may be: into the document, and into the things in it, outer ones first.
fn name_members(document: &mut Value, shape: &Shape, things: &Things<'_>) {
    let mut open: VecDeque<(&mut Value, usize)> = VecDeque::from([(document, 0)]);
    let mut made_in_all = 0;
    while let Some((value, depth)) = open.pop_front().filter(|_| made_in_all < MAX_NAMED) {
        match value {
            Value::Object(members) if depth <= DEEPEST_NAMED => {
                for (name, is) in &shape.named {
                    let made =
                        is.as_ref().map_or_else(|| things.value(name, 1), |is| things.of_type(name, is));
                    let exactly = matches!(is, Some(Type::Is(_)));
                    match members.get(name) {
                        Some(known) if is.is_none() || !exactly && same_type(known, &made) => {}
                        _ => drop(members.insert(name.clone(), made)),
                    }
                    made_in_all += 1;
                }
                // What was just named may itself be named in: the items of a list that was missed are missing theirs.
                let (named, others): (Vec<_>, Vec<_>) =
                    members.iter_mut().partition(|(name, _)| shape.named.contains_key(*name));
                open.extend(named.into_iter().chain(others).map(|(_, member)| (member, depth + 1)));
            }
            Value::Array(elements) => open.extend(elements.iter_mut().map(|element| (element, depth))),
            _ => {}
        }
    }
}

/// Makes the value at a path one of this type.
fn put(value: &mut Value, path: &[Part], name: &str, is: &Type, things: &Things<'_>) {
    let Some((first, rest)) = path.split_first() else {
        if matches!(is, Type::Is(_)) || !is_of(value, is) {
            // A list of what was there keeps what is known of it.
            let kept = match (is, &*value) {
                (Type::List, Value::Object(_)) if !is_list(name) => Some(json!([value.clone()])),
                _ => None,
            };
            *value = kept.unwrap_or_else(|| things.of_type(name, is));
        }
        return;
    };
    match first {
        // What is said of a member of a list is said of each of its elements.
        Part::Member(_) if value.as_array().is_some_and(|elements| elements.iter().all(Value::is_object)) => {
            let elements = value.as_array_mut().into_iter().flatten();
            elements.for_each(|element| put(element, path, name, is, things));
        }
        Part::Member(member) => {
            if !value.is_object() {
                *value = json!({});
            }
            if let Value::Object(members) = value {
                let inner = members.entry(member.clone()).or_insert(Value::Null);
                put(inner, rest, member, is, things);
            }
        }
        Part::Each => {
            if !matches!(value, Value::Array(elements) if !elements.is_empty()) {
                *value = json!([things.entity(2, false)]);
            }
            if let Value::Array(elements) = value {
                elements.iter_mut().for_each(|element| put(element, rest, name, is, things));
            }
        }
    }
}

fn is_of(value: &Value, is: &Type) -> bool {
    match is {
        Type::Text => value.is_string(),
        Type::Number => value.is_number(),
        Type::Flag => value.is_boolean(),
        Type::List => value.is_array(),
        Type::Object => value.is_object(),
        Type::Is(wanted) => value == wanted,
    }
}

fn same_type(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

#[cfg(test)]
mod tests {
    use super::super::shapes::{Hint, Shapes};
    use super::*;

    fn asked(method: &str, target: &str, body: &str) -> Asked {
        Asked {
            body: body.into(),
            content_type: "application/json".into(),
            ..Asked::new(method, Some("api.example"), target)
        }
    }

    fn read(asked: &Asked, shapes: &Shapes) -> Value {
        serde_json::from_str(&document(asked, &shapes.of(asked), Mark { marker: "mark" })).unwrap()
    }

    #[test]
    fn a_collection_is_a_list_and_a_thing_has_the_id_that_was_asked_for() {
        let shapes = Shapes::default();
        let list = read(&asked("GET", "/v1/notes?limit=5", ""), &shapes);
        assert!(list["items"][0]["id"].is_number() && list["notes"].is_array() && list["next"].is_null());
        let one = read(&asked("GET", "/v1/notes/42", ""), &shapes);
        assert_eq!(one["id"], 42);
        assert!(one["data"].is_object());
    }

    #[test]
    fn what_was_sent_comes_back() {
        let made =
            read(&asked("POST", "/v1/notes", r#"{"colour":"red","title":"Mine"}"#), &Shapes::default());
        assert_eq!((&made["colour"], &made["title"]), (&json!("red"), &json!("Mine")));
        assert!(!made["id"].is_null() && !made["created_at"].is_null() && !made["url"].is_null());
    }

    #[test]
    fn protocols_are_kept_to() {
        let shapes = Shapes::default();
        let call = read(&asked("POST", "/", r#"{"jsonrpc":"2.0","id":9,"method":"x"}"#), &shapes);
        assert_eq!(call["id"], 9);
        assert!(call["result"].is_object());
        let token = read(&asked("POST", "/oauth2/token", ""), &shapes);
        assert!(token["access_token"].is_string() && token["expires_in"].is_number());
        let chosen = read(&asked("GET", "/v1/forecast?hourly=rain,wind", ""), &shapes);
        assert!(chosen["hourly"]["rain"].is_array() && chosen["hourly"]["time"].is_array());
    }

    #[test]
    fn a_list_that_was_missed_stays_one_whatever_else_is_missed_in_it() {
        let shapes = Shapes::default();
        let member = vec![Part::Member("lamps".into())];
        let hints = [Hint::At(Vec::new(), Type::List), Hint::At(member, Type::List)];
        shapes.learn("GET", "api.example", "/v1/shelf", &hints);
        let list = read(&asked("GET", "/v1/shelf", ""), &shapes);
        assert!(list[0]["lamps"].is_array(), "{list}");
    }

    #[test]
    fn what_was_missed_is_there_the_next_time() {
        let shapes = Shapes::default();
        let path = vec![Part::Each, Part::Member("owner".into()), Part::Member("since".into())];
        let hints = [Hint::At(Vec::new(), Type::List), Hint::At(path, Type::Number)];
        shapes.learn("GET", "api.example", "/v1/notes", &hints);
        let list = read(&asked("GET", "/v1/notes", ""), &shapes);
        assert!(list[0]["owner"]["since"].is_number(), "{list}");
        shapes.learn("GET", "api.example", "/v2/x", &[Hint::Named("choices".into(), Some(Type::List))]);
        let named = read(&asked("GET", "/v2/x", ""), &shapes);
        assert!(named["choices"].is_array() && named["data"]["choices"].is_array(), "{named}");
    }
}
