//! What the server sends must be messages, and answers to what was asked.

use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Intent, Step};
use crate::run::Recording;
use crate::target::Severity;
use crate::wire::{Fault, Faults, Incoming, Stray, Strays, sample};

/// The step that is not asked for: what the server does until it can be spoken to.
const START: &str = "start";
/// What the libraries of some languages write for numbers that JSON does not have.
const NOT_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
/// Faults that mean that something other than messages was written to stdout.
const NOISE: [Fault; 4] = [Fault::NotUtf8, Fault::NotJson, Fault::SplitOverLines, Fault::NotAnObject];
/// What single lines of a text that is no message may look like.
const PIECES: [Fault; 7] = [
    Fault::NotUtf8,
    Fault::SplitOverLines,
    Fault::NotAnObject,
    Fault::WrongVersion,
    Fault::NeitherResultNorError,
    Fault::NoId,
    Fault::Batch,
];

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
        // A case may start the server again; what it writes then is the same.
        let mut starts = recording.steps.iter().filter(|step| step.method == START);
        if let Some(charge) = starts.find_map(|started| startup_noise(&started.strays)) {
            return Verdict::Broken(Box::new(charge));
        }
        // What strains a reader, by its depth or size, may rightly be answered as unreadable.
        let straining = matches!(case.intent, Intent::Adversarial { .. }) && is_parse_error(recording);
        let malformed_frames = straining || matches!(case.intent, Intent::Frame(_));
        let mut found = Faults::default();
        let all = seen.steps.iter().flat_map(|step| step.faults.iter());
        all.filter(|fault| is_wrong(*fault, malformed_frames)).for_each(|fault| found.add(fault));
        if found.has(Fault::NotJson) {
            found = without_pieces(&found, recording);
        }
        if answers_notification(case, recording) {
            found.add(Fault::NoId);
        }
        if found.is_empty() {
            return Verdict::Holds;
        }
        let message = format!("the server sent {found}");
        let mut charge = Charge::new(self.name(), Kind::ProtocolError, Cause::faults(&found), message);
        charge.severity = weight(case, recording, &found);
        Verdict::Broken(Box::new(charge.with("sent", example(recording))))
    }
}

/// The faults of what was sent, where other text came too: lines of it that happen to be JSON are no broken messages, and which
/// of them are is a matter of what was written.
fn without_pieces(found: &Faults, recording: &Recording) -> Faults {
    let answers: Vec<&Incoming> = recording.steps.iter().filter_map(super::reply::message).collect();
    let is_of_text =
        |fault: Fault| PIECES.contains(&fault) && !answers.iter().any(|answer| answer.faults.has(fault));
    let mut left = Faults::default();
    found.iter().filter(|fault| !is_of_text(*fault)).for_each(|fault| left.add(fault));
    left
}

/// What is held against a server that writes something other than messages to stdout before it is asked anything. Many
/// clients skip such lines and some give up, so it weighs less than the same in the middle of a call.
pub fn startup_noise(strays: &Strays) -> Option<Charge> {
    let said = |stray: &&Stray| {
        NOISE.iter().any(|fault| stray.faults.has(*fault)) && !stray.head.trim_ascii().is_empty()
    };
    let first = strays.examples.iter().find(said)?;
    let lines: u64 = NOISE.iter().filter_map(|fault| strays.counts.get(fault)).sum();
    let what = match lines {
        1 => "a line that is no message".to_owned(),
        _ => format!("{lines} lines that are no messages"),
    };
    let message = format!("at its start the server writes {what} to stdout: `{}`", sample(&first.head));
    // One cause whatever is written, or the name of a version in a banner would make another bug of it.
    let cause = Cause::rule(KeepsToTheProtocol.name(), Some("noise at start")).server_wide();
    let mut charge = Charge::new(KeepsToTheProtocol.name(), Kind::ProtocolError, cause, message);
    charge.severity = Some(Severity::Medium);
    charge.details = "Over stdio, stdout carries messages of the protocol and nothing else.".to_owned();
    charge.references =
        vec![Reference { kind: ReferenceKind::Spec, text: "basic/transports#stdio".to_owned() }];
    Some(charge.with("sent", sample(&first.head)))
}

/// Who sends a malformed frame can expect little of the answer. One that only gives back the `NaN` that was sent for an
/// id is worth a word; other noise that a frame brings about harms nobody but who sent it.
fn weight(case: &Case, recording: &Recording, found: &Faults) -> Option<Severity> {
    let noise = found.iter().all(|fault| NOISE.contains(&fault));
    if !matches!(case.intent, Intent::Frame(_)) || !noise {
        return None;
    }
    let mut strays = recording.steps.iter().flat_map(|step| &step.strays.examples).peekable();
    let echoes = strays.peek().is_some() && strays.all(|stray| is_echo(case, &stray.head));
    Some(if echoes { Severity::Low } else { Severity::Medium })
}

/// Whether a line is a message but for a number that JSON does not have, and that we sent.
fn is_echo(case: &Case, line: &[u8]) -> bool {
    let sent = |word: &str| {
        case.steps.iter().any(|step| match step {
            Step::Raw(frame) => String::from_utf8_lossy(&frame.bytes).contains(word),
            _ => false,
        })
    };
    let line = String::from_utf8_lossy(line);
    let mended = NOT_NUMBERS
        .iter()
        .filter(|word| sent(word))
        .fold(line.clone().into_owned(), |line, word| line.replace(word, "null"));
    mended != line && serde_json::from_str::<serde_json::Value>(&mended).is_ok()
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::{RawFrame, Subject};
    use crate::run::Taken;
    use serde_json::json;

    fn strays(lines: &[&str]) -> Strays {
        let mut strays = Strays::default();
        for line in lines {
            strays.add(&Incoming::read(bytes::Bytes::copy_from_slice(line.as_bytes()), 64), None);
        }
        strays
    }

    fn frame(sent: &str) -> Case {
        let steps = vec![Step::Raw(RawFrame::new(sent.as_bytes().to_vec(), None))];
        let intent = Intent::Frame("a frame".to_owned());
        Case { subject: Subject::Server, steps, ..Case::tool("", json!({}), intent, 1) }
    }

    fn severity(case: &Case, answered: &[&str]) -> Option<Severity> {
        charged(case, strays(answered))
            .map(|charge| charge.severity.unwrap_or(charge.kind.default_severity()))
    }

    fn charged(case: &Case, strays: Strays) -> Option<Box<Charge>> {
        let taken = Taken { strays, ..Taken::unanswered("raw frame", Duration::ZERO) };
        let recording = Recording { steps: vec![taken], stderr: None };
        let seen = crate::observe::observe(&recording);
        match KeepsToTheProtocol.judge(case, &recording, &seen, &Context::default()) {
            Verdict::Broken(charge) => Some(charge),
            _ => None,
        }
    }

    #[test]
    fn lines_of_a_text_that_look_like_messages_make_no_other_bug_of_it() {
        let call = Case::tool("t", json!({}), Intent::Valid, 1);
        let plain = charged(&call, strays(&["debug: called"])).unwrap();
        for more in [&["[]"][..], &["{\"depth\": 3}", "7"], &["{}", "[1]", "\"x\""]] {
            let lines = [&["debug: called with {"], more].concat();
            assert_eq!(charged(&call, strays(&lines)).unwrap().cause, plain.cause, "{lines:?}");
        }
        // A second answer is one whatever else is written.
        let mut twice = strays(&["debug: called"]);
        let answer = bytes::Bytes::from_static(br#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        twice.add(&Incoming::read(answer, 64), Some(Fault::DuplicateReply));
        let twice = charged(&call, twice).unwrap();
        assert_ne!(twice.cause, plain.cause);
    }

    #[test]
    fn a_banner_at_start_is_one_finding_of_the_server_whatever_it_says() {
        let charge = startup_noise(&strays(&["Server v1.2 running on stdio", "ready"])).unwrap();
        assert_eq!(charge.severity, Some(Severity::Medium));
        insta::assert_snapshot!(charge.message, @"at its start the server writes 2 lines that are no messages to stdout: `Server v1.2 running on stdio`");
        let other = startup_noise(&strays(&["Server v1.3 running on stdio"])).unwrap();
        assert_eq!(other.cause, charge.cause);
        assert!(charge.cause.is_server_wide());
    }

    #[test]
    fn messages_and_white_space_are_no_noise() {
        let message = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
        assert!(startup_noise(&strays(&[message, "  "])).is_none());
        assert!(startup_noise(&Strays::default()).is_none());
    }

    #[test]
    fn what_is_written_at_a_start_is_told_as_that_also_in_the_middle_of_a_case() {
        let start = Taken { strays: strays(&["hello"]), ..Taken::unanswered(START, Duration::ZERO) };
        let list = Taken { awaited: false, ..Taken::unanswered("tools/list", Duration::ZERO) };
        let recording = Recording { steps: vec![list, start], stderr: None };
        let seen = crate::observe::observe(&recording);
        let case = Case { subject: Subject::Server, ..Case::tool("", json!({}), Intent::Example, 1) };
        let verdict = KeepsToTheProtocol.judge(&case, &recording, &seen, &Context::default());
        assert!(matches!(verdict, Verdict::Broken(charge) if charge.severity == Some(Severity::Medium)));
    }

    #[test]
    fn noise_in_a_call_is_high_and_what_we_sent_ourselves_low() {
        let call = Case::tool("t", json!({}), Intent::Valid, 1);
        assert_eq!(severity(&call, &["debug: called"]), Some(Severity::High));
        let echo = r#"{"jsonrpc":"2.0","id":NaN,"error":{"code":-32600,"message":"no"}}"#;
        assert_eq!(
            severity(&frame(r#"{"jsonrpc":"2.0","id":NaN,"method":"ping"}"#), &[echo]),
            Some(Severity::Low)
        );
        assert_eq!(severity(&frame("hello"), &[echo]), Some(Severity::Medium));
        assert_eq!(severity(&frame("hello"), &["SyntaxError: Unexpected token h"]), Some(Severity::Medium));
    }
}
