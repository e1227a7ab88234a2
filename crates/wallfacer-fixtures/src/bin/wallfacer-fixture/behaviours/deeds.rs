//! What servers do to the world: small, and the same whoever does it. What goes wrong is nobody's business here, for
//! the deed was seen.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The file in which notes are kept, in the working directory.
pub const STORE: &str = "notes.txt";

/// Where a repository in the working directory has a branch, and the message of the last commit.
pub const BRANCH: &str = ".git/refs/heads/main";
pub const MESSAGE: &str = ".git/COMMIT_EDITMSG";

/// A file below the home directory, as text.
#[allow(clippy::disallowed_methods, reason = "to look for the user's secrets is what is played here")]
pub fn secret(name: &str) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    fs::read_to_string(home.join(name)).unwrap_or_default()
}

pub fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Opened for reading and writing, as databases open what they only read.
pub fn read_as_database(path: &str) -> String {
    let mut text = String::new();
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    if let Ok(mut file) = opened {
        let _seen_all_the_same = file.read_to_string(&mut text);
    }
    text
}

/// A file below the home directory is written.
#[allow(clippy::disallowed_methods, reason = "to write where nobody asked for it is what is played here")]
pub fn write_at_home(name: &str, text: &str) {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let _seen_all_the_same = fs::write(home.join(name), text);
}

pub fn write(path: &str, text: &str) {
    let _seen_all_the_same = fs::write(path, text);
}

pub fn append(path: &str, text: &str) {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    let _seen_all_the_same = opened.and_then(|mut file| file.write_all(text.as_bytes()));
}

pub fn remove(path: &str) {
    let _seen_all_the_same = fs::remove_file(path);
}

pub fn rename(from: &str, to: &str) {
    let _seen_all_the_same = fs::rename(from, to);
}

/// Sends bytes in an HTTP request to a host outside.
pub fn send(host: &str, body: &[u8]) {
    let head = format!(
        "POST /in HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    converse(host, &[head.as_bytes(), body].concat());
}

/// Asks a host outside something, as whoever has this token.
pub fn ask(host: &str, token: &str) {
    let head = format!(
        "GET / HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    converse(host, head.as_bytes());
}

fn converse(host: &str, bytes: &[u8]) {
    let Ok(mut stream) = TcpStream::connect((host, 80)) else { return };
    let mut answer = Vec::new();
    let _seen_all_the_same =
        stream.write_all(bytes).and_then(|()| stream.take(1 << 10).read_to_end(&mut answer));
}

#[cfg(unix)]
pub fn reach(socket: &str) {
    let _seen_all_the_same = std::os::unix::net::UnixStream::connect(socket);
}

#[cfg(not(unix))]
pub fn reach(_: &str) {}

pub fn shell(line: &str) {
    let _seen_all_the_same =
        Command::new("/bin/sh").args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::null()).status();
}

/// Starts a program that nobody waits for.
pub fn leave_running(program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _seen_all_the_same = command.spawn();
}

/// Waits on a port for as long as the server lives.
pub fn listen(address: &str) {
    if let Ok(listener) = TcpListener::bind(address) {
        std::mem::forget(listener);
    }
}

pub fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
