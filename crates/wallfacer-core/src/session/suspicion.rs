//! Charges in, each suspected bug once out, the gravest first.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::findings::{FindingId, Kind, Origin};
use crate::judge::Charge;
use crate::plan::{Case, Intent, Step, Subject};

/// A charge that waits to be confirmed.
#[derive(Debug, Clone)]
pub struct Suspicion {
    pub case: Case,
    pub charge: Charge,
    /// The steps of the cases that the same server had before, where it may be they that did it.
    pub before: Vec<Step>,
}

impl Suspicion {
    pub fn in_words(&self) -> String {
        let place = self.case.subject.name().unwrap_or("the server");
        format!("a suspected {} in {place}", self.charge.kind.name())
    }
}

/// What is suspected and not looked into yet.
#[derive(Debug, Default)]
pub struct Suspicions {
    waiting: Vec<Suspicion>,
    known: BTreeSet<FindingId>,
}

impl Suspicions {
    /// Adds a charge, where its bug is not suspected already. `before` is only asked for what needs it.
    pub fn add(&mut self, server: Option<&str>, case: &Case, charge: Charge, before: impl Fn() -> Vec<Step>) {
        let origin = Origin::new(server, &charge.kind, &case.subject, &charge.cause);
        let id = origin.id();
        if self.known.insert(id.clone()) {
            let fatal = matches!(charge.kind, Kind::Crash | Kind::Hang { .. });
            let before = if fatal { before() } else { Vec::new() };
            self.waiting.push(Suspicion { case: case.clone(), charge, before });
        }
        if let Intent::Frame(name) = &case.intent {
            self.add_frame(server, &id, name);
        }
    }

    /// One more frame of ours that brings about what is suspected already.
    fn add_frame(&mut self, server: Option<&str>, id: &FindingId, name: &str) {
        let same = |Suspicion { case, charge, .. }: &&mut Suspicion| {
            Origin::new(server, &charge.kind, &case.subject, &charge.cause).id() == *id
        };
        if let Some(known) = self.waiting.iter_mut().find(same)
            && !known.charge.frames.iter().any(|known| known == name)
        {
            known.charge.frames.push(name.to_owned());
        }
    }

    /// The same, with what came before it on the same server, whatever the kind.
    pub fn add_with(&mut self, server: Option<&str>, case: &Case, charge: Charge, before: &[Step]) {
        let origin = Origin::new(server, &charge.kind, &case.subject, &charge.cause);
        if self.known.insert(origin.id()) {
            self.waiting.push(Suspicion { case: case.clone(), charge, before: before.to_vec() });
        }
    }

    /// What a case did when another charge was looked into, where its bug is not suspected already.
    pub fn instead(&mut self, server: Option<&str>, case: &Case, charge: Charge) -> Option<Suspicion> {
        let origin = Origin::new(server, &charge.kind, &case.subject, &charge.cause);
        self.known.insert(origin.id()).then(|| Suspicion { case: case.clone(), charge, before: Vec::new() })
    }

    /// Whether this bug was suspected before, whatever came of it.
    pub fn knows(&self, server: Option<&str>, case: &Case, charge: &Charge) -> bool {
        self.known.contains(&Origin::new(server, &charge.kind, &case.subject, &charge.cause).id())
    }

    /// What is suspected of hanging.
    pub fn of_hangs(&self) -> BTreeSet<Subject> {
        let hangs =
            self.waiting.iter().filter(|suspicion| matches!(suspicion.charge.kind, Kind::Hang { .. }));
        hangs.map(|suspicion| suspicion.case.subject.clone()).collect()
    }

    pub fn is_of_hang(&self, subject: &Subject) -> bool {
        self.of_hangs().contains(subject)
    }

    /// Takes all that wait, the gravest first, else in the order of cases; what costs whole time limits comes last.
    pub fn take(&mut self) -> Vec<Suspicion> {
        let mut taken = std::mem::take(&mut self.waiting);
        taken.sort_by_key(|Suspicion { charge, .. }| {
            (matches!(charge.kind, Kind::Hang { .. }), Reverse(charge.kind.default_severity()))
        });
        taken
    }

    /// Puts back what there was no time for.
    pub fn put_back(&mut self, suspicion: Suspicion) {
        self.waiting.push(suspicion);
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Each as a person would name it.
    pub fn in_words(&self) -> Vec<String> {
        self.waiting.iter().map(Suspicion::in_words).collect()
    }
}
