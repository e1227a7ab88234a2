//! A way of calling a tool that is known to work, and the places in it where a value of our own may stand.

use std::time::Duration;

use serde_json::Value;
use wallfacer_schema::Schema;

use super::identity;
use crate::catalogue::Tool;
use crate::plan::{Ask, Part, Step, mark, words};

/// Calls alone that each form takes until it is known what it does.
const CALLS_ALONE: u32 = 9;
/// Arguments that name something that must be there, or that must have a form of its own: what stands there is kept where a
/// call does not work without it.
const PARTICULAR: [&str; 26] = [
    "path",
    "file",
    "filename",
    "dir",
    "directory",
    "folder",
    "url",
    "uri",
    "host",
    "format",
    "encoding",
    "language",
    "lang",
    "locale",
    "timezone",
    "zone",
    "date",
    "time",
    "unit",
    "currency",
    "command",
    "sql",
    "cwd",
    "id",
    "type",
    "kind",
];

#[derive(Debug, Clone)]
pub struct Form {
    pub tool: String,
    pub arguments: Value,
    pub prelude: Vec<Step>,
    /// Sets of places for values of our own, the largest first.
    pub sites: Vec<Vec<String>>,
    /// Places that name a session or whoever it belongs to.
    pub identity: Vec<String>,
    pub took: Duration,
}

impl Form {
    pub fn new(
        tool: &Tool,
        schema: Option<&Schema>,
        arguments: &Value,
        prelude: &[Step],
        took: Duration,
    ) -> Form {
        let all: Vec<String> =
            texts(arguments).into_iter().filter(|place| takes_mark(schema, arguments, place)).collect();
        let plain: Vec<String> = all.iter().filter(|place| !is_particular(place)).cloned().collect();
        let mut sites: Vec<Vec<String>> = vec![all.clone(), plain];
        sites.retain(|set| !set.is_empty());
        sites.dedup();
        Form {
            tool: tool.name.clone(),
            identity: all.iter().filter(|place| identity::is_identity(argument(place))).cloned().collect(),
            arguments: arguments.clone(),
            prelude: prelude.to_vec(),
            sites,
            took,
        }
    }

    /// Whether it has the same arguments, whatever stands there.
    pub fn is_like(&self, other: &Form) -> bool {
        let keys = |form: &Form| -> Vec<String> {
            form.arguments.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
        };
        self.tool == other.tool && keys(self) == keys(other)
    }

    /// Whether it is the better one of two that are alike: it has room for values of ours, and is short.
    pub fn is_better_than(&self, other: &Form) -> bool {
        let rank = |form: &Form| (form.sites.is_empty(), form.arguments.to_string().len());
        rank(self) < rank(other)
    }

    /// The call as it was learned.
    pub fn plain(&self, client: usize, part: Part) -> Ask {
        Ask::tool(client, part, &self.tool, self.arguments.clone(), Vec::new())
    }

    /// The call as it was learned, but for what stands in one place.
    pub fn with(&self, place: &str, value: &str) -> Ask {
        let mut arguments = self.arguments.clone();
        if let Some(there) = arguments.pointer_mut(place) {
            *there = Value::from(value);
        }
        Ask::tool(0, Part::Call, &self.tool, arguments, Vec::new())
    }

    /// The call with values of its own in these places; `number` tells it from all others.
    pub fn marked(&self, client: usize, part: Part, sites: &[String], seed: u64, number: u64) -> Ask {
        let mut arguments = self.arguments.clone();
        let mut marks = Vec::new();
        for (index, place) in sites.iter().enumerate() {
            let mark = mark(seed, number * 64 + index as u64);
            if let Some(value) = arguments.pointer_mut(place) {
                *value = Value::from(mark.as_str());
                marks.push(mark);
            }
        }
        Ask::tool(client, part, &self.tool, arguments, marks)
    }
}

/// Leaves out the slowest, until all of them can be looked at in this time.
pub fn keep_within(forms: &mut Vec<Form>, time: Duration) {
    let total = |forms: &[Form]| forms.iter().map(|form| form.took * CALLS_ALONE).sum::<Duration>();
    while total(forms) > time
        && let Some((slowest, _)) = forms.iter().enumerate().max_by_key(|(_, form)| form.took)
    {
        forms.remove(slowest);
    }
}

fn takes_mark(schema: Option<&Schema>, arguments: &Value, place: &str) -> bool {
    let mut marked = arguments.clone();
    let Some(value) = marked.pointer_mut(place) else { return false };
    *value = Value::from(mark(0, 0));
    schema.is_none_or(|schema| schema.violations(&marked).is_empty())
}

/// The places of all texts, as pointers.
fn texts(value: &Value) -> Vec<String> {
    const MAX_PLACES: usize = 16;
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((place, value)) = open.pop()
        && found.len() < MAX_PLACES
    {
        match value {
            Value::String(_) => found.push(place),
            Value::Array(items) => {
                let items = items.iter().enumerate().rev();
                open.extend(items.map(|(index, item)| (format!("{place}/{index}"), item)));
            }
            Value::Object(members) => {
                let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
                let members = members.iter().rev();
                open.extend(members.map(|(key, item)| (format!("{place}/{}", escaped(key)), item)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

/// The name of the argument that a place lies in.
pub fn argument(place: &str) -> &str {
    let names = place.rsplit('/').filter(|part| part.parse::<usize>().is_err());
    names.into_iter().next().unwrap_or_default()
}

fn is_particular(place: &str) -> bool {
    words(argument(place)).iter().any(|word| PARTICULAR.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;
    use serde_json::json;

    fn form(schema: Value, arguments: Value) -> Form {
        let entry = json!({ "name": "add", "inputSchema": schema });
        let tool = Tool::read(entry.as_object().unwrap()).unwrap();
        let schema = Schema::compile(tool.input_schema()).unwrap();
        Form::new(&tool, Some(&schema), &arguments, &[], Duration::ZERO)
    }

    #[test]
    fn values_of_our_own_stand_where_the_schema_lets_them() {
        let schema = json!({ "type": "object", "properties": {
            "items": { "type": "array", "items": { "type": "object" } },
            "mode": { "enum": ["fast", "slow"] },
            "file_path": { "type": "string" },
        } });
        let form = form(schema, json!({ "items": [{ "name": "x" }], "mode": "fast", "file_path": "a" }));
        assert_eq!(
            form.sites,
            [vec!["/items/0/name".to_owned(), "/file_path".to_owned()], vec!["/items/0/name".to_owned()]]
        );
        let ask = form.marked(0, Part::Write, &form.sites[1], 1, 2);
        assert_eq!(ask.params["arguments"]["items"][0]["name"], json!(ask.marks[0]));
        assert_eq!(ask.params["arguments"]["file_path"], json!("a"));
    }
}
