//! Two sets of findings are compared by the ids of the bugs.

use crate::stored::{OLD_ID, fuzzed, world_with_dice};
use crate::world::{assert_shown, fixture};

#[test]
fn what_is_new_not_seen_and_persisting_is_told_apart() {
    let world = world_with_dice("roll", "{}").with("empty.json", r#"{"findings": []}"#);
    let corpus = ".wallfacer/corpus";
    let none = world.run(&["diff", corpus, corpus, "--fail-on-regression"]);
    none.assert_succeeds();
    let unseen = world.run(&["diff", corpus, "empty.json", "--fail-on-regression"]);
    unseen.assert_succeeds();
    let plain = world.run(&["diff", "empty.json", corpus]);
    plain.assert_succeeds();
    let gated = world.run(&["diff", "empty.json", corpus, "--fail-on-regression"]);
    assert_eq!(gated.code, Some(1), "{gated}");
    let json = world.run(&["diff", "empty.json", corpus, "--format", "json"]).json();
    assert_eq!((&json["new"][0]["id"], &json["regressions"]), (&OLD_ID.into(), &1.into()));
    assert_shown("diff", format!("{none}\n\n{unseen}\n\n{gated}"));
}

#[test]
fn the_document_of_a_run_and_its_corpus_are_the_same() {
    let (world, id) = fuzzed("crash-on-every-call", &[]);
    let server = fixture();
    let run = ["fuzz", "--seed", "5", "--iterations", "60", "--format", "json", "-o", "run.json"];
    let found = world.run(&[&run[..], &["--", &server, "flaw", "crash-on-every-call"]].concat());
    assert_eq!(found.code, Some(1), "{found}");
    let json = world.run(&["diff", "run.json", ".wallfacer/corpus", "--format", "json"]).json();
    assert_eq!(json["persisting"][0]["id"], id.as_str());
    assert_eq!((&json["new"], &json["fixed"]), (&serde_json::json!([]), &serde_json::json!([])));
}

#[test]
fn what_is_no_set_of_findings_is_told() {
    let world = world_with_dice("roll", "{}").with("other.json", "[]");
    let outcomes = ["none.json", "other.json"].map(|path| {
        let outcome = world.run(&["diff", path, ".wallfacer/corpus"]);
        outcome.assert_fails(2);
        outcome.to_string()
    });
    assert_shown("diff of other things", outcomes.join("\n"));
}
