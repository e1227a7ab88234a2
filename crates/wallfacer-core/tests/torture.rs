//! What goes wrong with calls in flight together is found on small servers, proven, and made small; their correct twins, and
//! habits that only look like flaws, are silent.

mod common;

use std::time::Duration;

use common::torture::{
    Row, Small, assert_found, assert_silent, confined, run as run_on, run_with, side_by_side, told,
};
use wallfacer_core::findings::Finding;
use wallfacer_core::session::{FuzzOptions, Load, TortureMode};
use wallfacer_core::stop::Reason;
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::Reach;

/// A server that answers has this long, however busy the machine is; each silence is waited for several times.
const PATIENCE: Duration = Duration::from_secs(5);
const SHORT_PATIENCE: Duration = Duration::from_millis(1_500);
/// The time of a whole run, and what it may take beyond that to end its servers, also on a busy machine.
const BUDGET: Duration = Duration::from_secs(4);
const BEYOND: Duration = Duration::from_secs(6);

const FLAWS: [Row; 16] = [
    ("loses-writes", "race", "is lost"),
    ("spoils-store", "race", "cannot be read any more"),
    ("doubles-writes", "race", "shows more than once"),
    ("tears-writes", "race", "shows only in part"),
    ("keeps-refused-writes", "race", "one that was refused"),
    ("goes-back", "race", "is missing from a later one"),
    ("answers-otherwise", "race", "answered differently than when made alone"),
    ("answers-twice", "protocol_error", "a second reply"),
    ("swaps-answers", "race", "given the answer to another concurrent call"),
    ("drops-answers", "race", "never answered"),
    ("locks-up", "race", "never answered"),
    ("loses-counts", "race", "the counter has counted"),
    ("loses-increments", "race", "the counter has counted"),
    ("dies-in-company", "crash", "exited with code 3"),
    ("fails-in-company", "race", "fails with"),
    ("shows-notes", "state_leak", "shown to another"),
];
const HABITS: [&str; 7] = [
    "limits-calls",
    "tells-the-time",
    "answers-one-by-one",
    "shows-the-latest",
    "keeps-one",
    "keeps-all",
    "shared-board",
];

/// Between two processes that have the same disk.
const FLAWS_OF_PROCESSES: [Row; 2] = [
    ("loses-writes-of-processes", "race", "by two processes of the server"),
    ("shares-notes-of-processes", "state_leak", "shown to another client"),
];

/// The same over HTTP, with several clients.
const FLAWS_OF_CLIENTS: [Row; 4] = [
    ("leaks-sessions", "state_leak", "shown to another client"),
    ("leaks-values", "state_leak", "shown to another client"),
    ("turns-second-away", "race", "turned away"),
    ("collides-ids", "race", "answer to another client's call"),
];

const LOAD: Load = Load { mode: TortureMode::All, concurrency: 16, clients: 4, thorough: true, shared: None };

fn run(name: &'static str, fixed: bool, patience: Duration) -> Fuzzed {
    let server = Small { fixed, ..Small::flawed("server.py", name) };
    let mut target = server.target();
    target.timeouts.call = patience;
    run_on(target, LOAD)
}

fn run_over_http(name: &'static str, fixed: bool) -> Fuzzed {
    let server = Small { fixed, ..Small::flawed("server.py", name) };
    run_on(server.over_http().target(), LOAD)
}

#[test]
fn every_flaw_is_found_and_told_by_its_own_name() {
    side_by_side(&FLAWS, |row| {
        let silent = matches!(row.0, "drops-answers" | "locks-up");
        let run = run(row.0, false, if silent { SHORT_PATIENCE } else { PATIENCE });
        assert_found(&run, *row);
        if row.0 == "loses-writes" {
            a_lost_write_is_shown_by_three_calls(&run);
        }
    });
}

fn a_lost_write_is_shown_by_three_calls(run: &Fuzzed) {
    let lost = run.findings.iter().find(|finding| finding.message.contains("is lost")).unwrap();
    let case = lost.repro.case().unwrap();
    let widest = case.schedule().unwrap().rounds.iter().map(Vec::len).max();
    assert_eq!(widest, Some(2));
    let calls = lost.evidence.iter().find(|evidence| evidence.label == "calls").unwrap();
    assert_eq!(calls.text.lines().filter(|line| !line.starts_with("  ")).count(), 3, "{}", calls.text);
}

#[test]
fn correct_twins_are_silent() {
    side_by_side(&FLAWS, |(name, ..)| assert_silent(&run(name, true, PATIENCE), name));
}

#[test]
fn what_only_looks_like_a_flaw_is_none() {
    side_by_side(&HABITS, |name| {
        let run = run(name, false, PATIENCE);
        assert_silent(&run, name);
        if *name == "answers-one-by-one" {
            tools_that_take_arguments_are_given_valid_ones(&run);
        }
    });
}

#[test]
fn what_processes_do_to_each_other_is_found_and_correct_twins_are_silent() {
    side_by_side(&FLAWS_OF_PROCESSES, |row| {
        let server = Small::flawed("server.py", row.0);
        assert_found(&run_on(confined(server.target()), LOAD), *row);
        assert_silent(&run_on(confined(server.fixed().target()), LOAD), row.0);
    });
}

#[test]
fn a_slow_call_that_keeps_others_waiting_is_a_note() {
    let noted = |run: &Fuzzed| run.notes.iter().any(|note| note.text.contains("keeps others waiting"));
    let flawed = run("stalls-others", false, PATIENCE);
    assert_silent(&flawed, "stalls-others");
    assert!(noted(&flawed), "{:?}", flawed.notes);
    let twin = run("stalls-others", true, PATIENCE);
    assert_silent(&twin, "stalls-others --fixed");
    assert!(!noted(&twin), "{:?}", twin.notes);
}

#[test]
fn what_clients_do_to_each_other_is_found_and_correct_twins_are_silent() {
    side_by_side(&FLAWS_OF_CLIENTS, |(name, kind, message)| {
        let run = run_over_http(name, false);
        let told_so = |finding: &Finding| finding.kind.name() == *kind && finding.message.contains(message);
        assert!(run.findings.iter().any(told_so), "{name}: {:?} {:?}", told(&run.findings), run.notes);
        assert_silent(&run_over_http(name, true), name);
    });
}

#[test]
fn a_store_for_all_sessions_is_a_note() {
    let run = run_over_http("one-jotter", false);
    assert!(run.findings.is_empty(), "{:?}", told(&run.findings));
    assert!(run.notes.iter().any(|note| note.text.contains("shows in another session")), "{:?}", run.notes);
}

fn tools_that_take_arguments_are_given_valid_ones(run: &Fuzzed) {
    let calls = &run.tools["look_up"];
    assert_eq!((calls.calls.rejected, calls.calls.tool_errors), (0, 0), "{calls:?}");
    assert!(calls.valid_completed > LOAD.concurrency as u64, "{calls:?}");
}

#[test]
fn a_run_ends_with_its_budget_whatever_hangs() {
    let options = FuzzOptions { budget: Some(BUDGET), ..FuzzOptions::default() };
    let mut target = Small::flawed("server.py", "locks-up").target();
    target.timeouts.call = Duration::from_secs(60);
    // As the command does, which tells the run that its time is up.
    let stop = options.stop.clone();
    let clock = std::thread::spawn(move || {
        std::thread::park_timeout(BUDGET);
        stop.tell(Reason::Overdue);
    });
    let run = run_with(target, LOAD, &options);
    clock.thread().unpark();
    clock.join().unwrap();
    assert!(run.out_of_time && run.took < BUDGET + BEYOND, "{:?}", run.took);
}

#[test]
fn what_cannot_be_undone_is_not_called_where_effects_are_real() {
    let directory = tempfile::tempdir().unwrap();
    let marker = directory.path().join("marker");
    let mut target = Small::flawed("server.py", "erases").target();
    let Reach::Command(command) = &mut target.reach else { unreachable!("it speaks over pipes") };
    command.environment.set.insert("MARKER".to_owned(), marker.to_str().unwrap().to_owned());
    let run = run_on(target, LOAD);
    assert!(run.tools["look_up"].valid_completed > 0, "{:?}", run.tools);
    assert!(!marker.exists(), "{:?}", std::fs::read_to_string(&marker));
    for tool in ["delete_everything", "tidy"] {
        assert!(run.not_tested.iter().any(|left| left.what == tool), "{tool}: {:?}", run.not_tested);
        assert!(!run.tools.contains_key(tool), "{:?}", run.tools);
    }
}
