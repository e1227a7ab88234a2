//! Tells a call that takes long from one that hangs: a smaller one is quicker.

use std::time::Duration;

use serde_json::Value;
use wallfacer_schema::pointer::join;

use super::inquiry::{Confirmed, Inquiry};
use super::smaller::with_arguments;
use crate::catalogue::Tool;
use crate::observe::{Answer, observe};
use crate::plan::Case;
use crate::wire::ConnectError;

/// An answer that takes less is too quick to tell growth from noise.
const MEASURABLE: Duration = Duration::from_millis(150);
/// What takes so many times as long once the size is doubled does not merely grow.
const FAR: u32 = 4;
/// Numbers and texts of one call that are varied to find out what makes it slow.
const MAX_PLACES: usize = 6;
/// What a number that was left out is taken to be at most.
const ASSUMED: u64 = 64;

impl Inquiry<'_> {
    /// Says of a call that seems to hang that it only takes long, where a smaller one shows it.
    pub async fn is_slow(&mut self, case: &Case) -> Result<Option<Confirmed>, ConnectError> {
        let place = self.slows_with(case).await?;
        Ok(place.map(|place| Confirmed::Slow(format!("the time that it takes grows with `{place}`"))))
    }

    /// The argument whose size the time of a call grows with, if there is one.
    async fn slows_with(&mut self, case: &Case) -> Result<Option<String>, ConnectError> {
        let Some(arguments) = case.arguments().cloned() else { return Ok(None) };
        let patience = self.runner.patience().for_smaller().plain();
        for (pointer, size) in sizes(&arguments, self.tool).into_iter().take(MAX_PLACES) {
            let mut small = 1;
            while small < size && !self.is_over_in(patience) {
                match self.time(case, &arguments, &pointer, small).await? {
                    Some(time) if time >= MEASURABLE => {
                        let double = self.time(case, &arguments, &pointer, small * 2).await?;
                        // Without an answer it may have grown beyond the limit, but not from next to nothing.
                        let beyond = time * FAR >= patience;
                        let grows =
                            double.map_or(beyond, |double| double.as_secs_f64() > 1.4 * time.as_secs_f64());
                        if grows {
                            return Ok(Some(pointer));
                        }
                        break;
                    }
                    Some(_) => small *= 4,
                    None => break,
                }
            }
        }
        Ok(None)
    }

    /// How long the call takes with one argument of this size; none without an answer.
    async fn time(
        &mut self,
        case: &Case,
        arguments: &Value,
        pointer: &str,
        size: u64,
    ) -> Result<Option<Duration>, ConnectError> {
        let mut arguments = arguments.clone();
        match arguments.pointer_mut(pointer) {
            Some(place @ Value::String(_)) => {
                let text = place.as_str().unwrap_or_default();
                *place = Value::from(text.chars().take(size as usize).collect::<String>());
            }
            Some(place) => *place = Value::from(size),
            None => arguments[pointer.trim_start_matches('/')] = Value::from(size),
        }
        let patience = self.runner.patience().for_smaller();
        let recording = self.runner.perform(&with_arguments(case, arguments), &patience).await?;
        let seen = observe(&recording);
        let answered =
            seen.steps.last().filter(|step| !matches!(step.answer, Answer::Silent | Answer::Gone { .. }));
        Ok(answered.map(|step| step.took))
    }
}

/// Places of numbers and long texts, with their sizes; only the top level and one below. A number that was left out may
/// stand at a default of the tool's own, so those count too.
fn sizes(arguments: &Value, tool: Option<&Tool>) -> Vec<(String, u64)> {
    let size = |value: &Value| match value {
        Value::Number(number) => {
            number.as_f64().map(|number| number.abs().min(1e15) as u64).filter(|size| *size > 1)
        }
        Value::String(text) => Some(text.chars().count() as u64).filter(|size| *size > 64),
        _ => None,
    };
    let mut found = Vec::new();
    for (key, value) in arguments.as_object().into_iter().flatten() {
        let pointer = join("", key);
        found.extend(size(value).map(|size| (pointer.clone(), size)));
        for (key, value) in value.as_object().into_iter().flatten() {
            let inner = join(&pointer, key);
            found.extend(size(value).map(|size| (inner, size)));
        }
    }
    let absent = tool.map(Tool::arguments).unwrap_or_default().into_iter();
    let absent = absent.filter(|argument| matches!(argument.kind, Some("integer" | "number")));
    let absent = absent
        .filter(|argument| arguments.get(argument.name).is_none() && !argument.name.contains(['/', '~']));
    found.extend(absent.map(|argument| (format!("/{}", argument.name), ASSUMED)));
    found
}
