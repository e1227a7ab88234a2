//! Walks the table of behaviours: a watched run finds exactly what the table says, and nothing in the correct twins.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::plan::Subject;
use wallfacer_core::session::{BehaveOptions, Behaved, behave};
use wallfacer_core::summary::Conclusion;
use wallfacer_core::target::{Command, Confine, Destructive, Reach, Severity, Target};
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::{Flaw, Transport, behaviours, require};

/// Rows at a time.
const AT_ONCE: usize = 4;
const CALLS: usize = 4;

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

/// Kind, name of what is to blame, severity.
type Found = Vec<(String, Option<String>, String)>;

#[test]
fn every_behaviour_gives_exactly_its_findings_and_its_twin_none() {
    let Some(()) = require("a machine on which servers can be watched", can_watch()) else { return };
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = behaviours().get(next.fetch_add(1, Ordering::Relaxed)) {
                    let flawed = found(&watch(row, false));
                    let fixed = found(&watch(row, true));
                    if flawed != wanted(row) || !fixed.is_empty() {
                        let text = format!("{}: {flawed:?}, and fixed {fixed:?}", row.name);
                        wrong.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_secret_of_a_variable_that_is_sent_away_is_told_by_its_name_and_with_the_host() {
    let Some(()) = require("a machine on which servers can be watched", can_watch()) else { return };
    let row = behaviours().iter().find(|row| row.name == "variable-sent-away").unwrap();
    let behaved = watch(row, false);
    let [finding] = &behaved.run.findings[..] else { panic!("one finding: {:?}", behaved.run.findings) };
    assert_eq!(
        finding.message,
        "the secret in the variable `GITHUB_TOKEN` was sent to `collect.example:80`, which it is not for"
    );
}

#[test]
fn what_is_worth_knowing_is_told_as_an_observation() {
    let Some(()) = require("a machine on which servers can be watched", can_watch()) else { return };
    for (name, told) in [
        ("telemetry-at-start", "at its start it reached `telemetry.example:80` ("),
        ("runs-program", " -c exit 0`"),
        ("leaves-child", "when it had ended it left running `sleep 600`"),
        (
            "seeks-other-application",
            "it looked for `~/.config/other-application/settings.json`, which is not there",
        ),
        ("writes-outside", "it wrote `~/fixture-state`, outside its working directory and scope"),
        ("listens", "it listens on `127.0.0.1:4711`"),
        (
            "counts-its-use",
            "it writes `./usage.json` whatever tool is called, those that only read among them",
        ),
        ("client-of-its-file", "it read `~/.kube/config`, as clients of that kind do"),
    ] {
        let row = behaviours().iter().find(|row| row.name == name).unwrap();
        let is_told = |fixed: bool| {
            let behaved = watch(row, fixed);
            behaved.run.notes.iter().any(|note| note.text.contains(told))
        };
        assert!(is_told(false), "{name}");
        assert!(!is_told(true), "the twin of {name}");
    }
}

#[test]
fn what_is_written_in_a_root_is_written_where_it_may_be_and_beside_it_is_told() {
    let Some(()) = require("a machine on which servers can be watched", can_watch()) else { return };
    let row = behaviours().iter().find(|row| row.name == "writes-beside-its-root").unwrap();
    let place = tempfile::tempdir().unwrap();
    let [work, root] = ["work", "home/root"].map(|name| place.path().canonicalize().unwrap().join(name));
    for directory in [&work, &root] {
        std::fs::create_dir_all(directory).unwrap();
    }
    let is_told = |fixed: bool| {
        let mut target = Target::new(reach(row, fixed, &work));
        target.sandbox.confine = Confine::Require;
        target.roots = vec![root.clone()];
        let mut environment = common::environment();
        environment.insert("HOME".into(), root.parent().unwrap().into());
        let behaved = run(Connector::new(target, environment));
        assert!(behaved.run.tools["keep_note"].valid_completed > 0, "{:?}", behaved.run.not_tested);
        let notes = &behaved.run.notes;
        notes.iter().any(|note| note.text.contains("fixture-note`, outside its working directory and scope"))
    };
    assert!(is_told(false));
    assert!(!is_told(true), "the twin");
}

#[test]
fn a_server_of_which_no_call_succeeds_has_not_passed() {
    let Some(()) = require("a machine on which servers can be watched", can_watch()) else { return };
    let row = behaviours().iter().find(|row| row.name == "never-works").unwrap();
    assert_eq!(watch(row, false).run.conclusion(Severity::Low), Conclusion::NotTested);
    assert_eq!(watch(row, true).run.conclusion(Severity::Low), Conclusion::Clean);
}

#[test]
fn what_a_tool_does_is_not_mixed_with_what_a_prompt_of_its_name_does() {
    let Some(()) = require("a machine on which servers can be watched", can_watch()) else { return };
    let command = Command::new(wallfacer_fixtures::server(), ["flaw", "tool-and-prompt-of-one-name"]);
    let mut target = Target::new(Reach::Command(command));
    target.sandbox.confine = Confine::Require;
    let behaved = run(Connector::new(target, common::environment()));
    let name = || "summary".to_owned();
    let calls = |subject| behaved.behaviour.done[&subject].calls;
    assert_eq!(calls(Subject::Tool(name())), behaved.run.tools["summary"].calls.calls);
    assert!(calls(Subject::Prompt(name())) > 0);
}

#[test]
fn a_server_that_nobody_watches_is_not_said_to_be_clean() {
    let Reach::Both { command, endpoint } = common::fixture("correct", Transport::Http) else {
        unreachable!()
    };
    let mut running = std::process::Command::new(&command.program)
        .args(&command.args)
        .stdin(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while std::net::TcpStream::connect(endpoint.url.split('/').nth(2).unwrap()).is_err() {
        std::thread::yield_now();
    }
    let behaved = run(Connector::new(Target::new(Reach::Url(endpoint)), common::environment()));
    running.kill().and_then(|()| running.wait()).unwrap();
    assert!(!behaved.run.has_tested());
    assert!(behaved.run.not_tested.iter().any(|not| not.what.contains("effects")));
}

fn can_watch() -> Option<()> {
    let offers = wallfacer_process::jail::offers();
    offers.observation.refused.is_none().then_some(())
}

fn reach(row: &Flaw, fixed: bool, place: &std::path::Path) -> Reach {
    let arguments = ["behaviour", row.name].into_iter().chain(fixed.then_some("--fixed"));
    let mut command = Command::new(wallfacer_fixtures::server(), arguments);
    command.cwd = Some(place.to_path_buf());
    Reach::Command(command)
}

fn watch(row: &Flaw, fixed: bool) -> Behaved {
    let place = tempfile::tempdir().unwrap();
    commit(place.path());
    let mut target = Target::new(reach(row, fixed, place.path()));
    target.sandbox.confine = Confine::Require;
    let mut environment = common::environment();
    // It has a look-alike of it.
    environment.insert("GITHUB_TOKEN".into(), "ghp_0123456789abcdefghijABCDEFGHIJ012345".into());
    run(Connector::new(target, environment))
}

/// Leaves what a repository has in which something was committed once.
fn commit(place: &std::path::Path) {
    std::fs::create_dir_all(place.join(".git/refs/heads")).unwrap();
    std::fs::write(place.join(".git/refs/heads/main"), "0".repeat(40)).unwrap();
    std::fs::write(place.join(".git/COMMIT_EDITMSG"), "an earlier commit\n").unwrap();
}

fn run(connector: Connector) -> Behaved {
    let options = BehaveOptions {
        command: "behave",
        started: String::new(),
        seed: 1,
        calls: CALLS,
        include: None,
        exclude: None,
        destructive: Destructive::default(),
        budget: None,
        noise: Vec::new(),
        stop: Default::default(),
    };
    behave(connector, &options, &mut |_, _| {}, &mut Deaf).unwrap()
}

fn found(behaved: &Behaved) -> Found {
    let findings = behaved.run.findings.iter().chain(&behaved.run.flaky);
    let mut found: Found = findings
        .map(|finding| {
            (finding.kind.name().to_owned(), finding.tool.clone(), finding.severity.as_str().to_owned())
        })
        .collect();
    found.sort();
    found
}

fn wanted(row: &Flaw) -> Found {
    let mut wanted: Found = row
        .expected
        .iter()
        .map(|expect| (expect.kind.to_owned(), expect.tool.map(str::to_owned), expect.severity.to_owned()))
        .collect();
    wanted.sort();
    wanted
}
