//! Programs, processes, threads, signals: whatever a tree consists of is watched, and nothing of it is disturbed.

#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

mod watched;

use std::fs;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;
use wallfacer_process::trace::{Kind, Outcome, Recorder, Tracer};
use watched::{c, open, shell, watch};

/// A file that a test can look for among all that a program opens.
fn file(folder: &TempDir, name: &str) -> std::path::PathBuf {
    let path = folder.path().canonicalize().unwrap().join(name);
    fs::write(&path, "").unwrap();
    path
}

/// Copied by another process: a file that is still open for writing in one of our own forks cannot be executed.
fn executable(from: &Path, to: &Path, mode: u32) {
    assert!(Command::new("/bin/cp").args([from, to]).status().unwrap().success());
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn each_attempt_to_execute_is_told_with_its_result() {
    let watched = watch(|| {
        let arguments = [c"true".as_ptr(), c"an argument".as_ptr(), std::ptr::null()];
        // SAFETY: the list ends in a null pointer.
        unsafe {
            for path in [c"/nowhere/true", c"/etc/true", c"/usr/bin/true"] {
                libc::execve(path.as_ptr(), arguments.as_ptr(), arguments.as_ptr().add(2));
            }
        }
        1
    });
    let programs = watched.programs();
    let outcomes: Vec<Outcome> = programs.iter().map(|&(_, outcome)| outcome).collect();
    let missing = Outcome::Failed(libc::ENOENT);
    assert_eq!(outcomes, [missing, missing, Outcome::Done(0)]);
    let (program, _) = &programs[2];
    assert_eq!(program.arguments, ["true", "an argument"]);
    assert!(!program.cut);
    let image = program.image.as_ref().unwrap();
    assert_eq!(image.arguments, ["true", "an argument"]);
    assert_eq!(image.file, Some(fs::canonicalize("/usr/bin/true").unwrap().into()));
    assert_eq!(watched.exit_code(), Some(0));
}

#[test]
fn a_script_is_told_with_the_interpreter_that_runs_it() {
    let folder = TempDir::new().unwrap();
    let source = file(&folder, "source");
    fs::write(&source, "#!/bin/sh -e\nexit 4\n").unwrap();
    let script = source.with_file_name("script");
    executable(&source, &script, 0o755);
    let path = c(&script);
    let watched = watch(|| {
        let arguments = [path.as_ptr(), c"x".as_ptr(), std::ptr::null()];
        // SAFETY: the list ends in a null pointer.
        unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), arguments.as_ptr().add(2)) }
    });
    let (program, _) = watched.programs().remove(0);
    assert_eq!(program.location.path(), script);
    let image = program.image.unwrap();
    assert_eq!(image.file, Some(fs::canonicalize("/bin/sh").unwrap().into()));
    assert_eq!(image.arguments, ["/bin/sh".as_ref(), "-e".as_ref(), script.as_os_str(), "x".as_ref()]);
    assert_eq!(watched.exit_code(), Some(4));
}

#[test]
fn a_thread_other_than_the_first_can_execute() {
    let watched = watch(|| {
        std::thread::scope(|scope| {
            scope.spawn(|| shell("exit 5"));
            scope.spawn(|| open(&c("/dev/null"), libc::O_RDONLY));
        });
        1
    });
    let (program, outcome) = watched.programs().remove(0);
    assert_eq!((outcome, program.arguments[2].to_str()), (Outcome::Done(0), Some("exit 5")));
    assert_eq!(watched.exit_code(), Some(5));
}

#[test]
fn a_program_that_is_only_in_memory_is_seen() {
    let program = fs::read("/usr/bin/true").unwrap();
    let watched = watch(|| {
        let arguments = [c"true".as_ptr(), std::ptr::null()];
        // SAFETY: the buffer is as long as it says; the list ends in a null pointer.
        unsafe {
            let memory = libc::memfd_create(c"hidden".as_ptr(), libc::MFD_CLOEXEC);
            libc::write(memory, program.as_ptr().cast(), program.len());
            let nothing = arguments.as_ptr().add(1);
            let flags = libc::AT_EMPTY_PATH;
            libc::syscall(libc::SYS_execveat, memory, c"".as_ptr(), arguments.as_ptr(), nothing, flags);
        }
        1
    });
    watched.find(|kind| matches!(kind, Kind::MemoryFile { name } if name == "hidden"));
    let (program, outcome) = watched.programs().remove(0);
    assert_eq!(outcome, Outcome::Done(0));
    assert_eq!(program.image.unwrap().file, Some("/memfd:hidden (deleted)".into()));
    assert_eq!(program.location.path().to_str(), Some("/memfd:hidden (deleted)"));
    assert_eq!(watched.exit_code(), Some(0));
}

#[test]
fn every_way_to_make_a_task_is_followed() {
    const WAYS: [&str; 5] = ["fork", "vfork", "clone3", "thread", "spawn"];
    let folder = TempDir::new().unwrap();
    let files = WAYS.map(|way| file(&folder, way));
    let [fork, vfork, clone3, thread, _] = files.each_ref().map(c);
    let spawned = format!("< {} exit 0", files[4].display());
    let watched = watch(|| {
        // SAFETY: each child only opens and ends; `vfork` is made by the bare call with memory of its own.
        unsafe {
            if libc::fork() == 0 {
                libc::_exit(open(&fork, libc::O_RDONLY).min(0));
            }
            if libc::syscall(libc::SYS_clone, libc::CLONE_VFORK | libc::SIGCHLD, 0, 0, 0, 0) == 0 {
                libc::_exit(open(&vfork, libc::O_RDONLY).min(0));
            }
            let mut arguments = [0_u64; 8];
            arguments[4] = libc::SIGCHLD as u64;
            if libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) == 0 {
                libc::_exit(open(&clone3, libc::O_RDONLY).min(0));
            }
            std::thread::scope(|scope| {
                scope.spawn(|| open(&thread, libc::O_RDONLY));
            });
            let status = Command::new("/bin/sh").args(["-c", &spawned]).status();
            while libc::wait(std::ptr::null_mut()) > 0 {}
            status.map_or(1, |status| status.code().unwrap_or(2))
        }
    });
    assert_eq!(watched.exit_code(), Some(0));
    for (way, file) in WAYS.iter().zip(&files) {
        let [opened] = &watched.opens(file)[..] else { panic!("{way} is not followed") };
        assert_eq!(opened.pid == watched.pid, *way == "thread", "{way}");
        assert_ne!(opened.tid, watched.pid);
        let is_born = |kind: &Kind| *kind == Kind::Fork { child: opened.pid };
        assert_eq!(watched.events.iter().any(|event| is_born(&event.kind)), *way != "thread", "{way}");
    }
    let exits = watched.events.iter().filter(|event| matches!(event.kind, Kind::Exit { .. })).count();
    assert_eq!(exits, 5, "four children and the target, but no thread");
}

#[test]
fn a_thousand_threads_are_watched() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "file");
    let text = c(&path);
    let watched = watch(|| {
        for _ in 0..10 {
            std::thread::scope(|scope| {
                for _ in 0..100 {
                    scope.spawn(|| open(&text, libc::O_RDONLY));
                }
            });
        }
        0
    });
    assert_eq!(watched.opens(&path).len(), 1000);
}

#[test]
fn signals_reach_the_target_and_a_stopped_one_goes_on() {
    let script = "trap 'exit 7' TERM; kill -STOP $$; kill -TERM $$; exit 1";
    let watched = watch(|| shell(script));
    assert_eq!(watched.exit_code(), Some(7));
    let killed = watch(|| shell("kill -ABRT $$"));
    assert_eq!(libc::WTERMSIG(killed.status), libc::SIGABRT);
    killed.find(|kind| *kind == Kind::Exit { status: killed.status });
}

#[test]
fn a_storm_of_signals_loses_no_event() {
    const OPENS: usize = 500;
    extern "C" fn nothing(_: libc::c_int) {}
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "file");
    let text = c(&path);
    let watched = watch(|| {
        // SAFETY: the handler does nothing; the structures live through the calls.
        unsafe {
            let mut action = std::mem::zeroed::<libc::sigaction>();
            action.sa_sigaction = nothing as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut());
            let every = libc::timeval { tv_sec: 0, tv_usec: 200 };
            let timer = libc::itimerval { it_interval: every, it_value: every };
            libc::syscall(libc::SYS_setitimer, libc::ITIMER_REAL, &raw const timer, 0);
        }
        (0..OPENS).map(|_| open(&text, libc::O_RDONLY)).min().unwrap_or(-1).min(0)
    });
    assert_eq!(watched.exit_code(), Some(0));
    let opened = watched.opens(&path);
    assert_eq!(opened.iter().filter(|event| event.outcome.succeeded()).count(), OPENS);
}

#[test]
fn children_of_other_threads_are_left_to_them() {
    let (wait, mut hold) = std::io::pipe().unwrap();
    let running = watched::start(Default::default(), None, || {
        // SAFETY: the buffer holds the byte.
        unsafe { libc::read(wait.as_raw_fd(), [0_u8].as_mut_ptr().cast(), 1) as i32 - 1 }
    });
    assert!(Command::new("/bin/true").status().unwrap().success());
    std::io::Write::write_all(&mut hold, &[1]).unwrap();
    assert_eq!(running.end().exit_code(), Some(0));
}

#[test]
fn a_setuid_program_gains_nothing() {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("id");
    executable(Path::new("/usr/bin/id"), &program, 0o4755);
    let (mut output, write) = std::io::pipe().unwrap();
    let [path, flag] = [c(&program), c("-u")];
    let watched = watch(|| {
        let arguments = [path.as_ptr(), flag.as_ptr(), std::ptr::null()];
        // SAFETY: the list ends in a null pointer.
        unsafe {
            libc::dup2(write.as_raw_fd(), 1);
            // Only root can become someone else; anyone else is someone else already.
            libc::setresuid(65534, 65534, 65534);
            libc::execve(path.as_ptr(), arguments.as_ptr(), arguments.as_ptr().add(2))
        }
    });
    drop(write);
    assert_eq!(watched.exit_code(), Some(0));
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    // SAFETY: takes no pointers.
    let expected = if unsafe { libc::geteuid() } == 0 { 65534 } else { unsafe { libc::geteuid() } };
    assert_eq!(text.trim(), expected.to_string());
}

#[test]
fn killing_the_watcher_kills_the_whole_tree() {
    // The daemon holds this pipe as long as it lives.
    let (mut alive, hold) = std::io::pipe().unwrap();
    let (mut ready, tell) = std::io::pipe().unwrap();
    // SAFETY: the child ends in `_exit`, or is killed.
    let watcher = unsafe { libc::fork() };
    if watcher == 0 {
        let running = watched::start(Default::default(), None, || {
            // SAFETY: the descriptors are open.
            unsafe { [libc::dup2(tell.as_raw_fd(), 1), libc::dup2(hold.as_raw_fd(), 2)] };
            shell("setsid sh -c 'sleep 1000 & echo ready' < /dev/null; exec sleep 1000")
        });
        running.end();
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    drop((hold, tell));
    ready.read_exact(&mut [0; 6]).unwrap();
    // SAFETY: an unreaped child's number is its own.
    unsafe {
        libc::kill(watcher, libc::SIGKILL);
        libc::waitpid(watcher, std::ptr::null_mut(), 0);
    }
    // Comes to its end only when the last holder is gone.
    assert_eq!(alive.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[test]
fn a_target_that_is_never_told_to_go_does_not_run() {
    let filter = wallfacer_process::trace::Filter::new(Default::default()).unwrap();
    let (wait, go) = std::io::pipe().unwrap();
    drop(go);
    // SAFETY: the descriptor is readable, and nothing is installed.
    let refused = unsafe { wallfacer_process::trace::enter(&filter, wait.as_raw_fd()) };
    assert_eq!(refused, Err(libc::ECANCELED));
    let recorder = Arc::new(Recorder::new(Default::default()));
    let (_wait, go) = std::io::pipe().unwrap();
    // The first process of the system is nobody's to watch twice; our own thread cannot watch itself.
    assert!(Tracer::attach(std::process::id(), go.into(), recorder, None).is_err());
}

#[test]
fn an_ordinary_user_can_watch_what_is_theirs() {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = file(&folder, "file");
    let text = c(&path);
    // SAFETY: the child ends in `_exit`.
    let watcher = unsafe { libc::fork() };
    if watcher == 0 {
        // SAFETY: takes no pointers. Only root can become someone else; anyone else is that already. Whoever changes
        // who they are can no longer be traced until they say that they can.
        unsafe {
            libc::setresuid(65534, 65534, 65534);
            libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0);
        }
        let watched = watch(|| {
            // SAFETY: takes no pointers.
            unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
            open(&text, libc::O_RDONLY);
            shell("exit 0")
        });
        let is_seen = watched.opens(&path).len() == 1
            && watched.programs().len() == 1
            && watched.exit_code() == Some(0)
            && watched.programs()[0].0.image.as_ref().is_some_and(|image| image.file.is_some());
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!is_seen)) };
    }
    let mut status = 0;
    // SAFETY: the status is written, and nothing else.
    unsafe { libc::waitpid(watcher, &mut status, 0) };
    assert_eq!(status, 0);
}
