//! What goes wrong over HTTP with sessions, and with clients that are slow or many, is found on small servers; their
//! correct twins are silent.

mod common;

use common::torture::{Row, Small, assert_found, assert_silent, confined, run};
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
const PAGES: [Row; 1] = [("takes-any-page", "conformance", "a web page of another origin")];

const LOAD: Load =
    Load { mode: TortureMode::Lifecycle, concurrency: 8, clients: 2, thorough: true, shared: None };

fn run_on(server: Small) -> Fuzzed {
    run(confined(server.over_http().target()), LOAD)
}

fn each_is_found_and_its_twin_is_silent(rows: &[Row]) {
    for row in rows {
        let server = Small::flawed("sessions.py", row.0);
        assert_found(&run_on(server), *row);
        assert_silent(&run_on(server.fixed()), row.0);
    }
}

#[test]
fn a_session_that_is_over_is_not_found() {
    each_is_found_and_its_twin_is_silent(&OVER);
}

#[test]
fn ids_of_sessions_cannot_be_guessed() {
    each_is_found_and_its_twin_is_silent(&GUESSED);
}

#[test]
fn clients_that_are_slow_or_many_do_no_harm() {
    each_is_found_and_its_twin_is_silent(&CLIENTS);
}

#[test]
fn foreign_pages_are_refused() {
    each_is_found_and_its_twin_is_silent(&PAGES);
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
