use super::{INVARIANTS, serve};
use serde_json::{Value, json};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Everything that is written in answer to these lines.
fn say(lines: &[String]) -> String {
    let mut output = Vec::new();
    serve(lines.join("\n").as_bytes(), &mut output).expect("memory can be written to");
    String::from_utf8(output).expect("the output is text")
}

fn call(name: &str, arguments: Value) -> String {
    let params = json!({"name": name, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

fn result(name: &str, arguments: Value) -> Value {
    let reply: Value = serde_json::from_str(&say(&[call(name, arguments)])).expect("one reply");
    reply["result"].clone()
}

#[test]
fn the_demo_is_the_python_server_of_the_examples() {
    assert_eq!(INVARIANTS, include_str!("../../../../examples/python_server/invariants.yaml"));
    let python = include_str!("../../../../examples/python_server/server.py");
    let listed = say(&[json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string()]);
    let listed: Value = serde_json::from_str(&listed).expect("one reply");
    let tools = listed["result"]["tools"].as_array().expect("tools");
    assert_eq!(tools.len(), 6);
    assert!(tools.iter().all(|tool| python.contains(&format!("    {}: {{\n", tool["name"]))));
}

#[test]
#[should_panic(expected = "divide by zero")]
fn divide_crashes_on_zero() {
    result("divide", json!({"a": 1, "b": 0}));
}

#[test]
fn divide_rounds_down_as_python_does() {
    for (a, b, quotient) in [(7, 2, "3"), (-7, 2, "-4"), (7, -2, "-4"), (-6, 2, "-3")] {
        assert_eq!(result("divide", json!({"a": a, "b": b}))["content"][0]["text"], quotient);
    }
}

#[test]
fn search_hangs_on_pages_of_no_size() {
    assert_eq!(
        result("search", json!({"query": "the", "page_size": 2}))["content"][0]["text"],
        "The Waves, The Trial"
    );
    let (done, finished) = mpsc::channel();
    // The thread goes on until the test program ends.
    thread::spawn(move || done.send(result("search", json!({"query": "the", "page_size": 0}))));
    assert!(finished.recv_timeout(Duration::from_millis(300)).is_err());
}

#[test]
fn weather_breaks_its_own_schema() {
    assert!(result("weather", json!({"city": "Turin"}))["structuredContent"]["temperature"].is_string());
}

#[test]
fn discount_goes_below_zero() {
    assert_eq!(result("discount", json!({"price": 100, "percent": 80}))["structuredContent"]["total"], -60.0);
    assert_eq!(result("discount", json!({"price": 100, "percent": 0}))["structuredContent"]["total"], 100.0);
}

#[test]
fn export_prints_in_place_of_a_reply() {
    assert!(say(&[call("export", json!({"format": "csv"}))]).starts_with("number,title\n1,Emma\n"));
    assert!(result("export", json!({"format": "json"})).is_object());
}

#[test]
fn notes_are_shown_to_other_sessions() {
    let said = say(&[
        call("notes", json!({"session": "alice", "add": "secret"})),
        call("notes", json!({"session": "bob"})),
    ]);
    assert_eq!(said.matches(r#""notes":["secret"]"#).count(), 2);
}

#[test]
fn all_else_is_refused_politely() {
    let wrong = [
        ("divide", json!({"a": 1})),
        ("divide", json!({"a": 1.5, "b": 1})),
        ("divide", json!({"a": 1e300, "b": 1})),
        ("search", json!({"query": "", "page_size": 1})),
        ("weather", json!({"city": "Turin", "more": 1})),
        ("discount", json!({"price": -1, "percent": 1})),
        ("export", json!({"format": "xml"})),
        ("notes", json!({"session": "x", "add": null})),
    ];
    for (name, arguments) in wrong {
        assert_eq!(result(name, arguments.clone())["isError"], true, "{name} {arguments}");
    }
    for (line, code) in [("{", -32700), ("[]", -32600), (r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#, -32601)]
    {
        let reply: Value = serde_json::from_str(&say(&[line.to_owned()])).expect("one reply");
        assert_eq!(reply["error"]["code"], code, "{line}");
    }
    assert_eq!(say(&[r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()]), "");
}
