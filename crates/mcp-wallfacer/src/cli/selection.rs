//! Which tools a run is about, how long it may take, and which findings fail it: the flags that all runs share.

use std::time::Duration;

use clap::Args;
use wallfacer_core::session::NamePatterns;
use wallfacer_core::target::Severity;

use super::units;
use crate::exit::Failure;

#[derive(Debug, Args)]
pub struct SelectionArgs {
    /// Only tools whose name matches
    #[arg(long, value_name = "GLOB", help_heading = "Effort")]
    include: Vec<String>,
    /// No tools whose name matches
    #[arg(long, value_name = "GLOB", help_heading = "Effort")]
    exclude: Vec<String>,
    /// The time for the whole run
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = "Effort")]
    #[arg(aliases = ["duration", "max-duration", "global-deadline"])]
    pub budget: Option<Duration>,
    /// Findings below this do not fail the run: low, medium, high or critical
    #[arg(long, value_name = "SEVERITY", value_parser = severity, default_value = "medium", help_heading = "Output")]
    pub severity_threshold: Severity,
}

impl SelectionArgs {
    pub fn include(&self) -> Result<Option<NamePatterns>, Failure> {
        globs(&self.include)
    }

    /// One tool by its name, whatever letters that has.
    pub fn include_only(&self, tool: &str) -> Result<Option<NamePatterns>, Failure> {
        NamePatterns::exactly(tool).map(Some).map_err(|error| Failure::usage(&error))
    }

    pub fn exclude(&self) -> Result<Option<NamePatterns>, Failure> {
        globs(&self.exclude)
    }

    /// Whether a tool is not wanted.
    pub fn leaves_out(&self, tool: &str) -> bool {
        let fits = |globs: Result<Option<NamePatterns>, Failure>| {
            globs.ok().flatten().map(|globs| globs.is_match(tool))
        };
        fits(self.include()) == Some(false) || fits(self.exclude()) == Some(true)
    }

    /// Whether the whole server is meant.
    pub fn is_whole(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }
}

fn severity(text: &str) -> Result<Severity, String> {
    Severity::parse(text)
        .ok_or_else(|| format!("`{text}` is no severity; write low, medium, high or critical"))
}

fn globs(patterns: &[String]) -> Result<Option<NamePatterns>, Failure> {
    if patterns.is_empty() {
        return Ok(None);
    }
    NamePatterns::new(patterns).map(Some).map_err(|error| Failure::usage(&error))
}
