//! What the tests of a whole conversation share: targets, an environment, a runtime.
#![allow(dead_code, reason = "each test uses its own part")]

pub mod torture;

use std::collections::BTreeMap;
use std::ffi::OsString;

use wallfacer_core::target::{Command, Endpoint, EndpointKind, Reach};
use wallfacer_fixtures::Transport;

/// A fixture server in some mode, over some transport.
pub fn fixture(mode: &str, transport: Transport) -> Reach {
    let (flag, path) = match transport {
        Transport::Stdio => {
            return Reach::Command(Command::new(wallfacer_fixtures::server(), [mode]));
        }
        Transport::Http => ("--http", "mcp"),
        Transport::LegacySse => ("--legacy-sse", "sse"),
    };
    let (port, url) = address(path);
    let arguments = [mode, flag, "--port", &port.to_string()].map(str::to_owned);
    listening(Command::new(wallfacer_fixtures::server(), arguments), url)
}

/// A server that is started, then reached over HTTP.
pub fn listening(command: Command, url: String) -> Reach {
    Reach::Both { command, endpoint: Endpoint { url, headers: Vec::new(), kind: EndpointKind::Auto } }
}

/// A free port of loopback, and the URL of a path on it.
pub fn address(path: &str) -> (u16, String) {
    let port = wallfacer_fixtures::free_port();
    (port, format!("http://127.0.0.1:{port}/{path}"))
}

#[allow(clippy::disallowed_methods, reason = "a test hands its own environment on")]
pub fn environment() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

/// Runs a test on one thread, as the product does.
pub fn wait_for<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
