//! What a check holds against a server, before it is confirmed.

use super::verdict::Concern;
use crate::findings::{Cause, Evidence, Kind, Reference};
use crate::plan::Measure;
use crate::target::Severity;

#[derive(Debug, Clone)]
pub struct Charge {
    /// The check that brings it.
    pub check: &'static str,
    /// What that check is about.
    pub concern: Concern,
    pub kind: Kind,
    pub cause: Cause,
    /// One sentence.
    pub message: String,
    pub details: String,
    pub evidence: Vec<Evidence>,
    pub references: Vec<Reference>,
    /// Where it weighs other than its kind.
    pub severity: Option<Severity>,
    /// What it takes to judge it once more, where that is not what the server declares.
    pub measure: Option<Box<Measure>>,
    /// Over how many calls it must be seen again, where it is about many.
    pub calls: Option<u32>,
    /// The places of the steps that show it, where the others need not be taken.
    pub needed: Option<Vec<usize>>,
    /// Which way it shows, where one bug shows in several: the argument, the rule.
    pub way: String,
    /// The frames of ours that bring it about, where frames do.
    pub frames: Vec<String>,
}

impl Charge {
    pub fn new(check: &'static str, kind: Kind, cause: Cause, message: String) -> Charge {
        let (details, evidence, references) = (String::new(), Vec::new(), Vec::new());
        let (severity, measure, calls, way, frames) = (None, None, None, String::new(), Vec::new());
        Charge {
            check,
            concern: Concern::Answers,
            kind,
            cause,
            message,
            details,
            evidence,
            references,
            severity,
            measure,
            calls,
            needed: None,
            way,
            frames,
        }
    }

    pub fn with(mut self, label: &str, text: String) -> Charge {
        if !text.is_empty() {
            self.evidence.push(Evidence { label: label.to_owned(), text });
        }
        self
    }
}
