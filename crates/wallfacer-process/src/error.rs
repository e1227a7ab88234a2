//! Why a process could not be started: one sentence each.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot find `{program}` in PATH ({searched})")]
    NotInPath { program: String, searched: String },
    #[error("there is no file `{}`", path.display())]
    NoSuchFile { path: PathBuf },
    #[error("`{}` is not an executable file", path.display())]
    NotExecutable { path: PathBuf },
    #[error("`{}` needs the interpreter `{interpreter}`, which is not there", path.display())]
    NoInterpreter { path: PathBuf, interpreter: String },
    #[error("`{}` is neither a program for this machine nor a script with a `#!` line", path.display())]
    ExecFormat { path: PathBuf },
    #[error("cannot enter the working directory `{}`", directory.display())]
    WorkingDirectory { directory: PathBuf, source: io::Error },
    #[error("{what} contains a NUL byte, which no program can be given")]
    NulByte { what: String },
    #[error("the arguments and environment of `{}` are longer than the system allows", path.display())]
    TooLong { path: PathBuf },
    #[error("no further process can be started: too many processes, or no memory")]
    TooManyProcesses { source: io::Error },
    #[error("no further process can be started: too many open files")]
    TooManyFiles { source: io::Error },
    #[error("`{}` was not executed within {}s", path.display(), waited.as_secs())]
    Stuck { path: PathBuf, waited: Duration },
    #[error("cannot execute `{}`", path.display())]
    Execute { path: PathBuf, source: io::Error },
    #[error("cannot confine `{}`: cannot {step}", path.display())]
    Confine { path: PathBuf, step: String, source: io::Error },
    #[error("cannot watch `{}`", path.display())]
    Watch { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("cannot set up the process's pipes and keeper")]
    Setup { source: io::Error },
}

impl StartError {
    /// The whole story in one line.
    #[cfg(target_os = "linux")]
    pub(crate) fn with_causes(&self) -> String {
        let causes = std::iter::successors(std::error::Error::source(self), |error| error.source());
        causes.fold(self.to_string(), |text, cause| format!("{text}: {cause}"))
    }

    /// An error of our own preparations.
    pub(crate) fn setup(source: io::Error) -> Self {
        match source.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Self::TooManyFiles { source },
            Some(libc::EAGAIN | libc::ENOMEM) => Self::TooManyProcesses { source },
            _ => Self::Setup { source },
        }
    }
}
