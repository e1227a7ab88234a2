//! The handle of a running [`Process`], which keeps a tree alive and ends all of it.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use tokio::net::unix::pipe::{Receiver as PipeReceiver, Sender as PipeSender};
use tokio::time::timeout;

use crate::attendant::{Attendant, Gone, Life};
use crate::control::Control;
use crate::ending::{Ended, Ending, Means};
use crate::group::Group;
use crate::jail::{Changes, Confinement, DiskTrouble};
#[cfg(target_os = "linux")]
use crate::jail::{Opener, Rung, inside::Inside, meddle::Meddled, plan::Plan, second, upper::Upper};
#[cfg(target_os = "linux")]
use crate::keeper::{Company, Keeper};
use crate::platform::{ControlKind, platform};
use crate::tail::Stderr;
use crate::tree::{Descendant, Sample};
#[cfg(target_os = "linux")]
use crate::watch::Watch;
#[cfg(target_os = "linux")]
use crate::weight::Scales;
use crate::{Spec, StartError, program};

/// A server that closes down on SIGTERM does so within this, or it does not heed the signal.
const TERMINATE_GRACE: Duration = Duration::from_secs(2);

/// Children that end together with the main process may take a moment longer than it; only what is alive after this
/// was left behind.
const SETTLE_GRACE: Duration = Duration::from_secs(1);

/// SIGKILL takes effect within milliseconds, except on a process that waits inside the kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// A tree that takes this long to end after it was killed is pressed for it, and again each time this has passed.
const PRESS_EVERY: Duration = Duration::from_millis(100);

/// A second process is only to be forked; it may have to wait for a processor.
#[cfg(target_os = "linux")]
const SECOND_PATIENCE: Duration = Duration::from_secs(5);

/// A running process and all it has started. Dropping it kills the whole tree and waits until it is gone.
pub struct Process {
    pid: u32,
    life: Arc<Life>,
    control: Arc<Control>,
    /// Never receives anything: it disconnects when the attendant is done.
    attendant: Mutex<Receiver<()>>,
    #[cfg(target_os = "linux")]
    inside: Inside,
    #[cfg(target_os = "linux")]
    meddled: Mutex<Meddled>,
}

/// The two pipes a server is spoken to through. Dropping `stdin` closes it.
#[derive(Debug)]
pub struct Stdio {
    pub stdin: PipeSender,
    pub stdout: PipeReceiver,
}

/// A tree that runs, before anyone attends to it.
pub(crate) struct Born {
    pub(crate) pid: u32,
    pub(crate) control: Control,
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) status: OwnedFd,
    #[cfg(target_os = "linux")]
    pub(crate) inside: Inside,
}

impl Process {
    /// Starts a process with the best control this machine offers. Returns when the program has been executed, which
    /// takes milliseconds.
    ///
    /// # Panics
    /// When called outside a tokio runtime with I/O enabled.
    pub fn start(spec: &Spec) -> Result<(Self, Stdio), StartError> {
        Self::start_with(platform().kind, spec)
    }

    /// Starts a process with the given kind of control, or less where the system has none such.
    ///
    /// # Panics
    /// When called outside a tokio runtime with I/O enabled.
    pub fn start_with(kind: ControlKind, spec: &Spec) -> Result<(Self, Stdio), StartError> {
        let path = program::find(spec)?;
        let started = Instant::now();
        let born = match kind {
            #[cfg(target_os = "linux")]
            ControlKind::WholeTree => confined(spec, &path, None)?,
            _ => Group::start(spec, &path)?,
        };
        Self::attend(spec, born, started)
    }

    /// Starts a process that is watched from its first instruction on.
    ///
    /// # Panics
    /// When called outside a tokio runtime with I/O enabled.
    #[cfg(target_os = "linux")]
    pub fn start_watched(spec: &Spec, watch: Watch) -> Result<(Self, Stdio), StartError> {
        let path = program::find(spec)?;
        let started = Instant::now();
        Self::attend(spec, confined(spec, &path, Some(watch))?, started)
    }

    fn attend(spec: &Spec, born: Born, started: Instant) -> Result<(Self, Stdio), StartError> {
        let life = Arc::new(Life::new(spec.stderr_keep));
        let control = Arc::new(born.control);
        let (done, attendant) = mpsc::channel();
        #[cfg(target_os = "linux")]
        let mut inside = born.inside;
        #[cfg(target_os = "linux")]
        let scales =
            spec.jail.as_ref().map(|jail| Scales::new(jail.limits.memory_bytes, inside.shared_memory.take()));
        let process = Self {
            pid: born.pid,
            life: Arc::clone(&life),
            control: Arc::clone(&control),
            attendant: attendant.into(),
            #[cfg(target_os = "linux")]
            inside,
            #[cfg(target_os = "linux")]
            meddled: Mutex::default(),
        };
        let attendant = Attendant {
            life,
            control,
            status: born.status,
            stderr: born.stderr,
            started,
            #[cfg(target_os = "linux")]
            scales,
            done,
        };
        attendant.spawn().map_err(|error| {
            process.control.kill();
            process.control.settle(true);
            StartError::setup(error)
        })?;
        // From here on an error drops the process, which ends the tree.
        let stdio = Stdio::new(born.stdin, born.stdout).map_err(StartError::setup)?;
        Ok((process, stdio))
    }

    /// The main process. Its number may belong to another process once it has ended.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How much of the tree can be seen and ended.
    pub fn kind(&self) -> ControlKind {
        self.control.kind()
    }

    /// What really confines the process.
    pub fn confinement(&self) -> Confinement {
        #[cfg(target_os = "linux")]
        if let Some(confinement) = &self.inside.confinement {
            return confinement.clone();
        }
        Confinement::none()
    }

    /// What the process did to files so far; `None` where nothing keeps that. Can be asked at any time, also after
    /// the end.
    pub fn changes(&self) -> Option<Changes> {
        #[cfg(target_os = "linux")]
        if self.confinement().rung == Rung::Overlay {
            return self.inside.upper.as_ref().map(Upper::changes);
        }
        None
    }

    /// What a file that the process has written holds, up to a number of bytes.
    #[cfg(target_os = "linux")]
    pub fn read_written(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.inside.upper.as_ref().ok_or(io::ErrorKind::Unsupported)?.read(path, most)
    }

    /// Makes the disk of the process fail, or takes that back; only where it has one of its own.
    pub fn trouble_disk(&self, trouble: DiskTrouble<'_>) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if self.confinement().rung == Rung::Overlay && self.ending().is_none() {
            let mut meddled = self.meddled.lock().unwrap_or_else(PoisonError::into_inner);
            return meddled.meddle(self.pid, trouble);
        }
        let _nothing_to_fail = trouble;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The pipes of a second process of the program in the same jail, which begins now; an error where none waits there.
    pub async fn second(&self) -> io::Result<Stdio> {
        #[cfg(target_os = "linux")]
        if self.confinement().rung == Rung::Overlay && self.ending().is_none() {
            let opened = timeout(SECOND_PATIENCE, second::open(self.pid)).await;
            return opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        }
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A way to make sockets in the jail's network; `None` without a jail.
    #[cfg(target_os = "linux")]
    pub fn opener(&self) -> Option<Opener> {
        self.inside.opener.clone()
    }

    /// Whether the tree was killed because it held more memory than its jail allows.
    pub fn was_too_large(&self) -> bool {
        self.life.state().too_large
    }

    /// Whether the process's calls are seen.
    pub fn is_watched(&self) -> bool {
        #[cfg(target_os = "linux")]
        let watched = self.inside.tracer.is_some();
        #[cfg(not(target_os = "linux"))]
        let watched = false;
        watched
    }

    /// How the main process ended, if it has.
    pub fn ending(&self) -> Option<Ending> {
        self.life.state().ending
    }

    /// Waits for the main process to end. By then all it wrote to stderr has been read. May be dropped and called
    /// anew, and by any number of tasks at once.
    pub async fn exited(&self) -> Ending {
        self.life.wait_for(|state| state.ending).await
    }

    pub fn stderr(&self) -> Stderr {
        self.life.stderr()
    }

    /// Sends a signal to the main process; does nothing once that has ended.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        self.control.signal(number)
    }

    /// Who is alive in the tree besides the main process; `None` where that cannot be seen.
    pub fn descendants(&self) -> Option<Vec<Descendant>> {
        let state = self.life.state();
        match state.gone {
            Some(Gone::Whole | Gone::KeeperKilled { nobody_left: true, .. }) => Some(Vec::new()),
            Some(Gone::OutOfSight | Gone::KeeperKilled { .. }) => None,
            None => {
                let mut alive = self.control.descendants()?;
                alive.retain(|descendant| state.ending.is_some() || descendant.pid != self.pid);
                Some(alive)
            }
        }
    }

    /// What the whole tree holds at this moment; `None` where that cannot be seen, or nothing is left.
    pub fn sample(&self) -> Option<Sample> {
        self.control.sample()
    }

    /// How long each process of the tree has so far been ready to run while no processor was free, by the thread that
    /// waited longest; `None` where that cannot be seen.
    pub fn queued(&self) -> Option<BTreeMap<u32, Duration>> {
        self.control.queued()
    }

    /// Ends the tree the way a client should. The caller has closed stdin; then the main process has `grace` to end
    /// by itself, SIGTERM follows, and at last SIGKILL for whatever is left.
    pub async fn end(&self, grace: Duration) -> Ended {
        let means = self.end_main(grace).await;
        let left_behind = match means {
            Means::Kill => self.kind().sees_tree().then(Vec::new),
            Means::Itself | Means::Terminate => self.left_behind(grace).await,
        };
        self.kill();
        let gone = timeout(KILL_PATIENCE, self.press_until_gone()).await.is_ok();
        let unkillable = if gone { self.descendants() } else { self.control.descendants() };
        match self.life.state().gone {
            Some(Gone::KeeperKilled { left_behind, .. }) => Ended {
                ending: self.ending(),
                means,
                left_behind: Some(left_behind),
                unkillable,
                keeper_killed: true,
            },
            _ => Ended { ending: self.ending(), means, left_behind, unkillable, keeper_killed: false },
        }
    }

    /// Kills the whole tree at once. Does not wait: [`Process::exited`] does.
    pub fn kill(&self) {
        self.control.kill();
    }

    async fn end_main(&self, grace: Duration) -> Means {
        if timeout(grace, self.exited()).await.is_ok() {
            return Means::Itself;
        }
        let terminated = self.signal(libc::SIGTERM).is_ok()
            && timeout(grace.min(TERMINATE_GRACE), self.exited()).await.is_ok();
        if terminated { Means::Terminate } else { Means::Kill }
    }

    async fn left_behind(&self, grace: Duration) -> Option<Vec<Descendant>> {
        if self.kind().sees_tree() {
            self.gone_within(grace.min(SETTLE_GRACE)).await;
        }
        self.descendants()
    }

    async fn press_until_gone(&self) {
        while !self.gone_within(PRESS_EVERY).await {
            self.control.press();
        }
    }

    async fn gone_within(&self, patience: Duration) -> bool {
        timeout(patience, self.life.wait_for(|state| state.gone.as_ref().map(|_| ()))).await.is_ok()
    }
}

/// Starts a process in the best jail that can be had, if one is wished.
#[cfg(target_os = "linux")]
fn confined(spec: &Spec, path: &Path, mut watch: Option<Watch>) -> Result<Born, StartError> {
    let Some(jail) = &spec.jail else {
        return Keeper::start(spec, path, Company { plan: None, watch: &mut watch });
    };
    let mut why = Vec::new();
    let rungs = [Rung::Overlay, Rung::ReadOnly, Rung::Fence, Rung::OtherHome];
    for rung in rungs.into_iter().filter(|&rung| rung >= jail.best && rung <= jail.worst) {
        let plan = match Plan::new(jail, spec, path, rung) {
            Ok(plan) => plan,
            Err(error) => {
                why.push(format!("{rung}: {error}"));
                continue;
            }
        };
        match Keeper::start(spec, path, Company { plan: Some(&plan), watch: &mut watch }) {
            Err(error @ StartError::Confine { .. }) => why.push(error.with_causes()),
            Ok(mut born) => {
                if let Some(confinement) = &mut born.inside.confinement {
                    confinement.why = why;
                }
                return Ok(born);
            }
            Err(error) => return Err(error),
        }
    }
    if jail.worst != Rung::Unconfined {
        let step = "confine it as far as it must be".to_owned();
        let source =
            io::Error::other(why.into_iter().next().unwrap_or_else(|| "nothing was tried".to_owned()));
        return Err(StartError::Confine { path: path.to_path_buf(), step, source });
    }
    let mut born = Keeper::start(spec, path, Company { plan: None, watch: &mut watch })?;
    born.inside.confinement = Some(Confinement { why, ..Confinement::none() });
    Ok(born)
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let attendant = self.attendant.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Two lives must not overlap, so wait; but not for ever, should the kernel hold on to a process.
        let began = Instant::now();
        while began.elapsed() < KILL_PATIENCE
            && attendant.recv_timeout(PRESS_EVERY) == Err(RecvTimeoutError::Timeout)
        {
            self.control.press();
        }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, life, control, .. } = self;
        formatter
            .debug_struct("Process")
            .field("pid", pid)
            .field("kind", &control.kind())
            .field("state", &life.state())
            .finish_non_exhaustive()
    }
}

impl Stdio {
    pub(crate) fn new(stdin: OwnedFd, stdout: OwnedFd) -> io::Result<Self> {
        Ok(Self { stdin: PipeSender::from_owned_fd(stdin)?, stdout: PipeReceiver::from_owned_fd(stdout)? })
    }
}
