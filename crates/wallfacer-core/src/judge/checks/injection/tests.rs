use std::ffi::OsString;
use std::time::{Duration, Instant};

use serde_json::json;
use wallfacer_process::trace::{Access, Family, Location, Outcome, Socket};

use super::*;
use crate::plan::Intent;

fn event(kind: Deed) -> Event {
    Event { at: Instant::now(), pid: 1, tid: 1, call: Some(1), kind, outcome: Outcome::Done(3) }
}

fn found(path: &str) -> Location {
    Location { resolved: Some(OsString::from(path)), ..Location::default() }
}

fn open(path: &str) -> Event {
    event(Deed::Open { location: found(path), access: Access { read: true, ..Access::default() } })
}

fn execute(words: &[&str]) -> Event {
    let arguments = words.iter().map(OsString::from).collect();
    event(Deed::Execute(Program { location: found(words[0]), arguments, cut: false, image: None }))
}

fn connect(address: &str, transport: Transport) -> Event {
    let address = Address::Inet(address.parse().unwrap());
    let socket = Some(Socket { family: Family::Inet, transport });
    event(Deed::Connect { address, peer: None, socket })
}

fn case(value: &str, aim: Aim) -> Case {
    let injection = Injection {
        at: "/path".to_owned(),
        way: "a way".to_owned(),
        aim,
        offline: false,
        openly_first: false,
        by_name: false,
    };
    Case::tool("t", json!({ "path": value }), Intent::Injection(Box::new(injection)), 1)
}

fn recording(traced: Option<Traced>) -> Recording {
    let taken = Taken { traced, ..Taken::unanswered("tools/call", Duration::ZERO) };
    Recording { steps: vec![taken], stderr: None }
}

fn verdict(case: &Case, traced: Option<Traced>) -> Verdict {
    let recording = recording(traced);
    NoInjection.judge(case, &recording, &crate::observe::observe(&recording), &Context::default())
}

fn is_broken(case: &Case, events: Vec<Event>) -> bool {
    let traced = Traced { call: Some(1), events, ..Traced::default() };
    matches!(verdict(case, Some(traced)), Verdict::Broken(_))
}

fn reach(declared: bool) -> Aim {
    Aim::Reach {
        escape: crate::plan::Escape::Outside,
        scope: "/d/root".into(),
        declared,
        outside: "/d/wf1".into(),
        name: "wf1".to_owned(),
        token: "token-1234".to_owned(),
    }
}

#[test]
fn only_the_marker_program_proves_a_command() {
    let case = case("x$(wf9)", Aim::Execute { program: "wf9".to_owned() });
    assert!(is_broken(&case, vec![execute(&["/bin/sh", "-c", "ls x$(wf9)"]), execute(&["/usr/bin/wf9"])]));
    assert!(!is_broken(&case, vec![execute(&["/bin/sh", "-c", "ls 'x$(wf9)'"])]));
}

#[test]
fn what_another_call_or_nobody_asked_for_proves_nothing() {
    let case = case("x$(wf9)", Aim::Execute { program: "wf9".to_owned() });
    for call in [None, Some(2)] {
        assert!(!is_broken(&case, vec![Event { call, ..execute(&["/usr/bin/wf9"]) }]));
    }
    assert!(matches!(verdict(&case, None), Verdict::Unknown(_)));
}

#[test]
fn an_option_is_a_word_of_its_own_before_the_end_of_options_and_no_value() {
    let case = case("--wf=", Aim::Pass { option: "--wf=".to_owned(), file: "/tmp/wf-made".into() });
    for words in [&["git", "diff", "--wf="][..], &["git", "--unified=3", "--wf="], &["git", "--wf=", "--"]] {
        assert!(is_broken(&case, vec![execute(words)]), "{words:?}");
    }
    for words in
        [&["git", "diff", "--", "--wf="][..], &["kubectl", "-l", "--wf="], &["grep", "x --wf="], &["--wf="]]
    {
        assert!(!is_broken(&case, vec![execute(words)]), "{words:?}");
    }
    let create = Access { write: true, create: true, ..Access::default() };
    assert!(is_broken(&case, vec![event(Deed::Open { location: found("/tmp/wf-made"), access: create })]));
}

#[test]
fn a_canary_counts_when_it_is_opened_by_a_call_that_named_it() {
    let named = case("../wf1/x", reach(true));
    assert!(is_broken(&named, vec![open("/d/wf1/x")]));
    assert!(!is_broken(&named, vec![open("/d/root/x"), open("/d/wf12")]));
    assert!(!is_broken(&case("x", reach(true)), vec![open("/d/wf1/x")]));
    let failed = Event { outcome: Outcome::Failed(2), ..open("/d/wf1/x") };
    assert!(!is_broken(&named, vec![failed]));
    let place = Access { place_only: true, ..Access::default() };
    assert!(!is_broken(&named, vec![event(Deed::Open { location: found("/d/wf1/x"), access: place })]));
}

#[test]
fn who_was_told_of_no_scope_leaves_none() {
    assert!(!is_broken(&case("../wf1/x", reach(false)), vec![open("/d/wf1/x")]));
}

#[test]
fn a_connection_counts_where_a_datagram_that_is_never_sent_does_not() {
    let aim = Aim::Connect { addresses: vec!["127.0.0.1:2000".parse().unwrap()], meant: true };
    let case = case("http://127.0.0.1:2000/", aim);
    assert!(is_broken(&case, vec![connect("127.0.0.1:2000", Transport::Stream)]));
    assert!(is_broken(&case, vec![connect("[::ffff:127.0.0.1]:2000", Transport::Stream)]));
    assert!(!is_broken(&case, vec![connect("127.0.0.1:2000", Transport::Datagram)]));
    assert!(!is_broken(&case, vec![connect("127.0.0.1:80", Transport::Stream)]));
    assert!(!is_broken(&case, vec![connect("8.8.8.8:2000", Transport::Stream)]));
}

#[test]
fn a_connection_that_is_not_waited_for_is_not_said_to_have_failed() {
    let begun =
        |error| Event { outcome: Outcome::Failed(error), ..connect("127.0.0.1:2000", Transport::Stream) };
    assert_eq!(line(&begun(115)), "connect(127.0.0.1:2000), without waiting for it");
    assert_eq!(line(&begun(111)), "connect(127.0.0.1:2000) failed with error 111");
}

#[test]
fn a_change_counts_unless_it_comes_with_every_call_or_is_a_journal() {
    let case = case("CREATE", Aim::Change { known: vec!["/d/root/cache".into()], shows: None, makes: None });
    let changed = |path: &str, effect| {
        let change = Change { path: path.into(), effect, entry: Entry::File, bytes: 1 };
        let traced = Traced { call: Some(1), changes: vec![change], ..Traced::default() };
        matches!(verdict(&case, Some(traced)), Verdict::Broken(_))
    };
    assert!(changed("/d/root/data.db", Effect::Modified));
    assert!(!changed("/d/root/cache", Effect::Modified));
    assert!(!changed("/d/root/data.db-wal", Effect::Modified));
    assert!(!changed("/d/root/data.db", Effect::Touched));
}

/// What two calls did, one after another.
fn verdict_of_two(case: &Case, [first, second]: [Vec<Event>; 2]) -> bool {
    let taken = |events| {
        let traced = Some(Traced { call: Some(1), events, ..Traced::default() });
        Taken { traced, ..Taken::unanswered("tools/call", Duration::ZERO) }
    };
    let recording = Recording { steps: vec![taken(first), taken(second)], stderr: None };
    let seen = crate::observe::observe(&recording);
    matches!(NoInjection.judge(case, &recording, &seen, &Context::default()), Verdict::Broken(_))
}

#[test]
fn what_is_had_openly_is_not_got_around() {
    let mut case = case("env wf9", Aim::Execute { program: "wf9".to_owned() });
    if let Intent::Injection(injection) = &mut case.intent {
        injection.openly_first = true;
    }
    let ran = || vec![execute(&["/usr/bin/env", "wf9"]), execute(&["/usr/bin/wf9"])];
    assert!(verdict_of_two(&case, [vec![], ran()]));
    assert!(!verdict_of_two(&case, [ran(), ran()]), "it is allowed");
    assert!(!verdict_of_two(&case, [ran(), vec![]]));
}

#[test]
fn a_new_file_counts_with_an_ending_of_the_servers_own_and_as_a_directory() {
    let create = Access { write: true, create: true, ..Access::default() };
    let made = |path: &str| event(Deed::Open { location: found(path), access: create });
    let named = case("../wf1", reach(true));
    for path in ["/d/wf1.md", "/d/wf1/note.md", "/d/wf1.txt.md"] {
        assert!(is_broken(&named, vec![made(path)]), "{path}");
    }
    assert!(is_broken(&named, vec![event(Deed::MakeDirectory { location: found("/d/wf1-album") })]));
    for path in ["/d/root/wf1.md", "/d/wf12.md", "/var/wf1.md"] {
        assert!(!is_broken(&named, vec![made(path)]), "{path}");
    }
}

#[test]
fn who_was_told_of_no_directory_and_writes_anywhere_is_told_so_unless_files_are_its_job() {
    let create = Access { write: true, create: true, ..Access::default() };
    let made = || vec![event(Deed::Open { location: found("/d/wf1.png"), access: create })];
    let named = case("../wf1.png", reach(false));
    let traced = Traced { call: Some(1), events: made(), ..Traced::default() };
    let Verdict::Broken(charge) = verdict(&named, Some(traced)) else { panic!("it writes") };
    assert_eq!(charge.severity, Some(Severity::Low));
    let about_files = Case { subject: crate::plan::Subject::Tool("write_file".into()), ..named };
    assert!(!is_broken(&about_files, made()));
}

#[test]
fn a_scheme_counts_where_another_program_opens_what_it_names() {
    let case = case("wf9://open", Aim::Hand { address: "wf9://open".to_owned() });
    assert!(is_broken(&case, vec![execute(&["/usr/bin/xdg-open", "wf9://open"])]));
    for words in
        [&["/usr/bin/git", "clone", "wf9://open"][..], &["/usr/bin/python3.12", "x.py", "wf9://open"]]
    {
        assert!(!is_broken(&case, vec![execute(words)]), "{words:?}");
    }
    assert!(!is_broken(&case, vec![execute(&["/usr/bin/echo", "see wf9://open"])]));
}
