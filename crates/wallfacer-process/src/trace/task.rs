//! What is known of one task between its stops.

use super::decode::Asked;
use super::event::{Kind, Outcome, Socket};
use super::tracee::{Descriptors, Tracee};

#[derive(Debug)]
pub(super) struct Task {
    pub(super) tracee: Tracee,
    /// The process that this thread belongs to; itself, as long as it cannot be told.
    pub(super) process: libc::pid_t,
    pub(super) pending: Option<Pending>,
}

/// A call that was let through, and whose result is awaited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) asked: Asked,
    pub(super) result: Awaited,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Awaited {
    /// For the event that the recorder holds for this thread.
    Event,
    /// To know the new socket by its number.
    Socket(Socket),
}

impl Task {
    pub(super) fn new(tid: libc::pid_t) -> Self {
        let tracee = Tracee::new(tid);
        let process = tracee.process().unwrap_or(tid);
        Self { tracee, process, pending: None }
    }

    pub(super) fn is_process(&self) -> bool {
        self.process == self.tracee.tid
    }

    /// Lets the task go on, up to the end of its call if that is awaited.
    pub(super) fn go_on(&self, signal: libc::c_int) {
        let request = if self.pending.is_some() { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT };
        self.tracee.resume(request, signal);
    }

    /// Adds to an event what can be known only after the call.
    pub(super) fn complete(
        &self,
        kind: &mut Kind,
        asked: &Asked,
        outcome: Outcome,
        descriptors: &mut Descriptors,
    ) {
        match kind {
            Kind::Open { location, .. } => match outcome {
                Outcome::Done(descriptor) => {
                    location.resolved = descriptors.get(&self.tracee, descriptor as i32)
                }
                _ if location
                    .asked
                    .as_ref()
                    .is_some_and(|path| path.as_encoded_bytes().starts_with(b"/")) => {}
                _ => location.base = self.tracee.directory(asked.open_directory()),
            },
            // Where nothing was found there is nothing to resolve.
            Kind::Look { .. } => {}
            // Of the failed attempts along a PATH nothing is left to look at.
            Kind::Execute(_) if !outcome.succeeded() => {}
            _ => {
                for (location, follow) in kind.locations().into_iter().zip(asked.follows()) {
                    let Some(location) = location else { continue };
                    let path = location.path();
                    if location.resolved.is_none() && path.is_absolute() {
                        location.resolved = self.tracee.resolve(&path, follow);
                    }
                }
            }
        }
    }
}
