//! What an answer is compared with where that is not what the server itself declares. It is stored with a case, so that
//! the case can be judged once more.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// What every answer looked like when they were learned.
    Learned {
        #[serde(rename = "in")]
        carrier: Carrier,
        schema: Value,
    },
    /// The output schema that was declared when that was written down; none where there was none.
    Declared { schema: Option<Value> },
    /// The call that it begins with must work as well at the end.
    Health,
    /// What another server says to the same, but for these paths, in the versions that were spoken.
    Other { here: String, there: String, ignore: Vec<String> },
}

/// What of a result carries its JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Carrier {
    #[serde(rename = "structuredContent")]
    Structured,
    #[serde(rename = "text")]
    Text,
}
