//! The HTML report in a real browser: it filters, expands, follows a link to a finding, asks the network for nothing, and
//! nothing in hostile names acts.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use wallfacer_core::report::{Comparison, Document, Format, Look, PastRun};
use wallfacer_fixtures::require;

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onclick=\"alert(3)";
const FINDINGS: usize = 1_000;

#[allow(clippy::disallowed_methods, reason = "a test looks for the programs that it needs")]
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

fn id(number: usize) -> String {
    format!("{:016x}", number as u64 * 0x9e37_79b9 + 1)
}

fn finding(number: usize) -> Value {
    let tool = if number == 0 { HOSTILE.to_owned() } else { format!("tool_{}", number % 40) };
    let kinds = ["crash", "internal_error", "accepted_invalid", "injection"];
    let severities = ["critical", "medium", "low", "high"];
    json!({
        "id": id(number),
        "kind": { "type": kinds[number % 4] },
        "severity": severities[number % 4],
        "tool": tool,
        "subject": { "tool": tool },
        "message": format!("the server exited with code {}", number % 7),
        "details": "",
        "evidence": [{ "label": "stderr", "text": format!("{HOSTILE}\n{}", "a line of the log\n".repeat(20)) }],
        "reproduced": { "k": 2, "n": 2 },
        "repro": { "not_replayable": { "reason": "it is made up" } },
        "seed": 0, "target": null, "server": { "name": "notes", "version": "1" }, "protocol": "2025-11-25",
        "references": [], "first_seen": "", "last_seen": "",
        "replay": format!("wallfacer replay {}", id(number)),
        "what": format!("A call to `{tool}` crashes the server: {HOSTILE}."), "why": "w", "change": "c",
        "request": format!("tools/call {tool} {{}}"),
    })
}

fn document() -> Document {
    let counts = json!({
        "calls": 20, "completed": 10, "tool_errors": 2, "rejected": 8, "failed": 0, "malformed": 0, "silent": 0,
        "gone": 0, "valid_calls": 8, "valid_completed": 7, "valid_call_success": 0.9,
    });
    let tools: serde_json::Map<String, Value> =
        (0..40).map(|number| (format!("tool_{number}"), counts.clone())).collect();
    let text = json!({
        "wallfacer": "0.1.0",
        "run": {
            "command": "check", "seed": 0, "started": "2026-01-02T03:04:05Z", "duration_ms": 60000, "budget_ms": 60000,
            "out_of_time": false, "interrupted": false, "sandbox": "overlay", "observed": ["messages"], "remarks": [],
            "access": { "opened": null, "kept": [], "readable_secrets": [], "replaced": [], "remarks": [] },
            "lives": 12, "starts_per_finding": 1.0, "starts_per_1000_calls": 1.0, "steps": [],
        },
        "target": { "command": ["node", HOSTILE] },
        "server": { "name": HOSTILE, "version": "1", "protocol": "2025-11-25", "era": "legacy" },
        "verdict": { "conclusion": "failed", "threshold": "medium", "tested": true },
        "summary": counts,
        "tools": tools,
        "findings": (0..FINDINGS).map(finding).collect::<Vec<_>>(),
        "flaky": [], "accepted": [], "stale": [],
        "notes": [{ "tool": HOSTILE, "text": HOSTILE }],
        "not_tested": [{ "what": HOSTILE, "why": HOSTILE }],
        "effects": { "tool_1": ["reads the working directory", HOSTILE] },
        "timeline": [
            { "ms": 100, "event": "phase", "text": HOSTILE, "calls": 10 },
            { "ms": 900, "event": "finding", "text": HOSTILE, "calls": 20 },
        ],
    });
    Document::read(&text.to_string()).unwrap()
}

#[test]
fn a_page_of_a_thousand_findings_works_in_a_browser_and_nothing_in_it_acts() {
    let chromium = require("chromium", program(&["chromium", "chromium-browser", "google-chrome"]));
    let node = require("node", program(&["node"]));
    let (Some(chromium), Some(node)) = (chromium, node) else { return };
    let document = document();
    let mut before = document.clone();
    before.findings.truncate(FINDINGS / 2);
    let past = vec![PastRun::new("a", &before), PastRun::new("b", &document)];
    let earlier = Comparison { title: None, against: Some((HOSTILE.to_owned(), before)), past };
    let page = Format::Html.write_document(&document, Some(&earlier), Look::PLAIN);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, page).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/html/browse.mjs");
    let wanted = id(0);
    let done = Command::new(node).arg(script).arg(chromium).arg(&file).arg(&wanted).output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    let seen: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{errors}"));
    assert_eq!(
        seen["problems"],
        json!([]),
        "no script of the server ran, and the policy had nothing to refuse"
    );
    assert_eq!(seen["requests"], json!([]), "nothing was asked of the network");
    assert_eq!((&seen["images"], &seen["scripts"]), (&json!(0), &json!(2)), "{seen}");
    assert_eq!(seen["unnamed"], 0, "everything that can be used has a name");
    assert!(seen["verdict"].as_str().unwrap().starts_with("FAILED"), "{seen}");
    assert_eq!((&seen["all"], &seen["cleared"]), (&json!(FINDINGS), &json!(FINDINGS)));
    assert_eq!(
        (&seen["filter"]["shown"], &seen["filter"]["status"]),
        (&json!(1), &json!("1 of 1,000 findings shown"))
    );
    assert!(seen["expanded"].as_str().unwrap().contains(&format!("wallfacer replay {wanted}")), "{seen}");
    assert!(seen["expanded"].as_str().unwrap().contains("<img src=x"), "it is shown as text: {seen}");
    assert_eq!(seen["keyboard"], json!(["search", "SUMMARY"]));
    assert_eq!(seen["linked"], json!({ "open": true, "focus": true }));
    let took = seen["filter"]["ms"].as_f64().unwrap();
    // A hundred milliseconds on a machine that does nothing else; this one may.
    assert!(took < 500.0, "filtering took {took} ms");
}
