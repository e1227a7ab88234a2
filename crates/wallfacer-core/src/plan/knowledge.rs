//! Remembers what replies taught about a tool's arguments, and offers the values that are worth trying.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use wallfacer_schema::{Pool, pointer};

use super::guard::words;
use super::lesson::Lesson;
use super::refusal::Refusal;
use crate::catalogue::Tool;

/// Values that are kept of one field.
const MAX_VALUES: usize = 32;
/// Larger values are contents, and no better a second time.
const MAX_BYTES: usize = 2_000;
/// Values of results that are kept for other tools; a server can return new ones for ever.
const MAX_RETURNED: usize = 1_000;
/// The part of a description that is read.
const MAX_DESCRIPTION: usize = 2_000;

/// Values by the name of a field.
type Values = BTreeMap<String, Vec<Value>>;

/// What is known of the arguments of one tool.
#[derive(Debug, Clone)]
pub struct Knowledge {
    fields: Vec<Field>,
    /// Calls of this tool succeeded with them.
    proven: Values,
    /// Somebody named them: a description, a refusal.
    hinted: Values,
    refused: Values,
}

/// What is known of all tools alike.
#[derive(Debug, Clone, Default)]
pub struct Common {
    /// Calls of some tool succeeded with them in a field of this name, or they are known to be there.
    proven: Values,
    /// What calls returned.
    returned: Vec<Lesson>,
}

/// An argument at the top of a tool's schema.
#[derive(Debug, Clone)]
struct Field {
    name: String,
    /// Whether it takes a text, or several.
    is_text: bool,
    /// The words that tell what it is: those of its name, of its description, of the tool's description.
    words: [BTreeSet<String>; 3],
}

impl Knowledge {
    /// What the tool says itself: examples that stand in the descriptions of its arguments.
    pub fn of(tool: &Tool) -> Knowledge {
        let properties = tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let about: String =
            tool.description.iter().flat_map(|text| text.chars()).take(MAX_DESCRIPTION).collect();
        let about = stems(&about);
        let mut hinted = Values::new();
        let mut fields = Vec::new();
        for (name, schema) in properties {
            let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            let description: String = description.chars().take(MAX_DESCRIPTION).collect();
            let kind = |schema: &Value| schema.get("type").and_then(Value::as_str).map(str::to_owned);
            let item = schema.get("items").and_then(kind);
            let is_text = [kind(schema), item].into_iter().flatten().any(|kind| kind == "string");
            literals(&description).into_iter().for_each(|literal| add(&mut hinted, name, literal.into()));
            let words = [stems(name), stems(&description), about.clone()];
            fields.push(Field { name: name.clone(), is_text, words });
        }
        Knowledge { fields, proven: Values::new(), hinted, refused: Values::new() }
    }

    /// The names of the arguments.
    pub fn names(&self) -> Vec<String> {
        self.fields.iter().map(|field| field.name.clone()).collect()
    }

    /// A call succeeded with these.
    pub fn prove(&mut self, arguments: &Map<String, Value>) {
        arguments.iter().for_each(|(name, value)| add(&mut self.proven, name, value.clone()));
    }

    /// A call with these was refused.
    pub fn refuse(&mut self, sent: &Map<String, Value>, refusal: Refusal) {
        for (name, value) in sent.iter().filter(|(name, _)| refusal.blamed.contains(*name)) {
            let items = value.as_array().into_iter().flatten().chain([value]);
            items.for_each(|refused| add(&mut self.refused, name, refused.clone()));
        }
        for Lesson { field, value } in refusal.lessons {
            match field.is_empty() {
                // No field is named: whichever takes the value by its schema may have been meant.
                true => sent.keys().for_each(|name| add(&mut self.hinted, name, value.clone())),
                false => add(&mut self.hinted, &field, value),
            }
        }
    }

    /// What is most likely to be taken: for each argument what it was taken with; else what somebody named.
    pub fn sure(&self, common: &Common) -> Pool {
        self.pool(common, |field| match self.proven.get(&field.name) {
            Some(proven) => proven.clone(),
            None => self.named(field, common),
        })
    }

    /// All that may be taken.
    pub fn wide(&self, common: &Common) -> Pool {
        self.pool(common, |field| {
            let proven = self.proven.get(&field.name).into_iter().flatten().cloned();
            let returned = common.returned.iter().filter(|lesson| lesson.field == field.name);
            proven
                .chain(self.named(field, common))
                .chain(returned.map(|lesson| lesson.value.clone()))
                .collect()
        })
    }

    /// As sure, but where nothing was taken yet, texts are what calls returned, those first whose names fit: an id need
    /// not have the same name here. Each turn begins with another.
    pub fn guess(&self, common: &Common, turn: usize) -> Pool {
        self.pool(common, |field| {
            if let Some(proven) = self.proven.get(&field.name) {
                return proven.clone();
            }
            let mut guesses = self.named(field, common);
            if field.is_text && !common.proven.contains_key(&field.name) {
                let texts = common.returned.iter().filter(|lesson| lesson.value.is_string());
                let mut texts: Vec<(usize, &Lesson)> =
                    texts.map(|lesson| (field.distance(lesson), lesson)).collect();
                texts.sort_by_key(|(distance, _)| *distance);
                let texts = texts.into_iter().map(|(_, lesson)| lesson.value.clone());
                guesses.extend(texts.filter(|value| !self.is_refused(&field.name, value)));
            }
            guesses.truncate(MAX_VALUES);
            if !guesses.is_empty() {
                let turn = turn % guesses.len();
                guesses.rotate_left(turn);
            }
            guesses
        })
    }

    /// What somebody named for an argument, and was not refused.
    fn named(&self, field: &Field, common: &Common) -> Vec<Value> {
        let lists = [common.proven.get(&field.name), self.hinted.get(&field.name)];
        let named = lists.into_iter().flatten().flatten();
        named.filter(|value| !self.is_refused(&field.name, value)).cloned().collect()
    }

    fn is_refused(&self, name: &str, value: &Value) -> bool {
        self.refused.get(name).is_some_and(|refused| refused.contains(value))
    }

    fn pool(&self, common: &Common, values: impl Fn(&Field) -> Vec<Value>) -> Pool {
        let mut pool = Pool::new();
        for field in &self.fields {
            let path = pointer::join("", &field.name);
            for value in values(field) {
                // Of a list it may be an item.
                pool.add_for_path(&format!("{path}/*"), value.clone());
                pool.add_for_path(&path, value);
            }
        }
        // Further down, a name is all there is to go by.
        let at_top = |name: &str| self.fields.iter().any(|field| field.name == name);
        for (name, values) in common.proven.iter().filter(|(name, _)| !at_top(name)) {
            values.iter().for_each(|value| pool.add_for_name(name, value.clone()));
        }
        for Lesson { field, value } in common.returned.iter().filter(|lesson| !at_top(&lesson.field)) {
            pool.add_for_name(field, value.clone());
        }
        pool
    }
}

impl Common {
    /// A call succeeded with these.
    pub fn prove(&mut self, arguments: &Map<String, Value>) {
        arguments.iter().for_each(|(name, value)| add(&mut self.proven, name, value.clone()));
    }

    /// These are known to be there.
    pub fn know(&mut self, lessons: Vec<Lesson>) {
        lessons.into_iter().for_each(|Lesson { field, value }| add(&mut self.proven, &field, value));
    }

    /// What is known to be taken, or to be there, under this name.
    pub fn known_as(&self, name: &str) -> &[Value] {
        self.proven.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// A call returned these.
    pub fn hear(&mut self, lessons: Vec<Lesson>) {
        for lesson in lessons {
            if self.returned.len() < MAX_RETURNED && !self.returned.contains(&lesson) {
                self.returned.push(lesson);
            }
        }
    }
}

impl Field {
    /// How far what a value was returned as is from what is wanted here.
    fn distance(&self, lesson: &Lesson) -> usize {
        let stems = stems(&lesson.field);
        let fits = |words: &BTreeSet<String>| !stems.is_disjoint(words);
        self.words.iter().position(fits).unwrap_or(self.words.len())
    }
}

fn add(values: &mut Values, name: &str, value: Value) {
    if serde_json::to_vec(&value).is_ok_and(|text| text.len() > MAX_BYTES) {
        return;
    }
    let values = values.entry(name.to_owned()).or_default();
    if values.len() < MAX_VALUES && !values.contains(&value) {
        values.push(value);
    }
}

/// Words of a text, one and many alike.
fn stems(text: &str) -> BTreeSet<String> {
    let stem = |word: String| word.strip_suffix('s').map(str::to_owned).unwrap_or(word);
    words(text).into_iter().map(stem).filter(|stem| stem.len() > 2).collect()
}

/// What stands in quotes, or behind "e.g.".
fn literals(description: &str) -> Vec<String> {
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
        let quoted = r#"[`'"‘“]([\w][\w ./:+-]{0,39})[`'"’”]"#;
        let example = r#"(?i)\be\.g\.,? ([\w][\w./:+-]{0,39})"#;
        Regex::new(&format!("{quoted}|{example}")).expect("a fixed pattern")
    });
    let found = LITERAL.captures_iter(description).take(MAX_VALUES);
    found.filter_map(|found| found.get(1).or(found.get(2))).map(|text| text.as_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;
    use serde_json::json;
    use wallfacer_schema::{Choices, Schema};

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "scope": { "type": "string", "description": "Either local ('near') or all ('far')" },
                "files": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                "target": { "type": "string", "description": "The commit to compare with" },
            },
            "required": ["scope", "files", "target"],
        })
    }

    fn knowledge() -> Knowledge {
        Knowledge::of(
            &Tool::read(json!({ "name": "t", "inputSchema": schema() }).as_object().unwrap()).unwrap(),
        )
    }

    fn simplest(pool: &Pool) -> Value {
        Schema::compile(&schema()).unwrap().valid(&mut Choices::simplest(), pool).unwrap()
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn an_example_in_a_description_is_tried() {
        assert_eq!(simplest(&knowledge().sure(&Common::default()))["scope"], "near");
    }

    #[test]
    fn what_was_refused_is_not_named_again() {
        let mut knowledge = knowledge();
        let blamed = BTreeSet::from(["scope".to_owned()]);
        knowledge.refuse(&object(json!({ "scope": "near" })), Refusal { blamed, lessons: Vec::new() });
        assert_eq!(simplest(&knowledge.sure(&Common::default()))["scope"], "far");
    }

    #[test]
    fn what_another_tool_was_called_with_is_tried_under_the_same_name() {
        let mut common = Common::default();
        common.prove(&object(json!({ "target": "upper" })));
        assert_eq!(simplest(&knowledge().sure(&common))["target"], "upper");
    }

    #[test]
    fn what_was_returned_is_guessed_where_the_words_fit() {
        let mut common = Common::default();
        let lesson = |field: &str, value: &str| Lesson { field: field.to_owned(), value: json!(value) };
        common.hear(vec![lesson("author", "Ada"), lesson("commit", "c0ffee1"), lesson("file", "a.txt")]);
        let guess = simplest(&knowledge().guess(&common, 0));
        assert_eq!((&guess["target"], &guess["files"]), (&json!("c0ffee1"), &json!(["a.txt"])));
        assert_ne!(simplest(&knowledge().guess(&common, 1))["target"], "c0ffee1");
    }

    #[test]
    fn what_is_known_has_bounds() {
        let mut knowledge = knowledge();
        (0..1_000).for_each(|number| knowledge.prove(&object(json!({ "target": format!("{number}") }))));
        knowledge.prove(&object(json!({ "scope": "x".repeat(MAX_BYTES) })));
        assert_eq!(knowledge.proven["target"].len(), MAX_VALUES);
        assert!(!knowledge.proven.contains_key("scope"));
    }
}
