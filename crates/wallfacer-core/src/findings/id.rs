//! The name of a finding: sixteen hexadecimal digits. It becomes the name of a file, so nothing else is let in.

use std::fmt;

use serde::{Deserialize, Serialize};

const DIGITS: usize = 16;

/// The hash of an origin, shortened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = "^[0-9a-f]{16}$")))]
pub struct FindingId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a finding, which has 16 hexadecimal digits")]
pub struct NotAnId(String);

impl FindingId {
    /// The id of what these bytes describe.
    pub(super) fn of(bytes: &[u8]) -> FindingId {
        FindingId(blake3::hash(bytes).to_hex()[..DIGITS].to_owned())
    }

    pub fn parse(text: &str) -> Result<FindingId, NotAnId> {
        let digits = text.len() == DIGITS && is_hexadecimal(text);
        digits.then(|| FindingId(text.to_owned())).ok_or_else(|| NotAnId(text.chars().take(40).collect()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(super) fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl fmt::Display for FindingId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl TryFrom<String> for FindingId {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<FindingId, NotAnId> {
        FindingId::parse(&text)
    }
}

impl From<FindingId> for String {
    fn from(id: FindingId) -> String {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_lead_out_of_the_corpus_is_no_id() {
        assert!(FindingId::parse("0123456789abcdef").is_ok());
        for wrong in ["", "0123456789ABCDEF", "../../etc/passwd", "0123456789abcde/", "0123456789abcdef0"] {
            assert!(FindingId::parse(wrong).is_err(), "{wrong}");
            assert!(serde_json::from_value::<FindingId>(wrong.into()).is_err(), "{wrong}");
        }
    }
}
