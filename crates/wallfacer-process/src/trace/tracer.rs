//! The thread that watches one process tree and turns its stops into events.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::alertness::Alertness;
use super::call::{Architecture, Call};
use super::decode::{Asked, View};
use super::event::{Event, Kind, Outcome};
use super::gate::{Decision, Gate};
use super::recorder::Recorder;
use super::sockets::{self, Known, Sockets};
use super::task::{Awaited, Pending, Task};
use super::tracee::{Descriptors, Stop, Tracee};

/// Marks the stop at the end of a call, so that it is no SIGTRAP of the target's own.
const CALL_STOP: libc::c_int = libc::SIGTRAP | 0x80;

/// All new tasks of the tree are watched from their first instruction on, and none outlives the tracer.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_EXITKILL;

/// The kernel's own results for a call that a signal interrupted. It is made anew, or the target sees EINTR.
const INTERRUPTED: std::ops::RangeInclusive<i64> = -516..=-512;

/// Watches one tree, on a thread of its own, until the last task of it is gone: also when this handle is dropped before.
/// Should that thread end early, whatever is left of the tree is killed.
///
/// Tasks are awaited by that thread alone. Any other thread of this process that waits for *all* its children would
/// take its stops away; nobody here does.
#[derive(Debug)]
pub struct Tracer {
    thread: JoinHandle<()>,
}

#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    #[error("no thread can be started to watch process {pid}")]
    Thread { pid: u32, source: io::Error },
    #[error("process {pid} cannot be watched: the system refuses ptrace")]
    Seize { pid: u32, source: io::Error },
    #[error("process {pid} cannot be told that it is watched")]
    Go { pid: u32, source: io::Error },
}

impl Tracer {
    /// Watches `pid`, which waits in [`enter`](super::enter) at the other end of `go`, and lets it begin. `pid` is the
    /// number that our own pid namespace gives it. On an error nothing was let go.
    pub fn attach(
        pid: u32,
        go: OwnedFd,
        recorder: Arc<Recorder>,
        gate: Option<Arc<dyn Gate>>,
    ) -> Result<Self, AttachError> {
        let (tell, told) = mpsc::sync_channel(1);
        let watch = move || {
            let seized = seize(pid, go);
            let is_seized = seized.is_ok();
            // Whoever asked is waiting for this.
            let _ = tell.send(seized);
            if is_seized {
                let first = pid as libc::pid_t;
                let tasks = [(first, Task::new(first))].into();
                let (sockets, descriptors) = Default::default();
                let alertness = Alertness::new();
                Watch { recorder, gate, tasks, sockets, descriptors, alertness }.run();
            }
        };
        let thread = thread::Builder::new().name("wallfacer-trace".to_owned()).spawn(watch);
        let thread = thread.map_err(|source| AttachError::Thread { pid, source })?;
        match told.recv() {
            Ok(seized) => seized.map(|()| Self { thread }),
            Err(_) => Err(AttachError::Seize { pid, source: io::Error::other("the tracer ended") }),
        }
    }

    /// Whether every task of the tree is gone, and all it did is recorded.
    pub fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until that is so.
    pub fn wait(self) {
        // A panic in there is a fault of ours; the tree was killed with it, and what was recorded stands.
        let _ = self.thread.join();
    }
}

fn seize(pid: u32, go: OwnedFd) -> Result<(), AttachError> {
    // SAFETY: neither argument is a pointer here.
    if unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid as libc::pid_t, 0, libc::c_long::from(OPTIONS)) } < 0 {
        return Err(AttachError::Seize { pid, source: io::Error::last_os_error() });
    }
    File::from(go).write_all(&[1]).map_err(|source| AttachError::Go { pid, source })
}

struct Watch {
    recorder: Arc<Recorder>,
    gate: Option<Arc<dyn Gate>>,
    tasks: BTreeMap<libc::pid_t, Task>,
    sockets: Sockets,
    descriptors: Descriptors,
    alertness: Alertness,
}

impl Watch {
    fn run(mut self) {
        loop {
            let (tid, status) = self.alertness.next_stop();
            if tid < 0 {
                match io::Error::last_os_error().kind() {
                    io::ErrorKind::Interrupted => continue,
                    _ => break,
                }
            }
            if libc::WIFSTOPPED(status) {
                self.stopped(tid, status);
            } else {
                self.ended(tid, status);
            }
        }
    }

    fn stopped(&mut self, tid: libc::pid_t, status: libc::c_int) {
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            libc::PTRACE_EVENT_SECCOMP => self.entry(tid),
            libc::PTRACE_EVENT_EXEC => self.executed(tid),
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => self.born(tid),
            libc::PTRACE_EVENT_STOP if is_job_control(signal) => {
                self.task(tid).tracee.resume(libc::PTRACE_LISTEN, 0);
            }
            0 if signal == CALL_STOP => self.exit(tid),
            // A signal on its way to the target, which gets it.
            0 => self.task(tid).go_on(signal),
            _ => self.task(tid).go_on(0),
        }
    }

    /// A task is about to make a call of the filter.
    fn entry(&mut self, tid: libc::pid_t) {
        let at = Instant::now();
        let call = self.recorder.call_in_flight();
        let judged = match self.task(tid).tracee.stop() {
            Ok(Stop::Entry { audit, number, arguments }) => self.judge(tid, audit, number, arguments),
            // Killed meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => None,
            // Kernels before 5.3 cannot tell which call it is. What cannot be seen must not be done.
            _ => {
                let kind = Kind::System { name: "a call that cannot be looked at" };
                Some(Judged::Refuse { kind, errno: libc::ENOSYS })
            }
        };
        let Some(judged) = judged else { return self.task(tid).go_on(0) };
        let pid = self.task(tid).process.unsigned_abs();
        let event = |kind, outcome| Event { at, pid, tid: tid.unsigned_abs(), call, kind, outcome };
        match judged {
            Judged::Refuse { kind, errno } => {
                if self.task(tid).tracee.skip(-i64::from(errno)) {
                    self.recorder.record(event(kind, Outcome::Refused(errno)));
                }
            }
            Judged::Await { asked, kind } => {
                self.recorder.begin(event(kind, Outcome::Unfinished));
                self.alertness.expect();
                self.task(tid).pending = Some(Pending { asked, result: Awaited::Event });
            }
            Judged::Learn(pending) => self.task(tid).pending = Some(pending),
        }
        self.task(tid).go_on(0);
    }

    /// `None`: let it through, it is no event.
    fn judge(&mut self, tid: libc::pid_t, audit: u32, number: u64, arguments: [u64; 6]) -> Option<Judged> {
        let Some(architecture) = Architecture::from_audit(audit) else {
            let kind = Kind::System { name: "a call of another architecture" };
            return Some(Judged::Refuse { kind, errno: libc::ENOSYS });
        };
        let asked = Asked { architecture, call: architecture.call(number)?, arguments };
        let task = self.tasks.get(&tid)?;
        let scene = Scene { tracee: &task.tracee, process: task.process, sockets: &self.sockets };
        let asked = asked.unfold(&scene)?;
        let refuse = |name, errno| Some(Judged::Refuse { kind: Kind::System { name }, errno });
        match (asked.call, asked.arguments) {
            (Call::Forbidden(name), _) => refuse(name, libc::EPERM),
            (Call::Absent(name), _) => refuse(name, libc::ENOSYS),
            (Call::Seccomp, [_, flags, ..]) => match flags & libc::SECCOMP_FILTER_FLAG_NEW_LISTENER {
                0 => None,
                _ => refuse("seccomp listener", libc::EINVAL),
            },
            // Answered with success: who hides its memory means other users, not us.
            (Call::ProcessControl, [option, 0, ..]) if option == libc::PR_SET_DUMPABLE as u64 => {
                refuse("prctl PR_SET_DUMPABLE", 0)
            }
            (Call::ProcessControl, _) => None,
            (Call::Socket, [family, transport, ..]) => {
                let socket = sockets::kind(family, transport);
                Some(Judged::Learn(Pending { asked, result: Awaited::Socket(socket) }))
            }
            _ => {
                let kind = asked.decode(&scene)?;
                Some(match self.denied(&kind) {
                    Some(errno) => Judged::Refuse { kind, errno },
                    None => Judged::Await { asked, kind },
                })
            }
        }
    }

    /// Asks the gate about each address that a call reaches for.
    fn denied(&self, kind: &Kind) -> Option<i32> {
        let gate = self.gate.as_deref()?;
        let denied = |address, socket| match gate.before_connect(address, socket) {
            Decision::Allow => None,
            Decision::Deny(errno) => Some(errno),
        };
        match kind {
            Kind::Connect { address, socket, .. } => denied(address, *socket),
            Kind::Send { socket, messages } => messages
                .iter()
                .filter(|message| message.addressed)
                .filter_map(|message| message.to.as_ref())
                .find_map(|address| denied(address, *socket)),
            _ => None,
        }
    }

    /// A call came back.
    fn exit(&mut self, tid: libc::pid_t) {
        let stop = self.task(tid).tracee.stop();
        if let (Ok(Stop::Exit { result }), Some(pending)) = (stop, self.task(tid).pending.take()) {
            match pending.result {
                Awaited::Event => self.finish(tid, &pending.asked, outcome(result)),
                Awaited::Socket(socket) => {
                    self.learn(tid, result as i32, |known| known.socket = Some(socket))
                }
            }
        }
        self.task(tid).go_on(0);
    }

    fn finish(&mut self, tid: libc::pid_t, asked: &Asked, outcome: Outcome) {
        let Some(mut event) = self.recorder.resume(tid.unsigned_abs()) else { return };
        event.outcome = outcome;
        // What is looked for and found is noise.
        if matches!(event.kind, Kind::Look { .. }) && outcome.succeeded() {
            return;
        }
        let Some(task) = self.tasks.get(&tid) else { return };
        task.complete(&mut event.kind, asked, outcome, &mut self.descriptors);
        self.associate(tid, asked.arguments[0] as i32, &mut event);
        self.recorder.record(event);
    }

    /// Remembers what a call made of its socket.
    fn associate(&mut self, tid: libc::pid_t, descriptor: i32, event: &mut Event) {
        let has_begun =
            matches!(event.outcome, Outcome::Done(_) | Outcome::Failed(libc::EINPROGRESS | libc::EALREADY));
        if !has_begun {
            return;
        }
        let task = self.task(tid);
        let examine = || task.tracee.borrow(task.process, descriptor).map(|socket| sockets::examine(&socket));
        match &mut event.kind {
            Kind::Connect { address, peer, .. } => {
                *peer = examine().and_then(|known| known.peer);
                let address = peer.clone().unwrap_or_else(|| address.clone());
                self.learn(tid, descriptor, |known| known.peer = Some(address));
            }
            Kind::Bind { address, .. } => {
                let address = examine().and_then(|known| known.bound).unwrap_or_else(|| address.clone());
                self.learn(tid, descriptor, |known| known.bound = Some(address));
            }
            Kind::Listen { address, .. } => {
                if let Some(bound) = examine().and_then(|known| known.bound) {
                    *address = Some(bound);
                }
            }
            _ => {}
        }
    }

    fn learn(&mut self, tid: libc::pid_t, descriptor: i32, change: impl FnOnce(&mut Known)) {
        let link = self.task(tid).tracee.descriptor(descriptor);
        if let Some(inode) = link.and_then(|link| sockets::inode(&link)) {
            self.sockets.change(inode, change);
        }
    }

    /// A new program runs. When a thread other than the first executed it, that thread has taken the first one's number.
    fn executed(&mut self, tid: libc::pid_t) {
        let former = self.task(tid).tracee.message();
        let pending = self.tasks.get_mut(&former).and_then(|task| task.pending.take());
        if former != tid {
            self.tasks.remove(&former);
            self.recorder.give_up(tid.unsigned_abs());
        }
        let event = self.recorder.resume(former.unsigned_abs());
        self.task(tid).pending = None;
        if let (Some(pending), Some(mut event), Some(task)) = (pending, event, self.tasks.get(&tid)) {
            event.outcome = Outcome::Done(0);
            task.complete(&mut event.kind, &pending.asked, event.outcome, &mut self.descriptors);
            if let Kind::Execute(program) = &mut event.kind {
                program.image = Some(task.tracee.image());
            }
            self.recorder.record(event);
        }
        self.task(tid).go_on(0);
    }

    fn born(&mut self, tid: libc::pid_t) {
        let child = self.task(tid).tracee.message();
        if self.task(child).is_process() {
            self.happened(tid, Kind::Fork { child: child.unsigned_abs() });
        }
        self.task(tid).go_on(0);
    }

    fn ended(&mut self, tid: libc::pid_t, status: libc::c_int) {
        self.recorder.give_up(tid.unsigned_abs());
        if self.tasks.get(&tid).is_some_and(Task::is_process) {
            self.happened(tid, Kind::Exit { status });
        }
        self.tasks.remove(&tid);
        self.descriptors.forget(tid);
    }

    /// Records what is no call.
    fn happened(&mut self, tid: libc::pid_t, kind: Kind) {
        let event = Event {
            at: Instant::now(),
            pid: self.task(tid).process.unsigned_abs(),
            tid: tid.unsigned_abs(),
            call: self.recorder.call_in_flight(),
            kind,
            outcome: Outcome::Done(0),
        };
        self.recorder.record(event);
    }

    /// A new task may stop before its parent tells of it, so each is known from when it is first seen.
    fn task(&mut self, tid: libc::pid_t) -> &mut Task {
        self.tasks.entry(tid).or_insert_with(|| Task::new(tid))
    }
}

/// What is done about a call.
enum Judged {
    Refuse {
        kind: Kind,
        errno: i32,
    },
    Await {
        asked: Asked,
        kind: Kind,
    },
    /// No event, but its result is wanted.
    Learn(Pending),
}

/// A stopped task among the sockets that are known.
struct Scene<'a> {
    tracee: &'a Tracee,
    process: libc::pid_t,
    sockets: &'a Sockets,
}

impl View for Scene<'_> {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        self.tracee.read(address, buffer)
    }

    fn descriptor(&self, number: i32) -> Option<std::ffi::OsString> {
        self.tracee.descriptor(number)
    }

    fn directory(&self, number: i32) -> Option<std::ffi::OsString> {
        self.tracee.directory(number)
    }

    fn socket(&self, number: i32) -> Known {
        let inode = self.tracee.descriptor(number).and_then(|link| sockets::inode(&link));
        let Some(inode) = inode else { return Known::default() };
        match self.sockets.get(inode) {
            Some(known) => known.clone(),
            // One that was accepted, or was there before us.
            None => {
                let socket = self.tracee.borrow(self.process, number);
                socket.map(|socket| sockets::examine(&socket)).unwrap_or_default()
            }
        }
    }
}

fn is_job_control(signal: libc::c_int) -> bool {
    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}

fn outcome(result: i64) -> Outcome {
    match result {
        0.. => Outcome::Done(result),
        _ if INTERRUPTED.contains(&result) => Outcome::Failed(libc::EINTR),
        _ => Outcome::Failed(i32::try_from(-result).unwrap_or(libc::EIO)),
    }
}
