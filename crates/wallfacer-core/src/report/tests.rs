//! One run in every form, with a server whose every text is hostile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Document, Format, Look, NotMerged, Report, merge};
use crate::findings::{
    Baseline, BugMark, Cause, Evidence, Finding, Kind, Origin, Repro, Reproduced, published,
};
use crate::observe::Behaviour;
use crate::plan::{Case, Intent, Subject};
use crate::shard::Shard;
use crate::summary::{Conclusion, Fuzzed, NotTested, Note, Part, Run, Summary, ToolSummary};
use crate::target::{Command, Reach, Severity, Target, Version};
use crate::wire::Server;

const HOSTILE: &str = "na\u{1b}[2Jme\u{202e}\r\n";

/// Tries to end whatever a format puts text into: tags, links, commands of CI systems, blocks of code.
const ACTIVE: &str =
    "</script><img src=x onerror=alert(1)>[a](javascript:x)\n::error::x\n##[error]y\n```\n]]>&\"'`|--><b>";

fn human(report: &Report<'_>, look: Look) -> String {
    super::human::human(&report.document(), look)
}

fn sarif(report: &Report<'_>) -> Value {
    super::sarif::sarif(&report.document())
}

fn document(report: &Report<'_>) -> Value {
    report.document().value()
}

fn finding(kind: Kind, tool: &str) -> Finding {
    let case = Case::tool(tool, json!({ "q": HOSTILE }), Intent::Valid, 0);
    let origin = Origin::new(Some("s"), &kind, &Subject::Tool(tool.to_owned()), &Cause::exit(None, ""));
    let mut finding = Finding::new(&origin, kind, &format!("said {HOSTILE} a lot"), Repro::new(&case, &case));
    finding.evidence = vec![Evidence { label: "stderr".to_owned(), text: format!("{HOSTILE}\nlast") }];
    finding.reproduced = Reproduced { k: 2, n: 2 };
    finding
}

fn run(findings: Vec<Finding>) -> Run {
    let introduction = json!({ "serverInfo": { "name": HOSTILE, "version": "1.0" }, "capabilities": {} });
    let counts = Summary { calls: 20, completed: 18, rejected: 2, ..Summary::default() };
    let tool = ToolSummary { calls: counts.clone(), valid_calls: 3, valid_completed: 2 };
    let fuzzed = Fuzzed {
        target: Target::new(Reach::Command(Command::new("server", ["--quick"]))).shown(),
        server: Server::from_initialize(&introduction, Version::V2025_11_25, Duration::ZERO),
        seed: 7,
        took: Duration::from_millis(1_500),
        lives: 2,
        summary: counts,
        tools: BTreeMap::from([(HOSTILE.to_owned(), tool)]),
        latencies: BTreeMap::new(),
        findings,
        flaky: vec![Finding {
            reproduced: Reproduced { k: 1, n: 2 },
            ..finding(Kind::Crash, "now and then")
        }],
        notes: vec![Note { tool: Some(HOSTILE.to_owned()), text: HOSTILE.to_owned() }],
        not_tested: vec![NotTested { what: HOSTILE.to_owned(), why: "it was left out".to_owned() }],
        out_of_time: false,
        rules_judged: 0,
        rules: Default::default(),
        news: Vec::new(),
        tokens: Vec::new(),
    };
    Run::of_fuzzing("2026-01-02T03:04:05Z".to_owned(), fuzzed)
}

fn broken() -> Run {
    let kinds = [Kind::Crash, Kind::Hang { ms: 5_000 }, Kind::Crash, Kind::AcceptedInvalid];
    let tools = ["add", "add", HOSTILE, "add"];
    run(kinds.into_iter().zip(tools).map(|(kind, tool)| finding(kind, tool)).collect())
}

fn report(run: &Run) -> Report<'_> {
    Report::new(run, Severity::Medium, Some("wallfacer.toml".to_owned()))
}

#[test]
fn nothing_of_a_hostile_server_steers_the_terminal() {
    for (width, look) in [(80, Look::PLAIN), (120, Look::terminal(120, false))] {
        let text = human(&report(&broken()), look);
        assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text}");
        assert!(!text.contains('\u{202e}'), "{text}");
        let long = text.lines().find(|line| line.chars().count() > width);
        assert_eq!(long, None, "every line fits");
    }
    insta::assert_snapshot!(human(&report(&broken()), Look::PLAIN));
}

#[test]
fn colours_only_add_to_the_text() {
    let (run, plain) = (broken(), Look::terminal(80, false));
    let coloured = human(&report(&run), Look::terminal(80, true));
    let codes = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    assert_ne!(coloured, human(&report(&run), plain));
    assert_eq!(codes.replace_all(&coloured, ""), human(&report(&run), plain));
}

#[test]
fn what_is_true_of_many_tools_is_told_once() {
    let note = |tool: &str| Note { tool: Some(tool.to_owned()), text: "it wrote `/a`".to_owned() };
    let mut run = run(Vec::new());
    run.notes = vec![note("add"), Note { tool: None, text: "hello".to_owned() }, note("remove")];
    let shown = human(&report(&run), Look::PLAIN);
    assert!(shown.contains("- add, remove: it wrote `/a`\n  - hello\n"), "{shown}");
    run.notes = (0..12).map(|number| note(&format!("tool{number}"))).collect();
    let shown = human(&report(&run), Look::PLAIN);
    assert!(shown.contains("- tool0 and 11 other tools: it wrote `/a`\n"), "{shown}");
}

#[test]
fn what_a_run_means_depends_on_what_was_found_accepted_and_tested() {
    let concluded = |run: &Run| run.conclusion(Severity::Medium);
    assert_eq!(concluded(&broken()), Conclusion::Broken);
    assert_eq!(concluded(&run(vec![finding(Kind::AcceptedInvalid, "add")])), Conclusion::Clean);
    let untested = Run { tools: BTreeMap::new(), ..run(vec![]) };
    assert_eq!(concluded(&untested), Conclusion::NotTested);
    let mut baseline = Baseline::default();
    baseline.accept(&finding(Kind::Crash, "add"), "known", "2026-01-02");
    let mut known = run(vec![finding(Kind::Crash, "add")]);
    known.hold_against(&baseline);
    assert_eq!((concluded(&known), known.accepted.len()), (Conclusion::Clean, 1));
    let mut mended = run(vec![]);
    mended.hold_against(&baseline);
    assert_eq!(concluded(&mended), Conclusion::Stale);
    mended.out_of_time = true;
    assert_eq!(concluded(&mended), Conclusion::Clean, "what was not looked for may still be there");
    assert!(!human(&report(&untested), Look::PLAIN).contains("PASSED"));
}

#[test]
fn an_interrupted_run_says_so_and_is_never_a_pass() {
    let mut run = run(vec![]);
    let what = "a suspected crash in add".to_owned();
    let why = "the run was interrupted before it could be seen a second time".to_owned();
    run.not_tested.push(NotTested { what, why });
    run.interrupt();
    run.interrupt();
    assert_eq!(run.conclusion(Severity::Medium), Conclusion::Interrupted);
    assert_eq!(sarif(&report(&run))["runs"][0]["invocations"][0]["executionSuccessful"], false);
    let mut found = broken();
    found.interrupt();
    assert_eq!(found.conclusion(Severity::Medium), Conclusion::Broken);
    let first_lines: String =
        human(&report(&found), Look::PLAIN).lines().take(3).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(format!("{}---\n{first_lines}\n", human(&report(&run), Look::PLAIN)));
}

#[test]
fn every_document_keeps_to_the_json_schema() {
    let published = published::<Document>("report.schema.json");
    let schema = jsonschema::validator_for(&published).unwrap();
    let mut accepted = broken();
    let mut baseline = Baseline::default();
    baseline.accept(&accepted.findings[0], "known", "2026-01-02");
    baseline.accept(&finding(Kind::Drift, "gone"), "known", "2026-01-02");
    accepted.hold_against(&baseline);
    let mut interrupted = broken();
    interrupted.interrupt();
    let behaviour = Behaviour::default();
    for run in [broken(), run(vec![]), accepted, interrupted] {
        let document = document(&Report { behaviour: Some(&behaviour), ..report(&run) });
        let wrong: Vec<String> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(wrong, [""; 0]);
    }
    assert!(!schema.is_valid(&json!({ "wallfacer": "0" })));
}

/// What the specification of SARIF 2.1.0 demands of the parts that we write.
fn assert_is_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    let [run] = &log["runs"].as_array().unwrap()[..] else { panic!("one run") };
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = driver["rules"].as_array().unwrap();
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "each rule has an id of its own");
    let levels = ["none", "note", "warning", "error"];
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string() && rule["help"]["text"].is_string());
        assert!(levels.contains(&rule["defaultConfiguration"]["level"].as_str().unwrap()));
    }
    for invocation in run["invocations"].as_array().unwrap() {
        assert!(invocation["executionSuccessful"].is_boolean());
    }
    let results = run["results"].as_array().unwrap();
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"], "index and id name the same rule");
        assert!(levels.contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        for location in result["locations"].as_array().unwrap() {
            assert!(location["logicalLocations"][0]["fullyQualifiedName"].is_string());
            let physical = location.get("physicalLocation");
            assert!(physical.is_none_or(|place| place["region"]["startLine"].as_u64() >= Some(1)));
        }
        for suppression in result["suppressions"].as_array().into_iter().flatten() {
            assert!(["inSource", "external"].contains(&suppression["kind"].as_str().unwrap()));
        }
    }
    let prints: BTreeSet<String> =
        results.iter().map(|result| result["partialFingerprints"].to_string()).collect();
    assert_eq!(prints.len(), results.len(), "each result has a fingerprint of its own");
}

#[test]
fn sarif_is_as_its_specification_demands() {
    let mut accepted = broken();
    let mut baseline = Baseline::default();
    baseline.accept(&accepted.findings[1], "known", "2026-01-02");
    accepted.hold_against(&baseline);
    for run in [broken(), run(vec![]), accepted] {
        assert_is_sarif(&sarif(&report(&run)));
    }
    let log = sarif(&report(&broken()));
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 4);
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().len(), 3);
    let unnamed = broken();
    let unnamed = Report { source: None, ..report(&unnamed) };
    let log = sarif(&unnamed);
    assert_eq!(log["runs"][0]["results"][0]["locations"][0].get("physicalLocation"), None);
}

/// A run in which every text that can come from a server tries to act.
fn active() -> Run {
    let mut made = finding(Kind::Crash, ACTIVE);
    made.message = ACTIVE.to_owned();
    made.evidence = vec![Evidence { label: ACTIVE.to_owned(), text: ACTIVE.to_owned() }];
    made.tools = vec![ACTIVE.to_owned(), HOSTILE.to_owned()];
    let mut run = run(vec![made]);
    run.server.name = Some(ACTIVE.to_owned());
    run.server.version = Some(ACTIVE.to_owned());
    run.tools = BTreeMap::from([(ACTIVE.to_owned(), run.tools[HOSTILE].clone())]);
    run.notes.push(Note { tool: Some(ACTIVE.to_owned()), text: ACTIVE.to_owned() });
    run.not_tested.push(NotTested { what: ACTIVE.to_owned(), why: ACTIVE.to_owned() });
    run
}

#[test]
fn nothing_of_a_server_acts_in_any_format() {
    for (run, format) in
        [active(), broken()].iter().flat_map(|run| Format::ALL.iter().map(move |format| (run, *format)))
    {
        let written = format.write(&report(run), Look::PLAIN);
        // As it is handed over: what still acts there is shown as a code.
        let text = wallfacer_text::page(&written, format.commands());
        let name = format.name();
        for line in text.lines() {
            let command = line.trim_start().starts_with("::") && format != Format::Github;
            assert!(!command, "{name} would have a CI system act: {line}");
        }
        let commands = text.lines().filter(|line| line.starts_with("::error ")).count();
        let grave = run.findings.iter().filter(|finding| finding.severity >= Severity::High).count();
        assert!(format != Format::Github || commands == grave, "{commands} of {grave}: {text}");
        if matches!(format, Format::Html | Format::Markdown) {
            assert!(!text.contains("<img"), "{name}: {text}");
            assert!(format == Format::Html || !text.contains("](javascript"), "{name}: {text}");
        }
        match format {
            Format::Html => assert_eq!(text.matches("</script>").count(), 2, "{text}"),
            Format::Junit => assert!(!text.contains("]]>&") && !text.contains("<b>"), "{text}"),
            Format::Json | Format::Sarif | Format::Gitlab => {
                serde_json::from_str::<Value>(&text).expect(name);
            }
            _ => {}
        }
    }
}

#[test]
fn every_format_reads_well() {
    let run = broken();
    let report = Report::new(&run, Severity::Medium, Some("wallfacer.toml".to_owned()));
    for format in [Format::Junit, Format::Markdown, Format::Github, Format::Gitlab, Format::Agent] {
        insta::assert_snapshot!(format!("as {}", format.name()), format.write(&report, Look::PLAIN));
    }
}

#[test]
fn a_stored_run_reads_back_and_looks_the_same() {
    let mut accepted = broken();
    let mut baseline = Baseline::default();
    baseline.accept(&accepted.findings[0], "known", "2026-01-02");
    accepted.hold_against(&baseline);
    for run in [broken(), accepted, run(vec![])] {
        let document = report(&run).document();
        let stored = super::written(&document.value());
        let read = Document::read(&stored).unwrap();
        for format in Format::ALL {
            let [before, after] = [&document, &read].map(|one| format.write_document(one, None, Look::PLAIN));
            assert_eq!(before, after, "{}", format.name());
        }
    }
}

#[test]
fn a_verdict_says_what_it_is() {
    let line = |run: &Run| super::verdict::line(&report(run).document());
    let mut known = run(vec![finding(Kind::Crash, "add")]);
    let mut baseline = Baseline::default();
    baseline.accept(&finding(Kind::Crash, "add"), "known", "2026-01-02");
    known.hold_against(&baseline);
    let untested = Run { tools: BTreeMap::new(), ..run(vec![]) };
    let low = run(vec![finding(Kind::AcceptedInvalid, "add")]);
    let mut late = run(vec![]);
    late.out_of_time = true;
    let lines = [run(vec![]), broken(), low, known, late, untested].map(|run| line(&run));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_page_of_a_thousand_findings_stays_small() {
    let mut one = finding(Kind::Crash, "add");
    one.evidence = vec![Evidence { label: "stderr".to_owned(), text: "a line of a trace\n".repeat(300) }];
    let run = run(vec![one; 1_000]);
    let page = Format::Html.write(&report(&run), Look::PLAIN);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
}

#[test]
fn a_summary_of_a_job_has_a_bound() {
    let mut one = finding(Kind::Crash, "add");
    one.evidence = vec![Evidence { label: "stderr".to_owned(), text: "x".repeat(300) + "\n" }; 20];
    let run = run(vec![one; 2_000]);
    let text = Format::Markdown.write(&report(&run), Look::PLAIN);
    assert!(text.len() < 1024 * 1024, "{} bytes", text.len());
    assert!(text.contains("not shown here for want of room"));
}

#[test]
fn the_text_for_an_agent_has_a_bound() {
    let mut one = finding(Kind::Crash, "add");
    one.evidence = vec![Evidence { label: "stderr".to_owned(), text: "x".repeat(3_000) + "\n" }; 20];
    let mut run = run(vec![one; 2_000]);
    let gap = |number: usize| NotTested { what: format!("tool{number}"), why: format!("reason {number}") };
    run.not_tested = (0..2_000).map(gap).collect();
    let text = Format::Agent.write(&report(&run), Look::PLAIN);
    assert!(text.len() < 300_000, "{} bytes", text.len());
    assert!(text.contains("1,980 more findings: fix these first"));
}

#[test]
fn what_a_server_writes_at_every_start_is_folded() {
    let banner = "notes 1.0\nreading settings\n";
    let findings = ["add", "remove"].map(|tool| {
        let mut one = finding(Kind::Crash, tool);
        one.evidence[0].text = format!("{banner}Error: {tool}\n");
        one
    });
    let text = human(&report(&run(findings.to_vec())), Look::PLAIN);
    assert_eq!(text.matches("(2 lines that the server writes at every start)").count(), 2, "{text}");
    assert!(!text.contains("reading settings") && text.contains("Error: remove"), "{text}");
    let alone = human(&report(&run(findings[..1].to_vec())), Look::PLAIN);
    assert!(alone.contains("reading settings"), "of one alone nobody knows what is usual: {alone}");
}

/// The report of one part of a plan.
fn part(index: u32, count: u32, findings: Vec<Finding>) -> (String, Document) {
    let mut run = run(findings);
    run.flaky.clear();
    run.belong_to(Some(Part::new(Shard { index, count }, "the same arguments")));
    (format!("{index}.json"), report(&run).document())
}

/// A finding of one tool that would be one of the server in two.
fn shared(tool: &str) -> Finding {
    let wide = Origin::new(Some("s"), &Kind::InternalError, &Subject::Server, &Cause::exit(None, "")).id();
    let bug = Some(BugMark { cause: String::new(), tools: 2 });
    Finding { wider: vec![wide], bug, ..finding(Kind::InternalError, tool) }
}

fn ids(document: &Document) -> Vec<String> {
    document.findings.iter().map(|told| told.finding.id.to_string()).collect()
}

#[test]
fn parts_of_a_plan_are_joined_in_any_order_and_each_once() {
    let first = part(1, 2, vec![finding(Kind::Crash, "add"), finding(Kind::Hang { ms: 1 }, "list")]);
    let second = part(2, 2, vec![finding(Kind::Crash, "add")]);
    let joined = merge(vec![first.clone(), second.clone()]).unwrap();
    let turned = merge(vec![second.clone(), first.clone(), second]).unwrap();
    assert_eq!(joined.value(), turned.value());
    assert_eq!(joined.findings.len(), 2);
    assert_eq!(joined.summary.calls.calls, 40);
    assert_eq!(joined.run.lives, 4);
    let told: Vec<&str> = joined.not_tested.iter().map(|gap| gap.why.as_str()).collect();
    assert_eq!(told, ["it was left out"], "no part is missing, so nothing is said of others");
    assert!(joined.run.shard.is_none());
}

#[test]
fn what_two_parts_see_in_a_tool_each_is_one_bug_of_the_server() {
    let one = merge(vec![part(1, 2, vec![shared("add")]), part(2, 2, vec![])]).unwrap();
    assert_eq!(ids(&one), [shared("add").id.to_string()]);
    let both = merge(vec![part(1, 2, vec![shared("add")]), part(2, 2, vec![shared("list")])]).unwrap();
    assert_eq!(ids(&both), [shared("add").wider[0].to_string()]);
    let finding = &both.findings[0].finding;
    assert_eq!((finding.tools.len(), finding.sightings.len()), (2, 2));
    assert!(finding.message.ends_with("; the same in 1 other tool"), "{}", finding.message);
}

#[test]
fn a_part_that_is_missing_is_no_pass_and_one_that_was_interrupted_is_replaced() {
    let alone = merge(vec![part(2, 3, vec![])]).unwrap();
    assert_eq!(alone.verdict.conclusion, Conclusion::NotTested);
    assert_eq!(alone.verdict.reason.as_deref(), Some("2 of 3 shards are missing"));
    let (name, mut killed) = part(1, 1, vec![]);
    killed.run.interrupted = true;
    killed.run.started = "2027-01-01T00:00:00Z".to_owned();
    let again = merge(vec![(name, killed.clone()), part(1, 1, vec![])]).unwrap();
    assert_eq!((again.verdict.conclusion, again.run.interrupted), (Conclusion::Clean, false));
    assert_eq!(
        merge(vec![("killed".to_owned(), killed)]).unwrap().verdict.conclusion,
        Conclusion::Interrupted
    );
}

#[test]
fn parts_of_different_plans_are_refused() {
    let (_, mut other) = part(2, 2, vec![]);
    other.run.seed = 8;
    let refused = merge(vec![part(1, 2, vec![]), ("b.json".to_owned(), other)]).unwrap_err();
    assert_eq!(refused.to_string(), "`b.json` and `1.json` are parts of different plans: the seed differs");
    assert_eq!(merge(Vec::new()).unwrap_err(), NotMerged::Nothing);
    let whole = report(&run(vec![])).document();
    assert!(matches!(merge(vec![("a".to_owned(), whole)]), Err(NotMerged::NoPart { .. })));
}
