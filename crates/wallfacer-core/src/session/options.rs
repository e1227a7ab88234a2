//! How much is tried, and of what.

use std::sync::Arc;
use std::time::Duration;

use super::names::{NamePatterns, NoSuchTool};
use crate::learn::Learned;
use crate::plan::{Case, Input, Mode};
use crate::shard::Shard;
use crate::stop::{Stop, Stopped};
use crate::target::Destructive;
use crate::wire::ConnectError;

/// How to fuzz.
#[derive(Debug, Clone)]
pub struct FuzzOptions {
    pub seed: u64,
    pub mode: Mode,
    pub iterations: usize,
    pub max_bytes: usize,
    pub include: Option<NamePatterns>,
    pub exclude: Option<NamePatterns>,
    pub max_tools: Option<usize>,
    /// The part of the plan that is done here.
    pub shard: Shard,
    pub in_flight: usize,
    /// Servers that are asked at once; none where the machine decides.
    pub workers: Option<usize>,
    pub budget: Option<Duration>,
    pub protocol_frames: bool,
    pub destructive: Destructive,
    /// Failures of earlier runs, which are tried before all else.
    pub stored: Vec<Case>,
    /// What was learned of the server's answers, and written down.
    pub learned: Option<Arc<Learned>>,
    /// Whether what brings news is tried again with changes.
    pub feedback: Option<Feedback>,
    /// Tells the session to end.
    pub stop: Stop,
}

impl FuzzOptions {
    /// Whether a tool is among those that somebody wants to hear of.
    pub fn wants(&self, tool: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|include| include.is_match(tool));
        included && !self.exclude.as_ref().is_some_and(|exclude| exclude.is_match(tool))
    }
}

/// How news steer the random cases.
#[derive(Debug, Clone)]
pub struct Feedback {
    /// How many of the random cases are made of inputs that brought news, from none to all.
    pub ratio: f64,
    /// Inputs that brought news in earlier runs.
    pub known: Vec<Input>,
}

impl Default for FuzzOptions {
    fn default() -> FuzzOptions {
        FuzzOptions {
            seed: 0,
            mode: Mode::Mixed,
            iterations: 200,
            max_bytes: 1 << 20,
            include: None,
            exclude: None,
            max_tools: None,
            shard: Shard::WHOLE,
            in_flight: 16,
            workers: None,
            budget: None,
            protocol_frames: false,
            destructive: Destructive::default(),
            stored: Vec::new(),
            learned: None,
            feedback: None,
            stop: Stop::default(),
        }
    }
}

/// Why nothing could be fuzzed.
#[derive(Debug, thiserror::Error)]
pub enum FuzzError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot set up what wallfacer waits with: {0}")]
    Runtime(#[from] std::io::Error),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error(transparent)]
    NoSuchTool(#[from] NoSuchTool),
}
