//! One round: its cases in parts, each a job; calls that were not answered at once are made again alone, and what was left
//! out without need is made up for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::plan::{Case, DEEP, Step, Subject, depth, is_extreme};
use crate::session::lab::{Aside, Judged, Part, shard_size};

/// How many calls of one subject are made again alone, one after another, because they were not answered together with others.
/// If all of these are answered, the rest are made again together.
const MAX_ALONE: usize = 4;
/// How often what was left out is made up for; a server that sticks each time would keep us for ever.
const MAX_MAKING_UP: usize = 4;

pub struct Round {
    pub phase: String,
    pub cases: Vec<Case>,
    /// Cases that make the same calls for another rule, by the place of the one that is performed for them all.
    pub twins: BTreeMap<usize, Vec<Case>>,
    /// What is to be handed out, by the places of the cases.
    parts: VecDeque<Vec<usize>>,
    /// Calls that are to be made again, alone.
    unanswered: VecDeque<usize>,
    /// Jobs that are under way: the places of their cases.
    under_way: BTreeMap<u64, Vec<usize>>,
    /// Parts that are back before an earlier one.
    back: BTreeMap<u64, Part>,
    pub judged: BTreeMap<usize, Judged>,
    asides: Vec<Aside>,
    parked: BTreeSet<usize>,
    pub given_up: BTreeMap<Subject, Vec<usize>>,
    pub undone: Vec<usize>,
    pub deadly: BTreeSet<Subject>,
    /// Subjects that are not answered at once even alone, each with the place of the call that was not.
    pub apart: BTreeMap<Subject, usize>,
    /// Calls that were silent alone too, and say nothing of their subjects.
    silent: BTreeSet<usize>,
    /// Groups of calls that were in flight together when one of them was not answered that is answered alone.
    groups: BTreeSet<BTreeSet<usize>>,
    made_up: usize,
}

/// What is to be done next in a round.
pub enum Next {
    Part(Vec<usize>),
    /// A call that was not answered at once, alone on a fresh server.
    Alone(usize),
}

impl Round {
    pub fn new(phase: String, cases: Vec<Case>) -> Round {
        let (cases, twins) = paired(by_turns(cases));
        let places: Vec<usize> = (0..cases.len()).collect();
        // What makes one call many times is a part by itself.
        let many = cases.iter().all(|case| matches!(case.steps[..], [Step::Many { .. }]));
        let size = if many { 1 } else { shard_size(cases.len()) };
        let parts = places.chunks(size).map(<[usize]>::to_vec).collect();
        Round {
            phase,
            cases,
            twins,
            parts,
            unanswered: VecDeque::new(),
            under_way: BTreeMap::new(),
            back: BTreeMap::new(),
            judged: BTreeMap::new(),
            asides: Vec::new(),
            parked: BTreeSet::new(),
            given_up: BTreeMap::new(),
            undone: Vec::new(),
            deadly: BTreeSet::new(),
            apart: BTreeMap::new(),
            silent: BTreeSet::new(),
            groups: BTreeSet::new(),
            made_up: 0,
        }
    }

    /// The next thing to do, under this number; none while others are under way.
    pub fn next(&mut self, number: u64, computes: bool) -> Option<Next> {
        if let Some(index) = self.unanswered.pop_front() {
            self.under_way.insert(number, vec![index]);
            return Some(Next::Alone(index));
        }
        let places = if computes { self.parts.pop_front()? } else { return None };
        self.under_way.insert(number, places.clone());
        Some(Next::Part(places))
    }

    /// A part is back. Gives the parts that can be taken in now, in the order in which they were handed out, each with the
    /// places of its cases.
    pub fn take_part(&mut self, number: u64, part: Part) -> Vec<(Vec<usize>, Part)> {
        self.back.insert(number, part);
        let mut ready = Vec::new();
        while let Some((first, _)) = self.under_way.first_key_value()
            && let Some(part) = self.back.remove(first)
        {
            let first = *first;
            let places = self.under_way.remove(&first).unwrap_or_default();
            ready.push((places, part));
        }
        ready
    }

    /// Keeps what a part came to, but for what is judged.
    pub fn keep(&mut self, places: &[usize], part: &mut Part) {
        let whole = |index: usize| places[index];
        for Aside { index, extreme, company } in std::mem::take(&mut part.aside) {
            let company = company.into_iter().map(whole).collect();
            self.asides.push(Aside { index: whole(index), extreme, company });
        }
        self.parked.extend(std::mem::take(&mut part.parked).into_iter().map(whole));
        for (subject, left) in std::mem::take(&mut part.given_up) {
            self.given_up.entry(subject).or_default().extend(left.into_iter().map(whole));
        }
        self.undone.extend(std::mem::take(&mut part.undone).into_iter().map(whole));
        self.deadly.append(&mut part.deadly);
    }

    /// A call that was made alone is back: its place, and the calls that were in flight beside it.
    pub fn take_alone(&mut self, number: u64) -> Option<(usize, Vec<usize>)> {
        let index = self.under_way.remove(&number)?.pop()?;
        let aside = self.asides.iter().find(|aside| aside.index == index);
        Some((index, aside.map(|aside| aside.company.clone()).unwrap_or_default()))
    }

    /// A call is not answered alone either: its subject goes its own way, unless the call is too much for any.
    pub fn set_apart(&mut self, index: usize) {
        let subject = self.cases[index].subject.clone();
        if self.asides.iter().any(|aside| aside.index == index && aside.extreme) {
            self.silent.insert(index);
            self.given_up.entry(subject).or_default().push(index);
        } else {
            self.apart.insert(subject, index);
        }
    }

    /// Notes that a call is answered alone which was not answered while these others were in flight.
    pub fn suspect_group(&mut self, index: usize, company: Vec<usize>) {
        self.groups.insert(company.into_iter().chain([index]).collect());
    }

    pub fn suspects_group(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The groups in which a call was not answered although each of them is answered alone. A group with a request that is too
    /// large or too deep is left out, because beside one any call may go unanswered.
    pub fn unexplained_groups(&self) -> impl Iterator<Item = &BTreeSet<usize>> {
        let explains = |index: &usize| {
            self.silent.contains(index) || self.is_apart(*index) || is_extreme(&self.cases[*index])
        };
        self.groups.iter().filter(move |company| !company.iter().any(explains))
    }

    /// Whether nothing is under way or to be handed out.
    fn is_quiet(&self) -> bool {
        self.parts.is_empty() && self.unanswered.is_empty() && self.under_way.is_empty()
    }

    /// Goes on where it can: makes alone what was not answered, then makes up for what was left out without need. True once the
    /// round is complete.
    ///
    /// `known` where the subject is known not to answer now and then: what it left unanswered stays so.
    pub fn advance(&mut self, known: bool) -> bool {
        if !self.is_quiet() {
            return false;
        }
        if known {
            for Aside { index, .. } in std::mem::take(&mut self.asides) {
                self.given_up.entry(self.cases[index].subject.clone()).or_default().push(index);
            }
        }
        let mut seen: BTreeSet<&Subject> = BTreeSet::new();
        let mut answered: BTreeMap<&Subject, usize> = BTreeMap::new();
        for Aside { index, .. } in self.asides.iter().filter(|aside| self.judged.contains_key(&aside.index)) {
            *answered.entry(&self.cases[*index].subject).or_default() += 1;
        }
        let mut extremes: BTreeSet<bool> = self.silent.iter().map(|index| self.is_deep(*index)).collect();
        for Aside { index, extreme, .. } in &self.asides {
            let subject = &self.cases[*index].subject;
            if self.judged.contains_key(index) || self.silent.contains(index) {
                continue;
            }
            let tried = answered.get(subject).copied().unwrap_or_default();
            let decided = self.apart.contains_key(subject) || tried >= MAX_ALONE;
            let has_turn = *extreme || *subject == Subject::Server || seen.insert(subject);
            match () {
                // One that is too deep or too large for the server is enough; if that is answered, the next one is tried.
                () if *extreme && !extremes.insert(self.is_deep(*index)) => {}
                () if self.apart.get(subject) == Some(index) => {}
                () if decided => drop(self.parked.insert(*index)),
                () if has_turn => self.unanswered.push_back(*index),
                // Its turn comes once the one before it has been answered.
                () => {}
            }
        }
        if !self.unanswered.is_empty() {
            return false;
        }
        for Aside { index, extreme, .. } in std::mem::take(&mut self.asides) {
            if extreme && !self.judged.contains_key(&index) && !self.silent.contains(&index) {
                self.given_up.entry(self.cases[index].subject.clone()).or_default().push(index);
            }
        }
        let mut again: Vec<usize> =
            self.parked.iter().copied().filter(|index| !self.is_apart(*index)).collect();
        if self.made_up >= MAX_MAKING_UP {
            for index in again.drain(..) {
                self.given_up.entry(self.cases[index].subject.clone()).or_default().push(index);
                self.parked.remove(&index);
            }
        }
        if again.is_empty() {
            return true;
        }
        self.made_up += 1;
        self.parked.retain(|index| !again.contains(index));
        self.parts.push_back(again);
        false
    }

    /// Whether a call that is too much is so by its depth, not by its size.
    fn is_deep(&self, index: usize) -> bool {
        self.cases[index].single_call().is_some_and(|(_, params)| depth(params) >= DEEP)
    }

    fn is_apart(&self, index: usize) -> bool {
        let subject = &self.cases[index].subject;
        self.apart.contains_key(subject)
    }

    /// The cases of a subject that are left for a lane of its own, but for the one that showed that it needs one.
    pub fn parked(&self, subject: &Subject) -> Vec<Case> {
        let first = self.apart.get(subject);
        let left = self.parked.iter().filter(|index| Some(*index) != first);
        let left = left.filter(|index| self.cases[**index].subject == *subject);
        left.map(|index| self.cases[*index].clone()).collect()
    }
}

/// The first case of each subject, then the second of each, and so on: where the time is short, no tool is left out. What needs
/// calls before it comes last, as it is, for those would be made again at each change.
fn by_turns(cases: Vec<Case>) -> Vec<Case> {
    let mut made: BTreeMap<Subject, usize> = BTreeMap::new();
    let turn = |case: Case| {
        let number = made.entry(case.subject.clone()).or_default();
        *number += 1;
        let prepared = !case.prelude.is_empty() || case.claim.is_some();
        (if prepared { usize::MAX } else { *number }, case)
    };
    let mut turns: Vec<(usize, Case)> = cases.into_iter().map(turn).collect();
    turns.sort_by_key(|(number, _)| *number);
    turns.into_iter().map(|(_, case)| case).collect()
}

/// Cases that differ only in the rule that they are tried for, as one case with its twins: each call is made once.
fn paired(cases: Vec<Case>) -> (Vec<Case>, BTreeMap<usize, Vec<Case>>) {
    let mut firsts: Vec<Case> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut twins: BTreeMap<usize, Vec<Case>> = BTreeMap::new();
    for case in cases {
        let calls = case.claim.as_ref().and_then(|_| serde_json::to_string(&case.steps).ok());
        match calls.as_ref().and_then(|calls| places.get(calls)) {
            Some(first) => twins.entry(*first).or_default().push(case),
            None => {
                places.extend(calls.map(|calls| (calls, firsts.len())));
                firsts.push(case);
            }
        }
    }
    (firsts, twins)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::catalogue::Catalogue;
    use crate::judge::Context;
    use crate::plan::Intent;
    use crate::run::{Recording, Taken};
    use crate::session::lab::Asked;
    use crate::target::Version;

    /// A round in which none of these calls, in flight together, was answered.
    fn stalled(tools: &[&str]) -> Round {
        let case = |tool: &&str| Case::tool(tool, json!({}), Intent::Valid, 1);
        let mut round = Round::new("valid".to_owned(), tools.iter().map(case).collect());
        let Some(Next::Part(places)) = round.next(1, true) else { panic!("a round begins with a part") };
        let aside = |index: usize| Aside {
            index,
            extreme: false,
            company: places.iter().copied().filter(|other| *other != index).collect(),
        };
        let part = Part { aside: places.iter().copied().map(aside).collect(), ..Part::default() };
        for (places, mut part) in round.take_part(1, part) {
            round.keep(&places, &mut part);
        }
        round
    }

    /// Makes the calls alone whose turn it is, and returns them.
    fn alone(round: &mut Round, number: u64) -> Vec<usize> {
        assert!(!round.advance(false));
        let next = (number..).map_while(|number| match round.next(number, false)? {
            Next::Alone(index) => Some((number, index)),
            Next::Part(_) => None,
        });
        let next: Vec<(u64, usize)> = next.collect();
        next.into_iter()
            .map(|(number, index)| {
                let (place, company) = round.take_alone(number).unwrap();
                assert_eq!(place, index);
                round.suspect_group(index, company);
                index
            })
            .collect()
    }

    fn answer(round: &mut Round, index: usize) {
        let case = round.cases[index].clone();
        let taken = Taken::unanswered("tools/call", Duration::ZERO);
        let recording = Recording { steps: vec![taken], stderr: None };
        let asked = Asked { teaches: false, learns: false, tells_kinds: false, twins: &[] };
        let context = Context::new(&Catalogue::default(), Version::V2025_11_25);
        round.judged.insert(index, Judged::of(&case, &recording, &context, &asked));
    }

    #[test]
    fn a_call_is_made_alone_once_the_one_before_it_of_its_tool_was_answered() {
        let mut round = stalled(&["a", "a", "b"]);
        let first = alone(&mut round, 2);
        assert_eq!(first.len(), 2);
        first.iter().for_each(|index| answer(&mut round, *index));
        let second = alone(&mut round, 9);
        assert_eq!(second.len(), 1);
        round.set_apart(second[0]);
        assert!(round.advance(false), "nothing is left to find out");
        assert_eq!(round.apart.values().copied().collect::<Vec<_>>(), second);
    }

    #[test]
    fn a_company_is_suspected_only_where_none_of_it_is_silent_alone() {
        let mut round = stalled(&["a", "b"]);
        let calls = alone(&mut round, 2);
        assert_eq!(round.unexplained_groups().count(), 1);
        round.set_apart(calls[1]);
        assert_eq!(round.unexplained_groups().count(), 0);
    }

    #[test]
    fn a_request_that_is_too_deep_explains_what_goes_unanswered_beside_it() {
        let mut round = stalled(&["a", "b"]);
        let calls = alone(&mut round, 2);
        let deep = (0..=DEEP).fold(json!(0), |inner, _| json!([inner]));
        round.cases[calls[1]] = Case::tool("b", json!({ "deep": deep }), Intent::Valid, 1);
        assert_eq!(round.unexplained_groups().count(), 0);
    }
}
