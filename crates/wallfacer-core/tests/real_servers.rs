//! Servers that nobody here wrote, pinned and installed by `scripts/real-servers` into `WALLFACER_REAL_SERVERS`:
//! each is reached, listed and called, over each transport and in each era that it speaks.

mod common;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use wallfacer_core::catalogue::{Catalogue, End, discover};
use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::{Finding, Kind};
use wallfacer_core::observe::{Answer, see};
use wallfacer_core::plan::Mode;
use wallfacer_core::run::{Call, execute};
use wallfacer_core::session::{FuzzOptions, Load, NamePatterns, TortureMode, against, torture};
use wallfacer_core::summary::{Fuzzed, NotTested};
use wallfacer_core::target::{Command, Confine, Era, Protocol, Reach, Required, Sandbox, Target, Version};
use wallfacer_core::wire::{Connector, Server};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and one call that succeeds on it.
struct Known {
    command: Command,
    /// Where it listens; none for stdio.
    url: Option<String>,
    tool: &'static str,
    arguments: Value,
    /// A text that the answer holds.
    answer: &'static str,
    tools: usize,
}

#[test]
fn everything_over_stdio() {
    let Some(root) = installed() else { return };
    let server = everything(&root, &["stdio"], None);
    check(&server, Protocol::Auto, Version::V2025_11_25);
    for version in Version::ALL.into_iter().filter(|version| version.era() == Era::Legacy) {
        check(&server, Protocol::Fixed(version), version);
    }
}

#[test]
fn everything_over_streamable_http() {
    let Some(root) = installed() else { return };
    let (port, url) = common::address("mcp");
    let mut server = everything(&root, &["streamableHttp"], Some(url));
    server.command.environment.set.insert("PORT".to_owned(), port.to_string());
    check(&server, Protocol::Auto, Version::V2025_11_25);
}

#[test]
fn everything_over_http_and_sse() {
    let Some(root) = installed() else { return };
    let (port, url) = common::address("sse");
    let mut server = everything(&root, &["sse"], Some(url));
    server.command.environment.set.insert("PORT".to_owned(), port.to_string());
    check(&server, Protocol::Auto, Version::V2025_11_25);
}

#[test]
fn filesystem_over_stdio() {
    let Some(root) = installed() else { return };
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("note.txt"), "written by a test").unwrap();
    let path = directory.path().canonicalize().unwrap();
    let mut server = node(&root, "server-filesystem", &[path.to_str().unwrap()]);
    server.tool = "read_text_file";
    server.arguments = json!({ "path": path.join("note.txt") });
    server.answer = "written by a test";
    server.tools = 14;
    check(&server, Protocol::Auto, Version::V2025_11_25);
}

#[test]
fn memory_over_stdio() {
    let Some(root) = installed() else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut server = node(&root, "server-memory", &[]);
    let file = directory.path().join("memory.jsonl").to_str().unwrap().to_owned();
    server.command.environment.set.insert("MEMORY_FILE_PATH".to_owned(), file);
    server.tool = "create_entities";
    server.arguments = json!({ "entities": [{ "name": "Ada", "entityType": "person", "observations": [] }] });
    server.answer = "Ada";
    server.tools = 9;
    check(&server, Protocol::Auto, Version::V2025_11_25);
}

#[test]
fn the_python_sdk_in_both_eras_over_stdio() {
    let Some(root) = installed() else { return };
    check_both_eras(&adder(Command::new(root.join("python/bin/python"), [root.join("python_sdk.py")]), None));
}

#[test]
fn the_python_sdk_in_both_eras_over_http() {
    let Some(root) = installed() else { return };
    let (port, url) = common::address("mcp");
    let arguments = [root.join("python_sdk.py").into_os_string(), port.to_string().into()];
    check_both_eras(&adder(Command::new(root.join("python/bin/python"), arguments), Some(url)));
}

#[test]
fn the_rust_sdk_in_both_eras_over_stdio() {
    let Some(root) = installed() else { return };
    let none: [OsString; 0] = [];
    check_both_eras(&adder(Command::new(root.join("rmcp/release/rmcp-server"), none), None));
}

#[test]
fn the_rust_sdk_in_both_eras_over_http() {
    let Some(root) = installed() else { return };
    let (port, url) = common::address("mcp");
    let command = Command::new(root.join("rmcp/release/rmcp-server"), [port.to_string()]);
    check_both_eras(&adder(command, Some(url)));
}

#[test]
fn a_server_agrees_with_itself_over_another_transport_and_in_the_other_era() {
    let Some(root) = installed() else { return };
    let (port, url) = common::address("mcp");
    let mut over_http = everything(&root, &["streamableHttp"], Some(url));
    over_http.command.environment.set.insert("PORT".to_owned(), port.to_string());
    let over_http = target(&over_http, Protocol::Auto);
    compare(target(&everything(&root, &["stdio"], None), Protocol::Auto), over_http, &[]);
    let python = adder(Command::new(root.join("python/bin/python"), [root.join("python_sdk.py")]), None);
    compare(target(&python, Protocol::Auto), target(&python, Protocol::Fixed(Version::V2025_11_25)), &[]);
}

#[test]
fn two_servers_of_the_same_tools_disagree_where_one_has_no_structured_content() {
    let Some(root) = installed() else { return };
    let python = adder(Command::new(root.join("python/bin/python"), [root.join("python_sdk.py")]), None);
    let none: [OsString; 0] = [];
    let rust = adder(Command::new(root.join("rmcp/release/rmcp-server"), none), None);
    let wanted = [
        ("add", "`$.properties.a.format`"),
        ("add", "the output schema of `add` has nothing here"),
        ("add", "`add` answers nothing here and {\"result\":"),
        ("echo", "the output schema of `echo` has nothing here"),
        ("echo", "`echo` answers nothing here and {\"result\":"),
    ];
    compare(target(&rust, Protocol::Auto), target(&python, Protocol::Auto), &wanted);
}

/// A server and its transport that all clients share are published as a leak between clients. The release after refuses that.
#[test]
fn what_clients_of_one_transport_are_answered_is_swapped_until_the_sdk_refuses_to_share_it() {
    let Some(root) = installed() else { return };
    let shared = tortured(&root, "1.25.3", "shared");
    let swapped = |finding: &Finding| {
        finding.kind == Kind::Race && finding.message.contains("answer to another client's call")
    };
    assert!(shared.findings.iter().any(swapped), "{:?}", shared.findings);
    let refused = tortured(&root, "1.26.0", "shared");
    let why = |left: &NotTested| left.why.contains("HTTP status 500");
    assert!(refused.findings.is_empty() && refused.not_tested.iter().any(why), "{:?}", refused.not_tested);
    for release in ["1.25.3", "1.26.0"] {
        let own = tortured(&root, release, "own");
        assert!(own.findings.is_empty() && own.flaky.is_empty(), "{release}: {:?}", own.findings);
        assert!(own.tools["look_up"].valid_completed > 16, "{release}: {:?}", own.tools);
    }
}

/// Calls at once to the small stateless server on a release of the TypeScript SDK.
fn tortured(root: &Path, release: &str, mode: &str) -> Fuzzed {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/real-servers/stateless_sdk.cjs");
    let (port, url) = common::address("mcp");
    let directory = root.join(format!("typescript-sdk-{release}"));
    let (script, directory) = (script.canonicalize().unwrap().into_os_string(), directory.into_os_string());
    let command = Command::new("node", [script, directory, port.to_string().into(), mode.into()]);
    let mut target = Target::new(common::listening(command, url));
    target.timeouts.startup = PATIENCE;
    let load = Load { mode: TortureMode::Parallel, concurrency: 8, clients: 2, thorough: true, shared: None };
    let connector = Connector::new(target, common::environment());
    torture(connector, &FuzzOptions::default(), load, &mut Deaf).unwrap()
}

/// Exactly these disagreements, each as a tool and a part of what is said of it.
fn compare(here: Target, there: Target, wanted: &[(&str, &str)]) {
    let connector = |target: Target| Connector::new(target, common::environment());
    // The others take their time, or wait for what a client is to send them.
    let quick = NamePatterns::new(["add", "echo", "get-*"]).unwrap();
    let options = FuzzOptions {
        mode: Mode::Conform,
        iterations: 2,
        in_flight: 1,
        include: Some(quick),
        ..FuzzOptions::default()
    };
    let compared = against(connector(here), connector(there), &options, &[], &mut Deaf).unwrap();
    let told: Vec<(Option<&str>, &str)> = compared
        .findings
        .iter()
        .chain(&compared.flaky)
        .map(|finding| (finding.tool.as_deref(), finding.message.as_str()))
        .collect();
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (tool, part) in wanted {
        let is_told = told.iter().any(|(of, message)| *of == Some(*tool) && message.contains(part));
        assert!(is_told, "{tool}, {part}: {told:#?}");
    }
}

/// Nobody listens.
struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

fn check_both_eras(server: &Known) {
    check(server, Protocol::Auto, Version::V2026_07_28);
    check(server, Protocol::Fixed(Version::V2026_07_28), Version::V2026_07_28);
    check(server, Protocol::Fixed(Version::V2025_11_25), Version::V2025_11_25);
    check(server, Protocol::Fixed(Version::V2025_06_18), Version::V2025_06_18);
}

/// Connects as wished, with and without a sandbox around the server.
fn check(known: &Known, wish: Protocol, spoken: Version) {
    // First inside: what a server keeps there must not meet it again outside.
    if cfg!(target_os = "linux") {
        let required = Required { observe: true, confine: true };
        let sandbox = Sandbox { confine: Confine::Require, required, ..Sandbox::default() };
        check_in(sandbox, known, wish, spoken);
    }
    check_in(Sandbox::default(), known, wish, spoken);
}

/// Lists, calls once, and sees nothing that should not be there.
fn check_in(sandbox: Sandbox, known: &Known, wish: Protocol, spoken: Version) {
    common::wait_for(async {
        let target = Target { sandbox, ..target(known, wish) };
        let mut connector = Connector::new(target, common::environment());
        let (mut connection, server) = connector.open().await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(server.protocol, spoken, "{wish:?}");
        let timeouts = connector.target().timeouts.clone();
        let catalogue = discover(&mut connection, &server, &timeouts).await;
        check_catalogue(known, &server, &catalogue);
        let call = Call::tool(known.tool, known.arguments.clone(), PATIENCE);
        let recording = execute(&mut connection, &call).await;
        let seen = see(&recording);
        assert_eq!(seen.answer, Answer::Completed, "{recording:?}");
        assert!(seen.faults.is_empty(), "{}", seen.faults);
        let text = format!("{:?}", recording.outcome);
        assert!(text.contains(known.answer), "{text}");
        let farewell = connection.close(Duration::from_secs(5)).await;
        assert!(farewell.strays.is_empty(), "{:?}", farewell.strays);
        let left = farewell.process.and_then(|ended| ended.left_behind);
        assert!(left.is_some_and(|left| left.is_empty()));
    });
}

fn check_catalogue(known: &Known, server: &Server, catalogue: &Catalogue) {
    assert_eq!(catalogue.tools.end, End::Complete);
    assert!(catalogue.tools.broken.is_empty(), "{:?}", catalogue.tools.broken);
    assert_eq!(catalogue.tools.entries.len(), known.tools);
    for list in ["resources", "prompts"] {
        let end = if list == "resources" { &catalogue.resources.end } else { &catalogue.prompts.end };
        let wanted = if server.claims(list) { End::Complete } else { End::NotClaimed };
        assert_eq!(*end, wanted, "{list}");
    }
}

fn target(known: &Known, wish: Protocol) -> Target {
    let command = known.command.clone();
    let mut target = Target::new(match &known.url {
        None => Reach::Command(command),
        Some(url) => common::listening(command, url.clone()),
    });
    target.protocol = wish;
    target.timeouts.startup = PATIENCE;
    target.timeouts.probe = Duration::from_secs(20);
    target
}

/// Where the servers are; none, and the test is skipped, where nobody installed them.
#[allow(clippy::disallowed_methods, reason = "a test is told by its environment what is installed")]
fn installed() -> Option<PathBuf> {
    let root = std::env::var_os("WALLFACER_REAL_SERVERS");
    let root = wallfacer_fixtures::require("WALLFACER_REAL_SERVERS, made by scripts/real-servers", root)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(root);
    Some(root.canonicalize().expect("WALLFACER_REAL_SERVERS names a directory"))
}

fn node(root: &Path, package: &str, arguments: &[&str]) -> Known {
    let script = root.join(format!("node_modules/@modelcontextprotocol/{package}/dist/index.js"));
    let script = script.to_str().unwrap().to_owned();
    let arguments = [script].into_iter().chain(arguments.iter().map(|argument| (*argument).to_owned()));
    let command = Command::new("node", arguments);
    Known { command, url: None, tool: "", arguments: Value::Null, answer: "", tools: 0 }
}

fn everything(root: &Path, arguments: &[&str], url: Option<String>) -> Known {
    Known {
        url,
        tool: "echo",
        arguments: json!({ "message": "hello" }),
        answer: "Echo: hello",
        tools: 16,
        ..node(root, "server-everything", arguments)
    }
}

fn adder(command: Command, url: Option<String>) -> Known {
    Known { command, url, tool: "add", arguments: json!({ "a": 20, "b": 22 }), answer: "42", tools: 2 }
}
