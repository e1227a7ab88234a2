//! What the server sends must be messages, and answers to what was asked.

use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Intent, Step};
use crate::run::Recording;
use crate::wire::{Fault, Faults, sample};

pub struct KeepsToTheProtocol;

impl Check for KeepsToTheProtocol {
    fn name(&self) -> &'static str {
        "keeps-to-the-protocol"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        // A server that is gone may leave half a line behind; the crash says it all.
        if seen.steps.iter().any(|step| matches!(step.answer, Answer::Gone { .. })) {
            return Verdict::Holds;
        }
        // What strains a reader, by its depth or size, may rightly be answered as unreadable.
        let straining = matches!(case.intent, Intent::Adversarial { .. }) && is_parse_error(recording);
        let malformed_frames = straining || matches!(case.intent, Intent::Frame(_));
        let mut found = Faults::default();
        let all = seen.steps.iter().flat_map(|step| step.faults.iter());
        all.filter(|fault| is_wrong(*fault, malformed_frames)).for_each(|fault| found.add(fault));
        if answers_notification(case, recording) {
            found.add(Fault::NoId);
        }
        if found.is_empty() {
            return Verdict::Holds;
        }
        let message = format!("the server sent {found}");
        let charge = Charge::new(self.name(), Kind::ProtocolError, Cause::faults(&found), message);
        Verdict::Broken(Box::new(charge.with("sent", example(recording))))
    }
}

/// Whether something came back for well-formed notifications, which nobody answers.
fn answers_notification(case: &Case, recording: &Recording) -> bool {
    let only_notifications = case.steps.iter().all(|step| match step {
        Step::Raw(frame) => is_notification(&frame.bytes),
        step => *step == Step::Probe,
    });
    let mut strays = recording.steps.iter().flat_map(|step| step.strays.faults().iter().collect::<Vec<_>>());
    only_notifications && strays.any(|fault| fault == Fault::NoId)
}

fn is_notification(bytes: &[u8]) -> bool {
    let Ok(serde_json::Value::Object(message)) = serde_json::from_slice(bytes) else { return false };
    message.get("jsonrpc").is_some_and(|version| version == "2.0")
        && message.get("method").is_some_and(|method| method.is_string())
        && !message.contains_key("id")
        && message.get("params").is_none_or(|params| params.is_object())
}

fn is_parse_error(recording: &Recording) -> bool {
    const UNREADABLE: [i64; 2] = [-32700, -32600];
    let mut errors = recording.steps.iter().filter_map(super::reply::error);
    errors.any(|error| error.code.is_some_and(|code| UNREADABLE.contains(&code)))
}

/// Faults that are nobody's but the server's. A malformed frame of ours may be answered without an id, or with its own.
fn is_wrong(fault: Fault, malformed_frames: bool) -> bool {
    match fault {
        Fault::NoId | Fault::UnknownId | Fault::DuplicateReply | Fault::Batch | Fault::BrokenStream => {
            !malformed_frames
        }
        Fault::WrongContentType => !malformed_frames,
        Fault::NotUtf8
        | Fault::NotJson
        | Fault::SplitOverLines
        | Fault::NotAnObject
        | Fault::WrongVersion
        | Fault::ResultAndError
        | Fault::NeitherResultNorError
        | Fault::IdOfAnotherType
        | Fault::BadError
        | Fault::Redirect => true,
        // Odd, but JSON; late, which is slow; or a matter of limits.
        Fault::Unterminated
        | Fault::Oversized
        | Fault::TooDeep
        | Fault::DuplicateKey
        | Fault::BigNumber
        | Fault::LoneSurrogate
        | Fault::LateReply
        | Fault::HttpStatus(_) => false,
    }
}

fn example(recording: &Recording) -> String {
    let strays = recording.steps.iter().flat_map(|step| &step.strays.examples);
    let stray = strays.map(|stray| sample(&stray.head)).next();
    let said =
        recording.steps.iter().find_map(|step| super::reply::message(step)).map(|said| sample(&said.bytes));
    stray.or(said).unwrap_or_default()
}
