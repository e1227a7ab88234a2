//! The server must outlive the case.

use wallfacer_process::{Ending, Status};

use crate::findings::{Cause, Kind};
use crate::judge::blame::excuse_of_end;
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Disturbance, Step};
use crate::run::Recording;
use crate::wire::last_lines;

/// SIGTERM, with which a program may end itself.
const TERMINATE: i32 = 15;

/// One that ends because it was told to is not a crash, and neither is a tool that says it ends the server.
pub struct NoCrash;

impl Check for NoCrash {
    fn name(&self) -> &'static str {
        "no-crash"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        if case
            .steps
            .iter()
            .any(|step| matches!(step, Step::Signal(_) | Step::CloseInput) || is_told_apart(step))
        {
            return Verdict::Holds;
        }
        let gone = seen.steps.iter().find_map(|step| match &step.answer {
            Answer::Gone { ending } => Some(*ending),
            _ => None,
        });
        let Some(ending) = gone else { return self.judge_parting(recording, seen) };
        let facts = case.tool_name().and_then(|tool| context.tools.get(tool));
        let means_to = facts.is_some_and(|facts| facts.declared.ends_server);
        if means_to && ending.is_none_or(|ending| ends_in_peace(ending.status)) {
            return Verdict::Holds;
        }
        if ended_as_told(case, seen, context).is_some() {
            return Verdict::Holds;
        }
        let (status, how) = describe(ending);
        let said = String::from_utf8_lossy(&seen.stderr);
        // An answer that breaks it is a matter of the probe that breaks answers on purpose.
        let fetched =
            recording.steps.last().filter(|taken| taken.fetched.as_ref().is_some_and(|all| !all.is_empty()));
        if let Some(why) = fetched.and_then(|taken| excuse_of_end(&said, case, taken)) {
            return Verdict::Unknown(why);
        }
        let cause = Cause::exit(ending.map(|ending| ending.status), &said);
        let company = match case.in_flight() {
            0 | 1 => String::new(),
            calls => format!(" with {calls} calls in flight at once"),
        };
        let why = if ran_out_of_memory(&said) { ", out of memory" } else { "" };
        let charge = Charge::new(self.name(), Kind::Crash, cause, format!("the server {how}{why}{company}"));
        Verdict::Broken(Box::new(charge.with("exit", status).with("stderr", last_lines(&seen.stderr))))
    }
}

/// Whether what becomes of the server is told by a check of its own.
fn is_told_apart(step: &Step) -> bool {
    let Step::Disturb(disturbance) = step else { return false };
    matches!(**disturbance, Disturbance::Services(_) | Disturbance::KillLauncher)
}

impl NoCrash {
    fn judge_parting(&self, recording: &Recording, seen: &Observation) -> Verdict {
        let Some((ending, cause)) = silent_end(recording, seen) else { return Verdict::Holds };
        let (status, how) = describe(Some(ending));
        let message = format!("the server stopped answering (once its input was closed, it {how})");
        let charge = Charge::new(self.name(), Kind::Crash, cause, message);
        Verdict::Broken(Box::new(charge.with("exit", status).with("stderr", last_lines(&seen.stderr))))
    }
}

/// Signals that programs are ended with by others: hang up, interrupt, quit, kill and terminate.
const ENDING_SIGNALS: [i32; 5] = [1, 2, 3, 9, TERMINATE];

/// What is worth knowing where a tool whose job is to end processes was told of one, and ended the server: it has done
/// its job.
pub fn ended_as_told(case: &Case, seen: &Observation, context: &Context) -> Option<String> {
    let tool = case.tool_name()?;
    let facts = context.tools.get(tool)?;
    let gone = seen.steps.iter().find_map(|step| match &step.answer {
        Answer::Gone { ending } => Some(*ending),
        _ => None,
    })?;
    // The end may come later than the answer, so more may be waited for behind the call.
    let params = case.steps.iter().filter_map(Step::request).map(|(_, params)| params);
    let arguments = params.filter_map(|params| params.get("arguments")?.as_object());
    let given = arguments
        .flat_map(serde_json::Map::values)
        .any(|value| value.is_number() || value.as_str().is_some_and(|text| !text.is_empty()));
    let by_signal = match gone?.status {
        Status::Signalled { signal, .. } => ENDING_SIGNALS.contains(&signal),
        // Who catches the signal ends with its number, or in peace.
        Status::Exited(code) => code == 0 || ENDING_SIGNALS.contains(&(code - 128)),
        Status::Unknown => false,
    };
    (facts.declared.ends_processes && given && by_signal)
        .then(|| "told of its own process, it ended the server, which is its job".to_owned())
}

/// How a server ended that answered nothing any more, and what of. One whose loop died of what it was sent may stay until
/// its input is closed; that it died is seen by the place of the failure, which it tells then.
pub(super) fn silent_end(recording: &Recording, seen: &Observation) -> Option<(Ending, Cause)> {
    let parting = recording.steps.iter().find_map(|step| step.parting.as_ref());
    let ending = parting?.ending.filter(|ending| !ends_in_peace(ending.status))?;
    let cause = Cause::exit(Some(ending.status), &String::from_utf8_lossy(&seen.stderr));
    cause.names_its_place().then_some((ending, cause))
}

/// Whether a program says at its end that there was no memory left.
fn ran_out_of_memory(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    ["out of memory", "cannot allocate memory", "memoryerror", "memory allocation of"]
        .iter()
        .any(|sign| said.contains(sign))
}

/// As a server ends that was asked to.
fn ends_in_peace(status: Status) -> bool {
    match status {
        Status::Exited(code) => code == 0,
        Status::Signalled { signal, .. } => signal == TERMINATE,
        Status::Unknown => false,
    }
}

/// The status in a word that stays the same, and in words for a person.
fn describe(ending: Option<Ending>) -> (String, String) {
    match ending.map(|ending| ending.status) {
        Some(Status::Exited(code)) => (format!("code {code}"), format!("exited with code {code}")),
        Some(Status::Signalled { signal, .. }) => {
            (format!("signal {signal}"), format!("was killed by signal {signal}"))
        }
        Some(Status::Unknown) => {
            ("unknown".to_owned(), "ended when the process that watches over it was killed".to_owned())
        }
        None => ("closed".to_owned(), "closed the connection".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::catalogue::{Catalogue, Entry, Listing, Tool};
    use crate::observe::Seen;
    use crate::plan::Intent;
    use crate::target::Version;
    use crate::wire::Faults;

    fn told(arguments: Value, more: &[Step]) -> bool {
        let listed =
            json!({ "name": "end_task", "description": "Ends a process by its number.", "inputSchema": {} });
        let tool = Tool::read(listed.as_object().unwrap()).unwrap();
        let tools = Listing { entries: vec![tool], ..Listing::default() };
        let context = Context::new(&Catalogue { tools, ..Catalogue::default() }, Version::V2025_11_25);
        let mut case = Case::tool("end_task", arguments, Intent::Valid, 1);
        case.steps.extend_from_slice(more);
        let status = Status::Signalled { signal: TERMINATE, core_dumped: false };
        let answer =
            Answer::Gone { ending: Some(Ending { status, after: Duration::ZERO, max_rss_bytes: None }) };
        let seen = Seen { answer, faults: Faults::default(), took: Duration::ZERO };
        ended_as_told(&case, &Observation { steps: vec![seen], stderr: Vec::new() }, &context).is_some()
    }

    #[test]
    fn what_a_program_says_of_its_memory_is_told() {
        assert!(ran_out_of_memory("FATAL ERROR: Reached heap limit - JavaScript heap out of memory"));
        assert!(!ran_out_of_memory("the memory is fine"));
    }

    #[test]
    fn a_server_that_ends_some_time_after_it_was_told_to_has_done_its_job() {
        assert!(told(json!({ "pid": 7 }), &[]));
        assert!(told(json!({ "pid": 7 }), &[Step::Pause(300), Step::Probe]));
        assert!(!told(json!({}), &[]));
    }
}
