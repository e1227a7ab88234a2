//! What one session wrote must not show in another, where the server says that sessions are apart.

use super::{Reply, replies, told};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Part, Question};
use crate::run::Recording;

pub struct KeepsSessionsApart;

impl Check for KeepsSessionsApart {
    fn name(&self) -> &'static str {
        "keeps-sessions-apart"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let Some((schedule, _, replies)) = replies(case, recording) else { return Verdict::Holds };
        if schedule.question != Question::Isolation {
            return Verdict::Holds;
        }
        let clients = schedule.clients();
        let Some((written, read)) = leak(&replies) else { return Verdict::Holds };
        let message = match written.ask.client == read.ask.client {
            true => "what is written for one session is shown to another that is named in the arguments",
            false => "what one client writes in its session is shown to another client in its own",
        };
        let part = if clients > 1 { "sessions" } else { "arguments" };
        let cause = Cause::rule(self.name(), Some(part));
        let charge = Charge::new(self.name(), Kind::StateLeak, cause, message.to_owned());
        Verdict::Broken(Box::new(charge.with("calls", told([written, read], clients))))
    }
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
