//! A start that fails says why; one that succeeds gives the program exactly the world it was meant to have.

// Signals and their masks have no safe interface.
#![allow(unsafe_code)]

mod common;

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use common::{BOTH, command, line, output, sh, soon};
use tokio::io::BufReader;
use wallfacer_process::{ControlKind, Process, Spec, StartError};

fn failure(kind: ControlKind, spec: &Spec) -> StartError {
    Process::start_with(kind, spec).expect_err("this cannot start")
}

fn file(directory: &Path, name: &str, mode: u32, content: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

fn path_spec(path: &Path) -> Spec {
    command(path.to_str().unwrap(), &[])
}

#[tokio::test]
async fn a_program_that_is_nowhere_is_named_with_the_path_that_was_searched() {
    for kind in BOTH {
        let error = failure(kind, &command("no-such-program", &[]));
        assert_eq!(error.to_string(), "cannot find `no-such-program` in PATH (/usr/local/bin:/usr/bin:/bin)");
    }
}

#[tokio::test]
async fn a_long_path_is_shortened_in_the_error() {
    let spec = Spec {
        env: [("PATH".into(), "/nowhere:".repeat(1000).into())].into(),
        ..Spec::new("no-such-program")
    };
    let error = failure(ControlKind::WholeTree, &spec).to_string();
    assert!(error.ends_with("…)") && error.chars().count() < 300, "{error}");
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named() {
    for kind in BOTH {
        let error = failure(kind, &command("/no/such/file", &[]));
        assert!(
            matches!(&error, StartError::NoSuchFile { path } if path == Path::new("/no/such/file")),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_file_without_the_permission_is_not_executable() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "server", 0o644, "#!/bin/sh\n");
    for kind in BOTH {
        let error = failure(kind, &path_spec(&path));
        assert!(matches!(error, StartError::NotExecutable { .. }), "{error:?}");
        let error = failure(kind, &path_spec(directory.path()));
        assert!(matches!(error, StartError::NotExecutable { .. }), "{error:?}");
        let in_path = Spec { env: [("PATH".into(), directory.path().into())].into(), ..Spec::new("server") };
        let error = failure(kind, &in_path);
        assert!(matches!(error, StartError::NotExecutable { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_file_of_no_known_format_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "server", 0o755, "\u{1}\u{2}\u{3}");
    let error = failure(ControlKind::WholeTree, &path_spec(&path));
    assert!(matches!(error, StartError::ExecFormat { .. }), "{error:?}");
}

#[tokio::test]
async fn a_script_whose_interpreter_is_missing_names_the_interpreter() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "server", 0o755, "#! /no/such/python3 -u\n");
    for kind in BOTH {
        let error = failure(kind, &path_spec(&path));
        let StartError::NoInterpreter { interpreter, .. } = &error else { panic!("{error:?}") };
        assert_eq!(interpreter, "/no/such/python3");
    }
}

#[tokio::test]
async fn a_working_directory_that_is_missing_is_named() {
    for kind in BOTH {
        let spec = Spec { cwd: Some("/no/such/directory".into()), ..sh("exit 0") };
        let error = failure(kind, &spec).to_string();
        assert_eq!(error, "cannot enter the working directory `/no/such/directory`");
    }
}

#[tokio::test]
async fn a_nul_byte_and_an_endless_argument_are_refused() {
    for kind in BOTH {
        let error = failure(kind, &command("sh", &["a\0b"]));
        assert!(matches!(error, StartError::NulByte { .. }), "{error:?}");
        let error = failure(kind, &command("sh", &["-c", &"x".repeat(8 << 20)]));
        assert!(matches!(error, StartError::TooLong { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn the_environment_is_exactly_the_one_given() {
    for kind in BOTH {
        let mut spec = command("/usr/bin/env", &[]);
        spec.env = [("A".into(), "1".into()), ("B C".into(), "two = 2".into())].into();
        let (_process, stdio) = Process::start_with(kind, &spec).unwrap();
        assert_eq!(output(stdio.stdout).await, "A=1\nB C=two = 2\n");
    }
}

#[tokio::test]
async fn a_relative_program_is_found_from_the_working_directory() {
    let directory = tempfile::tempdir().unwrap();
    file(directory.path(), "server", 0o755, "#!/bin/sh\necho $0; pwd -P\n");
    let place = directory.path().canonicalize().unwrap();
    for kind in BOTH {
        let spec = Spec { cwd: Some(place.clone()), ..command("./server", &[]) };
        let (_process, stdio) = Process::start_with(kind, &spec).unwrap();
        let told = output(stdio.stdout).await;
        assert!(told.ends_with(&format!("/server\n{}\n", place.display())), "{told}");
    }
}

#[tokio::test]
async fn a_program_is_called_by_the_name_it_was_given() {
    for kind in BOTH {
        let spec = command("cat", &["/proc/self/cmdline"]);
        let (_process, stdio) = Process::start_with(kind, &spec).unwrap();
        assert_eq!(output(stdio.stdout).await, "cat\0/proc/self/cmdline\0");
    }
}

#[tokio::test]
async fn the_server_sees_descriptors_0_1_2_and_no_other() {
    // Files of ours that do not close on exec are the ones that would leak.
    let (reader, _writer) = std::io::pipe().unwrap();
    // SAFETY: the descriptor is open, and its flags are changed for nobody else.
    unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&reader), libc::F_SETFD, 0) };
    let (process, stdio) = Process::start(&sh("echo ready; read line")).unwrap();
    assert_eq!(line(&mut BufReader::new(stdio.stdout)).await, "ready");
    let open: BTreeSet<String> = fs::read_dir(format!("/proc/{}/fd", process.pid()))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(open, ["0", "1", "2"].map(String::from).into());
}

#[tokio::test]
async fn no_signal_is_blocked_or_ignored_in_the_server() {
    // Rust ignores SIGPIPE in us, and we block one more to see that the server does not get to know.
    // SAFETY: the set is made before it is used; the mask is that of this thread alone.
    unsafe {
        let mut signals = std::mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, libc::SIGUSR2);
        libc::pthread_sigmask(libc::SIG_BLOCK, &signals, std::ptr::null_mut());
    }
    let (_process, stdio) = Process::start(&command("grep", &["^Sig[BI]", "/proc/self/status"])).unwrap();
    assert_eq!(output(stdio.stdout).await, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    // SAFETY: the call fills in the set it is given.
    let still_blocked = unsafe {
        let mut signals = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut signals);
        libc::sigismember(&signals, libc::SIGUSR2) == 1
    };
    assert!(still_blocked, "starting a server changes nothing in us");
}

#[tokio::test]
async fn the_server_leads_a_session_of_its_own_without_a_terminal() {
    let (process, stdio) = Process::start(&sh("exec cat /proc/self/stat")).unwrap();
    let stat = output(stdio.stdout).await;
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let pid = process.pid().to_string();
    assert_eq!([fields[2], fields[3], fields[4]], [&pid, &pid, "0"]);
    soon(process.exited()).await;
}
