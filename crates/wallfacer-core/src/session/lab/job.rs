//! A job: a few cases, the world that they need, and whether they may share a server; and what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::one_by_one::Tried;
use super::together::Part;
use crate::catalogue::Catalogue;
use crate::judge::Context;
use crate::plan::{Case, Subject};
use crate::run::{Recording, Urgency};
use crate::wire::Server;

/// What a server finds around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum World {
    /// Nothing beside what every server gets; what it does is not watched.
    Plain,
    /// The same, and every effect is seen.
    Watched,
    /// What injections are after is planted, and every effect is seen.
    Planted,
    /// The same, where no connection succeeds.
    Offline,
    /// Plain, and without the settings that take tools out of the list.
    Unrestricted,
    /// What rules name is planted; what calls do is seen where a rule asks for it.
    Equipped,
}

#[derive(Debug, Clone)]
pub struct Job {
    pub world: World,
    /// What the answers are judged by.
    pub context: Arc<Context>,
    pub work: Work,
    /// Whether it mostly waits, so that it takes no place among those that compute.
    pub waits: bool,
}

#[derive(Debug, Clone)]
pub enum Work {
    /// Starts a fresh server, and asks it for nothing.
    Start,
    /// Asks a fresh server for its lists.
    List,
    /// Calls that may be in flight together.
    Together(Together),
    /// One call at a time on a server.
    OneByOne { cases: Vec<Case>, patient: bool },
    /// One case alone on a fresh server; briefly, or with all of its time.
    Alone { case: Box<Case>, brief: bool },
    /// Says goodbye to the server that is at work, and sees what it does then.
    Part,
}

impl Work {
    /// How much waits for its server.
    pub fn urgency(&self) -> Urgency {
        match self {
            Work::Start => Urgency::First,
            Work::Together(_) | Work::OneByOne { .. } => Urgency::Soon,
            Work::Alone { case, .. } if case.subject != Subject::Server => Urgency::Later,
            Work::Alone { .. } | Work::List | Work::Part => Urgency::Last,
        }
    }

    /// What a server is needed for.
    pub fn in_words(&self) -> String {
        match self {
            Work::Start => "a start".to_owned(),
            Work::List => "its lists".to_owned(),
            Work::Together(together) => format!("{} cases together", together.cases.len()),
            Work::OneByOne { cases, .. } => format!("{} cases one by one", cases.len()),
            Work::Alone { case, .. } => {
                let subject = case.subject.name().unwrap_or("the server");
                format!("one case of {subject} alone: {:?}", case.intent)
            }
            Work::Part => "a goodbye".to_owned(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Together {
    pub cases: Arc<[Case]>,
    pub in_flight: usize,
    pub pace: Pace,
    /// Cases that make the same calls for another rule, by the place of the one that is performed for them all.
    pub twins: BTreeMap<usize, Vec<Case>>,
    /// One call of each tool that worked, to see whether a server is still healthy.
    pub good: Arc<BTreeMap<String, Case>>,
    /// Whether answers of valid calls are learned from.
    pub learns: bool,
    /// Whether it is asked of what kind each answer is.
    pub tells_kinds: bool,
    /// Whether a server that has done well goes on to the next job.
    pub goes_on: bool,
}

/// How calls that are not answered are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A call that is not answered soon is set aside, and the others go on.
    Brisk,
    /// The calls are known to take long: each has all of its time, and its silence says nothing.
    Patient,
    /// The calls are known not to be answered now and then: one is made at a time, and a few silences are enough.
    Wary,
}

/// What came of a job.
#[derive(Debug)]
pub enum Done {
    Started(Box<Started>),
    Listed(Box<Catalogue>),
    Together(Part),
    OneByOne(Vec<Tried>),
    /// The files that were changed, and the processes that stayed, where there was a server.
    Parted(Option<Box<crate::wire::Farewell>>),
}

/// A server that was asked for nothing yet.
#[derive(Debug)]
pub struct Started {
    pub server: Server,
    pub recording: Recording,
}
