//! What we hold of a jail while it is there, and after.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::opener::Opener;
use super::plan::Plan;
use super::refuge::Refuge;
use super::upper::Upper;
use super::{Confinement, passing};
use crate::trace::Tracer;

#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) confinement: Option<Confinement>,
    pub(crate) upper: Option<Upper>,
    pub(crate) opener: Option<Opener>,
    pub(crate) tracer: Option<Tracer>,
    /// Only held.
    pub(crate) _refuge: Option<Arc<Refuge>>,
}

impl Inside {
    /// Takes what the keeper has passed on by the time the jail is built.
    pub(crate) fn enter(plan: &Plan, line: OwnedFd, read_only: u64) -> io::Result<Self> {
        let numbered = plan.layers.iter().zip(0..);
        let refused = numbered.filter(|(_, number)| read_only >> number & 1 == 1);
        let confinement = Confinement {
            rung: plan.rung,
            read_only: plan.read_only.iter().chain(refused.map(|(layer, _)| &layer.at)).cloned().collect(),
            unplanted: plan.unplanted.clone(),
            home: Some(plan.home.clone()),
            why: Vec::new(),
        };
        let inside = Self { confinement: Some(confinement), _refuge: plan.refuge.clone(), ..Self::default() };
        if plan.namespaces == 0 {
            return Ok(inside);
        }
        let (_, layers) = passing::receive(&line)?;
        let upper = Upper::new(layers.ok_or(io::ErrorKind::UnexpectedEof)?, plan.layers.clone());
        Ok(Self { upper: Some(upper), opener: Some(Opener::new(line)), ..inside })
    }
}
