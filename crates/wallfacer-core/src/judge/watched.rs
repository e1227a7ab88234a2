//! What checks know of the world that the server is watched in.

use std::collections::BTreeSet;

use crate::observe::{Contact, Effects, Executed, Noise, Places, Tokens, Whose, gather};
use crate::run::Taken;
use crate::world::Traced;

/// What is planted where, what is noise, and what the server does though nothing is asked of it.
#[derive(Debug, Clone)]
pub struct Watched {
    pub places: Places,
    pub noise: Noise,
    pub tokens: Tokens,
    /// Hosts that it reaches by itself: a call that is made meanwhile is not to blame.
    pub by_itself: BTreeSet<String>,
    /// Programs that it runs by itself, and that may still be at work during a call.
    pub programs: BTreeSet<Executed>,
    /// The words of its command line and environment: what they name, the user wants it to reach.
    pub named: Vec<String>,
}

impl Watched {
    /// What a step did; none where nobody watched.
    pub fn effects(&self, taken: &Taken, whose: Whose) -> Option<Effects> {
        taken.traced.as_ref().map(|traced| self.gathered(traced, whose))
    }

    /// What was done in all that was seen.
    pub fn gathered(&self, traced: &Traced, whose: Whose) -> Effects {
        gather(traced, whose, &self.places, &self.noise)
    }

    /// Whether the user told the server of this host.
    pub fn is_named(&self, contact: &Contact) -> bool {
        let address = contact.address.to_string();
        self.named.iter().any(|text| text.contains(&contact.host) || text.contains(&address))
    }
}
