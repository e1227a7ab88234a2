//! Follows the life of one process by its keeper's reports and its stderr. A thread of its own for each process, so
//! that stderr is drained and the end is seen whatever the rest of us is busy with.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use tokio::sync::watch;

use crate::control::Control;
use crate::ending::{Ending, Status};
use crate::pipe;
use crate::report::Report;
use crate::tail::{Stderr, Tail};
use crate::tree::Descendant;
#[cfg(target_os = "linux")]
use crate::weight::Scales;

/// The thread holds one read buffer and little else.
const STACK_BYTES: usize = 256 * 1024;

const READ_BYTES: usize = 64 * 1024;

/// When the main process has ended, what it wrote is still in the pipe: at most its capacity, which no ordinary user
/// can raise above 1 MiB. More than that comes from a child that goes on writing and must not hold up the news.
const MAX_LAST_WORDS: usize = 1024 * 1024;

/// How often a jailed tree is asked for its memory: what it can take in between does not hurt the machine, and asking
/// costs some hundred microseconds.
const WEIGH_EVERY: Duration = Duration::from_millis(100);

/// A tree that takes long to be looked at is looked at less often: the pause is this many times as long.
#[cfg(target_os = "linux")]
const WEIGH_SHARE: u32 = 4;

/// What is known of a process, shared between its handle and its attendant.
#[derive(Debug)]
pub(crate) struct Life {
    state: watch::Sender<State>,
    stderr: Mutex<Tail>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) ending: Option<Ending>,
    /// The tree held more memory than it may, and was killed for it.
    pub(crate) too_large: bool,
    /// Set when there is nothing more to wait for: we have let go of the tree, and all of stderr has been read.
    pub(crate) gone: Option<Gone>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gone {
    /// Nothing of the tree is left.
    Whole,
    /// Something may be left that nobody watches over any more.
    OutOfSight,
    /// Somebody killed the keeper; those it left behind have been ended since, as far as nobody of them is left.
    KeeperKilled { left_behind: Vec<Descendant>, nobody_left: bool },
}

impl Life {
    pub(crate) fn new(stderr_keep: usize) -> Self {
        Self { state: watch::Sender::default(), stderr: Mutex::new(Tail::new(stderr_keep)) }
    }

    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Waits until `wanted` finds what it looks for.
    pub(crate) async fn wait_for<T>(&self, wanted: impl Fn(&State) -> Option<T>) -> T {
        let mut states = self.state.subscribe();
        loop {
            if let Some(found) = wanted(&states.borrow_and_update()) {
                return found;
            }
            // The sender lives in `self`, so it cannot be gone before us.
            let _ = states.changed().await;
        }
    }

    pub(crate) fn stderr(&self) -> Stderr {
        self.tail().copy()
    }

    fn tail(&self) -> std::sync::MutexGuard<'_, Tail> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Attendant {
    pub(crate) life: Arc<Life>,
    pub(crate) control: Arc<Control>,
    pub(crate) status: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) started: Instant,
    /// Where the tree may not hold all the memory that it likes.
    #[cfg(target_os = "linux")]
    pub(crate) scales: Option<Scales>,
    /// Dropped, and so disconnected, when the attendant is done.
    pub(crate) done: Sender<()>,
}

impl Attendant {
    pub(crate) fn spawn(self) -> io::Result<()> {
        pipe::set_nonblocking(self.stderr.as_fd())?;
        let builder = thread::Builder::new().name("attendant".to_owned()).stack_size(STACK_BYTES);
        builder.spawn(move || self.attend())?;
        Ok(())
    }

    fn attend(self) {
        #[cfg(target_os = "linux")]
        let scales = self.scales;
        #[cfg(not(target_os = "linux"))]
        let scales = None::<()>;
        let Self { life, control, status, stderr, started, done: _done, .. } = self;
        let mut status = File::from(status);
        let mut stderr = Some(File::from(stderr));
        let mut weigh_at = started + WEIGH_EVERY;
        loop {
            let fds = [Some(status.as_fd()), stderr.as_ref().map(AsFd::as_fd)];
            let patience = scales.as_ref().map(|_| WEIGH_EVERY);
            let Ok([reported, wrote]) = pipe::readable(fds, patience) else { break };
            #[cfg(target_os = "linux")]
            if let Some(scales) = scales.as_ref().filter(|_| Instant::now() >= weigh_at) {
                let began = Instant::now();
                weigh(&life, &control, scales);
                weigh_at = Instant::now() + WEIGH_EVERY.max(began.elapsed() * WEIGH_SHARE);
            }
            if wrote {
                drain(&mut stderr, &life, READ_BYTES);
            }
            if !reported {
                continue;
            }
            match Report::read(&mut status) {
                Ok(Some(Report::Ended(ending))) => {
                    drain(&mut stderr, &life, MAX_LAST_WORDS);
                    life.state.send_modify(|state| state.ending = Some(ending));
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
        let lost = life.state().ending.is_none();
        let gone = control.settle(lost);
        drain(&mut stderr, &life, MAX_LAST_WORDS);
        let unknown = Ending { status: Status::Unknown, after: started.elapsed(), max_rss_bytes: None };
        life.state.send_modify(|state| {
            state.ending = state.ending.or(Some(unknown));
            state.gone = Some(gone);
        });
    }
}

/// Kills a tree that holds more memory than it may.
#[cfg(target_os = "linux")]
fn weigh(life: &Life, control: &Control, scales: &Scales) {
    if control.is_too_large(scales) {
        life.state.send_modify(|state| state.too_large = true);
        control.kill();
    }
}

/// Reads what is there, up to about `most` bytes; at the end of the stream, closes it.
fn drain(stderr: &mut Option<File>, life: &Life, most: usize) {
    let mut buffer = [0; READ_BYTES];
    let mut taken = 0;
    while taken < most {
        let Some(file) = stderr else { return };
        match file.read(&mut buffer) {
            Ok(0) => *stderr = None,
            Ok(count) => {
                life.tail().push(&buffer[..count]);
                taken += count;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(_) => *stderr = None,
        }
    }
}
