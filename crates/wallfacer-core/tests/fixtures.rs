//! Every mode of the fixture server, over every transport that it knows: what was recorded equals what the table says.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Map, json};
use wallfacer_core::catalogue::{Catalogue, End, discover};
use wallfacer_core::observe::{Answer, see};
use wallfacer_core::run::{Call, execute};
use wallfacer_core::target::Target;
use wallfacer_core::wire::{ConnectError, Connection, Connector, Fault, Faults};
use wallfacer_fixtures as fixtures;
use wallfacer_fixtures::{Mode, Transport};
use wallfacer_process::Status;

/// Long enough for 50 MiB or 100,000 events in a debug build on a busy machine; no mode waits it out.
const CALL: Duration = Duration::from_secs(120);
/// Most modes wait rather than compute, so several go at once.
const WORKERS: usize = 8;
/// The time limit for modes that are silent by design.
const SILENCE: Duration = Duration::from_millis(700);

#[test]
fn every_mode_over_stdio_is_recorded_as_the_table_says() {
    walk(Transport::Stdio);
}

#[test]
fn every_mode_over_streamable_http_is_recorded_as_the_table_says() {
    walk(Transport::Http);
}

#[test]
fn every_mode_over_http_and_sse_is_recorded_as_the_table_says() {
    walk(Transport::LegacySse);
}

fn walk(transport: Transport) {
    let modes: Vec<_> = fixtures::modes().iter().filter(|mode| mode.runs_over(transport)).collect();
    assert!(!modes.is_empty(), "no mode runs over {transport:?}");
    let next = AtomicUsize::new(0);
    let worker = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut wrong = Vec::new();
        while let Some(mode) = modes.get(next.fetch_add(1, Ordering::Relaxed)) {
            let expected = Seen::expected(mode, transport);
            let actual = runtime.block_on(meet(mode, transport));
            if actual != expected {
                wrong.push(format!("{}:\n  expected {expected:?}\n  recorded {actual:?}", mode.name));
            }
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "over {transport:?}:\n{}", wrong.join("\n"));
}

/// What a client saw, in the words of the table.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    start: String,
    answer: Option<String>,
    faults: Vec<String>,
    ending: String,
    left_behind: bool,
    tools: (usize, usize, bool),
}

impl Seen {
    fn expected(mode: &Mode, transport: Transport) -> Seen {
        let expected = mode.expected_over(transport);
        let mut faults: Vec<_> = expected.faults.iter().map(|fault| format!("{fault:?}")).collect();
        faults.sort();
        let start = format!("{:?}", expected.start);
        if !matches!(expected.start, fixtures::Start::Connects { .. }) {
            return Seen::not_connected(start);
        }
        let catalogue = expected.catalogue;
        Seen {
            start,
            answer: expected.answer.map(|answer| format!("{answer:?}")),
            faults,
            ending: format!("{:?}", expected.ending),
            left_behind: expected.left_behind,
            tools: (catalogue.tools, catalogue.broken, catalogue.repeated_cursor),
        }
    }

    fn not_connected(start: String) -> Seen {
        let (answer, faults, ending) = (None, Vec::new(), String::new());
        Seen { start, answer, faults, ending, left_behind: false, tools: (0, 0, false) }
    }
}

async fn meet(mode: &Mode, transport: Transport) -> Seen {
    let target = target(mode, transport);
    let mut connector = Connector::new(target.clone(), common::environment());
    let (mut connection, server) = match connector.open().await {
        Ok(opened) => opened,
        Err(error) => return Seen::not_connected(how_it_failed(&error)),
    };
    let mut faults = connection.take_strays().faults();
    let catalogue = discover(&mut connection, &server, &target.timeouts).await;
    faults.add_all(&connection.take_strays().faults());
    let call = Call::tool("echo", json!({ "text": "hello" }), target.timeouts.call);
    let observation = see(&execute(&mut connection, &call).await);
    faults.add_all(&observation.faults);
    let over_stdio = transport == Transport::Stdio;
    let ending = ending(&mut connection, &observation.answer, over_stdio, &mut faults).await;
    let farewell = connection.close(Duration::from_secs(5)).await;
    let left_behind =
        farewell.process.and_then(|ended| ended.left_behind).is_some_and(|left| !left.is_empty());
    Seen {
        start: format!("Connects {{ era: {:?} }}", server.era()),
        answer: Some(name(&observation.answer)),
        faults: names(&faults),
        ending,
        left_behind,
        tools: tools(&catalogue),
    }
}

fn target(mode: &Mode, transport: Transport) -> Target {
    let mut target = Target::new(common::fixture(mode.name, transport));
    let silent = matches!(mode.expected.answer, Some(fixtures::Answer::Silent | fixtures::Answer::Malformed))
        && !mode.expected.faults.contains(&fixtures::Fault::Oversized);
    target.timeouts.call = if silent { SILENCE } else { CALL };
    target.timeouts.probe = Duration::from_secs(2);
    target.timeouts.startup = match mode.expected.start {
        fixtures::Start::Silent | fixtures::Start::Malformed => Duration::from_secs(3),
        _ => CALL,
    };
    target
}

fn how_it_failed(error: &ConnectError) -> String {
    match error {
        ConnectError::Exited { ending, .. } => match ending.map(|ending| ending.status) {
            Some(Status::Exited(code)) => format!("Exits {{ code: {code} }}"),
            Some(Status::Signalled { .. }) => "DiesBySignal".to_owned(),
            other => format!("{other:?}"),
        },
        ConnectError::Silent { .. } => "Silent".to_owned(),
        ConnectError::HttpStatus { status, .. } => format!("HttpStatus({status})"),
        ConnectError::Malformed { .. } | ConnectError::UnknownVersion { .. } => "Malformed".to_owned(),
        other => other.to_string(),
    }
}

fn name(answer: &Answer) -> String {
    let text = format!("{answer:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_owned()
}

fn names(faults: &Faults) -> Vec<String> {
    // A late answer is the mark of a slow machine, not of a mode.
    let told = faults.iter().filter(|fault| *fault != Fault::LateReply);
    let mut names: Vec<_> = told.map(|fault| format!("{fault:?}")).collect();
    names.sort();
    names
}

fn tools(catalogue: &Catalogue) -> (usize, usize, bool) {
    let tools = &catalogue.tools;
    let repeated = matches!(tools.end, End::RepeatedCursor { .. });
    (tools.entries.len() + tools.broken.len(), tools.broken.len(), repeated)
}

/// What has become of the server by now. Modes that end do so right after their answer.
async fn ending(
    connection: &mut Connection,
    answer: &Answer,
    over_stdio: bool,
    faults: &mut Faults,
) -> String {
    let alive =
        |connection: &Connection| connection.process().is_some_and(|process| process.ending().is_none());
    if matches!(answer, Answer::Gone { ending: None }) && alive(connection) {
        return if over_stdio { "StdoutClosed" } else { "StillRunning" }.to_owned();
    }
    // One more question: a server that ends after its answer is gone by then.
    let again = Call { method: "ping".to_owned(), params: Map::new(), timeout: SILENCE };
    let after = see(&execute(connection, &again).await);
    let ending = connection.process().and_then(|process| process.ending());
    match ending.map(|ending| ending.status) {
        Some(Status::Exited(code)) => format!("Exited({code})"),
        Some(Status::Signalled { signal, .. }) => format!("Signalled({signal})"),
        Some(Status::Unknown) => "Unknown".to_owned(),
        None => {
            // A duplicate may come behind the answer; a refused ping is no fault of the mode.
            let behind = after.faults.iter().filter(|fault| !matches!(fault, Fault::HttpStatus(_)));
            behind.for_each(|fault| faults.add(fault));
            "StillRunning".to_owned()
        }
    }
}
