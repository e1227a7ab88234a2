//! What goes wrong when something happens to a server in the middle of its work is found on small servers and proven; their
//! correct twins are silent.

mod common;

use common::torture::{Row, Small, assert_found, assert_silent, confined, run};
use wallfacer_core::session::{Load, TortureMode};

const ENDS: [Row; 4] = [
    ("stays", "resource_growth", "still running 5 s after its input was closed"),
    ("ignores-signals", "resource_growth", "still running 5 s after SIGTERM"),
    ("leaves-helpers", "resource_growth", "1 process is still running"),
    ("stays-below", "resource_growth", "the program that started it was killed"),
];
const MESSAGES: [Row; 3] = [
    ("reads-in-pieces", "protocol_error", "in two pieces"),
    ("dies-of-a-line", "crash", "exited with code 1"),
    ("drops-unread", "hang", "never answered when the client reads nothing"),
];
const CANCELLED: [Row; 3] = [
    ("goes-on-working", "resource_growth", "goes on working"),
    ("keeps-helpers", "resource_growth", "a process that it started is still there"),
    ("answers-late", "conformance", "answered all the same"),
];
const GROWS: [Row; 2] = [
    ("keeps-threads", "resource_growth", "threads grow"),
    ("keeps-scraps", "resource_growth", "temporary files grow"),
];
const SECOND: [Row; 2] = [
    ("takes-a-port", "race", "a second instance does not start"),
    ("locks", "race", "a second instance does not start"),
];
const KILLED: [Row; 2] = [
    ("saves-at-the-end", "data_loss", "gone after the server was killed and started again"),
    ("rewrites-in-place", "data_loss", "in the middle of a call"),
];
const DISK: [Row; 3] = [
    ("fills-up", "data_loss", "its disk was full"),
    ("hides-failures", "data_loss", "could not be written to"),
    ("keeps-its-file-open", "data_loss", "a file of its own was gone"),
];
const SERVICES: [Row; 3] = [
    ("asks-for-ever", "hang", "times in"),
    ("shows-traces", "internal_error", "a stack trace when a service"),
    ("dies-of-services", "crash", "ends when a service"),
];
const LISTS: [Row; 1] = [("shuffles", "conformance", "in a different order")];
const PROGRESS: [Row; 2] = [
    ("progress-falls", "conformance", "does not rise: 3 is followed by 2"),
    ("progress-goes-on", "conformance", "still told after the call was answered"),
];

const LOAD: Load =
    Load { mode: TortureMode::Lifecycle, concurrency: 8, clients: 2, thorough: true, shared: None };

fn each_is_found_and_its_twin_is_silent(rows: &[Row]) {
    for row in rows {
        let server = Small::flawed("disturbed.py", row.0);
        assert_found(&run(confined(server.target()), LOAD), *row);
        assert_silent(&run(confined(server.fixed().target()), LOAD), row.0);
    }
}

#[test]
fn a_server_must_go_with_its_client_and_take_along_what_it_started() {
    each_is_found_and_its_twin_is_silent(&ENDS);
}

#[test]
fn messages_in_pieces_broken_lines_and_slow_readers_are_borne() {
    each_is_found_and_its_twin_is_silent(&MESSAGES);
}

#[test]
fn a_cancelled_call_must_stop() {
    each_is_found_and_its_twin_is_silent(&CANCELLED);
}

#[test]
fn threads_and_temporary_files_must_not_grow_with_each_call() {
    each_is_found_and_its_twin_is_silent(&GROWS);
}

#[test]
fn a_second_instance_must_start() {
    each_is_found_and_its_twin_is_silent(&SECOND);
}

#[test]
fn what_was_acknowledged_must_be_there_after_a_kill() {
    each_is_found_and_its_twin_is_silent(&KILLED);
}

#[test]
fn what_was_acknowledged_must_be_there_after_the_disk_failed() {
    each_is_found_and_its_twin_is_silent(&DISK);
}

#[test]
fn services_may_fail_in_any_way() {
    each_is_found_and_its_twin_is_silent(&SERVICES);
}

#[test]
fn lists_must_stay_the_same_from_start_to_start() {
    each_is_found_and_its_twin_is_silent(&LISTS);
}

#[test]
fn progress_must_rise_and_end_with_the_answer() {
    each_is_found_and_its_twin_is_silent(&PROGRESS);
}
