//! A run as a code quality report of GitLab, which merge requests show.

use serde_json::{Value, json};

use super::document::Document;
use crate::target::Severity;
use crate::wire::shortened;

const TEXT: usize = 500;
/// GitLab wants a file for each entry; the source of a tool is not known.
const FILE: &str = "wallfacer.toml";

/// The list of findings.
pub fn gitlab(document: &Document) -> Value {
    let path = document.source.as_deref().unwrap_or(FILE);
    let entry = |told: &super::told::Told| {
        let finding = &told.finding;
        json!({
            "description": format!("{}: {}", told.heading(), shortened(&told.what, TEXT)),
            "check_name": finding.kind.name(),
            "fingerprint": finding.id,
            "severity": match finding.severity {
                Severity::Critical => "blocker",
                Severity::High => "critical",
                Severity::Medium => "major",
                Severity::Low => "minor",
            },
            "location": { "path": path, "lines": { "begin": 1 } },
        })
    };
    let warning = document.warning().map(|text| {
        json!({
            "description": text,
            "check_name": "sandbox",
            "fingerprint": "wallfacer-sandbox",
            "severity": "info",
            "location": { "path": path, "lines": { "begin": 1 } },
        })
    });
    Value::Array(warning.into_iter().chain(document.findings.iter().map(entry)).collect())
}
