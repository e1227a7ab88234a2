//! What we hold of a jail while it is there, and after.

use std::io;
use std::os::fd::OwnedFd;

use super::changes::Upper;
use super::opener::Opener;
use super::plan::Plan;
use super::{Confinement, passing};
use crate::trace::Tracer;

#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) confinement: Option<Confinement>,
    pub(crate) upper: Option<Upper>,
    pub(crate) opener: Option<Opener>,
    pub(crate) tracer: Option<Tracer>,
}

impl Inside {
    /// Takes what the keeper has passed on by the time the jail is built.
    pub(crate) fn enter(plan: &Plan, line: OwnedFd, read_only: u64) -> io::Result<Self> {
        let (_, layers) = passing::receive(&line)?;
        let layers = layers.ok_or(io::ErrorKind::UnexpectedEof)?;
        let numbered = plan.layers.iter().zip(0..);
        let refused = numbered.filter(|(_, number)| read_only >> number & 1 == 1);
        let confinement = Confinement {
            rung: plan.rung,
            read_only: plan.read_only.iter().chain(refused.map(|(layer, _)| &layer.at)).cloned().collect(),
            unplanted: plan.unplanted.clone(),
            why: Vec::new(),
        };
        Ok(Self {
            confinement: Some(confinement),
            upper: Some(Upper::new(layers, plan.layers.clone())),
            opener: Some(Opener::new(line)),
            tracer: None,
        })
    }
}
