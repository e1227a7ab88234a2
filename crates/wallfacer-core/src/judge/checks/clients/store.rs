//! What was written and acknowledged must show in what is read, whatever was written at the same time.

use super::{Reply, replies, told};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::history::{Act, Anomaly, Done, Operation, Shown, anomalies, miscount};
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Ask, Case, Part, Question, Schedule};
use crate::run::Recording;
use crate::target::Severity;

/// Calls of a counter alone, from which it is known where the count stands in an answer.
const FEWEST: usize = 3;

pub struct KeepsWhatIsWritten;

impl Check for KeepsWhatIsWritten {
    fn name(&self) -> &'static str {
        "keeps-what-is-written"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let Some((schedule, _, replies)) = replies(case, recording) else { return Verdict::Holds };
        let charge = match schedule.question {
            Question::Store | Question::Files => self.judge_store(&replies, schedule),
            Question::Counter => self.judge_counter(&replies, schedule.clients()),
            Question::Nothing | Question::Answers | Question::Isolation => None,
        };
        charge.map_or(Verdict::Holds, |charge| Verdict::Broken(Box::new(charge)))
    }
}

impl KeepsWhatIsWritten {
    fn charge(&self, part: &str, message: String) -> Charge {
        Charge::new(self.name(), Kind::Race, Cause::rule(self.name(), Some(part)), message)
    }

    fn judge_store(&self, replies: &[Reply], schedule: &Schedule) -> Option<Charge> {
        let usual = Usual::of(replies)?;
        let writes: Vec<&Ask> =
            replies.iter().filter(|reply| reply.ask.part == Part::Write).map(|reply| reply.ask).collect();
        let history: Vec<Operation> = replies.iter().map(|reply| operation(reply, &writes, &usual)).collect();
        let first = anomalies(&history).into_iter().next()?;
        let (part, message) = in_words(&first);
        let places = first.places();
        // Beside what shows it, one of the writes that were under way at the same time.
        let written = places.iter().find(|place| matches!(history[**place].act, Act::Write { .. }));
        let beside = written.and_then(|written| {
            replies.iter().position(|other| {
                other.ask.part == Part::Write
                    && !std::ptr::eq(other, &replies[*written])
                    && other.asked.round == replies[*written].asked.round
            })
        });
        let mut shown: Vec<usize> = places.into_iter().chain(beside).collect();
        shown.sort_unstable();
        shown.dedup();
        let at_once = replies.iter().filter(|reply| !reply.alone && reply.ask.part == Part::Write).count();
        let mut details =
            "No order of these calls, one after another, gives these answers; made one after another on a \
                           fresh server, all of it shows."
                .to_owned();
        let mut charge = match schedule.question {
            Question::Files => {
                details.push_str(
                    " Each client of a stdio server starts a process of its own, and they share its files: lock the file from \
                     reading it to writing it, or use a database.",
                );
                let message =
                    format!("with {at_once} concurrent writes by two processes of the server, {message}");
                let mut charge = self.charge(&format!("between processes, {part}"), message);
                charge.severity = Some(Severity::Medium);
                charge
            }
            _ => self.charge(part, format!("with {at_once} concurrent writes, {message}")),
        };
        charge.details = details;
        let shown = shown.into_iter().map(|place| &replies[place]);
        Some(charge.with("calls", told(shown, schedule.clients())))
    }

    fn judge_counter(&self, replies: &[Reply], clients: usize) -> Option<Charge> {
        let company = replies.iter().position(|reply| !reply.alone)?;
        let round = replies[company].asked.round;
        let (before, rest) = replies.split_at(company);
        // Who counts may say so itself, or have somebody else say it.
        let told_by = |reply: &Reply| reply.ask.part == Part::Read;
        let read = before.iter().any(told_by);
        let before: Vec<&Reply> = before.iter().filter(|reply| told_by(reply) == read).collect();
        let after = rest.iter().find(|reply| reply.asked.round > round && told_by(reply) == read)?;
        let alone: Vec<Vec<i64>> = before.iter().map(|reply| numbers(&reply.said)).collect();
        let place = counted_at(&alone)?;
        let (last, next) = (*alone.last()?.get(place)?, *numbers(&after.said).get(place)?);
        let during = rest.iter().filter(|reply| reply.asked.round == round);
        let acknowledged = during.clone().filter(|reply| reply.is_completed()).count() as u64;
        // The call that shows the end counts too, unless it only reads.
        let itself = u64::from(!read);
        let lost = miscount(last, acknowledged + itself, next)?;
        let message = format!(
            "of {acknowledged} concurrent calls, the counter has counted {}",
            (lost.counted - itself as i64).max(0)
        );
        let shown = before.last().copied().into_iter().chain(during.take(2)).chain([after]);
        Some(self.charge("a counter loses calls", message).with("calls", told(shown, clients)))
    }
}

/// How a write shows that was made alone: how often each of its marks stands in what is read right after it.
struct Usual(Vec<usize>);

impl Usual {
    fn of(replies: &[Reply]) -> Option<Usual> {
        let write = replies.iter().position(|reply| reply.ask.part == Part::Write && reply.alone)?;
        let read = replies[write..].iter().find(|reply| reply.ask.part == Part::Read)?;
        let shown: Vec<usize> = replies[write].ask.marks.iter().map(|mark| read.shows(mark)).collect();
        (read.is_completed() && shown.iter().any(|times| *times > 0)).then_some(Usual(shown))
    }

    /// How another write shows; none where it does not.
    fn shown(&self, value: usize, ask: &Ask, read: &Reply) -> Option<Shown> {
        let marks = ask.marks.iter().zip(&self.0).filter(|(_, usual)| **usual > 0);
        let seen: Vec<(usize, usize)> = marks.map(|(mark, usual)| (read.shows(mark), *usual)).collect();
        let any = seen.iter().any(|(times, _)| *times > 0);
        let torn = seen.iter().any(|(times, _)| *times == 0);
        let times = seen.iter().map(|(times, usual)| times / usual).min().unwrap_or(0).max(1);
        any.then_some(Shown { value, times: times as u32, torn })
    }
}

fn operation(reply: &Reply, writes: &[&Ask], usual: &Usual) -> Operation {
    let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let act = match reply.ask.part {
        Part::Write => {
            let value = writes.iter().position(|ask| std::ptr::eq(*ask, reply.ask)).unwrap_or_default();
            let done = match reply.answer {
                Answer::Completed => Done::Yes,
                Answer::Rejected { .. } => Done::No,
                Answer::ToolError if says_undone(&reply.said) => Done::No,
                _ => Done::Maybe,
            };
            Act::Write { value, done }
        }
        Part::Read | Part::Call if reply.is_completed() => {
            let shown = writes.iter().enumerate().filter_map(|(value, ask)| usual.shown(value, ask, reply));
            Act::Read(shown.collect())
        }
        Part::Read | Part::Call if reply.is_limited() || reply.answer == Answer::Silent => {
            Act::Read(Vec::new())
        }
        Part::Read | Part::Call => Act::Unreadable,
    };
    // What was not read in time shows nothing, and is held to nothing.
    let lost = matches!(&act, Act::Read(_)) && !reply.is_completed();
    let asked = if lost { 0 } else { nanoseconds(reply.asked.asked) };
    Operation { asked, answered: reply.asked.answered.map(nanoseconds), act }
}

/// Whether an error says itself that nothing was done.
fn says_undone(said: &str) -> bool {
    const WORDS: [&str; 6] =
        ["nothing was", "was not ", "were not ", "not saved", "no changes", "rolled back"];
    let said = said.to_lowercase();
    WORDS.iter().any(|words| said.contains(words))
}

fn in_words(anomaly: &Anomaly) -> (&'static str, String) {
    let (part, message) = match anomaly {
        Anomaly::Unreadable { .. } => {
            ("the store is spoiled", "what is stored cannot be read any more afterwards")
        }
        Anomaly::Lost { .. } => (
            "writes are lost",
            "one that was acknowledged is lost: it does not show in what is read afterwards",
        ),
        Anomaly::Vanished { .. } => ("reads go back", "what one read shows is missing from a later one"),
        Anomaly::Phantom { .. } => {
            ("refused writes show", "one that was refused, or not yet made, shows in what is read")
        }
        Anomaly::Doubled { .. } => {
            ("writes are doubled", "one shows more than once in what is read afterwards")
        }
        Anomaly::Torn { .. } => ("writes are torn", "one shows only in part in what is read"),
    };
    (part, message.to_owned())
}

/// All whole numbers in a text, in order.
fn numbers(text: &str) -> Vec<i64> {
    let parts = text.split(|letter: char| !letter.is_ascii_digit());
    parts.filter(|part| !part.is_empty() && part.len() < 16).filter_map(|part| part.parse().ok()).collect()
}

/// Where the one number stands that rises by one from call to call, while all others stay.
pub fn counted_at(answers: &[Vec<i64>]) -> Option<usize> {
    let first = answers.first()?;
    if answers.len() < FEWEST || answers.iter().any(|answer| answer.len() != first.len()) {
        return None;
    }
    // The same number may stand in the text and in the structured content.
    let rises = |place: &usize| answers.windows(2).all(|pair| pair[1][*place] == pair[0][*place] + 1);
    let stays = |place: &usize| answers.windows(2).all(|pair| pair[1][*place] == pair[0][*place]);
    let rising: Vec<usize> = (0..first.len()).filter(rises).collect();
    let rest = (0..first.len()).filter(|place| !rising.contains(place)).all(|place| stays(&place));
    rising.first().copied().filter(|_| rest)
}

/// Whether answers to one call made alone show a counter.
pub fn is_counter(answers: &[&str]) -> bool {
    let answers: Vec<Vec<i64>> = answers.iter().map(|said| numbers(said)).collect();
    counted_at(&answers).is_some()
}

/// By how much the one number has risen in which two answers differ.
pub fn risen(before: &str, after: &str) -> Option<u64> {
    let (before, after) = (numbers(before), numbers(after));
    let mut changed = before.iter().zip(&after).filter(|(before, after)| before != after);
    let (from, to) = changed.next().filter(|_| before.len() == after.len())?;
    // The same number may stand in the text and in the structured content.
    let once = changed.all(|other| other == (from, to));
    u64::try_from(to - from).ok().filter(|_| once)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_one_number_that_rises_by_one() {
        assert!(is_counter(&["count: 1", "count: 2", "count: 3"]));
        assert!(is_counter(&[
            "{\"a\":7,\"n\":4,\"again\":4}",
            "{\"a\":7,\"n\":5,\"again\":5}",
            "{\"a\":7,\"n\":6,\"again\":6}"
        ]));
        assert!(!is_counter(&["at 12:00:01", "at 12:00:01", "at 12:00:02"]));
        assert!(!is_counter(&["1 of 5", "2 of 9", "3 of 2"]));
        assert!(!is_counter(&["1", "2"]));
    }

    #[test]
    fn what_is_shown_of_a_count_is_the_one_number_that_rises() {
        assert_eq!(risen("3 of 9", "5 of 9"), Some(2));
        assert_eq!(risen("{\"n\":3,\"again\":3}", "{\"n\":4,\"again\":4}"), Some(1));
        assert_eq!(risen("3 of 9", "3 of 9"), None);
        assert_eq!(risen("5", "3"), None);
        assert_eq!(risen("3 of 9", "5 of 8"), None);
    }
}
