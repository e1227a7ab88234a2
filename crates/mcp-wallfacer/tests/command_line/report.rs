//! A run is kept, shown again in every format, compared with an earlier one, and explained.

use crate::stored::fuzzed;
use crate::world::{World, assert_shown, fixture};

#[test]
fn a_run_is_kept_and_shown_again_in_every_format() {
    let (world, id) = fuzzed("crash-on-every-call", &[]);
    let again = world.run(&["report"]);
    again.assert_succeeds();
    assert!(again.stdout.contains(&id) && again.stdout.starts_with("FAILED · "), "{again}");
    for format in ["json", "sarif", "junit", "markdown", "github", "gitlab", "html", "agent"] {
        let report = world.run(&["report", "--format", format]);
        report.assert_succeeds();
        assert!(report.stdout.contains(&id), "{report}");
    }
    let list = world.run(&["report", "--list"]);
    assert_eq!(list.stdout.lines().count(), 1, "{list}");
    let name = list.stdout.split_whitespace().next().unwrap().to_owned();
    let compared = world.run(&["report", &name, "--against", &name]);
    assert!(compared.stdout.contains("0 new, 0 not seen any more, 1 the same"), "{compared}");
    let quiet = world.run(&["report", "-q"]);
    assert_eq!(quiet.stdout.lines().count(), 1, "{quiet}");
    let saved = world.run(&["report", "--format", "json", "-o", "saved.json"]);
    saved.assert_succeeds();
    assert!(world.run(&["report", "saved.json"]).stdout.contains(&id));
}

#[test]
fn one_run_writes_several_reports() {
    let world = World::new();
    let server = fixture();
    let mut command = world.command(&[
        "fuzz",
        "--iterations",
        "5",
        "--report",
        "sarif=a.sarif",
        "--report",
        "junit=a.xml",
        "--report",
        "html=a.html",
        "--report",
        "gitlab=a.json",
        "--report",
        "markdown",
        "--report",
        "github",
        "--",
        &server,
        "flaw",
        "crash-on-every-call",
    ]);
    let summary = world.here().join("summary.md");
    std::fs::write(&summary, "before\n").unwrap();
    command.env("GITHUB_STEP_SUMMARY", &summary);
    let outcome = world.finish(command);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(outcome.stdout.starts_with("FAILED · "), "{outcome}");
    assert!(outcome.stdout.lines().any(|line| line.starts_with("::error ")), "{outcome}");
    let summary = world.read("summary.md");
    assert!(summary.starts_with("before\n## FAILED · "), "{summary}");
    for (file, start) in
        [("a.sarif", "{"), ("a.xml", "<?xml"), ("a.html", "<!doctype html>"), ("a.json", "[")]
    {
        assert!(world.read(file).starts_with(start), "{file}");
    }
}

#[test]
fn what_cannot_be_meant_is_said_before_anything_runs() {
    let world = World::new();
    let wrong = [
        &["check", "--report", "pdf", "--demo"][..],
        &["check", "--report", "json", "--demo"],
        &["check", "--format", "json", "--report", "github", "--demo"],
        &["check", "--report", "html=", "--demo"],
        &["report"],
        &["report", "nothing"],
        &["explain", "crush"],
        &["explain", "nothing.of_this_name"],
    ];
    let outcomes = wrong.map(|args| {
        let outcome = world.run(args);
        outcome.assert_fails(2);
        outcome.to_string()
    });
    assert_shown("wrong reports", outcomes.join("\n\n"));
}

#[test]
fn a_kind_a_rule_and_a_finding_are_explained() {
    let (world, id) = fuzzed("crash-on-every-call", &[]);
    let asked = ["", "hang", "error.failure_is_flagged.divide", &id];
    let outcomes = asked.map(|what| {
        let args: Vec<&str> = ["explain", what].into_iter().filter(|word| !word.is_empty()).collect();
        let outcome = world.run(&args);
        outcome.assert_succeeds();
        outcome.to_string()
    });
    assert_shown("explain", outcomes.join("\n\n"));
}

#[test]
fn quiet_shows_the_verdict_alone_and_nothing_is_kept_where_that_is_not_wanted() {
    let world = World::new();
    let server = fixture();
    let quiet = world.run(&[
        "-q",
        "fuzz",
        "--iterations",
        "5",
        "--no-record",
        "--",
        &server,
        "flaw",
        "crash-on-every-call",
    ]);
    assert_eq!((quiet.code, quiet.stdout.lines().count()), (Some(1), 1), "{quiet}");
    assert!(world.files().iter().all(|file| !file.contains("runs")), "{:?}", world.files());
    let coloured = world.run(&["--color", "always", "explain", "hang"]);
    assert!(coloured.stdout.contains("\u{1b}[1m"), "{coloured}");
}
