//! Merges demands without open choices into a [`Shape`]: the types left, and the rules for each.

use super::{
    Planning,
    arrays::{ArrayShape, Counts},
    flat::Flat,
    item::{Item, Part},
    numbers::NumberShape,
    objects::{Keys, ObjectShape},
    strings::StringShape,
};
use crate::{
    error::Unable,
    evaluate::{Judge, Judgement},
    node::NodeId,
    types::Types,
};
use serde_json::Value;
use wallfacer_text::lexicon::FieldKind;

#[derive(Debug)]
pub(crate) struct Shape {
    /// The schema to name when no value is found.
    pub at: Box<str>,
    pub flat: Flat,
    pub types: Types,
    /// When `const` or `enum` leave only these.
    pub allowed: Option<Vec<Value>>,
    /// Defaults and examples that satisfy the rules.
    pub samples: Vec<Value>,
    pub kind: Option<FieldKind>,
    pub number: NumberShape,
    pub string: StringShape,
    pub array: Option<ArrayShape>,
    pub object: Option<ObjectShape>,
    pub verify: Vec<NodeId>,
    pub verify_not: Vec<NodeId>,
}

/// Contradictions that show without looking at members.
pub(super) fn check(planning: &Planning, flat: &Flat) -> Result<(), Unable> {
    let (types, _) = types(planning, flat)?;
    if types.is_empty() { Err(no_type(planning, flat)) } else { allowed(planning, flat, types).map(|_| ()) }
}

pub(super) fn merge(planning: &Planning, flat: &Flat) -> Result<Shape, Unable> {
    let (types, parts) = types(planning, flat)?;
    if types.is_empty() {
        return Err(no_type(planning, flat));
    }
    let allowed = allowed(planning, flat, types)?;
    let node = |id: NodeId| id.of(planning.nodes);
    let kind = flat.leaves().find_map(|id| node(id).hints.kind);
    let mut string = parts.string;
    if types.meets(Types::STRING) {
        string.add_words(kind);
    }
    Ok(Shape {
        at: place(planning, flat).into(),
        types,
        samples: samples(planning, flat),
        kind,
        number: parts.number,
        string,
        array: parts.counts.map(|counts| counts.into_shape(planning, flat)).transpose()?,
        object: parts.keys.map(|keys| keys.into_shape(planning, flat)).transpose()?,
        verify: collect(flat, |item| if let Item::Verify(id) = item { Some(id) } else { None }),
        verify_not: collect(flat, |item| if let Item::VerifyNot(id) = item { Some(id) } else { None }),
        allowed,
        flat: flat.clone(),
    })
}

/// Demands that a value passes on to its members.
pub(super) fn inherited(flat: &Flat) -> Vec<Item> {
    if flat.is_hard() { vec![Item::Hard] } else { Vec::new() }
}

/// Whether a member with these demands plainly cannot exist.
pub(super) fn is_never(planning: &Planning, items: &[Item]) -> bool {
    let mut types = Types::ANY;
    for item in items {
        match item {
            Item::Must(id) => {
                let node = id.of(planning.nodes);
                if node.height == u32::MAX {
                    return true;
                }
                types = types.and(node.types);
            }
            Item::Not(id) if id.of(planning.nodes).is_open() => return true,
            _ => {}
        }
    }
    types.is_empty()
}

/// Whether a finished value meets all demands.
pub(crate) fn meets(planning: &Planning, flat: &Flat, value: &Value) -> bool {
    let mut judge = Judge::new(planning.nodes, planning.limits.judge_steps);
    let key = |id: NodeId, index: u32| {
        let rules = id.of(planning.nodes).object.as_ref();
        rules.and_then(|rules| value.get(&rules.dependent_schemas[index as usize].0))
    };
    flat.iter().all(|item| match item {
        Item::Leaf(id) => judge.judge_leaf(id, value) == Judgement::Valid,
        Item::Verify(id) => judge.judge(id, value) == Judgement::Valid,
        Item::VerifyNot(id) => judge.judge(id, value) == Judgement::Invalid,
        Item::Lacks(id, index) => key(id, index).is_none(),
        Item::Has(id, index) => key(id, index).is_some(),
        _ => true,
    })
}

struct Parts {
    number: NumberShape,
    string: StringShape,
    counts: Option<Counts>,
    keys: Option<Keys>,
}

/// The types that are left once each type's rules have had their say. Fails when a type was the last hope
/// and its rules tell why it is none.
fn types(planning: &Planning, flat: &Flat) -> Result<(Types, Parts), Unable> {
    let mut types = flat.leaves().fold(Types::ANY, |types, id| types.and(id.of(planning.nodes).types));
    for item in flat.iter() {
        if let Item::Break(id, part) = item {
            types = types.and(types_for(part, id.of(planning.nodes).types));
        }
    }
    let mut refused = None;
    let mut parts = Parts {
        number: NumberShape::merge(flat, planning.nodes),
        string: StringShape::merge(flat, planning.nodes),
        counts: None,
        keys: None,
    };
    if types.meets(Types::INTEGER) && parts.number.integers().is_none() {
        types = types.and(Types::INTEGER.complement());
        refused = Some(if parts.number.is_bounded() {
            Unable::unsatisfiable(place(planning, flat), "no integer is in range")
        } else {
            Unable::too_large(place(planning, flat), "the integers in range have more than 64 bits")
        });
    }
    if types.meets(Types::FRACTION) && !parts.number.has_fractions() {
        types = types.and(Types::FRACTION.complement());
        refused =
            refused.or_else(|| Some(Unable::unsatisfiable(place(planning, flat), "no number is in range")));
    }
    if types.meets(Types::STRING)
        && let Err(unable) = string_fits(planning, flat, &parts.string)
    {
        types = types.and(Types::STRING.complement());
        refused = Some(unable);
    }
    if types.meets(Types::ARRAY) {
        match Counts::merge(planning, flat) {
            Ok(counts) => parts.counts = Some(counts),
            Err(unable) => {
                types = types.and(Types::ARRAY.complement());
                refused = Some(unable);
            }
        }
    }
    if types.meets(Types::OBJECT) {
        match Keys::merge(planning, flat) {
            Ok(keys) => parts.keys = Some(keys),
            Err(unable) => {
                types = types.and(Types::OBJECT.complement());
                refused = Some(unable);
            }
        }
    }
    match refused {
        Some(unable) if types.is_empty() => Err(unable),
        _ => Ok((types, parts)),
    }
}

fn types_for(part: Part, broken: Types) -> Types {
    match part {
        Part::Type => broken.complement(),
        Part::Listed => Types::ANY,
        Part::Minimum
        | Part::Maximum
        | Part::ExclusiveMinimum
        | Part::ExclusiveMaximum
        | Part::MultipleOf => Types::NUMBER,
        Part::MinLength | Part::MaxLength | Part::Text => Types::STRING,
        Part::MinItems | Part::MaxItems | Part::Items | Part::Prefix(_) | Part::Unique | Part::OtherArray => {
            Types::ARRAY
        }
        Part::MinProperties
        | Part::MaxProperties
        | Part::Required(_)
        | Part::Property(_)
        | Part::Additional
        | Part::OtherObject => Types::OBJECT,
    }
}

fn string_fits(planning: &Planning, flat: &Flat, string: &StringShape) -> Result<(), Unable> {
    let limit = planning.limits.string;
    if string.min > limit {
        let why = format!("{} characters are demanded, {limit} is the limit", string.min);
        return Err(Unable::too_large(place(planning, flat), why));
    }
    if string.max.is_some_and(|max| max < string.min) {
        return Err(Unable::unsatisfiable(
            place(planning, flat),
            "the longest string is shorter than the shortest",
        ));
    }
    match string.patterns.iter().find_map(|pattern| pattern.fault()) {
        Some(fault) => Err(Unable::unsupported(place(planning, flat), "pattern", fault)),
        None => Ok(()),
    }
}

/// The members of the first `const` or `enum` that all other demands let through.
fn allowed(planning: &Planning, flat: &Flat, types: Types) -> Result<Option<Vec<Value>>, Unable> {
    let node = |id: NodeId| id.of(planning.nodes);
    let constant = flat.leaves().find_map(|id| node(id).constant.as_ref().map(std::slice::from_ref));
    let listed =
        || flat.leaves().filter_map(|id| node(id).members.as_deref()).min_by_key(|members| members.len());
    let Some(candidates) = constant.or_else(listed) else { return Ok(None) };
    let fits = |value: &&Value| types.meets(Types::of(value)) && meets(planning, flat, value);
    let allowed: Vec<Value> = candidates.iter().filter(fits).cloned().collect();
    if allowed.is_empty() {
        return Err(Unable::unsatisfiable(place(planning, flat), "no member of the enumeration fits"));
    }
    Ok(Some(allowed))
}

fn samples(planning: &Planning, flat: &Flat) -> Vec<Value> {
    let mut samples: Vec<Value> = Vec::new();
    for id in flat.leaves() {
        for sample in &id.of(planning.nodes).hints.samples {
            if !samples.contains(sample) && meets(planning, flat, sample) {
                samples.push(sample.clone());
            }
        }
    }
    samples
}

/// The first schema of the goal that says anything at all.
fn place<'s>(planning: &Planning<'s>, flat: &Flat) -> &'s str {
    let speaks = |id: &NodeId| !id.of(planning.nodes).is_open();
    let id = flat.leaves().find(speaks).or_else(|| flat.leaves().next());
    id.map_or("", |id| &id.of(planning.nodes).at)
}

fn no_type(planning: &Planning, flat: &Flat) -> Unable {
    let last = flat.leaves().filter(|id| id.of(planning.nodes).types != Types::ANY).last();
    let at = last.map_or_else(|| place(planning, flat), |id| &id.of(planning.nodes).at);
    Unable::unsatisfiable(at, "the types contradict each other")
}

fn collect(flat: &Flat, select: impl Fn(Item) -> Option<NodeId>) -> Vec<NodeId> {
    flat.iter().filter_map(select).collect()
}
