//! Values exactly at and just inside each limit: every one of them valid.

use super::{
    fingerprint,
    walk::{Candidate, Walk, Whole},
    workshop::Workshop,
};
use crate::{
    error::Unable,
    evaluate::Judgement,
    number,
    plan::{numbers::NumberShape, shape::Shape},
    pool::Pool,
    schema::Schema,
    types::Types,
};
use serde_json::{Number, Value};
use std::{cell::Cell, collections::BTreeSet};

/// Members of one enumeration that are listed.
const MAX_MEMBERS: usize = 200;
/// Optional keys of one object that are left out one at a time.
const MAX_ABSENT: usize = 64;

/// A valid value with one place at a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    pub value: Value,
    /// JSON pointer to the place.
    pub at: String,
    /// What is at its limit there, as in `at maximum 100`.
    pub limit: String,
}

pub(crate) fn list(schema: &Schema, pool: &Pool) -> Result<Vec<Boundary>, Unable> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let count = Cell::new(0);
    let workshop = Workshop::new(schema, pool);
    let goal = schema.root_goal(false)?;
    let mut take = |whole: Whole<String>| {
        let valid = workshop.judge(&whole.value) == Judgement::Valid;
        if valid && seen.insert(fingerprint(&whole.value)) {
            workshop.keep(&whole.value);
            found.push(Boundary { value: whole.value, at: whole.at, limit: whole.tag.clone() });
            count.set(found.len());
        }
        valid
    };
    Walk::new(&workshop, &offer, &mut take, &|| {
        workshop.is_spent() || count.get() >= schema.limits().variants
    })
    .visit(goal);
    Ok(found)
}

fn offer(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<String>> {
    let mut candidates = Vec::new();
    if let Some(allowed) = &shape.allowed {
        let members = allowed.iter().take(MAX_MEMBERS);
        return members.map(|member| Candidate::new(member.clone(), format!("member {member}"))).collect();
    }
    let samples =
        shape.samples.iter().map(|sample| Candidate::new(sample.clone(), "default or example".to_owned()));
    candidates.extend(samples);
    for single in shape.types.each() {
        match single {
            Types::NULL => candidates.push(Candidate::new(Value::Null, "null".to_owned())),
            Types::BOOLEAN => {
                candidates.extend([false, true].map(|value| Candidate::new(value, value.to_string())));
            }
            Types::INTEGER => candidates.extend(integers(&shape.number)),
            Types::FRACTION => candidates.extend(fractions(&shape.number)),
            Types::STRING => candidates.extend(strings(workshop, shape)),
            Types::ARRAY => candidates.extend(arrays(workshop, shape)),
            _ => candidates.extend(objects(workshop, shape)),
        }
    }
    candidates
}

fn integers(rules: &NumberShape) -> Vec<Candidate<String>> {
    let Some(range) = rules.integers() else { return Vec::new() };
    let mut wanted: Vec<(i128, String)> = Vec::new();
    if let Some(low) = &rules.low {
        wanted.push((range.first, format!("at minimum {}", low.value)));
        wanted.push((range.first + 1, format!("just above minimum {}", low.value)));
    }
    if let Some(high) = &rules.high {
        wanted.push((range.last, format!("at maximum {}", high.value)));
        wanted.push((range.last - 1, format!("just below maximum {}", high.value)));
    }
    wanted.extend([0, 1, -1].map(|count| (count, format!("{}", count * range.step))));
    wanted
        .into_iter()
        .filter(|(count, _)| (range.first..=range.last).contains(count))
        .filter_map(|(count, limit)| Some(Candidate::new(number::from_integer(count * range.step)?, limit)))
        .collect()
}

fn fractions(rules: &NumberShape) -> Vec<Candidate<String>> {
    let mut wanted: Vec<(f64, String)> = vec![(0.5, "0.5".to_owned()), (-0.5, "-0.5".to_owned())];
    if let Some(low) = &rules.low {
        let float = number::float(&low.value);
        wanted.push((float, format!("at minimum {}", low.value)));
        wanted.push((float + 0.001, format!("just above minimum {}", low.value)));
        wanted.push((float.next_up(), format!("next above minimum {}", low.value)));
    }
    if let Some(high) = &rules.high {
        let float = number::float(&high.value);
        wanted.push((float, format!("at maximum {}", high.value)));
        wanted.push((float - 0.001, format!("just below maximum {}", high.value)));
        wanted.push((float.next_down(), format!("next below maximum {}", high.value)));
    }
    if let Some(step) = rules.step.and_then(|step| step.times(1)) {
        wanted.push((number::float(&step), format!("one step of {step}")));
    }
    wanted
        .into_iter()
        .filter_map(|(float, limit)| Some((Number::from_f64(float)?, limit)))
        .filter(|(number, _)| rules.contains(number))
        .map(|(number, limit)| Candidate::new(number, limit))
        .collect()
}

fn strings(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<String>> {
    let rules = &shape.string;
    let mut candidates: Vec<Candidate<String>> = rules
        .formats
        .iter()
        .flat_map(|format| format.edges().iter().map(move |edge| (edge, format.name())))
        .map(|(edge, name)| Candidate::new(*edge, format!("edge of {name}")))
        .collect();
    for (length, limit) in lengths(rules.min, rules.max, workshop.planning.limits.string) {
        let made = workshop.string(shape, length);
        candidates
            .extend(made.map(|string| Candidate::new(string, format!("{limit} of {length} characters"))));
    }
    candidates
}

fn arrays(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<String>> {
    let Some(rules) = &shape.array else { return Vec::new() };
    let mut candidates = Vec::new();
    for (length, limit) in lengths(rules.min, rules.max, workshop.planning.limits.items) {
        let made = workshop.array(shape, length);
        candidates.extend(made.map(|items| Candidate::new(items, format!("{limit} of {length} items"))));
    }
    candidates
}

/// Shortest, one more, one less than the longest, the longest; the longest only as far as the limits go.
fn lengths(min: usize, max: Option<usize>, limit: usize) -> Vec<(usize, &'static str)> {
    let mut lengths = vec![(min, "shortest"), (min + 1, "second shortest")];
    if let Some(max) = max.filter(|&max| max <= limit) {
        lengths.extend([(max.saturating_sub(1), "second longest"), (max, "longest")]);
    }
    let mut seen = BTreeSet::new();
    lengths
        .retain(|(length, _)| *length >= min && max.is_none_or(|max| *length <= max) && seen.insert(*length));
    lengths
}

fn objects(workshop: &Workshop, shape: &Shape) -> Vec<Candidate<String>> {
    let Some(rules) = &shape.object else { return Vec::new() };
    let all: BTreeSet<usize> = (0..rules.properties.len()).collect();
    let optional: Vec<usize> =
        all.iter().copied().filter(|&index| !rules.properties[index].required).collect();
    let required = all.iter().copied().filter(|index| !optional.contains(index)).collect();
    let mut candidates: Vec<Candidate<String>> = Vec::new();
    let mut add = |chosen: &BTreeSet<usize>, limit: String| {
        candidates.extend(workshop.object(shape, chosen).map(|value| Candidate::new(value, limit)));
        candidates.last().map_or(0, |last| workshop.copies_of(&last.value) / 2)
    };
    add(&required, "only required keys".to_owned());
    let most = add(&all, "all declared keys".to_owned());
    for index in optional.into_iter().take(MAX_ABSENT.min(most)) {
        let name = &rules.properties[index].name;
        let mut others = all.clone();
        others.remove(&index);
        add(&others, format!("without `{name}`"));
        let mut alone: BTreeSet<usize> = required.clone();
        alone.insert(index);
        add(&alone, format!("with `{name}`"));
    }
    candidates
}
