//! A secret of the server's environment goes to nobody but whom it is for. Whom that is, the name of its variable says, or
//! the make of the secret; or the host is one that the user named, or that the server says it speaks to. Where nobody
//! can tell whom a secret is for, nothing is said of where it goes.

use wallfacer_process::sink::{Flow, Kind as FlowKind};

use super::{declared, planted};
use crate::findings::{Cause, Kind, VARIABLE};
use crate::judge::charge::Charge;
use crate::judge::checks::secret_leak::is_ours;
use crate::judge::context::Context;
use crate::judge::secrets::{Given, Owner};
use crate::judge::upstream::{belongs, registered, services};
use crate::plan::{Case, Subject};
use crate::run::Recording;
use crate::target::Severity;

/// What a check of this name says of a secret that went to somebody whom it is not for.
pub(super) fn sent(
    check: &'static str,
    case: &Case,
    recording: &Recording,
    context: &Context,
) -> Option<Charge> {
    if context.secrets.is_empty() || is_ours(case, context) {
        return None;
    }
    let said = declared(case, context).map_or("", |declared| &declared.said);
    let said = format!("{said} {}", context.server_said);
    let of_server = case.subject == Subject::Server;
    let mut flows = recording.steps.iter().filter_map(|taken| taken.traced.as_ref()).flat_map(|traced| {
        let ours = move |flow: &&Flow| of_server || flow.call.is_some() && flow.call == traced.call;
        traced.flows.iter().filter(ours)
    });
    let (flow, given) = flows.find_map(|flow| Some((flow, astray(flow, &said, context)?)))?;
    let host = planted::host(flow);
    let (what, variable) = match &given.owner {
        Owner::Variable(name) => (format!("the secret in the variable `{name}`"), name.as_str()),
        Owner::Ours | Owner::Unknown => ("a secret from the server's environment".to_owned(), ""),
    };
    let message = format!("{what} was sent to `{host}`, which it is not for");
    let cause = Cause::rule(check, Some("a variable in outgoing bytes"));
    let mut charge = Charge::new(check, Kind::SecretLeak, cause, message);
    // What has left the machine is gone for good.
    charge.severity = Some(Severity::Critical);
    Some(charge.with(VARIABLE, variable.to_owned()).with("host", host))
}

/// The first secret in what was sent that the other side is not to have.
fn astray<'a>(flow: &Flow, said: &str, context: &'a Context) -> Option<&'a Given> {
    let host = flow.name.clone().unwrap_or_else(|| flow.address.ip().to_string());
    let (host, spoken) = match &flow.kind {
        // Whoever asks for a name tells it to everyone on the way; labels are short, so that a secret needs several.
        FlowKind::Dns { question, .. } => {
            (question.trim_end_matches('.').to_ascii_lowercase(), question.replace('.', ""))
        }
        FlowKind::Tcp | FlowKind::Udp => (host.to_ascii_lowercase(), String::new()),
    };
    let path = flow.http.as_ref().map_or("", |request| request.path.as_str());
    let parts = [&flow.sent.first[..], spoken.as_bytes(), path.as_bytes()];
    let found = parts.into_iter().flat_map(|part| context.secrets.given_away_in(part));
    let mut astray = found.into_iter().filter(|given| !may_have(&host, given, said, context));
    astray.next()
}

/// Whether a host may have a secret, as far as anybody can tell.
fn may_have(host: &str, given: &Given, said: &str, context: &Context) -> bool {
    let Owner::Variable(variable) = &given.owner else { return given.owner == Owner::Unknown };
    let services = services(variable, &given.secret);
    let named = context.watched.as_ref().map_or(&[][..], |watched| &watched.named);
    let is_said = said.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == registered(host));
    services.is_empty()
        || services.iter().any(|service| belongs(host, service))
        || context.secrets.hosts.contains(host)
        || named.iter().any(|text| text.to_ascii_lowercase().contains(host))
        || is_loopback(host)
        || is_said
}

/// What stays on the machine goes to nobody.
fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}
