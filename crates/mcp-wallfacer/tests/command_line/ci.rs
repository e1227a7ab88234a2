//! `ci`: fails on what is broken, passes what is right, and never what was not tested; the baseline.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wallfacer_fixtures::flaws;

use crate::world::{Outcome, World, fixture};

/// One flaw of each class that weighs enough to fail a run; the whole table is walked in the engine's own tests.
const FLAWS: [&str; 6] = [
    "crash-on-command",
    "hang-on-one-value",
    "noise-on-one-value",
    "internal-error-on-one-value",
    "output-of-wrong-type",
    "dies-on-unknown-method",
];

fn ci(world: &World, args: &[&str]) -> Outcome {
    let flags = ["ci", "--timeout", "1s", "--iterations", "60"];
    world.run(&[&flags[..], args].concat())
}

fn flaw(world: &World, name: &str, flags: &[&str], more: &[&str]) -> Outcome {
    ci(world, &[flags, &["--", &fixture(), "flaw", name], more].concat())
}

#[test]
fn a_flawed_server_fails_and_its_correct_twin_passes() {
    std::thread::scope(|scope| {
        for name in FLAWS {
            scope.spawn(move || {
                let broken = flaw(&World::new(), name, &[], &[]);
                assert_eq!(broken.code, Some(1), "{broken}");
                let right = flaw(&World::new(), name, &[], &["--fixed"]);
                assert_eq!(right.code, Some(0), "{right}");
            });
        }
    });
}

/// Flaws that take more calls than `ci` makes, or what only `fuzz` can be asked for.
const BEYOND_CI: [&str; 1] = ["opens-by-degrees"];
/// Runs at a time: most of the time is spent waiting for servers that are silent.
const AT_ONCE: usize = 8;

/// The engine's own tests walk the table in full; here every second row is played once by `ci`, flawed or correct: by its name,
/// so that it is always the same.
#[test]
fn flaws_of_the_table_fail_and_correct_twins_pass() {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let rows: Vec<_> = flaws().iter().filter(|flaw| sum(flaw.name) % 4 < 2).collect();
    // As many cases as show whether something grows.
    let effort = ["--timeout", "1s", "--iterations", "120", "--severity-threshold", "low"];
    let server = ["--env", "WALLFACER_FIXTURE_TOKEN=tok-4f9a8b7c6d5e4f3a", "--", &fixture(), "flaw"];
    let tried = |name: &str, more: &[&str]| {
        World::new().run(&[&["ci"][..], &effort, &server, &[name], more].concat())
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(flaw) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let shows = !flaw.expected.is_empty() && !BEYOND_CI.contains(&flaw.name);
                    let (more, wanted) = match shows && sum(flaw.name) % 2 == 1 {
                        true => (&["--fixed"][..], 0),
                        false => (&[][..], i32::from(shows)),
                    };
                    let outcome = tried(flaw.name, more);
                    if outcome.code != Some(wanted) {
                        wrong.lock().unwrap().push(format!("{} {more:?}: {outcome}", flaw.name));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sum(name: &str) -> u32 {
    name.bytes().map(u32::from).sum()
}

#[test]
fn a_server_that_does_not_start_is_not_tested() {
    ci(&World::new(), &["--", "sh", "-c", "exit 7"]).assert_fails(3);
}

#[test]
fn what_is_accepted_passes_until_it_is_mended_and_then_is_stale() {
    let (world, name) = (World::new(), "output-of-wrong-type");
    let accepting = flaw(&world, name, &["--accept", "known"], &[]);
    assert_eq!(accepting.code, Some(0), "{accepting}");
    assert!(world.read("wallfacer-baseline.toml").contains("reason = \"known\""));
    let known = flaw(&world, name, &[], &[]);
    assert_eq!(known.code, Some(0), "{known}");
    assert!(known.stdout.contains("Accepted in the baseline"), "{known}");
    let mended = flaw(&world, name, &[], &["--fixed"]);
    assert_eq!(mended.code, Some(1), "{mended}");
    assert!(mended.stdout.starts_with("STALE"), "{mended}");
}

#[test]
fn a_baseline_that_is_asked_for_must_be_there() {
    let outcome = ci(&World::new(), &["--baseline", "nowhere.toml", "--demo"]);
    outcome.assert_fails(2);
    assert!(outcome.stderr.contains("cannot read the baseline `nowhere.toml`"), "{outcome}");
}

#[test]
fn sarif_points_to_the_file_that_names_the_server() {
    let config = format!(
        "[target]\nkind = \"stdio\"\ncommand = \"{}\"\nargs = [\"flaw\", \"crash-on-command\"]\n",
        fixture()
    );
    let outcome = ci(&World::new().with("wallfacer.toml", &config), &["--format", "sarif"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let result = outcome.json()["runs"][0]["results"][0].clone();
    assert_eq!(result["ruleId"], "crash");
    let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(*place, "wallfacer.toml");
}
