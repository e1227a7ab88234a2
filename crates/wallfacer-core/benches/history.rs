//! How long the judge of histories takes, and how that grows: `cargo bench -p wallfacer-core --bench history`.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::time::{Duration, Instant};

use wallfacer_core::judge::{Act, Done, Operation, Shown, anomalies};

/// A hundred thousand operations in less than this, on any machine.
const LIMIT: Duration = Duration::from_secs(10);
/// Writes between two reads of all that is there.
const BETWEEN_READS: usize = 1_000;
/// Operations that overlap.
const AT_ONCE: u64 = 16;

fn main() {
    for size in [12_500, 25_000, 50_000, 100_000] {
        for lost in [false, true] {
            let history = history(size, lost);
            let begun = Instant::now();
            let found = anomalies(&history).len();
            let took = begun.elapsed();
            println!("{size:>7} operations, {found:>2} anomalies: {took:?}");
            assert_eq!(found > 0, lost);
            assert!(took < LIMIT);
        }
    }
}

/// Writes of one value each, `AT_ONCE` at a time, with a read of everything now and then, from which some may be missing.
fn history(size: usize, lost: bool) -> Vec<Operation> {
    let mut history = Vec::with_capacity(size);
    let mut written = Vec::new();
    for place in 0..size {
        let asked = place as u64 * 10;
        let answered = Some(asked + AT_ONCE * 10);
        if place % BETWEEN_READS == BETWEEN_READS - 1 {
            let asked = asked + AT_ONCE * 20;
            let shown = |value: &usize| Shown { value: *value, times: 1, torn: false };
            let kept = written.iter().filter(|value| !lost || **value % 5_003 != 0);
            let act = Act::Read(kept.map(shown).collect());
            history.push(Operation { asked, answered: Some(asked + 1), act });
        } else {
            written.push(place);
            history.push(Operation { asked, answered, act: Act::Write { value: place, done: Done::Yes } });
        }
    }
    history
}
