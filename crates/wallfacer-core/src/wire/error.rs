//! Why no conversation came about: what was tried, on what, and what to do.

use std::fmt::Write as _;
use std::time::Duration;

use wallfacer_process::{Ending, StartError, Status};

use super::fault::Faults;
use super::http::{HttpError, SetupError};
use crate::target::Version;

/// The server could not be reached, or does not speak as it should.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("cannot start the server: {0}")]
    Start(#[from] StartError),
    #[error("{}", exited(server, *ending, stderr))]
    Exited { server: String, ending: Option<Ending>, stderr: String },
    #[error("{}", silent(server, method, *waited, stderr))]
    Silent { server: String, method: &'static str, waited: Duration, stderr: String },
    #[error("`{server}` answered `{method}` with {faults}{}", quoted(sample))]
    Malformed { server: String, method: &'static str, faults: Faults, sample: String },
    #[error("`{server}` refused `{method}`: {message} (code {code})")]
    Refused { server: String, method: &'static str, code: i64, message: String },
    #[error("{}", status_text(server, *status, body))]
    HttpStatus { server: String, status: u16, body: String },
    #[error(
        "`{server}` speaks {offered}, which is not {wanted}; leave out --protocol to take what it speaks"
    )]
    OtherVersion { server: String, wanted: Version, offered: String },
    #[error("`{server}` speaks version `{offered}` of the protocol, which wallfacer does not know")]
    UnknownVersion { server: String, offered: String },
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Setup(#[from] SetupError),
}

fn exited(server: &str, ending: Option<Ending>, stderr: &str) -> String {
    let mut text = match ending.map(|ending| ending.status) {
        Some(Status::Exited(code)) => format!("`{server}` exited with code {code} before it answered"),
        Some(Status::Signalled { signal, .. }) => {
            format!("`{server}` was killed by signal {signal} before it answered")
        }
        Some(Status::Unknown) => format!("`{server}` ended before it answered, nobody saw how"),
        None => format!("`{server}` closed its output before it answered"),
    };
    add_stderr(&mut text, stderr);
    text
}

fn silent(server: &str, method: &str, waited: Duration, stderr: &str) -> String {
    let mut text = format!(
        "`{server}` gave no answer to `{method}` within {}s; is it an MCP server? (--startup-timeout gives it longer)",
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

fn quoted(sample: &str) -> String {
    if sample.is_empty() { String::new() } else { format!(": `{sample}`") }
}

fn status_text(server: &str, status: u16, body: &str) -> String {
    let advice = match status {
        401 => "give credentials with --header 'Authorization: Bearer …'",
        403 => "the server forbids it; check the credentials and the host name",
        404 | 405 => "is the path of the URL right?",
        500.. => "the server failed; its own log may say why",
        _ => "is this the address of an MCP server?",
    };
    format!("`{server}` answered with HTTP status {status}: {advice}{}", quoted(body))
}
