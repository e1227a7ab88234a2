//! Events as the kernel gives them must be read as the effects that they are.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use wallfacer_process::jail::{Change, Effect, Entry};
use wallfacer_process::sink::{Bytes, Flow, Kind as FlowKind};
use wallfacer_process::trace::{
    Access, Address, Event, Family, Kind, Location, Outcome, Program, Socket, Transport,
};

use super::{Effects, Noise, Place, Places, Touch, Whose, gather};
use crate::world::Traced;

const CALL: u64 = 7;

fn places() -> Places {
    Places {
        canaries: vec!["/home/u/.netrc".into()],
        own: vec!["/srv/server".into()],
        scopes: vec!["/data".into()],
        working_directory: "/work".into(),
        home: "/home/u".into(),
    }
}

fn location(path: &str) -> Location {
    Location { asked: Some(path.into()), base: None, resolved: Some(path.into()) }
}

fn event(kind: Kind) -> Event {
    Event { at: Instant::now(), pid: 1, tid: 1, call: Some(CALL), kind, outcome: Outcome::Done(3) }
}

fn open(path: &str, how: &str) -> Event {
    let access = Access {
        read: how.contains('r'),
        write: how.contains('w'),
        create: how.contains('c'),
        truncate: how.contains('t'),
        directory: how.contains('d'),
        ..Access::default()
    };
    event(Kind::Open { location: location(path), access })
}

fn unlink(path: &str) -> Event {
    event(Kind::Unlink { location: location(path) })
}

fn change(path: &str, effect: Effect) -> Change {
    Change { path: path.into(), effect, entry: Entry::File, bytes: 1 }
}

fn traced(events: Vec<Event>) -> Traced {
    Traced { call: Some(CALL), events, ..Traced::default() }
}

fn noise() -> Noise {
    Noise::new(Path::new("/home/u"), &[]).unwrap()
}

fn done(traced: &Traced) -> Effects {
    gather(traced, Whose::Call, &places(), &noise())
}

fn paths<'a>(touches: impl IntoIterator<Item = &'a Touch>) -> Vec<&'a str> {
    touches.into_iter().map(|touch| touch.path.to_str().unwrap()).collect()
}

fn connect(address: &str, transport: Transport) -> Event {
    let socket = Some(Socket { family: Family::Inet, transport });
    event(Kind::Connect { address: Address::Inet(address.parse().unwrap()), peer: None, socket })
}

fn flow(name: Option<&str>, address: &str, sent: u64) -> Flow {
    Flow {
        id: 1,
        connection: 1,
        at: Instant::now(),
        call: Some(CALL),
        kind: FlowKind::Tcp,
        name: name.map(str::to_owned),
        address: address.parse::<SocketAddr>().unwrap(),
        tls: None,
        http: None,
        statement: None,
        sent: Bytes { first: Vec::new(), total: sent },
        answered: Bytes::default(),
        planted: false,
        forwarded: false,
        open: false,
    }
}

#[test]
fn reads_are_told_apart_from_the_noise_of_the_runtime_which_is_counted() {
    let effects = done(&traced(vec![
        open("/usr/lib/libc.so.6", "r"),
        open("/srv/server/part.txt", "r"),
        open("/data/report.csv", "r"),
        open("/data", "rd"),
    ]));
    assert_eq!(paths(&effects.reads), ["/data/report.csv"]);
    assert_eq!(paths(&effects.lists), ["/data"]);
    assert_eq!(effects.filtered, 2);
    assert!(effects.noise.contains("read /usr/lib/libc.so.6"), "{:?}", effects.noise);
}

#[test]
fn a_canary_is_never_noise_even_where_it_is_learned() {
    let mut noise = noise();
    noise.learn_read(Path::new("/home/u/.netrc"));
    let traced = traced(vec![open("/home/u/.netrc", "r")]);
    let effects = gather(&traced, Whose::Call, &places(), &noise);
    let wanted = Touch { path: "/home/u/.netrc".into(), place: Place::Canary };
    assert_eq!(effects.secrets().collect::<Vec<_>>(), [&wanted]);
}

#[test]
fn to_try_to_read_where_secrets_lie_is_enough() {
    let refused = Event { outcome: Outcome::Failed(13), ..open("/etc/shadow", "r") };
    let missing = Event { outcome: Outcome::Failed(2), ..open("/data/none", "r") };
    let effects = done(&traced(vec![refused, missing]));
    assert_eq!(paths(&effects.reads), ["/etc/shadow"]);
}

#[test]
fn a_database_that_is_opened_for_both_and_not_changed_is_not_written() {
    let traced = traced(vec![open("/data/app.db", "rwc")]);
    let effects = done(&traced);
    assert!(effects.writes.is_empty());
    assert_eq!(paths(&effects.opened_to_write), ["/data/app.db"]);
    let changed = Traced { changes: vec![change("/data/app.db", Effect::Modified)], ..traced };
    assert_eq!(paths(&done(&changed).writes), ["/data/app.db"]);
}

#[test]
fn what_is_made_and_removed_again_has_not_changed_the_world() {
    let effects = done(&traced(vec![open("/data/lock", "wc"), unlink("/data/lock"), unlink("/data/old")]));
    assert!(effects.writes.is_empty(), "{:?}", effects.writes);
    assert_eq!(paths(&effects.deletes), ["/data/old"]);
}

#[test]
fn a_file_that_is_moved_is_not_lost() {
    let moved = event(Kind::Rename { from: location("/data/a"), to: location("/data/b") });
    let changes = vec![change("/data/a", Effect::Deleted), change("/data/b", Effect::Created)];
    let effects = done(&Traced { changes, ..traced(vec![moved]) });
    assert_eq!((paths(&effects.moves), paths(&effects.creates)), (vec!["/data/a"], vec!["/data/b"]));
    assert!(effects.deletes.is_empty(), "{:?}", effects.deletes);
}

#[test]
fn a_file_that_is_changed_through_an_old_descriptor_counts_for_the_call() {
    let changes = vec![change("/data/app.db", Effect::Modified), change("/data/seen", Effect::Touched)];
    let effects = done(&Traced { changes, ..traced(Vec::new()) });
    assert_eq!(paths(&effects.writes), ["/data/app.db"]);
}

#[test]
fn what_happens_in_the_background_is_no_doing_of_the_call() {
    let background = Event { call: None, ..open("/home/u/state", "wct") };
    let late = Event { call: Some(CALL - 1), ..open("/data/late", "r") };
    let changes = vec![change("/home/u/state", Effect::Created)];
    let traced = Traced { changes, ..traced(vec![background, late, open("/data/now", "r")]) };
    let call = done(&traced);
    assert_eq!((paths(&call.reads), paths(&call.writes)), (vec!["/data/now"], vec![]));
    let besides = gather(&traced, Whose::Background, &places(), &noise());
    assert_eq!((paths(&besides.reads), paths(&besides.creates)), (vec!["/data/late"], vec!["/home/u/state"]));
}

#[test]
fn hosts_are_known_by_the_name_that_was_asked_for_and_counted_once() {
    let mut traced = traced(vec![
        connect("93.184.0.1:443", Transport::Stream),
        connect("127.0.0.1:5432", Transport::Stream),
    ]);
    traced.flows = vec![
        flow(Some("api.example.com"), "93.184.0.1:443", 100),
        flow(Some("api.example.com"), "93.184.0.1:443", 20),
    ];
    let effects = done(&traced);
    let met: Vec<_> = effects.connects.iter().map(|contact| (contact.place(), contact.sent)).collect();
    assert_eq!(met, [("127.0.0.1:5432".to_owned(), 0), ("api.example.com:443".to_owned(), 120)]);
    assert_eq!(effects.outside().count(), 1);
}

#[test]
fn a_resolver_that_sorts_addresses_reaches_nobody() {
    let effects = done(&traced(vec![connect("93.184.0.1:443", Transport::Datagram)]));
    assert!(effects.connects.is_empty());
}

#[test]
fn programs_are_kept_with_their_arguments_unless_they_could_not_be_run() {
    let program = |file: &str| {
        let arguments = ["git", "status"].map(OsString::from).to_vec();
        event(Kind::Execute(Program { location: location(file), arguments, cut: false, image: None }))
    };
    let failed = Event { outcome: Outcome::Failed(2), ..program("/usr/local/bin/git") };
    let effects = done(&traced(vec![failed, program("/usr/bin/git")]));
    let programs: Vec<_> =
        effects.programs.iter().map(|each| (each.file.clone(), each.arguments.len())).collect();
    assert_eq!(programs, [(PathBuf::from("/usr/bin/git"), 2)]);
}

#[test]
fn effects_add_up() {
    let mut one = Traced {
        flows: vec![flow(Some("a.example"), "1.2.3.4:80", 10)],
        ..traced(vec![open("/data/a", "r")])
    };
    let mut all = done(&one);
    one.events = vec![open("/data/b", "r"), open("/usr/x", "r")];
    all.add(&done(&one));
    assert_eq!((paths(&all.reads), all.filtered), (vec!["/data/a", "/data/b"], 1));
    assert_eq!(all.connects.iter().map(|contact| contact.sent).collect::<Vec<_>>(), [20]);
}

#[test]
fn a_log_is_added_to_and_what_is_overwritten_or_removed_under_such_a_name_is_no_log() {
    let append = |path: &str| {
        let access = Access { write: true, create: true, flags: 0o2000, ..Access::default() };
        event(Kind::Open { location: location(path), access })
    };
    let effects = done(&traced(vec![append("/data/a.log"), append("/data/logs/b")]));
    assert!(effects.writes.is_empty() && effects.filtered == 2, "{effects:?}");
    let effects = done(&traced(vec![open("/data/a.log", "wct"), unlink("/data/old.log")]));
    assert_eq!(
        (paths(&effects.writes), paths(&effects.deletes)),
        (vec!["/data/a.log"], vec!["/data/old.log"])
    );
    let through_an_old_descriptor = vec![change("/data/a.log", Effect::Modified)];
    let effects = done(&Traced { changes: through_an_old_descriptor, ..traced(Vec::new()) });
    assert!(effects.writes.is_empty(), "{effects:?}");
}

#[test]
fn a_walk_through_a_directory_with_canaries_is_kept_in_mind() {
    let effects = done(&traced(vec![open("/home/u", "rd"), open("/data", "rd")]));
    assert_eq!(effects.walked, [PathBuf::from("/home/u")].into());
}
