//! Reads one HTTP request from a connection.

use super::connection::Connection;
use std::io::{self, BufRead, Read as _};

/// Enough for any client's headers.
const LONGEST_HEAD: u64 = 64 << 10;
/// A client may send large payloads, but not without end.
const LONGEST_BODY: u64 = 128 << 20;

pub struct Incoming {
    pub method: String,
    pub path: String,
    pub query: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The client wants no further request on this connection.
    pub closes: bool,
}

pub enum Read {
    Request(Incoming),
    /// The status that tells the client why.
    Refused(u16),
    End,
}

impl Incoming {
    pub fn read(reader: &mut impl BufRead, connection: &Connection) -> io::Result<Read> {
        let Some(head) = read_head(reader)? else { return Ok(Read::End) };
        let Some(mut request) = parse(&head) else { return Ok(Read::Refused(400)) };
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            connection.raw(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let chunked =
            request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
        let length = request.header("content-length").map(|value| value.parse::<u64>());
        request.body = match length {
            _ if chunked => match read_chunks(reader)? {
                Some(body) => body,
                None => return Ok(Read::Refused(413)),
            },
            None => Vec::new(),
            Some(Ok(length)) if length <= LONGEST_BODY => {
                let mut body = Vec::new();
                reader.take(length).read_to_end(&mut body)?;
                body
            }
            Some(Ok(_)) => return Ok(Read::Refused(413)),
            Some(Err(_)) => return Ok(Read::Refused(400)),
        };
        Ok(Read::Request(request))
    }

    /// The first header of this name, without surrounding space.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.all(name).first().copied()
    }

    pub fn all(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }
}

/// Up to and with the empty line. None at the end of the connection.
fn read_head(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut limited = reader.take(LONGEST_HEAD);
    loop {
        let before = head.len();
        if limited.read_until(b'\n', &mut head)? == 0 {
            return Ok(None);
        }
        if head[before..].trim_ascii().is_empty() {
            return Ok(Some(head));
        }
    }
}

fn parse(head: &[u8]) -> Option<Incoming> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target, version) = (first.next()?, first.next()?, first.next()?);
    let headers: Option<Vec<(String, String)>> = lines
        .filter(|line| !line.is_empty())
        .map(|line| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned())))
        .collect();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Incoming {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers?,
        body: Vec::new(),
        closes: version != "HTTP/1.1",
    };
    request.closes |= request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    Some(request)
}

/// None: longer than is taken, or no chunks.
fn read_chunks(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    /// A size in hexadecimal, with room for an extension.
    const LONGEST_SIZE: u64 = 256;
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.by_ref().take(LONGEST_SIZE).read_line(&mut line)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let Ok(size) = u64::from_str_radix(size, 16) else { return Ok(None) };
        if body.len() as u64 + size > LONGEST_BODY {
            return Ok(None);
        }
        reader.by_ref().take(size).read_to_end(&mut body)?;
        reader.by_ref().take(LONGEST_SIZE).read_line(&mut line)?;
        if size == 0 {
            return Ok(Some(body));
        }
    }
}
