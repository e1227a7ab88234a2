//! Wallfacer as an MCP server: what a coding agent sees, what it may not do, and what wallfacer finds in itself.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::world::{World, assert_shown, fixture};

/// One server and the way to talk to it.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(world: &World, args: &[&str]) -> Client {
        let mut command = world.command(&[&["mcp"], args].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Client { child, input, output, next: 0 }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"].clone()
    }

    /// Closes the input and waits for the end.
    fn end(mut self) {
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }
}

/// A workspace with one server in its client file, which has one bug.
fn workspace() -> World {
    let servers =
        json!({"mcpServers": {"shop": {"command": fixture(), "args": ["flaw", "crash-on-every-call"]}}});
    World::new().with(".mcp.json", &servers.to_string())
}

fn envelope() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

#[test]
fn an_agent_checks_a_server_reads_the_finding_and_tries_it_again() {
    let world = workspace();
    let mut client = Client::start(&world, &[]);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert_eq!(client.ask("initialize", hello)["result"]["protocolVersion"], "2025-06-18");
    let checked = client.call("check", json!({"server": "shop", "budget_seconds": 120}));
    let told = &checked["structuredContent"];
    assert_eq!(told["verdict"], "failed", "{checked}");
    let id = told["findings"][0]["id"].as_str().unwrap();
    assert_eq!(told["findings"][0]["kind"], "crash", "{checked}");
    assert!(checked["content"][0]["text"].as_str().unwrap().contains(id));
    let listed = client.call("findings", json!({}));
    assert_eq!(listed["structuredContent"]["findings"][0]["id"], id);
    let again = client.call("replay", json!({"id": id}));
    assert_eq!(again["structuredContent"]["verdict"], "still_fails", "{again}");
    let explained = client.call("explain", json!({"what": id}));
    assert!(
        explained["structuredContent"]["text"].as_str().unwrap().contains("\n   change   "),
        "{explained}"
    );
    let uri = told["report"].as_str().unwrap();
    let resources = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(resources[0]["uri"], uri);
    let report = client.ask("resources/read", json!({ "uri": uri }));
    assert!(report["result"]["contents"][0]["text"].as_str().unwrap().contains(id), "{report}");
    client.end();
}

#[test]
fn the_list_of_tools_is_the_same_in_both_eras() {
    let mut client = Client::start(&World::new(), &[]);
    let legacy = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let modern = client.ask("tools/list", json!({"_meta": envelope()}))["result"].clone();
    assert_eq!((&modern["tools"], &modern["resultType"]), (&legacy, &json!("complete")));
    let discovered = client.ask("server/discover", json!({"_meta": envelope()}))["result"].clone();
    assert_eq!(discovered["supportedVersions"], json!(["2026-07-28"]));
    assert_shown("mcp_tools", format!("{legacy:#}"));
    client.end();
}

#[test]
fn what_is_not_spoken_is_refused_by_its_code() {
    let mut client = Client::start(&World::new(), &[]);
    let code = |answer: Value| answer["error"]["code"].clone();
    let mut other = envelope();
    other["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let refused = client.ask("tools/list", json!({ "_meta": other }));
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(code(refused), -32022);
    assert_eq!(code(client.ask("ping", json!({"_meta": envelope()}))), -32601);
    assert_eq!(code(client.ask("server/discover", json!({}))), -32602);
    assert_eq!(code(client.ask("tools/call", json!({"name": "none"}))), -32602);
    assert_eq!(code(client.ask("resources/read", json!({"uri": "wallfacer://runs/../corpus"}))), -32602);
    for (line, expected) in
        [("{", -32700), ("[]", -32600), (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, -32600)]
    {
        writeln!(client.input.as_mut().unwrap(), "{line}").unwrap();
        assert_eq!(code(client.receive()), expected, "{line}");
    }
    client.end();
}

#[test]
fn only_servers_of_the_workspace_are_started_unless_any_is_allowed() {
    let world = workspace();
    let home = json!({"mcpServers": {"mine": {"command": fixture(), "args": ["correct"]}}});
    std::fs::write(world.root().join("home/.claude.json"), home.to_string()).unwrap();
    let mut client = Client::start(&world, &[]);
    let refused = client.call("doctor", json!({"server": "mine"}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert_shown("mcp_outside", refused["content"][0]["text"].as_str().unwrap());
    let unknown = client.call("doctor", json!({"command": [fixture(), "correct"]}));
    assert_eq!(unknown["isError"], true, "{unknown}");
    client.end();
    let mut client = Client::start(&world, &["--allow-any-server"]);
    for arguments in [json!({"server": "mine"}), json!({"command": [fixture(), "correct"]})] {
        let seen = client.call("doctor", arguments);
        assert!(seen["structuredContent"]["server"]["name"].is_string(), "{seen}");
    }
    client.end();
}

#[test]
fn progress_is_told_to_whoever_asks_and_a_call_that_is_cancelled_is_not_answered() {
    let world = workspace();
    let mut client = Client::start(&world, &[]);
    let arguments = json!({"server": "shop", "budget_seconds": 120});
    let cancelled = client.begin(
        "tools/call",
        json!({"name": "check", "arguments": arguments, "_meta": {"progressToken": "p"}}),
    );
    let told = client.receive();
    assert_eq!(
        (&told["method"], &told["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("p"))
    );
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}),
    );
    let ping = client.begin("ping", json!({}));
    let mut last = told["params"]["progress"].as_u64().unwrap();
    loop {
        let message = client.receive();
        if message["id"] == ping {
            break;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        let progress = message["params"]["progress"].as_u64().unwrap();
        assert!(progress > last, "progress rises");
        last = progress;
    }
    client.end();
}

#[test]
fn wallfacer_finds_nothing_in_itself_in_either_era() {
    let program = env!("CARGO_BIN_EXE_wallfacer");
    let checked = |version: &str| {
        let flags = ["check", "--budget", "30s", "--protocol", version, "--format", "json"];
        let report = World::new().run(&[&flags[..], &["--", program, "mcp"]].concat()).json();
        assert_eq!(report["findings"], json!([]), "{report:#}");
        assert_eq!(report["server"]["protocol"], version);
        for tool in ["explain", "findings"] {
            assert!(report["tools"][tool]["valid_completed"].as_u64().unwrap() > 0, "{report:#}");
        }
    };
    std::thread::scope(|scope| {
        for version in ["2025-11-25", "2026-07-28"] {
            scope.spawn(move || checked(version));
        }
    });
}
