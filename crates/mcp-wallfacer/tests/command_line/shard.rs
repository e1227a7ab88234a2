//! A plan that is divided comes to what it comes to undivided, and several servers are checked in one go.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Command;

use serde_json::Value;

use crate::world::{Outcome, World, assert_shown, fixture};

/// What must not depend on how a plan is divided.
#[derive(Debug, PartialEq)]
struct Result {
    conclusion: Value,
    findings: BTreeSet<String>,
    not_tested: BTreeSet<String>,
}

impl Result {
    fn of(outcome: &Outcome) -> Result {
        let document = outcome.json();
        let texts = |list: &str, key: &str| {
            let entries = document[list].as_array().cloned().unwrap_or_default();
            entries.iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
        };
        Result {
            conclusion: document["verdict"]["conclusion"].clone(),
            findings: texts("findings", "id"),
            not_tested: texts("not_tested", "what"),
        }
    }
}

fn fuzz(world: &World, flaw: &str, flags: &[&str]) -> Outcome {
    world.finish(fuzzing(world, flaw, flags))
}

fn fuzzing(world: &World, flaw: &str, flags: &[&str]) -> Command {
    let server = fixture();
    let fuzz = ["fuzz", "--iterations", "20", "--timeout", "1s", "--format", "json", "--no-record"];
    world.command(&[&fuzz, flags, &["--", &server, "flaw", flaw]].concat())
}

/// What one part is asked for, and the file of its report.
fn part(flaw: &str, index: u32, count: u32) -> ([String; 6], String) {
    let file = format!("{flaw}-{index}-of-{count}.json");
    let corpus = format!("corpus-{flaw}-{index}-of-{count}");
    let flags = ["--shard", &format!("{index}/{count}"), "--corpus", &corpus, "-o", &file].map(str::to_owned);
    (flags, file)
}

/// All parts of a plan of so many, in files of the world.
fn divided(world: &World, flaw: &str, count: u32) -> Vec<String> {
    let part = move |index: u32| {
        let (flags, file) = part(flaw, index, count);
        fuzz(world, flaw, &flags.each_ref().map(String::as_str));
        file
    };
    // Each is a machine of its own.
    std::thread::scope(|scope| {
        let parts: Vec<_> = (1..=count).map(|index| scope.spawn(move || part(index))).collect();
        parts.into_iter().map(|part| part.join().unwrap()).collect()
    })
}

fn merged(world: &World, files: &[String]) -> Outcome {
    let mut arguments = vec!["merge", "--format", "json"];
    arguments.extend(files.iter().map(String::as_str));
    world.run(&arguments)
}

#[test]
fn all_parts_together_are_the_undivided_run() {
    let world = World::new();
    // One bug that shows in three tools, whichever part each of them belongs to.
    let flaw = "crash-shared-by-three-tools";
    let whole = fuzz(&world, flaw, &["--corpus", "corpus-whole"]);
    assert_eq!(whole.code, Some(1), "{whole}");
    for count in 1..=8 {
        let mut files = divided(&world, flaw, count);
        files.rotate_left(count as usize / 2);
        let joined = merged(&world, &files);
        assert_eq!(Result::of(&joined), Result::of(&whole), "in {count}: {joined}");
        assert_eq!(joined.code, Some(1));
    }
}

#[test]
fn a_part_that_was_killed_is_missing_until_it_is_done_again() {
    let world = World::new();
    let flaw = "crash-shared-by-three-tools";
    let whole = fuzz(&world, flaw, &["--corpus", "corpus-whole"]);
    let (flags, file) = part(flaw, 2, 3);
    let flags = flags.each_ref().map(String::as_str);
    let others = [1, 3].map(|index| {
        let (flags, file) = part(flaw, index, 3);
        fuzz(&world, flaw, &flags.each_ref().map(String::as_str));
        file
    });
    let pipe = world.here().join("events");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut killed = fuzzing(&world, flaw, &[&flags[..], &["--events", "events"]].concat()).spawn().unwrap();
    // It is at work by then.
    let mut events = BufReader::new(File::open(&pipe).unwrap()).lines().map_while(|line| line.ok());
    assert!(events.any(|line| line.contains("\"round_begun\"")));
    killed.kill().unwrap();
    killed.wait().unwrap();
    fs::remove_file(&pipe).unwrap();
    assert!(!world.files().contains(&file), "half a report is none");
    let missing = merged(&world, &others);
    let told = Result::of(&missing);
    assert!(told.not_tested.contains("shard 2/3") && missing.code != Some(0), "{missing}");
    fuzz(&world, flaw, &flags);
    let joined = merged(&world, &[&others[1..], &[file], &others[..1]].concat());
    assert_eq!(Result::of(&joined), Result::of(&whole), "{joined}");
}

#[test]
fn what_is_missing_mixed_or_no_part_is_said() {
    let world = World::new();
    let flaw = "shutdown-tool";
    let files = divided(&world, flaw, 2);
    let both = merged(&world, &files);
    assert_eq!(
        (both.code, both.json()["verdict"]["conclusion"].as_str()),
        (Some(0), Some("passed")),
        "{both}"
    );
    let again = merged(&world, &[&files[..], &files[..1]].concat());
    assert_eq!(again.stdout, both.stdout, "a part that was done twice counts once");
    let one = world.run(&["merge", &files[1]]);
    assert_eq!(one.code, Some(3), "{one}");
    assert!(one.stdout.starts_with("NOT TESTED · 1 of 2 shards is missing\n"), "{one}");
    assert!(one.stdout.contains("- shard 1/2: its report is not among those that were joined"), "{one}");
    fuzz(&world, flaw, &["--shard", "1/2", "--seed", "7", "-o", "other.json"]);
    fuzz(&world, flaw, &["-o", "whole.json"]);
    for (name, files) in [
        ("merge_of_other_arguments", ["other.json", &files[1]]),
        ("merge_of_an_undivided_run", ["whole.json", &files[1]]),
    ] {
        let refused = world.run(&["merge", files[0], files[1]]);
        refused.assert_fails(2);
        assert_shown(name, &refused);
    }
    let part = world.run(&["report", &files[0]]);
    assert!(part.stdout.contains("the other half of the plan"), "{part}");
}

#[test]
fn all_servers_of_a_file_are_checked_and_gone_on_with() {
    let server = fixture();
    let entry = |flaw: &str| format!(r#"{{"command": "{server}", "args": ["flaw", "{flaw}"]}}"#);
    let list = format!(
        r#"{{"mcpServers": {{"good": {}, "bad": {}, "gone": {{"command": "./no-such-program"}}}}}}"#,
        entry("shutdown-tool"),
        entry("crash-on-every-call"),
    );
    let world = World::new().with("list.json", &list);
    let arguments = ["check", "--all", "list.json", "--jobs", "2", "--budget", "60s", "--format", "json"];
    let outcome = world.run(&arguments);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let document = outcome.json();
    let verdicts: Vec<(&str, Option<&str>)> = document["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["server"].as_str().unwrap(), row["conclusion"].as_str()))
        .collect();
    assert_eq!(verdicts, [("bad", Some("failed")), ("gone", None), ("good", Some("passed"))], "{outcome}");
    assert!(world.files().contains(".wallfacer/all/bad.json"), "{:?}", world.files());
    let again = world.run(&["check", "--all", "list.json", "--resume"]);
    assert!(again.stdout.contains("1 of 3 servers passed"), "{again}");
    let told: Vec<&str> = again.stderr.lines().collect();
    assert_eq!(told.len(), 1, "only the one without a report is tried again: {again}");
    let none = World::new().run(&["check", "--all"]);
    none.assert_fails(2);
    assert_shown("all_of_nothing", &none);
}
