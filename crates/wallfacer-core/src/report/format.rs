//! The formats that the report of a run can have. A new one is a file beside this one, and a row in each list here.

use super::{Look, Report, document, human, sarif, written};

/// What `--format` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Human,
    Json,
    Sarif,
}

impl Format {
    pub const ALL: &[Format] = &[Format::Human, Format::Json, Format::Sarif];

    pub fn name(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Json => "json",
            Format::Sarif => "sarif",
        }
    }

    /// The report as text; `look` is for those formats that people read.
    pub fn write(self, report: &Report<'_>, look: Look) -> String {
        match self {
            Format::Human => human(report, look),
            Format::Json => written(&document(report)),
            Format::Sarif => written(&sarif(report)),
        }
    }
}
