//! Values with one place taken from the dictionaries of attacks; valid wherever the constraints allow it.

use super::{
    fingerprint,
    walk::{Candidate, Walk, Whole},
    workshop::Workshop,
};
use crate::{
    error::Unable,
    evaluate::Judgement,
    field::attacks::{self, Attack},
    plan::shape::Shape,
    pool::Pool,
    schema::Schema,
    types::Types,
};
use serde_json::{Map, Number, Value, json};
use std::{cell::Cell, collections::BTreeSet};
use wallfacer_text::lexicon::FieldKind;

/// Length of a huge string, in characters; with the limit on strings it stays below usual size limits of messages.
const HUGE: usize = 100_000;
/// Levels of a deep value: more than most parsers allow, few enough to write and read back ourselves.
const DEEP: usize = 500;
/// Items or keys of a value with many of them.
const MANY: usize = 1_000;

/// A value with an attack at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Adversarial {
    pub value: Value,
    /// JSON pointer to the place.
    pub at: String,
    pub attack: Attack,
    /// What the field is for, as far as its name tells.
    pub kind: Option<FieldKind>,
    /// Whether the value satisfies the schema all the same.
    pub conforms: bool,
}

type Tag = (Attack, Option<FieldKind>);

pub(crate) fn list(schema: &Schema, pool: &Pool) -> Result<Vec<Adversarial>, Unable> {
    let mut found: Vec<Adversarial> = Vec::new();
    let mut seen = BTreeSet::new();
    let count = Cell::new(0);
    let workshop = Workshop::new(schema, pool);
    let goal = schema.root_goal(false)?;
    let mut refused = Vec::new();
    let mut take = |whole: Whole<Tag>| {
        let conforms = workshop.judge(&whole.value) == Judgement::Valid;
        let (attack, kind) = *whole.tag;
        workshop.keep(&whole.value);
        let made = Adversarial { value: whole.value, at: whole.at, attack, kind, conforms };
        if !conforms {
            refused.push(made);
        } else if seen.insert(fingerprint(&made.value)) {
            found.push(made);
            count.set(found.len());
        }
        conforms
    };
    Walk::new(&workshop, &offer, &mut take, &|| {
        workshop.is_spent() || count.get() >= schema.limits().variants
    })
    .visit(goal);
    // What the constraints refuse is still worth a try, once per place and attack.
    let mut tried: BTreeSet<(String, Attack)> =
        found.iter().map(|made| (made.at.clone(), made.attack)).collect();
    refused.retain(|made| tried.insert((made.at.clone(), made.attack)));
    found.extend(refused);
    found.truncate(schema.limits().variants);
    Ok(found)
}

fn offer(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<Tag>> {
    let mut candidates = Vec::new();
    let mut add = |value: Value, attack: Attack| candidates.push(Candidate::new(value, (attack, shape.kind)));
    if shape.types.meets(Types::STRING) {
        attacks::strings(shape.kind).into_iter().for_each(|(attack, text)| add(text.into(), attack));
        let length = HUGE.min(workshop.planning.limits.string).min(shape.string.max.unwrap_or(usize::MAX));
        add("A".repeat(length).into(), Attack::Huge);
    }
    if shape.types.meets(Types::NUMBER) {
        numbers().into_iter().for_each(|number| add(number, Attack::ExtremeNumber));
    }
    if shape.types.meets(Types::ARRAY) {
        if let Some(rules) = &shape.array {
            let item = workshop.value(rules.rest).unwrap_or(Value::Null);
            let count = MANY.min(rules.max.unwrap_or(MANY)).min(workshop.planning.limits.items);
            let count = count.min(workshop.copies_of(&item));
            add(Value::Array(vec![item; count]), Attack::Many);
        }
        add(deep(false), Attack::Deep);
        add(json!([]), Attack::Empty);
    }
    if shape.types.meets(Types::OBJECT) {
        for (value, attack) in objects(workshop, shape) {
            add(value, attack);
        }
    }
    candidates
}

fn numbers() -> Vec<Value> {
    let floats =
        [f64::MAX, f64::MIN, f64::MIN_POSITIVE, -0.0, 1e-7, 1e21].into_iter().filter_map(Number::from_f64);
    let integers = [
        0,
        -1,
        i64::from(i32::MAX),
        i64::from(i32::MAX) + 1,
        i64::from(i32::MIN),
        1 << 53,
        (1 << 53) + 1,
        i64::MAX,
        i64::MIN,
    ];
    let integers = integers.into_iter().map(Number::from).chain([Number::from(u64::MAX)]);
    integers.chain(floats).map(Value::Number).collect()
}

fn objects(workshop: &Workshop, shape: &Shape) -> Vec<(Value, Attack)> {
    let Some(rules) = &shape.object else { return Vec::new() };
    let required = (0..rules.properties.len()).filter(|&index| rules.properties[index].required).collect();
    let Some(Value::Object(sparse)) = workshop.object(shape, &required) else { return Vec::new() };
    let mut values = Vec::new();
    for key in attacks::PROTOTYPE_KEYS {
        let mut members = sparse.clone();
        members.insert((*key).to_owned(), json!({"wallfacer": true}));
        values.push((members.into(), Attack::PrototypeKey));
    }
    let mut crowded = sparse.clone();
    let room = rules.max.unwrap_or(MANY).min(MANY).saturating_sub(sparse.len());
    crowded.extend((0..room).map(|index| (format!("key{index}"), json!(index))));
    values.push((crowded.into(), Attack::Many));
    let mut deepened = sparse;
    deepened.insert("deep".to_owned(), deep(true));
    values.push((deepened.into(), Attack::Deep));
    values
}

fn deep(objects: bool) -> Value {
    let wrap = |inner: Value, _| {
        if objects {
            Value::Object(Map::from_iter([("a".to_owned(), inner)]))
        } else {
            Value::Array(vec![inner])
        }
    };
    (0..DEEP).fold(Value::Array(Vec::new()), wrap)
}
