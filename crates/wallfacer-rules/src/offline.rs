//! Tries rules on their own fixtures; no server is needed.

use crate::block::{SAMPLE_FIELD, SAMPLE_TOOL};
use crate::evaluate::{Context, Known, Verdict};
use crate::fixture::{Expect, Fixture, SequenceFixture};
use crate::rule::{Input, Rule};
use crate::rules::Rules;
use crate::sequence::{Sequence, Step, Steps};
use serde_json::{Value, json};

/// What became of one fixture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixtureOutcome {
    /// The rule or sequence it belongs to.
    pub rule: String,
    pub fixture: String,
    pub result: FixtureResult,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixtureResult {
    /// The rule said what it should.
    Met,
    Missed {
        expected: Expect,
        observed: Verdict,
    },
    /// The fixture does not fit its rule.
    Impossible(String),
    /// The rule looks at something that a file of its version cannot write down.
    Mute(String),
}

pub fn test_offline(rules: &Rules) -> Vec<FixtureOutcome> {
    let mut outcomes = Vec::new();
    for rule in &rules.rules {
        outcomes.extend(rule.fixtures.iter().map(|fixture| outcome(&rule.name, fixture, rule)));
    }
    let mut library = rules.library.clone();
    for block in &rules.blocks {
        let Ok(sample) = block.sample(&mut library) else { continue };
        for fixture in &sample.fixtures {
            let tool = fixture.tool.as_ref().and_then(|tool| tool["name"].as_str()).unwrap_or(SAMPLE_TOOL);
            let field = fixture.field.as_deref().unwrap_or(SAMPLE_FIELD);
            outcomes.push(match block.rule(tool, Some(field), &mut library) {
                Ok(rule) => outcome(&block.name, fixture, &rule),
                Err(problems) => FixtureOutcome {
                    rule: block.name.clone(),
                    fixture: fixture.name.clone(),
                    result: FixtureResult::Impossible(
                        problems.iter().map(|problem| problem.message.as_str()).collect(),
                    ),
                },
            });
        }
    }
    for sequence in &rules.sequences {
        outcomes.extend(sequence.fixtures.iter().map(|fixture| FixtureOutcome {
            rule: sequence.name.clone(),
            fixture: fixture.name.clone(),
            result: play(sequence, fixture),
        }));
    }
    outcomes
}

fn outcome(name: &str, fixture: &Fixture, rule: &Rule) -> FixtureOutcome {
    FixtureOutcome { rule: name.to_owned(), fixture: fixture.name.clone(), result: tried(rule, fixture) }
}

/// What a rule says about one of its fixtures.
pub(crate) fn tried(rule: &Rule, fixture: &Fixture) -> FixtureResult {
    let known =
        Known { steps: &fixture.steps, canary: fixture.canary.as_ref(), marker: fixture.marker.as_ref() };
    let input = match &fixture.input {
        Some(input) => input.clone(),
        None => sent(rule, &known),
    };
    let context = Context {
        input: &input,
        response: &fixture.response,
        tool: fixture.tool.as_ref(),
        effects: fixture.effects.as_ref(),
        latency: fixture.latency,
        known,
    };
    match rule.judge(&context) {
        Verdict::Unknown(why) if !fixture.can_be_whole => FixtureResult::Mute(why),
        verdict => compared(fixture.expect, verdict),
    }
}

/// As much of the arguments as the rule itself decides.
fn sent(rule: &Rule, known: &Known<'_>) -> Value {
    match &rule.input {
        Input::Fixed(draft) | Input::SchemaValid { over: draft, .. } => draft.resolve(known).ok(),
        Input::Generated(_) => None,
    }
    .unwrap_or_else(|| json!({}))
}

fn compared(expected: Expect, observed: Verdict) -> FixtureResult {
    if expected.is_met_by(&observed) {
        FixtureResult::Met
    } else {
        FixtureResult::Missed { expected, observed }
    }
}

pub(crate) fn play(sequence: &Sequence, fixture: &SequenceFixture) -> FixtureResult {
    let calls: Vec<&Step> =
        sequence.steps.iter().flat_map(|step| std::iter::repeat_n(step, step.repeat as usize)).collect();
    if calls.len() != fixture.responses.len() {
        let (given, needed) = (fixture.responses.len(), calls.len());
        return FixtureResult::Impossible(format!(
            "the fixture has {given} responses, and the sequence makes {needed} calls"
        ));
    }
    let mut steps = Steps::default();
    for (number, (step, response)) in calls.into_iter().zip(&fixture.responses).enumerate() {
        let number = number + 1;
        let known =
            Known { steps: steps.value(), canary: fixture.canary.as_ref(), marker: fixture.marker.as_ref() };
        let input = match step.with.resolve(&known) {
            Ok(input) => input,
            Err(unresolved) if unresolved.is_unknown => {
                return compared(fixture.expect, Verdict::Unknown(format!("step {number}: {unresolved}")));
            }
            Err(unresolved) => return FixtureResult::Impossible(format!("step {number}: {unresolved}")),
        };
        match step.judge(&Context { known, ..Context::new(&input, response) }) {
            Verdict::Holds => {}
            Verdict::Broken(why) => {
                return compared(fixture.expect, Verdict::Broken(format!("step {number}: {why}")));
            }
            unknown @ Verdict::Unknown(_) => return compared(fixture.expect, unknown),
        }
        if let Some(name) = &step.bind {
            steps.bind(name, input, response.clone());
        }
    }
    compared(fixture.expect, Verdict::Holds)
}
