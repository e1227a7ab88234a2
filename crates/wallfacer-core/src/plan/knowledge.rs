//! Remembers what replies taught about a tool's arguments, and offers the values that are worth trying.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use wallfacer_schema::{Having, Pool, pointer, samples};
use wallfacer_text::lexicon::FieldKind;

use super::described::described;
use super::example;
use super::field::{Field, fields, holds_all};
use super::lesson::{Lesson, as_type_of};
use super::refusal::Refusal;
use crate::catalogue::Tool;

/// Values that are kept of one field.
const MAX_VALUES: usize = 32;
/// Larger values are contents, and no better a second time.
const MAX_BYTES: usize = 2_000;
/// Values of results that are kept for other tools; a server can return new ones for ever.
const MAX_RETURNED: usize = 1_000;
/// Arguments that refusals asked for.
const MAX_WANTED: usize = 16;
/// Parts of refused arguments that are looked at.
const MAX_NODES: usize = 500;

/// Values by the place of a field.
type Values = BTreeMap<String, Vec<Value>>;

/// What is known of the arguments of one tool.
#[derive(Debug, Clone)]
pub struct Knowledge {
    fields: Vec<Field>,
    /// Calls of this tool succeeded with them.
    proven: Values,
    /// They are there: files and directories that were found or planted.
    there: Values,
    /// A refusal named them.
    told: Values,
    /// A description named them.
    described: Values,
    refused: Values,
    /// Arguments that refusals asked for.
    wanted: BTreeSet<String>,
}

/// What is known of all tools alike.
#[derive(Debug, Clone, Default)]
pub struct Common {
    /// Calls of some tool succeeded with them in a field of this name, or they are known to be there.
    proven: Values,
    /// What calls returned.
    returned: Vec<Lesson>,
}

impl Knowledge {
    /// What the tool says itself: examples that stand in the descriptions of its arguments.
    pub fn of(tool: &Tool) -> Knowledge {
        let about = tool.description.as_deref().unwrap_or_default();
        let fields = fields(&described(tool), &tool.name, about);
        let mut described = Values::new();
        for field in &fields {
            let named = example::examples(&field.description).into_iter();
            // What an address must be like the tool often says in its own text.
            let is_address = FieldKind::of(&field.name, &field.description) == Some(FieldKind::Url);
            let shown = is_address.then(|| example::addresses(about)).into_iter().flatten();
            shown.chain(named).for_each(|value| add(&mut described, &field.path, value));
        }
        Knowledge {
            fields,
            proven: Values::new(),
            there: Values::new(),
            told: Values::new(),
            described,
            refused: Values::new(),
            wanted: BTreeSet::new(),
        }
    }

    /// All arguments, also those within others.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether one object holds all arguments.
    pub fn within_one(&self) -> bool {
        holds_all(&self.fields).is_some()
    }

    /// The arguments of a call, by name.
    pub fn arguments_of<'a>(&self, sent: &'a Map<String, Value>) -> &'a Map<String, Value> {
        let held = holds_all(&self.fields).and_then(|field| sent.get(&field.name)?.as_object());
        held.unwrap_or(sent)
    }

    /// A call with these of the optional arguments.
    pub fn having(&self, keys: BTreeSet<String>, inner_keys: bool) -> Having {
        Having { keys, items: true, inner_keys, within_one: self.within_one() }
    }

    /// The names of the arguments.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.fields.iter().map(|field| field.name.clone()).collect();
        names.dedup();
        names
    }

    /// Arguments that refusals asked for.
    pub fn wanted(&self) -> &BTreeSet<String> {
        &self.wanted
    }

    /// These are there, for each argument.
    pub fn know(&mut self, there: impl Fn(&Field) -> Vec<Value>) {
        for field in &self.fields {
            there(field).into_iter().for_each(|value| add(&mut self.there, &field.path, value));
        }
    }

    /// A call succeeded with these.
    pub fn prove(&mut self, arguments: &Map<String, Value>) {
        for (name, value) in arguments {
            add(&mut self.proven, &pointer::join("", name), value.clone());
        }
    }

    /// What another server of the same program took and said. It need not hold for this one, which may be asked for what was
    /// made there, so it is tried first and believed only once it was taken here.
    pub fn recall(&mut self, earlier: &Knowledge) {
        let lists = [&earlier.proven, &earlier.told];
        for (place, values) in lists.into_iter().flatten() {
            values.iter().for_each(|value| add(&mut self.told, place, value.clone()));
        }
        let room = MAX_WANTED.saturating_sub(self.wanted.len());
        self.wanted.extend(earlier.wanted.iter().take(room).cloned());
    }

    /// A call with these was refused.
    pub fn refuse(&mut self, sent: &Map<String, Value>, refusal: Refusal) {
        for (path, name, value) in parts(sent) {
            if refusal.blamed.contains(&name) && !self.proven.contains_key(&path) {
                add(&mut self.refused, &path, value.clone());
            }
        }
        let given = self.arguments_of(sent).clone();
        for Lesson { field, value } in refusal.lessons {
            let meant = self.fields.iter().filter(|known| match field.is_empty() {
                // No field is named: whichever takes the value by its schema may have been meant.
                true => given.contains_key(&known.name),
                false => known.name == field,
            });
            let meant: Vec<String> = meant.map(|known| known.path.clone()).collect();
            meant.iter().for_each(|path| add(&mut self.told, path, value.clone()));
        }
        let room = MAX_WANTED.saturating_sub(self.wanted.len());
        let within_one = self.within_one();
        let is_at_top = |field: &Field, name: &str| field.name == name && field.is_at_top(within_one);
        let top = |name: &String| self.fields.iter().any(|field| is_at_top(field, name));
        self.wanted.extend(refusal.wanted.into_iter().filter(top).take(room));
    }

    /// What is most likely to be taken: for each argument what it was taken with; else what somebody named.
    pub fn sure(&self, common: &Common) -> Pool {
        self.pool(common, |field| match self.proven.get(&field.path) {
            Some(proven) => proven.clone(),
            None => self.named(field, common),
        })
    }

    /// All that may be taken.
    pub fn wide(&self, common: &Common) -> Pool {
        self.pool(common, |field| {
            let proven = self.proven.get(&field.path).into_iter().flatten().cloned();
            let returned = common.returned.iter().filter(|lesson| lesson.field == field.name);
            proven
                .chain(self.named(field, common))
                .chain(returned.map(|lesson| lesson.value.clone()))
                .collect()
        })
    }

    /// As sure, but where nothing was taken yet, values are also what calls returned, those first whose names fit (an id
    /// need not have the same name here), and what is usual for such a field. Each turn begins with another.
    pub fn guess(&self, common: &Common, turn: usize) -> Pool {
        self.pool(common, |field| {
            if let Some(proven) = self.proven.get(&field.path) {
                return proven.clone();
            }
            let mut guesses = self.named(field, common);
            let mut offer = |value: Value| {
                if !guesses.contains(&value) && !self.is_refused(&field.path, &value) {
                    guesses.push(value);
                }
            };
            let kind = FieldKind::of(&field.name, &field.description);
            let usual = kind.map(samples::strings).unwrap_or_default().iter().map(|text| Value::from(*text));
            let returned = self.returned(field, common);
            let (fitting, other): (Vec<_>, Vec<_>) =
                returned.into_iter().partition(|(distance, _)| *distance < 2);
            fitting.into_iter().for_each(|(_, value)| offer(value));
            if field.is_text {
                usual.for_each(&mut offer);
            }
            other.into_iter().for_each(|(_, value)| offer(value));
            guesses.truncate(MAX_VALUES);
            if !guesses.is_empty() {
                let turn = turn % guesses.len();
                guesses.rotate_left(turn);
            }
            guesses
        })
    }

    /// What calls returned that this argument may take, each with how far its name is from what is wanted.
    fn returned(&self, field: &Field, common: &Common) -> Vec<(usize, Value)> {
        if common.proven.contains_key(&field.name) {
            return Vec::new();
        }
        let mut found: Vec<(usize, Value)> = Vec::new();
        // What was taken under a name that is nearly the same.
        let near = common.proven.iter().filter(|(name, _)| field.distance(name) == 0);
        for value in near.flat_map(|(_, values)| values).filter_map(|value| field.takes(value)) {
            found.push((1, value));
        }
        for lesson in &common.returned {
            let distance = field.distance(&lesson.field);
            if let Some(value) = field.takes(&lesson.value)
                && (field.is_text && lesson.value.is_string() || distance < 2)
            {
                found.push((distance, value));
            }
        }
        found.sort_by_key(|(distance, _)| *distance);
        found
    }

    /// What somebody named for an argument, and was not refused.
    fn named(&self, field: &Field, common: &Common) -> Vec<Value> {
        let lists = [
            self.there.get(&field.path),
            self.told.get(&field.path),
            self.described.get(&field.path),
            common.proven.get(&field.name),
        ];
        let named = lists.into_iter().flatten().flatten();
        let mut kept: Vec<Value> = Vec::new();
        for value in named.filter(|value| !self.is_refused(&field.path, value)) {
            if !kept.contains(value) {
                kept.push(value.clone());
            }
        }
        kept
    }

    fn is_refused(&self, path: &str, value: &Value) -> bool {
        self.refused.get(path).is_some_and(|refused| refused.contains(value))
    }

    fn pool(&self, common: &Common, values: impl Fn(&Field) -> Vec<Value>) -> Pool {
        let mut pool = Pool::new();
        for field in &self.fields {
            for value in values(field) {
                // Of a list it may be an item.
                let item = format!("{}/*", field.path);
                if value.is_number() {
                    pool.add_for_path(&item, as_type_of(&value, &Value::from("")));
                }
                pool.add_for_path(&item, value.clone());
                pool.add_for_path(&field.path, value.clone());
                if field.is_text && !value.is_string() {
                    pool.add_for_path(&field.path, as_type_of(&value, &Value::from("")));
                }
            }
        }
        // Where the schema names nothing, a name is all there is to go by.
        let known = |name: &str| self.fields.iter().any(|field| field.name == name);
        for (name, values) in common.proven.iter().filter(|(name, _)| !known(name)) {
            values.iter().for_each(|value| pool.add_for_name(name, value.clone()));
        }
        for Lesson { field, value } in common.returned.iter().filter(|lesson| !known(&lesson.field)) {
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

    /// What another server of the same program returned.
    pub fn recall(&mut self, earlier: &Common) {
        self.hear(earlier.returned.clone());
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

/// All parts of some arguments, with the place and the nearest name of each.
fn parts(sent: &Map<String, Value>) -> Vec<(String, String, &Value)> {
    let mut open: Vec<(String, String, &Value)> =
        sent.iter().map(|(name, value)| (pointer::join("", name), name.clone(), value)).collect();
    let mut found = Vec::new();
    for _ in 0..MAX_NODES {
        let Some((path, name, value)) = open.pop() else { break };
        match value {
            Value::Object(members) => open
                .extend(members.iter().map(|(key, value)| (pointer::join(&path, key), key.clone(), value))),
            // What is refused of a list may be one of its items.
            Value::Array(items) => {
                open.extend(items.iter().map(|item| (path.clone(), name.clone(), item)));
            }
            _ => {}
        }
        found.push((path, name, value));
    }
    found
}

fn add(values: &mut Values, place: &str, value: Value) {
    if serde_json::to_vec(&value).is_ok_and(|text| text.len() > MAX_BYTES) {
        return;
    }
    let values = values.entry(place.to_owned()).or_default();
    if values.len() < MAX_VALUES && !values.contains(&value) {
        values.push(value);
    }
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
        knowledge.refuse(&object(json!({ "scope": "near" })), Refusal { blamed, ..Refusal::default() });
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
        assert_eq!(knowledge.proven["/target"].len(), MAX_VALUES);
        assert!(!knowledge.proven.contains_key("/scope"));
    }
}
