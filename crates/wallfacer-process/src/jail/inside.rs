//! The handle of a jail, while it is there and after.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::opener::Opener;
use super::plan::Plan;
use super::refuge::Refuge;
use super::upper::Upper;
use super::{Confinement, Gap, passing};
use crate::trace::Tracer;

#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) confinement: Option<Confinement>,
    pub(crate) upper: Option<Upper>,
    pub(crate) opener: Option<Opener>,
    /// The kernel's list of the jail's System V shared memory, where it has one.
    pub(crate) shared_memory: Option<File>,
    pub(crate) tracer: Option<Tracer>,
    /// Only held.
    pub(crate) _refuge: Option<Arc<Refuge>>,
}

impl Inside {
    /// Takes what the keeper has passed on by the time the jail is built.
    pub(crate) fn enter(plan: &Plan, line: OwnedFd, refused: u128) -> io::Result<Self> {
        let numbered = plan.layers.iter().zip(0..);
        let refused = numbered.filter(|(_, number)| refused >> number & 1 == 1);
        let bound: Vec<_> = plan.bound.iter().chain(refused.map(|(layer, _)| &layer.at)).cloned().collect();
        let pipes = (!bound.is_empty()).then(|| Gap::Pipes(bound.clone()));
        let confinement = Confinement {
            rung: plan.rung,
            bound,
            gaps: plan.gaps.iter().cloned().chain(pipes).collect(),
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
        let (_, shared_memory) = passing::receive(&line)?;
        let shared_memory = shared_memory.map(File::from);
        Ok(Self { upper: Some(upper), shared_memory, opener: Some(Opener::new(line)), ..inside })
    }
}
