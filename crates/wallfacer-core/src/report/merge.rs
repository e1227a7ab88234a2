//! Joins the reports of the parts of one plan into the report of one run. Parts of different plans are refused, and a part
//! that is missing was not tested.

use std::collections::{BTreeMap, BTreeSet};

use super::Document;
use super::document::{Counts, Known, Step, rate};
use super::told::Told;
use crate::findings::{Finding, FindingId, Repro, Sighting, merge as join, says_the_same};
use crate::plan::Subject;
use crate::summary::{Became, Conclusion, NotTested, StoredFinding};

/// Why documents cannot be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotMerged {
    #[error("there is no report to join")]
    Nothing,
    #[error("`{name}` is no part of a plan; parts are made with `--shard I/N`")]
    NoPart { name: String },
    #[error("`{name}` and `{other}` are parts of different plans: {what} differs")]
    Mixed { name: String, other: String, what: &'static str },
}

/// The report of the whole plan, from named reports of its parts in any order.
pub fn merge(parts: Vec<(String, Document)>) -> Result<Document, NotMerged> {
    agree(&parts)?;
    let parts = latest(parts);
    let mut all = parts.values();
    let mut whole = all.next().ok_or(NotMerged::Nothing)?.clone();
    let count = whole.run.shard.as_ref().map_or(1, |part| part.shard.count);
    for part in all {
        add(&mut whole, part);
    }
    whole.findings = together(parts.values().flat_map(|part| &part.findings), |_| true);
    let proven: BTreeSet<&str> = whole.findings.iter().map(|told| told.finding.id.as_str()).collect();
    whole.flaky = together(parts.values().flat_map(|part| &part.flaky), |id| !proven.contains(id));
    whole.accepted = accepted(parts.values());
    whole.not_tested = not_tested(&whole, &parts);
    let missing: Vec<u32> = (1..=count).filter(|index| !parts.contains_key(index)).collect();
    whole.not_tested.extend(missing.iter().map(|index| missing_shard(*index, count)));
    whole.run.starts_per_finding = rate(whole.run.lives, whole.findings.len() as u64);
    whole.run.starts_per_1000_calls = rate(whole.run.lives * 1_000, whole.summary.calls.calls);
    whole.run.shard = None;
    conclude(&mut whole, &parts, &missing, count);
    Ok(whole)
}

/// All must be parts of one plan, made for the same server.
fn agree(parts: &[(String, Document)]) -> Result<(), NotMerged> {
    let (first_name, first) = parts.first().ok_or(NotMerged::Nothing)?;
    for (name, document) in parts {
        if document.run.shard.is_none() {
            return Err(NotMerged::NoPart { name: name.clone() });
        }
        let other = [
            ("the command", document.run.command != first.run.command),
            ("the number of shards", shards(document) != shards(first)),
            ("the seed", document.run.seed != first.run.seed),
            ("the server", named(document) != named(first)),
            ("the version of wallfacer", document.wallfacer != first.wallfacer),
            ("what the command line or the configuration asks for", plan(document) != plan(first)),
        ];
        if let Some((what, _)) = other.into_iter().find(|(_, differs)| *differs) {
            return Err(NotMerged::Mixed { name: name.clone(), other: first_name.clone(), what });
        }
    }
    Ok(())
}

fn shards(document: &Document) -> Option<u32> {
    document.run.shard.as_ref().map(|part| part.shard.count)
}

fn plan(document: &Document) -> Option<&str> {
    document.run.shard.as_ref().map(|part| part.plan.as_str())
}

fn named(document: &Document) -> (&Option<String>, &Option<String>) {
    (&document.server.name, &document.server.version)
}

/// One report of each part: one that was ended early gives way to one that was not, an older one to a newer.
fn latest(parts: Vec<(String, Document)>) -> BTreeMap<u32, Document> {
    let mut kept: BTreeMap<u32, Document> = BTreeMap::new();
    for (_, document) in parts {
        let Some(index) = document.run.shard.as_ref().map(|part| part.shard.index) else { continue };
        let worth = |document: &Document| (!document.run.interrupted, document.run.started.clone());
        if kept.get(&index).is_none_or(|other| worth(other) < worth(&document)) {
            kept.insert(index, document);
        }
    }
    kept
}

/// What is counted or listed, whichever part it is from.
fn add(whole: &mut Document, part: &Document) {
    let run = &mut whole.run;
    run.started = run.started.clone().min(part.run.started.clone());
    run.duration_ms = run.duration_ms.max(part.run.duration_ms);
    run.out_of_time |= part.run.out_of_time;
    run.interrupted |= part.run.interrupted;
    run.lives += part.run.lives;
    add_new(&mut run.observed, &part.run.observed);
    add_new(&mut run.remarks, &part.run.remarks);
    for step in &part.run.steps {
        match run.steps.iter_mut().find(|other| other.name == step.name) {
            Some(other) => other.duration_ms += step.duration_ms,
            None => run.steps.push(Step { name: step.name.clone(), duration_ms: step.duration_ms }),
        }
    }
    whole.summary = sum(&whole.summary, &part.summary);
    for (tool, counts) in &part.tools {
        let joined = whole.tools.get(tool).map_or_else(|| counts.clone(), |known| sum(known, counts));
        whole.tools.insert(tool.clone(), joined);
    }
    whole.rules.add(part.rules.clone());
    for stored in &part.stored {
        add_stored(&mut whole.stored, stored);
    }
    add_new(&mut whole.notes, &part.notes);
    for (tool, effects) in &part.effects {
        whole.effects.entry(tool.clone()).or_default().extend(effects.iter().cloned());
    }
    for (tool, latency) in &part.latencies {
        whole.latencies.entry(tool.clone()).or_default().join(latency);
    }
    whole.behaviour = whole.behaviour.take().or_else(|| part.behaviour.clone());
    whole.timeline.extend(part.timeline.iter().cloned());
    whole.timeline.sort_by_key(|moment| moment.ms);
    // Whether an accepted finding is gone only a whole run can say.
    whole.stale.clear();
}

fn add_new<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    let new: Vec<T> = more.iter().filter(|one| !all.contains(one)).cloned().collect();
    all.extend(new);
}

/// What still fails in one part is not gone, whatever the others say; what one has tried was tried.
fn add_stored(all: &mut Vec<StoredFinding>, one: &StoredFinding) {
    let said = |became: Became| match became {
        Became::StillThere => 2,
        Became::Gone => 1,
        Became::NotTried => 0,
    };
    match all.iter_mut().find(|known| known.id == one.id) {
        Some(known) if said(known.became) < said(one.became) => *known = one.clone(),
        Some(_) => {}
        None => all.push(one.clone()),
    }
}

fn sum(one: &Counts, other: &Counts) -> Counts {
    let mut calls = one.calls.clone();
    calls.add(&other.calls);
    Counts::new(&calls, one.valid_calls + other.valid_calls, one.valid_completed + other.valid_completed)
}

/// Each bug once, the gravest first: what one part saw in one tool and another in a second is one bug of the server where it
/// would be one for a run that sees both.
fn together<'a>(all: impl Iterator<Item = &'a Told>, wanted: impl Fn(&str) -> bool) -> Vec<Told> {
    let finding = |told: &Told| Finding { replay: Some(told.replay.clone()), ..told.finding.clone() };
    let all = all.map(finding).filter(|finding| wanted(finding.id.as_str()));
    let mut findings = unite(join(all));
    let told: Vec<Finding> = findings.clone();
    findings.retain(|finding| !told.iter().any(|other| is_told_by(finding, other)));
    findings.iter().map(Told::new).collect()
}

/// What shows in enough tools is a finding of the server.
fn unite(findings: Vec<Finding>) -> Vec<Finding> {
    let mut bugs: BTreeMap<FindingId, Vec<Finding>> = BTreeMap::new();
    let mut rest = Vec::new();
    for finding in findings {
        match finding.wider.first().cloned() {
            Some(wide) => bugs.entry(wide).or_default().push(finding),
            None => rest.push(finding),
        }
    }
    for (wide, failures) in bugs {
        let tools: BTreeSet<String> = failures.iter().flat_map(tools).collect();
        let enough = failures.iter().filter_map(|failure| failure.bug.as_ref()).map(|bug| bug.tools).min();
        match rest.iter_mut().find(|finding| finding.id == wide) {
            Some(of_server) => widen(of_server, &tools, &failures),
            None if enough.is_some_and(|enough| tools.len() >= enough) => {
                let mut of_server = failures[0].clone();
                of_server.id = wide;
                of_server.wider.clear();
                of_server.message += match tools.len() - 1 {
                    1 => "; the same in 1 other tool".to_owned(),
                    others => format!("; the same in {others} other tools"),
                }
                .as_str();
                widen(&mut of_server, &tools, &failures);
                rest.push(of_server);
            }
            None => rest.extend(failures),
        }
    }
    join(rest)
}

fn tools(finding: &Finding) -> Vec<String> {
    finding.tool.iter().chain(&finding.tools).cloned().collect()
}

/// Makes a finding one of the server, with all tools in which it shows.
fn widen(finding: &mut Finding, tools: &BTreeSet<String>, failures: &[Finding]) {
    finding.subject = Subject::Server;
    finding.tool = None;
    finding.tools = finding.tools.iter().chain(tools).cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let severities = failures.iter().map(|failure| failure.severity);
    finding.severity = severities.chain([finding.severity]).max().unwrap_or(finding.severity);
    let own = |failure: &Finding| Sighting {
        tool: failure.tool.clone(),
        way: String::new(),
        ids: vec![failure.id.clone()],
    };
    for failure in failures {
        match failure.sightings.is_empty() {
            true => finding.sightings.push(own(failure)),
            false => finding.sightings.extend(failure.sightings.clone()),
        }
    }
    finding.sightings.sort();
    finding.sightings.dedup();
    if let Repro::Replayable { case, .. } = &mut finding.repro {
        case["subject"] = serde_json::to_value(Subject::Server).expect("a subject is plain data");
    }
}

/// Whether a finding is nothing new beside another, in the same tool or of the server.
fn is_told_by(finding: &Finding, other: &Finding) -> bool {
    let (Some(own), Some(bug)) = (&finding.bug, &other.bug) else { return false };
    let here = other.subject == finding.subject || other.subject == Subject::Server;
    here && finding.id != other.id && says_the_same(&own.cause, other.kind.name(), &bug.cause)
}

fn accepted<'a>(parts: impl Iterator<Item = &'a Document>) -> Vec<Known> {
    let mut seen = BTreeSet::new();
    let all = parts.flat_map(|part| &part.accepted);
    all.filter(|known| seen.insert(known.told.finding.id.clone())).cloned().collect()
}

/// What no part has tested. Of a tool the part knows best that called it most.
fn not_tested(whole: &Document, parts: &BTreeMap<u32, Document>) -> Vec<NotTested> {
    let calls = |part: &Document, tool: &str| part.tools.get(tool).map_or(0, |counts| counts.calls.calls);
    let knows_best = |index: u32, tool: &str| {
        let best = parts.iter().max_by_key(|(index, part)| (calls(part, tool), std::cmp::Reverse(**index)));
        best.is_some_and(|(best, _)| *best == index)
    };
    let mut left = BTreeSet::new();
    for (index, part) in parts {
        let others = part.run.shard.as_ref().map(|part| NotTested::of_other_shards(part.shard));
        let told = part.not_tested.iter().filter(|entry| Some(*entry) != others.as_ref());
        let told =
            told.filter(|entry| !whole.tools.contains_key(&entry.what) || knows_best(*index, &entry.what));
        left.extend(told.cloned());
    }
    left.into_iter().collect()
}

fn missing_shard(index: u32, count: u32) -> NotTested {
    let what = format!("shard {index}/{count}");
    NotTested { what, why: "its report is not among those that were joined".to_owned() }
}

/// What all parts together mean. With a part missing nothing has passed.
fn conclude(whole: &mut Document, parts: &BTreeMap<u32, Document>, missing: &[u32], count: u32) {
    whole.verdict.tested = missing.is_empty() && parts.values().any(|part| part.verdict.tested);
    whole.verdict.reason = match missing.len() {
        0 => whole.verdict.reason.take().filter(|_| !whole.verdict.tested),
        1 => Some(format!("1 of {count} shards is missing")),
        missing => Some(format!("{missing} of {count} shards are missing")),
    };
    whole.verdict.conclusion = match () {
        () if whole.grave() > 0 => Conclusion::Broken,
        () if whole.run.interrupted => Conclusion::Interrupted,
        () if !whole.verdict.tested => Conclusion::NotTested,
        () => Conclusion::Clean,
    };
}
