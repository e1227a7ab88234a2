//! The Linux way: a keeper between us and the server. This file is our side of it; what is beneath runs in the
//! keeper itself.
//!
//! A keeper is forked from us and never executes another program. It is the subreaper of the server's tree, so that
//! each orphan of the tree becomes its child, and it holds the far end of the *lifeline*: a byte in it is a signal for
//! the main process; its end, which comes when we close it or die, is the order to kill everything and go.

mod children;
mod image;
mod keep;
mod launch;

use std::fs::File;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::control::Control;
use crate::pipe::{self, Pipe};
use crate::process::Born;
use crate::report::{Report, Stage};
use crate::tree::{self, Descendant, Sample};
use crate::{Spec, StartError, program};

use image::Image;
use keep::Orders;

/// Executing takes milliseconds; a program on a network disk that is away can take for ever.
const START_PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Keeper {
    /// `None` once it is reaped and its number may mean another process.
    pid: Mutex<Option<libc::pid_t>>,
    main: libc::pid_t,
    lifeline: Mutex<Option<File>>,
}

impl Keeper {
    pub(crate) fn start(spec: &Spec, path: &Path) -> Result<Born, StartError> {
        let setup = StartError::setup;
        let image = Image::new(spec, path)?;
        let [stdin, stdout] = [Pipe::large().map_err(setup)?, Pipe::large().map_err(setup)?];
        let [stderr, status, lifeline] =
            [Pipe::new().map_err(setup)?, Pipe::new().map_err(setup)?, Pipe::new().map_err(setup)?];
        pipe::set_nonblocking(lifeline.write.as_fd()).map_err(setup)?;
        let orders =
            Orders::new(&image, &stdin.read, &stdout.write, &stderr.write, &status.write, &lifeline.read);
        let keeper = fork_keeper(&orders).map_err(setup)?;
        // The keeper's ends must not stay open in us, or we would never see them close.
        drop((stdin.read, stdout.write, stderr.write, status.write, lifeline.read));
        let mut status = File::from(status.read);
        match first_report(&mut status) {
            Ok(Some(Report::Started { pid })) => Ok(Born {
                pid,
                control: Control::Keeper(Self {
                    pid: Mutex::new(Some(keeper)),
                    main: pid as libc::pid_t,
                    lifeline: Mutex::new(Some(lifeline.write.into())),
                }),
                stdin: stdin.write,
                stdout: stdout.read,
                stderr: stderr.read,
                status: status.into(),
            }),
            other => {
                drop(lifeline.write);
                reap(keeper);
                Err(explain(spec, path, other))
            }
        }
    }

    pub(crate) fn signal(&self, number: i32) -> io::Result<()> {
        let byte = u8::try_from(number).map_err(|_| io::ErrorKind::InvalidInput)?;
        match self.lifeline().as_mut().map(|lifeline| lifeline.write_all(&[byte])) {
            // The keeper is gone, and the main process before it.
            Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Some(written) => written,
            None => Ok(()),
        }
    }

    pub(crate) fn kill(&self) {
        self.lifeline().take();
        // A server may have stopped its keeper.
        // SAFETY: kill takes no pointers, and the number is still the keeper's.
        self.while_unreaped(|pid| unsafe { libc::kill(pid, libc::SIGCONT) });
    }

    pub(crate) fn settle(&self, lost: bool) {
        let mut pid = self.lock_pid();
        if lost {
            // Whoever killed the keeper set its children free. The main process dies with the keeper, but those it
            // had started do not; the ones that stayed in its group are within reach, and nothing else can have
            // come by the group's number in this short time.
            // SAFETY: kill takes no pointers.
            unsafe { libc::kill(-self.main, libc::SIGKILL) };
        }
        if let Some(pid) = pid.take() {
            reap(pid);
        }
    }

    pub(crate) fn descendants(&self) -> Vec<Descendant> {
        self.while_unreaped(|pid| tree::descendants(pid as u32)).unwrap_or_default()
    }

    pub(crate) fn sample(&self) -> Option<Sample> {
        self.while_unreaped(|pid| tree::sample(pid as u32)).flatten()
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
fn fork_keeper(orders: &Orders<'_>) -> io::Result<libc::pid_t> {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the sets are filled in before they are read. What runs in the child is `keep`, which is made for
    // running after a fork of a process with threads: it takes no lock, allocates nothing and never returns.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let pid = fork();
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
unsafe fn fork() -> libc::pid_t {
    // SAFETY: without a stack of its own the child goes on with a copy of ours, as with `fork`.
    unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t }
}

fn first_report(status: &mut File) -> io::Result<Option<Report>> {
    let [ready] = pipe::readable([Some(status.as_fd())], Some(START_PATIENCE))?;
    if ready { Report::read(status) } else { Err(io::ErrorKind::TimedOut.into()) }
}

fn reap(pid: libc::pid_t) {
    // SAFETY: waitpid takes no status here. It is called for a keeper that has been told to go, and a keeper goes
    // within a bounded time.
    while unsafe { libc::waitpid(pid, ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

fn explain(spec: &Spec, path: &Path, report: io::Result<Option<Report>>) -> StartError {
    match report {
        Ok(Some(Report::Failed { stage: Stage::WorkingDirectory, errno })) => StartError::WorkingDirectory {
            directory: spec.cwd.clone().unwrap_or_default(),
            source: io::Error::from_raw_os_error(errno),
        },
        Ok(Some(Report::Failed { stage: Stage::Execute, errno })) => program::explain(path, errno),
        Ok(Some(Report::Failed { stage: Stage::Setup, errno })) => {
            StartError::setup(io::Error::from_raw_os_error(errno))
        }
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            StartError::Stuck { path: path.to_path_buf(), waited: START_PATIENCE }
        }
        Err(source) => StartError::Setup { source },
        Ok(_) => StartError::Setup { source: io::Error::other("the keeper ended before the program began") },
    }
}

impl<'a> Orders<'a> {
    fn new(
        image: &'a Image,
        stdin: &OwnedFd,
        stdout: &OwnedFd,
        stderr: &OwnedFd,
        status: &OwnedFd,
        lifeline: &OwnedFd,
    ) -> Self {
        let mut kept = [stdin, stdout, stderr, status, lifeline].map(AsRawFd::as_raw_fd);
        kept.sort_unstable();
        Self {
            image,
            stdio: [stdin, stdout, stderr].map(AsRawFd::as_raw_fd),
            status: status.as_raw_fd(),
            lifeline: lifeline.as_raw_fd(),
            kept,
        }
    }
}
