//! The content of what was planted must not come back, nor go out: in a reply, in a notification, or in what is sent to
//! anyone. Encoded content counts too. A client that shows its login to the host that it is made for leaks nothing.

use std::collections::BTreeSet;
use std::path::Path;

use wallfacer_process::sink::{Flow, Kind as FlowKind};

use super::business::{Business, Said, is_login};
use super::sent::sent;
use super::{all_named, declared, is_asked_for, is_met_on_a_walk, said_in_all};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::judge::watched::Watched;
use crate::observe::{Observation, Whose};
use crate::plan::{Case, Subject};
use crate::run::{Recording, Taken};
use crate::target::Severity;

pub struct KeepsWhatIsPlanted;

impl Check for KeepsWhatIsPlanted {
    fn name(&self) -> &'static str {
        "keeps-what-is-planted"
    }

    /// Secrets in variables are planted too: ours, and the look-alikes of the user's.
    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let Some(watched) = &context.watched else { return Verdict::Holds };
        let in_all = said_in_all(context);
        let of_tool = declared(case, context).map_or("", |declared| &declared.described);
        let said = Said { of_tool, in_all: &in_all };
        let found = recording.steps.iter().find_map(|taken| sent_out(case, taken, &said, watched));
        let found =
            found.or_else(|| recording.steps.iter().find_map(|taken| came_back(case, taken, watched)));
        let written = || shown(watched.tokens.find_all(&seen.stderr), Where::Stderr);
        let Some((canaries, place)) = found.or_else(written) else {
            let sent = sent(self.name(), case, recording, context);
            return sent.map_or(Verdict::Holds, |charge| Verdict::Broken(Box::new(charge)));
        };
        Verdict::Broken(Box::new(charge(self.name(), case, &canaries, place, watched)))
    }
}

fn charge(
    check: &'static str,
    case: &Case,
    canaries: &BTreeSet<&Path>,
    place: Where,
    watched: &Watched,
) -> Charge {
    let secrets = all_named(watched, canaries.iter().copied());
    let whose = case.tool_name().map(|tool| format!(" of `{tool}`")).unwrap_or_default();
    let (happened, part) = match &place {
        Where::Out(host) => (format!("was sent to `{host}`"), "outgoing bytes"),
        Where::Reply => ("appears in a reply".to_owned(), "a reply"),
        Where::Notice => ("appears in a notification".to_owned(), "a notification"),
        Where::Stderr => ("appears on stderr".to_owned(), "stderr"),
    };
    let cause = Cause::rule(check, Some(part));
    let message = format!("what stands in {secrets} {happened}");
    let mut charge = Charge::new(check, Kind::SecretLeak, cause, message);
    let paths: Vec<String> = canaries.iter().map(|canary| watched.places.shown(canary)).collect();
    charge = charge.with("canary", paths.join("\n")).with("shown in", format!("{part}{whose}"));
    if let Where::Out(host) = place {
        // What has left the machine is gone for good.
        charge.severity = Some(Severity::Critical);
        charge = charge.with("host", host);
    }
    charge
}

/// Where a secret turned up.
enum Where {
    Out(String),
    Reply,
    Notice,
    Stderr,
}

type Shown<'a> = (BTreeSet<&'a Path>, Where);

fn shown<'a>(canaries: BTreeSet<&'a Path>, place: Where) -> Option<Shown<'a>> {
    (!canaries.is_empty()).then_some((canaries, place))
}

fn sent_out<'a>(case: &Case, taken: &Taken, said: &Said<'_>, watched: &'a Watched) -> Option<Shown<'a>> {
    let traced = taken.traced.as_ref()?;
    let of_server = case.subject == Subject::Server;
    let mut ours = traced
        .flows
        .iter()
        .filter(|flow| of_server || flow.call.is_some() && flow.call == traced.call)
        .peekable();
    ours.peek()?;
    let whose = if of_server { Whose::Background } else { Whose::Call };
    let effects = watched.effects(taken, whose).unwrap_or_default();
    let read: BTreeSet<&Path> = effects.secrets().map(|touch| touch.path.as_path()).collect();
    ours.find_map(|flow| {
        let mut texts: Vec<&[u8]> = vec![&flow.sent.first];
        if let FlowKind::Dns { question, .. } = &flow.kind {
            texts.push(question.as_bytes());
        }
        texts.extend(flow.http.iter().map(|request| request.path.as_bytes()));
        let mut canaries: BTreeSet<&Path> =
            texts.iter().flat_map(|text| watched.tokens.find_all(text)).collect();
        // A part of what was just read is enough to know it by.
        canaries.extend(texts.iter().flat_map(|text| watched.tokens.parts_of(text, &read)));
        canaries.retain(|canary| {
            let login = flow.name.as_ref().is_some_and(|name| is_login(canary, name));
            !(login && Business::of(canary, said, &effects).is_some())
        });
        shown(canaries, Where::Out(host(flow)))
    })
}

/// What a call was given by name, or what lay on its way through a directory, it may show.
fn came_back<'a>(case: &Case, taken: &Taken, watched: &'a Watched) -> Option<Shown<'a>> {
    let effects = watched.effects(taken, Whose::Call).unwrap_or_default();
    let unasked = |found: BTreeSet<&'a Path>| -> BTreeSet<&'a Path> {
        let asked = |path: &Path| is_asked_for(case, path, watched) || is_met_on_a_walk(path, &effects);
        found.into_iter().filter(|path| !asked(path)).collect()
    };
    let said =
        reply::message(taken).map(|message| watched.tokens.find_all(&message.bytes)).unwrap_or_default();
    let noticed = || taken.notices.iter().flat_map(|notice| watched.tokens.find_all(notice)).collect();
    shown(unasked(said), Where::Reply).or_else(|| shown(unasked(noticed()), Where::Notice))
}

pub(super) fn host(flow: &Flow) -> String {
    let name = flow.name.clone().unwrap_or_else(|| flow.address.ip().to_string());
    format!("{name}:{}", flow.address.port())
}
