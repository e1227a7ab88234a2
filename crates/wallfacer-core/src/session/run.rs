//! One run: the server is looked at once, probes are run in a laboratory, and what they wrote down is put together.

use std::time::{Duration, Instant};

use super::agenda::{Budget, Selection, Wishes};
use super::engine::Engine;
use super::lab::{DEAR_START, Lab, World};
use super::look::{Known, look_at};
use super::names::NamePatterns;
use super::options::FuzzError;
use super::probes::{Notebook, Probe};
use super::prove::{Proven, Prover};
use super::rehearse::{Plan, Rehearsed, rehearse};
use crate::catalogue::End;
use crate::event::Listener;
use crate::stop::Stop;
use crate::summary::{Fuzzed, NotTested, Note};
use crate::wire::Connector;

/// A server that was looked at, and the time that there is for it.
pub struct Session {
    pub connector: Connector,
    pub known: Known,
    pub budget: Budget,
    pub seed: u64,
    /// What made the world fit the server.
    pub rehearsed: Rehearsed,
    workers: Option<usize>,
    stop: Stop,
}

/// What a run has time and servers for.
#[derive(Debug, Clone)]
pub struct Limits {
    pub seed: u64,
    pub budget: Option<Duration>,
    pub workers: Option<usize>,
    /// The tools that are asked for by name.
    pub include: Option<NamePatterns>,
    pub stop: Stop,
}

impl Session {
    pub fn open(
        mut connector: Connector,
        limits: &Limits,
        listener: &mut dyn Listener,
    ) -> Result<Session, FuzzError> {
        let begun = Instant::now();
        let known = look_at(&mut connector, &limits.stop, listener)?;
        if let Some(include) = &limits.include {
            let tools: Vec<&str> =
                known.catalogue.tools.entries.iter().map(|tool| tool.name.as_str()).collect();
            include.check(&tools)?;
        }
        let budget = Budget::new(begun, limits.budget);
        let (seed, workers, stop) = (limits.seed, limits.workers, limits.stop.of_a_part());
        let rehearsed = Rehearsed::default();
        Ok(Session { connector, known, budget, seed, rehearsed, workers, stop })
    }

    /// Makes the world fit the server; gives a laboratory for it, with further worlds. Where a start is dear, a server of each
    /// of those `ahead` is started meanwhile.
    pub fn rehearse(
        &mut self,
        wishes: Wishes,
        budget: Option<Duration>,
        with_worlds: &dyn Fn(Lab) -> Lab,
        ahead: &[World],
    ) -> Result<Lab, FuzzError> {
        let lab = with_worlds(self.empty_lab());
        let Known { server, catalogue, first, first_calls, .. } = &mut self.known;
        let Some(mut crew) = first.take() else { return Ok(lab) };
        ahead.iter().for_each(|world| lab.get_ready(*world));
        let tools = Selection::new(catalogue, server, wishes).tools;
        let keeps_server = server.startup >= DEAR_START;
        let plan = Plan { seed: self.seed, time: Rehearsed::time(budget), keeps_server };
        let rehearsal = rehearse(&mut self.connector, &mut crew.runner, server, catalogue, &tools, plan);
        let rehearsed = crew.runtime.block_on(self.stop.unless(rehearsal));
        self.rehearsed = rehearsed.inspect_err(|_| lab.rest())?;
        *first_calls = std::mem::take(&mut self.rehearsed.calls);
        if self.rehearsed.stand_ins.is_empty() && !self.rehearsed.changes {
            lab.add_lives(self.rehearsed.lives);
            lab.adopt(World::Plain, crew);
            return Ok(lab);
        }
        // What is at work already knows nothing of them.
        let lives = lab.lives() + crew.runner.lives + self.rehearsed.lives;
        lab.rest();
        crew.rest();
        let lab = with_worlds(self.empty_lab());
        lab.add_lives(lives);
        Ok(lab)
    }

    /// A laboratory for it, in which the server that was looked at goes on in this world.
    pub fn lab(&mut self, world: World) -> Lab {
        let lab = self.empty_lab();
        match self.known.first.take() {
            Some(first) => lab.adopt(world, first),
            None => lab.add_lives(1),
        }
        lab
    }

    fn empty_lab(&self) -> Lab {
        let Known { catalogue, server, .. } = &self.known;
        Lab::new(&self.connector, catalogue.clone(), server.startup, &self.stop)
    }

    pub fn notebook(&self) -> Notebook {
        let Known { server, catalogue, schemas, .. } = &self.known;
        let prover = Prover::new(server, catalogue, schemas, self.seed);
        let mut notebook = Notebook::new(prover.of_stated(self.connector.world().stated()));
        for program in &self.rehearsed.stand_ins {
            let text = format!("`{program}` is not installed: a stand-in answered in its place");
            notebook.prover.note(Note { tool: None, text });
        }
        if let End::Failed { why } = &catalogue.tools.end {
            notebook.leave_out("tools that were not listed", why);
        }
        let tools: Vec<&str> = catalogue.tools.entries.iter().map(|tool| tool.name.as_str()).collect();
        for tool in self.connector.target().timeouts.per_tool.keys() {
            if let Err(error) = NamePatterns::exactly(tool).map(|name| name.check(&tools)).unwrap_or(Ok(())) {
                notebook
                    .prover
                    .note(Note { tool: None, text: format!("a time limit has no effect: {error}") });
            }
        }
        notebook
    }

    /// Runs the probes; how much time each of them had.
    pub fn run(
        &self,
        lab: &Lab,
        probes: &mut [&mut dyn Probe],
        notebook: &mut Notebook,
        listener: &mut dyn Listener,
    ) -> Result<Vec<Duration>, FuzzError> {
        Ok(Engine::new(lab, self.budget, self.workers).run(probes, notebook, listener)?)
    }

    /// All that was written down.
    pub fn fuzzed(self, lab: &Lab, notebook: Notebook) -> Fuzzed {
        let Notebook {
            prover,
            summary,
            mut tools,
            latencies,
            mut not_tested,
            judged,
            rules,
            out_of_time,
            ..
        } = notebook;
        let Proven { findings, flaky, notes, unproven, tokens } = prover.finish();
        for what in unproven {
            let why = format!("{} before it could be seen a second time", self.stop.why());
            not_tested.insert(NotTested { what, why });
        }
        // A rule may call what is not there, to see that it is refused.
        let listed = self.known.catalogue.tools.entries.iter().map(|tool| tool.name.as_str());
        let listed: std::collections::BTreeSet<&str> = listed.collect();
        tools.retain(|name, _| listed.contains(name.as_str()));
        Fuzzed {
            target: self.known.target,
            server: self.known.server,
            seed: self.seed,
            took: self.known.begun.elapsed(),
            lives: lab.lives(),
            summary,
            tools,
            latencies,
            findings,
            flaky,
            notes: notes.into_iter().collect(),
            not_tested: not_tested.into_iter().collect(),
            out_of_time,
            rules_judged: judged,
            rules,
            news: Vec::new(),
            tokens,
        }
    }
}
