//! Keeps what is suspected until it is looked into, each bug once, and gives out the gravest first.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use crate::findings::{FindingId, Kind, Origin};
use crate::judge::{Charge, Concern, Context};
use crate::plan::{Aim, Case, Intent, Step, is_extreme};
use crate::session::lab::World;
use crate::target::Severity;

/// Which charges a test takes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    pub answers: bool,
    pub rules: bool,
    pub behaviour: bool,
    pub injection: bool,
}

impl Interest {
    const NONE: Interest = Interest { answers: false, rules: false, behaviour: false, injection: false };
    pub const ANSWERS: Interest = Interest { answers: true, rules: true, ..Interest::NONE };
    pub const RULES: Interest = Interest { rules: true, ..Interest::NONE };
    pub const BEHAVIOUR: Interest = Interest { behaviour: true, ..Interest::NONE };
    pub const INJECTION: Interest = Interest { injection: true, ..Interest::NONE };

    pub fn wants(self, charge: &Charge) -> bool {
        match charge.concern {
            _ if charge.kind.rule().is_some() => self.rules,
            Concern::Answers => self.answers,
            Concern::Rules => self.rules,
            Concern::Behaviour => self.behaviour,
            Concern::Injection => self.injection,
        }
    }
}

/// A charge that waits to be proven.
#[derive(Debug, Clone)]
pub struct Suspicion {
    pub case: Case,
    pub charge: Charge,
    /// The steps that the same server had taken before, where it may be they that did it.
    pub before: Vec<Step>,
    pub world: World,
    pub context: Arc<Context>,
    pub interest: Interest,
    /// The test that raised it, and the place among what it raised.
    pub number: (usize, u64),
    /// Whether it did not show among others, and is looked into alone.
    pub alone: bool,
    pub raised: Instant,
}

impl Suspicion {
    pub fn in_words(&self) -> String {
        let place = self.case.subject.name().unwrap_or("the server");
        format!("a suspected {} in {place}", self.charge.kind.name())
    }

    pub fn id(&self, server: Option<&str>) -> FindingId {
        Origin::new(server, &self.charge.kind, &self.case.subject, &self.charge.cause).id()
    }

    /// How urgent it is. A request that is too large or too deep for anybody weighs little, unless the server ends by it.
    pub fn severity(&self) -> Severity {
        if is_extreme(&self.case) && matches!(self.charge.kind, Kind::Hang { .. } | Kind::InternalError) {
            return Severity::Low;
        }
        self.charge.severity.unwrap_or_else(|| self.charge.kind.default_severity())
    }

    pub fn is_of_hang(&self) -> bool {
        matches!(self.charge.kind, Kind::Hang { .. })
    }

    /// Whether it may be looked into on one server with others: it shows by what its own call does, whatever else was called;
    /// or, where starts are `dear`, by what its own call is answered.
    pub fn shares_servers(&self, dear: bool) -> bool {
        if self.alone {
            return false;
        }
        let Some(injection) = self.case.intent.injection() else { return dear && self.is_of_one_answer() };
        match injection.aim {
            Aim::Execute { .. }
            | Aim::Pass { .. }
            | Aim::Reach { .. }
            | Aim::Hand { .. }
            | Aim::Hidden { .. }
            | Aim::Connect { .. } => true,
            // What is changed stays so, and what is measured is disturbed.
            Aim::Change { .. } | Aim::Grow | Aim::Inflate => false,
        }
    }

    /// Whether it is about what one call was answered, by a server that went on answering.
    fn is_of_one_answer(&self) -> bool {
        let kind = &self.charge.kind;
        let by_answer = match &self.case.claim {
            // A rule that plays a sequence has a server of its own.
            Some(rule) => matches!(kind, Kind::PropertyFailure { .. }) && rule.sequence().is_none(),
            None => matches!(
                kind,
                Kind::InternalError | Kind::SchemaViolation | Kind::AcceptedInvalid | Kind::ProtocolError
            ),
        };
        by_answer
            && self.case.single_call().is_some()
            && self.charge.measure.is_none()
            && !is_extreme(&self.case)
    }
}

/// What is suspected and not looked into yet.
#[derive(Debug, Default)]
pub struct Suspicions {
    waiting: Vec<Suspicion>,
    known: BTreeSet<FindingId>,
}

impl Suspicions {
    /// Adds a suspicion, where its bug is not suspected already. A further frame of ours that brings about what waits to be
    /// looked into is named with it.
    pub fn add(&mut self, server: Option<&str>, suspicion: Suspicion) -> bool {
        let id = suspicion.id(server);
        let frame = match &suspicion.case.intent {
            Intent::Frame(name) => Some(name.clone()),
            _ => None,
        };
        let is_new = self.known.insert(id.clone());
        if is_new {
            self.waiting.push(suspicion);
        }
        if let Some(name) = frame
            && let Some(known) = self.waiting.iter_mut().find(|known| known.id(server) == id)
            && !known.charge.frames.contains(&name)
        {
            known.charge.frames.push(name);
        }
        is_new
    }

    /// Takes the gravest that may be looked into now; among equals the one that was raised first.
    pub fn take(&mut self, mut may: impl FnMut(&Suspicion) -> bool) -> Option<Suspicion> {
        let order = |(_, suspicion): &(usize, &Suspicion)| (Reverse(suspicion.severity()), suspicion.number);
        let mut waiting: Vec<(usize, &Suspicion)> = self.waiting.iter().enumerate().collect();
        waiting.sort_by_key(order);
        let place = waiting.into_iter().find(|(_, suspicion)| may(suspicion))?.0;
        Some(self.waiting.remove(place))
    }

    /// Takes all that may be looked into together with what was taken.
    pub fn take_all(&mut self, may: impl Fn(&Suspicion) -> bool) -> Vec<Suspicion> {
        let (taken, kept) = std::mem::take(&mut self.waiting).into_iter().partition(|each| may(each));
        self.waiting = kept;
        taken
    }

    /// Puts back what there was no time for.
    pub fn put_back(&mut self, suspicion: Suspicion) {
        self.waiting.push(suspicion);
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Suspicion> {
        self.waiting.iter()
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalogue::Catalogue;
    use crate::findings::Cause;
    use crate::target::Version;

    fn suspected(number: u64, kind: Kind, at: &str) -> Suspicion {
        Suspicion {
            case: Case::tool("read", json!({}), Intent::Valid, 1),
            charge: Charge::new("check", kind, Cause::schema(at, "type"), String::new()),
            before: Vec::new(),
            world: World::Plain,
            context: Arc::new(Context::new(&Catalogue::default(), Version::V2025_11_25)),
            interest: Interest::ANSWERS,
            number: (0, number),
            alone: false,
            raised: Instant::now(),
        }
    }

    /// Many suspicions of low severity, and behind them a severe one.
    fn waiting() -> Suspicions {
        let mut suspicions = Suspicions::default();
        for number in 0..20 {
            suspicions.add(None, suspected(number, Kind::AcceptedInvalid, &format!("/part{number}")));
        }
        suspicions.add(None, suspected(20, Kind::Crash, ""));
        suspicions
    }

    #[test]
    fn what_is_severe_comes_first_however_much_was_suspected_before() {
        let mut suspicions = waiting();
        let order: Vec<u64> =
            std::iter::from_fn(|| suspicions.take(|_| true)).map(|suspicion| suspicion.number.1).collect();
        assert_eq!(order, std::iter::once(20).chain(0..20).collect::<Vec<u64>>());
    }

    #[test]
    fn what_weighs_little_is_left_while_only_what_is_grave_may_be_looked_into() {
        let mut suspicions = waiting();
        let is_grave = |suspicion: &Suspicion| suspicion.severity() > Severity::Low;
        assert!(suspicions.take(is_grave).is_some());
        assert!(suspicions.take(is_grave).is_none());
        assert_eq!(suspicions.len(), 20);
    }

    #[test]
    fn one_bug_is_suspected_once() {
        let mut suspicions = waiting();
        assert!(!suspicions.add(None, suspected(21, Kind::Crash, "")));
        assert_eq!(suspicions.len(), 21);
    }
}
