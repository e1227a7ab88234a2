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
    /// What the server said that answers nothing.
    pub strays: Strays,
    /// How the process ended, where it is ours.
    pub ended: Option<Ended>,
    pub machine: Platform,
    pub offers: Offers,
}
