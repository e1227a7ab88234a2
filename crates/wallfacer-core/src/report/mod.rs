//! Writes what was found as text, with one file per format. Nothing is printed here.

mod agent;
mod behaved;
mod checks;
mod document;
mod examination;
mod explain;
mod format;
mod gaps;
mod github;
mod gitlab;
mod html;
mod human;
mod json;
mod junit;
mod listing;
mod look;
mod markdown;
mod merge;
mod notes;
mod sarif;
mod sent;
#[cfg(test)]
mod tests;
mod told;
mod trace;
mod verdict;

pub use checks::{check_names, check_text};
pub use document::Document;
pub use examination::{examination, machine, remarks};
pub use explain::{finding_in_full, kind_page, kind_text};
pub use format::Format;
pub use html::{Comparison, PastRun};
pub use json::examination as examination_json;
pub use listing::{differences, stored};
pub use look::{Detail, Look};
pub use merge::{NotMerged, merge};
pub use trace::{manifest, trace_lines};
pub use verdict::counted;

use serde_json::Value;

use crate::observe::Behaviour;
use crate::summary::Run;
use crate::target::Severity;

/// A document as it is printed or put into a file: in lines, and with nothing in it that acts where it is shown.
pub fn written(document: &Value) -> String {
    wallfacer_text::json(&format!("{document:#}\n"))
}

/// A run, and what whoever reports it knows besides.
#[derive(Debug)]
pub struct Report<'a> {
    pub run: &'a Run,
    /// Findings below it fail nothing.
    pub threshold: Severity,
    /// The file of the project that names the server, as a relative URI.
    pub source: Option<String>,
    /// What the server was seen to do, where the report is to tell all of it.
    pub behaviour: Option<&'a Behaviour>,
    /// Whether what was left out of it as noise is listed too.
    pub show_noise: bool,
}

impl<'a> Report<'a> {
    pub fn new(run: &'a Run, threshold: Severity, source: Option<String>) -> Report<'a> {
        Report { run, threshold, source, behaviour: None, show_noise: false }
    }

    /// All that a format needs.
    pub fn document(&self) -> Document {
        Document::new(self)
    }
}
