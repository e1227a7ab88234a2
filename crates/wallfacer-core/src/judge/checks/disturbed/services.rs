//! When a service fails that a tool asks, the call must end in time, with an error that says something, and the server must
//! live on.

use super::{aftermath, all_told, disturbances};
use crate::findings::{Cause, Given, Kind};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Disturbance, Trouble, said};
use crate::run::{Recording, Taken};
use crate::target::Severity;
use crate::wire::{last_lines, shortened};

/// Requests of one call after which it asks again and again.
const MANY: usize = 20;
const SHOWN: usize = 200;

pub struct BearsServices;

impl Check for BearsServices {
    fn name(&self) -> &'static str {
        "bears-failing-services"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        let troubled =
            disturbances(case, recording).find_map(|(place, disturbance, taken)| match disturbance {
                Disturbance::Services(trouble) => Some((place, *trouble, taken)),
                _ => None,
            });
        let Some((place, trouble, made)) = troubled else { return Verdict::Holds };
        if aftermath(made).is_some_and(|made| made.impossible.is_some()) {
            return Verdict::Unknown("the network is not ours".to_owned());
        }
        let (Some(taken), Some(seen_call)) = (recording.steps.get(place + 1), seen.steps.get(place + 1))
        else {
            return Verdict::Holds;
        };
        let asked = taken.fetched.as_ref().map_or(0, Vec::len);
        if asked == 0 && trouble != Trouble::Refuses {
            return Verdict::Unknown("no service was asked".to_owned());
        }
        let charge = match &seen_call.answer {
            Answer::Gone { ending } => {
                let said = String::from_utf8_lossy(&seen.stderr);
                let cause = Cause::exit(ending.map(|ending| ending.status), &said);
                let message = format!("the server exits when a service {}", trouble.in_words());
                let charge = Charge::new(self.name(), Kind::Crash, cause, message);
                Some(charge.with("stderr", last_lines(&seen.stderr)))
            }
            Answer::Silent if taken.kept_waiting > taken.took / 2 => {
                return Verdict::Unknown("the machine was too busy to give the server its time".to_owned());
            }
            Answer::Silent => Some(self.silent(taken, trouble, asked)),
            Answer::ToolError | Answer::Failed { .. } => self.useless(case, taken, trouble),
            _ => None,
        };
        let Some(mut charge) = charge else { return Verdict::Holds };
        charge.needed = Some(vec![place, place + 1]);
        let told = all_told(case, recording, &[place, place + 1]);
        Verdict::Broken(Box::new(charge.with("calls", told)))
    }
}

impl BearsServices {
    fn silent(&self, taken: &Taken, trouble: Trouble, asked: usize) -> Charge {
        let ms = taken.took.as_millis() as u64;
        let seconds = taken.took.saturating_sub(taken.kept_waiting).as_secs();
        let rule = |part: &str| Cause::rule(self.name(), Some(part));
        // Few requests with long pauses come to an end some time.
        let (cause, severity, message) = match trouble {
            _ if asked >= MANY => (
                rule("asks again and again"),
                Severity::Medium,
                format!(
                    "asks a service that {} {asked} times in {seconds} s, and gives no answer",
                    trouble.in_words()
                ),
            ),
            // One client for all services, and so one limit for all tools.
            Trouble::Silent => (
                rule("waits without a limit").server_wide(),
                Severity::Medium,
                format!(
                    "a call waits for ever, or for more than {seconds} s, for a service that does not answer"
                ),
            ),
            _ => (
                rule("gives no answer"),
                Severity::Low,
                format!("gives no answer within {seconds} s when a service {}", trouble.in_words()),
            ),
        };
        let mut charge = Charge::new(self.name(), Kind::Hang { ms }, cause, message);
        charge.severity = Some(severity);
        charge.details = "Give every request to the outside a time limit and few tries, and answer the call with an error when \
                          they are used up."
            .to_owned();
        charge
    }

    fn useless(&self, case: &Case, taken: &Taken, trouble: Trouble) -> Option<Charge> {
        let error = reply::error(taken);
        let words = match error {
            Some(error) => error.message.clone(),
            None => reply::message(taken).and_then(|said_so| said_so.result()).map(|result| said(&result))?,
        };
        if reply::has_stack_trace(&words) {
            let code = error.and_then(|error| error.code).unwrap_or_default();
            let message = format!(
                "the answer is a stack trace when a service {}: {}",
                trouble.in_words(),
                shortened(&words, SHOWN)
            );
            let cause = Cause::error(code, &words, &Given::of(case));
            return Some(Charge::new(self.name(), Kind::InternalError, cause, message));
        }
        if !words.trim().is_empty() {
            return None;
        }
        let message = format!("the answer is an error without a word when a service {}", trouble.in_words());
        let cause = Cause::rule(self.name(), Some("an error without a word"));
        let mut charge = Charge::new(self.name(), Kind::InternalError, cause, message);
        charge.severity = Some(Severity::Low);
        Some(charge)
    }
}
