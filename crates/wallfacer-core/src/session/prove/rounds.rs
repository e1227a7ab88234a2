//! Looks into what shows only with calls in flight together: seen again on fresh servers, absent when the same calls are
//! made one after another, and made with as few calls as it takes.

use super::inquiry::{Confirmed, Inquiry, Tried};
use crate::findings::{Cause, FindingId, Kind};
use crate::judge::{Charge, DEADLOCK, IN_COMPANY, MISSING, TURNED_AWAY};
use crate::plan::{Ask, Case, Part, Question, Schedule, Step};
use crate::run::Patience;
use crate::wire::ConnectError;

/// A race does not show each time, so each look is so many turns long at most.
const TURNS: u32 = 12;
/// Looks that are spent on fewer calls.
const MAX_LOOKS: usize = 20;
/// How often fewer calls must show it before they are taken.
const LOOKS: usize = 2;

impl Inquiry<'_> {
    pub(super) async fn look_into_rounds(
        &mut self,
        case: &Case,
        schedule: &Schedule,
        charge: &Charge,
    ) -> Result<Confirmed, ConnectError> {
        // What shows in an answer needs no long wait for those that do not come.
        let patience = match is_silence(charge) {
            true => self.runner.patience().clone(),
            false => self.runner.patience().brief(),
        };
        let case = &with_schedule(case, Schedule { times: TURNS, ..schedule.clone() });
        let wanted = self.id(case, charge);
        let (reproduced, proven, another) = match self.try_often(case, &wanted, &patience, false).await? {
            Tried::OutOfTime => return Ok(Confirmed::OutOfTime),
            Tried::Done { reproduced, proven, another } => (reproduced, proven, another),
        };
        let Some(mut charge) = proven else {
            return Ok(another.map_or(Confirmed::Never, Confirmed::Another));
        };
        // What shows without company is no matter of company: a list that is cut off, a value that is replaced.
        // It is looked at as often, for a list may be cut off only once it is long.
        let alone = Schedule { times: TURNS, ..in_a_row(schedule) };
        if needs_company(schedule, &charge)
            && self.try_fresh(&with_schedule(case, alone), &wanted, &patience).await?.is_some()
        {
            return Ok(Confirmed::Works);
        }
        let mut smallest = case.clone();
        if reproduced.always() && self.minimise {
            let smaller = self.fewer(case, &wanted, &patience).await?;
            if smaller != *case
                && let Tried::Done { reproduced, proven: Some(again), .. } =
                    self.try_often(&smaller, &wanted, &patience, false).await?
                && reproduced.always()
            {
                (smallest, charge) = (smaller, again);
            }
        }
        Ok(Confirmed::Finding { charge, case: smallest, reproduced })
    }

    /// The same with fewer calls at once: two where that is enough, else what is left when halves are left out.
    async fn fewer(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Case, ConnectError> {
        let mut looks = 0;
        let mut smallest = case.clone();
        let Some(schedule) = case.schedule() else { return Ok(smallest) };
        for two in pairs(schedule) {
            let two = with_schedule(case, two);
            if self.shows_each_time(&two, wanted, patience, &mut looks).await? {
                return Ok(two);
            }
        }
        let mut size = widest(schedule) / 2;
        while size > 0 {
            let mut start = 0;
            while let Some(schedule) = smallest.schedule()
                && let Some(shorter) = without(schedule, start, size)
            {
                let shorter = with_schedule(case, shorter);
                match self.shows_each_time(&shorter, wanted, patience, &mut looks).await? {
                    true => smallest = shorter,
                    false => start += size,
                }
            }
            size /= 2;
        }
        Ok(smallest)
    }

    async fn shows_each_time(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
        looks: &mut usize,
    ) -> Result<bool, ConnectError> {
        for _ in 0..LOOKS {
            *looks += 1;
            if *looks > MAX_LOOKS
                || self.is_over_in(std::time::Duration::ZERO)
                || self.try_fresh(case, wanted, patience).await?.is_none()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether it is that no answer comes, or that none can come any more.
fn is_silence(charge: &Charge) -> bool {
    let silent = [MISSING, DEADLOCK].map(|part| Cause::rule(IN_COMPANY, Some(part)));
    silent.contains(&charge.cause) || charge.kind == Kind::Crash
}

/// Whether calls at the same time bring it about, and not that there is another client at all.
fn needs_company(schedule: &Schedule, charge: &Charge) -> bool {
    schedule.question != Question::Isolation && charge.check != TURNED_AWAY
}

fn with_schedule(case: &Case, schedule: Schedule) -> Case {
    Case { steps: vec![Step::Rounds(Box::new(schedule))], ..case.clone() }
}

/// The same calls, none with another.
fn in_a_row(schedule: &Schedule) -> Schedule {
    let rounds = schedule.asks().map(|ask| vec![ask.clone()]).collect();
    Schedule { rounds, ..schedule.clone() }
}

fn widest(schedule: &Schedule) -> usize {
    schedule.rounds.iter().map(Vec::len).max().unwrap_or(0)
}

/// The schedule with two calls at once: the first two, two of different clients, and the first with the last.
fn pairs(schedule: &Schedule) -> Vec<Schedule> {
    let Some(round) = schedule.rounds.iter().find(|round| round.len() > 2) else { return Vec::new() };
    let first = &round[0];
    let others = [round.iter().find(|ask| ask.client != first.client), round.get(1), round.last()];
    let mut made: Vec<Schedule> = Vec::new();
    for other in others.into_iter().flatten() {
        let two = vec![Ask { client: 0, ..first.clone() }, other.clone()];
        let fewer = tidied(schedule, |round| if round.len() > 1 { two.clone() } else { round.to_vec() });
        if !made.contains(&fewer) {
            made.push(fewer);
        }
    }
    made
}

/// Without some of the calls that are in flight together; none where nothing is left of them, or nothing to leave out.
fn without(schedule: &Schedule, start: usize, size: usize) -> Option<Schedule> {
    let width = widest(schedule);
    if start >= width || width <= size.max(2) {
        return None;
    }
    let fewer = tidied(schedule, |round| {
        let kept = round.iter().enumerate().filter(|(place, _)| !(start..start + size).contains(place));
        if round.len() > 1 { kept.map(|(_, ask)| ask.clone()).collect() } else { round.to_vec() }
    });
    (widest(&fewer) >= 2).then_some(fewer)
}

/// The rounds changed, without calls alone of what is in company no more, and clients counted from the first.
fn tidied(schedule: &Schedule, change: impl Fn(&[Ask]) -> Vec<Ask>) -> Schedule {
    let mut rounds: Vec<Vec<Ask>> = schedule.rounds.iter().map(|round| change(round)).collect();
    let forms: Vec<String> = rounds.iter().filter(|round| round.len() > 1).flatten().map(Ask::form).collect();
    rounds.retain(|round| match &round[..] {
        [] => false,
        [alone] => alone.part != Part::Call || forms.contains(&alone.form()),
        _ => true,
    });
    let mut clients: Vec<usize> = rounds.iter().flatten().map(|ask| ask.client).collect();
    clients.sort_unstable();
    clients.dedup();
    for ask in rounds.iter_mut().flatten() {
        ask.client = clients.iter().position(|client| *client == ask.client).unwrap_or(0);
    }
    Schedule { rounds, ..schedule.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ask(client: usize, part: Part, number: u64) -> Ask {
        let mark = crate::plan::mark(1, number);
        Ask::tool(client, part, "add", json!({ "text": mark }), vec![mark.clone()])
    }

    fn schedule(at_once: usize) -> Schedule {
        let alone = vec![ask(0, Part::Write, 99)];
        let together = (0..at_once).map(|number| ask(number % 3, Part::Write, number as u64)).collect();
        let read = vec![Ask::tool(0, Part::Read, "list", json!({}), Vec::new())];
        Schedule { question: Question::Store, rounds: vec![alone, together, read], times: 1 }
    }

    #[test]
    fn two_calls_at_once_are_tried_first() {
        let pairs = pairs(&schedule(8));
        assert!(pairs.iter().all(|pair| pair.rounds.len() == 3 && pair.rounds[1].len() == 2));
        assert_eq!(pairs[0].clients(), 2);
    }

    #[test]
    fn halves_are_left_out_until_two_calls_are_left() {
        let mut small = schedule(9);
        let mut size = 4;
        while size > 0 {
            while let Some(shorter) = without(&small, 0, size) {
                small = shorter;
            }
            size /= 2;
        }
        assert_eq!(small.rounds[1].len(), 2);
    }

    #[test]
    fn in_a_row_no_call_has_company() {
        let row = in_a_row(&schedule(4));
        assert_eq!((row.rounds.len(), widest(&row)), (6, 1));
    }
}
