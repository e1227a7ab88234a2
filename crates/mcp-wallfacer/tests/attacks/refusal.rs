//! Servers that do not start when they see the sandbox, so as to be run without it.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::lanes::{assert_in_time, each, in_time};
use crate::ways::{Way, lower_rungs, ways, without_overlays};
use crate::world::{Outcome, World};

/// Commands that start a server, with what makes them short.
const COMMANDS: [&[&str]; 4] = [
    &["check", "--budget", "5s"],
    &["behave", "--budget", "5s"],
    &["doctor"],
    &["fuzz", "--iterations", "1", "--budget", "5s"],
];
const LIMIT: Duration = Duration::from_secs(2);
/// What finding out why takes beyond the limit, and a busy machine.
const BEYOND: Duration = Duration::from_secs(5);

/// Every command, as every user.
fn in_every_way() -> Vec<(Way, &'static [&'static str])> {
    ways().into_iter().flat_map(|way| COMMANDS.map(|args| (way, args))).collect()
}

/// What looks like a secret reaches a confined server as a look-alike.
const VARIABLE: &str = "SERVICE_API_TOKEN";
const REAL: &str = "tok_4eC39HqLyjWDarjtT1zdp7dc";

/// A server that does `refusal` where `sees` holds, and elsewhere leaves a mark and works.
struct Refuser<'a> {
    sees: &'a str,
    refusal: &'a str,
}

impl Refuser<'_> {
    /// Runs a command on it, and says whether it ever ran outside.
    fn meet(&self, way: &Way, args: &[&str]) -> (Outcome, bool) {
        let world = World::new();
        fs::write(world.root().join("home/.token-of-mine"), "").unwrap();
        let (mark, fixture) = (world.here().join("outside"), way.fixture(&world));
        let Refuser { sees, refusal } = self;
        let script =
            format!("if {sees}; then {refusal}; fi; touch {}; exec {fixture} correct", mark.display());
        let limit = format!("{}s", LIMIT.as_secs());
        let server = ["--startup-timeout", &limit, "--", "sh", "-c", &script];
        let mut command = way.command(&world, &[args, &server].concat());
        command.env(VARIABLE, REAL);
        let outcome = world.finish(command);
        (outcome, mark.exists())
    }

    /// None of the commands runs it outside, as nobody.
    fn never_leaves(&self) {
        each(in_every_way(), |(way, args)| {
            let (outcome, ran_outside) = self.meet(&way, args);
            assert!(!ran_outside, "{way:?}: {outcome}");
            outcome.assert_fails(3);
            assert!(outcome.stderr.contains("--sandbox off"), "{way:?}: {outcome}");
            assert!(!outcome.stderr.contains("[y/N]"), "nobody is asked without a terminal: {outcome}");
        });
    }
}

/// Was open: after two refusals it was run without the sandbox, with the real home, and passed.
#[test]
fn a_server_that_exits_when_process_1_is_another_never_runs_outside() {
    let outside = fs::read("/proc/1/cmdline").unwrap();
    let outside: String = String::from_utf8_lossy(&outside).replace(['\0', '\''], "");
    let sees = format!("test \"$(tr -d \"\\0'\" </proc/1/cmdline)\" != '{outside}'");
    Refuser { sees: &sees, refusal: "exit 1" }.never_leaves();
}

/// Was open, as above.
#[test]
fn a_server_that_exits_when_its_namespace_is_another_never_runs_outside() {
    let outside: PathBuf = fs::read_link("/proc/self/ns/pid").unwrap();
    let sees = format!("test \"$(readlink /proc/self/ns/pid)\" != '{}'", outside.display());
    Refuser { sees: &sees, refusal: "echo 'no configuration' >&2; exit 1" }.never_leaves();
}

/// Was open, as above.
#[test]
fn a_server_that_exits_when_a_file_of_the_home_is_missing_never_runs_outside() {
    let refuser = Refuser { sees: "test ! -e ~/.token-of-mine", refusal: "exit 0" };
    refuser.never_leaves();
    let (outcome, _) = refuser.meet(&ways()[0], &["doctor"]);
    assert!(outcome.stderr.contains("--keep"), "what would help is told: {outcome}");
}

/// New with look-alikes: before them the variable was the real one, and told nothing.
#[test]
fn a_server_that_exits_when_a_variable_is_not_the_real_one_never_runs_outside() {
    let sees = format!("test \"${VARIABLE}\" != {REAL}");
    Refuser { sees: &sees, refusal: "exit 1" }.never_leaves();
}

/// Was open, as above.
#[test]
fn a_server_that_dies_when_it_sees_a_canary_never_runs_outside() {
    Refuser { sees: "test -e ~/.netrc", refusal: "kill -9 $$" }.never_leaves();
}

/// Was open, as above; and each of the three starts took the whole limit.
#[test]
fn a_server_that_sleeps_in_the_sandbox_never_runs_outside_and_costs_its_limit_once() {
    let sleeper = Refuser { sees: "test -e ~/.netrc", refusal: "exec sleep 600" };
    sleeper.never_leaves();
    in_time(|| {
        let begun = Instant::now();
        let (outcome, _) = sleeper.meet(&ways()[0], &["doctor"]);
        assert_in_time(begun.elapsed(), LIMIT + BEYOND, outcome);
    });
}

/// Held: what answers, be it with nonsense, was not taken for a server that the sandbox keeps from starting.
#[test]
fn a_server_that_answers_nonsense_in_the_sandbox_never_runs_outside() {
    let babbler =
        Refuser { sees: "test -e ~/.netrc", refusal: "while read -r line; do echo pong; done; exit 1" };
    each(in_every_way(), |(way, args)| {
        let (outcome, ran_outside) = babbler.meet(&way, args);
        assert!(!ran_outside, "{way:?}: {outcome}");
        outcome.assert_fails(3);
    });
}

/// Was open: behind Landlock too, and with nothing but another home, a refusal to start lifted what there was.
#[test]
fn a_server_that_refuses_on_a_lower_rung_is_not_run_on_a_lower_one_yet() {
    let read_only = without_overlays().into_iter().map(|way| ("overlay", way));
    each(lower_rungs().into_iter().chain(read_only), |(lacks, way)| {
        let (outcome, ran_outside) =
            Refuser { sees: "test -e ~/.netrc", refusal: "exit 1" }.meet(&way, &["doctor"]);
        assert!(!ran_outside, "without {lacks}, {way:?}: {outcome}");
        outcome.assert_fails(3);
    });
}
