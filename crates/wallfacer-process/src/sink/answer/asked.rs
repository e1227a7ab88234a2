//! What of a request decides its answer.

use std::net::SocketAddr;

use serde_json::Value;

use super::Answer;

/// Parts of a path or a query that are looked at.
const MAX_PARTS: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::sink) struct Asked {
    pub(in crate::sink) method: String,
    pub(in crate::sink) host: String,
    /// Without the query, and without the scheme and host that a proxy is told.
    pub(in crate::sink) path: String,
    pub(in crate::sink) query: Vec<(String, String)>,
    /// In small letters.
    pub(in crate::sink) accept: String,
    /// In small letters.
    pub(in crate::sink) content_type: String,
    pub(in crate::sink) range: Option<String>,
    /// Whether it carries a credential, as requests to interfaces do.
    pub(in crate::sink) authorised: bool,
    /// The first bytes of what was sent.
    pub(in crate::sink) body: Vec<u8>,
}

impl Asked {
    pub(in crate::sink) fn new(method: &str, host: Option<&str>, target: &str) -> Asked {
        let (named, target) = without_host(target);
        let target = target.split('#').next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let host = named.or(host).unwrap_or_default();
        Asked {
            method: method.to_owned(),
            host: host.split(':').next().unwrap_or_default().to_ascii_lowercase(),
            path: path.to_owned(),
            query: pairs(query),
            ..Asked::default()
        }
    }

    /// The address that the path leads on to.
    pub(super) fn sent_on(&self, beginning: &str) -> Option<SocketAddr> {
        self.path.strip_prefix(beginning)?.trim_end_matches('/').parse().ok()
    }

    /// The parts of the path, decoded.
    pub(super) fn segments(&self) -> Vec<String> {
        let parts = self.path.split('/').filter(|part| !part.is_empty()).take(MAX_PARTS);
        parts.map(decoded).collect()
    }

    pub(super) fn parameter(&self, names: &[&str]) -> Option<&str> {
        let named = |(name, _): &&(String, String)| names.contains(&name.as_str());
        self.query.iter().find(named).map(|(_, value)| value.as_str())
    }

    /// What was sent, where that is JSON or a form.
    pub(super) fn sent(&self) -> Option<Value> {
        if self.content_type.contains("form-urlencoded") {
            let text = String::from_utf8_lossy(&self.body);
            let members = pairs(&text).into_iter().map(|(name, value)| (name, Value::from(value)));
            return Some(Value::Object(members.collect()));
        }
        serde_json::from_slice(&self.body).ok()
    }

    /// Whether it makes something that was not there: an upload to a collection, and no search or login.
    pub(super) fn creates(&self) -> bool {
        let last = self.segments().pop().unwrap_or_default();
        is_plural(&last) && !self.body.is_empty() && self.content_type.contains("json")
    }

    /// The part of an answer that was asked for.
    pub(super) fn ranged(&self, answer: Answer) -> Answer {
        let Some(range) = self.range.as_deref().filter(|_| answer.status == "200 OK") else { return answer };
        let Some((first, last)) = range.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-'))
        else {
            return answer;
        };
        let Ok(first) = first.parse::<usize>() else { return answer };
        let end = last.parse::<usize>().map_or(answer.body.len(), |last| last.saturating_add(1));
        match answer.body.get(first..end.min(answer.body.len())) {
            // Some ask for the first bytes of anything; the whole is a right answer too.
            Some(part) if first > 0 => {
                Answer { status: "206 Partial Content", body: part.to_vec(), ..answer }
            }
            _ => answer,
        }
    }
}

/// Whether a word names several things.
pub(super) fn is_plural(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is", "news", "ous"].iter().any(|ending| word.ends_with(ending))
        && !["status", "address", "address", "details", "settings", "analytics"].contains(&word.as_str())
}

fn without_host(target: &str) -> (Option<&str>, &str) {
    let Some((_, rest)) = target.split_once("://").filter(|_| !target.starts_with('/')) else {
        return (None, target);
    };
    let end = rest.find('/').unwrap_or(rest.len());
    (Some(&rest[..end]), if end < rest.len() { &rest[end..] } else { "/" })
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).take(MAX_PARTS);
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
        })
        .collect()
}

/// Without its percent signs.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart() {
        let asked = Asked::new("GET", Some("Api.Example:8080"), "/a%20b/c?q=x+y&n=1#z");
        assert_eq!((asked.host.as_str(), asked.segments()), ("api.example", vec!["a b".into(), "c".into()]));
        assert_eq!(asked.parameter(&["q"]), Some("x y"));
        let asked = Asked::new("GET", Some("proxy"), "http://other.example/x%");
        assert_eq!((asked.host.as_str(), asked.segments()), ("other.example", vec!["x%".to_owned()]));
    }

    #[test]
    fn a_part_is_given_to_those_who_ask_for_one() {
        let answer = || Answer {
            status: "200 OK",
            content_type: "text/plain",
            location: None,
            body: b"0123456789".to_vec(),
        };
        let ranged = |range: &str| {
            let asked = Asked { range: Some(range.to_owned()), ..Asked::new("GET", None, "/") };
            let given = asked.ranged(answer());
            (given.status, String::from_utf8(given.body).unwrap())
        };
        assert_eq!(ranged("bytes=4-6"), ("206 Partial Content", "456".to_owned()));
        assert_eq!(ranged("bytes=8-"), ("206 Partial Content", "89".to_owned()));
        for odd in ["bytes=20-30", "bytes=6-2", "bytes=-5", "lines=1-2"] {
            assert_eq!(ranged(odd).0, "200 OK", "{odd}");
        }
    }
}
