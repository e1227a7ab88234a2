//! A server that serves one client must serve a second one beside it, or say plainly that it does not.

use super::replies;
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::Case;
use crate::run::{Recording, Refused};
use crate::target::Severity;

pub const TURNED_AWAY: &str = "takes-clients";

pub struct TakesClients;

impl Check for TakesClients {
    fn name(&self) -> &'static str {
        TURNED_AWAY
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let Some((_, history, _)) = replies(case, recording) else { return Verdict::Holds };
        let Some(refused) = history.refused.as_ref().filter(|refused| is_fault(refused)) else {
            return Verdict::Holds;
        };
        let message = match refused.client {
            1 => format!("a second client is turned away while another is connected: {}", refused.why),
            others => {
                format!("a client is turned away while {others} others are connected: {}", refused.why)
            }
        };
        let cause = Cause::rule(self.name(), None).server_wide();
        let mut charge = Charge::new(self.name(), Kind::Race, cause, message);
        charge.severity = Some(Severity::Medium);
        charge.details = "Each client opens a session of its own. A server object or a transport that is made once \
                          and shared takes the handshake of the first client alone; make one for each session."
            .to_owned();
        Verdict::Broken(Box::new(charge))
    }
}

/// Whether the server failed, or took the second client for the first. A plain refusal is its right.
fn is_fault(refused: &Refused) -> bool {
    let said = refused.why.to_lowercase();
    let taken_for_first =
        said.contains("already") && (said.contains("initial") || said.contains("connected"));
    taken_for_first || refused.status.is_some_and(|status| status >= 500 && status != 503)
}
