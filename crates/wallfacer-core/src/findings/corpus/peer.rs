//! Reads a finding that was stored in the format of mcp-wallfacer up to 0.8.1.
//!
//! The format keeps one call and no more: what took several calls cannot be run again. Its ids are those of the file;
//! they depend on the payload, so that a new run finds the same bug under another id.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::findings::payload::edit_strings;
use crate::findings::redaction::placeholder;
use crate::findings::{Cause, Finding, FindingId, Kind, Origin, Repro};
use crate::plan::{Case, Intent, Subject};
use crate::target::Severity;

/// What stands there for every secret, told apart only by the key above it.
const OPEN: &str = "<redacted>";

#[derive(Deserialize)]
struct Stored {
    id: FindingId,
    kind: Kind,
    severity: Severity,
    tool: String,
    message: String,
    #[serde(default)]
    details: Value,
    repro: StoredRepro,
    #[serde(default)]
    timestamp: Value,
}

#[derive(Deserialize)]
struct StoredRepro {
    #[serde(default)]
    seed: u64,
    tool_call: Value,
}

/// Whether a file is of that format.
pub fn is_of_peer(value: &Value) -> bool {
    value.get("repro").is_some_and(|repro| repro.get("tool_call").is_some())
}

pub fn convert(value: Value) -> Result<Finding, String> {
    let mut stored: Stored = serde_json::from_value(value)
        .map_err(|error| format!("it is not a finding of an older version: {error}"))?;
    edit_strings(&mut stored.repro.tool_call, &mut |under, text| match text {
        OPEN => placeholder(under.unwrap_or_default()),
        text => text.to_owned(),
    });
    let arguments =
        Some(stored.repro.tool_call).filter(|arguments| !arguments.is_null()).unwrap_or(json!({}));
    let mut case = Case::tool(&stored.tool, arguments, Intent::Stored, stored.repro.seed);
    if let Kind::SequenceFailure { .. } = stored.kind {
        // What stands there for the tool is the name of the sequence.
        case.subject = Subject::Server;
    }
    let origin = Origin::new(None, &stored.kind, &case.subject, &Cause::silence());
    let repro = repro(&stored.kind, &case);
    let seen = text(stored.timestamp);
    let mut finding = Finding::new(&origin, stored.kind, &stored.message, repro);
    finding.id = stored.id;
    finding.severity = stored.severity;
    finding.details = text(stored.details);
    finding.seed = stored.repro.seed;
    (finding.first_seen, finding.last_seen) = (seen.clone(), seen);
    Ok(finding)
}

fn repro(kind: &Kind, case: &Case) -> Repro {
    let reason = match kind {
        Kind::SequenceFailure { .. } => "an older version stored only the last step of the sequence",
        Kind::StateLeak => "an older version stored only one of the calls that show the leak",
        _ => return Repro::new(case, case),
    };
    Repro::NotReplayable { reason: reason.to_owned() }
}

/// Free text there, and in some files something else.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
