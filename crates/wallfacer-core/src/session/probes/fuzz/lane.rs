//! A lane: rounds of cases, one after another. Tools that answer share one; a tool that is slow, silent or deadly has its
//! own, so that it takes nobody else's time.

use std::collections::VecDeque;

use super::round::Round;
use crate::plan::{Case, Planner, Subject};
use crate::session::lab::Pace;

/// Rounds in which a tool may be given up before it is left alone.
const MAX_GIVEN_UP: usize = 3;

pub struct Lane {
    /// The only subject of the lane, where it has one.
    pub own: Option<Subject>,
    pub planner: Option<Planner>,
    /// Rounds that come before those of the plan, each with the name of its phase.
    pub first: VecDeque<(String, Vec<Case>)>,
    pub round: Option<Round>,
    pub pace: Pace,
    /// The call that was not answered at once, until it is known whether it is answered at all.
    pub doubtful: Option<Case>,
    /// Whether that is being found out.
    pub looks: bool,
    /// Cases that were not answered; they are tried again where the subject turns out to be only slow.
    pub left: Vec<Case>,
    given_up: usize,
    /// Whether its calls do together what none of them does alone, so that one is made at a time.
    pub one_at_a_time: bool,
    /// Whether the calls that show whether anything grows are still to be made.
    pub grows: bool,
    is_over: bool,
}

impl Lane {
    pub fn new(planner: Option<Planner>, first: Vec<(String, Vec<Case>)>) -> Lane {
        Lane {
            own: None,
            planner,
            first: first.into(),
            round: None,
            pace: Pace::Brisk,
            doubtful: None,
            looks: false,
            left: Vec::new(),
            given_up: 0,
            one_at_a_time: false,
            grows: false,
            is_over: false,
        }
    }

    /// A lane for one subject, which begins with the cases that were left out elsewhere.
    pub fn of(subject: &Subject, planner: Option<Planner>, phase: &str, parked: Vec<Case>) -> Lane {
        let mut lane = Lane::new(planner, vec![(phase.to_owned(), parked)]);
        lane.own = Some(subject.clone());
        lane
    }

    pub fn is_done(&self) -> bool {
        self.is_over && self.round.is_none() && self.doubtful.is_none() && !self.looks
    }

    /// Whether the plan is done, and it is time for the calls that show whether anything grows.
    pub fn is_to_grow(&self) -> bool {
        self.grows && self.is_over && self.round.is_none()
    }

    /// Whether its next round can be made.
    pub fn is_free(&self) -> bool {
        self.round.is_none() && !self.is_over && self.doubtful.is_none() && !self.looks
    }

    /// The cases of the next round; none when it is done.
    pub fn next_cases(&mut self) -> Option<(String, Vec<Case>)> {
        while let Some((phase, cases)) = self.first.pop_front() {
            if !cases.is_empty() {
                return Some((phase, cases));
            }
        }
        let round = self.planner.as_mut().and_then(Planner::next_round);
        if round.is_none() {
            self.is_over = true;
        }
        round.map(|round| (format!("{:?}", round.phase).to_lowercase(), round.cases))
    }

    /// Makes the next round now, so that it is known whether there is one.
    pub fn look_ahead(&mut self) {
        if !self.first.iter().any(|(_, cases)| !cases.is_empty()) {
            let next = self.next_cases();
            self.first.extend(next);
        }
    }

    /// Further cases after the plan.
    pub fn append(&mut self, phase: &str, cases: Vec<Case>) {
        self.is_over = false;
        self.first.push_back((phase.to_owned(), cases));
    }

    /// A subject is given up in a round; after a few of them for good.
    pub fn give_up(&mut self, subject: &Subject) {
        self.given_up += 1;
        if let (Some(planner), Some(tool)) = (&mut self.planner, subject.tool())
            && self.given_up >= MAX_GIVEN_UP
        {
            planner.stop(tool);
        }
    }
}
