//! A run, as text for a person: the verdict, the gravest findings in full, what was exercised, and what was not.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::document::{Counts, Document};
use super::gaps::{Gap, gaps};
use super::look::{Detail, Look, Tone};
use super::notes::noted;
use super::told::{Told, change_in_general, particular, start};
use super::verdict::{self, counted, number};
use crate::findings::Evidence;
use crate::summary::Conclusion;
use crate::target::Severity;
use crate::wire::{indented, shortened};

/// Findings that are shown in full; the rest in one line each.
const IN_FULL: usize = 5;
/// Entries of one list that get a line; `wallfacer report` has all of them.
const IN_LINES: usize = 20;
/// Reasons why something was not tested that get a line.
const GAPS: usize = 10;
/// Rows of the table of tools.
const MAX_ROWS: usize = 40;
/// Lines of one piece of evidence: the first say what, the last say where.
const FIRST_LINES: usize = 3;
const LAST_LINES: usize = 5;
/// Lines that one long line of evidence takes.
const ANSWER_LINES: usize = 5;
/// Widths at which server text is cut.
const NAME: usize = 60;
const TEXT: usize = 400;
const TOOL_COLUMN: usize = 28;
/// What stands before the text of a finding, and before its value.
const INDENT: usize = 3;
const KEY: usize = 12;

/// The whole report.
pub fn human(document: &Document, look: Look) -> String {
    let mut page = Page::new(look);
    page.noise = start_up_noise(&document.findings);
    if let Some(warning) = document.warning() {
        page.write(&format!("{}\n", look.paint(Tone::Warning, &warning)));
    }
    page.verdict(document);
    if look.detail() == Detail::Quiet {
        return page.out;
    }
    let in_full = if look.detail() == Detail::Full { usize::MAX } else { IN_FULL };
    for (index, told) in document.findings.iter().take(in_full).enumerate() {
        page.full(index + 1, told, document.verdict.threshold);
    }
    let rest: Vec<&Told> = document.findings.iter().skip(in_full).collect();
    page.findings("More findings", &rest);
    page.lines(
        "Flaky: not reproduced every time",
        document.flaky.iter().map(|told| {
            let seen = told.finding.reproduced;
            format!("{} ({} of {} times; {})", one_line(told), seen.k, seen.n, told.replay)
        }),
    );
    page.lines(
        "Accepted in the baseline",
        document
            .accepted
            .iter()
            .map(|known| format!("{} ({})", one_line(&known.told), shortened(&known.accepted_because, TEXT))),
    );
    page.lines(
        "Accepted in the baseline and not found any more: remove them",
        document.stale.iter().map(|stale| format!("{} {}", stale.id, shortened(&stale.about, TEXT))),
    );
    page.tested(document);
    page.lines("Notes", noted(&document.notes).into_iter());
    page.gaps(&gaps(&document.not_tested));
    page.out
}

/// One finding in full, for a page of its own.
pub fn in_full(told: &Told, look: Look) -> String {
    let mut page = Page::new(look.with_detail(Detail::Full));
    page.finding(told, Severity::Low);
    page.out
}

/// Lines that the standard error of every finding begins with: the server writes them whenever it starts.
fn start_up_noise(findings: &[Told]) -> Vec<String> {
    let stderr = findings.iter().flat_map(|told| &told.finding.evidence);
    let mut texts: Vec<Vec<&str>> = stderr.filter(|evidence| is_stderr(evidence)).map(lines_of).collect();
    texts.dedup();
    let Some((first, others)) = texts.split_first() else { return Vec::new() };
    if others.is_empty() {
        return Vec::new();
    }
    let common = |text: &Vec<&str>| first.iter().zip(text).take_while(|(one, other)| one == other).count();
    let length = others.iter().map(common).min().unwrap_or_default();
    first[..length].iter().map(|line| (*line).to_owned()).collect()
}

fn is_stderr(evidence: &Evidence) -> bool {
    evidence.label == "stderr"
}

fn lines_of(evidence: &Evidence) -> Vec<&str> {
    evidence.text.lines().filter(|line| !line.trim().is_empty()).collect()
}

struct Page {
    out: String,
    look: Look,
    noise: Vec<String>,
    /// What was told already of why it matters and what to change, and in which finding.
    told: Vec<(&'static str, usize)>,
}

impl Page {
    fn new(look: Look) -> Page {
        Page { out: String::new(), look, noise: Vec::new(), told: Vec::new() }
    }

    fn verdict(&mut self, document: &Document) {
        let conclusion = document.verdict.conclusion;
        let tone = match conclusion {
            Conclusion::Broken => Tone::Bad,
            Conclusion::Clean => Tone::Good,
            Conclusion::Stale | Conclusion::Interrupted | Conclusion::NotTested => Tone::Warning,
        };
        let word = verdict::word(conclusion);
        let line = verdict::line(document);
        let said = line.strip_prefix(word).unwrap_or_default().trim_start();
        let lines = self.look.wrapped(said, word.chars().count() + 1);
        self.write(&format!("{} {}\n", self.look.paint(tone, word), lines[0]).replace(" \n", "\n"));
        for line in &lines[1..] {
            self.write(&format!("  {line}\n"));
        }
        if self.look.detail() != Detail::Quiet {
            for line in self.look.wrapped(&verdict::server(document), 0) {
                self.write(&format!("{line}\n"));
            }
        }
    }

    fn full(&mut self, number: usize, told: &Told, threshold: Severity) {
        self.write(&format!("\n{number}  "));
        self.finding(told, threshold);
        for text in [told.finding.kind.about().why, change_in_general(&told.finding)] {
            if self.told.iter().all(|(other, _)| *other != text) {
                self.told.push((text, number));
            }
        }
    }

    /// What happened, why it matters, what to change, what was sent, what came, the proof and the replay line.
    fn finding(&mut self, told: &Told, threshold: Severity) {
        let finding = &told.finding;
        let tone = if finding.severity >= threshold { Tone::Bad } else { Tone::Warning };
        let severity = self.look.paint(tone, finding.severity.as_str());
        self.write(&format!("{severity}  {}\n", self.look.paint(Tone::Heading, &told.heading())));
        for line in self.look.wrapped(&shortened(&told.what, TEXT), INDENT) {
            self.write(&format!("{:INDENT$}{line}\n", ""));
        }
        let why = self.once(finding.kind.about().why);
        self.row(
            "why",
            &[particular(finding), Some(why)].into_iter().flatten().collect::<Vec<_>>().join(" "),
        );
        let change = self.once(change_in_general(finding));
        self.row(
            "change",
            &[Some(change), start(finding)].into_iter().flatten().collect::<Vec<_>>().join(" "),
        );
        if finding.tools.len() > 1 {
            let tools: Vec<String> = finding.tools.iter().map(|tool| shortened(tool, NAME)).collect();
            self.row("tools", &shortened(&tools.join(", "), TEXT));
        }
        if let Some(request) = &told.request {
            self.row("request", request);
        }
        for evidence in &finding.evidence {
            self.evidence(evidence);
        }
        self.row("proven", &told.proven());
        // One line, however long: it is there to be copied.
        self.write(&format!("{:INDENT$}{:<8} {}\n", "", "replay", told.replay));
    }

    /// A text that many findings have in common, or where it stands.
    fn once(&self, text: &'static str) -> String {
        match self.told.iter().find(|(other, _)| *other == text) {
            Some((_, first)) => format!("As in {first}."),
            None => text.to_owned(),
        }
    }

    fn row(&mut self, key: &str, value: &str) {
        for (index, line) in self.look.wrapped(value, KEY).iter().enumerate() {
            let key = if index == 0 { key } else { "" };
            self.write(&format!("{:INDENT$}{key:<8} {line}\n", ""));
        }
    }

    fn evidence(&mut self, evidence: &Evidence) {
        let label = shortened(&evidence.label, NAME);
        let mut lines = lines_of(evidence);
        let mut shown = Vec::new();
        let folded = lines.iter().zip(&self.noise).take_while(|(line, noise)| *line == noise).count();
        if is_stderr(evidence) && folded > 1 && folded == self.noise.len() && folded < lines.len() {
            lines.drain(..folded);
            shown.push(format!("({folded} lines that the server writes at every start)"));
        }
        let room = self.look.width() - KEY - 1;
        if !is_stderr(evidence) && lines.len() == 1 {
            // One long line is an answer, of which the beginning alone says little.
            let whole = shortened(lines[0], room * ANSWER_LINES);
            lines.clear();
            shown.extend(self.look.wrapped(&whole, KEY));
        }
        let cut = |line: &&str| indented(line, room);
        match lines.len() {
            few if few <= FIRST_LINES + LAST_LINES + 1 || self.look.detail() == Detail::Full => {
                shown.extend(lines.iter().map(cut));
            }
            many => {
                shown.extend(lines[..FIRST_LINES].iter().map(cut));
                shown.push(format!("({} more lines)", many - FIRST_LINES - LAST_LINES));
                shown.extend(lines[many - LAST_LINES..].iter().map(cut));
            }
        }
        // A long label takes a line of its own, so that all text stands in one column.
        let fits = label.chars().count() <= 8;
        if !fits {
            self.write(&format!("{:INDENT$}{label}\n", ""));
        }
        for (index, line) in shown.iter().enumerate() {
            let key = if index == 0 && fits { &*label } else { "" };
            let line = self.look.paint(Tone::Faint, line);
            self.write(&format!("{:INDENT$}{key:<8} {line}\n", ""));
        }
    }

    fn findings(&mut self, heading: &str, findings: &[&Told]) {
        if findings.is_empty() {
            return;
        }
        self.heading(heading);
        for told in findings.iter().take(IN_LINES) {
            self.item(&format!("{} ({})", one_line(told), told.finding.id));
        }
        let more = findings.len().saturating_sub(IN_LINES);
        match more {
            0 => self.write("  `wallfacer report` shows each in full\n"),
            more => self
                .write(&format!("  and {}; `wallfacer report` shows all\n", counted(more, "more finding"))),
        }
    }

    fn tested(&mut self, document: &Document) {
        self.heading("Tested");
        let run = &document.run;
        let mut effort = format!(
            "{} in {:.1} s, {}, seed {}",
            counted(document.summary.calls.calls as usize, "call"),
            run.duration_ms as f64 / 1e3,
            counted(run.lives as usize, document.beginning()),
            run.seed
        );
        if run.out_of_time && !run.interrupted {
            effort.push_str("; the time limit ended the run before everything planned was tried");
        }
        let seen = format!("sandbox: {}; watched: {}", run.sandbox, run.observed.join(", "));
        for line in [effort, seen].iter().chain(&run.remarks).chain(&run.access.told()) {
            for part in self.look.wrapped(&shortened(line, TEXT), 2) {
                self.write(&format!("  {part}\n"));
            }
        }
        self.table(&document.tools);
    }

    fn table(&mut self, tools: &BTreeMap<String, Counts>) {
        if tools.is_empty() {
            return;
        }
        let names: Vec<String> = tools.keys().map(|name| shortened(name, TOOL_COLUMN - 1)).collect();
        let column = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(4);
        let head = format!(
            "  {:column$} {:>6} {:>13} {:>8} {:>12} {:>7}",
            "tool", "calls", "worked/valid", "refused", "tool errors", "failed"
        );
        self.write(&format!("{}\n", self.look.paint(Tone::Faint, &head)));
        let most = if self.look.detail() == Detail::Full { usize::MAX } else { MAX_ROWS };
        for (name, tool) in names.iter().zip(tools.values()).take(most) {
            let worked = match tool.valid_calls {
                // Of the calls that a rule makes nobody says whether they are valid.
                0 => "-".to_owned(),
                valid => format!("{}/{valid}", tool.valid_completed),
            };
            let calls = &tool.calls;
            let failed = calls.failed + calls.malformed + calls.silent + calls.gone;
            self.write(&format!(
                "  {name:column$} {:>6} {worked:>13} {:>8} {:>12} {failed:>7}\n",
                calls.calls, calls.rejected, calls.tool_errors
            ));
        }
        self.more(tools.len(), most);
    }

    fn gaps(&mut self, gaps: &[Gap]) {
        if gaps.is_empty() {
            return;
        }
        self.heading("Not tested");
        let most = if self.look.detail() == Detail::Full { usize::MAX } else { GAPS };
        for gap in gaps.iter().take(most) {
            self.item(&gap.line());
        }
        if gaps.len() > most {
            let more = counted(gaps.len() - most, "more reason");
            self.write(&format!("  and {more}; `wallfacer report` shows all\n"));
        }
    }

    fn lines(&mut self, heading: &str, lines: impl Iterator<Item = String>) {
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            return;
        }
        self.heading(heading);
        let most = if self.look.detail() == Detail::Full { usize::MAX } else { IN_LINES };
        for line in lines.iter().take(most) {
            self.item(line);
        }
        self.more(lines.len(), most);
    }

    fn item(&mut self, text: &str) {
        for (index, part) in self.look.wrapped(text, 4).iter().enumerate() {
            self.write(&format!("  {} {part}\n", if index == 0 { "-" } else { " " }));
        }
    }

    fn more(&mut self, there: usize, shown: usize) {
        if there > shown {
            self.write(&format!("  and {} more; `wallfacer report` shows all\n", number(there - shown)));
        }
    }

    fn heading(&mut self, text: &str) {
        self.write(&format!("\n{}\n", self.look.paint(Tone::Heading, text)));
    }

    fn write(&mut self, text: &str) {
        let _infallible = self.out.write_str(text);
    }
}

fn one_line(told: &Told) -> String {
    format!("{} {}: {}", told.finding.severity, told.heading(), shortened(&told.what, TEXT))
}
