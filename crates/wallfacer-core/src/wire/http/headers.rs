//! Makes the `Mcp-*` headers that the 2026-07-28 version wants beside a request.

use std::collections::BTreeMap;

use base64::Engine as _;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// For each tool, the arguments that travel as headers too: the path to the argument, and the header's name.
pub type HeaderParams = BTreeMap<String, Vec<(Vec<String>, String)>>;

/// Longer values stay in the body alone: servers and proxies cap the head of a request near 8 KiB.
const MAX_VALUE: usize = 4 << 10;

/// `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` for one request.
pub fn modern_headers(method: &str, params: Option<&Map<String, Value>>, known: &HeaderParams) -> HeaderMap {
    let mut headers = HeaderMap::new();
    add(&mut headers, "mcp-method", method);
    let text = |key: &str| params.and_then(|params| params.get(key)).and_then(Value::as_str);
    let name = match method {
        "tools/call" | "prompts/get" => text("name"),
        "resources/read" => text("uri"),
        _ => None,
    };
    if let Some(name) = name {
        add(&mut headers, "mcp-name", name);
    }
    if method == "tools/call"
        && let (Some(tool), Some(params)) = (text("name"), params)
    {
        for (path, header) in known.get(tool).into_iter().flatten() {
            if let Some(value) = argument(params.get("arguments"), path) {
                add(&mut headers, &format!("mcp-param-{}", header.to_ascii_lowercase()), &value);
            }
        }
    }
    headers
}

fn argument(arguments: Option<&Value>, path: &[String]) -> Option<String> {
    let value = path.iter().try_fold(arguments?, |value, key| value.get(key))?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn add(headers: &mut HeaderMap, name: &str, value: &str) {
    if value.len() > MAX_VALUE {
        return;
    }
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(&encode(value))) {
        headers.insert(name, value);
    }
}

/// The value itself where a header can carry it, else its base64 in the form that the specification names.
fn encode(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    let padded = value.starts_with(' ') || value.ends_with(' ');
    let like_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if plain && !padded && !like_encoded {
        return value.to_owned();
    }
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn headers(method: &str, params: Value, known: &HeaderParams) -> Vec<(String, String)> {
        let headers = modern_headers(method, params.as_object(), known);
        headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect()
    }

    #[test]
    fn method_and_name_are_said_beside_the_body() {
        let said = headers("tools/call", json!({ "name": "add" }), &HeaderParams::new());
        assert_eq!(said, [("mcp-method".into(), "tools/call".into()), ("mcp-name".into(), "add".into())]);
        let read = headers("resources/read", json!({ "uri": "a://b" }), &HeaderParams::new());
        assert_eq!(read[1], ("mcp-name".into(), "a://b".into()));
        assert_eq!(headers("tools/list", json!({}), &HeaderParams::new()).len(), 1);
    }

    #[test]
    fn marked_arguments_become_headers_unless_they_are_absent_or_null() {
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        let marked = vec![
            (path("region"), "Region".to_owned()),
            (path("page.size"), "Size".to_owned()),
            (path("none"), "None".to_owned()),
            (path("absent"), "Absent".to_owned()),
        ];
        let known = HeaderParams::from([("search".to_owned(), marked)]);
        let arguments = json!({ "region": "eu", "page": { "size": 5 }, "none": null });
        let said = headers("tools/call", json!({ "name": "search", "arguments": arguments }), &known);
        assert_eq!(
            said[2..],
            [("mcp-param-region".into(), "eu".into()), ("mcp-param-size".into(), "5".into())]
        );
    }

    #[test]
    fn a_value_that_no_header_can_carry_is_encoded() {
        assert_eq!(encode("plain value"), "plain value");
        for value in ["é", "a\nb", " lead", "trail ", "=?base64?eA==?="] {
            let encoded = encode(value);
            let inner = encoded.strip_prefix("=?base64?").unwrap().strip_suffix("?=").unwrap();
            let decoded = base64::engine::general_purpose::STANDARD.decode(inner).unwrap();
            assert_eq!(decoded, value.as_bytes());
        }
    }
}
