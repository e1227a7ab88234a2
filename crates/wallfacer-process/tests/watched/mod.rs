//! Runs a piece of a test as a target: in a process of its own, beneath a parent of its own, watched from here.

// Each test file uses its own part of this.
#![allow(dead_code, unsafe_code)]

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{Read, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use wallfacer_process::trace::{
    Event, Filter, Gate, Kind, Options, Outcome, Program, Recorder, Recording, Tracer, enter,
};

/// A target that runs.
pub struct Running {
    pub pid: u32,
    pub in_flight: Arc<AtomicU64>,
    pub recorder: Arc<Recorder>,
    tracer: Tracer,
    told: File,
}

/// A target that has ended.
pub struct Watched {
    pub pid: u32,
    pub events: Vec<Event>,
    /// What the target's parent was given by `wait`.
    pub status: i32,
}

/// Watches `body`, whose result is the exit code, from beginning to end.
pub fn watch(body: impl FnOnce() -> i32) -> Watched {
    start(Options::default(), None, body).end()
}

pub fn start(options: Options, gate: Option<Arc<dyn Gate>>, body: impl FnOnce() -> i32) -> Running {
    run(options, gate, || (), body)
}

/// Does `before` in the target, but before it is watched.
pub fn start_after(before: impl FnOnce(), body: impl FnOnce() -> i32) -> Running {
    run(Options::default(), None, before, body)
}

/// What happens in the target must be right after a fork: system calls and little else.
fn run(
    options: Options,
    gate: Option<Arc<dyn Gate>>,
    before: impl FnOnce(),
    body: impl FnOnce() -> i32,
) -> Running {
    let filter = Filter::new(options).expect("a filter for this machine");
    let (wait, go) = pipe().expect("a pipe");
    let (mut told, tell) = pipe().expect("a pipe");
    // SAFETY: the child ends in `_exit`; what it does till then is up to each test.
    unsafe {
        if libc::fork() == 0 {
            let target = libc::fork();
            if target == 0 {
                before();
                let run = || match enter(&filter, wait.as_raw_fd()) {
                    Ok(()) => body(),
                    Err(_) => 102,
                };
                libc::_exit(catch_unwind(AssertUnwindSafe(run)).unwrap_or(101));
            }
            (&tell).write_all(&target.to_ne_bytes()).expect("someone listens");
            libc::_exit(attend(target, &tell));
        }
    }
    drop((wait, tell));
    let pid = u32::from_ne_bytes(word(&mut told));
    let in_flight = Arc::new(AtomicU64::new(0));
    let recorder = Arc::new(Recorder::new(Arc::clone(&in_flight)));
    let tracer = Tracer::attach(pid, go.into(), Arc::clone(&recorder), gate).expect("a child can be watched");
    Running { pid, in_flight, recorder, tracer, told: OwnedFd::from(told).into() }
}

/// What a keeper does: wakes a child that stopped, and tells how it ended.
unsafe fn attend(target: libc::pid_t, mut tell: impl Write) -> i32 {
    loop {
        let mut status = 0;
        // SAFETY: the status is written, and nothing else.
        unsafe {
            if libc::waitpid(target, &mut status, libc::WUNTRACED) != target {
                return 1;
            }
            if !libc::WIFSTOPPED(status) {
                return i32::from(tell.write_all(&status.to_ne_bytes()).is_err());
            }
            libc::kill(target, libc::SIGCONT);
        }
    }
}

fn word(from: &mut impl Read) -> [u8; 4] {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes).expect("four bytes");
    bytes
}

impl Running {
    /// Waits until it has ended by itself; gives what was recorded, also when some is lost.
    pub fn finish(self) -> Recording {
        self.tracer.wait();
        self.recorder.take()
    }

    /// Waits until it has ended by itself.
    pub fn end(mut self) -> Watched {
        let status = i32::from_ne_bytes(word(&mut self.told));
        self.tracer.wait();
        let recording = self.recorder.take();
        assert!(recording.lost.is_none(), "{:?}", recording.lost);
        assert!(self.recorder.pending().is_empty());
        Watched { pid: self.pid, events: recording.events, status }
    }
}

impl Watched {
    pub fn exit_code(&self) -> Option<i32> {
        libc::WIFEXITED(self.status).then(|| libc::WEXITSTATUS(self.status))
    }

    /// The opens of a path, as it was found.
    pub fn opens(&self, path: impl AsRef<Path>) -> Vec<&Event> {
        let is_it = |event: &&Event| match &event.kind {
            Kind::Open { location, .. } => location.path() == path.as_ref(),
            _ => false,
        };
        self.events.iter().filter(is_it).collect()
    }

    pub fn programs(&self) -> Vec<(Program, Outcome)> {
        let pick = |event: &'_ Event| match &event.kind {
            Kind::Execute(program) => Some((program.clone(), event.outcome)),
            _ => None,
        };
        self.events.iter().filter_map(pick).collect()
    }

    /// What became of calls of this name.
    pub fn system(&self, wanted: &str) -> Vec<Outcome> {
        let is_it = |event: &&Event| matches!(event.kind, Kind::System { name } if name == wanted);
        self.events.iter().filter(is_it).map(|event| event.outcome).collect()
    }

    pub fn find(&self, wanted: impl Fn(&Kind) -> bool) -> &Event {
        let found = self.events.iter().find(|event| wanted(&event.kind));
        found.unwrap_or_else(|| panic!("not among {:#?}", self.events))
    }
}

pub fn c(path: impl AsRef<OsStr>) -> CString {
    CString::new(path.as_ref().as_bytes()).expect("no zero in it")
}

/// Opens and closes; gives what `open` gave.
pub fn open(path: &CString, flags: i32) -> i32 {
    // SAFETY: the path is a C string.
    unsafe {
        let descriptor = libc::open(path.as_ptr(), flags, 0o644);
        if descriptor >= 0 {
            libc::close(descriptor);
        }
        descriptor
    }
}

/// What `errno` is after a call that failed.
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Replaces the target by a shell.
pub fn shell(script: &str) -> i32 {
    let [program, flag, script] = ["/bin/sh", "-c", script].map(c);
    let arguments = [program.as_ptr(), flag.as_ptr(), script.as_ptr(), std::ptr::null()];
    let environment = [c("PATH=/usr/local/bin:/usr/bin:/bin")];
    let environment = [environment[0].as_ptr(), std::ptr::null()];
    // SAFETY: both lists end in a null pointer.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    103
}

/// Memory that a target shares with its test.
pub fn shared(length: usize) -> &'static mut [u8] {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the mapping is new, as long as it says, and stays.
    unsafe {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let memory = libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        std::slice::from_raw_parts_mut(memory.cast(), length)
    }
}
