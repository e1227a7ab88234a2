//! What was learned of a server's answers, as a file to commit: sorted, stable, and free of what differs from run to run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answers::Answers;
use super::canonical::sorted;
use crate::catalogue::Tool;
use crate::plan::Carrier;

/// The name that it has in a project.
pub const FILE_NAME: &str = "wallfacer-schemas.json";
/// Changes only when older files cannot be read any more.
const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    version: u32,
    pub server: Option<String>,
    pub tools: BTreeMap<String, Entry>,
}

/// What is known of one tool's answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The output schema that it declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Value>,
    /// What its answers had in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Form>,
}

/// A form that every answer had.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Form {
    #[serde(rename = "in")]
    pub carrier: Carrier,
    pub schema: Value,
}

/// A file that holds nothing learned.
#[derive(Debug, thiserror::Error)]
pub enum BadLearned {
    #[error("it cannot be read as learned schemas: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error(
        "it is of version {0}, which this wallfacer does not know; write it anew with `wallfacer differential --learn`"
    )]
    Version(u32),
}

impl Learned {
    /// Every tool that is listed, with what its answers showed.
    pub fn new<'a>(
        server: Option<&str>,
        tools: impl IntoIterator<Item = &'a Tool>,
        answers: &BTreeMap<String, Answers>,
    ) -> Learned {
        let entry = |tool: &Tool| {
            let learned = answers.get(&tool.name).and_then(Answers::form);
            let learned = learned.map(|form| Form { schema: sorted(&form.schema), ..form });
            let entry = Entry { declared: tool.output_schema().map(sorted), learned };
            (tool.name.clone(), entry)
        };
        let server = server.map(str::to_owned);
        Learned { version: VERSION, server, tools: tools.into_iter().map(entry).collect() }
    }

    pub fn read(text: &str) -> Result<Learned, BadLearned> {
        let learned: Learned = serde_json::from_str(text)?;
        if learned.version == VERSION { Ok(learned) } else { Err(BadLearned::Version(learned.version)) }
    }

    pub fn written(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("what is learned is plain data");
        format!("{}\n", wallfacer_text::json(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry as _;
    use crate::learn::Sight;
    use serde_json::json;

    #[test]
    fn what_is_written_is_sorted_and_reads_back() {
        let tool = json!({ "name": "add", "inputSchema": { "type": "object" },
            "outputSchema": { "type": "object", "properties": { "b": {}, "a": {} } } });
        let tool = Tool::read(tool.as_object().unwrap()).unwrap();
        let mut answers = Answers::default();
        (0..9).for_each(|sum| answers.add(Sight::of(&json!({ "structuredContent": { "sum": sum } }))));
        let learned = Learned::new(Some("demo"), [&tool], &BTreeMap::from([("add".to_owned(), answers)]));
        insta::assert_snapshot!(learned.written());
        assert_eq!(Learned::read(&learned.written()).unwrap(), learned);
        assert!(Learned::read(&learned.written().replace("\"version\": 1", "\"version\": 2")).is_err());
    }
}
