//! A call must be answered in company as it is alone: with an answer, with its own, and with the same.

use super::{Reply, replies, told};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Question};
use crate::run::{History, Recording};
use crate::target::Severity;

/// Answers to the same call alone; fewer do not show whether they are always the same.
const FEWEST: usize = 2;

/// The name of the check, and of what it finds where no answer comes.
pub const IN_COMPANY: &str = "answers-in-company";
pub const MISSING: &str = "missing";
pub const DEADLOCK: &str = "deadlock";

pub struct AnswersInCompany;

impl Check for AnswersInCompany {
    fn name(&self) -> &'static str {
        IN_COMPANY
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let Some((schedule, history, replies)) = replies(case, recording) else { return Verdict::Holds };
        // A death says it all.
        if replies.iter().any(|reply| matches!(reply.answer, Answer::Gone { .. })) {
            return Verdict::Holds;
        }
        let clients = schedule.clients();
        let company: Vec<&Reply> = replies.iter().filter(|reply| !reply.alone).collect();
        let judged = schedule.question == Question::Answers;
        let swapped =
            company.iter().filter(|_| judged).find_map(|reply| self.swapped(reply, &replies, clients));
        // Who has another's answer keeps a third waiting.
        if let Some(charge) = swapped {
            return Verdict::Broken(Box::new(charge));
        }
        if let Some(verdict) = self.missing(history, &replies, clients) {
            return verdict;
        }
        let broken =
            company.iter().filter(|_| judged).find_map(|reply| self.different(reply, &replies, clients));
        broken.map_or(Verdict::Holds, |charge| Verdict::Broken(Box::new(charge)))
    }
}

impl AnswersInCompany {
    fn charge(&self, part: &str, message: String) -> Charge {
        Charge::new(self.name(), Kind::Race, Cause::rule(self.name(), Some(part)), message)
    }

    /// Calls in company that nobody answers.
    fn missing(&self, history: &History, replies: &[Reply], clients: usize) -> Option<Verdict> {
        let silent: Vec<&Reply> = replies.iter().filter(|reply| reply.answer == Answer::Silent).collect();
        let first = silent.first()?;
        // What is silent alone hangs, and that is found elsewhere.
        if first.alone {
            return Some(Verdict::Holds);
        }
        if history.cut_short || history.kept_waiting > history.waited {
            return Some(Verdict::Unknown("the machine was too busy, or the calls take too long".to_owned()));
        }
        let all = replies.iter().filter(|reply| reply.asked.round == first.asked.round).count();
        let (part, message) = match history.still_answers {
            Some(false) => (
                DEADLOCK,
                format!(
                    "of {all} concurrent calls, {} are not answered, and neither is anything after them; each is answered \
                     when made alone",
                    silent.len()
                ),
            ),
            _ => (
                MISSING,
                format!(
                    "of {all} concurrent calls, {} never answered; each is answered when made alone",
                    if silent.len() == 1 { "1 is".to_owned() } else { format!("{} are", silent.len()) }
                ),
            ),
        };
        let calls = told(silent.into_iter().take(3), clients);
        Some(Verdict::Broken(Box::new(self.charge(part, message).with("calls", calls))))
    }

    /// The answer of another call.
    fn swapped(&self, reply: &Reply, replies: &[Reply], clients: usize) -> Option<Charge> {
        let usual = usual(reply, replies)?;
        let marked = (0..reply.ask.marks.len()).any(|number| usual.contains(&format!("<{number}>")));
        if !marked || reply.ask.marks.iter().any(|mark| reply.shows(mark) > 0) {
            return None;
        }
        let others = replies.iter().filter(|other| {
            other.asked.round == reply.asked.round
                && !std::ptr::eq(*other, reply)
                && !other.ask.marks.is_empty()
        });
        let mut whose = others.filter(|other| {
            other.ask.marks.iter().any(|mark| reply.shows(mark) > 0)
                && self::usual(other, replies).is_some_and(|usual| reply.formed(other.ask) == usual)
        });
        let other = whose.next()?;
        let between_clients = other.ask.client != reply.ask.client;
        let message = match between_clients {
            true => "a client is given the answer to another client's call".to_owned(),
            false => "a call is given the answer to another concurrent call".to_owned(),
        };
        let part = if between_clients { "answers of clients are swapped" } else { "answers are swapped" };
        let mut charge = self.charge(part, message);
        charge.details =
            "Both calls carry values of their own, and were answered with them when they were made alone."
                .to_owned();
        Some(charge.with("calls", told([other, reply], clients)))
    }

    /// An answer that the same call never has alone.
    fn different(&self, reply: &Reply, replies: &[Reply], clients: usize) -> Option<Charge> {
        let usual = usual(reply, replies)?;
        let unknown = matches!(reply.answer, Answer::Silent | Answer::Gone { .. });
        if reply.is_limited() || reply.is_told_to_wait() || unknown {
            return None;
        }
        // Numbers may tell the time, or how much is going on.
        if without_numbers(&reply.formed(reply.ask)) == without_numbers(&usual) {
            return None;
        }
        let all = replies.iter().filter(|other| other.asked.round == reply.asked.round).count();
        let fails = !reply.is_completed();
        // A tool may tell what others are doing at the moment.
        let mixed = replies.iter().any(|other| {
            other.asked.round == reply.asked.round && other.ask.tool_name() != reply.ask.tool_name()
        });
        if mixed && !fails {
            return None;
        }
        let message = match fails {
            true => format!("a valid call fails with {all} concurrent calls, and works when made alone"),
            false => format!("one of {all} concurrent calls is answered differently than when made alone"),
        };
        let mut charge = self.charge(if fails { "fails" } else { "differs" }, message);
        charge.severity = Some(if fails { Severity::Medium } else { Severity::Low });
        let alone = same_alone(reply, replies).next();
        Some(charge.with("calls", told(alone.into_iter().chain([reply]), clients)))
    }
}

/// What a call is answered alone each time; none where that differs, or is not known.
fn usual(reply: &Reply, replies: &[Reply]) -> Option<String> {
    let mut alone = same_alone(reply, replies);
    let first = alone.next()?;
    let usual = first.formed(first.ask);
    let mut count = 1;
    for other in alone {
        count += 1;
        if other.formed(other.ask) != usual || !other.is_completed() {
            return None;
        }
    }
    (count >= FEWEST && first.is_completed()).then_some(usual)
}

fn same_alone<'a>(reply: &Reply, replies: &'a [Reply<'a>]) -> impl Iterator<Item = &'a Reply<'a>> {
    let form = reply.ask.form();
    replies.iter().filter(move |other| other.alone && other.ask.form() == form)
}

fn without_numbers(text: &str) -> String {
    let mut last = false;
    let kept = text.chars().filter_map(|letter| {
        let digit = letter.is_ascii_digit();
        let shown = if digit { (!last).then_some('#') } else { Some(letter) };
        last = digit;
        shown
    });
    kept.collect()
}
