//! A run as annotations of GitHub Actions: a line each, the gravest first, as many as GitHub shows of one step.

use super::document::Document;
use super::told::Told;
use super::verdict::{self, counted};
use crate::target::Severity;
use crate::wire::shortened;

/// GitHub shows so many of each kind and step, and drops the rest silently.
const MOST: usize = 10;
const TEXT: usize = 1_000;

/// The commands that the lines begin with.
pub const COMMANDS: [&str; 3] = ["::error ", "::warning ", "::notice "];

/// The annotations, and one that says how many more there are.
pub fn github(document: &Document) -> String {
    let source = document.source.as_deref();
    let warning = document.warning();
    let mut text: String =
        warning.map(|text| format!("::warning title=wallfacer::{}\n", data(&text))).unwrap_or_default();
    text.extend(document.findings.iter().take(MOST).map(|told| annotation(told, source)));
    let more = document.findings.len().saturating_sub(MOST);
    let line = match more {
        0 => verdict::line(document),
        more => format!("{} · +{}", verdict::line(document), counted(more, "more finding")),
    };
    text += &format!("::notice title=wallfacer::{}\n", data(&line));
    text
}

fn annotation(told: &Told, source: Option<&str>) -> String {
    let command = match told.finding.severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "notice",
    };
    let place = source.map(|file| format!("file={},line=1,", property(file))).unwrap_or_default();
    let title = format!("{}: {}", told.finding.severity, told.heading());
    let mut text = shortened(&told.what, TEXT);
    if let Some(request) = &told.request {
        text += &format!("\nRequest: {request}");
    }
    text += &format!("\nWhat to change: {}\nReplay: {}", told.change, told.replay);
    format!("::{command} {place}title={}::{}\n", property(&title), data(&text))
}

/// A text of one annotation, whatever lines it has.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
