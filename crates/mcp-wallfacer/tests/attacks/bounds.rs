//! Whatever a server does, a run ends ten seconds after its budget at the latest, with a report or one plain message, and
//! takes no more memory than a small machine has.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wallfacer_fixtures::require;

use crate::lanes::{assert_in_time, each, in_time, late};
use crate::processes::{MARK, marked, wait_until};
use crate::ways::{Way, ways};
use crate::world::{Outcome, World};

const BUDGET: Duration = Duration::from_secs(3);
/// How much longer than its budget a run may take.
const OVERRUN: Duration = Duration::from_secs(10);
/// The most memory that a run may take, in KiB.
const MEMORY: u64 = 300 << 10;
/// The same where every reply is as long as one may be: several servers are read from at once, 64 MiB each.
const MEMORY_FOR_LONG_REPLIES: u64 = 800 << 10;

/// What tests a server within a budget.
const COMMANDS: [&[&str]; 9] = [
    &["check"],
    &["fuzz"],
    &["fuzz", "--runs", "2"],
    &["behave"],
    &["torture"],
    &["property", "--pack-all"],
    &["differential", "--learn"],
    &["lock"],
    &["ci"],
];

/// A server in Python; what it answers is for each attack to say.
const SERVER: &str = r#"
import sys, json, time, os, threading
def out(text):
    sys.stdout.write(text + "\n"); sys.stdout.flush()
def answer(id, result):
    out(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))
TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
CLAIMS = {"tools": {}}
def tools(params): return {"tools": [TOOL]}
def resources(params): return {"resources": []}
def prompts(params): return {"prompts": []}
def call(params): return {"content": []}
def before(method): pass
#ATTACK
for line in sys.stdin:
    try: message = json.loads(line)
    except Exception: continue
    if not isinstance(message, dict) or "id" not in message: continue
    method, id, params = message.get("method"), message["id"], message.get("params") or {}
    before(method)
    if method == "initialize":
        answer(id, {"protocolVersion": "2025-11-25", "capabilities": CLAIMS, "serverInfo": {"name": "greedy", "version": "1"}})
    elif method == "tools/list": answer(id, tools(params))
    elif method == "resources/list": answer(id, resources(params))
    elif method == "resources/templates/list": answer(id, {"resourceTemplates": []})
    elif method == "prompts/list": answer(id, prompts(params))
    elif method == "tools/call": answer(id, call(params))
    elif method == "ping": answer(id, {})
    else: out(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}))
"#;

/// Tests a server that does this, as one user; none where the machine has no Python.
fn test(way: Way, attack: &str, typed: &[&str], budget: Duration, most: u64) -> Option<Outcome> {
    let python = Command::new("/usr/bin/python3").arg("--version").output().ok();
    require("python3", python.filter(|found| found.status.success()))?;
    let world = World::new().with("server.py", &SERVER.replace("#ATTACK", attack));
    let server = world.here().join("server.py");
    let time = format!("{}s", budget.as_secs());
    let behind = ["--", "/usr/bin/python3", server.to_str().unwrap()];
    let mut command = way.command(&world, &[typed, &["--budget", &time], &behind].concat());
    let mark = format!("bounds-{}-{}", std::process::id(), mark_of(&format!("{way:?} {typed:?} {attack}")));
    command.env(MARK, &mark);
    let begun = Instant::now();
    let child = command.spawn().unwrap();
    let process = child.id();
    let ended = thread::spawn(move || child.wait_with_output().unwrap());
    let mut memory = 0;
    while !ended.is_finished() {
        memory = memory.max(peak(process));
        thread::sleep(Duration::from_millis(5));
    }
    let took = begun.elapsed();
    let outcome = Outcome::of(&world, &command, ended.join().unwrap());
    assert_in_time(took, budget + OVERRUN, format!("{way:?}: {outcome}"));
    assert!(memory <= most, "{way:?} took {memory} KiB: {outcome}");
    wait_until("everything that it started ends", || marked(&mark).is_empty());
    Some(outcome)
}

/// One mark for each attack and user, so that those that run at the same time are told apart.
fn mark_of(text: &str) -> u64 {
    text.bytes().fold(14_695_981_039_346_656_037, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
    })
}

/// The most memory that a process has held at once so far.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// As every user; none where there is no Python.
fn check_as_all(attack: &str, flags: &[&str]) -> Vec<Outcome> {
    check_within(BUDGET, attack, flags, MEMORY)
}

fn check_within(budget: Duration, attack: &str, flags: &[&str], most: u64) -> Vec<Outcome> {
    let outcomes = Mutex::new(Vec::new());
    let typed = [&["check"], flags].concat();
    each(ways(), |way| {
        // Not within the lock: a test that fails must not fail the other by that.
        let outcome = test(way, attack, &typed, budget, most);
        outcomes.lock().unwrap().extend(outcome);
    });
    outcomes.into_inner().unwrap()
}

/// Was open: 50 s of 10.
#[test]
fn tools_that_are_listed_for_ever_do_not_hold_a_run() {
    in_time(|| {
        let attack = r#"
def tools(params):
    time.sleep(0.02)
    page = int(params.get("cursor", 0)) + 1
    return {"tools": [dict(TOOL, name="echo%d" % page)], "nextCursor": str(page)}
"#;
        // A hundred pages are read, which leaves time enough to come to the report by itself. Whether there is time left for
        // calls depends on how busy the machine is.
        for outcome in check_within(4 * BUDGET, attack, &["--format", "json"], MEMORY) {
            assert!(outcome.stdout.contains("the list does not seem to end"), "{outcome}");
            if outcome.stdout.contains("did not end within its time limit") {
                late(format!("it was stopped: {outcome}"));
            }
            assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
        }
    });
}

/// Was open.
#[test]
fn resources_and_prompts_that_are_listed_for_ever_do_not_hold_a_run() {
    in_time(|| {
        let attack = r#"
CLAIMS = {"tools": {}, "resources": {}, "prompts": {}}
def resources(params):
    time.sleep(0.02)
    page = int(params.get("cursor", 0)) + 1
    return {"resources": [], "nextCursor": str(page)}
def prompts(params):
    return dict(resources(params), prompts=[])
"#;
        for outcome in check_as_all(attack, &[]) {
            assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
        }
    });
}

/// Was open: 1.5 GB.
#[test]
fn two_hundred_thousand_tools_take_neither_the_memory_nor_the_time() {
    in_time(|| {
        let attack = r#"
ALL = {"tools": [dict(TOOL, name="echo%d" % number, description="says what it is told " * 3) for number in range(200000)]}
def tools(params): return ALL
"#;
        for outcome in check_as_all(attack, &["--format", "json", "--startup-timeout", "60s"]) {
            let told = outcome.stdout.contains("only the first 2000 of 200000 tools are tested");
            assert!(told || outcome.code == Some(3), "{outcome}");
        }
    });
}

/// Was open: `lock` had no time limit, and two thousand slow tools could keep it for hours.
#[test]
fn a_lock_ends_soon_after_its_budget_and_is_whole_or_not_there() {
    in_time(|| {
        let attack = r#"
ALL = {"tools": [dict(TOOL, name="echo%d" % number) for number in range(500)]}
def tools(params): return ALL
def before(method): time.sleep(0.2)
"#;
        for way in ways() {
            let world = World::new().with("server.py", &SERVER.replace("#ATTACK", attack));
            let budget = format!("{}s", BUDGET.as_secs());
            let begun = Instant::now();
            let outcome =
                way.run(&world, &["lock", "--budget", &budget, "--", "/usr/bin/python3", "server.py"]);
            let took = begun.elapsed();
            assert_in_time(took, BUDGET + OVERRUN, format!("{way:?}: {outcome}"));
            assert_eq!(outcome.code, Some(3), "{outcome}");
            assert_eq!(
                outcome.stderr,
                "error: the time limit ended the run before all of the server was seen, so nothing was written; \
             --budget TIME gives it longer\n"
            );
            assert!(!world.here().join("wallfacer.lock").exists());
        }
    });
}

/// Was open long after that build: each test had its own copy of every schema, and one tool took 500 MiB, eight 1.2 GiB;
/// a hundred bytes of schema that ask for many long texts took 1.2 GiB and more.
#[test]
fn schemas_as_large_as_can_be_do_not_take_the_memory() {
    const EIGHT_OR_LARGE_CALLS: u64 = 400 << 10;
    let tools = r#"
def large(schema, count):
    return {"tools": [{"name": "t%d" % number, "inputSchema": dict(schema, type="object")} for number in range(count)]}
TEXT = {"type": "string"}
LONG = dict(TEXT, minLength=900000)
NAMES = ["p%05d" % number for number in range(9000)]
def tools(params): return ALL
"#;
    for (schema, count, most) in [
        (r#"{"properties": {"p%06d" % number: TEXT for number in range(28000)}}"#, 1, MEMORY),
        (r#"{"properties": {name: TEXT for name in NAMES}, "required": NAMES}"#, 1, MEMORY),
        (r#"{"properties": {"e": {"enum": ["value-%06d" % number for number in range(55000)]}}}"#, 1, MEMORY),
        (
            r#"{"properties": {"e": {"type": "array", "minItems": 2000, "items": LONG}}, "required": ["e"]}"#,
            1,
            MEMORY,
        ),
        // Each call is as large as the schema, and several are in flight.
        (
            r#"{"properties": {"e": {"const": "k" * 900000}, "d": TEXT}, "required": ["e"]}"#,
            1,
            EIGHT_OR_LARGE_CALLS,
        ),
        (r#"{"properties": {"e": LONG, "d": TEXT}, "required": ["e"]}"#, 1, EIGHT_OR_LARGE_CALLS),
        (
            r#"{"properties": {"p%05d" % number: dict(TEXT, pattern="^[a-z]{3,40}$", description="x" * 130) for number in range(4500)}}"#,
            8,
            EIGHT_OR_LARGE_CALLS,
        ),
    ] {
        in_time(|| {
            let attack = format!("{tools}ALL = large({schema}, {count})\n");
            for outcome in check_within(3 * BUDGET, &attack, &["--startup-timeout", "60s"], most) {
                assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
            }
        });
    }
}

/// What else has a budget holds it as well, whether the server is slow or says far too much.
#[test]
fn every_command_that_has_a_budget_ends_soon_after_it() {
    const SLOW: &str = "def before(method): time.sleep(4.9)";
    const FLOOD: &str = r#"
def flood():
    while True: sys.stdout.write("x" * 500 + "\n")
def call(params):
    threading.Thread(target=flood, daemon=True).start()
    time.sleep(600)
"#;
    let way = *ways().last().unwrap();
    in_time(|| {
        each(COMMANDS.into_iter().flat_map(|typed| [(typed, SLOW), (typed, FLOOD)]), |(typed, attack)| {
            let outcome = test(way, attack, typed, BUDGET, MEMORY);
            assert!(outcome.is_none_or(|outcome| matches!(outcome.code, Some(0 | 1 | 3))), "{typed:?}");
        });
    });
}

/// Was open: every question costs nearly the whole limit, and none of them is a hang.
#[test]
fn a_server_that_takes_nearly_as_long_as_it_may_for_each_answer_does_not_hold_a_run() {
    in_time(|| {
        check_as_all("def before(method): time.sleep(4.9)", &[]);
    });
}

/// Was open: what a run had seen was lost where its last servers did not start in time.
#[test]
fn a_run_whose_last_servers_do_not_start_tells_what_it_has_seen() {
    let budget = Duration::from_secs(12);
    in_time(|| {
        let last = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + budget / 2;
        let attack = format!(
            "if time.time() > {}: time.sleep(600)
def call(params):
    if len(params.get(\"arguments\", {{}}).get(\"text\", \"\")) > 900: os._exit(1)
    return {{\"content\": []}}",
            last.as_secs_f64()
        );
        for outcome in check_within(budget, &attack, &["--format", "json"], MEMORY) {
            let run = outcome.json();
            assert!(run["summary"]["calls"].as_u64().unwrap() > 1, "{outcome}");
            assert!(!outcome.stdout.contains("was stopped"), "{outcome}");
        }
    });
}

/// Was open: neither had a limit of its own; `doctor` took 20 s and `replay` 45 s of a server that answers after 4.9 s.
#[test]
fn a_look_and_a_replay_end_soon_after_their_budget_and_say_what_they_did_not_see() {
    in_time(|| {
        let finding = r#"{"id":"0123456789abcdef","kind":{"type":"crash"},"severity":"critical","tool":"echo",
        "message":"it ended","repro":{"seed":7,"tool_call":{},"transport":"stdio"},"timestamp":"2026-01-02T03:04:05Z"}"#;
        let slow = SERVER.replace("#ATTACK", "def before(method): time.sleep(4.9)");
        let way = *ways().last().unwrap();
        let world = World::new()
            .with("server.py", &slow)
            .with(".wallfacer/corpus/echo/0123456789abcdef.json", finding);
        let budget = format!("{}s", BUDGET.as_secs());
        let behind = ["--budget", &budget, "--", "/usr/bin/python3", "server.py"];
        let within_bounds = |args: &[&str]| {
            let begun = Instant::now();
            let outcome = way.run(&world, &[args, &behind].concat());
            assert_in_time(begun.elapsed(), BUDGET + OVERRUN, &outcome);
            outcome
        };
        let looked = within_bounds(&["doctor"]);
        assert_eq!(looked.code, Some(0), "{looked}");
        let told = "CUT SHORT by the time limit, not seen: all that it lists and how fast it answers; --budget TIME gives it longer";
        assert_eq!(looked.stdout.lines().next(), Some(told), "{looked}");
        let looked = within_bounds(&["doctor", "--format", "json"]);
        assert_eq!(looked.json()["not_seen"].as_array().map(Vec::len), Some(2), "{looked}");
        for command in [&["replay", "0123456789abcdef"][..], &["corpus", "replay", "--all"]] {
            let replayed = within_bounds(command);
            assert_eq!(replayed.code, Some(3), "{replayed}");
            assert!(
                replayed.stdout.contains("the time limit of 3s ended it before it could be tried"),
                "{replayed}"
            );
        }
    });
}

/// Held, and not in the review.
#[test]
fn a_server_that_floods_its_outputs_does_not_hold_a_run() {
    in_time(|| {
        let attack = r#"
def flood(stream, text):
    while True: stream.write(text)
NOTICE = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 500}}) + "\n"
def call(params):
    threading.Thread(target=flood, args=(sys.stderr, "y" * 500 + "\n"), daemon=True).start()
    threading.Thread(target=flood, args=(sys.stdout, NOTICE), daemon=True).start()
    time.sleep(600)
"#;
        check_as_all(attack, &[]);
    });
}

/// Held.
#[test]
fn replies_as_large_as_can_be_do_not_hold_a_run() {
    in_time(|| {
        let attack = r#"
LARGE = "z" * (60 << 20)
def call(params): return {"content": [{"type": "text", "text": LARGE}]}
"#;
        check_as_all(attack, &["--in-flight", "2"]);
    });
}

/// Held: 200 MB in one line, and five million brackets.
#[test]
fn replies_that_are_larger_or_deeper_than_anyone_reads_do_not_hold_a_run() {
    in_time(|| {
        let raw = r#"
def answer(id, result):
    told = RAW if "content" in result else json.dumps(result)
    out('{"jsonrpc": "2.0", "id": %s, "result": %s}' % (json.dumps(id), told))
"#;
        for told in [
            r#"RAW = '{"content": [{"type": "text", "text": "' + "z" * 200000000 + '"}]}'"#,
            r#"RAW = '{"content": ' + "[" * 5000000 + "]" * 5000000 + '}'"#,
        ] {
            check_within(BUDGET, &format!("{raw}{told}\n"), &["--in-flight", "2"], MEMORY_FOR_LONG_REPLIES);
        }
    });
}

/// The review saw 90 s and more of 10. Tried again on that build, it held in this form, 10 s of 10.
#[test]
fn a_server_that_forks_without_end_does_not_hold_a_run() {
    in_time(|| {
        let attack = r#"
def call(params):
    while True:
        try:
            if os.fork() == 0: time.sleep(600)
        except OSError: pass
"#;
        check_as_all(attack, &[]);
    });
}

/// Was open: 64 s of 15 in the review, 24 s of 10 in `behave` when it was tried again on that build; `check` held.
#[test]
fn a_server_that_connects_fifteen_thousand_times_does_not_hold_a_run() {
    in_time(|| {
        let attack = r#"
import socket
def call(params):
    for number in range(15000):
        try:
            peer = socket.socket(); peer.settimeout(5)
            peer.connect(("198.51.%d.%d" % (number // 250 % 250, number % 250 + 1), 80))
            peer.close()
        except OSError: pass
    return {"content": []}
"#;
        each(["check", "behave", "torture"], |command| {
            each(ways(), |way| drop(test(way, attack, &[command], BUDGET, MEMORY)));
        });
    });
}

/// Was open since there are databases in the sandbox: a long sum took the stack of their thread, and with it wallfacer itself;
/// and they kept and answered whatever was asked for.
#[test]
fn a_server_that_asks_too_much_of_the_databases_of_the_sandbox_does_not_hold_a_run() {
    in_time(|| {
        let attack = r#"
import socket, struct
def talk(port, *said):
    try:
        peer = socket.create_connection(("127.0.0.1", port), 5)
        peer.settimeout(5)
        def read():
            try:
                while peer.recv(1 << 20): pass
            except OSError: pass
        threading.Thread(target=read, daemon=True).start()
        for text in said: peer.sendall(text)
        peer.shutdown(socket.SHUT_WR)
    except OSError: pass
def statements(*texts):
    start = b"user\0me\0\0"
    yield struct.pack(">II", len(start) + 8, 0x30000) + start
    for text in texts: yield b"Q" + struct.pack(">I", len(text) + 5) + text.encode() + b"\0"
def words(*all):
    yield b"*%d\r\n" % len(all)
    for word in all: yield b"$%d\r\n" % len(word) + word + b"\r\n"
NAMES = ["c%d" % number for number in range(2000)]
LONG = "x" * 4000
GROWS = ["CREATE TABLE wide (%s)" % ", ".join(NAMES), "INSERT INTO wide VALUES " + ", ".join(["(1)"] * 4000),
    "UPDATE wide SET " + ", ".join("%s = '%s'" % (name, LONG) for name in NAMES[:200])]
GROWS += ["CREATE TABLE copy%d AS SELECT * FROM wide" % number for number in range(190)] + ["SELECT %s FROM wide" % ", ".join(["*"] * 200)]
def call(params):
    talk(5432, *statements("SELECT " + "1+" * 9000 + "1"))
    talk(3306, b"\x01\0\0\xff\0", b"\x01\0\0\xff\x03")
    for number in range(3): threading.Thread(target=talk, args=(5432, *statements(*GROWS)), daemon=True).start()
    talk(6379, *(text for number in range(1000) for text in words(b"hset", b"h", *(b"%d" % number + b"y" * 60000, b"z" * 60000) * 2)))
    return {"content": []}
"#;
        for outcome in check_as_all(attack, &[]) {
            assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
        }
    });
}

/// Held: a start has a limit of its own, and that of the run ends it sooner.
#[test]
fn a_server_that_never_answers_does_not_hold_a_run() {
    let way = *ways().last().unwrap();
    in_time(|| {
        each(COMMANDS.into_iter().chain([&["doctor"][..]]), |typed| {
            let outcome = test(way, "time.sleep(600)", typed, BUDGET, MEMORY);
            assert!(outcome.is_none_or(|outcome| outcome.code == Some(3)), "{typed:?}");
        });
    });
}

/// A server that is there already, and answers every connection in this way until nobody listens any more.
fn listening(answer: fn(&mut TcpStream) -> io::Result<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || answer(&mut stream));
        }
    });
    url
}

/// Held: over HTTP too, whatever never ends is given up.
#[test]
fn a_server_over_http_that_never_ends_its_answers_does_not_hold_a_run() {
    fn say_for_ever(stream: &mut TcpStream, head: &str, text: &str, pause: u64) -> io::Result<()> {
        let _heard = stream.read(&mut [0; 4096])?;
        stream.write_all(head.as_bytes())?;
        loop {
            stream.write_all(text.as_bytes())?;
            thread::sleep(Duration::from_millis(pause));
        }
    }
    const OK: &str = "HTTP/1.1 200 OK\r\n";
    const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    const LONG: &str =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900000000\r\n\r\n";
    const PING: &str = "data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n";
    type Answer = fn(&mut TcpStream) -> io::Result<()>;
    let answers: [(&str, Answer); 8] = [
        ("silence", |stream| stream.read_to_end(&mut Vec::new()).map(drop)),
        ("no question is read", |_| {
            loop {
                thread::park()
            }
        }),
        ("endless headers", |stream| say_for_ever(stream, OK, "x-more: words\r\n", 1)),
        ("one endless header", |stream| say_for_ever(stream, "HTTP/1.1 200 OK\r\nx-more: ", "words", 0)),
        ("interim answers", |stream| say_for_ever(stream, "", "HTTP/1.1 100 Continue\r\n\r\n", 0)),
        ("letter by letter", |stream| say_for_ever(stream, LONG, " ", 200)),
        ("endless events", |stream| say_for_ever(stream, STREAM, PING, 0)),
        ("an endless body", |stream| say_for_ever(stream, LONG, &" ".repeat(4096), 0)),
    ];
    let commands: [&[&str]; 4] = [&["check"], &["doctor"], &["torture"], &["fuzz"]];
    in_time(|| {
        let all = answers.iter().flat_map(|answer| commands.map(|typed| (answer, typed)));
        each(all.collect::<Vec<_>>(), |((what, answer), typed)| {
            let world = World::new();
            let budget = format!("{}s", BUDGET.as_secs());
            let url = listening(*answer);
            let behind = ["--budget", &budget, "--url", &url];
            let begun = Instant::now();
            let outcome = world.run(&[typed, &behind].concat());
            assert_in_time(begun.elapsed(), BUDGET + OVERRUN, format!("{what}: {outcome}"));
            assert!(matches!(outcome.code, Some(1 | 3)), "{what}: {outcome}");
        });
    });
}

/// Held: what a server asks of us is answered as long as it listens.
#[test]
fn a_server_that_asks_without_end_and_reads_nothing_does_not_hold_a_run() {
    let attack = r#"
def ask():
    number = 0
    while True:
        number += 1
        method = ["ping", "sampling/createMessage", "roots/list", "elicitation/create"][number % 4]
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": "q%d" % number, "method": method, "params": {}}) + "\n")
def call(params):
    threading.Thread(target=ask, daemon=True).start()
    time.sleep(600)
"#;
    let way = *ways().last().unwrap();
    in_time(|| {
        each([&["check"][..], &["behave"], &["torture"]], |typed| {
            let outcome = test(way, attack, typed, BUDGET, MEMORY);
            assert!(outcome.is_none_or(|outcome| matches!(outcome.code, Some(0 | 1 | 3))), "{typed:?}");
        });
    });
}
