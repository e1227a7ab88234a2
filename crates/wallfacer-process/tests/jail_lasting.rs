//! A jail in which something lasts: what is written to the directories it names is there afterwards, and nothing else is.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use common::{command, output, sh, soon};
use wallfacer_process::jail::{Jail, Network};
use wallfacer_process::{Process, Rung, Spec, StartError};

struct Place {
    home: tempfile::TempDir,
    lasting: std::path::PathBuf,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let lasting = home.path().join(".cache/kept here");
        fs::create_dir_all(&lasting).unwrap();
        fs::write(home.path().join("diary"), "dear diary").unwrap();
        Self { home, lasting }
    }

    fn jailed(&self, spec: Spec, best: Rung) -> Spec {
        let mut jail = Jail::new(self.home.path(), 7);
        (jail.network, jail.best, jail.worst) = (Network::Host, best, Rung::Fence);
        jail.lasting = vec![self.lasting.clone()];
        Spec { jail: Some(jail), cwd: Some("/".into()), ..spec }
    }
}

#[test]
fn all_of_this_holds_for_an_ordinary_user_too() {
    common::tests_hold_for_an_ordinary_user("all_of_this_holds_for_an_ordinary_user_too");
}

#[tokio::test]
async fn what_is_written_to_it_stays_and_nothing_else_does() {
    for rung in [Rung::Overlay, Rung::ReadOnly, Rung::Fence] {
        let place = Place::new();
        let script = "mkdir \"$L/made\" && echo new > \"$L/made/file\" && cat \"$L/made/file\"
            for path in \"$H/evil\" \"$L/../evil\" /etc/evil /var/tmp/evil; do echo x > \"$path\"; done 2>/dev/null
            cat \"$H/diary\" 2>/dev/null; true";
        let mut spec = place.jailed(sh(script), rung);
        spec.env.insert("L".into(), place.lasting.clone().into());
        spec.env.insert("H".into(), place.home.path().into());
        let (process, stdio) = Process::start(&spec).unwrap();
        assert_eq!(process.confinement().rung, rung, "{:?}", process.confinement());
        assert_eq!(output(stdio.stdout).await, "new\n", "{rung}");
        soon(process.exited()).await;
        assert_eq!(fs::read_to_string(place.lasting.join("made/file")).unwrap(), "new\n");
        let evil = [place.home.path().join("evil"), place.home.path().join(".cache/evil")];
        let mut evil = evil.into_iter().chain(["/etc/evil".into(), "/var/tmp/evil".into()]);
        assert_eq!(evil.find(|path| path.exists()), None, "{rung}");
    }
}

/// The last rung that is tried was given, and the machine is asked for one below it only.
#[tokio::test]
async fn nothing_is_started_on_a_lower_rung_than_the_last_that_is_allowed() {
    let place = Place::new();
    let mut spec = place.jailed(sh("touch \"$L/started\""), Rung::OtherHome);
    spec.env.insert("L".into(), place.lasting.clone().into());
    let refused = Process::start(&spec).map(|_| ());
    assert!(matches!(refused, Err(StartError::Confine { .. })), "{refused:?}");
    assert!(!place.lasting.join("started").exists());
}

/// A Unix socket without a path belongs to the network, which is the machine's own here. Linux 6.12 keeps from it.
#[tokio::test]
async fn sockets_without_a_path_are_not_reached_on_the_machines_own_network() {
    let place = Place::new();
    let name = format!("wallfacer-test-{}", std::process::id());
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let script = "import socket, sys
try: socket.socket(socket.AF_UNIX).connect('\\0' + sys.argv[1])
except PermissionError: print('refused')
else: print('reached')";
    let outside = command("/usr/bin/python3", &["-c", script, &name]);
    let inside = place.jailed(outside.clone(), Rung::Overlay);
    for (spec, said) in [(outside, "reached\n"), (inside, "refused\n")] {
        let (_process, stdio) = Process::start(&spec).unwrap();
        assert_eq!(output(stdio.stdout).await, said);
    }
}

/// What variables name is shown, and would else come to lie over what lasts.
#[tokio::test]
async fn what_a_variable_names_in_it_lasts_too() {
    let place = Place::new();
    let inside = place.lasting.join("uv");
    fs::create_dir(&inside).unwrap();
    let mut spec = place.jailed(sh("echo new > \"$UV_CACHE_DIR/file\""), Rung::Overlay);
    spec.env.insert("UV_CACHE_DIR".into(), inside.clone().into());
    let (process, _stdio) = Process::start(&spec).unwrap();
    soon(process.exited()).await;
    assert_eq!(fs::read_to_string(inside.join("file")).unwrap(), "new\n");
}
