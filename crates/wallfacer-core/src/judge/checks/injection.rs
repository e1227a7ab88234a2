//! What was put into an argument must stay data. Judged by what the server did, as the kernel saw it; that a payload is
//! repeated in a reply proves nothing.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use serde_json::Value;
use wallfacer_process::jail::{Change, Effect, Entry};
use wallfacer_process::trace::{Address, Event, Kind as Deed, Program, Transport};

use super::deed::{line, paths};
use super::reply;
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Aim, Case, Injection, Step, places};
use crate::run::{Recording, Taken};
use crate::target::Severity;
use crate::world::Traced;

/// Deeds that are shown as evidence.
const MAX_SHOWN: usize = 5;

pub struct NoInjection;

impl Check for NoInjection {
    fn name(&self) -> &'static str {
        "no-injection"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let Some(injection) = case.intent.injection().filter(|injection| !injection.aim.is_measured()) else {
            return Verdict::Holds;
        };
        if !recording.steps.iter().any(|taken| taken.traced.is_some()) {
            return Verdict::Unknown("nobody watched what the server did".to_owned());
        }
        // Where nothing was declared there is nothing to leave: that is worth a note, and no more.
        if matches!(injection.aim, Aim::Reach { declared: false, .. }) {
            return Verdict::Holds;
        }
        match proof(case, injection, recording) {
            Some(proof) => Verdict::Broken(Box::new(self.charge(injection, proof))),
            None => Verdict::Holds,
        }
    }
}

impl NoInjection {
    fn charge(&self, injection: &Injection, proof: Vec<String>) -> Charge {
        let Injection { at, way, aim, .. } = injection;
        let (effect, weakness) = told(aim);
        let cause = Cause::rule(self.name(), Some(&format!("{} at {}", aim.class(), starred(at))));
        let message = format!("through `{at}`, {effect}; it was given {way}");
        let mut charge = Charge::new(self.name(), Kind::Injection, cause, message);
        charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: weakness.to_owned() }];
        charge.severity = match aim {
            Aim::Connect { meant: true, .. } => Some(Severity::Medium),
            _ => None,
        };
        if matches!(aim, Aim::Connect { meant: true, .. }) {
            charge.details =
                "To fetch what it is told is this tool's job, so this weighs less; but addresses that only \
                              this machine or its network can reach should be refused."
                    .to_owned();
        }
        charge.with("what the kernel saw", proof.join("\n"))
    }
}

/// The effect in words, and the number of the weakness.
fn told(aim: &Aim) -> (String, &'static str) {
    match aim {
        Aim::Execute { .. } => ("the server executes a program of the caller's choice".to_owned(), "CWE-78"),
        Aim::Pass { .. } => {
            ("a value becomes an option of a program that the server runs".to_owned(), "CWE-88")
        }
        Aim::Reach { scope, outside, .. } => {
            let text = format!("the server leaves {} and reaches {}", scope.display(), outside.display());
            (text, "CWE-22")
        }
        Aim::Connect { .. } => ("the server connects to an inner address".to_owned(), "CWE-918"),
        Aim::Change { .. } => ("a tool that says it only reads changes something".to_owned(), "CWE-89"),
        Aim::Grow | Aim::Inflate => ("what a call takes grows".to_owned(), "CWE-400"),
    }
}

/// What shows that the aim was met; none where nothing does.
pub fn proof(case: &Case, injection: &Injection, recording: &Recording) -> Option<Vec<String>> {
    let seen = recording.steps.iter().filter_map(|taken| Some((taken, taken.traced.as_ref()?)));
    let mut lines: Vec<String> =
        seen.flat_map(|(taken, traced)| deeds(case, injection, taken, traced)).collect();
    if let Aim::Change { shows: Some(shown), .. } = &injection.aim {
        let later = recording.steps.iter().skip(1);
        let told = later.filter(|taken| says(taken, shown));
        lines.extend(
            told.map(|_| format!("a later call is answered with {shown}, which only the change brought in")),
        );
    }
    lines.truncate(MAX_SHOWN);
    (!lines.is_empty()).then_some(lines)
}

/// What one step shows.
fn deeds(case: &Case, injection: &Injection, taken: &Taken, traced: &Traced) -> Vec<String> {
    let own = || traced.events.iter().filter(|event| traced.call.is_some() && event.call == traced.call);
    let shown =
        |is: &dyn Fn(&Event) -> bool| own().filter(|event| is(event)).map(line).collect::<Vec<String>>();
    match &injection.aim {
        Aim::Execute { program } => shown(&|event| executes(event, program)),
        Aim::Pass { option, file } => shown(&|event| passes(event, option) || makes(event, file)),
        Aim::Reach { name, .. } if !names(case, name) => Vec::new(),
        Aim::Reach { outside, token, .. } => {
            let mut lines = shown(&|event| reaches(event, outside));
            let told = format!("the reply holds what stands in {}", outside.display());
            lines.extend(says(taken, token).then_some(told));
            lines
        }
        Aim::Connect { addresses, .. } => shown(&|event| connects(event, addresses)),
        Aim::Change { known, .. } => {
            let other =
                traced.changes.iter().filter(|change| is_change(change) && !known.contains(&change.path));
            other.map(|change| format!("{:?}: {}", change.effect, change.path.display())).collect()
        }
        Aim::Grow | Aim::Inflate => Vec::new(),
    }
}

fn says(taken: &Taken, text: &str) -> bool {
    reply::message(taken).is_some_and(|message| contains(&message.bytes, text.as_bytes()))
}

fn executes(event: &Event, program: &str) -> bool {
    let Deed::Execute(executed) = &event.kind else { return false };
    executed.location.path().file_name().is_some_and(|name| name == program)
}

/// Whether a program got our text as an option: a word of its own, before any `--`, and not what an option before it takes.
fn passes(event: &Event, option: &str) -> bool {
    let Deed::Execute(Program { arguments, .. }) = &event.kind else { return false };
    let Some(index) = arguments.iter().skip(1).position(|argument| argument == option).map(|index| index + 1)
    else {
        return false;
    };
    let before = &arguments[..index];
    let ended = before.iter().skip(1).any(|argument| argument == "--");
    let taken =
        before.last().filter(|_| index > 1).is_some_and(|last| takes_a_value(&last.to_string_lossy()));
    !ended && !taken
}

/// An option without a value of its own may take the next word for it.
fn takes_a_value(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && !word.contains('=')
}

fn makes(event: &Event, file: &Path) -> bool {
    let Deed::Open { location, access } = &event.kind else { return false };
    event.outcome.succeeded() && access.create && location.path() == file
}

/// Whether a file or what lies below it is opened, made, changed or taken away; to look whether it is there is not enough.
fn reaches(event: &Event, outside: &Path) -> bool {
    let opens = match &event.kind {
        Deed::Open { access, .. } => !access.place_only,
        Deed::Execute(_) | Deed::Connect { .. } | Deed::Bind { .. } => false,
        _ => true,
    };
    opens && event.outcome.succeeded() && paths(&event.kind).iter().any(|path| path.starts_with(outside))
}

/// Whether a call of the case speaks of it.
fn names(case: &Case, name: &str) -> bool {
    let said = |step: &Step| match step {
        Step::Call { params, .. } => {
            places(&Value::Object(params.clone())).iter().any(|place| place.value.contains(name))
        }
        _ => false,
    };
    case.steps.iter().any(said)
}

fn connects(event: &Event, addresses: &[SocketAddr]) -> bool {
    let Deed::Connect { address: Address::Inet(address), socket, .. } = &event.kind else { return false };
    // To connect a datagram socket sends nothing; resolvers do so to find out about routes.
    let stream = socket.is_some_and(|socket| socket.transport == Transport::Stream);
    let plain = |address: &SocketAddr| (address.ip().to_canonical(), address.port());
    stream && addresses.iter().any(|wanted| plain(wanted) == plain(address) || is_loop(wanted, address))
}

/// All of 127.0.0.0/8 is this machine.
fn is_loop(wanted: &SocketAddr, address: &SocketAddr) -> bool {
    let loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
    loopback(wanted.ip()) && loopback(address.ip()) && wanted.port() == address.port()
}

/// Whether what was there is other than before; new files may be caches.
fn is_change(change: &Change) -> bool {
    let fleeting = ["/dev", "/proc", "/run"].iter().any(|place| change.path.starts_with(place));
    let kept = matches!(change.effect, Effect::Modified | Effect::Deleted | Effect::Replaced);
    let file = matches!(change.entry, Entry::File | Entry::Nothing);
    kept && file && !fleeting && !is_journal(&change.path)
}

/// What databases write beside themselves also when they only read.
fn is_journal(path: &Path) -> bool {
    let name = path.to_string_lossy();
    ["-shm", "-wal", "-journal", ".lock", ".log"].iter().any(|ending| name.ends_with(ending))
}

fn contains(bytes: &[u8], token: &[u8]) -> bool {
    !token.is_empty() && bytes.windows(token.len()).any(|window| window == token)
}

/// The place in a list is no part of a cause.
fn starred(at: &str) -> String {
    let starred =
        at.split('/').map(|part| match !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => "*",
            false => part,
        });
    starred.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
