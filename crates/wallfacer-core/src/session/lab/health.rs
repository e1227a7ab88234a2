//! Watches whether a server stays healthy: of each tool one call that worked is remembered, and made again where the tool
//! goes on failing. A server on which it fails is spoiled, and what came after does not count.

use std::collections::BTreeMap;

use crate::judge::{Charge, broken, health_case, spoiled};
use crate::observe::{Answer, observe};
use crate::plan::{Case, Step};
use crate::run::Recording;

/// Failures of one tool since it last worked that raise a doubt; twice as many after each doubt that was none.
const FAILURES: usize = 3;
/// Calls before the first failure that may have spoiled the server.
const WINDOW: usize = 48;
/// Spoiled servers of one part; after these nothing is looked at any more.
const MOST_SPOILED: usize = 8;

#[derive(Debug, Default)]
pub struct Health {
    /// One call of each tool that worked.
    good: BTreeMap<String, Case>,
    /// The places of the cases, in the order in which they were answered.
    answered: Vec<usize>,
    failing: BTreeMap<String, Failing>,
    doubted: usize,
    doubt: Option<String>,
    spoiled: Vec<Spoiled>,
}

/// A tool that has failed since it last worked.
#[derive(Debug, Clone, Copy)]
struct Failing {
    /// Where among the answers that began.
    since: usize,
    times: usize,
}

/// A server that does not do any more what it did.
#[derive(Debug, Clone)]
pub struct Spoiled {
    /// The script that is to show it.
    pub case: Case,
    pub charge: Charge,
}

impl Health {
    pub fn new(good: &BTreeMap<String, Case>) -> Health {
        Health { good: good.clone(), ..Health::default() }
    }

    /// A case was answered.
    pub fn take(&mut self, index: usize, case: &Case, recording: &Recording) {
        self.answered.push(index);
        let ([taken], Some(tool)) = (&recording.steps[..], case.subject.tool()) else { return };
        if case.single_call().is_none() {
            return;
        }
        let seen = observe(recording);
        if seen.steps[0].answer == Answer::Completed {
            self.failing.remove(tool);
            if case.intent.is_valid() == Some(true) {
                self.good.entry(tool.to_owned()).or_insert_with(|| case.clone());
            }
        } else if broken(taken, &seen.steps[0]).is_some() && self.good.contains_key(tool) {
            let since = self.answered.len() - 1;
            let failing = self.failing.entry(tool.to_owned()).or_insert(Failing { since, times: 0 });
            failing.times += 1;
            if failing.times >= FAILURES << self.doubted {
                self.raise(tool.to_owned());
            }
        }
    }

    /// Nothing more comes: a tool that failed at last is looked at once more.
    pub fn end(&mut self) {
        let sickest = self.failing.iter().max_by_key(|(_, failing)| failing.times);
        if let Some(tool) = sickest.map(|(tool, _)| tool.clone()) {
            self.raise(tool);
        }
    }

    fn raise(&mut self, tool: String) {
        if self.spoiled.len() < MOST_SPOILED {
            self.doubt.get_or_insert(tool);
        }
    }

    /// The call that is to be made again, alone, where there is a doubt.
    pub fn doubt(&self) -> Option<&Case> {
        self.good.get(self.doubt.as_ref()?)
    }

    /// The call was made again, so many times. Gives the cases whose answers do not count, where the server is spoiled.
    pub fn settle(&mut self, looks: &[Recording], cases: &[Case], in_flight: usize) -> Option<Vec<usize>> {
        let tool = self.doubt.take()?;
        let failing = self.failing.remove(&tool)?;
        let words = |look: &Recording| {
            let [taken] = &look.steps[..] else { return None };
            broken(taken, &observe(look).steps[0])
        };
        let words: Option<Vec<String>> = looks.iter().map(words).collect();
        let Some(words) = words.and_then(|words| words.into_iter().next()) else {
            self.doubted += 1;
            return None;
        };
        let first = failing.since.saturating_sub(WINDOW);
        let until = (failing.since + in_flight).min(self.answered.len());
        let between = in_rows(self.answered[first..until].iter().map(|index| &cases[*index]), in_flight);
        let case = health_case(&self.good[&tool], between);
        let charge = spoiled(&case, &words);
        self.spoiled.push(Spoiled { case, charge });
        self.failing.clear();
        let again = self.answered.split_off(failing.since);
        self.answered.clear();
        Some(again)
    }

    pub fn into_spoiled(self) -> Vec<Spoiled> {
        self.spoiled
    }
}

/// The calls of these cases, as many in flight at a time as there were.
fn in_rows<'a>(cases: impl Iterator<Item = &'a Case>, in_flight: usize) -> Vec<Step> {
    let calls: Vec<&Step> =
        cases.filter(|case| case.single_call().is_some()).flat_map(|case| &case.steps).collect();
    if in_flight < 2 {
        return calls.into_iter().cloned().collect();
    }
    let rows = calls.chunks(in_flight).map(|row| row.iter().map(|step| step.sent()).collect());
    let mut steps = Vec::new();
    for row in rows.collect::<Vec<Vec<Step>>>() {
        if !steps.is_empty() {
            steps.push(Step::Probe);
        }
        steps.extend(row);
    }
    steps
}
