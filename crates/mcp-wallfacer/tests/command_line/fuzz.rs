//! `fuzz`: what it refuses, what it would do, what several runs come to, and what a killed one leaves.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Command;

use crate::stored::world_with_dice;
use crate::world::{World, assert_shown, fixture};

fn refused(name: &str, args: &[&str]) {
    let outcome = World::new().run(&[&["fuzz"], args, &["--", &fixture(), "correct"][..]].concat());
    outcome.assert_fails(2);
    assert_shown(name, &outcome);
}

#[test]
fn runs_that_cannot_be_compared() {
    refused("fuzz_aggregate_of_one_run", &["--aggregate"]);
}

#[test]
fn no_run_at_all() {
    refused("fuzz_no_runs", &["--runs", "0"]);
}

#[test]
fn a_size_that_is_none() {
    refused("fuzz_size_that_is_none", &["--max-bytes", "much"]);
}

#[test]
fn a_pattern_that_is_none() {
    refused("fuzz_pattern_that_is_none", &["--include", "a{b"]);
}

#[test]
fn a_mode_that_is_none() {
    refused("fuzz_mode_that_is_none", &["--mode", "gentle"]);
}

#[test]
fn a_ratio_that_is_none() {
    refused("fuzz_ratio_that_is_none", &["--corpus-feedback", "--mutate-ratio", "2"]);
}

#[test]
fn a_folder_of_inputs_that_nobody_asks_for() {
    refused("fuzz_inputs_without_feedback", &["--corpus-dir", "inputs"]);
}

#[test]
fn what_brought_news_is_kept_and_one_bad_file_hides_no_other() {
    let world = World::new();
    let flags =
        ["fuzz", "--sandbox", "off", "--iterations", "40", "--corpus-feedback", "--corpus-dir", "kept"];
    let run = || world.run(&[&flags[..], &["--", &fixture(), "flaw", "ignores-maximum", "--fixed"]].concat());
    run().assert_succeeds();
    let files = world.files();
    assert!(files.iter().filter(|name| name.starts_with("kept/choose_volume/")).count() > 1, "{files:?}");
    std::fs::write(world.here().join("kept/choose_volume/bad.json"), "{").unwrap();
    let again = run();
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.stderr.contains("bad.json is left out: it is not JSON"), "{again}");
}

#[test]
fn a_dry_run_calls_nothing_and_tells_what_a_run_would() {
    let world = world_with_dice("roll", "{}");
    let outcome =
        world.run(&["fuzz", "--dry-run", "--sandbox", "off", "--protocol-frames", "--", "dice", "roll", "2"]);
    outcome.assert_succeeds();
    assert!(!world.files().contains("calls"), "{outcome}");
    assert_shown("fuzz_dry_run", &outcome);
}

#[test]
fn several_runs_tell_in_how_many_of_them_each_finding_was_made() {
    let world = World::new();
    let flags = ["fuzz", "--sandbox", "off", "--runs", "2", "--aggregate", "--iterations", "40"];
    let server = ["--format", "json", "--", &fixture(), "flaw", "crash-on-empty-text"];
    let outcome = world.run(&[&flags[..], &server].concat());
    let report = outcome.json();
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(1), "{outcome}");
    let notes = report["notes"].as_array().cloned().unwrap_or_default();
    let told = notes.iter().filter_map(|note| note["text"].as_str());
    assert_eq!(told.filter(|text| text.ends_with("found in 2 of 2 runs")).count(), 1, "{outcome}");
}

#[test]
fn a_run_that_is_killed_leaves_what_it_told() {
    let world = World::new();
    let pipe = world.here().join("events");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Enough to do that the run is still at work when it has told its first finding.
    let flags = ["fuzz", "--sandbox", "off", "--iterations", "100000", "--events", "events"];
    let server = ["--", &fixture(), "flaw", "crash-on-empty-text"];
    let mut run = world.command(&[&flags[..], &server].concat()).spawn().unwrap();
    let events = BufReader::new(File::open(&pipe).unwrap()).lines();
    let made = events.map(Result::unwrap).find(|line| line.contains("\"finding_made\"")).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let file = format!("{}.json", made["id"].as_str().unwrap());
    std::fs::remove_file(&pipe).unwrap();
    assert!(world.files().iter().any(|name| name.ends_with(&file)), "{made}: {:?}", world.files());
    assert_eq!(world.run(&["corpus", "list"]).code, Some(0));
}
