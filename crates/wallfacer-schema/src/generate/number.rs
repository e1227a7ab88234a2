//! Numbers within a range and on a step.

use super::Maker;
use crate::{
    error::Unable,
    field::samples,
    number,
    plan::{numbers::NumberShape, shape::Shape},
};
use serde_json::{Number, Value};

/// How far from the simplest number most draws stay.
const SPREADS: [u64; 4] = [10, 100, 1000, 1 << 53];
/// Integers up to here are exact in a double.
const EXACT: i128 = 1 << 53;
/// Draws for a number with a fraction before the middle of the range is taken.
const DRAWS: usize = 12;
/// Half the width of a range without bounds.
const USUAL_WIDTH: f64 = 1000.0;

impl Maker<'_> {
    pub(super) fn make_integer(&mut self, shape: &Shape) -> Result<Value, Unable> {
        let Some(range) = shape.number.integers() else {
            return Err(Unable::unsatisfiable(&shape.at, "no integer is in range"));
        };
        if let Some(known) = self.usual_number(shape, true) {
            return Ok(Value::Number(known));
        }
        let origin = 0.clamp(range.first, range.last);
        // Wide spreads are rare, as wide numbers are in practice.
        let spread = SPREADS[self.choices.index(SPREADS.len() * 2).saturating_sub(SPREADS.len())];
        // Beyond 2^53 many servers lose digits; that is for the boundary list, where the schema speaks of it.
        let spread = spread.min(u64::try_from(EXACT / range.step).unwrap_or(0).max(1));
        let distance = i128::from(self.choices.below(spread));
        let down =
            range.last - origin < distance || (origin - range.first >= distance && self.choices.one_in(3));
        let count = if down { origin - distance } else { origin + distance }.clamp(range.first, range.last);
        let made = number::from_integer(count * range.step);
        made.map(Value::Number)
            .ok_or_else(|| Unable::too_large(&shape.at, "the integers in range are too large"))
    }

    pub(super) fn make_fraction(&mut self, shape: &Shape) -> Result<Value, Unable> {
        if let Some(known) = self.usual_number(shape, false) {
            return Ok(Value::Number(known));
        }
        let (low, high) = range(&shape.number);
        for _ in 0..DRAWS {
            let part = (1 + self.choices.below(9999)) as f64 / 10_000.0;
            let candidate = low + (high - low) * part;
            if let Some(made) = fitted(&shape.number, candidate) {
                return Ok(Value::Number(made));
            }
        }
        let middle =
            [low + (high - low) / 2.0, low, high].into_iter().find_map(|float| fitted(&shape.number, float));
        middle.map(Value::Number).ok_or_else(|| {
            Unable::unsupported(&shape.at, "multipleOf", "no number with a fraction found in range")
        })
    }

    /// A number that is usual for the kind of field.
    fn usual_number(&mut self, shape: &Shape, whole: bool) -> Option<Number> {
        let known = samples::numbers(shape.kind?);
        if known.is_empty() || self.choices.below(4) == 3 {
            return None;
        }
        let float = known[self.choices.index(known.len())];
        let made = if float.fract() == 0.0 { Number::from(float as i64) } else { Number::from_f64(float)? };
        (whole == (float.fract() == 0.0) && shape.number.contains(&made)).then_some(made)
    }
}

fn range(shape: &NumberShape) -> (f64, f64) {
    let low = shape.low.as_ref().map(|limit| number::float(&limit.value));
    let high = shape.high.as_ref().map(|limit| number::float(&limit.value));
    match (low, high) {
        (Some(low), Some(high)) => (low, high),
        (Some(low), None) => (low, low + USUAL_WIDTH + low.abs()),
        (None, Some(high)) => (high - USUAL_WIDTH - high.abs(), high),
        (None, None) => (-USUAL_WIDTH, USUAL_WIDTH),
    }
}

/// The candidate, rounded to what people write if that stays in range; never a whole number.
fn fitted(shape: &NumberShape, candidate: f64) -> Option<Number> {
    let on_step = shape.step.and_then(|step| {
        let unit = number::float(&step.times(1)?);
        step.times((candidate / unit).round() as i128)
    });
    let rounded = [100.0, 10_000.0].map(|scale| Number::from_f64((candidate * scale).round() / scale));
    let choices = match shape.step {
        Some(_) => vec![on_step],
        None => vec![rounded[0].clone(), rounded[1].clone(), Number::from_f64(candidate)],
    };
    let fits = |made: &Number| !number::is_integer(made) && shape.contains(made);
    choices.into_iter().flatten().find(fits)
}
