//! What goes wrong when something happens to a server in the middle of its work is found on small servers and proven; their
//! correct twins are silent.

mod common;

use std::collections::BTreeSet;

use common::torture::{Row, Small, assert_found, assert_silent, confined, run, side_by_side};
use wallfacer_core::session::{Load, TortureMode};

/// Flaws of one kind of server. Some have a correct twin of their own, and the others the same server without any flaw.
type Rows = &'static [(Row, Twin)];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Twin {
    /// The flawed server with `--fixed`.
    Own,
    /// The server of this name.
    Plain(&'static str),
}

use Twin::{Own, Plain};

const ENDS: Rows = &[
    (("stays", "resource_growth", "still running 5 s after its input was closed"), Plain("board")),
    (("ignores-signals", "resource_growth", "still running 5 s after SIGTERM"), Plain("board")),
    (("leaves-helpers", "resource_growth", "1 process is still running"), Own),
    (("stays-below", "resource_growth", "the program that started it was killed"), Own),
];
const MESSAGES: Rows = &[
    (("reads-in-pieces", "protocol_error", "in two pieces"), Plain("board")),
    (("dies-of-a-line", "crash", "exited with code 1"), Plain("board")),
    (("drops-unread", "hang", "never answered when the client reads nothing"), Plain("glances")),
];
const CANCELLED: Rows = &[
    (("goes-on-working", "resource_growth", "goes on working"), Own),
    (("keeps-helpers", "resource_growth", "a process that it started is still there"), Own),
    (("answers-late", "conformance", "answered all the same"), Own),
];
const GROWS: Rows = &[
    (("keeps-threads", "resource_growth", "threads grow"), Plain("peek")),
    (("keeps-scraps", "resource_growth", "temporary files grow"), Plain("peek")),
    (("keeps-memory", "resource_growth", "memory grows"), Plain("peek")),
    (("keeps-files", "resource_growth", "open files grow"), Plain("peek")),
    (("keeps-children", "resource_growth", "processes grow"), Plain("peek")),
];
const SECOND: Rows = &[
    (("takes-a-port", "race", "a second instance does not start"), Own),
    (("locks", "race", "a second instance does not start"), Own),
    (("locks-its-database", "race", "a second instance does not start"), Own),
];
const WRITTEN: Rows =
    &[(("overwrites-others", "data_loss", "a second process of the server stored something too"), Own)];
const KILLED: Rows = &[
    (("saves-at-the-end", "data_loss", "gone after the server was killed and started again"), Plain("board")),
    (("rewrites-in-place", "data_loss", "in the middle of a call"), Own),
];
const DISK: Rows = &[
    (("fills-up", "data_loss", "its disk was full"), Plain("board")),
    (("hides-failures", "data_loss", "could not be written to"), Plain("board")),
    (("dies-of-a-lost-file", "crash", "exited with code 3"), Plain("board")),
    (("keeps-its-file-open", "data_loss", "a file of its own was gone"), Plain("board")),
];
const SERVICES: Rows = &[
    (("asks-for-ever", "hang", "times in"), Plain("words")),
    (("shows-traces", "internal_error", "a stack trace when a service"), Plain("words")),
    (("waits-for-ever", "hang", "waits for ever, or for more than"), Plain("words")),
    (("says-nothing", "internal_error", "an error without a word"), Plain("words")),
    (("dies-of-services", "crash", "exits when a service"), Plain("words")),
];
const LISTS: Rows = &[(("shuffles", "conformance", "in a different order"), Plain("glances"))];
const PROGRESS: Rows = &[
    (("progress-falls", "conformance", "does not rise: 3 is followed by 2"), Plain("march")),
    (("progress-goes-on", "conformance", "still told after the call was answered"), Plain("march")),
];

const ALL: [Rows; 11] =
    [ENDS, MESSAGES, CANCELLED, GROWS, SECOND, WRITTEN, KILLED, DISK, SERVICES, LISTS, PROGRESS];

const LOAD: Load =
    Load { mode: TortureMode::Lifecycle, concurrency: 8, clients: 2, thorough: true, shared: None };

fn each_is_found(rows: Rows) {
    side_by_side(rows, |(row, _)| {
        assert_found(&run(confined(Small::flawed("disturbed.py", row.0).target()), LOAD), *row);
    });
}

#[test]
fn correct_servers_are_silent() {
    let of_rows = |rows: &Rows| {
        rows.iter().map(|(row, twin)| match twin {
            Own => Small::flawed("disturbed.py", row.0).fixed(),
            Plain(name) => Small::flawed("disturbed.py", name),
        })
    };
    let twins: BTreeSet<Small> = ALL.iter().flat_map(of_rows).collect();
    let twins: Vec<Small> = twins.into_iter().collect();
    side_by_side(&twins, |twin| assert_silent(&run(confined(twin.target()), LOAD), twin.name));
}

#[test]
fn a_server_must_go_with_its_client_and_take_along_what_it_started() {
    each_is_found(ENDS);
}

#[test]
fn messages_in_pieces_broken_lines_and_slow_readers_are_borne() {
    each_is_found(MESSAGES);
}

#[test]
fn a_cancelled_call_must_stop() {
    each_is_found(CANCELLED);
}

#[test]
fn what_a_server_holds_must_not_grow_with_each_call() {
    each_is_found(GROWS);
}

#[test]
fn a_second_instance_must_start() {
    each_is_found(SECOND);
}

#[test]
fn what_a_second_process_stored_must_be_there() {
    each_is_found(WRITTEN);
}

#[test]
fn what_was_acknowledged_must_be_there_after_a_kill() {
    each_is_found(KILLED);
}

#[test]
fn what_was_acknowledged_must_be_there_after_the_disk_failed() {
    each_is_found(DISK);
}

#[test]
fn services_may_fail_in_any_way() {
    each_is_found(SERVICES);
}

#[test]
fn lists_must_stay_the_same_from_start_to_start() {
    each_is_found(LISTS);
}

#[test]
fn progress_must_rise_and_end_with_the_answer() {
    each_is_found(PROGRESS);
}
