//! How a run ends: the exit codes, and the failures that lead to them.

use std::error::Error;
use std::process::ExitCode;

use wallfacer_core::findings::Redaction;
use wallfacer_core::target::{ConfigError, TargetError};
use wallfacer_core::wire::ConnectError;

use crate::init::InitError;

/// The exit codes, as documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing at or above the threshold.
    Clean = 0,
    /// Findings at or above the threshold.
    Findings = 1,
    /// Usage or configuration.
    Usage = 2,
    /// The server could not be tested.
    NotTested = 3,
    /// Our own fault.
    OurFault = 4,
    /// The server could not be tested, because it does not start in the sandbox; its user may run it without.
    NotInSandbox,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::NotInSandbox => Exit::NotTested as u8,
            other => other as u8,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    /// The same without secrets.
    pub fn redacted(self, redaction: &Redaction) -> Failure {
        Failure { message: redaction.of(&self.message), ..self }
    }

    pub fn usage(error: &dyn Error) -> Failure {
        Failure { exit: Exit::Usage, message: sentence(error) }
    }

    pub fn panic() -> Failure {
        let message =
            "this is a fault of wallfacer itself, not of your server; please report it with the lines above";
        Failure { exit: Exit::OurFault, message: message.to_owned() }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::usage(&error)
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Failure {
        Failure::usage(&error)
    }
}

impl From<InitError> for Failure {
    fn from(error: InitError) -> Failure {
        Failure::usage(&error)
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        let exit = match error {
            // A bad URL or header is the user's to mend, not the server's.
            ConnectError::Setup(_) => Exit::Usage,
            _ if error.may_do_without_sandbox() => Exit::NotInSandbox,
            _ => Exit::NotTested,
        };
        Failure { exit, message: sentence(&error) }
    }
}

/// An error and its causes in one line; a cause that was said already is not said again.
fn sentence(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    without_number(&text).to_owned()
}

/// The system's number for an error says nothing to a reader who has its words.
pub fn without_number(text: &str) -> &str {
    match text.rfind(" (os error ") {
        Some(number) if text.ends_with(')') => &text[..number],
        _ => text,
    }
}
