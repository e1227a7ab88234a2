//! A run of fuzzing, as text for a person and as one JSON document.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::findings::Finding;
use crate::summary::Fuzzed;
use crate::wire::shortened;

/// Findings that are shown in full; the rest in one line each.
const IN_FULL: usize = 5;
const LINE: usize = 100;
const REPRO: usize = 400;

/// For a person.
pub fn fuzzed(run: &Fuzzed) -> String {
    let mut out = String::new();
    verdict(&mut out, run);
    for finding in run.findings.iter().take(IN_FULL) {
        full(&mut out, finding);
    }
    for finding in run.findings.iter().skip(IN_FULL) {
        line(&mut out, finding);
    }
    if !run.flaky.is_empty() {
        out.push_str("\nNot reproduced each time\n");
        for finding in &run.flaky {
            line(&mut out, finding);
        }
    }
    exercised(&mut out, run);
    list(
        &mut out,
        "Worth knowing",
        run.notes.iter().map(|note| match &note.tool {
            Some(tool) => format!("{}: {}", shortened(tool, LINE), shortened(&note.text, 2 * LINE)),
            None => shortened(&note.text, 2 * LINE),
        }),
    );
    list(
        &mut out,
        "Not tested",
        run.not_tested
            .iter()
            .map(|not| format!("{}: {}", shortened(&not.what, LINE), shortened(&not.why, 2 * LINE))),
    );
    out
}

/// As one document.
pub fn fuzzed_json(run: &Fuzzed) -> Value {
    json!({
        "wallfacer": env!("CARGO_PKG_VERSION"),
        "run": { "command": "fuzz", "seed": run.seed, "duration_ms": run.took.as_millis() as u64, "lives": run.lives },
        "target": run.target,
        "server": {
            "name": run.server.name,
            "version": run.server.version,
            "protocol": run.server.protocol.as_str(),
            "era": run.server.era().as_str(),
        },
        "summary": run.summary,
        "tools": run.tools,
        "findings": run.findings,
        "flaky": run.flaky,
        "notes": run.notes,
        "not_tested": run.not_tested,
    })
}

fn verdict(out: &mut String, run: &Fuzzed) {
    let name = run.server.name.as_deref().map_or("the server".to_owned(), |name| shortened(name, LINE));
    let calls = run.summary.calls;
    let _infallible = match run.findings.len() {
        0 => writeln!(out, "Nothing found in {calls} calls of {name} (seed {}).", run.seed),
        1 => writeln!(out, "One finding in {calls} calls of {name} (seed {}).", run.seed),
        many => writeln!(out, "{many} findings in {calls} calls of {name} (seed {}).", run.seed),
    };
}

fn full(out: &mut String, finding: &Finding) {
    let _infallible = writeln!(
        out,
        "\n{} {} in {}  [{}]",
        finding.severity.as_str(),
        finding.kind.name(),
        shortened(finding.place(), LINE),
        finding.id
    );
    let _infallible = writeln!(out, "  {}", finding.message);
    for evidence in &finding.evidence {
        let _infallible = writeln!(out, "  {}:", evidence.label);
        for text in evidence.text.lines() {
            let _infallible = writeln!(out, "    | {}", shortened(text, LINE));
        }
    }
    let repro = serde_json::to_string(&finding.repro).unwrap_or_default();
    let _infallible = writeln!(out, "  repro: {}", shortened(&repro, REPRO));
    let _infallible =
        writeln!(out, "  reproduced {}/{} on fresh servers", finding.reproduced.k, finding.reproduced.n);
}

fn line(out: &mut String, finding: &Finding) {
    let _infallible = writeln!(
        out,
        "  {} {} in {}  [{}]: {}",
        finding.severity.as_str(),
        finding.kind.name(),
        shortened(finding.place(), LINE),
        finding.id,
        shortened(&finding.message, LINE)
    );
}

fn exercised(out: &mut String, run: &Fuzzed) {
    out.push_str("\nExercised\n");
    for (tool, counts) in &run.tools {
        let calls = &counts.calls;
        let _infallible = writeln!(
            out,
            "  {}: {} calls, {} of {} valid ones succeeded; {} refused, {} tool errors",
            shortened(tool, LINE),
            calls.calls,
            counts.valid_completed,
            counts.valid_calls,
            calls.rejected,
            calls.tool_errors
        );
    }
    let _infallible = writeln!(out, "  on {} server lives in {:.1} s", run.lives, run.took.as_secs_f64());
}

fn list(out: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let _infallible = writeln!(out, "\n{heading}");
    for line in lines {
        let _infallible = writeln!(out, "  - {line}");
    }
}
