//! Request ids, compared by value *and* type: `"1"` is not `1`, and `1.0` is neither.

use std::fmt;

/// An id as it stands on the wire.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// A number, by its exact text.
    Number(String),
    Text(String),
    Null,
    /// A boolean, an array or an object: no id at all.
    Other(String),
}

impl Id {
    /// Reads the JSON text of an `id` member.
    pub fn read(json: &str) -> Id {
        match json.as_bytes().first() {
            Some(b'"') => match serde_json::from_str(json) {
                Ok(text) => Id::Text(text),
                // Half a surrogate pair cannot be held in a string of ours.
                Err(_) => Id::Other(json.to_owned()),
            },
            Some(b'-' | b'0'..=b'9') => Id::Number(json.to_owned()),
            Some(b'n') => Id::Null,
            _ => Id::Other(json.to_owned()),
        }
    }

    /// The number, where it is one of ours: an integer written the plain way.
    pub fn as_ours(&self) -> Option<i64> {
        match self {
            Id::Number(text) if is_plain(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The number that a reply would mean if types were loosely read, as some clients do.
    pub fn as_loosely_ours(&self) -> Option<i64> {
        const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
        let text = match self {
            Id::Number(text) | Id::Text(text) => text,
            Id::Null | Id::Other(_) => return None,
        };
        let number: f64 = text.trim().parse().ok()?;
        (number.fract() == 0.0 && number.abs() <= LARGEST_EXACT).then_some(number as i64)
    }

    /// The id as JSON text, to be sent back.
    pub fn to_json(&self) -> String {
        match self {
            Id::Number(text) | Id::Other(text) => text.clone(),
            Id::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            Id::Null => "null".to_owned(),
        }
    }
}

/// Digits as we would write them: no zero in front, no `-0`. That it is a number at all is known.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    text == "0" || !digits.starts_with('0')
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.to_json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_integer_is_one_of_ours() {
        assert_eq!(Id::read("17").as_ours(), Some(17));
        for other in ["\"17\"", "17.0", "1.7e1", "null", "true", "[17]"] {
            assert_eq!(Id::read(other).as_ours(), None, "{other}");
        }
    }

    #[test]
    fn a_text_or_float_that_means_our_number_is_recognised_as_such() {
        for other in ["\"17\"", "17.0", "1.7e1"] {
            assert_eq!(Id::read(other).as_loosely_ours(), Some(17), "{other}");
        }
        assert_eq!(Id::read("\"seventeen\"").as_loosely_ours(), None);
    }

    #[test]
    fn ids_go_back_as_they_came() {
        for json in ["17", "\"a\\\"b\"", "null", "1.50", "-0"] {
            assert_eq!(Id::read(json).to_json(), json);
        }
    }
}
