//! Reads the bytes of one frame as an [`Incoming`]: what they turned out to be, and what is wrong with them. Read
//! leniently, so that a faulty message is still recognised; judged strictly, so that no fault is lost.

use std::ops::Range;

use bytes::Bytes;
use serde_json::Value;

use super::fault::{Fault, Faults};
use super::id::Id;
use super::json::{self, Outline};

/// Most messages of a batch that are looked into; no honest server sends one at all.
const MAX_BATCH: usize = 1_000;

/// One frame as received. Ranges point into `bytes`, so that nothing is copied or reshaped.
#[derive(Debug, Clone)]
pub struct Incoming {
    pub bytes: Bytes,
    pub content: Content,
    pub faults: Faults,
}

/// What a frame says.
#[derive(Debug, Clone)]
pub enum Content {
    Reply { id: Option<Id>, body: Body },
    Request { id: Id, method: String, params: Option<Range<usize>> },
    Notification { method: String, params: Option<Range<usize>> },
    Batch(Vec<Incoming>),
    Noise,
}

/// What a reply carries.
#[derive(Debug, Clone)]
pub enum Body {
    Result(Range<usize>),
    Error(ErrorObject),
    /// Both or neither of the two; the faults say which.
    Neither,
}

/// A JSON-RPC error, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorObject {
    pub code: Option<i64>,
    pub message: String,
    pub data: Option<Value>,
}

impl Incoming {
    /// Reads one frame: a line, an HTTP body, or the data of one event.
    pub fn read(bytes: Bytes, max_depth: usize) -> Incoming {
        let mut faults = Faults::default();
        let content = match std::str::from_utf8(&bytes) {
            Ok(text) => read_text(text, &bytes, max_depth, &mut faults),
            Err(_) => {
                faults.add(Fault::NotUtf8);
                Content::Noise
            }
        };
        Incoming { bytes, content, faults }
    }

    /// A frame that was too long to be read; `bytes` is its beginning.
    pub fn oversized(bytes: Bytes) -> Incoming {
        let mut faults = Faults::default();
        faults.add(Fault::Oversized);
        Incoming { bytes, content: Content::Noise, faults }
    }

    /// The JSON text of a part of this frame.
    pub fn text(&self, range: &Range<usize>) -> &str {
        std::str::from_utf8(&self.bytes[range.clone()]).unwrap_or_default()
    }

    /// A part of this frame as a value. None where our reader gives up, as on extreme nesting.
    pub fn value(&self, range: &Range<usize>) -> Option<Value> {
        serde_json::from_slice(&self.bytes[range.clone()]).ok()
    }

    /// The result of a reply that has one.
    pub fn result(&self) -> Option<Value> {
        match &self.content {
            Content::Reply { body: Body::Result(range), .. } => self.value(range),
            _ => None,
        }
    }
}

fn read_text(text: &str, bytes: &Bytes, max_depth: usize, faults: &mut Faults) -> Content {
    match json::outline(text, max_depth, faults) {
        Err(_) => {
            faults.add(Fault::NotJson);
            Content::Noise
        }
        Ok(Outline::Scalar) => {
            faults.add(Fault::NotAnObject);
            Content::Noise
        }
        Ok(Outline::Array(items)) => {
            faults.add(Fault::Batch);
            let read = |range: Range<usize>| Incoming::read(bytes.slice(range), max_depth);
            Content::Batch(items.into_iter().take(MAX_BATCH).map(read).collect())
        }
        Ok(Outline::Object(members)) => Envelope::gather(text, members).content(text, faults),
    }
}

/// The members of a JSON-RPC message; of a key that comes twice the last counts, as in most readers.
#[derive(Default)]
struct Envelope {
    jsonrpc: Option<Range<usize>>,
    id: Option<Range<usize>>,
    method: Option<Range<usize>>,
    params: Option<Range<usize>>,
    result: Option<Range<usize>>,
    error: Option<Range<usize>>,
}

impl Envelope {
    fn gather(text: &str, members: Vec<json::Member>) -> Envelope {
        let mut envelope = Envelope::default();
        for member in members {
            let place = match &text[member.key] {
                "jsonrpc" => &mut envelope.jsonrpc,
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                _ => continue,
            };
            *place = Some(member.value);
        }
        envelope
    }

    fn content(self, text: &str, faults: &mut Faults) -> Content {
        if self.jsonrpc.as_ref().map(|range| &text[range.clone()]) != Some("\"2.0\"") {
            faults.add(Fault::WrongVersion);
        }
        let id = self.id.as_ref().map(|range| Id::read(&text[range.clone()]));
        let method = self.method.as_ref().and_then(|range| serde_json::from_str(&text[range.clone()]).ok());
        match (method, id) {
            (Some(method), Some(id)) => Content::Request { id, method, params: self.params },
            (Some(method), None) => Content::Notification { method, params: self.params },
            (None, id) => self.reply(id, text, faults),
        }
    }

    fn reply(self, id: Option<Id>, text: &str, faults: &mut Faults) -> Content {
        if matches!(id, None | Some(Id::Null)) {
            faults.add(Fault::NoId);
        }
        let body = match (self.result, self.error) {
            (Some(result), None) => Body::Result(result),
            (None, Some(error)) => Body::Error(ErrorObject::read(&text[error], faults)),
            (Some(_), Some(_)) => {
                faults.add(Fault::ResultAndError);
                Body::Neither
            }
            (None, None) => {
                faults.add(Fault::NeitherResultNorError);
                Body::Neither
            }
        };
        Content::Reply { id, body }
    }
}

impl ErrorObject {
    fn read(json: &str, faults: &mut Faults) -> ErrorObject {
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        let code = value.get("code").and_then(Value::as_i64);
        let message = value.get("message").and_then(Value::as_str);
        if code.is_none() || message.is_none() {
            faults.add(Fault::BadError);
        }
        ErrorObject {
            code,
            message: message.unwrap_or_default().to_owned(),
            data: value.get("data").cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Incoming {
        Incoming::read(Bytes::copy_from_slice(text.as_bytes()), 64)
    }

    #[test]
    fn a_clean_reply_has_no_faults_and_its_result_is_kept_as_written() {
        let reply = read(r#"{"jsonrpc":"2.0","id":3,"result":{"b":1,"a":[]}}"#);
        assert!(reply.faults.is_empty());
        let Content::Reply { id: Some(id), body: Body::Result(range) } = &reply.content else {
            panic!("no reply: {reply:?}")
        };
        assert_eq!(id.as_ours(), Some(3));
        assert_eq!(reply.text(range), r#"{"b":1,"a":[]}"#);
    }

    #[test]
    fn each_fault_of_a_reply_is_named() {
        let cases = [
            (r#"{"id":1,"result":{}}"#, Fault::WrongVersion),
            (r#"{"jsonrpc":2.0,"id":1,"result":{}}"#, Fault::WrongVersion),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
                Fault::ResultAndError,
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, Fault::NeitherResultNorError),
            (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#, Fault::NoId),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, Fault::NoId),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}"#, Fault::BadError),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, Fault::BadError),
            (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, Fault::Batch),
            ("42", Fault::NotAnObject),
            ("Server started", Fault::NotJson),
            (r#"{"jsonrpc":"2.0","id":1,"resu"#, Fault::NotJson),
        ];
        for (text, fault) in cases {
            assert!(read(text).faults.has(fault), "{text} should be: {fault}");
        }
        assert!(Incoming::read(Bytes::from_static(b"{\"a\":\"\xff\"}"), 64).faults.has(Fault::NotUtf8));
    }

    #[test]
    fn requests_and_notifications_are_told_apart_by_the_id() {
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":"s","method":"ping"}"#).content,
            Content::Request { method, .. } if method == "ping"
        ));
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#).content,
            Content::Notification { params: Some(_), .. }
        ));
    }
}
