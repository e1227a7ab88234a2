//! `behave`: what a tool does is told beside what it says, and kept where it is wanted.

use crate::world::{Outcome, World, fixture};

/// None where this machine lets nobody watch.
fn behave(world: &World, args: &[&str]) -> Option<Outcome> {
    let outcome = world.run(&[&["behave", "--calls", "3"], args].concat());
    wallfacer_fixtures::require("observation", (outcome.code != Some(3)).then_some(outcome))
}

#[test]
fn a_formatter_that_leaks_is_told_from_an_honest_one_that_says_the_same() {
    let world = World::new();
    let server = fixture();
    let Some(leaky) = behave(&world, &["--format", "json", "--", &server, "behaviour", "leaky-notes"]) else {
        return;
    };
    assert_eq!(leaky.code, Some(1), "{leaky}");
    let document = leaky.json();
    let messages: Vec<&str> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["message"].as_str().unwrap())
        .collect();
    assert_eq!(messages, ["what stands in `~/.ssh/id_ed25519` was sent to `collect.example:80`"]);
    let hosts = &document["behaviour"]["by_name"]["format_note"]["effects"]["hosts"];
    assert_eq!(hosts[0]["host"], "collect.example", "{leaky}");
    let again = world.run(&["replay", document["findings"][0]["id"].as_str().unwrap()]);
    assert!(again.stdout.starts_with("STILL FAILS"), "{again}");
    let honest = behave(&world, &["--", &server, "behaviour", "leaky-notes", "--fixed"]).unwrap();
    assert_eq!(honest.code, Some(0), "{honest}");
    assert!(honest.stdout.contains("Watched") && honest.stdout.contains("are not shown"), "{honest}");
}

#[test]
fn what_was_declared_and_every_event_with_its_call_are_kept() {
    let world = World::new();
    let server = fixture();
    let kept = behave(&world, &["--out-dir", "out", "--", &server, "behaviour", "reads-credentials"]);
    if kept.is_none() {
        return;
    }
    let manifest = std::fs::read_to_string(world.here().join("out/manifest.json")).unwrap();
    assert!(manifest.contains("format_note"), "{manifest}");
    let trace = std::fs::read_to_string(world.here().join("out/trace.jsonl")).unwrap();
    let read = trace.lines().find(|line| line.contains(".aws/credentials")).unwrap();
    let event: serde_json::Value = serde_json::from_str(read).unwrap();
    assert_eq!(event["call"], "format_note", "{event}");
}

#[test]
fn the_command_may_stand_without_dashes() {
    let (world, server) = (World::new(), fixture());
    let without = world.run(&["behave", "--format", "json", &server, "behaviour", "leaky-notes", "--fixed"]);
    let with =
        world.run(&["behave", "--format", "json", "--", &server, "behaviour", "leaky-notes", "--fixed"]);
    assert_eq!(without.json()["target"], with.json()["target"], "{without}");
    assert_eq!(without.code, with.code);
}

#[test]
fn noise_that_makes_no_sense_is_told_before_anything_is_watched() {
    let world = World::new();
    let mut command = world.command(&["behave", "--", &fixture(), "behaviour", "leaky-notes", "--fixed"]);
    command.env("WALLFACER_NOISE_EXTRA", "fetch *");
    let outcome = world.finish(command);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("`fetch` is no deed"), "{outcome}");
}

#[test]
fn noise_of_the_configuration_and_of_the_files_that_it_names_is_left_out() {
    let config = "[behave]\nnoise = [\"write ./none\"]\nnoise_files = [\"quiet.txt\"]\n";
    let world =
        World::new().with("wallfacer.toml", config).with("quiet.txt", "# settings\nwrite ~/fixture-*\n");
    let server = fixture();
    let Some(quiet) = behave(&world, &["--show-noise", "--", &server, "behaviour", "writes-outside"]) else {
        return;
    };
    assert_eq!(quiet.code, Some(0), "{quiet}");
    assert!(!quiet.stdout.contains("it wrote `~/fixture-state`"), "{quiet}");
    assert!(quiet.stdout.contains("/home/fixture-state"), "{quiet}");
    let missing =
        World::new().with("wallfacer.toml", config).run(&["behave", "--", &server, "behaviour", "listens"]);
    assert_eq!(missing.code, Some(2), "{missing}");
    assert!(
        missing.stderr.contains("quiet.txt`: No such file or directory; `[behave] noise_files` names it"),
        "{missing}"
    );
}

#[test]
fn a_server_of_which_no_call_succeeds_was_not_tested() {
    let world = World::new();
    let outcome = world.run(&["behave", "--calls", "3", "--", &fixture(), "behaviour", "never-works"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stdout.starts_with("NOT TESTED"), "{outcome}");
    let no_call = "no call succeeded, so what the server does is not known";
    let watched = outcome.stdout.contains("Watched").then_some(());
    if wallfacer_fixtures::require("observation", watched).is_some() {
        assert!(outcome.stdout.contains(no_call), "{outcome}");
    }
}
