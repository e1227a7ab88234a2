//! What goes wrong over HTTP with sessions, and with clients that are slow or many, is found on small servers; their
//! correct twins are silent.

mod common;

use common::torture::{Row, Small, assert_found, assert_silent, confined, run, side_by_side};
use wallfacer_core::session::{Load, TortureMode};
use wallfacer_core::summary::Fuzzed;

const OVER: [Row; 2] = [
    ("fails-on-old-sessions", "conformance", "after a restart, a request under a session of before"),
    ("keeps-ended-sessions", "conformance", "after a client has ended its session with DELETE"),
];
const GUESSED: [Row; 2] = [
    ("counts-sessions", "conformance", "are counted up"),
    ("short-ids", "conformance", "differ in so little"),
];
const CLIENTS: [Row; 2] =
    [("waits-for-slow-bodies", "hang", "others wait"), ("takes-few-sessions", "race", "turned away")];
const CONNECTIONS: [Row; 2] = [
    ("leaves-bodies", "protocol_error", "the next one on the same connection"),
    ("dies-of-hang-ups", "crash", "exited with code 3"),
];
const PROCESSES: [Row; 1] =
    [("draws-the-same", "state_leak", "by a second process for the session of another client")];
const NAMELESS: [Row; 1] = [("serves-without-session", "state_leak", "a request that names no session")];
/// Without a flaw: with one board for all, and with notes for each session.
const CORRECT: [&str; 2] = ["one-board", "own-notes"];
const PAGES: [Row; 1] = [("takes-any-page", "conformance", "a web page of another origin")];

const LOAD: Load =
    Load { mode: TortureMode::Lifecycle, concurrency: 8, clients: 2, thorough: true, shared: None };

fn run_on(server: Small) -> Fuzzed {
    run(confined(server.over_http().target()), LOAD)
}

fn each_is_found(rows: &[Row]) {
    side_by_side(rows, |row| assert_found(&run_on(Small::flawed("sessions.py", row.0)), *row));
}

/// All flaws are such of one of these.
#[test]
fn correct_servers_are_silent() {
    side_by_side(&CORRECT, |name| assert_silent(&run_on(Small::flawed("sessions.py", name)), name));
}

#[test]
fn a_refused_request_or_a_lost_one_does_no_harm_to_others() {
    each_is_found(&CONNECTIONS);
}

#[test]
fn processes_do_not_take_each_others_sessions_for_their_own() {
    each_is_found(&PROCESSES);
}

#[test]
fn who_names_no_session_is_shown_nothing_of_others() {
    each_is_found(&NAMELESS);
}

#[test]
fn a_session_that_is_over_is_not_found() {
    each_is_found(&OVER);
}

#[test]
fn ids_of_sessions_cannot_be_guessed() {
    each_is_found(&GUESSED);
}

#[test]
fn clients_that_are_slow_or_many_do_no_harm() {
    each_is_found(&CLIENTS);
}

#[test]
fn foreign_pages_are_refused() {
    each_is_found(&PAGES);
}

#[test]
fn an_answer_that_is_lost_with_its_connection_is_a_note() {
    let noted = |run: &Fuzzed| run.notes.iter().any(|note| note.text.contains("resume a lost connection"));
    let server = Small::flawed("sessions.py", "forgets-answers");
    let flawed = run_on(server);
    assert_silent(&flawed, "forgets-answers");
    assert!(noted(&flawed), "{:?}", flawed.notes);
    let twin = run_on(server.fixed());
    assert_silent(&twin, "forgets-answers --fixed");
    assert!(!noted(&twin), "{:?}", twin.notes);
}
