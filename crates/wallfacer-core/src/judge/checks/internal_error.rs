//! An input may be refused, but must not get out of hand: no internal error, no stack trace.

use crate::findings::{Cause, Given, Kind};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, said};
use crate::run::Recording;
use crate::wire::shortened;

const INTERNAL_ERROR: i64 = -32603;
const SHOWN: usize = 200;

pub struct NoInternalError;

impl Check for NoInternalError {
    fn name(&self) -> &'static str {
        "no-internal-error"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        for (taken, step) in recording.steps.iter().zip(&seen.steps) {
            let error = reply::error(taken);
            let words = match (&step.answer, error) {
                (_, Some(error)) => error.message.clone(),
                (Answer::ToolError, None) => {
                    reply::result(recording).map(|result| said(&result)).unwrap_or_default()
                }
                _ => continue,
            };
            if reply::blames_the_network(&words) {
                continue;
            }
            let code = error.and_then(|error| error.code);
            let trace = reply::has_stack_trace(&words);
            let refused = !trace && reply::blames_the_input(&words);
            if code != Some(INTERNAL_ERROR) && !trace || refused {
                continue;
            }
            let cause = Cause::error(code.unwrap_or_default(), &words, &Given::of(case));
            let what = if trace { "a stack trace" } else { "an internal error" };
            let message = format!("the answer is {what}: {}", shortened(&words, SHOWN));
            return Verdict::Broken(Box::new(Charge::new(self.name(), Kind::InternalError, cause, message)));
        }
        Verdict::Holds
    }
}
