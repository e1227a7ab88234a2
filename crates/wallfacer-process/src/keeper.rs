//! The Linux way: a keeper between us and the server. This file is our side of it; what is beneath runs in the
//! keeper itself.
//!
//! A keeper is forked from us and never executes another program. It is the subreaper of the server's tree, so that
//! each orphan of the tree becomes its child, and it holds the far end of the *lifeline*: a byte in it is a signal for
//! the main process; its end, which comes when we close it or die, is the order to kill everything and go.

mod children;
mod disguise;
mod image;
mod keep;
mod launch;
mod orphans;
mod shed;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::attendant::Gone;
use crate::control::Control;
use crate::jail::fence::Fence;
use crate::jail::inside::Inside;
use crate::jail::opener::Opener;
use crate::jail::passing;
use crate::jail::plan::Plan;
use crate::pipe::{self, Pipe};
use crate::process::Born;
use crate::report::{Report, Stage};
use crate::trace::{Filter, Tracer};
use crate::tree::{self, Descendant, Sample};
use crate::watch::Watch;
use crate::weight::Scales;
use crate::{Spec, StartError, program};

use image::Image;
use keep::{JailOrders, Orders};

/// Executing takes milliseconds; a program on a network disk that is away can take for ever.
const START_PATIENCE: Duration = Duration::from_secs(20);

/// A keeper that has closed its pipes is gone some hundred microseconds later. The pause doubles each time.
const REAP_PAUSE: Duration = Duration::from_micros(50);

/// A keeper that takes this long is being held up.
const PRESS_AFTER: Duration = Duration::from_millis(50);

/// Beyond the time after which a keeper gives up by itself.
const REAP_PATIENCE: Duration = Duration::from_secs(12);

/// Signals of Linux run from 1 to 64 on all but one old architecture.
const LAST_SIGNAL: u8 = 64;

#[derive(Debug)]
pub(crate) struct Keeper {
    /// `None` once it is reaped and its number may mean another process.
    pid: Mutex<Option<libc::pid_t>>,
    main: libc::pid_t,
    lifeline: Mutex<Option<File>>,
    /// It is process 1 of a namespace, and all in there go with it.
    is_first: bool,
}

/// What goes along with a start besides the program.
pub(crate) struct Company<'a> {
    pub(crate) plan: Option<&'a Plan>,
    /// Taken when the keeper is there; left for a next attempt if it comes to nothing before.
    pub(crate) watch: &'a mut Option<Watch>,
}

impl Keeper {
    pub(crate) fn start(spec: &Spec, path: &Path, company: Company<'_>) -> Result<Born, StartError> {
        let setup = StartError::setup;
        let Company { plan, watch } = company;
        // Beside nobody else's files: the pipes lie on the jail's own disk.
        let own_disk = plan.is_some_and(|plan| plan.namespaces & libc::CLONE_NEWNS != 0);
        let twice = own_disk && spec.jail.as_ref().is_some_and(|jail| jail.second);
        let image = Image::new(plan.map_or(spec, |plan| &plan.spec), path, twice)?;
        let [stdin, stdout] = [Pipe::large().map_err(setup)?, Pipe::large().map_err(setup)?];
        let small = || Pipe::new().map_err(setup);
        let [stderr, failure, status, lifeline] = [small()?, small()?, small()?, small()?];
        pipe::set_nonblocking(lifeline.write.as_fd()).map_err(setup)?;
        // The main process waits for us where we have to get to know it first.
        let gate = (plan.is_some() || watch.is_some()).then(small).transpose()?;
        let line = plan.map(|_| passing::pair()).transpose().map_err(setup)?;
        let filter = watch.as_ref().and_then(|watch| watch.filter.as_ref());
        let orders = Orders::new(
            &image,
            [&stdin.read, &stdout.write, &stderr.write],
            [&failure.write, &status.write, &lifeline.read],
        );
        let jail = plan.zip(line.as_ref()).map(|(plan, (_, theirs))| JailOrders {
            steps: &plan.steps,
            restraint: &plan.restraint,
            beside_others: !plan.bound.is_empty(),
            fence: plan.fence.as_ref(),
            refuge: plan.refuge.as_ref().map(|refuge| refuge.name().as_c_str()),
            asked_on: theirs.as_raw_fd(),
        });
        let orders = orders.with(gate.as_ref().map(|gate| &gate.read), filter, jail);
        let namespaces = plan.map_or(0, |plan| plan.namespaces);
        let is_first = namespaces & libc::CLONE_NEWPID != 0;
        if !is_first {
            orphans::adopt();
        }
        let pid = fork_keeper(&orders, namespaces).map_err(|source| match plan {
            Some(_) => {
                let step = "make namespaces".to_owned();
                StartError::Confine { path: path.to_path_buf(), step, source }
            }
            None => setup(source),
        })?;
        // The keeper's ends must not stay open in us, or we would never see them close.
        drop((stdin.read, stdout.write, stderr.write, failure.write, status.write, lifeline.read));
        let (line, gate) = (line.map(|(ours, _)| ours), gate.map(|gate| gate.write));
        let mut birth =
            Birth { keeper: pid, status: status.read.into(), failure: failure.read.into(), line, gate };
        let (main, inside) = match birth.attend(plan, watch) {
            Ok(born) => born,
            Err(refusal) => {
                drop((lifeline.write, birth));
                reap(pid, is_first);
                return Err(refusal.explain(spec, path, plan));
            }
        };
        let keeper = Self {
            pid: Mutex::new(Some(pid)),
            main: main as libc::pid_t,
            lifeline: Mutex::new(Some(lifeline.write.into())),
            is_first,
        };
        Ok(Born {
            pid: main,
            control: Control::Keeper(keeper),
            stdin: stdin.write,
            stdout: stdout.read,
            stderr: stderr.read,
            status: birth.status.into(),
            inside,
        })
    }

    pub(crate) fn signal(&self, number: i32) -> io::Result<()> {
        let byte = u8::try_from(number).ok().filter(|number| (1..=LAST_SIGNAL).contains(number));
        let byte = byte.ok_or(io::ErrorKind::InvalidInput)?;
        match self.lifeline().as_mut().map(|lifeline| lifeline.write_all(&[byte])) {
            // The keeper is gone, and the main process before it.
            Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Some(written) => written,
            None => Ok(()),
        }
    }

    pub(crate) fn kill(&self) {
        self.lifeline().take();
    }

    /// For a keeper that does not come to an end: a server can stop its keeper, even again and again.
    pub(crate) fn press(&self) {
        self.while_unreaped(|pid| press(pid, self.is_first));
    }

    pub(crate) fn settle(&self, lost: bool) -> Gone {
        let mut pid = self.lock_pid();
        if lost {
            // Whoever killed the keeper set its children free. The main process dies with the keeper, but those it
            // had started do not; the ones that stayed in its group are within reach at once, and nothing else can have
            // come by the group's number in this short time.
            // SAFETY: kill takes no pointers.
            unsafe { libc::kill(-self.main, libc::SIGKILL) };
        }
        let status = pid.take().map_or(-1, |pid| reap(pid, self.is_first));
        match status {
            0 => Gone::Whole,
            _ if self.is_first => Gone::OutOfSight,
            status if libc::WIFSIGNALED(status) => {
                let (left_behind, nobody_left) = orphans::sweep();
                Gone::KeeperKilled { left_behind, nobody_left }
            }
            _ => Gone::OutOfSight,
        }
    }

    pub(crate) fn descendants(&self) -> Option<Vec<Descendant>> {
        self.while_unreaped(|pid| tree::descendants(pid as u32))
    }

    pub(crate) fn sample(&self) -> Option<Sample> {
        self.while_unreaped(|pid| tree::sample(pid as u32)).flatten()
    }

    pub(crate) fn is_too_large(&self, scales: &Scales) -> bool {
        self.while_unreaped(|pid| scales.is_too_much(tree::alive(pid as u32))).unwrap_or(false)
    }

    pub(crate) fn queued(&self) -> Option<BTreeMap<u32, Duration>> {
        self.while_unreaped(|pid| tree::queued(pid as u32))
    }

    fn while_unreaped<T>(&self, act: impl FnOnce(libc::pid_t) -> T) -> Option<T> {
        self.lock_pid().map(act)
    }

    fn lock_pid(&self) -> MutexGuard<'_, Option<libc::pid_t>> {
        self.pid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lifeline(&self) -> MutexGuard<'_, Option<File>> {
        self.lifeline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forks with every signal blocked, so that no handler of ours ever runs in the keeper.
fn fork_keeper(orders: &Orders<'_>, namespaces: libc::c_int) -> io::Result<libc::pid_t> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the sets are filled in before they are read. What runs in the child is `keep`, which is made for
    // running after a fork of a process with threads: it takes no lock, allocates nothing and never returns.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let pid = fork(namespaces);
        let error = io::Error::last_os_error();
        if pid == 0 {
            keep::keep(orders);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
        if pid < 0 { Err(error) } else { Ok(pid) }
    }
}

/// The bare system call: the C library's `fork` first runs the handlers of whoever registered some, in the keeper too.
///
/// # Safety
/// The child may only make calls that are safe in a signal handler.
unsafe fn fork(namespaces: libc::c_int) -> libc::pid_t {
    // SAFETY: without a stack of its own the child goes on with a copy of ours, as with `fork`.
    unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD | namespaces, 0, 0, 0, 0) as libc::pid_t }
}

/// Why there is no main process that runs the program.
enum Refusal {
    Failed { stage: Stage, errno: i32 },
    Silent,
    Unreadable(io::Error),
    Unwatched(Box<dyn Error + Send + Sync>),
}

/// Our part in a start, between the fork and the program.
struct Birth {
    keeper: libc::pid_t,
    status: File,
    failure: File,
    line: Option<OwnedFd>,
    gate: Option<OwnedFd>,
}

impl Birth {
    /// Waits until the program is executed; gives the main process, and what is held of its jail.
    fn attend(&mut self, plan: Option<&Plan>, watch: &mut Option<Watch>) -> Result<(u32, Inside), Refusal> {
        let (pid, bound) = match next_report(&mut self.status)? {
            Some(Report::Forked { pid, bound }) => (pid, bound),
            Some(Report::Failed { stage, errno }) => return Err(Refusal::Failed { stage, errno }),
            _ => return Err(Refusal::lost("the keeper ended before the program began")),
        };
        let mut inside = Inside::default();
        if let Some((plan, line)) = plan.zip(self.line.take()) {
            inside = Inside::enter(plan, line, bound).map_err(Refusal::Unreadable)?;
        }
        // In a namespace of its own the keeper knows other numbers than we do.
        let pid = if plan.is_some() { self.only_child()? } else { pid };
        if let Some(gate) = self.gate.take() {
            inside.tracer = open_gate(gate, pid, watch.take(), inside.opener.as_ref())?;
        }
        match next_report(&mut self.failure)? {
            Some(Report::Failed { stage, errno }) => Err(Refusal::Failed { stage, errno }),
            _ => Ok((pid, inside)),
        }
    }

    /// The main process still waits, so the keeper has no other child.
    fn only_child(&self) -> Result<u32, Refusal> {
        let list = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.keeper));
        let list = list.map_err(Refusal::Unreadable)?;
        list.trim().parse().map_err(|_| Refusal::lost("the keeper has no child"))
    }
}

/// Lets the main process begin, watched if that is wished.
fn open_gate(
    gate: OwnedFd,
    pid: u32,
    watch: Option<Watch>,
    opener: Option<&Opener>,
) -> Result<Option<Tracer>, Refusal> {
    let Some(watch) = watch else {
        File::from(gate).write_all(&[1]).map_err(Refusal::Unreadable)?;
        return Ok(None);
    };
    let asked = (watch.before)(opener).map_err(|error| Refusal::Unwatched(error.into()))?;
    match watch.filter {
        Some(_) => {
            let attached = Tracer::attach(pid, gate, watch.recorder, asked);
            attached.map(Some).map_err(|error| Refusal::Unwatched(error.into()))
        }
        None => {
            File::from(gate).write_all(&[1]).map_err(Refusal::Unreadable)?;
            Ok(None)
        }
    }
}

fn next_report(from: &mut File) -> Result<Option<Report>, Refusal> {
    let [ready] = pipe::readable([Some(from.as_fd())], Some(START_PATIENCE)).map_err(Refusal::Unreadable)?;
    if ready { Report::read(from).map_err(Refusal::Unreadable) } else { Err(Refusal::Silent) }
}

impl Refusal {
    fn lost(why: &str) -> Self {
        Self::Unreadable(io::Error::other(why))
    }

    fn explain(self, spec: &Spec, path: &Path, plan: Option<&Plan>) -> StartError {
        let path = path.to_path_buf();
        match self {
            Self::Failed { stage: Stage::Jail(step), errno } => {
                let step = plan.and_then(|plan| plan.steps.get(step as usize));
                let step = step.map_or_else(String::new, |step| step.operation.to_string());
                StartError::Confine { path, step, source: io::Error::from_raw_os_error(errno) }
            }
            Self::Failed { stage: Stage::Restrain, errno } => {
                let step = "give up rights".to_owned();
                StartError::Confine { path, step, source: io::Error::from_raw_os_error(errno) }
            }
            Self::Failed { stage: Stage::Watch, errno } => {
                StartError::Watch { path, source: io::Error::from_raw_os_error(errno).into() }
            }
            Self::Unwatched(source) => StartError::Watch { path, source },
            Self::Failed { stage: Stage::Setup, errno } => {
                StartError::setup(io::Error::from_raw_os_error(errno))
            }
            Self::Failed { stage: Stage::WorkingDirectory, errno } => StartError::WorkingDirectory {
                directory: spec.cwd.clone().unwrap_or_default(),
                source: io::Error::from_raw_os_error(errno),
            },
            Self::Failed { stage: Stage::Execute, errno } => program::explain(&path, errno),
            Self::Silent => StartError::Stuck { path, waited: START_PATIENCE },
            Self::Unreadable(source) => StartError::Setup { source },
        }
    }
}

/// Kills from here whatever is beneath a keeper, so that nothing holds it up, and wakes it.
fn press(keeper: libc::pid_t, is_first: bool) {
    if is_first {
        // The kernel kills all of its namespace with it, at once.
        // SAFETY: kill takes no pointers, and an unreaped child's number is its own.
        unsafe { libc::kill(keeper, libc::SIGKILL) };
        return;
    }
    for descendant in tree::descendants(keeper as u32) {
        // SAFETY: kill takes no pointers. The numbers were read a moment ago, too short for them to be used anew.
        unsafe { libc::kill(descendant.pid as libc::pid_t, libc::SIGKILL) };
    }
    // SAFETY: kill takes no pointers, and an unreaped child's number is its own.
    unsafe { libc::kill(keeper, libc::SIGCONT) };
}

/// Waits for a keeper that has been told to go, or is gone already, and gives what `wait` tells of it: zero when it
/// left nothing behind. One that does not go in time is killed.
fn reap(pid: libc::pid_t, is_first: bool) -> libc::c_int {
    let mut status = -1;
    // SAFETY: the status is ours; kill takes no pointers.
    let mut wait = |flags| unsafe { libc::waitpid(pid, &mut status, flags) };
    let began = Instant::now();
    let mut pause = REAP_PAUSE;
    while wait(libc::WNOHANG) == 0 {
        if began.elapsed() > REAP_PATIENCE {
            // SAFETY: as above.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            wait(0);
            break;
        }
        if began.elapsed() > PRESS_AFTER {
            press(pid, is_first);
        }
        thread::sleep(pause);
        pause = PRESS_AFTER.min(pause * 2);
    }
    status
}

impl<'a> Orders<'a> {
    fn new(image: &'a Image, stdio: [&OwnedFd; 3], rest: [&OwnedFd; 3]) -> Self {
        let stdio = stdio.map(AsRawFd::as_raw_fd);
        let [failure, status, lifeline] = rest.map(AsRawFd::as_raw_fd);
        let [stdin, stdout, stderr] = stdio;
        let mut kept = vec![stdin, stdout, stderr, failure, status, lifeline];
        kept.sort_unstable();
        Self { image, stdio, failure, status, lifeline, gate: None, filter: None, jail: None, kept }
    }

    fn with(
        mut self,
        gate: Option<&OwnedFd>,
        filter: Option<&'a Filter>,
        jail: Option<JailOrders<'a>>,
    ) -> Self {
        self.gate = gate.map(AsRawFd::as_raw_fd);
        let fence = jail.as_ref().and_then(|jail| jail.fence).map(Fence::descriptor);
        let asked_on = jail.as_ref().map(|jail| jail.asked_on);
        self.kept.extend(self.gate.into_iter().chain(fence).chain(asked_on));
        self.kept.sort_unstable();
        Self { filter, jail, ..self }
    }
}
