//! Reads what matters of an HTTP/1 request, and writes an answer to it.

use std::net::SocketAddr;

use super::bounds::{MAX_CHUNK_LINE, MAX_HEAD, MAX_HEADERS};
use super::flow::Request;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) request: Request,
    pub(super) body: Body,
    pub(super) keep_alive: bool,
    /// The client sends its body only when told to go on.
    pub(super) waits_to_send: bool,
    wants_json: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    Length(u64),
    Chunked,
}

/// How far the head of a request has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Progress {
    NotHttp,
    Incomplete,
    /// The head, and how many bytes it takes.
    Complete(Head, usize),
}

/// Reads the first bytes of what may be a request.
pub(super) fn read(bytes: &[u8]) -> Progress {
    // The parser skips empty lines and takes any word for a method.
    if !bytes.first().is_some_and(u8::is_ascii_uppercase) {
        return Progress::NotHttp;
    }
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let mut lenient = httparse::ParserConfig::default();
    // A header that is not understood must not hide what else is sent.
    lenient.ignore_invalid_headers_in_requests(true);
    match lenient.parse_request(&mut request, bytes) {
        Ok(httparse::Status::Complete(length)) => {
            Head::of(&request).map_or(Progress::NotHttp, |head| Progress::Complete(head, length))
        }
        Ok(httparse::Status::Partial) if bytes.len() <= MAX_HEAD => Progress::Incomplete,
        Ok(httparse::Status::Partial) | Err(_) => Progress::NotHttp,
    }
}

/// Clients of an interface seldom say that they expect JSON; its paths tell.
fn is_like_api(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    path.ends_with(".json")
        || path.split('/').any(|part| matches!(part, "api" | "v1" | "v2" | "v3" | "graphql"))
}

/// Whoever asks any host for this and an address is sent on to that address. Some look only at what they are told to
/// fetch, and not at where that leads.
pub const REDIRECT: &str = "/wallfacer-redirect/";

/// Where a path sends on to.
fn sent_on(path: &str) -> Option<SocketAddr> {
    path.strip_prefix(REDIRECT)?.trim_end_matches('/').parse().ok()
}

impl Head {
    fn of(request: &httparse::Request<'_, '_>) -> Option<Head> {
        let (method, path) = (request.method?.to_owned(), request.path?.to_owned());
        let is_newer = request.version? != 0;
        let mut host = None;
        let mut length = Some(0);
        let mut chunked = false;
        let mut keep_alive = is_newer;
        let mut waits_to_send = false;
        let mut wants_json = is_like_api(&path);
        for header in request.headers.iter() {
            let value = String::from_utf8_lossy(header.value);
            match header.name.to_ascii_lowercase().as_str() {
                "host" => {
                    wants_json |= value.starts_with("api.");
                    host = Some(value.into_owned());
                }
                "content-length" => length = value.parse().ok(),
                "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
                "connection" => keep_alive = is_newer && !value.eq_ignore_ascii_case("close"),
                "expect" => waits_to_send = value.eq_ignore_ascii_case("100-continue"),
                "accept" | "content-type" => wants_json |= value.to_ascii_lowercase().contains("json"),
                _ => {}
            }
        }
        // Nobody knows where such a body ends, so nothing can follow it.
        keep_alive &= chunked || length.is_some();
        let body = if chunked { Body::Chunked } else { Body::Length(length.unwrap_or_default()) };
        Some(Head { request: Request { method, host, path }, body, keep_alive, waits_to_send, wants_json })
    }

    /// A small page, or a small JSON document. Both carry the marker, so that a server that passes on what it has
    /// fetched is seen to do so.
    pub(super) fn answer(&self, marker: &str) -> Vec<u8> {
        let Request { method, path, .. } = &self.request;
        let (status, kind, body) = if method == "CONNECT" {
            return b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec();
        } else if sent_on(path).is_some() {
            ("302 Found", "text/plain; charset=utf-8", "found\n".to_owned())
        } else if path == "/robots.txt" {
            // A page in its place would be taken for rules.
            ("404 Not Found", "text/plain; charset=utf-8", "not found\n".to_owned())
        } else if self.wants_json {
            ("200 OK", "application/json", format!("{{\"id\":\"{marker}\",\"status\":\"ok\",\"data\":[]}}\n"))
        } else {
            ("200 OK", "text/html; charset=utf-8", page(marker))
        };
        let connection = if self.keep_alive { "keep-alive" } else { "close" };
        let length = body.len();
        let location = sent_on(path).map(|to| format!("Location: http://{to}/\r\n")).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {status}\r\n{location}Content-Type: {kind}\r\nContent-Length: {length}\r\nConnection: {connection}\r\n\r\n"
        );
        let body = if method == "HEAD" { "" } else { &body };
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

fn page(marker: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Welcome</title></head>\n<body>\
         <main><h1>Welcome</h1><p>This page was last changed in revision {marker}.</p></main></body></html>\n"
    )
}

/// Finds the end of a body that comes in chunks.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    line: Vec<u8>,
    expects: Expects,
}

#[derive(Debug, Default)]
enum Expects {
    #[default]
    Size,
    /// So many bytes, with the end of line behind them.
    Data(u64),
    Trailer,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fed {
    /// All bytes belong to the body, and more will.
    More,
    /// The body ended after this many bytes.
    Ended(usize),
    Broken,
}

impl Chunks {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Fed {
        let mut at = 0;
        while at < bytes.len() {
            if let Expects::Data(left) = &mut self.expects {
                let step = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len() - at);
                at += step;
                *left -= step as u64;
                if *left == 0 {
                    self.expects = Expects::Size;
                }
                continue;
            }
            let byte = bytes[at];
            at += 1;
            if byte != b'\n' {
                self.line.push(byte);
                if self.line.len() > MAX_CHUNK_LINE {
                    return Fed::Broken;
                }
                continue;
            }
            match self.end_line() {
                Some(true) => return Fed::Ended(at),
                Some(false) => {}
                None => return Fed::Broken,
            }
        }
        Fed::More
    }

    /// Whether this line was the last; `None` when it makes no sense.
    fn end_line(&mut self) -> Option<bool> {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii();
        if matches!(self.expects, Expects::Trailer) {
            return Some(line.is_empty());
        }
        let digits = line.split(|byte| *byte == b';').next()?;
        let size = u64::from_str_radix(str::from_utf8(digits).ok()?.trim(), 16).ok()?;
        self.expects = if size == 0 { Expects::Trailer } else { Expects::Data(size.checked_add(2)?) };
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::hash::hash;

    const POST: &[u8] =
        b"POST /upload?a=b HTTP/1.1\r\nHost: evil.example.com\r\nContent-Length: 12\r\nAccept: */*\r\n\r\nhello, world";

    fn head(text: &str) -> Head {
        whole(text.as_bytes()).0
    }

    fn whole(bytes: &[u8]) -> (Head, usize) {
        let Progress::Complete(head, length) = read(bytes) else { panic!("the head is complete") };
        (head, length)
    }

    #[test]
    fn a_request_gives_method_host_path_and_length() {
        let (head, length) = whole(POST);
        assert_eq!(&POST[length..], b"hello, world");
        assert_eq!(head.request.method, "POST");
        assert_eq!(head.request.host.as_deref(), Some("evil.example.com"));
        assert_eq!(head.request.path, "/upload?a=b");
        assert_eq!((head.body, head.keep_alive), (Body::Length(12), true));
    }

    #[test]
    fn a_head_is_incomplete_until_its_empty_line() {
        for cut in 1..whole(POST).1 {
            assert_eq!(read(&POST[..cut]), Progress::Incomplete, "{cut}");
        }
    }

    #[test]
    fn a_strange_header_or_path_hides_nothing_else() {
        let head =
            head("GET /caf\u{e9}?q=\u{1f600} HTTP/1.1\nX Y: 1\r\nno colon\r\nHost: \u{e9}.example\r\n\r\n");
        assert_eq!(head.request.path, "/caf\u{e9}?q=\u{1f600}");
        assert_eq!(head.request.host.as_deref(), Some("\u{e9}.example"));
    }

    #[test]
    fn other_protocols_are_not_taken_for_http() {
        for bytes in [&b"\x16\x03\x01"[..], b"*1\r\n$4\r\nPING\r\n", b"EHLO me\r\n", b"SSH-2.0-x\r\n", b""] {
            assert_eq!(read(bytes), Progress::NotHttp, "{bytes:?}");
        }
        assert_eq!(read(&[b'A'; MAX_HEAD + 1]), Progress::NotHttp);
    }

    #[test]
    fn json_is_answered_to_those_who_expect_it() {
        for text in [
            "GET / HTTP/1.1\r\nAccept: application/json\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
            "POST /v1/items?x=1 HTTP/1.1\r\n\r\n",
            "GET /data.json HTTP/1.1\r\n\r\n",
        ] {
            let answer = text_of(&head(text).answer("MARK"));
            assert!(answer.contains("application/json") && answer.ends_with("\"data\":[]}\n"), "{answer}");
            assert!(answer.contains("MARK"));
        }
        let answer = text_of(&head("GET /news HTTP/1.1\r\nAccept: text/html\r\n\r\n").answer("MARK"));
        assert!(answer.contains("text/html") && answer.contains("MARK"));
    }

    #[test]
    fn who_asks_to_be_sent_on_is_sent_to_an_address_and_nowhere_else() {
        let answer =
            |path: &str| text_of(&head(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).answer("m"));
        assert!(
            answer("/wallfacer-redirect/127.0.0.1:2000").contains("Location: http://127.0.0.1:2000/\r\n")
        );
        assert!(!answer("/wallfacer-redirect/elsewhere.example:80").contains("Location"));
        assert!(!answer("/wallfacer").contains("302"));
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let answer = text_of(&head("HEAD / HTTP/1.1\r\n\r\n").answer("MARK"));
        assert!(answer.ends_with("\r\n\r\n") && !answer.contains("Content-Length: 0"), "{answer}");
    }

    #[test]
    fn connections_are_kept_only_where_the_end_of_the_body_is_known() {
        assert!(!head("GET / HTTP/1.0\r\n\r\n").keep_alive);
        assert!(!head("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").keep_alive);
        assert!(!head("POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n").keep_alive);
        assert!(head("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").keep_alive);
    }

    #[test]
    fn chunks_end_at_the_same_byte_however_they_are_cut() {
        let body = b"5;x=y\r\nhello\r\n7\r\n, world\r\n0\r\nTrailer: x\r\n\r\nGET /next";
        let end = body.len() - b"GET /next".len();
        for cut in 1..end {
            let mut chunks = Chunks::default();
            assert_eq!(chunks.feed(&body[..cut]), Fed::More, "{cut}");
            assert_eq!(chunks.feed(&body[cut..]), Fed::Ended(end - cut), "{cut}");
        }
        assert_eq!(Chunks::default().feed(b"ffffffffffffffff\r\n"), Fed::Broken);
        assert_eq!(Chunks::default().feed(b"zz\r\n"), Fed::Broken);
        assert_eq!(Chunks::default().feed(&[b'0'; MAX_CHUNK_LINE + 1]), Fed::Broken);
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        let chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        for round in 0..20_000_u64 {
            let mut bytes = if round % 2 == 0 { POST.to_vec() } else { chunked.to_vec() };
            for change in 0..3_u64 {
                let number = hash(round, &change.to_be_bytes());
                let at = usize::try_from(number >> 32).unwrap() % bytes.len();
                bytes[at] = number.to_be_bytes()[7];
            }
            if let Progress::Complete(head, length) = read(&bytes) {
                assert!(head.answer("MARK").starts_with(b"HTTP/1.1 "));
                if let Fed::Ended(used) = Chunks::default().feed(&bytes[length..]) {
                    assert!(used <= bytes.len() - length);
                }
            }
        }
    }

    fn text_of(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}
