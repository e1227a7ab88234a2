//! A run as SARIF 2.1.0, for code scanning: a rule per kind, a result per finding, the stable id as its fingerprint.

use serde_json::{Value, json};
use wallfacer_text::markdown;

use super::document::Document;
use super::told::Told;
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
pub fn sarif(document: &Document) -> Value {
    let shown: Vec<(&Told, Option<&str>)> = document
        .findings
        .iter()
        .map(|told| (told, None))
        .chain(document.accepted.iter().map(|known| (&known.told, Some(known.accepted_because.as_str()))))
        .collect();
    let mut kinds: Vec<&Kind> = Vec::new();
    for (told, _) in &shown {
        if !kinds.iter().any(|kind| kind.name() == told.finding.kind.name()) {
            kinds.push(&told.finding.kind);
        }
    }
    let source = document.source.as_deref();
    let results: Vec<Value> =
        shown.iter().map(|(told, accepted)| result(told, *accepted, &kinds, source)).collect();
    let told = |level: &str, text: &str| json!({ "level": level, "message": { "text": markdown(text) } });
    let warning = document.warning().map(|warning| told("warning", &warning));
    let not_tested = document.not_tested.iter().map(|not| {
        let text = format!("not tested: {}: {}", shortened(&not.what, NAME), shortened(&not.why, TEXT));
        told("note", &text)
    });
    let notifications: Vec<Value> = warning.into_iter().chain(not_tested).collect();
    let conclusion = document.verdict.conclusion;
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
            "automationDetails": { "id": category(document) },
            "invocations": [{
                "executionSuccessful": conclusion != Conclusion::NotTested && !document.run.interrupted,
                "startTimeUtc": document.run.started,
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// Runs of different servers of one project stand beside each other, and do not replace each other.
fn category(document: &Document) -> String {
    let name = document.server.name.as_deref().unwrap_or("server");
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("wallfacer/{}/", name.chars().take(NAME).map(plain).collect::<String>())
}

fn rule(kind: &Kind) -> Value {
    let about = kind.about();
    let references = about.references();
    let listed: Vec<String> = references.iter().map(|reference| reference.text.clone()).collect();
    let help =
        format!("{}\n\nWhat to change: {}\n\nHow it is proven: {}", about.why, about.change, about.proof);
    let tags: Vec<String> = references
        .iter()
        .filter(|reference| reference.kind == ReferenceKind::Cwe)
        .map(|reference| format!("external/cwe/{}", reference.text.to_lowercase()))
        .collect();
    json!({
        "id": kind.name(),
        "name": pascal(kind.name()),
        "shortDescription": { "text": about.title },
        "fullDescription": { "text": about.why },
        "help": { "text": format!("{help}\n\nReferences: {}", listed.join(", ")) },
        "helpUri": about.page(),
        "defaultConfiguration": { "level": level(kind.default_severity()) },
        "properties": {
            "tags": tags,
            "precision": "very-high",
            "problem.severity": problem(kind.default_severity()),
        },
    })
}

fn result(told: &Told, accepted: Option<&str>, kinds: &[&Kind], source: Option<&str>) -> Value {
    let finding = &told.finding;
    let index = kinds.iter().position(|kind| kind.name() == finding.kind.name());
    let place = markdown(&shortened(finding.place(), NAME));
    let mut text = format!("{place}: {}", shortened(&told.what, TEXT));
    if let Some(request) = &told.request {
        text.push_str(&format!("\nRequest: {request}"));
    }
    text.push_str(&format!("\nWhat to change: {}\nReplay: {}", told.change, told.replay));
    let mut result = json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": markdown(&text) },
        "locations": [location(finding, &place, source)],
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
