//! Reads what matters of an HTTP/1 request, and writes an answer to it.

use super::answer::{Answer, Asked, Mark, Shapes, answer};
use super::bounds::{MAX_CHUNK_LINE, MAX_HEAD, MAX_HEADERS};
use super::flow::Request;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) request: Request,
    pub(super) body: Body,
    pub(super) keep_alive: bool,
    /// The client sends its body only when told to go on.
    pub(super) waits_to_send: bool,
    /// What decides the answer, without the body.
    pub(super) asked: Asked,
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
    Complete(Box<Head>, usize),
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
            Head::of(&request).map_or(Progress::NotHttp, |head| Progress::Complete(Box::new(head), length))
        }
        Ok(httparse::Status::Partial) if bytes.len() <= MAX_HEAD => Progress::Incomplete,
        Ok(httparse::Status::Partial) | Err(_) => Progress::NotHttp,
    }
}

/// Whoever asks any host for this and an address is sent on to that address. Some look only at what they are told to
/// fetch, and not at where that leads.
pub const REDIRECT: &str = "/wallfacer-redirect/";

impl Head {
    fn of(request: &httparse::Request<'_, '_>) -> Option<Head> {
        let (method, path) = (request.method?.to_owned(), request.path?.to_owned());
        let is_newer = request.version? != 0;
        let mut host = None;
        let mut length = Some(0);
        let mut chunked = false;
        let mut keep_alive = is_newer;
        let mut waits_to_send = false;
        let mut asked = Asked::default();
        for header in request.headers.iter() {
            let value = String::from_utf8_lossy(header.value);
            match header.name.to_ascii_lowercase().as_str() {
                "host" => host = Some(value.into_owned()),
                "content-length" => length = value.parse().ok(),
                "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
                "connection" => keep_alive = is_newer && !value.eq_ignore_ascii_case("close"),
                "expect" => waits_to_send = value.eq_ignore_ascii_case("100-continue"),
                "accept" => asked.accept = value.to_ascii_lowercase(),
                "content-type" => asked.content_type = value.to_ascii_lowercase(),
                "range" => asked.range = Some(value.into_owned()),
                "authorization" | "x-api-key" | "api-key" | "x-subscription-token" => asked.authorised = true,
                _ => {}
            }
        }
        let Asked { accept, content_type, range, authorised, .. } = asked;
        let named = Asked::new(&method, host.as_deref(), &path);
        let asked = Asked { accept, content_type, range, authorised, ..named };
        // Nobody knows where such a body ends, so nothing can follow it.
        keep_alive &= chunked || length.is_some();
        let body = if chunked { Body::Chunked } else { Body::Length(length.unwrap_or_default()) };
        Some(Head { request: Request { method, host, path }, body, keep_alive, waits_to_send, asked })
    }

    /// What a service may answer. It carries the marker, so that a server that passes on what it has fetched is seen to
    /// do so.
    pub(super) fn answer(&self, sent: Vec<u8>, shapes: &Shapes, marker: &str) -> Vec<u8> {
        if self.request.method == "CONNECT" {
            return b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec();
        }
        let asked = Asked { body: sent, ..self.asked.clone() };
        self.written(&answer(&asked, shapes, Mark { marker }))
    }

    /// An answer as it goes over the wire.
    pub(super) fn written(&self, answer: &Answer) -> Vec<u8> {
        let Answer { status, content_type, location, body } = answer;
        let connection = if self.keep_alive { "keep-alive" } else { "close" };
        let length = body.len();
        let location = location.as_ref().map(|to| format!("Location: {to}\r\n")).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {status}\r\n{location}Content-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: {connection}\r\n\r\n"
        );
        let body = if self.request.method == "HEAD" { &[][..] } else { body };
        [head.as_bytes(), body].concat()
    }
}

/// The body that chunks carry; what is cut off or makes no sense ends it.
pub(super) fn joined(chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut rest = chunks;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(&rest[..end]);
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16).unwrap_or_default();
        let Some(data) = rest.get(end + 1..).and_then(|after| after.get(..size)).filter(|_| size > 0) else {
            break;
        };
        body.extend_from_slice(data);
        rest = rest.get(end + 1 + size + 2..).unwrap_or_default();
    }
    body
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
        (*head, length)
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
            let answer = answered(text);
            assert!(answer.contains("application/json") && answer.ends_with("}\n"), "{answer}");
            assert!(answer.contains("MARK"));
        }
        let answer = answered("GET /news HTTP/1.1\r\nAccept: text/html\r\n\r\n");
        assert!(answer.contains("text/html") && answer.contains("MARK"));
    }

    #[test]
    fn who_asks_to_be_sent_on_is_sent_to_an_address_and_nowhere_else() {
        let answer = |path: &str| answered(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert!(
            answer("/wallfacer-redirect/127.0.0.1:2000").contains("Location: http://127.0.0.1:2000/\r\n")
        );
        assert!(!answer("/wallfacer-redirect/elsewhere.example:80").contains("Location"));
        assert!(!answer("/wallfacer").contains("302"));
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let answer = answered("HEAD / HTTP/1.1\r\n\r\n");
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
    fn chunks_are_joined() {
        assert_eq!(joined(b"5;x=y\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n"), b"hello, world");
        assert_eq!(joined(b"5\r\nhe"), b"");
        assert_eq!(joined(b"ffffffffffffffff\r\nx"), b"");
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
                // Every document takes its time; that any is made is seen of some.
                if round % 20 == 0 {
                    let answer = head.answer(Vec::new(), &Shapes::default(), "MARK");
                    assert!(answer.starts_with(b"HTTP/1.1 "));
                }
                if let Fed::Ended(used) = Chunks::default().feed(&bytes[length..]) {
                    assert!(used <= bytes.len() - length);
                }
            }
        }
    }

    fn answered(text: &str) -> String {
        String::from_utf8(head(text).answer(Vec::new(), &Shapes::default(), "MARK")).unwrap()
    }
}
