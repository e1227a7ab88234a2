//! Bytes to be sent as they are. Stored as text where they are text, else as base64, and short where they repeat.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::payload;

/// One frame, with the id under which an answer to it would come, as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawFrame {
    pub bytes: Vec<u8>,
    pub id: Option<String>,
}

impl RawFrame {
    pub fn new(bytes: Vec<u8>, id: Option<&str>) -> RawFrame {
        RawFrame { bytes, id: id.map(str::to_owned) }
    }
}

impl Serialize for RawFrame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = Map::new();
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => map.insert("text".to_owned(), payload::compact(&Value::from(text))),
            Err(_) => map.insert("base64".to_owned(), json!(STANDARD.encode(&self.bytes))),
        };
        if let Some(id) = &self.id {
            map.insert("id".to_owned(), json!(id));
        }
        map.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawFrame {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawFrame, D::Error> {
        use serde::de::Error;
        let map = Map::deserialize(deserializer)?;
        let bytes = match (map.get("text"), map.get("base64")) {
            (Some(text), None) => match payload::expand(text).map_err(D::Error::custom)? {
                Value::String(text) => text.into_bytes(),
                _ => return Err(D::Error::custom("`text` of a raw frame is not a text")),
            },
            (None, Some(Value::String(text))) => STANDARD.decode(text).map_err(D::Error::custom)?,
            _ => return Err(D::Error::custom("a raw frame has either `text` or `base64`")),
        };
        let id = map.get("id").and_then(Value::as_str).map(str::to_owned);
        Ok(RawFrame { bytes, id })
    }
}
