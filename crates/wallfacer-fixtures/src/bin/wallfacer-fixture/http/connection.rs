//! Writes HTTP/1.1 responses on one TCP connection.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A client that says nothing for so long has forgotten us.
const LONGEST_IDLE: Duration = Duration::from_secs(300);

pub struct Connection {
    stream: TcpStream,
    spoilt: AtomicBool,
}

impl Connection {
    pub fn new(stream: TcpStream) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LONGEST_IDLE))?;
        Ok(Connection { stream, spoilt: AtomicBool::new(false) })
    }

    pub fn reader(self: &Arc<Self>) -> BufReader<Half> {
        BufReader::new(Half(Arc::clone(self)))
    }

    /// Any bytes at all.
    pub fn raw(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.stream).write_all(bytes)
    }

    /// No further request can follow on this connection.
    pub fn spoil(&self) {
        self.spoilt.store(true, Ordering::SeqCst);
    }

    pub fn is_spoilt(&self) -> bool {
        self.spoilt.load(Ordering::SeqCst)
    }

    pub fn refuse(&self, status: u16, why: &str) -> io::Result<()> {
        self.respond(status, &[("content-type", "text/plain")], why.as_bytes())
    }

    /// A whole answer.
    pub fn respond(&self, status: u16, headers: &[(&str, &str)], body: &[u8]) -> io::Result<()> {
        let mut answer = head(status, headers);
        if status != 204 {
            answer.extend(format!("content-length: {}\r\n", body.len()).bytes());
        }
        answer.extend(b"\r\n");
        answer.extend(body);
        self.raw(&answer)
    }

    /// The beginning of an answer whose end is not known yet; chunks follow.
    pub fn begin(&self, headers: &[(&str, &str)]) -> io::Result<()> {
        let mut answer = head(200, headers);
        answer.extend(b"transfer-encoding: chunked\r\n\r\n");
        self.raw(&answer)
    }

    pub fn chunk(&self, bytes: &[u8]) -> io::Result<()> {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend(bytes);
        chunk.extend(b"\r\n");
        self.raw(&chunk)
    }

    pub fn end(&self) -> io::Result<()> {
        self.raw(b"0\r\n\r\n")
    }

    /// Whether the other side has not closed. Only for the thread that reads from this connection.
    pub fn is_open(&self) -> bool {
        /// The shortest wait that the system knows; zero would mean for ever.
        const AN_INSTANT: Duration = Duration::from_millis(1);
        let looked = self.stream.set_read_timeout(Some(AN_INSTANT)).and_then(|()| self.stream.peek(&mut [0]));
        // A socket that cannot be set back is of no use any more either.
        self.stream.set_read_timeout(Some(LONGEST_IDLE)).is_ok()
            && match looked {
                Ok(count) => count > 0,
                Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
            }
    }
}

/// The reading side, for a buffered reader.
pub struct Half(Arc<Connection>);

impl Read for Half {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0.stream).read(buffer)
    }
}

fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        500 => "Internal Server Error",
        _ => "Unnamed",
    }
}
