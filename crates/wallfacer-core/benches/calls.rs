//! Calls per second of our connection beside a raw byte client, on the same server, in the same run.
//!
//! `cargo bench -p wallfacer-core --bench calls` measures on a trivial echo server, which is this very program, and, where
//! `WALLFACER_REAL_SERVERS` names the directory that `scripts/real-servers` made, on `echo` of server-everything.
//! Rounds are interleaved and ratios taken round by round, because machines are noisy.
//!
//! Everything is measured twice. On one core, client and server take turns and the ratio is one of work done. On all
//! cores it also depends on where the scheduler puts the two, and waking a sleeping core can cost more than the call:
//! on a trivial server that decides alone, for either client.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark is told what to do, and prints"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use wallfacer_core::target::{Command, Protocol, Reach, Target, Version};
use wallfacer_core::wire::{Connection, Connector, Happening, Outcome};
use wallfacer_process::{Process, Spec};

/// Two processes of one server differ in speed by themselves, so each client meets several.
const SERVERS: usize = 7;
/// Many short rounds: whatever else the machine does then falls on both clients alike.
const ROUNDS: usize = 9;
const IN_FLIGHT: usize = 64;
const ECHO: &str = "echo-server";

const MEASURE: &str = "measure";

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    match asked.first().map(String::as_str) {
        Some(ECHO) => echo_server(),
        Some(MEASURE) => measure_all(&asked[1]),
        _ => measure_twice(),
    }
}

/// Each placement in a process of its own: what a process was started on, its servers are started on too.
fn measure_twice() {
    println!(
        "{:<24}{:<11}{:>9}{:>12}{:>12}{:>9}",
        "server", "cores", "in flight", "raw /s", "ours /s", "ratio"
    );
    let program = std::env::current_exe().unwrap();
    let mut one = std::process::Command::new("taskset");
    one.args(["-c", "0"]).arg(&program).args([MEASURE, "one"]);
    if let Err(error) = one.status() {
        println!("one core: `taskset` was not started ({error}); install util-linux");
    }
    let all = std::process::Command::new(&program).args([MEASURE, "all"]).status();
    assert!(all.unwrap().success());
}

fn measure_all(cores: &str) {
    let program = std::env::current_exe().unwrap();
    measure("trivial echo", cores, &Command::new(program, [ECHO]), 4_000);
    if let Some(root) = std::env::var_os("WALLFACER_REAL_SERVERS") {
        let script = std::path::Path::new(&root)
            .join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        measure(
            "server-everything echo",
            cores,
            &Command::new("node", [script.as_os_str(), "stdio".as_ref()]),
            1_500,
        );
    }
}

/// One line per number of calls in flight: the median over the rounds.
fn measure(name: &str, cores: &str, command: &Command, calls: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut rates = BTreeMap::from([(1, Vec::new()), (IN_FLIGHT, Vec::new())]);
    for _ in 0..SERVERS {
        let mut raw = runtime.block_on(async { Raw::start(command) });
        let mut ours = runtime.block_on(connect(command));
        for (in_flight, rates) in &mut rates {
            for round in 0..=ROUNDS {
                let theirs = rate(calls, || raw.call(calls, *in_flight));
                let mine = rate(calls, || runtime.block_on(call(&mut ours, calls, *in_flight)));
                // The first round warms up.
                if round > 0 {
                    rates.push((theirs, mine, mine / theirs));
                }
            }
        }
    }
    for (in_flight, rates) in rates {
        let median = |of: fn(&(f64, f64, f64)) -> f64| {
            let mut values: Vec<f64> = rates.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let (theirs, mine, ratio) = (median(|rate| rate.0), median(|rate| rate.1), median(|rate| rate.2));
        println!("{name:<24}{cores:<11}{in_flight:>9}{theirs:>12.0}{mine:>12.0}{ratio:>9.2}");
    }
}

fn rate(calls: usize, work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    calls as f64 / started.elapsed().as_secs_f64()
}

fn params() -> Map<String, Value> {
    match json!({ "name": "echo", "arguments": { "message": "hello" } }) {
        Value::Object(params) => params,
        _ => unreachable!(),
    }
}

async fn connect(command: &Command) -> Connection {
    let mut target = Target::new(Reach::Command(command.clone()));
    target.protocol = Protocol::Fixed(Version::V2025_11_25);
    let environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    Connector::new(target, environment).open().await.unwrap().0
}

async fn call(connection: &mut Connection, calls: usize, in_flight: usize) {
    let params = params();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(600);
    let (mut sent, mut answered) = (0, 0);
    while answered < calls {
        while sent < calls && sent - answered < in_flight {
            connection.request("tools/call", Some(&params));
            sent += 1;
        }
        match connection.next(deadline).await {
            Happening::Answered(answer) => {
                assert!(matches!(answer.outcome, Outcome::Reply(_)));
                answered += 1;
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The least that a client can do: write a line, read a line, look at neither.
struct Raw {
    _server: Process,
    input: BufWriter<File>,
    output: BufReader<File>,
    next_id: usize,
    line: Vec<u8>,
}

impl Raw {
    fn start(command: &Command) -> Raw {
        // Started as ours is, so that only the clients differ.
        let spec = Spec {
            args: command.args.clone(),
            env: std::env::vars_os().collect(),
            ..Spec::new(command.program.clone())
        };
        let (server, pipes) = Process::start(&spec).unwrap();
        let input = BufWriter::new(File::from(pipes.stdin.into_blocking_fd().unwrap()));
        let output = File::from(pipes.stdout.into_blocking_fd().unwrap());
        let output = BufReader::with_capacity(64 << 10, output);
        let mut raw = Raw { _server: server, input, output, next_id: 1, line: Vec::new() };
        raw.send(
            r#""id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"sampling":{},"elicitation":{}},"clientInfo":{"name":"raw","version":"0"}}"#,
        );
        raw.receive();
        raw.send(r#""method":"notifications/initialized""#);
        raw
    }

    fn call(&mut self, calls: usize, in_flight: usize) {
        let (mut sent, mut answered) = (0, 0);
        while answered < calls {
            while sent < calls && sent - answered < in_flight {
                let id = self.next_id;
                self.next_id += 1;
                let message =
                    r#""method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}"#;
                writeln!(self.input, r#"{{"jsonrpc":"2.0","id":{id},{message}}}"#).unwrap();
                sent += 1;
            }
            self.input.flush().unwrap();
            // What a server says unasked is no answer.
            while !self.receive() {}
            answered += 1;
        }
    }

    fn send(&mut self, members: &str) {
        writeln!(self.input, r#"{{"jsonrpc":"2.0",{members}}}"#).unwrap();
        self.input.flush().unwrap();
    }

    /// One line; true when it is an answer, which a question of the server is not: taken for one, it would leave us with
    /// a call more in flight than we think.
    fn receive(&mut self) -> bool {
        self.line.clear();
        assert!(self.output.read_until(b'\n', &mut self.line).unwrap() > 0, "the server is gone");
        let says = |name: &[u8]| self.line.windows(name.len()).any(|window| window == name);
        says(b"\"id\":") && !says(b"\"method\":")
    }
}

/// Answers any request with the same text; the id is found by looking, not by parsing.
fn echo_server() {
    let mut input = BufReader::with_capacity(64 << 10, std::io::stdin().lock());
    let mut output = BufWriter::with_capacity(64 << 10, std::io::stdout().lock());
    let mut line = String::new();
    loop {
        // What is ready goes out before we wait for more.
        if input.buffer().is_empty() {
            output.flush().unwrap();
        }
        line.clear();
        if input.read_line(&mut line).unwrap() == 0 {
            return;
        }
        let Some((_, after)) = line.split_once("\"id\":") else { continue };
        let id: String = after.chars().take_while(char::is_ascii_digit).collect();
        let result = if line.contains("\"initialize\"") {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"0"}}"#
        } else {
            r#"{"content":[{"type":"text","text":"Echo: hello"}]}"#
        };
        writeln!(output, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).unwrap();
    }
}
