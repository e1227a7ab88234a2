//! How a server begins and ends: whether it goes when its client does, and whether each start lists the same.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::super::notebook::Seen;
use super::super::{Notebook, Probe};
use crate::catalogue::Catalogue;
use crate::event::Listener;
use crate::judge::Context;
use crate::plan::{Case, Step};
use crate::session::lab::{Done, Job, Work, World, of_server};
use crate::session::look::Known;
use crate::session::prove::Interest;
use crate::wire::Connector;

/// SIGTERM, by its number on every system.
const TERMINATE: i32 = 15;
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
    pub fn new(known: &Known, connector: &Connector, context: Arc<Context>, seed: u64) -> Lifecycle {
        let reach = &connector.target().reach;
        let mut waiting = VecDeque::new();
        let alone = |steps: Vec<Step>| Work::Alone { case: Box::new(of_server(steps, seed)), brief: false };
        if reach.command().is_some() {
            waiting.push_back(Work::List);
            if reach.endpoint().is_none() {
                waiting.push_back(alone(vec![Step::Probe, Step::CloseInput]));
            }
            waiting.push_back(alone(vec![Step::Probe, Step::Signal(TERMINATE)]));
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

    /// Whether a fresh server lists the same tools in the same order.
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
        let text = |tool: &crate::catalogue::Tool| serde_json::Value::Object(tool.listed.clone()).to_string();
        let changed = one.iter().zip(other).find(|(one, other)| text(one) != text(other));
        let told = if sorted(first.clone()) != sorted(second.clone()) {
            Some("two starts of the server list different tools".to_owned())
        } else if first != second {
            Some("two starts of the server list its tools in a different order".to_owned())
        } else {
            changed.map(|(tool, _)| format!("two starts of the server describe `{}` differently", tool.name))
        };
        if let Some(told) = told {
            notebook
                .note(None, format!("{told}; clients that keep what they sent before cannot use it again"));
        }
    }

    fn tell_startup(&self, notebook: &mut Notebook) {
        let Some(longest) = CLIENTS_WAIT.iter().rev().find(|limit| self.startup > **limit) else { return };
        let (took, limit) = (self.startup.as_secs_f64(), longest.as_secs());
        notebook.note(None, format!("took {took:.1} s to start; some clients wait no longer than {limit} s"));
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
