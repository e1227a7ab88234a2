//! Parses the bytes of an event stream. Ours, because a library would drop what is malformed.

use bytes::{Bytes, BytesMut};

/// One event as dispatched by its blank line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    pub id: Option<String>,
    pub name: Option<String>,
    /// The data lines joined by newlines; empty for a priming event.
    pub data: Bytes,
    pub retry_ms: Option<u64>,
    /// Whether there was any `data:` line.
    pub has_data: bool,
}

/// An event or a line grew beyond the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// Reads events piece by piece, however the bytes are cut.
#[derive(Debug)]
pub struct Parser {
    line: BytesMut,
    event: Partial,
    max_bytes: usize,
    /// The last byte was a carriage return: a newline after it belongs to the same line end.
    after_return: bool,
    at_start: bool,
}

#[derive(Debug, Default)]
struct Partial {
    id: Option<String>,
    name: Option<String>,
    data: BytesMut,
    retry_ms: Option<u64>,
    data_lines: usize,
}

impl Parser {
    pub fn new(max_bytes: usize) -> Parser {
        Parser {
            line: BytesMut::new(),
            event: Partial::default(),
            max_bytes,
            after_return: false,
            at_start: true,
        }
    }

    /// Takes in some bytes; gives the events that they complete.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                break;
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_line());
            self.check_size()?;
        }
        self.check_size().map(|()| events)
    }

    /// True when the stream may end here without cutting an event in two.
    pub fn is_between_events(&self) -> bool {
        self.line.is_empty() && self.event.data_lines == 0
    }

    fn check_size(&self) -> Result<(), TooLong> {
        (self.line.len() + self.event.data.len() <= self.max_bytes).then_some(()).ok_or(TooLong)
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = self.line.split();
        let line = match std::mem::take(&mut self.at_start) {
            true => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line),
            false => &line,
        };
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(0) => return None,
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, [].as_slice()),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            b"data" => {
                if self.event.data_lines > 0 {
                    self.event.data.extend_from_slice(b"\n");
                }
                self.event.data.extend_from_slice(value);
                self.event.data_lines += 1;
            }
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"event" => self.event.name = Some(text()),
            b"retry" => self.event.retry_ms = text().parse().ok(),
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let Partial { id, name, data, retry_ms, data_lines } = std::mem::take(&mut self.event);
        let has_data = data_lines > 0;
        let said_something = has_data || id.is_some() || retry_ms.is_some();
        said_something.then(|| Event { id, name, data: data.freeze(), retry_ms, has_data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<(Option<String>, String)> {
        let mut parser = Parser::new(1024);
        let events = parser.feed(text).unwrap();
        events
            .into_iter()
            .map(|event| (event.id, String::from_utf8_lossy(&event.data).into_owned()))
            .collect()
    }

    #[test]
    fn data_lines_are_joined_and_any_line_end_is_one() {
        for text in ["data: a\ndata:b\n\n", "data: a\r\ndata:b\r\n\r\n", "data: a\rdata:b\r\r"] {
            assert_eq!(read(text.as_bytes()), [(None, "a\nb".to_owned())], "{text:?}");
        }
    }

    #[test]
    fn comments_and_unknown_fields_are_passed_over_and_a_mark_at_the_start_too() {
        assert_eq!(
            read(b"\xef\xbb\xbf: hello\nfoo: bar\nid: 7\ndata: x\n\n: end\n\n"),
            [(Some("7".into()), "x".into())]
        );
    }

    #[test]
    fn a_priming_event_has_an_id_and_empty_data() {
        let events = Parser::new(64).feed(b"id: 1\ndata: \n\n").unwrap();
        assert_eq!((events[0].id.as_deref(), events[0].data.len(), events[0].has_data), (Some("1"), 0, true));
    }

    #[test]
    fn the_cut_of_the_bytes_does_not_matter() {
        let text = b"id: 1\r\nevent: message\r\ndata: {\"a\":\"\xc3\xa9\"}\r\n\r\ndata: 2\r\n\r\n";
        let whole = Parser::new(1024).feed(text).unwrap();
        for size in 1..text.len() {
            let mut parser = Parser::new(1024);
            let pieces: Vec<_> = text.chunks(size).flat_map(|piece| parser.feed(piece).unwrap()).collect();
            assert_eq!(pieces, whole, "pieces of {size}");
        }
    }

    #[test]
    fn an_event_beyond_the_limit_is_refused_however_it_is_spread() {
        assert_eq!(Parser::new(8).feed(b"data: 123456789"), Err(TooLong));
        assert_eq!(Parser::new(8).feed(b"data: 1234\ndata: 5678\ndata: 9\n"), Err(TooLong));
    }

    #[test]
    fn an_event_cut_in_two_is_seen_at_the_end() {
        let mut parser = Parser::new(64);
        assert_eq!(parser.feed(b"data: x\n"), Ok(vec![]));
        assert!(!parser.is_between_events());
        parser.feed(b"\n").unwrap();
        assert!(parser.is_between_events());
    }
}
