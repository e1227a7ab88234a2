//! Checks that the headers of a request do not contradict the message in its body.

use super::incoming::Incoming;
use crate::message::{self, Failure};
use crate::{greeting, tools};
use serde_json::Value;

pub const VERSION: &str = "mcp-protocol-version";
pub const SESSION: &str = "mcp-session-id";

/// A page of elsewhere that had its name resolved to this machine shows by `Host` or `Origin`.
pub fn are_local(request: &Incoming) -> bool {
    let origin = request.header("origin").map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
    let host = request.header("host");
    [origin, host].into_iter().flatten().all(|authority| {
        let name = authority.rsplit_once(':').map_or(authority, |(name, _)| name);
        ["127.0.0.1", "localhost", "[::1]"].contains(&name)
    })
}

/// The checks of 2026-07-28: what a proxy reads in the headers must be what the server reads in the body.
pub fn check_modern(request: &Incoming, message: &Value) -> Result<(), Failure> {
    let method = message["method"].as_str().unwrap_or_default();
    let params = &message["params"];
    match (greeting::claimed_version(params), request.header(VERSION)) {
        (Some(claimed), header) if header != Some(claimed) => return Err(mismatch(VERSION)),
        _ => {}
    }
    expect(request, "mcp-method", Some(method))?;
    let name = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        _ => None,
    };
    if name.is_some() {
        expect(request, "mcp-name", name)?;
    }
    if method == "tools/call" { check_arguments(request, params) } else { Ok(()) }
}

fn check_arguments(request: &Incoming, params: &Value) -> Result<(), Failure> {
    let schema = params["name"].as_str().and_then(tools::input_schema);
    let properties = schema.and_then(|schema| schema["properties"].as_object());
    for (name, property) in properties.into_iter().flatten() {
        if let Some(suffix) = property["x-mcp-header"].as_str() {
            let value = match &params["arguments"][name] {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            expect(request, &format!("mcp-param-{suffix}"), value.as_deref())?;
        }
    }
    Ok(())
}

/// The header must be there with this value, and only with it; without a value it must be absent.
fn expect(request: &Incoming, name: &str, value: Option<&str>) -> Result<(), Failure> {
    let found = request.all(name);
    let agrees = match value {
        None => found.is_empty(),
        Some(value) => {
            let says_so = |header: &&str| decoded(header).is_some_and(|header| same(&header, value));
            !found.is_empty() && found.iter().all(says_so)
        }
    };
    if agrees { Ok(()) } else { Err(mismatch(name)) }
}

fn mismatch(header: &str) -> Failure {
    Failure::new(message::HEADER_MISMATCH, format!("header `{header}` does not agree with the body"))
}

/// Numbers may be written in more than one way.
fn same(header: &str, value: &str) -> bool {
    header == value
        || matches!((header.parse::<f64>(), value.parse::<f64>()), (Ok(one), Ok(other)) if one == other)
}

/// Undoes the form in which values that are no plain header text are sent.
fn decoded(header: &str) -> Option<String> {
    match header.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(base64(encoded)?).ok(),
        None => header.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')).then(|| header.to_owned()),
    }
}

fn base64(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = ALPHABET.iter().position(|known| *known == digit)?;
        bits = (bits << 6 | value as u32) & 0xfff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{base64, decoded};

    #[test]
    fn base64_is_read_as_rfc_4648_writes_it() {
        for (text, bytes) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(base64("Zg"), None);
        assert_eq!(base64("Z!=="), None);
    }

    #[test]
    fn a_header_outside_plain_ascii_is_invalid() {
        assert_eq!(decoded("é"), None);
        assert_eq!(decoded("=?base64?w6k=?=").as_deref(), Some("é"));
    }
}
