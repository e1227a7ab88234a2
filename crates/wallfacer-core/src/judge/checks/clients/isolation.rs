//! What one session wrote must not show in another, where the server says that sessions are apart.

use super::{Reply, SHOWN, replies, told};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Part, Question};
use crate::run::{History, Recording};
use crate::wire::shortened;

pub struct KeepsSessionsApart;

impl Check for KeepsSessionsApart {
    fn name(&self) -> &'static str {
        "keeps-sessions-apart"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let Some((schedule, history, replies)) = replies(case, recording) else { return Verdict::Holds };
        let clients = schedule.clients();
        let charge = |part: &str, message: &str, calls: String| {
            let cause = Cause::rule(self.name(), Some(part));
            let charge = Charge::new(self.name(), Kind::StateLeak, cause, message.to_owned());
            Verdict::Broken(Box::new(charge.with("calls", calls)))
        };
        if let Some((written, client, notice)) = overheard(schedule.question, history, &replies) {
            let message = "what one client writes is told to another client in a notification";
            let told = told([written], clients);
            let calls = format!("{told}\nclient {}: is sent\n  → {}", client + 1, shortened(&notice, SHOWN));
            return charge("notifications", message, calls);
        }
        if schedule.question != Question::Isolation {
            return Verdict::Holds;
        }
        let Some((written, read)) = leak(&replies) else { return Verdict::Holds };
        let message = match written.ask.client == read.ask.client {
            true => "what is written for one session is shown to another that is named in the arguments",
            false => "what one client writes in its session is shown to another client in its own",
        };
        let part = if clients > 1 { "sessions" } else { "arguments" };
        charge(part, message, told([written, read], clients))
    }
}

/// What was written, and a notification to another client that tells of it. Who shares a store may tell all that it changed,
/// but nobody else is to be told of the calls of another.
fn overheard<'a>(
    question: Question,
    history: &History,
    replies: &'a [Reply<'a>],
) -> Option<(&'a Reply<'a>, usize, String)> {
    const OF_CALLS: [&str; 2] = ["notifications/message", "notifications/progress"];
    let judged = match question {
        Question::Isolation => |_: &str| true,
        Question::Nothing => |notice: &str| OF_CALLS.iter().any(|method| notice.contains(method)),
        _ => return None,
    };
    history.notices.iter().find_map(|(client, notice)| {
        let notice = String::from_utf8_lossy(notice).into_owned();
        let mut written = replies
            .iter()
            .filter(|reply| reply.ask.part == Part::Write && reply.ask.client != *client && judged(&notice));
        let tells = |written: &&Reply| written.ask.marks.iter().any(|mark| notice.contains(mark.as_str()));
        let written = written.find(tells)?;
        Some((written, *client, notice))
    })
}

/// What was written, and the answer to somebody else that shows it.
fn leak<'a>(replies: &'a [Reply<'a>]) -> Option<(&'a Reply<'a>, &'a Reply<'a>)> {
    replies.iter().enumerate().find_map(|(place, read)| {
        let mut before = replies[..place].iter().filter(|before| before.ask.part == Part::Write);
        let shows = |written: &&Reply| written.ask.marks.iter().any(|mark| read.shows(mark) > 0);
        let written = before.find(shows).filter(|_| read.ask.part == Part::Read)?;
        Some((written, read))
    })
}
