//! Writes a reply with bytes that no JSON library would write.

use serde_json::Value;

/// Stands where the bytes will be; no test sends it as text.
const PLACE: &str = "\u{2}place\u{2}";

/// The reply with these bytes in place of the text.
pub fn with_text(reply: &Value, bytes: &[u8]) -> Vec<u8> {
    let mut reply = reply.clone();
    reply["result"]["content"][0]["text"] = PLACE.into();
    splice(&reply, bytes)
}

/// The reply with these bytes as one more member of its result.
pub fn with_member(reply: &Value, name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut reply = reply.clone();
    reply["result"][name] = PLACE.into();
    splice(&reply, bytes)
}

fn splice(reply: &Value, bytes: &[u8]) -> Vec<u8> {
    let place = Value::from(PLACE).to_string();
    let text = reply.to_string();
    let (before, after) = text.split_once(&place).unwrap_or((&text, ""));
    [before.as_bytes(), bytes, after.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::with_member;
    use serde_json::json;

    #[test]
    fn bytes_stand_in_the_reply_as_they_are() {
        let bytes = with_member(&json!({"id": 1, "result": {}}), "twice", b"{\"a\":1,\"a\":2}");
        assert_eq!(bytes, br#"{"id":1,"result":{"twice":{"a":1,"a":2}}}"#);
    }
}
