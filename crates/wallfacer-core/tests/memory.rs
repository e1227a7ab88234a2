//! A server cannot fill us: what it sends beyond the bounds is counted, not kept. Alone in its own process,
//! because it measures that process, and one test at a time, because they measure the same one.
#![cfg(target_os = "linux")]

mod common;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use wallfacer_core::catalogue::discover;
use wallfacer_core::observe::{Answer, see};
use wallfacer_core::run::{Call, execute};
use wallfacer_core::target::Target;
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::Transport::{self, Http, Stdio};

const PATIENCE: Duration = Duration::from_secs(60);
const MIB: u64 = 1 << 20;
static ALONE: Mutex<()> = Mutex::new(());
/// The longest line is 64 MiB. Its buffer may double once, its event once more, and the log keeps 64 MiB besides.
const MOST: u64 = 4 * 64 * MIB + 64 * MIB;

#[test]
fn no_server_makes_us_grow_beyond_the_bounds() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for mode in ["notification-flood", "stderr-flood", "huge-reply", "oversized-reply", "endless-pagination"]
    {
        for transport in [Stdio, Http] {
            if runs(mode, transport) {
                common::wait_for(meet(mode, transport));
                let peak = memory("VmHWM:");
                assert!(peak < MOST, "{mode} over {transport:?}: {} MiB", peak / MIB);
            }
        }
    }
}

#[test]
fn meeting_the_same_flood_again_costs_no_more_memory() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    common::wait_for(meet("notification-flood", Stdio));
    let before = memory("VmRSS:");
    for _ in 0..3 {
        common::wait_for(meet("notification-flood", Stdio));
    }
    let after = memory("VmRSS:");
    assert!(after < before + 64 * MIB, "{} MiB, then {} MiB", before / MIB, after / MIB);
}

fn runs(mode: &str, transport: Transport) -> bool {
    let mode = wallfacer_fixtures::modes().iter().find(|known| known.name == mode);
    mode.expect("the table has this mode").runs_over(transport)
}

async fn meet(mode: &str, transport: Transport) {
    let mut target = Target::new(common::fixture(mode, transport));
    target.timeouts.startup = PATIENCE;
    let mut connector = Connector::new(target, common::environment());
    let (mut connection, server) = connector.open().await.unwrap_or_else(|error| panic!("{mode}: {error}"));
    let timeouts = connector.target().timeouts.clone();
    discover(&mut connection, &server, &timeouts).await;
    let seen = see(&execute(&mut connection, &Call::tool("echo", json!({ "text": "a" }), PATIENCE)).await);
    assert!(matches!(seen.answer, Answer::Completed | Answer::Malformed), "{mode}: {:?}", seen.answer);
    connection.close(PATIENCE).await;
}

/// A line of our own status, in bytes.
fn memory(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
