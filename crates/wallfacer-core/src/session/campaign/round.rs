//! A round of cases in, what is suspected after it out; what was left out without need is made up for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::proof::Haste;
use super::rulings::is_of_watching;
use super::{Campaign, Field};
use crate::event::{Event, Listener};
use crate::judge::Charge;
use crate::observe::Answer;
use crate::plan::{Case, Planner, Subject, Teaching};
use crate::session::curfew::Curfew;
use crate::session::shard::{Judged, Manner, Part, perform_round, shard_size};
use crate::summary::Note;
use crate::wire::ConnectError;

/// Rounds in which a tool may be given up before it is left alone.
const MAX_GIVEN_UP: usize = 3;

impl Campaign<'_> {
    /// Whether no further rounds are to be begun.
    pub fn is_over(&self) -> bool {
        self.options.stop.is_told() || self.curfew().is_some_and(|curfew| curfew.is_over())
    }

    /// Performs a round, looks into what is suspected, and makes up for what was left out without need.
    pub fn play(
        &mut self,
        cases: &[Case],
        phase: &str,
        field: &Field<'_>,
        mut planner: Option<&mut Planner>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        if cases.is_empty() {
            return Ok(());
        }
        self.round(cases, phase, field, planner.as_deref_mut(), listener)?;
        self.confirm(Haste::BetweenRounds, field, listener)?;
        self.make_up(phase, field, planner, listener)
    }

    /// Decides on the cases that were left out: those of subjects that are only slow are performed after all. Where a hang
    /// has not been looked into yet, they wait.
    pub(super) fn make_up(
        &mut self,
        phase: &str,
        field: &Field<'_>,
        mut planner: Option<&mut Planner>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let mut slow: Vec<Case> = Vec::new();
        for (subject, mut cases) in std::mem::take(&mut self.left) {
            if self.slow.contains(&subject) {
                slow.append(&mut cases);
            } else if self.suspicions.is_of_hang(&subject) {
                self.left.insert(subject, cases);
            } else {
                self.give_up(&subject, cases.len(), planner.as_deref_mut());
            }
        }
        if !slow.is_empty() {
            self.round(&slow, phase, field, planner, listener)?;
            self.confirm(Haste::BetweenRounds, field, listener)?;
        }
        Ok(())
    }

    /// When a round that begins now has to end.
    fn curfew(&self) -> Option<Curfew> {
        self.window.curfew(self.kept_for_hangs(), self.suspicions.len() > 0)
    }

    /// Performs the cases of one round, and takes in what was seen in the order of the cases. Those that are known to be
    /// slow, or suspected of hanging, come last, by themselves, so that nothing else waits for them.
    fn round(
        &mut self,
        cases: &[Case],
        phase: &str,
        field: &Field<'_>,
        mut planner: Option<&mut Planner>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        listener.hear(&Event::RoundBegun { phase, cases: cases.len() });
        let doubted = self.suspicions.of_hangs();
        let (slow, quick): (Vec<Case>, Vec<Case>) = cases
            .iter()
            .cloned()
            .partition(|case| self.slow.contains(&case.subject) || doubted.contains(&case.subject));
        self.perform(&quick, self.curfew(), field, planner.as_deref_mut())?;
        let begun = Instant::now();
        // Where everything is slow, nothing else waits for it.
        let all = self.chosen.iter().all(|tool| self.slow.contains(&Subject::Tool(tool.name.clone())));
        let share = if all { self.window.end() } else { self.window.slow_until(self.call_time) };
        let curfew = self.curfew().zip(share).map(|(curfew, until)| curfew.at_latest(until));
        self.perform(&slow, curfew, field, planner)?;
        self.window.spend_on_slow(begun.elapsed());
        listener.hear(&Event::RoundDone {
            phase,
            calls: self.summary.calls,
            suspicions: self.suspicions.len(),
            suspected: &self.suspicions.in_words(),
        });
        Ok(())
    }

    fn perform(
        &mut self,
        cases: &[Case],
        curfew: Option<Curfew>,
        field: &Field<'_>,
        mut planner: Option<&mut Planner>,
    ) -> Result<(), ConnectError> {
        let (slow, doubted) = (self.slow.clone(), self.suspicions.of_hangs());
        let (cases, twins) = paired(cases);
        let manner = Manner {
            context: field.context,
            in_flight: self.options.in_flight,
            workers: self.options.workers,
            curfew,
            stop: &self.options.stop,
            slow: &slow,
            doubted: &doubted,
            twins: &twins,
            learns: self.answers.is_some(),
            tells_kinds: self.options.feedback.is_some() && planner.is_some(),
            is_known: &|case, charge| {
                !self.wants(charge) || self.suspicions.knows(self.server.name.as_deref(), case, charge)
            },
        };
        for part in perform_round(&cases, field.runner, &manner, &self.idle)? {
            self.take_part(part, &cases, planner.as_deref_mut());
        }
        Ok(())
    }

    fn take_part(&mut self, part: Part, cases: &[Case], mut planner: Option<&mut Planner>) {
        self.lives += part.lives;
        self.out_of_time |= part.out_of_time;
        self.undone.extend(part.undone.into_iter().map(|index| cases[index].clone()));
        for (index, judged) in part.judged {
            self.take_case(cases, index, judged, planner.as_deref_mut());
        }
        for (subject, left) in part.given_up {
            let left = left.into_iter().map(|index| cases[index].clone());
            self.left.entry(subject).or_default().extend(left);
        }
        for unexplained in part.unexplained {
            let names: BTreeSet<_> =
                unexplained.suspects.iter().filter_map(|index| cases[*index].subject.name()).collect();
            let names: Vec<_> = names.into_iter().collect();
            let what = if unexplained.closed.is_some() { "ended" } else { "fell silent" };
            let text = match names.is_empty() {
                true => format!("the server once {what}, and no single request makes it do so again"),
                false => format!(
                    "the server once {what} with calls of {} in flight, and none of them alone makes it do so again",
                    names.join(", ")
                ),
            };
            self.notes.insert(Note { tool: None, text });
        }
    }

    fn take_case(&mut self, cases: &[Case], index: usize, judged: Judged, planner: Option<&mut Planner>) {
        let case = &cases[index];
        let valid = case.intent.is_valid() == Some(true);
        self.count(case, &judged.answer);
        self.learned.send(case);
        if let Teaching::Result(lessons) = &judged.teaching {
            self.learned.hear(lessons);
        }
        if let (Some(answers), Some(sight), Some(tool)) =
            (&mut self.answers, judged.sight, case.subject.tool())
        {
            answers.entry(tool.to_owned()).or_default().add(sight);
        }
        if let Some(planner) = planner {
            judged.kind.iter().for_each(|kind| planner.learn_kind(case, *kind));
            let completed = judged.answer == Answer::Completed;
            let unready = judged.unready.filter(|text| planner.learn_unready(case, text, completed));
            // That something was done though it is not valid says nothing of what is.
            if unready.is_none() && (valid || !completed) {
                planner.learn(case, judged.teaching);
            }
        }
        let tool = case.subject.tool().map(str::to_owned);
        self.notes.extend(judged.notes.into_iter().map(|text| Note { tool: tool.clone(), text }));
        self.note_ruling(case, judged.unknown);
        for (twin, judgement) in judged.twins {
            self.note_ruling(&twin, judgement.unknown);
            let wanted = judgement.charges.into_iter().filter(|charge| self.wants(charge));
            for charge in wanted.collect::<Vec<Charge>>() {
                self.suspicions.add(self.server.name.as_deref(), &twin, charge, Vec::new);
            }
        }
        let performed = judged.case.as_ref().unwrap_or(case);
        let before = || {
            let first = index - index % shard_size(cases.len());
            cases[first..index].iter().flat_map(|case| case.steps.clone()).collect()
        };
        for charge in judged.charges.into_iter().filter(|charge| self.wants(charge)).collect::<Vec<_>>() {
            self.suspicions.add(self.server.name.as_deref(), performed, charge, before);
        }
    }

    /// Counts what became of a case.
    pub fn count(&mut self, case: &Case, answer: &Answer) {
        self.summary.count(answer);
        self.summary.of_offers += u64::from(is_offer(&case.subject));
        let valid = case.intent.is_valid() == Some(true);
        let completed = *answer == Answer::Completed;
        if let Some(tool) = case.subject.tool() {
            let counts = self.tools.entry(tool.to_owned()).or_default();
            counts.calls.count(answer);
            counts.valid_calls += u64::from(valid);
            counts.valid_completed += u64::from(valid && completed);
            if valid && completed && case.single_call().is_some() {
                self.good.entry(tool.to_owned()).or_insert_with(|| case.clone());
            }
        }
    }

    pub(super) fn wants(&self, charge: &Charge) -> bool {
        charge.kind.rule().is_some() || !self.only_rules && !is_of_watching(charge)
    }

    pub(super) fn give_up(&mut self, subject: &Subject, cases: usize, planner: Option<&mut Planner>) {
        let times = self.given_up.entry(subject.clone()).or_default();
        *times += 1;
        if let (Some(planner), Some(tool)) = (planner, subject.tool())
            && *times >= MAX_GIVEN_UP
        {
            planner.stop(tool);
        }
        let cases = if cases == 1 { "1 case was".to_owned() } else { format!("{cases} cases were") };
        let text = format!("{cases} left out because it kept ending or silencing the server");
        self.notes.insert(Note { tool: subject.name().map(str::to_owned), text });
    }
}

/// Cases that differ only in the rule that they are tried for, as one case with its twins: each call is made once.
fn paired(cases: &[Case]) -> (Vec<Case>, BTreeMap<usize, Vec<Case>>) {
    let mut firsts: Vec<Case> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut twins: BTreeMap<usize, Vec<Case>> = BTreeMap::new();
    for case in cases {
        let calls = case.claim.as_ref().and_then(|_| serde_json::to_string(&case.steps).ok());
        match calls.as_ref().and_then(|calls| places.get(calls)) {
            Some(first) => twins.entry(*first).or_default().push(case.clone()),
            None => {
                places.extend(calls.map(|calls| (calls, firsts.len())));
                firsts.push(case.clone());
            }
        }
    }
    (firsts, twins)
}

fn is_offer(subject: &Subject) -> bool {
    matches!(subject, Subject::Resource(_) | Subject::Prompt(_) | Subject::Completion(_))
}
