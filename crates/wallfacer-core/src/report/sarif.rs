//! A run as SARIF 2.1.0, for code scanning: a rule per kind, a result per finding, the stable id as its fingerprint.

use serde_json::{Value, json};
use wallfacer_text::markdown;

use super::Report;
use super::sent::sent;
use crate::findings::{Finding, Kind, ReferenceKind};
use crate::summary::Conclusion;
use crate::target::Severity;
use crate::wire::shortened;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The name under which the id stands; a different way of making ids would get another.
const FINGERPRINT: &str = "wallfacerId/v1";
const NAME: usize = 100;
const TEXT: usize = 1_000;

/// The whole run.
pub fn sarif(report: &Report<'_>) -> Value {
    let run = report.run;
    let shown: Vec<(&Finding, Option<&str>)> = run
        .findings
        .iter()
        .map(|finding| (finding, None))
        .chain(run.accepted.iter().map(|accepted| (&accepted.finding, Some(accepted.reason.as_str()))))
        .collect();
    let mut kinds: Vec<&Kind> = Vec::new();
    for (finding, _) in &shown {
        if !kinds.iter().any(|kind| kind.name() == finding.kind.name()) {
            kinds.push(&finding.kind);
        }
    }
    let results: Vec<Value> =
        shown.iter().map(|(finding, accepted)| result(finding, *accepted, &kinds, report)).collect();
    let notifications: Vec<Value> = run
        .not_tested
        .iter()
        .map(|not| {
            let text = format!("not tested: {}: {}", shortened(&not.what, NAME), shortened(&not.why, TEXT));
            json!({ "level": "note", "message": { "text": markdown(&text) } })
        })
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "wallfacer",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": kinds.iter().map(|kind| rule(kind)).collect::<Vec<_>>(),
            } },
            "automationDetails": { "id": category(report) },
            "invocations": [{
                "executionSuccessful": run.conclusion(report.threshold) != Conclusion::NotTested && !run.interrupted,
                "startTimeUtc": run.started,
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// Runs of different servers of one project stand beside each other, and do not replace each other.
fn category(report: &Report<'_>) -> String {
    let name = report.run.server.name.as_deref().unwrap_or("server");
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("wallfacer/{}/", name.chars().take(NAME).map(plain).collect::<String>())
}

fn rule(kind: &Kind) -> Value {
    let about = kind.about();
    let references = about.references();
    let listed: Vec<String> = references.iter().map(|reference| reference.text.clone()).collect();
    let spec = references.iter().find(|reference| reference.kind == ReferenceKind::Spec);
    let tags: Vec<String> = references
        .iter()
        .filter(|reference| reference.kind == ReferenceKind::Cwe)
        .map(|reference| format!("external/cwe/{}", reference.text.to_lowercase()))
        .collect();
    json!({
        "id": kind.name(),
        "name": pascal(kind.name()),
        "shortDescription": { "text": about.title },
        "fullDescription": { "text": about.help },
        "help": { "text": format!("{}\n\nReferences: {}", about.help, listed.join(", ")) },
        "helpUri": spec.map_or(env!("CARGO_PKG_REPOSITORY"), |spec| spec.text.as_str()),
        "defaultConfiguration": { "level": level(kind.default_severity()) },
        "properties": {
            "tags": tags,
            "precision": "very-high",
            "problem.severity": problem(kind.default_severity()),
        },
    })
}

fn result(finding: &Finding, accepted: Option<&str>, kinds: &[&Kind], report: &Report<'_>) -> Value {
    let index = kinds.iter().position(|kind| kind.name() == finding.kind.name());
    let place = markdown(&shortened(finding.place(), NAME));
    let mut text = format!("{}: {}.", place, shortened(&finding.message, TEXT));
    if let Some(sent) = sent(&finding.repro) {
        text.push_str(&format!("\nSent: {sent}"));
    }
    text.push_str(&format!("\nReplay: {}", finding.replay_line()));
    let mut result = json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": markdown(&text) },
        "locations": [location(finding, &place, report.source.as_deref())],
        "partialFingerprints": { FINGERPRINT: finding.id },
        "properties": {
            "severity": finding.severity,
            "reproduced": format!("{}/{}", finding.reproduced.k, finding.reproduced.n),
            "seed": finding.seed,
        },
    });
    if let Some(reason) = accepted {
        let reason = markdown(&shortened(reason, TEXT));
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
    }
    result
}

/// The tool, and the file that names the server where there is one: a tool's own source is not known to us.
fn location(finding: &Finding, place: &str, source: Option<&str>) -> Value {
    let server =
        finding.server.name.as_deref().map_or("server".to_owned(), |name| markdown(&shortened(name, NAME)));
    let (name, kind) = match finding.subject.name() {
        Some(_) => (place.to_owned(), "function"),
        None => (server.clone(), "module"),
    };
    let full = if kind == "function" { format!("{server}/{name}") } else { name.clone() };
    let mut location = json!({
        "logicalLocations": [{ "name": name, "fullyQualifiedName": full, "kind": kind }],
    });
    if let Some(uri) = source {
        location["physicalLocation"] = json!({
            "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" },
            "region": { "startLine": 1 },
        });
    }
    location
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}

fn problem(severity: Severity) -> &'static str {
    match level(severity) {
        "note" => "recommendation",
        other => other,
    }
}

fn pascal(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(capital).collect()
}
