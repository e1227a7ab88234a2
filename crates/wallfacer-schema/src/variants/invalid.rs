//! Values that are wrong in one way, and the name of that way: every one of them invalid.

use super::{
    fingerprint,
    walk::{Candidate, Walk, Whole},
    workshop::Workshop,
};
use crate::{
    error::Unable,
    evaluate::Judgement,
    number::{self, equal},
    plan::{GoalId, item::Item, shape::Shape},
    pointer,
    pool::Pool,
    schema::Schema,
    types::Types,
    violation::{Rule, Violation},
};
use serde_json::{Map, Number, Value, json};
use std::{cell::Cell, collections::BTreeSet};

/// Key that no author declares.
const UNKNOWN_KEY: &str = "wallfacer_unknown_key";
/// Strings that miss one pattern or format.
const MAX_MISSES: usize = 4;

/// An invalid value, and the violation that makes it so.
#[derive(Clone, Debug, PartialEq)]
pub struct Invalid {
    pub value: Value,
    pub violation: Violation,
}

pub(crate) fn list(schema: &Schema, pool: &Pool) -> Result<Vec<Invalid>, Unable> {
    let mut found: Vec<Invalid> = Vec::new();
    let mut seen = BTreeSet::new();
    let count = Cell::new(0);
    let workshop = Workshop::new(schema, pool);
    let goal = schema.root_goal(false)?;
    let mut take = |whole: Whole<Rule>| {
        if workshop.judge(&whole.value) != Judgement::Invalid {
            return false;
        }
        if let Some(violation) = name(&workshop, &whole)
            && seen.insert(fingerprint(&whole.value))
        {
            workshop.keep(&whole.value);
            found.push(Invalid { value: whole.value, violation });
            count.set(found.len());
        }
        true
    };
    Walk::new(&workshop, &offer, &mut take, &|| {
        workshop.is_spent() || count.get() >= schema.limits().variants
    })
    .visit(goal);
    Ok(found)
}

/// The violation that was meant, or else what the evaluator finds nearest to the place.
fn name(workshop: &Workshop, whole: &Whole<Rule>) -> Option<Violation> {
    let violations = workshop.violations(&whole.value);
    let here = |violation: &&Violation| violation.at == whole.at;
    let meant = violations.iter().filter(here).find(|violation| violation.rule == *whole.tag);
    let near =
        || violations.iter().find(here).or_else(|| violations.iter().find(|v| v.at.starts_with(&whole.at)));
    meant.or_else(near).or(violations.first()).cloned()
}

fn offer(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<Rule>> {
    let mut candidates = wrong_types(workshop, shape);
    if let Some(allowed) = &shape.allowed {
        candidates.extend(outsiders(allowed));
        return candidates;
    }
    if shape.types.meets(Types::NUMBER) {
        candidates.extend(numbers(shape));
    }
    if shape.types.meets(Types::STRING) {
        candidates.extend(strings(workshop, shape));
    }
    if shape.types.meets(Types::ARRAY) {
        candidates.extend(arrays(workshop, shape));
    }
    if shape.types.meets(Types::OBJECT) {
        candidates.extend(objects(workshop, shape));
    }
    candidates.extend(combinations(workshop, shape));
    candidates
}

/// One value of each other type, the right one as text, and the right one in a wrong container.
fn wrong_types(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<Rule>> {
    let mut values =
        vec![json!(null), json!(true), json!(0), json!(1.5), json!("text"), json!([]), json!({})];
    let texts: [(Types, &[&str]); 5] = [
        (Types::NUMBER, &["0", "", "NaN", "Infinity", "1e400", "0x10"]),
        (Types::BOOLEAN, &["true", ""]),
        (Types::NULL, &["null"]),
        (Types::ARRAY, &["[]"]),
        (Types::OBJECT, &["{}"]),
    ];
    for (types, texts) in texts {
        if shape.types.meets(types) {
            values.extend(texts.iter().map(|text| json!(text)));
        }
    }
    values.retain(|value| !shape.types.meets(Types::of(value)));
    if !shape.types.meets(Types::ARRAY)
        && let Some(inner) = valid(workshop, shape)
    {
        values.push(Value::Array(vec![inner.clone()]));
        values.push(json!({ "value": inner }));
    }
    values.into_iter().map(|value| Candidate::new(value, Rule::Type)).collect()
}

fn valid(workshop: &Workshop, shape: &Shape) -> Option<Value> {
    let goal = workshop.planning.goal(shape.flat.iter().collect())?;
    workshop.value(goal)
}

/// Near misses of an enumeration.
fn outsiders(allowed: &[Value]) -> Vec<Candidate<Rule>> {
    let mut values = vec![json!("wallfacer_no_such_member"), json!(null), json!("")];
    for member in allowed.iter().take(MAX_MISSES) {
        match member {
            Value::String(text) => {
                let swapped =
                    if text.to_uppercase() == *text { text.to_lowercase() } else { text.to_uppercase() };
                values.extend([json!(format!("{text}x")), json!(format!(" {text}")), json!(swapped)]);
            }
            Value::Number(known) => values
                .extend(number::integer(known).and_then(|n| number::from_integer(n + 1)).map(Value::Number)),
            _ => {}
        }
    }
    let rule = if allowed.len() == 1 { Rule::Const } else { Rule::Enum };
    let fresh = |value: &Value| !allowed.iter().any(|member| equal(member, value));
    values.into_iter().filter(fresh).map(|value| Candidate::new(value, rule)).collect()
}

fn numbers(shape: &Shape) -> Vec<Candidate<Rule>> {
    let mut candidates = Vec::new();
    let mut add =
        |made: Option<Number>, rule: Rule| candidates.extend(made.map(|made| Candidate::new(made, rule)));
    if let Some(low) = &shape.number.low {
        let rule = if low.exclusive { Rule::ExclusiveMinimum } else { Rule::Minimum };
        add(low.exclusive.then(|| low.value.clone()), rule);
        add(number::integer(&low.value).and_then(|whole| number::from_integer(whole - 1)), rule);
        add(Number::from_f64(number::float(&low.value) - 0.5), rule);
        add(Some(i64::MIN.into()), rule);
    }
    if let Some(high) = &shape.number.high {
        let rule = if high.exclusive { Rule::ExclusiveMaximum } else { Rule::Maximum };
        add(high.exclusive.then(|| high.value.clone()), rule);
        add(number::integer(&high.value).and_then(|whole| number::from_integer(whole + 1)), rule);
        add(Number::from_f64(number::float(&high.value) + 0.5), rule);
        add(Some(i64::MAX.into()), rule);
    }
    if let Some(step) = shape.number.step.and_then(|step| step.times(1)) {
        let half = number::float(&step) / 2.0;
        let whole = half.fract() == 0.0 && half.abs() < 1e15;
        add(if whole { Some((half as i64).into()) } else { Number::from_f64(half) }, Rule::MultipleOf);
        let range = shape.number.integers().filter(|range| range.step > 1);
        add(
            range.and_then(|range| number::from_integer(range.first.max(0) * range.step + 1)),
            Rule::MultipleOf,
        );
    }
    candidates
}

fn strings(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<Rule>> {
    let rules = &shape.string;
    let mut candidates = Vec::new();
    let known = workshop.string(shape, rules.min).unwrap_or_default();
    if rules.min > 0 {
        let shorter: String = known.chars().take(rules.min - 1).collect();
        candidates.push(Candidate::new(shorter, Rule::MinLength));
        candidates.push(Candidate::new("", Rule::MinLength));
    }
    if let Some(max) = rules.max.filter(|&max| max < workshop.planning.limits.string) {
        let missing = (max + 1).saturating_sub(known.chars().count());
        candidates.push(Candidate::new(format!("{known}{}", "a".repeat(missing)), Rule::MaxLength));
    }
    let misses = near_misses(&known);
    for pattern in &rules.patterns {
        let broken = misses.iter().filter(|miss| pattern.matches(miss) == Some(false));
        candidates.extend(broken.take(MAX_MISSES).map(|miss| Candidate::new(miss.clone(), Rule::Pattern)));
    }
    for format in &rules.formats {
        candidates.extend(format.misses().iter().map(|miss| Candidate::new(*miss, Rule::Format)));
    }
    candidates
}

fn near_misses(known: &str) -> Vec<String> {
    let mut shortened = known.to_owned();
    shortened.pop();
    vec![
        format!("{known}\n"),
        format!(" {known}"),
        format!("{known}!"),
        format!("é{known}"),
        shortened,
        known.to_uppercase(),
        known.replace(|c: char| c.is_ascii_alphanumeric(), "?"),
        "!".to_owned(),
        "text".to_owned(),
        "0".to_owned(),
        String::new(),
    ]
}

fn arrays(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<Rule>> {
    let Some(rules) = &shape.array else { return Vec::new() };
    let mut candidates = Vec::new();
    let limit = workshop.planning.limits.items;
    if rules.min > 0
        && let Some(mut items) = workshop.array(shape, rules.min)
    {
        items.truncate(rules.min - 1);
        candidates.push(Candidate::new(items, Rule::MinItems));
        candidates.push(Candidate::new(json!([]), Rule::MinItems));
    }
    if let Some(max) = rules.max.filter(|&max| max < limit)
        && let Some(mut items) = workshop.array(shape, max)
    {
        while items.len() <= max {
            let further = workshop.other_value(rules.rest, if rules.unique { &items } else { &[] });
            items.push(further.unwrap_or(Value::Null));
        }
        candidates.push(Candidate::new(items, Rule::MaxItems));
    }
    if rules.unique
        && let Some(mut items) = workshop.array(shape, rules.min.max(1))
        && let Some(first) = items.first().cloned()
    {
        if rules.max.is_some_and(|max| items.len() >= max) && items.len() > 1 {
            items.pop();
        }
        items.push(first);
        candidates.push(Candidate::new(items, Rule::UniqueItems));
    }
    if !rules.contains.is_empty() {
        for filler in [json!(null), json!("text"), json!(0), json!([]), json!({})] {
            candidates.push(Candidate::new(vec![filler; rules.min.max(1)], Rule::Contains));
        }
        for wanted in &rules.contains {
            let many = wanted.min.saturating_mul(2).saturating_add(2).min(limit);
            let item = workshop.value(wanted.goal);
            let fits = |item: Value| {
                Candidate::new(vec![item.clone(); many.min(workshop.copies_of(&item))], Rule::MaxContains)
            };
            candidates.extend(item.map(fits));
        }
    }
    candidates
}

fn objects(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<Rule>> {
    let Some(rules) = &shape.object else { return Vec::new() };
    let all: BTreeSet<usize> = (0..rules.properties.len()).collect();
    let required: BTreeSet<usize> =
        all.iter().copied().filter(|&index| rules.properties[index].required).collect();
    let Some(sparse) = workshop.object(shape, &required) else { return Vec::new() };
    let most = workshop.copies_of(&sparse);
    let Value::Object(sparse) = sparse else { return Vec::new() };
    let mut candidates = Vec::new();
    for &index in required.iter().take(most) {
        candidates.push(Candidate::new(without(&sparse, &rules.properties[index].name), Rule::Required));
    }
    let mut intruded = sparse.clone();
    intruded.insert(UNKNOWN_KEY.to_owned(), json!("text"));
    let below = pointer::join("", UNKNOWN_KEY);
    for rule in [Rule::AdditionalProperties, Rule::UnevaluatedProperties] {
        candidates.push(Candidate { value: intruded.clone().into(), below: below.clone(), tag: rule });
    }
    candidates.push(Candidate::new(intruded, Rule::PropertyNames));
    for name in rules.absent.iter().take(MAX_MISSES) {
        let mut members = sparse.clone();
        members.insert(name.clone(), json!("text"));
        candidates.push(Candidate::new(members, Rule::Not));
    }
    for name in ["", "0", "Wallfacer Key!"] {
        if rules.names.is_some() {
            let mut members = sparse.clone();
            members.insert(name.to_owned(), json!("text"));
            candidates.push(Candidate::new(members, Rule::PropertyNames));
        }
    }
    candidates.extend(dependencies(workshop, shape, &sparse, most));
    if let Some(max) = rules.max.filter(|&max| max < workshop.planning.limits.items) {
        let mut members = sparse.clone();
        (0..=max).for_each(|index| drop(members.insert(format!("key{index}"), json!("text"))));
        candidates.push(Candidate::new(members, Rule::MaxProperties));
    }
    if rules.min > 0 {
        let members: Map<String, Value> = sparse.into_iter().take(rules.min - 1).collect();
        candidates.push(Candidate::new(members, Rule::MinProperties));
    }
    candidates
}

/// A key with what depends on it taken away; so many of them at most.
fn dependencies(
    workshop: &Workshop,
    shape: &Shape,
    sparse: &Map<String, Value>,
    most: usize,
) -> Vec<Candidate<Rule>> {
    let Some(rules) = &shape.object else { return Vec::new() };
    let mut candidates = Vec::new();
    for (key, needed) in &rules.dependent_required {
        let property = rules.properties.iter().find(|property| property.name == *key);
        let Some(value) = property.and_then(|property| workshop.value(property.goal)) else { continue };
        for name in needed.iter().take(most.saturating_sub(candidates.len())) {
            let mut members = sparse.clone();
            members.insert(key.clone(), value.clone());
            candidates.push(Candidate::new(without(&members, name), Rule::DependentRequired));
        }
    }
    candidates
}

fn without(members: &Map<String, Value>, name: &str) -> Map<String, Value> {
    members.iter().filter(|(key, _)| *key != name).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What `not` forbids, what two branches of `oneOf` both accept, and what breaks a conditional branch.
fn combinations(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<Rule>> {
    let nodes = workshop.planning.nodes;
    let mut goals: Vec<(GoalId, Rule)> = Vec::new();
    for id in shape.flat.leaves() {
        let node = id.of(nodes);
        let mut add = |items: Vec<Item>, rule: Rule| {
            goals.extend(workshop.planning.goal(items).map(|goal| (goal, rule)));
        };
        if let Some(forbidden) = node.not {
            add(vec![Item::Leaf(id), Item::Must(forbidden)], Rule::Not);
        }
        for pair in node.one_of.windows(2).take(MAX_MISSES) {
            add(vec![Item::Leaf(id), Item::Must(pair[0]), Item::Must(pair[1])], Rule::OneOf);
        }
        if let Some(condition) = node.condition {
            if let Some(then) = condition.then {
                add(
                    vec![Item::Hard, Item::Leaf(id), Item::Must(condition.test), Item::Not(then)],
                    Rule::False,
                );
            }
            if let Some(otherwise) = condition.otherwise {
                add(
                    vec![Item::Hard, Item::Leaf(id), Item::Not(condition.test), Item::Not(otherwise)],
                    Rule::False,
                );
            }
        }
    }
    goals.into_iter().filter_map(|(goal, rule)| Some(Candidate::new(workshop.value(goal)?, rule))).collect()
}
