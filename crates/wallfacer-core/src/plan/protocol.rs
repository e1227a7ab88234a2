//! Frames that are no proper request, one way at a time. After each a valid request must still be answered.

use serde_json::{Value, json};

use super::case::{Case, Intent, Step, Subject};
use super::frame::RawFrame;
use crate::target::Version;
use crate::wire::Dialect;

/// The id of frames that carry one; far from those that a connection counts up from one.
const ID: i64 = 700_001;
/// Nesting that a recursive reader does not survive.
const DEEP: usize = 20_000;

/// All frames, in a fixed order. `max_bytes` bounds the largest.
pub fn protocol_cases(version: Version, max_bytes: usize, seed: u64) -> Vec<Case> {
    let maker = Maker { dialect: Dialect::new(version) };
    let frames = [
        maker.broken_json(),
        maker.envelopes(),
        maker.ids(),
        maker.methods(),
        maker.params(),
        maker.batches(),
        maker.framing(),
        maker.unasked(),
        maker.large(max_bytes),
    ];
    frames.into_iter().flatten().map(|(name, frames)| case(&name, frames, seed)).collect()
}

type Named = (String, Vec<RawFrame>);

fn case(name: &str, frames: Vec<RawFrame>, seed: u64) -> Case {
    let steps = frames.into_iter().map(Step::Raw).chain([Step::Probe]).collect();
    let intent = Intent::Frame(name.to_owned());
    Case { subject: Subject::Server, intent, prelude: Vec::new(), steps, seed, claim: None, measure: None }
}

fn one(name: &str, line: impl AsRef<[u8]>) -> Named {
    let mut bytes = line.as_ref().to_vec();
    bytes.push(b'\n');
    (name.to_owned(), vec![RawFrame::new(bytes, None)])
}

struct Maker {
    dialect: Dialect,
}

impl Maker {
    /// A valid request of the era that touches nothing, as JSON.
    fn request(&self) -> Value {
        let method = match self.dialect.era() {
            crate::target::Era::Legacy => "ping",
            crate::target::Era::Modern => "server/discover",
        };
        serde_json::from_slice(&self.dialect.request(ID, method, None)).expect("our own request is JSON")
    }

    /// The valid request with one member set, or taken away by null.
    fn with(&self, name: &str, member: &str, value: Option<Value>) -> Named {
        let mut request = self.request();
        let members = request.as_object_mut().expect("a request is an object");
        match value {
            Some(value) => members.insert(member.to_owned(), value),
            None => members.shift_remove(member),
        };
        one(name, request.to_string())
    }

    fn broken_json(&self) -> Vec<Named> {
        let text = self.request().to_string();
        let cut = &text[..text.len() - 1];
        let mut unquoted = text.clone().into_bytes();
        unquoted.insert(text.len() - 1, 0xff);
        vec![
            one("not JSON", "hello"),
            one("truncated JSON", cut),
            one("two values in one line", format!("{text}{text}")),
            one("trailing comma", format!("{cut},}}")),
            one("single quotes", text.replace('"', "'")),
            one("NUL byte", b"\0"),
            one("bytes that are not UTF-8", unquoted),
            one("byte order mark", format!("\u{feff}{text}")),
            one("NaN", text.replace(&ID.to_string(), "NaN")),
            one("control character in a string", "{\"jsonrpc\":\"2.0\",\"method\":\"a\u{1}b\"}"),
            one("lone surrogate", r#"{"jsonrpc":"2.0","method":"\ud800"}"#),
        ]
    }

    fn envelopes(&self) -> Vec<Named> {
        vec![
            self.with("jsonrpc 1.0", "jsonrpc", Some(json!("1.0"))),
            self.with("jsonrpc as a number", "jsonrpc", Some(json!(2.0))),
            self.with("jsonrpc missing", "jsonrpc", None),
            one("empty object", "{}"),
            one("a bare number", "42"),
            one("a bare text", "\"ping\""),
            one("null", "null"),
            one(
                "duplicate keys",
                format!(r#"{{"jsonrpc":"2.0","id":{ID},"id":{},"method":"ping","method":"x"}}"#, ID + 1),
            ),
            self.with("unknown member", "wallfacer", Some(json!({ "__proto__": { "polluted": true } }))),
        ]
    }

    fn ids(&self) -> Vec<Named> {
        let ids = [
            ("id as a text", json!("seven")),
            ("empty id", json!("")),
            ("negative id", json!(-7)),
            ("fractional id", json!(1.5)),
            ("id null", json!(null)),
            ("id as a boolean", json!(true)),
            ("id as an array", json!([1])),
            ("id as an object", json!({ "a": 1 })),
            ("long id", json!("i".repeat(4096))),
        ];
        let mut named: Vec<Named> =
            ids.into_iter().map(|(name, id)| self.with(name, "id", Some(id))).collect();
        let huge = self.request().to_string().replace(&ID.to_string(), "123456789012345678901234567890");
        named.push(one("id beyond 64 bits", huge));
        let text = self.request().to_string();
        named.push(one("id used twice at once", format!("{text}\n{text}")));
        named
    }

    fn methods(&self) -> Vec<Named> {
        vec![
            self.with("unknown method", "method", Some(json!("wallfacer/unknown"))),
            self.with("empty method", "method", Some(json!(""))),
            self.with("method as a number", "method", Some(json!(5))),
            self.with("method null", "method", Some(json!(null))),
            self.with("method missing", "method", None),
            self.with("method with a prototype's name", "method", Some(json!("__proto__"))),
            self.with("method named constructor", "method", Some(json!("constructor"))),
        ]
    }

    fn params(&self) -> Vec<Named> {
        let call = |name: &str, params: Value| {
            let mut request = self.request();
            request["method"] = json!("tools/call");
            request["params"] = params;
            one(name, request.to_string())
        };
        vec![
            call("params as an array", json!([1, 2])),
            call("params as a text", json!("text")),
            call("params null", json!(null)),
            call("params empty", json!({})),
            call("tool name as a number", json!({ "name": 5, "arguments": {} })),
            call("tool name null", json!({ "name": null })),
            call("arguments as a text", json!({ "name": "wallfacer_unknown", "arguments": "text" })),
            call("arguments as an array", json!({ "name": "wallfacer_unknown", "arguments": [] })),
            call("tool with a prototype's name", json!({ "name": "__proto__", "arguments": {} })),
            call("_meta as a text", json!({ "name": "wallfacer_unknown", "_meta": "text" })),
        ]
    }

    fn batches(&self) -> Vec<Named> {
        let request = self.request();
        vec![
            one("empty batch", "[]"),
            one("batch of one", json!([request]).to_string()),
            one("batch of numbers", "[1,2,3]"),
            one("batch in a batch", json!([[request]]).to_string()),
        ]
    }

    fn framing(&self) -> Vec<Named> {
        let text = self.request().to_string();
        let (start, end) = text.split_at(text.len() / 2);
        let half = vec![RawFrame::new(start.into(), None), RawFrame::new(format!("{end}\n").into(), None)];
        vec![
            one("blank lines", "\n\n  \n"),
            one("carriage return before the newline", format!("{text}\r")),
            one("spaces around", format!("  {text}  ")),
            ("a frame in two halves".to_owned(), half),
            one("pretty-printed request", format!("{:#}", self.request())),
        ]
    }

    fn unasked(&self) -> Vec<Named> {
        let notification = |name: &str, method: &str, params: Value| {
            one(name, json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
        };
        vec![
            self.with("request without an id", "id", None),
            notification("unknown notification", "notifications/wallfacer", json!({})),
            notification(
                "cancellation of nothing",
                "notifications/cancelled",
                json!({ "requestId": 999_999 }),
            ),
            notification(
                "cancellation with a wrong id type",
                "notifications/cancelled",
                json!({ "requestId": [] }),
            ),
            notification(
                "progress for nothing",
                "notifications/progress",
                json!({ "progressToken": "x", "progress": 1 }),
            ),
            one(
                "notification with an id",
                format!(r#"{{"jsonrpc":"2.0","id":{ID},"method":"notifications/initialized"}}"#),
            ),
            one("result that nobody asked for", r#"{"jsonrpc":"2.0","id":888888,"result":{}}"#),
            one(
                "error that nobody asked for",
                r#"{"jsonrpc":"2.0","id":888889,"error":{"code":-1,"message":"x"}}"#,
            ),
        ]
    }

    fn large(&self, max_bytes: usize) -> Vec<Named> {
        let mut request = self.request();
        request["params"]["padding"] = json!("x".repeat(max_bytes.saturating_sub(1024)));
        let deep = |open: &str, close: &str| {
            let nested = format!("{}{}", open.repeat(DEEP), close.repeat(DEEP));
            format!(r#"{{"jsonrpc":"2.0","id":{ID},"method":"wallfacer/unknown","params":{{"a":{nested}}}}}"#)
        };
        vec![
            one("large request", request.to_string()),
            one("deep arrays", deep("[", "]")),
            one("deep objects", deep("{\"a\":", "}").replace("{\"a\":}", "{\"a\":1}")),
            one("many members", {
                let members: Vec<String> =
                    (0..10_000).map(|number| format!("\"k{number}\":{number}")).collect();
                format!(
                    r#"{{"jsonrpc":"2.0","id":{ID},"method":"wallfacer/unknown","params":{{{}}}}}"#,
                    members.join(",")
                )
            }),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_frame_has_its_own_name_ends_with_a_newline_and_is_followed_by_a_probe() {
        for version in Version::ALL {
            let cases = protocol_cases(version, 1 << 20, 1);
            let names: BTreeSet<_> = cases.iter().map(|case| format!("{:?}", case.intent)).collect();
            assert_eq!(names.len(), cases.len());
            assert!(cases.len() > 60);
            for case in cases {
                assert_eq!(case.steps.last(), Some(&Step::Probe));
                let frames: Vec<_> = case
                    .steps
                    .iter()
                    .filter_map(|step| match step {
                        Step::Raw(frame) => Some(frame),
                        _ => None,
                    })
                    .collect();
                assert_eq!(frames.last().unwrap().bytes.last(), Some(&b'\n'), "{:?}", case.intent);
                assert!(frames.iter().all(|frame| frame.bytes.len() <= (1 << 20) + 1));
            }
        }
    }
}
