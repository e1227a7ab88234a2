//! Charges in, findings out: each is seen again on fresh servers, made small, and kept once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

use wallfacer_schema::Schema;

use super::confirm::{Confirmed, Inquiry};
use super::shared::Shared;
use super::suspicion::{Suspicion, Suspicions};
use super::together::{SERVERS, by_prelude, seen_together, shows_by_its_own_deed};
use crate::event::{Event, Listener};
use crate::findings::{Finding, Origin, Repro, Reproduced, ServerName, merge};
use crate::judge::{Charge, Context};
use crate::plan::{Case, Step};
use crate::run::Runner;
use crate::stop::{Stop, Stopped};
use crate::summary::Note;
use crate::wire::{ConnectError, Server};

/// What is suspected of one server, and what is proven.
pub(super) struct Proving<'a> {
    server: &'a Server,
    schemas: BTreeMap<String, Schema>,
    seed: u64,
    until: Option<Instant>,
    stop: &'a Stop,
    suspicions: Suspicions,
    findings: Shared,
    flaky: Vec<Finding>,
    pub notes: BTreeSet<Note>,
    pub out_of_time: bool,
}

impl<'a> Proving<'a> {
    pub fn new(
        server: &'a Server,
        schemas: BTreeMap<String, Schema>,
        seed: u64,
        until: Option<Instant>,
        stop: &'a Stop,
    ) -> Proving<'a> {
        Proving {
            server,
            schemas,
            seed,
            until,
            stop,
            suspicions: Suspicions::default(),
            findings: Shared::default(),
            flaky: Vec::new(),
            notes: BTreeSet::new(),
            out_of_time: false,
        }
    }

    /// `before` are the steps that the same server had taken, where it may be they that did it.
    pub fn suspect(&mut self, case: &Case, charge: Charge, before: &[Step]) {
        self.suspicions.add_with(self.server.name.as_deref(), case, charge, before);
    }

    pub fn len(&self) -> usize {
        self.suspicions.len()
    }

    pub fn in_words(&self) -> Vec<String> {
        self.suspicions.in_words()
    }

    /// Looks into all that is suspected.
    pub async fn confirm(
        &mut self,
        runner: &mut Runner,
        context: &Context,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let mut waiting = VecDeque::from(self.suspicions.take());
        while let Some(Suspicion { case, charge, before }) = waiting.pop_front() {
            if self.findings.explains(&charge.kind, &charge.cause, &case.subject) {
                continue;
            }
            let schema = case.subject.tool().and_then(|tool| self.schemas.get(tool));
            let mut inquiry = Inquiry {
                runner,
                context,
                server: self.server.name.as_deref(),
                tool: None,
                era: self.server.era(),
                until: self.until,
                minimise: !self.findings.has(&charge.kind, &charge.cause),
            };
            let looked = self.stop.unless(inquiry.look_into(&case, &charge, schema, &before)).await;
            let text = match looked.unwrap_or_else(|Stopped| Ok(Confirmed::OutOfTime))? {
                Confirmed::Finding { charge, case: smallest, reproduced } => {
                    self.keep(&charge, &smallest, &case, reproduced, listener);
                    continue;
                }
                Confirmed::Another(charge) => {
                    let name = self.server.name.as_deref();
                    waiting.extend(self.suspicions.instead(name, &case, *charge));
                    continue;
                }
                Confirmed::Slow(text) => text,
                Confirmed::Never => format!("seen once, never again: {}", charge.message),
                Confirmed::OutOfTime => {
                    self.out_of_time = true;
                    format!("seen once, with no time left to see it again: {}", charge.message)
                }
            };
            self.notes.insert(Note { tool: case.subject.name().map(str::to_owned), text });
        }
        let _or_its_keeper = self.stop.unless(runner.rest()).await;
        Ok(())
    }

    /// The same; what shows by its own deed is tried together first, and alone only where it did not show each time.
    pub async fn confirm_together(
        &mut self,
        runner: &mut Runner,
        context: &Context,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let (together, alone): (Vec<_>, Vec<_>) =
            self.suspicions.take().into_iter().partition(shows_by_its_own_deed);
        alone.into_iter().for_each(|suspicion| self.suspicions.put_back(suspicion));
        let name = self.server.name.as_deref();
        for group in by_prelude(together) {
            let seen = match group.len() {
                1 => vec![None],
                _ => {
                    let seen =
                        self.stop.unless(seen_together(&group, name, runner, context, self.until)).await;
                    seen.unwrap_or_else(|Stopped| Ok(vec![None; group.len()]))?
                }
            };
            for (suspicion, seen) in group.into_iter().zip(seen) {
                let Some(charge) = seen else {
                    self.suspicions.put_back(suspicion);
                    continue;
                };
                if !self.findings.explains(&charge.kind, &charge.cause, &suspicion.case.subject) {
                    let reproduced = Reproduced { k: SERVERS, n: SERVERS };
                    self.keep(&charge, &suspicion.case, &suspicion.case, reproduced, listener);
                }
            }
        }
        self.confirm(runner, context, listener).await
    }

    /// What was reproduced each time, and what was not.
    pub fn finish(self) -> (Vec<Finding>, Vec<Finding>) {
        (merge(self.findings.into_findings(self.server.name.as_deref())), merge(self.flaky))
    }

    fn keep(
        &mut self,
        charge: &Charge,
        case: &Case,
        original: &Case,
        reproduced: Reproduced,
        listener: &mut dyn Listener,
    ) {
        let Server { name, version, .. } = self.server;
        let origin = Origin::new(name.as_deref(), &charge.kind, &case.subject, &charge.cause);
        let measure = charge.measure.clone().or_else(|| case.measure.clone());
        let repro = Repro::new(&Case { measure, ..case.clone() }, original);
        let mut finding = Finding::new(&origin, charge.kind.clone(), &charge.message, repro);
        finding.severity = charge.severity.unwrap_or(finding.severity);
        finding.details = charge.details.clone();
        finding.evidence = charge.evidence.clone();
        finding.references = charge.references.clone();
        finding.reproduced = reproduced;
        finding.seed = self.seed;
        finding.server = ServerName { name: name.clone(), version: version.clone() };
        finding.protocol = Some(self.server.protocol.to_string());
        if reproduced.always() {
            let name = self.server.name.as_deref();
            let (finding, replaces) = self.findings.add(origin, finding, name);
            listener.hear(&Event::finding_widened(&finding, &replaces));
        } else {
            listener.hear(&Event::finding_made(&finding));
            self.flaky.push(finding);
        }
    }
}
