//! The content of what was planted must not come back, nor go out: in a reply, in a notification, or in what is sent to
//! anyone. Encoded content counts too. A client that shows its login to the host that it is made for leaks nothing.

use std::path::Path;

use wallfacer_process::sink::{Flow, Kind as FlowKind};

use super::business::{Business, is_login};
use super::declared;
use super::sent::sent;
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::judge::watched::Watched;
use crate::observe::{Observation, Whose};
use crate::plan::{Case, Subject};
use crate::run::{Recording, Taken};

pub struct KeepsWhatIsPlanted;

impl Check for KeepsWhatIsPlanted {
    fn name(&self) -> &'static str {
        "keeps-what-is-planted"
    }

    /// Secrets in variables are planted too: ours, and the look-alikes of the user's.
    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let Some(watched) = &context.watched else { return Verdict::Holds };
        let said = declared(case, context).map_or("", |declared| &declared.said);
        let said = format!("{said} {}", context.server_said);
        let found = recording.steps.iter().find_map(|taken| sent_out(case, taken, &said, watched));
        let found = found.or_else(|| recording.steps.iter().find_map(|taken| came_back(taken, watched)));
        let written = || Some((watched.tokens.find(&seen.stderr)?, Where::Stderr));
        let Some((canary, place)) = found.or_else(written) else {
            let sent = sent(self.name(), case, recording, context);
            return sent.map_or(Verdict::Holds, |charge| Verdict::Broken(Box::new(charge)));
        };
        let shown = watched.places.shown(canary);
        let (message, part) = match &place {
            Where::Out(host) => (format!("what stands in `{shown}` was sent to `{host}`"), "outgoing bytes"),
            Where::Reply => (format!("what stands in `{shown}` appears in a reply"), "a reply"),
            Where::Notice => {
                (format!("what stands in `{shown}` appears in a notification"), "a notification")
            }
            Where::Stderr => (format!("what stands in `{shown}` appears on stderr"), "stderr"),
        };
        let cause = Cause::rule(self.name(), Some(part));
        let charge = Charge::new(self.name(), Kind::SecretLeak, cause, message);
        let host = if let Where::Out(host) = place { host } else { String::new() };
        Verdict::Broken(Box::new(charge.with("canary", shown).with("host", host)))
    }
}

/// Where a secret turned up.
enum Where {
    Out(String),
    Reply,
    Notice,
    Stderr,
}

fn sent_out<'a>(case: &Case, taken: &Taken, said: &str, watched: &'a Watched) -> Option<(&'a Path, Where)> {
    let traced = taken.traced.as_ref()?;
    let of_server = case.subject == Subject::Server;
    let mut ours =
        traced.flows.iter().filter(|flow| of_server || flow.call.is_some() && flow.call == traced.call);
    ours.find_map(|flow| {
        let asked = match &flow.kind {
            FlowKind::Dns { question, .. } => watched.tokens.find(question.as_bytes()),
            FlowKind::Tcp | FlowKind::Udp => None,
        };
        let path = flow.http.as_ref().and_then(|request| watched.tokens.find(request.path.as_bytes()));
        let canary = watched.tokens.find(&flow.sent.first).or(asked).or(path)?;
        let login = flow.name.as_ref().is_some_and(|name| is_login(canary, name));
        let whose = if of_server { Whose::Background } else { Whose::Call };
        let effects = watched.effects(taken, whose).filter(|_| login);
        let logs_in = effects.is_some_and(|effects| Business::of(canary, said, &effects).is_some());
        (!logs_in).then(|| (canary, Where::Out(host(flow))))
    })
}

fn came_back<'a>(taken: &Taken, watched: &'a Watched) -> Option<(&'a Path, Where)> {
    let said = reply::message(taken).and_then(|message| watched.tokens.find(&message.bytes));
    let noticed = || taken.notices.iter().find_map(|notice| watched.tokens.find(notice));
    said.map(|canary| (canary, Where::Reply)).or_else(|| Some((noticed()?, Where::Notice)))
}

pub(super) fn host(flow: &Flow) -> String {
    let name = flow.name.clone().unwrap_or_else(|| flow.address.ip().to_string());
    format!("{name}:{}", flow.address.port())
}
