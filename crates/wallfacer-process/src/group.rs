//! The portable way: the server leads a process group, and the group is what can be ended.
//! A thread takes the keeper's part: it waits for the main process and writes the same reports.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crate::control::Control;
use crate::ending::{Ending, Status};
use crate::pipe::Pipe;
use crate::process::Born;
use crate::report::Report;
use crate::{Spec, StartError, program};

const STACK_BYTES: usize = 128 * 1024;

#[derive(Debug)]
pub(crate) struct Group {
    leader: Leader,
    /// Closed when the group is to be killed.
    lifeline: Mutex<Option<OwnedFd>>,
}

impl Group {
    pub(crate) fn start(spec: &Spec, path: &Path) -> Result<Born, StartError> {
        let setup = StartError::setup;
        let [stdin, stdout] = [Pipe::large().map_err(setup)?, Pipe::large().map_err(setup)?];
        let [stderr, status, lifeline] =
            [Pipe::new().map_err(setup)?, Pipe::new().map_err(setup)?, Pipe::new().map_err(setup)?];
        let mut command = Command::new(path);
        command.arg0(&spec.program).args(&spec.args).env_clear().envs(&spec.env).process_group(0);
        command.stdin(stdin.read).stdout(stdout.write).stderr(stderr.write);
        if let Some(directory) = &spec.cwd {
            command.current_dir(directory);
        }
        let started = Instant::now();
        let child = command.spawn().map_err(|error| explain(spec, path, error))?;
        let pid = child.id();
        let leader = Leader::new(child);
        let group = Self { leader: leader.clone(), lifeline: Mutex::new(Some(lifeline.write)) };
        let waiter = thread::Builder::new().name("waiter".to_owned()).stack_size(STACK_BYTES);
        let waiting = waiter.spawn(move || wait(&leader, started, status.write.into(), lifeline.read.into()));
        if let Err(error) = waiting {
            group.kill();
            group.leader.reap();
            return Err(setup(error));
        }
        Ok(Born {
            pid,
            control: Control::Group(group),
            stdin: stdin.write,
            stdout: stdout.read,
            stderr: stderr.read,
            status: status.read,
            #[cfg(target_os = "linux")]
            inside: crate::jail::inside::Inside::default(),
        })
    }

    pub(crate) fn signal(&self, number: i32) -> io::Result<()> {
        // SAFETY: kill takes no pointers.
        self.leader.while_unreaped(|pid| unsafe { libc::kill(pid, number) }).map_or(Ok(()), succeeded)
    }

    pub(crate) fn kill(&self) {
        self.leader.kill_group();
        self.lifeline.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// The main process: as long as it is not reaped, its number cannot come to mean another process or group.
#[derive(Debug, Clone)]
struct Leader(Arc<Mutex<Option<Child>>>);

impl Leader {
    fn new(child: Child) -> Self {
        Self(Arc::new(Mutex::new(Some(child))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Child>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn while_unreaped<T>(&self, act: impl FnOnce(libc::pid_t) -> T) -> Option<T> {
        self.lock().as_ref().map(|child| act(child.id() as libc::pid_t))
    }

    fn kill_group(&self) {
        // SAFETY: kill takes no pointers. Whoever has ended already is no error.
        self.while_unreaped(|pid| unsafe { libc::kill(-pid, libc::SIGKILL) });
    }

    fn reap(&self) {
        if let Some(mut child) = self.lock().take() {
            let _ = child.wait();
        }
    }
}

/// Reports the end of the main process, then keeps its number reserved until the group is to be killed.
fn wait(leader: &Leader, started: Instant, mut status: File, mut lifeline: File) {
    let ending = leader.while_unreaped(|pid| pid).and_then(|pid| end_of(pid).ok());
    if let Some(ended) = ending {
        let report = Report::Ended(Ending { status: ended, after: started.elapsed(), max_rss_bytes: None });
        // Nobody reads it any more when the handle is gone.
        let _ = status.write_all(&report.encode());
    }
    let _ = lifeline.read(&mut [0]);
    leader.kill_group();
    leader.reap();
}

/// Waits for the end of a child without reaping it.
fn end_of(pid: libc::pid_t) -> io::Result<Status> {
    let mut information = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOWAIT;
    // SAFETY: waitid fills in `information`, for which all zeros are a value too; the status is read only after it
    // succeeded, when that part of the union is set.
    unsafe {
        while libc::waitid(libc::P_PID, pid as libc::id_t, information.as_mut_ptr(), flags) < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let information = information.assume_init();
        let number = information.si_status();
        Ok(match information.si_code {
            libc::CLD_EXITED => Status::Exited(number),
            code => Status::Signalled { signal: number, core_dumped: code == libc::CLD_DUMPED },
        })
    }
}

fn succeeded(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn explain(spec: &Spec, path: &Path, error: io::Error) -> StartError {
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => StartError::setup(error),
        Some(errno) => program::explain(path, errno),
        // The standard library refuses NUL bytes itself.
        None => StartError::NulByte { what: format!("the command `{}`", spec.program.to_string_lossy()) },
    }
}
