//! What is stored is listed, shown, tried again and made smaller; and survives whatever happens to a run.

use std::process::{Child, Stdio};

use crate::stored::{OLD_ID, fuzzed, world_with_dice};
use crate::world::{World, assert_shown, fixture};

#[test]
fn one_unreadable_file_hides_no_other() {
    let world =
        world_with_dice("roll", "{}").with(".wallfacer/corpus/roll/00000000deadbeef.json", "{\"id\":");
    let human = world.run(&["corpus", "list"]);
    human.assert_succeeds();
    let json = world.run(&["corpus", "list", "--format", "json"]);
    json.assert_succeeds();
    assert_eq!(json.json()["findings"][0]["id"], OLD_ID);
    let all = world.run(&["corpus", "replay", "--all", "--", "dice", "roll", "1"]);
    assert_eq!(all.code, Some(1), "{all}");
    assert_shown("corpus with an unreadable file", format!("{human}\n\n{all}"));
}

#[test]
fn an_empty_corpus_is_no_failure() {
    let world = World::new();
    let outcomes = [&["list"][..], &["replay", "--all"]].map(|args| {
        let outcome = world.run(&[&["corpus"], args].concat());
        outcome.assert_succeeds();
        outcome.to_string()
    });
    assert_shown("empty corpus", outcomes.join("\n\n"));
}

#[test]
fn a_finding_is_shown_in_full() {
    let (world, id) = fuzzed("crash-on-every-call", &[]);
    let shown = world.run(&["corpus", "show", &id]);
    shown.assert_succeeds();
    assert_shown("corpus show", shown);
    let json = world.run(&["corpus", "show", &id, "--format", "json"]);
    assert_eq!(json.json()["id"], id.as_str());
}

#[test]
fn minimizing_keeps_the_bug_and_writes_the_smaller_repro_back() {
    let world = world_with_dice("roll", r#"{"many":[1,2,3,4],"long":"aaaaaaaaaaaaaaaaaaaaaaaa"}"#);
    let target = ["--", "dice", "roll", "1"];
    let smaller = world.run(&[&["corpus", "minimize", OLD_ID], &target[..]].concat());
    assert_eq!(smaller.code, Some(0), "{smaller}");
    assert_shown("corpus minimize", smaller);
    let shown = world.run(&["corpus", "show", OLD_ID, "--format", "json"]).json();
    let sent = &shown["repro"]["replayable"]["case"]["steps"][0]["call"]["params"]["arguments"];
    assert_eq!(*sent, serde_json::json!({}));
    let again = world.run(&[&["replay", OLD_ID], &target[..]].concat());
    assert_eq!(again.code, Some(1), "{again}");
    let mended = ["--", "dice", "roll", "1000000"];
    let fixed = world.run(&[&["corpus", "minimize", OLD_ID, "--format", "json"], &mended[..]].concat());
    assert_eq!((fixed.code, fixed.json()["verdict"].clone()), (Some(0), "fixed".into()), "{fixed}");
}

#[test]
fn a_run_that_is_killed_blocks_no_later_one() {
    let world = World::new();
    let server = fixture();
    let fuzz =
        ["fuzz", "--iterations", "60", "--events", "events", "--", &server, "flaw", "crash-on-every-call"];
    let mut killed = start(&world, &fuzz);
    // The first event is written once the run is at work.
    let events = world.here().join("events");
    while std::fs::metadata(&events).map_or(0, |about| about.len()) == 0 {
        assert!(killed.try_wait().unwrap().is_none(), "it is killed before it ends");
        std::thread::yield_now();
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let later = world.run(&fuzz);
    assert_eq!(later.code, Some(1), "{later}");
    assert_eq!(
        world.run(&["corpus", "list", "--format", "json"]).json()["findings"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn two_runs_at_once_share_a_corpus() {
    let world = World::new();
    let server = fixture();
    let fuzz = ["fuzz", "--iterations", "60", "--", &server, "flaw", "crash-on-every-call"];
    let mut runs = [start(&world, &fuzz), start(&world, &fuzz)];
    for run in &mut runs {
        assert_eq!(run.wait().unwrap().code(), Some(1));
    }
    let listed = world.run(&["corpus", "list", "--format", "json"]).json();
    assert_eq!(listed["findings"].as_array().unwrap().len(), 1);
    assert_eq!(listed["unreadable"], serde_json::json!([]));
    let id = listed["findings"][0]["id"].as_str().unwrap();
    assert_eq!(world.run(&["replay", id]).code, Some(1), "one key serves both");
}

fn start(world: &World, args: &[&str]) -> Child {
    world.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}
