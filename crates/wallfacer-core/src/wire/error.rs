//! Why no conversation came about: what was tried, on what, and what to do.

use std::fmt::Write as _;
use std::time::Duration;

use wallfacer_process::{Ending, StartError, Status};

use super::fault::{Fault, Faults};
use super::http::{HttpError, SetupError};
use crate::target::Version;

/// The error of the modern era that names the versions a server does support.
const UNSUPPORTED_VERSION: i64 = -32022;

/// The server could not be reached, or does not speak as it should.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("cannot start the server: {}{}", .0, start_advice(.0))]
    Start(#[from] StartError),
    #[error("{}", exited(server, *ending, printed, stderr))]
    Exited { server: String, ending: Option<Ending>, printed: String, stderr: String },
    #[error("{}", silent(server, method, *waited, stderr))]
    Silent { server: String, method: &'static str, waited: Duration, stderr: String },
    /// We started the server, and nothing listens where it should.
    #[error("{}", deaf(server, url, *waited, stderr))]
    Deaf { server: String, url: String, waited: Duration, stderr: String },
    #[error(
        "`{server}` was not started, for something listens at {url} already; stop that, or leave the command away to test it"
    )]
    Taken { server: String, url: String },
    /// What the user demands of the server's world cannot be had.
    #[error("`{server}` is not tested, for what --sandbox or --require demands cannot be had: {why}")]
    Unmet { server: String, why: String },
    #[error("{}", malformed(server, method, faults, sample))]
    Malformed { server: String, method: &'static str, faults: Faults, sample: String },
    #[error("`{server}` refused `{method}`: {message} (code {code}){}", refusal_advice(method, *code))]
    Refused { server: String, method: &'static str, code: i64, message: String },
    #[error("{}", status_text(server, *status, body))]
    HttpStatus { server: String, status: u16, body: String },
    #[error(
        "`{server}` speaks {offered}, which is not {wanted}; leave out --protocol to take what it speaks"
    )]
    OtherVersion { server: String, wanted: Version, offered: String },
    #[error("`{server}` speaks version `{offered}` of the protocol, which wallfacer does not know")]
    UnknownVersion { server: String, offered: String },
    #[error("{}{}", .0, http_advice(.0))]
    Http(#[from] HttpError),
    #[error(transparent)]
    Setup(#[from] SetupError),
}

fn start_advice(error: &StartError) -> &'static str {
    match error {
        StartError::NotInPath { .. } => "; install it, or give its whole path",
        StartError::NoSuchFile { .. } => "; check the path of the command",
        StartError::NotExecutable { .. } => "; make it executable, or put its interpreter in front of it",
        _ => "",
    }
}

fn exited(server: &str, ending: Option<Ending>, printed: &str, stderr: &str) -> String {
    let mut text = match ending.map(|ending| ending.status) {
        Some(Status::Exited(code)) => format!("`{server}` exited with code {code} before it answered"),
        Some(Status::Signalled { signal, .. }) => {
            format!("`{server}` was killed by signal {signal}{} before it answered", signal_name(signal))
        }
        Some(Status::Unknown) => format!("`{server}` ended before it answered, nobody saw how"),
        None => format!("`{server}` closed its output before it answered"),
    };
    if !printed.is_empty() {
        let _infallible = write!(text, "; it printed `{printed}`");
    }
    add_stderr(&mut text, stderr);
    text
}

/// Signals that have the same number everywhere and that servers die of.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

fn silent(server: &str, method: &str, waited: Duration, stderr: &str) -> String {
    let mut text = format!(
        "`{server}` gave no answer to `{method}` within {}s; is it an MCP server? (--startup-timeout gives it longer)",
        waited.as_secs_f64()
    );
    add_stderr(&mut text, stderr);
    text
}

fn deaf(server: &str, url: &str, waited: Duration, stderr: &str) -> String {
    let mut text = format!(
        "`{server}` was started, but nothing listens at {url} after {}s; does it use that port? \
         (--startup-timeout gives it longer)",
        waited.as_secs_f64()
    );
    add_stderr(&mut text, stderr);
    text
}

fn add_stderr(text: &mut String, stderr: &str) {
    if stderr.trim().is_empty() {
        text.push_str("; it wrote nothing to stderr");
        return;
    }
    text.push_str("; its stderr ends with:");
    for line in stderr.lines() {
        let _infallible = write!(text, "\n  | {line}");
    }
}

fn malformed(server: &str, method: &str, faults: &Faults, sample: &str) -> String {
    let advice = if faults.has(Fault::WrongContentType) {
        "; is this the address of an MCP server, or of a web page or proxy?"
    } else if faults.has(Fault::Redirect) {
        "; give --url the address of the server itself"
    } else if faults.has(Fault::Oversized) {
        "; --max-line lets longer ones in"
    } else if faults.has(Fault::NotJson) {
        "; a server must print nothing but its messages"
    } else {
        ""
    };
    let sent = if faults.is_empty() { sample.to_owned() } else { format!("{faults}{}", quoted(sample)) };
    format!("`{server}` gave no valid answer to `{method}`, it sent {sent}{advice}")
}

fn quoted(sample: &str) -> String {
    if sample.is_empty() { String::new() } else { format!(" (`{sample}`)") }
}

/// Both questions are put to a server of the other era only when --protocol says so.
fn refusal_advice(method: &str, code: i64) -> &'static str {
    match (method, code) {
        ("server/discover", _) | (_, UNSUPPORTED_VERSION) => "; leave out --protocol to take what it speaks",
        _ => "",
    }
}

fn status_text(server: &str, status: u16, body: &str) -> String {
    let advice = match status {
        401 => "give credentials with --header 'Authorization: Bearer …'",
        403 => "the server forbids it, check the credentials and the host name",
        404 | 405 => "is the path of the URL right?",
        502..=504 => "a proxy in front of the server does not reach it",
        500 => "the server failed, its own log may say why",
        _ => "is this the address of an MCP server?",
    };
    format!("`{server}` answered with HTTP status {status}{}; {advice}", quoted(body))
}

fn http_advice(error: &HttpError) -> &'static str {
    match error {
        HttpError::Connect { reason, .. } if reason.contains("nothing listens") => {
            "; is the server running? With `-- COMMAND` it is started first"
        }
        HttpError::Connect { .. } => "; check the host in the URL",
        HttpError::Tls { reason, .. } if reason.contains("InvalidContentType") => {
            "; if the server speaks plain HTTP, write http://"
        }
        HttpError::Tls { reason, .. } if reason.contains("not valid for name") => {
            "; reach the server by the name in its certificate"
        }
        HttpError::Tls { reason, .. } if reason.contains("certificate") => {
            "; if you trust it, name a file with its certificate in SSL_CERT_FILE"
        }
        _ => "",
    }
}
