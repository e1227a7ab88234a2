//! What a look at a server found, without exercising it.

use std::time::Duration;

use wallfacer_process::jail::Offers;
use wallfacer_process::{Ended, Platform};

use crate::catalogue::Catalogue;
use crate::target::Shown;
use crate::wire::{Server, Strays};

#[derive(Debug)]
pub struct Examination {
    pub target: Shown,
    pub server: Server,
    pub transport: &'static str,
    pub catalogue: Catalogue,
    /// The times of the measuring requests that were answered, in order.
    pub round_trips: Vec<Duration>,
    /// What there was no time to look at.
    pub not_seen: Vec<&'static str>,
    /// What the server said that answers nothing.
    pub strays: Strays,
    /// How the process ended, where it is ours.
    pub ended: Option<Ended>,
    pub machine: Platform,
    pub offers: Offers,
}

/// What there may be no time for.
impl Examination {
    pub const LISTS: &'static str = "all that it lists";
    pub const SPEED: &'static str = "how fast it answers";
}
