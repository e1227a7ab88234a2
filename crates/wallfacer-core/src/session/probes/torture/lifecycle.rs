//! How a server begins and ends: whether it goes when its client does, and whether each start lists the same.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::super::notebook::Seen;
use super::super::{Notebook, Probe};
use super::disturbances::disturb;
use crate::catalogue::Catalogue;
use crate::event::Listener;
use crate::judge::Context;
use crate::plan::{Ask, Case, Disturbance, Intent, Part, Question, RawFrame, Request, Schedule, Step};
use crate::session::lab::{Done, Job, Work, World, of_server};
use crate::session::look::Known;
use crate::session::prove::Interest;
use crate::target::Era;
use crate::wire::{Connector, Dialect};

/// SIGTERM, by its number on every system.
const TERMINATE: i32 = 15;
/// The id of a request that is sent in two halves; far from those that a connection counts up from one.
const HALVED: i64 = 700_001;
/// How long nothing follows the first half.
const SILENCE_MS: u64 = 1_200;
/// What is answered while nobody reads is so much about, and nobody reads for so long.
const UNREAD_BYTES: usize = 1 << 20;
const UNREAD_MS: u64 = 1_200;
/// Sessions at once.
const MANY_SESSIONS: usize = 24;
/// Starts whose lists are compared: an order that changes may be the same twice by chance.
const STARTS: usize = 4;
/// Sessions whose ids are compared.
const COMPARED: u32 = 6;
/// When clients hang up: on a busy machine, the request is hardly sent by the first of these.
const HUNG_UP_MS: [u64; 6] = [0, 1, 3, 10, 30, 100];
/// How long a slow client takes over one request.
const SLOW_MS: u64 = 2_500;
/// What clients wait for a server to start, the shortest first.
const CLIENTS_WAIT: [Duration; 3] =
    [Duration::from_secs(10), Duration::from_secs(30), Duration::from_secs(60)];

pub struct Lifecycle {
    seen: Seen,
    known: Arc<Catalogue>,
    waiting: VecDeque<Work>,
    under_way: usize,
    next: u64,
    startup: Duration,
}

impl Lifecycle {
    /// A short share is what every client does to a server: it is started, closed and ended.
    pub fn new(
        known: &Known,
        connector: &Connector,
        context: Arc<Context>,
        thorough: bool,
        seed: u64,
    ) -> Lifecycle {
        let reach = &connector.target().reach;
        let (ours, pipes) = (reach.command().is_some(), reach.endpoint().is_none());
        let alone = |steps: Vec<Step>| Work::Alone { case: Box::new(of_server(steps, seed)), brief: false };
        let mut waiting = VecDeque::new();
        if ours {
            waiting.push_back(Work::List);
            let starts = if thorough { STARTS } else { 2 };
            waiting.push_back(alone(vec![vec![list()]; starts].join(&Step::Restart)));
            waiting.push_back(alone(vec![Step::Probe, Step::Signal(TERMINATE)]));
        }
        if ours && pipes {
            waiting.push_back(alone(vec![Step::Probe, Step::CloseInput]));
        }
        if ours && thorough {
            waiting.push_back(alone(vec![Step::Probe, disturb(Disturbance::KillLauncher)]));
            let more = if pipes { over_pipes(known) } else { over_http() };
            waiting.extend(more.into_iter().map(alone));
        }
        if ours && thorough && pipes {
            waiting.push_back(Work::Alone { case: Box::new(broken_line(seed)), brief: false });
            if known.server.standing.is_confined() {
                let ended = disturb(Disturbance::Restart { killed: false });
                let second = disturb(Disturbance::Beside);
                waiting.push_back(alone(vec![Step::Probe, ended, Step::Probe, second, Step::Probe]));
            }
        }
        Lifecycle {
            seen: Seen { world: World::Plain, context, interest: Interest::ANSWERS },
            known: known.catalogue.clone(),
            waiting,
            under_way: 0,
            next: 0,
            startup: known.server.startup,
        }
    }

    /// Whether a fresh server lists the same tools.
    fn compare(&self, listed: &Catalogue, notebook: &mut Notebook) {
        let (one, other) = (&self.known.tools.entries, &listed.tools.entries);
        let names = |tools: &[crate::catalogue::Tool]| -> Vec<String> {
            tools.iter().map(|tool| tool.name.clone()).collect()
        };
        let (first, second) = (names(one), names(other));
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        if sorted(first) != sorted(second) {
            let told = "two starts of the server list different tools; clients that keep what they sent before cannot use it again";
            notebook.note(None, told.to_owned());
        }
    }

    fn tell_startup(&self, notebook: &mut Notebook) {
        let Some(longest) = CLIENTS_WAIT.iter().rev().find(|limit| self.startup > **limit) else { return };
        let (took, limit) = (self.startup.as_secs_f64(), longest.as_secs());
        notebook.note(None, format!("took {took:.1} s to start; some clients wait no longer than {limit} s"));
    }
}

/// Half a message and silence, and a client that reads nothing for a while.
fn over_pipes(known: &Known) -> Vec<Vec<Step>> {
    let version = known.server.protocol;
    let request = Dialect::new(version).request(HALVED, probe_of(version.era()), None);
    let (start, end) = request.split_at(request.len() / 2);
    let half = || Step::Raw(RawFrame::new(start.to_vec(), None));
    let rest = RawFrame::new([end, b"\n"].concat(), Some(&HALVED.to_string()));
    let tools = known.catalogue.tools.entries.iter();
    let size: usize = tools.map(|tool| tool.listed.to_string().len()).sum();
    let times = (UNREAD_BYTES / size.max(200)).clamp(16, 500) as u32;
    let request = Request { method: "tools/list".to_owned(), params: serde_json::Map::new() };
    let unread = disturb(Disturbance::Unread { times, ms: UNREAD_MS, request });
    vec![
        vec![Step::Probe, half(), Step::Pause(SILENCE_MS), Step::Raw(rest), Step::Probe],
        vec![Step::Probe, half(), Step::Pause(SILENCE_MS), Step::CloseInput],
        vec![Step::Probe, unread, Step::Probe],
    ]
}

/// A line that is no message, then one that is.
fn broken_line(seed: u64) -> Case {
    let line = Step::Raw(RawFrame::new(b"{\"jsonrpc\":\"2.0\",\n".to_vec(), None));
    let intent = Intent::Frame("truncated JSON".to_owned());
    Case { intent, ..of_server(vec![line, Step::Probe], seed) }
}

/// Clients that hang up or are slow, sessions that are over, ids that could be guessed, and many sessions at once.
fn over_http() -> Vec<Vec<Step>> {
    let request = || Request { method: "tools/list".to_owned(), params: serde_json::Map::new() };
    let hang_up = |after_ms: u64| disturb(Disturbance::HangUp { after_ms, request: request() });
    let ask = |client: usize| {
        let Request { method, params } = request();
        Ask { client, part: Part::Call, method, params, marks: Vec::new() }
    };
    let rounds = vec![(0..MANY_SESSIONS).map(ask).collect(), vec![ask(0)]];
    let many = Schedule { question: Question::Nothing, rounds, times: 1 };
    vec![
        [vec![Step::Probe], HUNG_UP_MS.map(hang_up).to_vec(), vec![Step::Probe]].concat(),
        vec![
            Step::Probe,
            disturb(Disturbance::Restart { killed: true }),
            disturb(Disturbance::Stale { request: request() }),
        ],
        vec![disturb(Disturbance::Ended { request: request() })],
        vec![disturb(Disturbance::Sessions { count: COMPARED })],
        vec![Step::Probe, disturb(Disturbance::SlowBody { ms: SLOW_MS, request: request() })],
        vec![Step::Probe, disturb(Disturbance::Reuse { request: request() })],
        vec![Step::Rounds(Box::new(many))],
    ]
}

fn list() -> Step {
    Step::Call { method: "tools/list".to_owned(), params: serde_json::Map::new() }
}

/// The cheapest valid request of an era.
fn probe_of(era: Era) -> &'static str {
    match era {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    }
}

impl Probe for Lifecycle {
    fn name(&self) -> &'static str {
        "lifecycle"
    }

    fn worth(&self) -> f64 {
        0.1
    }

    fn propose(&mut self, computes: bool, _: &mut dyn Listener) -> Option<(u64, Job)> {
        let waits = !matches!(self.waiting.front()?, Work::List);
        if !waits && !computes {
            return None;
        }
        let work = self.waiting.pop_front()?;
        self.next += 1;
        self.under_way += 1;
        let (world, context) = (self.seen.world, self.seen.context.clone());
        Some((self.next, Job { world, context, work, waits }))
    }

    fn read(&mut self, _: u64, done: Done, notebook: &mut Notebook, _: &mut dyn Listener) {
        self.under_way -= 1;
        match done {
            Done::Listed(listed) => self.compare(&listed, notebook),
            Done::OneByOne(all) => {
                for tried in all {
                    let case: Case = tried.case;
                    for charge in tried.judgement.charges {
                        notebook.suspect(&self.seen, &case, charge, Vec::new());
                    }
                }
            }
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.under_way == 0
    }

    fn finish(&mut self, why: Option<&str>, notebook: &mut Notebook) {
        self.tell_startup(notebook);
        if let Some(why) = why.filter(|_| !self.is_done()) {
            notebook.leave_out("how the server ends", why);
        }
    }
}
