//! A run as one HTML page that needs no network: the data as JSON, and a script of ours that shows it.
//!
//! Nothing that a server wrote becomes markup. The data is in a block that no browser runs, its angle brackets are
//! escaped, the script sets text and never HTML, and the content security policy allows this script and no other.

mod comparison;

pub use comparison::{Comparison, PastRun};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use wallfacer_text::shown;

use super::document::Document;
use super::gaps::gaps;
use super::notes::noted;
use super::told::{Told, particular};
use super::verdict;
use crate::findings::{About, top_frame};
use crate::wire::shortened;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const NAME: usize = 100;
const TEXT: usize = 1_000;
/// What is kept of one piece of evidence, and of all of one finding; with many findings less, so that a page of a
/// thousand stays below five megabytes.
const EVIDENCE: usize = 8_000;
const EVIDENCE_OF_MANY: usize = 1_500;
const MANY: usize = 100;
/// Findings on one page.
const MOST: usize = 5_000;
/// Entries of one list of other things.
const MOST_LINES: usize = 2_000;

/// The whole page.
pub fn html(document: &Document, earlier: Option<&Comparison>) -> String {
    let title = earlier.and_then(|earlier| earlier.title.clone());
    let title = title.unwrap_or_else(|| format!("{} · wallfacer", verdict::server(document)));
    let title = text(&shortened(&title, NAME));
    let line = document.warning().into_iter().chain([verdict::line(document)]);
    let line = text(&line.collect::<Vec<_>>().join(" · "));
    let data = data(document, earlier);
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        source(SCRIPT),
        source(STYLE)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript><p>{line}</p><p>The findings are shown by a script in this file, which is not allowed to run here.</p></noscript>\n\
         <main id=\"page\"></main>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Allows exactly this text.
fn source(text: &str) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    format!("'sha256-{}'", STANDARD.encode(hash))
}

/// As text of HTML.
fn text(text: &str) -> String {
    shown(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What the script shows, as JSON in which nothing ends the block that it stands in.
fn data(document: &Document, earlier: Option<&Comparison>) -> String {
    let text = wallfacer_text::json(&view(document, earlier).to_string());
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn view(document: &Document, earlier: Option<&Comparison>) -> Value {
    let run = &document.run;
    let all = [("found", &document.findings), ("flaky", &document.flaky)];
    let mut findings: Vec<Value> = Vec::new();
    let room = if document.findings.len() > MANY { EVIDENCE_OF_MANY } else { EVIDENCE };
    for (state, list) in all {
        findings.extend(list.iter().take(MOST).map(|told| entry(told, state, None, room)));
    }
    let accepted = document.accepted.iter().take(MOST);
    findings
        .extend(accepted.map(|known| entry(&known.told, "accepted", Some(&known.accepted_because), room)));
    let mut kinds = Map::new();
    for name in findings.iter().filter_map(|finding| finding["kind"].as_str()) {
        if let Some(about) = About::of(name) {
            kinds.entry(name).or_insert_with(|| kind(about));
        }
    }
    let tools = document.tools.iter().take(MOST_LINES).map(|(name, counts)| {
        let calls = &counts.calls;
        json!({
            "name": shortened(name, NAME),
            "calls": calls.calls,
            "valid": counts.valid_calls,
            "worked": counts.valid_completed,
            "refused": calls.rejected,
            "errors": calls.tool_errors,
            "failed": calls.failed + calls.malformed + calls.silent + calls.gone,
            "effects": document.effects.get(name),
            "latency": document.latencies.get(name),
        })
    });
    let notes: Vec<String> = noted(&document.notes).into_iter().take(MOST_LINES).collect();
    let gaps = gaps(&document.not_tested);
    let gaps = gaps.iter().take(MOST_LINES).map(|gap| json!({ "why": gap.why, "what": gap.what }));
    let started = document.target.as_ref().map(|target| shortened(&target.to_string(), TEXT));
    json!({
        "word": verdict::word(document.verdict.conclusion),
        "warning": document.warning(),
        "verdict": verdict::line(document),
        "server": verdict::server(document),
        "title": earlier.and_then(|earlier| earlier.title.as_deref()).map(|title| shortened(title, NAME)),
        "threshold": document.verdict.threshold,
        "facts": [
            ["Command", format!("wallfacer {}", run.command)],
            ["Server started as", started.unwrap_or_default()],
            ["Started", run.started.clone()],
            ["Took", format!("{:.1} s", run.duration_ms as f64 / 1e3)],
            ["Calls", format!("{}, {}", verdict::counted(document.summary.calls.calls as usize, "call"), verdict::counted(run.lives as usize, document.beginning()))],
            ["Seed", run.seed.to_string()],
            ["Sandbox", run.sandbox.clone()],
            ["Watched", run.observed.join(", ")],
            ["wallfacer", document.wallfacer.clone()],
        ],
        "remarks": run.remarks.iter().chain(&run.access.told()).collect::<Vec<_>>(),
        "duration": run.duration_ms,
        "kinds": kinds,
        "findings": findings,
        "stale": document.stale,
        "tools": tools.collect::<Vec<_>>(),
        "notes": notes,
        "gaps": gaps.collect::<Vec<_>>(),
        "timeline": document.timeline,
        "earlier": earlier.map(|earlier| earlier.shown(document)),
    })
}

fn entry(told: &Told, state: &str, reason: Option<&str>, room: usize) -> Value {
    let finding = &told.finding;
    let mut left = room;
    let evidence = finding.evidence.iter().map_while(|evidence| {
        let text: String = evidence.text.chars().take(left).collect();
        left -= text.chars().count().min(left);
        let is_cut = text.len() < evidence.text.len();
        let lines: Vec<String> = text.lines().map(|line| shown(line.trim_end())).collect();
        (!text.is_empty() || evidence.text.is_empty()).then(
            || json!({ "label": shortened(&evidence.label, NAME), "text": lines.join("\n"), "cut": is_cut }),
        )
    });
    let evidence: Vec<Value> = evidence.collect();
    let frame = finding.evidence.iter().find_map(|evidence| top_frame(&evidence.text));
    let frame = frame.map(|frame| match frame.function.is_empty() {
        true => shortened(&frame.file, NAME),
        false => shortened(&format!("{} in {}", frame.function, frame.file), NAME),
    });
    json!({
        "id": finding.id,
        "state": state,
        "reason": reason.map(|reason| shortened(reason, TEXT)),
        "kind": finding.kind.name(),
        "severity": finding.severity,
        "heading": told.heading(),
        "place": told.place(),
        "tool": finding.tool.as_deref().map(|tool| shortened(tool, NAME)),
        "tools": finding.tools.iter().map(|tool| shortened(tool, NAME)).collect::<Vec<_>>(),
        "what": shortened(&told.what, TEXT),
        "particular": particular(finding),
        "change": shortened(&told.change, TEXT),
        "request": told.request,
        "evidence": evidence,
        "proven": told.proven(),
        "replay": shown(&told.replay),
        // Findings of one kind that failed in the same function have one cause.
        "cause": frame,
    })
}

fn kind(about: &About) -> Value {
    let references: Vec<String> = about.references().into_iter().map(|reference| reference.text).collect();
    json!({
        "title": about.title, "why": about.why, "proof": about.proof, "page": about.page(), "references": references,
    })
}
