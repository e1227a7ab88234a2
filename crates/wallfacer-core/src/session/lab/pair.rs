//! Asks two servers the same, and holds what they answer against each other.

use super::list::list;
use crate::catalogue::{Catalogue, Tool};
use crate::judge::{Charge, Reply, disagreements, listed_disagreements};
use crate::observe::{Answer, observe};
use crate::place::Pattern;
use crate::plan::{Case, Measure, held_back};
use crate::run::{Patience, Recording, Runner};
use crate::session::entrust::entrust;
use crate::target::{Destructive, Version};
use crate::wire::{ConnectError, Connector, Server};

/// One of the two.
pub struct Side {
    connector: Connector,
    runner: Runner,
    pub server: Server,
    pub catalogue: Catalogue,
}

/// The server that is tested, and the one that it is held against.
pub struct Pair {
    pub here: Side,
    pub there: Side,
    /// Whether both speak a version that has structured content.
    pub with_structured: bool,
}

/// What both made of one case.
pub struct Both {
    pub here: Reply,
    pub there: Reply,
    /// What the first did, for those who count and learn.
    pub answer: Answer,
    pub recording: Recording,
}

impl Pair {
    /// Looks at both, so that what they list is known.
    pub async fn open(here: Connector, there: Connector, seed: u64) -> Result<Pair, ConnectError> {
        let (here, there) = (Side::open(here, seed).await?, Side::open(there, seed).await?);
        let with_structured = [&here, &there].iter().all(|side| side.server.protocol >= Version::V2025_06_18);
        Ok(Pair { here, there, with_structured })
    }

    /// The same on the servers at hand, the first first. What ends or silences one of them gives both a fresh start, so that
    /// they remember the same.
    pub async fn ask(&mut self, case: &Case) -> Result<Both, ConnectError> {
        let (one, answer, recording) = self.here.ask(case, self.with_structured).await?;
        let (other, _, _) = self.there.ask(case, self.with_structured).await?;
        if [&one, &other].iter().any(|reply| matches!(reply, Reply::Gone | Reply::Silent)) {
            self.rest().await;
        }
        Ok(Both { here: one, there: other, answer, recording })
    }

    /// What is held against the first after this case on fresh servers.
    pub async fn charges(&mut self, case: &Case, ignored: &[Pattern]) -> Result<Vec<Charge>, ConnectError> {
        let Some(tool) = case.tool_name() else { return Ok(Vec::new()) };
        if case.steps.is_empty() {
            return self.listed_again(tool).await;
        }
        self.rest().await;
        let Both { here, there, .. } = self.ask(case).await?;
        Ok(self.measured(disagreements(tool, &here, &there, ignored), ignored))
    }

    /// What the two list of a tool, as it is known.
    pub fn listed(&self, tool: &str) -> Vec<Charge> {
        let charges =
            listed_disagreements(tool, self.here.tool(tool), self.there.tool(tool), self.with_structured);
        self.measured(charges, &[])
    }

    /// Why a tool must not be called on the other server.
    pub fn held_back(&self, tool: &str, destructive: &Destructive) -> Option<String> {
        let held = held_back(self.there.tool(tool)?, destructive)?;
        (!self.there.server.standing.is_harmless()).then_some(held)
    }

    pub async fn rest(&mut self) {
        self.here.runner.rest().await;
        self.there.runner.rest().await;
    }

    /// Servers that were started so far.
    pub fn lives(&self) -> u64 {
        2 + self.here.runner.lives + self.there.runner.lives
    }

    /// What a case is held against.
    pub fn measure(&self, ignored: &[Pattern]) -> Measure {
        let [here, there] = [&self.here, &self.there].map(|side| side.server.protocol.to_string());
        Measure::Other { here, there, ignore: ignored.iter().map(Pattern::to_string).collect() }
    }

    /// With what it takes to judge them once more.
    fn measured(&self, mut charges: Vec<Charge>, ignored: &[Pattern]) -> Vec<Charge> {
        charges.iter_mut().for_each(|charge| charge.measure = Some(Box::new(self.measure(ignored))));
        charges
    }

    async fn listed_again(&mut self, tool: &str) -> Result<Vec<Charge>, ConnectError> {
        for side in [&mut self.here, &mut self.there] {
            (side.server, side.catalogue) = list(&mut side.connector.clone()).await?;
        }
        Ok(self.listed(tool))
    }
}

impl Side {
    async fn open(mut connector: Connector, seed: u64) -> Result<Side, ConnectError> {
        // Both have the same secret, or it would be a difference.
        entrust(&mut connector, seed);
        let (server, catalogue) = list(&mut connector).await?;
        let patience = Patience::new(connector.target().timeouts.clone());
        let runner = Runner::new(connector.clone(), &catalogue, patience);
        Ok(Side { connector, runner, server, catalogue })
    }

    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.catalogue.tools.entries.iter().find(|tool| tool.name == name)
    }

    async fn ask(
        &mut self,
        case: &Case,
        with_structured: bool,
    ) -> Result<(Reply, Answer, Recording), ConnectError> {
        let patience = self.runner.patience().clone();
        let recording = self.runner.perform(case, &patience).await?;
        let seen = observe(&recording);
        let answer = seen.steps.last().map_or(Answer::NotAwaited, |step| step.answer.clone());
        Ok((Reply::of(&recording, &seen, with_structured), answer, recording))
    }
}
