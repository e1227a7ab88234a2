//! Describes what many JSON values have in common. Each bound is there because the values are a server's, and each
//! number because a few answers prove little.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::target::is_secret_name;

/// Levels that are looked at; what lies deeper may be anything.
const MAX_DEPTH: usize = 8;
/// Keys of one object. Where there are more, they are data and no names.
const MAX_KEYS: usize = 64;
/// Items of one list: later ones look like the earlier ones, or the list is no list of one thing.
const MAX_ITEMS: usize = 64;
/// Nodes of one shape. A larger one would fill a file that nobody reads, and is kept to its first levels.
const MAX_NODES: usize = 2_000;
/// Levels that are kept of a shape that is too large.
const CUT_DEPTH: usize = 2;
/// What was seen less often says nothing of what comes next.
const SIGHTINGS: u64 = 3;
/// Numbers that must all be whole before a fraction would be a surprise.
const WHOLE_SIGHTINGS: u64 = 8;
/// Texts of one place that may be all there are, and how often each must have been seen.
const MAX_CHOICES: usize = 5;
const CHOICE_SIGHTINGS: u64 = 4;
/// A choice is a word; longer texts are prose or data.
const MAX_CHOICE_CHARS: usize = 32;

/// What was seen at one place.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    seen: u64,
    nulls: u64,
    booleans: u64,
    whole: u64,
    fractions: u64,
    texts: u64,
    choices: Choices,
    lists: u64,
    items: Option<Box<Shape>>,
    objects: u64,
    members: BTreeMap<String, Shape>,
    /// There were more keys than are kept.
    crowded: bool,
}

/// The texts that were seen, while they are few.
#[derive(Debug, Clone, Default, PartialEq)]
struct Choices {
    counted: BTreeMap<String, u64>,
    many: bool,
}

impl Shape {
    pub fn of(value: &Value) -> Shape {
        let mut shape = Shape::read(value, MAX_DEPTH);
        shape.bound();
        shape
    }

    /// Adds what was seen elsewhere.
    pub fn merge(&mut self, other: Shape) {
        self.add(other);
        self.bound();
    }

    /// A JSON Schema that every value keeps to, and that says nothing of what was seen too seldom.
    pub fn schema(&self) -> Value {
        if self.seen < SIGHTINGS {
            return json!({});
        }
        let mut schema = Map::new();
        let types = self.types();
        match &types[..] {
            [] => return json!({}),
            [one] => schema.insert("type".to_owned(), json!(one)),
            several => schema.insert("type".to_owned(), json!(several)),
        };
        if let Some(choices) = self.choices.all_there_are().filter(|_| self.texts == self.seen) {
            schema.insert("enum".to_owned(), json!(choices));
        }
        if let Some(items) = self.items.as_ref().map(|items| items.schema()).filter(says_something) {
            schema.insert("items".to_owned(), items);
        }
        let told = self.members.iter().map(|(key, shape)| (key.clone(), shape.schema()));
        let properties: Map<String, Value> = told.filter(|(_, schema)| says_something(schema)).collect();
        if !properties.is_empty() {
            schema.insert("properties".to_owned(), Value::Object(properties));
        }
        let always = self.members.iter().filter(|(_, member)| member.seen == self.objects);
        let always: Vec<&String> = always.map(|(key, _)| key).collect();
        if self.objects >= SIGHTINGS && !always.is_empty() {
            schema.insert("required".to_owned(), json!(always));
        }
        Value::Object(schema)
    }

    fn read(value: &Value, depth: usize) -> Shape {
        let mut shape = Shape { seen: 1, ..Shape::default() };
        match value {
            Value::Null => shape.nulls = 1,
            Value::Bool(_) => shape.booleans = 1,
            Value::Number(number) if is_whole(number) => shape.whole = 1,
            Value::Number(_) => shape.fractions = 1,
            Value::String(text) => {
                shape.texts = 1;
                shape.choices.add(text, 1);
            }
            Value::Array(items) => {
                shape.lists = 1;
                for item in items.iter().take(if depth > 0 { MAX_ITEMS } else { 0 }) {
                    let item = Shape::read(item, depth - 1);
                    shape.items.get_or_insert_default().add(item);
                }
            }
            Value::Object(members) => {
                shape.objects = 1;
                shape.crowded = members.len() > MAX_KEYS;
                if depth > 0 && !shape.crowded {
                    let read = |(key, value): (&String, &Value)| {
                        let mut member = Shape::read(value, depth - 1);
                        // A token that is the same each time is no choice, and nothing to write down.
                        if is_secret_name(key) {
                            member.forget_texts();
                        }
                        (key.clone(), member)
                    };
                    shape.members = members.iter().map(read).collect();
                }
            }
        }
        shape
    }

    fn forget_texts(&mut self) {
        self.choices = Choices { counted: BTreeMap::new(), many: true };
        self.items.iter_mut().for_each(|items| items.forget_texts());
    }

    fn add(&mut self, other: Shape) {
        self.seen += other.seen;
        self.nulls += other.nulls;
        self.booleans += other.booleans;
        self.whole += other.whole;
        self.fractions += other.fractions;
        self.texts += other.texts;
        self.choices.merge(other.choices);
        self.lists += other.lists;
        if let Some(items) = other.items {
            self.items.get_or_insert_default().add(*items);
        }
        self.objects += other.objects;
        self.crowded |= other.crowded;
        for (key, member) in other.members {
            self.members.entry(key).or_default().add(member);
        }
        if self.crowded || self.members.len() > MAX_KEYS {
            self.crowded = true;
            self.members.clear();
        }
    }

    fn types(&self) -> Vec<&'static str> {
        let whole = self.fractions == 0 && self.whole >= WHOLE_SIGHTINGS;
        let seen = [
            ("array", self.lists),
            ("boolean", self.booleans),
            (if whole { "integer" } else { "number" }, self.whole + self.fractions),
            ("null", self.nulls),
            ("object", self.objects),
            ("string", self.texts),
        ];
        seen.into_iter().filter(|(_, count)| *count > 0).map(|(name, _)| name).collect()
    }

    fn bound(&mut self) {
        if self.nodes() > MAX_NODES {
            self.cut(CUT_DEPTH);
        }
    }

    fn nodes(&self) -> usize {
        let below = self.members.values().map(Shape::nodes).sum::<usize>();
        1 + below + self.items.as_ref().map_or(0, |items| items.nodes())
    }

    fn cut(&mut self, depth: usize) {
        if depth == 0 {
            self.items = None;
            self.members.clear();
            self.crowded = self.objects > 0;
            return;
        }
        self.items.iter_mut().for_each(|items| items.cut(depth - 1));
        self.members.values_mut().for_each(|member| member.cut(depth - 1));
    }
}

impl Choices {
    fn add(&mut self, text: &str, times: u64) {
        let short = text.chars().nth(MAX_CHOICE_CHARS).is_none();
        self.many |= !short;
        if !self.many {
            *self.counted.entry(text.to_owned()).or_default() += times;
            self.many = self.counted.len() > MAX_CHOICES;
        }
        if self.many {
            self.counted.clear();
        }
    }

    fn merge(&mut self, other: Choices) {
        self.many |= other.many;
        other.counted.iter().for_each(|(text, times)| self.add(text, *times));
        if self.many {
            self.counted.clear();
        }
    }

    /// One that is alone may be all that this run happened to see.
    fn all_there_are(&self) -> Option<Vec<&String>> {
        let often = self.counted.values().all(|times| *times >= CHOICE_SIGHTINGS);
        (self.counted.len() > 1 && often).then(|| self.counted.keys().collect())
    }
}

fn is_whole(number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn says_something(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| !schema.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(values: impl IntoIterator<Item = Value>) -> Value {
        let mut shape = Shape::default();
        values.into_iter().for_each(|value| shape.merge(Shape::of(&value)));
        shape.schema()
    }

    #[test]
    fn a_key_that_was_missing_once_is_optional_and_one_that_never_was_is_required() {
        let values = [json!({ "a": 1, "b": "x" }), json!({ "a": 2.5 }), json!({ "a": 3, "b": "y" })];
        let schema = learned(values.into_iter().cycle().take(6));
        assert_eq!(
            schema,
            json!({ "type": "object", "properties": { "a": { "type": "number" }, "b": { "type": "string" } },
                "required": ["a"] })
        );
    }

    #[test]
    fn what_was_seen_seldom_says_nothing() {
        assert_eq!(learned([json!({ "a": 1 }), json!({ "a": 2 })]), json!({}));
        let rare = [json!({ "a": [] }), json!({ "a": [], "b": 1 }), json!({ "a": [] })];
        assert_eq!(
            learned(rare),
            json!({ "type": "object", "properties": { "a": { "type": "array" } }, "required": ["a"] })
        );
    }

    #[test]
    fn numbers_are_whole_only_after_many_and_null_stands_beside_a_type() {
        assert_eq!(learned((0..7).map(Value::from)), json!({ "type": "number" }));
        assert_eq!(learned((0..8).map(Value::from)), json!({ "type": "integer" }));
        let values = (0..8).map(Value::from).chain([json!(1.5), Value::Null]);
        assert_eq!(learned(values), json!({ "type": ["number", "null"] }));
    }

    #[test]
    fn few_words_seen_often_are_all_there_are_and_nothing_less_is() {
        let words =
            |words: &[&str], times: usize| learned(words.iter().map(|word| json!(word)).cycle().take(times));
        assert_eq!(words(&["off", "on"], 8), json!({ "type": "string", "enum": ["off", "on"] }));
        for (few, times) in [(&["off", "on"][..], 7), (&["ok"], 50), (&["a", "b", "c", "d", "e", "f"], 60)] {
            assert_eq!(words(few, times), json!({ "type": "string" }), "{few:?}");
        }
        assert_eq!(words(&["x".repeat(33).as_str(), "y"], 20), json!({ "type": "string" }));
    }

    #[test]
    fn what_goes_under_the_name_of_a_secret_is_not_written_down() {
        let answer =
            |on: bool| json!({ "token": if on { "f00d" } else { "cafe" }, "keys": { "apiKey": ["f00d"] } });
        let schema = learned((0..20).map(|turn| answer(turn % 2 == 0))).to_string();
        assert!(!schema.contains("f00d") && !schema.contains("cafe") && schema.contains("token"), "{schema}");
    }

    #[test]
    fn items_of_lists_are_one_thing() {
        let list = json!([{ "id": 1 }, { "id": 2, "note": null }]);
        let schema = learned(std::iter::repeat_n(list, 4));
        let items = json!({ "type": "object", "required": ["id"],
            "properties": { "id": { "type": "integer" }, "note": { "type": "null" } } });
        assert_eq!(schema, json!({ "type": "array", "items": items }));
    }

    #[test]
    fn keys_that_are_data_are_no_names() {
        let crowd =
            |from: usize| Value::Object((from..from + 40).map(|key| (key.to_string(), json!(1))).collect());
        assert_eq!(learned([crowd(0), crowd(40), crowd(80)]), json!({ "type": "object" }));
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let deep = (0..50).fold(json!(1), |inner, _| json!({ "a": inner }));
        let schema = learned(std::iter::repeat_n(deep, 3)).to_string();
        assert_eq!(schema.matches("properties").count(), MAX_DEPTH);
        let wide =
            |inner: Value| Value::Object((0..60).map(|key| (format!("k{key}"), inner.clone())).collect());
        let huge = Shape::of(&wide(wide(wide(json!(1)))));
        assert!(huge.nodes() <= 1 + 60 + 60 * 60 && huge.schema() == json!({}));
        assert!(Shape::of(&wide(wide(json!(1)))).nodes() <= 1 + 60 + 60 * 60);
    }

    #[test]
    fn the_order_of_what_was_seen_does_not_matter() {
        let values = [json!({ "a": 1 }), json!([1, "x"]), json!({ "a": null, "b": [true] }), json!("x")];
        let forward: Vec<Value> = values.iter().cycle().take(12).cloned().collect();
        assert_eq!(learned(forward.clone()), learned(forward.into_iter().rev()));
    }
}
