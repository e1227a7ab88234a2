//! How much is tried, and of what: the flags that `check` and `ci` share.

use clap::Args;
use wallfacer_core::plan::Mode;
use wallfacer_core::session::FuzzOptions;
use wallfacer_core::stop::Stop;

use super::drift::DriftArgs;
use super::selection::SelectionArgs;
use super::shard::ShardArgs;
use super::target::Chosen;
use super::units;
use crate::exit::Failure;

/// Cases of each tool; time ends a run before this does, unless the server is very quick.
const MOST_ITERATIONS: usize = 2_000;
/// The largest payload.
const MAX_BYTES: usize = 1 << 20;

#[derive(Debug, Args)]
pub struct EffortArgs {
    /// Same seed, same cases
    #[arg(long, value_parser = units::seed, default_value_t = 0, help_heading = "Effort")]
    pub seed: u64,
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Servers that are asked at once: as many as there are processors, or one where they would share a disk
    #[arg(long, value_name = "N", help_heading = "Effort")]
    pub workers: Option<usize>,
    /// Calls in flight on one server
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Effort")]
    pub in_flight: usize,
    #[command(flatten)]
    pub shard: ShardArgs,
    #[command(flatten)]
    pub drift: DriftArgs,
}

impl EffortArgs {
    /// With malformed frames, and with every kind of argument.
    pub fn options(&self, chosen: &Chosen) -> Result<FuzzOptions, Failure> {
        Ok(FuzzOptions {
            seed: self.seed,
            mode: Mode::Mixed,
            iterations: MOST_ITERATIONS,
            max_bytes: MAX_BYTES,
            include: self.selection.include()?,
            exclude: self.selection.exclude()?,
            max_tools: None,
            shard: self.shard.shard()?,
            in_flight: self.in_flight,
            workers: self.workers,
            budget: self.selection.budget,
            protocol_frames: true,
            destructive: chosen.settings.destructive.clone(),
            stored: Vec::new(),
            learned: None,
            feedback: None,
            stop: Stop::default(),
        })
    }
}
