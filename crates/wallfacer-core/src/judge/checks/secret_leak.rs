//! A secret that the server was given must not come back: in a result, in an error, in a notification, or on stderr.

use crate::findings::{Cause, Kind, VARIABLE};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Step, places};
use crate::run::Recording;

pub struct KeepsSecrets;

impl Check for KeepsSecrets {
    fn name(&self) -> &'static str {
        "keeps-secrets"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let by_design = case.tool_name().is_some_and(|tool| context.shows_environment(tool));
        let by_design = by_design || asks_for_it(case);
        let Some((place, variable)) = leak(case, recording, seen, context).filter(|_| !by_design) else {
            return Verdict::Holds;
        };
        let whose = case.tool_name().map(|tool| format!(" of `{tool}`")).unwrap_or_default();
        let message = match variable {
            "" => format!("a secret from the server's environment appears in {place}{whose}"),
            name => format!("the secret in the variable `{name}` appears in {place}{whose}"),
        };
        let cause = Cause::rule(self.name(), Some(place));
        let charge = Charge::new(self.name(), Kind::SecretLeak, cause, message);
        let shown = format!("{place}{whose}");
        Verdict::Broken(Box::new(charge.with(VARIABLE, variable.to_owned()).with("shown in", shown)))
    }
}

/// Where a secret shows that we did not send ourselves, and the variable that it is from.
pub fn leak<'a>(
    case: &Case,
    recording: &Recording,
    seen: &Observation,
    context: &'a Context,
) -> Option<(&'static str, &'a str)> {
    if context.secrets.is_empty() {
        return None;
    }
    let found = |bytes: &[u8]| context.secrets.find(bytes);
    let place = recording.steps.iter().zip(&seen.steps).find_map(|(taken, step)| {
        if let Some(name) = reply::message(taken).and_then(|message| found(&message.bytes)) {
            let completed = step.answer == Answer::Completed;
            return Some((if completed { "a result" } else { "an error" }, name));
        }
        Some(("a notification", taken.notices.iter().find_map(|notice| found(notice))?))
    });
    let place = place.or_else(|| Some(("what it writes to stderr", found(&seen.stderr)?)))?;
    (!is_ours(case, context)).then_some(place)
}

/// Whether a call openly names the file in which the system keeps the environment of a process: who reads what it is told to
/// has done its job. Steps that lead there from elsewhere are another matter.
fn asks_for_it(case: &Case) -> bool {
    let is_named = |path: &str| path.starts_with("/proc/") && path.ends_with("/environ");
    case.arguments().map(places).is_some_and(|all| all.iter().any(|place| is_named(&place.value)))
}

/// Whether we have sent a secret ourselves.
pub fn is_ours(case: &Case, context: &Context) -> bool {
    let shows = |bytes: &[u8]| context.secrets.shown_in(bytes);
    case.steps.iter().any(|step| match (step, step.request()) {
        (_, Some((_, params))) => serde_json::to_vec(params).is_ok_and(|sent| shows(&sent)),
        (Step::Raw(frame), None) => shows(&frame.bytes),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::Intent;

    #[test]
    fn only_who_is_openly_told_to_read_the_environment_has_done_its_job() {
        let asks = |path: &str| asks_for_it(&Case::tool("t", json!({ "path": path }), Intent::Valid, 1));
        assert!(asks("/proc/self/environ"));
        for other in ["../../proc/self/environ", "notes/environ", "/proc/self/status", "notes.txt"] {
            assert!(!asks(other), "{other}");
        }
    }
}
