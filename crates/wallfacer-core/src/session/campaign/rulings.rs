//! Rules in, what is said of each out: broken, kept, or nothing, and why.

use std::collections::BTreeMap;

use super::proof::Haste;
use super::{Campaign, Field};
use crate::event::{Event, Listener};
use crate::findings::{Kind, Reproduced};
use crate::judge::{Charge, Context, weigh};
use crate::observe::observe;
use crate::plan::Case;
use crate::run::Recording;
use crate::session::attempt::attempt;
use crate::session::confirm::Confirmed;
use crate::session::fuzz::FuzzError;
use crate::session::suspicion::Suspicion;
use crate::summary::NotTested;
use crate::wire::ConnectError;

/// Rules that are told by their names when nothing can be said of them.
const FEW_RULES: usize = 3;

impl Campaign<'_> {
    /// Plays sequences, one after another, each on a fresh server.
    pub fn play_sequences(
        &mut self,
        cases: &[Case],
        field: &Field<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        if cases.is_empty() {
            return Ok(());
        }
        listener.hear(&Event::RoundBegun { phase: "sequences", cases: cases.len() });
        let mut runner = (field.runner)();
        let patience = runner.patience().clone();
        for case in cases {
            if self.is_over() {
                self.out_of_time = true;
                break;
            }
            let attempt = attempt(&mut runner, case, &patience, field.context);
            let Ok(tried) = field.runtime.block_on(self.options.stop.unless(attempt)) else { continue };
            let tried = tried?;
            let played = tried.played.as_ref().unwrap_or(case);
            for (seen, tool) in tried.seen.steps.iter().zip(played.called_tools()) {
                self.summary.count(&seen.answer);
                self.tools.entry(tool.to_owned()).or_default().calls.count(&seen.answer);
            }
            self.note_ruling(case, tried.judgement.unknown);
            for charge in tried.judgement.charges.into_iter().filter(|charge| !is_of_watching(charge)) {
                self.suspicions.add(self.server.name.as_deref(), case, charge, Vec::new);
            }
        }
        let _or_its_keeper = field.runtime.block_on(self.options.stop.unless(runner.rest()));
        self.lives += runner.lives;
        let (calls, suspicions) = (self.summary.calls, self.suspicions.len());
        let suspected = &self.suspicions.in_words();
        listener.hear(&Event::RoundDone { phase: "sequences", calls, suspicions, suspected });
        self.confirm(Haste::BetweenRounds, field, listener)
    }

    /// Judges rules about what the server says of its tools. What breaks one must be there again each time that it is
    /// asked, in each of these contexts.
    pub fn judge_listing(&mut self, cases: &[Case], contexts: &[Context], listener: &mut dyn Listener) {
        let nothing = Recording { steps: Vec::new(), stderr: None };
        let seen = observe(&nothing);
        for case in cases {
            let mut judged = contexts.iter().map(|context| weigh(case, &nothing, &seen, context));
            let Some(first) = judged.next() else { return };
            let again = judged.filter(|again| !again.charges.is_empty()).count();
            self.note_ruling(case, first.unknown);
            let (k, n) = (again as u32, contexts.len() as u32 - 1);
            self.take_listed(case, first.charges, Reproduced { k, n }, listener);
        }
    }

    /// Judges what the server declares. It is asked again only where something is not in order.
    pub fn judge_declarations(
        &mut self,
        cases: &[Case],
        first: &Context,
        again: &dyn Fn() -> Result<Vec<Context>, FuzzError>,
        listener: &mut dyn Listener,
    ) -> Result<(), FuzzError> {
        let nothing = Recording { steps: Vec::new(), stderr: None };
        let seen = observe(&nothing);
        let judge = |case: &Case, context: &Context| weigh(case, &nothing, &seen, context).charges;
        let broken = cases.iter().map(|case| (case, judge(case, first)));
        let broken: Vec<_> = broken.filter(|(_, charges)| !charges.is_empty()).collect();
        self.declarations += cases.len() as u64;
        if broken.is_empty() {
            return Ok(());
        }
        let contexts = again()?;
        self.lives += contexts.len() as u64;
        for (case, charges) in broken {
            let k = contexts.iter().filter(|context| !judge(case, context).is_empty()).count() as u32;
            self.take_listed(case, charges, Reproduced { k, n: contexts.len() as u32 }, listener);
        }
        Ok(())
    }

    fn take_listed(
        &mut self,
        case: &Case,
        charges: Vec<Charge>,
        reproduced: Reproduced,
        listener: &mut dyn Listener,
    ) {
        for charge in charges {
            let made = Box::new(charge.clone());
            let confirmed = Confirmed::Finding { charge: made, case: case.clone(), reproduced };
            let suspicion = Suspicion { case: case.clone(), charge, before: Vec::new() };
            self.take_confirmed(confirmed, suspicion, listener);
        }
    }

    /// A rule that cannot be tried at all.
    pub fn leave_rule(&mut self, rule: &str, why: String) {
        self.unknown.insert(rule.to_owned(), why);
    }

    pub(super) fn note_ruling(&mut self, case: &Case, unknown: Option<String>) {
        let Some(claim) = &case.claim else { return };
        match unknown {
            Some(why) => drop(self.unknown.entry(claim.rule.clone()).or_insert(why)),
            None => drop(self.judged.insert(claim.rule.clone())),
        }
    }

    /// Rules that say nothing, by the reason.
    pub(super) fn tell_unknown(&mut self) {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (rule, why) in self.unknown.iter().filter(|(rule, _)| !self.judged.contains(*rule)) {
            reasons.entry(why).or_default().push(rule);
        }
        for (why, rules) in reasons {
            let what = match rules.len() {
                few if few <= FEW_RULES => rules.join(", "),
                many => format!("{} and {} other rules", rules[0], many - 1),
            };
            self.not_tested.insert(NotTested { what, why: why.to_owned() });
        }
    }
}

/// What calls do is held against what is said of them where that is looked for.
pub(super) fn is_of_watching(charge: &Charge) -> bool {
    matches!(charge.kind, Kind::UndeclaredBehaviour)
}
