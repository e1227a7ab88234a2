//! A web server on loopback for tests: a function answers every request, given its head.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

use crate::world::fixture;

/// More than any request of ours has.
const LONGEST_REQUEST: u64 = 1 << 20;

/// Serves until the test ends; gives the port.
pub fn site(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            // A client that goes away is its own business.
            thread::spawn(move || drop(converse(stream, &*answer)));
        }
    });
    port
}

/// A whole response.
pub fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The fixture over HTTP, listening; it is killed when this is dropped.
pub struct Listening {
    child: Child,
    pub url: String,
}

impl Listening {
    pub fn start(mode: &str) -> Listening {
        let mut command = Command::new(fixture());
        command.args([mode, "--http"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening ").expect("the fixture says where it listens");
        Listening { child, url: url.to_owned() }
    }

    pub fn port(&self) -> u16 {
        let authority = self.url.trim_start_matches("http://").split('/').next().unwrap();
        authority.rsplit(':').next().unwrap().parse().unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// A port at which nothing listens now.
pub fn free_port() -> u16 {
    wallfacer_fixtures::free_port()
}

fn converse(mut stream: TcpStream, answer: &dyn Fn(&str) -> String) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        // As web servers do when somebody speaks TLS to them.
        if reader.fill_buf()?.first().is_some_and(|first| !first.is_ascii_uppercase()) {
            return stream.write_all(response("400 Bad Request", "", "").as_bytes());
        }
        let Some(head) = read_request(&mut reader)? else { return Ok(()) };
        stream.write_all(answer(&head).as_bytes())?;
    }
}

/// The head of the next request, once all of it has been read.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut head = String::new();
    let mut limited = reader.take(LONGEST_REQUEST);
    while !head.ends_with("\r\n\r\n") {
        if limited.read_line(&mut head)? == 0 {
            return Ok(None);
        }
    }
    let length = head.to_ascii_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    io::copy(&mut limited.take(length.unwrap_or(0)), &mut io::sink())?;
    Ok(Some(head))
}
