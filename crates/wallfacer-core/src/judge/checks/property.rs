//! The rule that a case is tried for must hold.

use serde_json::{Value, json};
use wallfacer_rules::{Context as Facts, Known, Rule, Steps, Verdict as Ruling};

use crate::findings::{Cause, Kind, says_the_same};
use crate::judge::blame::{Blame, blame_of, excuse};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::checks::schema_violation::KeepsItsOutputSchema;
use crate::judge::context::Context;
use crate::judge::response::{response, unanswered};
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, common_arguments, said};
use crate::rule_words::what_broke;
use crate::run::Recording;
use crate::wire::shortened;

const SHOWN: usize = 2_000;
const INVALID_PARAMS: i64 = -32602;

/// A crash, a hang or a broken answer is a finding of its own, and satisfies no rule.
pub struct KeepsItsRule;

impl Check for KeepsItsRule {
    fn name(&self) -> &'static str {
        "keeps-its-rule"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let Some(rule) = case.claim.as_ref().and_then(|claim| claim.rule()) else { return Verdict::Holds };
        let why = match ruling(rule, case, recording, seen, context, Code::AsTold) {
            Ruling::Holds => return Verdict::Holds,
            Ruling::Unknown(why) => return Verdict::Unknown(why),
            Ruling::Broken(why) => why,
        };
        // A rule about an answer is not broken by an error for which our world is to blame.
        if let Some(lacking) = lacking(case, recording) {
            return Verdict::Unknown(lacking);
        }
        // Nor by an output that is owed to what the sandbox answered.
        if says_the_same(&rule.name, Kind::SchemaViolation.name(), "")
            && let Verdict::Unknown(why) = KeepsItsOutputSchema.judge(case, recording, seen, context)
        {
            return Verdict::Unknown(why);
        }
        // A refusal under the wrong code is that and nothing else, whatever rule of ours comes upon it.
        let refuses = is_refusal(case, recording) && what_broke(&rule.name, &rule.tool).is_some();
        if refuses && matches!(ruling(rule, case, recording, seen, context, Code::AsMeant), Ruling::Holds) {
            return Verdict::Holds;
        }
        let kind = Kind::PropertyFailure { invariant: rule.name.clone() };
        let message = in_words(rule, &why);
        let mut charge = Charge::new(self.name(), kind, Cause::rule(&rule.name, None), message);
        charge.way = format!("the rule `{}`", rule.name);
        charge.details = rule.description.clone().unwrap_or_default();
        let last = recording.steps.last().zip(seen.steps.last());
        let answer = last.and_then(|(taken, seen)| response(taken, seen));
        let answer = answer.map(|answer| shortened(&answer.to_string(), SHOWN)).unwrap_or_default();
        let charge = charge.with("rule", rule.name.clone()).with("because", why);
        Verdict::Broken(Box::new(charge.with("answer", answer)))
    }
}

/// What it means that a rule is broken, as a person would say it. The path and the pattern are told below, or here where
/// nobody wrote down what the rule means.
fn in_words(rule: &Rule, why: &str) -> String {
    let own = || {
        let described = rule.description.as_deref().map(|text| text.trim().trim_end_matches('.'));
        match described.filter(|text| !text.is_empty()) {
            Some(text) => format!("`{}` breaks the rule `{}`: {text}", rule.tool, rule.name),
            None => format!("`{}` breaks the rule `{}`: {why}", rule.tool, rule.name),
        }
    };
    what_broke(&rule.name, &rule.tool).unwrap_or_else(own)
}

/// What the world of the server lacked, where its last answer says so.
fn lacking(case: &Case, recording: &Recording) -> Option<String> {
    let last = recording.steps.last()?;
    let failed = || {
        let result = reply::result(recording)?;
        (result.get("isError") == Some(&Value::Bool(true))).then(|| said(&result))
    };
    let words = reply::error(last).map(|error| error.message.clone()).or_else(failed)?;
    excuse(&words, case, last)
}

/// Whether the last answer refuses the input in its own words, under whatever code.
fn is_refusal(case: &Case, recording: &Recording) -> bool {
    let error = recording.steps.last().and_then(reply::error);
    error.is_some_and(|error| {
        !reply::has_stack_trace(&error.message) && blame_of(&error.message, case) == Blame::Input
    })
}

/// Under which code a refusal is judged: the one that it came with, or the one that is for refusals.
#[derive(Clone, Copy, PartialEq)]
enum Code {
    AsTold,
    AsMeant,
}

/// What the rule says of what was seen. Of a call that is repeated, each answer after the first is judged.
fn ruling(
    rule: &Rule,
    case: &Case,
    recording: &Recording,
    seen: &Observation,
    context: &Context,
    code: Code,
) -> Ruling {
    let tool = context.tools.get(&rule.tool).map(|facts| &*facts.listed);
    if rule.is_static() {
        let (nothing, facts) = (Value::Null, context.known(&Value::Null));
        return rule.judge(&Facts { tool, known: facts, ..Facts::new(&nothing, &nothing) });
    }
    let no_input = json!({});
    let input = common_arguments(case).unwrap_or(&no_input);
    let mut steps = Steps::default();
    for (number, (taken, seen)) in recording.steps.iter().zip(&seen.steps).enumerate() {
        let Some(mut answer) = response(taken, seen) else {
            return Ruling::Unknown(unanswered(&rule.tool, &seen.answer));
        };
        if let Some(told) = answer.pointer_mut("/error/code").filter(|_| code == Code::AsMeant) {
            *told = json!(INVALID_PARAMS);
        }
        if number == 0 && rule.repeat > 1 {
            steps.bind(Rule::FIRST, input.clone(), answer);
            continue;
        }
        let known: Known<'_> = context.known(steps.value());
        let effects = context.effects(taken);
        let facts = Facts {
            input,
            response: &answer,
            tool,
            effects: effects.as_ref(),
            latency: Some(seen.took),
            known,
        };
        match rule.judge(&facts) {
            Ruling::Holds if number + 1 == case.steps.len() => return Ruling::Holds,
            Ruling::Holds => {}
            other => return other,
        }
    }
    Ruling::Unknown("not all of its calls were made".to_owned())
}
