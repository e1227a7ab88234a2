//! A tool whose world is closed, or that denies to use the network, must not reach for a host outside. Loopback is not
//! outside; a host that the user named for the server, or that of the service which the server is for, belongs to a closed
//! world, but not to one without a network.

use super::{declared, deeds, listed};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Closed};
use crate::run::Recording;

pub struct StaysInside;

impl Check for StaysInside {
    fn name(&self) -> &'static str {
        "stays-inside"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, context: &Context) -> Verdict {
        let Some(closed) = declared(case, context).and_then(|declared| declared.closed.as_ref()) else {
            return Verdict::Holds;
        };
        let Some((watched, deeds)) = deeds(case, recording, context) else { return Verdict::Holds };
        let says = match closed {
            Closed::Hint(says) | Closed::Denial(says) => says,
        };
        let mut reached: Vec<String> = Vec::new();
        for (_, effects) in &deeds {
            let outside = effects.outside().filter(|contact| {
                let known = watched.is_named(contact) || context.is_own_service(&contact.host);
                let meant = matches!(closed, Closed::Hint(_)) && known;
                !meant && !watched.by_itself.contains(&contact.host)
            });
            reached.extend(outside.map(|contact| contact.place()));
        }
        reached.sort();
        reached.dedup();
        if reached.is_empty() {
            return Verdict::Holds;
        }
        let message = format!("it says {says}, and a call reached for {}", listed(&reached));
        let cause = Cause::rule(self.name(), None);
        let charge = Charge::new(self.name(), Kind::UndeclaredBehaviour, cause, message);
        Verdict::Broken(Box::new(charge.with("hosts", reached.join("\n"))))
    }
}
