//! What several clients were answered is judged here, by one question each.

mod company;
mod isolation;
mod store;
mod turned_away;

pub use company::{AnswersInCompany, DEADLOCK, IN_COMPANY, MISSING};
pub use isolation::KeepsSessionsApart;
pub use store::{KeepsWhatIsWritten, is_counter, risen};
pub use turned_away::{TURNED_AWAY, TakesClients};

use crate::observe::{Answer, read_outcome};
use crate::plan::{Ask, Case, Schedule};
use crate::run::{Asked, History, Recording};
use crate::wire::{Body, Content, Outcome, shortened};

/// What of an answer is told.
const SHOWN: usize = 400;
/// What of a call is told.
const CALL: usize = 300;

/// One call beside what came of it.
#[derive(Debug)]
pub struct Reply<'a> {
    pub ask: &'a Ask,
    pub asked: &'a Asked,
    pub answer: Answer,
    /// All that it was answered.
    pub said: String,
    /// Whether no other was in flight with it.
    pub alone: bool,
}

/// What several clients did, where a case is about that.
pub fn replies<'a>(
    case: &'a Case,
    recording: &'a Recording,
) -> Option<(&'a Schedule, &'a History, Vec<Reply<'a>>)> {
    let schedule = case.schedule()?;
    let history = recording.steps.first()?.history.as_deref()?;
    let reply = |asked: &'a Asked| {
        let round = schedule.rounds.get(asked.round)?;
        let ask = round.get(asked.place)?;
        let answer = match (&asked.outcome, &asked.closed) {
            (Some(outcome), _) => read_outcome(outcome, &ask.method),
            (None, Some(closed)) => Answer::Gone { ending: closed.ending },
            (None, None) => Answer::Silent,
        };
        let said = asked.outcome.as_ref().map(said).unwrap_or_default();
        Some(Reply { ask, asked, answer, said, alone: round.len() == 1 })
    };
    let replies = history.asked.iter().filter_map(reply).collect();
    Some((schedule, history, replies))
}

impl Reply<'_> {
    pub fn is_completed(&self) -> bool {
        self.answer == Answer::Completed
    }

    /// Whether it was told to come back later: who limits how much is asked of it does no wrong.
    pub fn is_limited(&self) -> bool {
        const WORDS: [&str; 12] = [
            "rate limit",
            "rate-limit",
            "ratelimit",
            "too many",
            "quota",
            "throttl",
            "try again later",
            "retry later",
            "retry after",
            "overloaded",
            "server is busy",
            "at capacity",
        ];
        if let Some(Outcome::Refused { status: 429 | 503, .. }) = &self.asked.outcome {
            return true;
        }
        let said = self.said.to_lowercase();
        !self.is_completed() && WORDS.iter().any(|word| said.contains(word))
    }

    /// Whether it was told that something else must end first: a tool may do one thing at a time.
    pub fn is_told_to_wait(&self) -> bool {
        const WORDS: [&str; 7] = [
            "already running",
            "already in progress",
            "in progress",
            "is busy",
            "currently busy",
            "another operation",
            "another request",
        ];
        let said = self.said.to_lowercase();
        !self.is_completed() && WORDS.iter().any(|word| said.contains(word))
    }

    /// The answer with a sign in the place of each value of this call.
    pub fn formed(&self, ask: &Ask) -> String {
        let marks = ask.marks.iter().enumerate();
        marks.fold(self.said.clone(), |said, (number, mark)| said.replace(mark, &format!("<{number}>")))
    }

    /// How often a text shows in the answer, in capitals or not.
    pub fn shows(&self, mark: &str) -> usize {
        self.said.to_lowercase().matches(mark).count()
    }

    /// The call and its answer, for a person.
    pub fn told(&self, clients: usize) -> String {
        let who = if clients > 1 { format!("client {}: ", self.ask.client + 1) } else { String::new() };
        let arguments = self.ask.params.get("arguments").map(ToString::to_string).unwrap_or_default();
        let name = self.ask.tool_name().unwrap_or(&self.ask.method);
        let call = shortened(&format!("{name} {arguments}"), CALL);
        let answer = match &self.answer {
            Answer::Silent => "no answer".to_owned(),
            Answer::Gone { .. } => "the server is gone".to_owned(),
            _ => shortened(&self.said, SHOWN),
        };
        format!("{who}{call}\n  → {answer}")
    }
}

/// Several calls and their answers, for a person.
pub fn told<'a>(replies: impl IntoIterator<Item = &'a Reply<'a>>, clients: usize) -> String {
    replies.into_iter().map(|reply| reply.told(clients)).collect::<Vec<_>>().join("\n")
}

/// All that a call was answered, without what is different each time by its nature.
pub(in crate::judge::checks) fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Reply(reply) => match &reply.content {
            Content::Reply { body: Body::Error(error), .. } => error.message.clone(),
            _ => {
                let mut result = reply.result().unwrap_or_default();
                if let Some(members) = result.as_object_mut() {
                    members.remove("_meta");
                }
                result.to_string()
            }
        },
        Outcome::Refused { status, body, .. } => {
            format!("HTTP {status}: {}", String::from_utf8_lossy(body))
        }
        Outcome::Broken { faults, .. } => faults.to_string(),
        Outcome::Lost(error) => error.to_string(),
    }
}
