//! A run as JUnit XML: a test case for each finding, for each tool without one, and for each thing that was not tested.

use std::sync::LazyLock;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use regex::Regex;

use super::document::Document;
use super::gaps::gaps;
use super::told::Told;
use super::verdict;
use crate::wire::shortened;

const NAME: usize = 100;
const TEXT: usize = 2_000;
const LINES: usize = 50;

static SKIPPED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#" skipped="\d+""#).expect("a fixed pattern"));

/// The report of one suite, which is named after the server.
pub fn junit(document: &Document) -> String {
    let server = document.server.name.as_deref().unwrap_or("server");
    let class = shortened(server, NAME);
    let mut suite = TestSuite::new(format!("wallfacer {}", document.run.command));
    suite.set_time(Duration::from_millis(document.run.duration_ms));
    for told in &document.findings {
        suite.add_test_case(found(told, told.finding.severity >= document.verdict.threshold, &class));
    }
    for (tool, counts) in &document.tools {
        let has_finding = document.findings.iter().any(|told| told.finding.tool.as_ref() == Some(tool));
        if !has_finding && counts.valid_completed > 0 {
            let mut case = TestCase::new(shortened(tool, NAME), TestCaseStatus::success());
            case.set_classname(class.as_str());
            suite.add_test_case(case);
        }
    }
    for gap in gaps(&document.not_tested) {
        for what in &gap.what {
            let mut status = TestCaseStatus::skipped();
            status.set_message(gap.why.as_str());
            let mut case = TestCase::new(what.as_str(), status);
            case.set_classname(class.as_str());
            suite.add_test_case(case);
        }
    }
    let lines: Vec<String> = document.warning().into_iter().chain([verdict::line(document)]).collect();
    suite.set_system_out(lines.join("\n"));
    let mut report = Report::new("wallfacer");
    report.set_time(Duration::from_millis(document.run.duration_ms));
    report.add_test_suite(suite);
    let text = report.to_string().expect("text that is shown can be written as XML");
    // The schema knows this number for one suite, and not for all of them.
    let (head, rest) = text.split_once("<testsuite ").unwrap_or((&text, ""));
    let head = SKIPPED.replace(head, "");
    if rest.is_empty() { text } else { format!("{head}<testsuite {rest}") }
}

fn found(told: &Told, grave: bool, class: &str) -> TestCase {
    let status = match grave {
        true => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(shortened(&told.what, TEXT)).set_type(told.finding.kind.name());
            status.set_description(description(told));
            status
        }
        false => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(format!("{} [{}]", told.heading(), told.finding.id), status);
    case.set_classname(class);
    if !grave {
        case.set_system_out(description(told));
    }
    case
}

fn description(told: &Told) -> String {
    let mut lines = vec![
        shortened(&told.what, TEXT),
        format!("Why it matters: {}", told.why),
        format!("What to change: {}", told.change),
    ];
    lines.extend(told.request.as_ref().map(|request| format!("Request: {request}")));
    for evidence in &told.finding.evidence {
        lines.push(format!("{}:", shortened(&evidence.label, NAME)));
        lines.extend(evidence.text.lines().take(LINES).map(|line| format!("  {}", shortened(line, TEXT))));
    }
    lines.push(format!("Proven: {}", told.proven()));
    lines.push(format!("Replay: {}", told.replay));
    lines.join("\n")
}
