//! A run, as text for a person: the verdict, the gravest findings in full, what was exercised, and what was not.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Report;
use super::behaved::behaved;
use super::look::{Look, Tone};
use super::sent::sent;
use crate::findings::Finding;
use crate::summary::{Conclusion, Note, Run, ToolSummary};
use crate::target::Severity;
use crate::wire::shortened;
use crate::world::Standing;

/// Findings that are shown in full; the rest in one line each.
const IN_FULL: usize = 5;
/// Findings of one list that get a line; the JSON document has all of them.
const IN_LINES: usize = 50;
/// Rows of the table of tools, and entries of a list.
const MAX_ROWS: usize = 40;
/// Lines of one piece of evidence: the first say what, the last say where.
const FIRST_LINES: usize = 3;
const LAST_LINES: usize = 5;
/// Widths at which server text is cut.
const NAME: usize = 60;
const TEXT: usize = 400;
/// Tools that are named in one line; of more, one is.
const MANY_TOOLS: usize = 8;
const TOOL_COLUMN: usize = 28;
/// What stands before the text of a finding, and before its value.
const INDENT: usize = 3;
const KEY: usize = 12;

/// The whole report.
pub fn human(report: &Report<'_>, look: Look) -> String {
    let run = report.run;
    let mut page = Page { out: String::new(), look };
    if let Some(warning) = run.server.standing.access.warning() {
        let warning = shortened(&warning, TEXT);
        page.write(&format!("{}\n", page.look.paint(Tone::Warning, &warning)));
    }
    page.verdict(report);
    for (index, finding) in run.findings.iter().take(IN_FULL).enumerate() {
        page.full(index + 1, finding, report);
    }
    let rest = run.findings.iter().skip(IN_FULL);
    page.lines("Found besides", rest.map(|finding| line(finding, &finding.replay_line())));
    page.lines(
        "Seen, but not each time",
        run.flaky.iter().map(|finding| {
            let rate = format!("{} of {} times", finding.reproduced.k, finding.reproduced.n);
            line(finding, &format!("{rate}; {}", finding.replay_line()))
        }),
    );
    page.lines(
        "Accepted in the baseline",
        run.accepted.iter().map(|accepted| line(&accepted.finding, &shortened(&accepted.reason, TEXT))),
    );
    page.lines(
        "Accepted in the baseline, and not found any more: take them out",
        run.stale.iter().map(|stale| format!("{} {}", stale.id, shortened(&stale.about, TEXT))),
    );
    page.exercised(run);
    page.lines("Worth knowing", noted(&run.notes).into_iter());
    page.lines(
        "Not tested",
        run.not_tested
            .iter()
            .map(|not| format!("{}: {}", shortened(&not.what, NAME), shortened(&not.why, TEXT))),
    );
    if let Some(behaviour) = report.behaviour.filter(|_| run.server.standing.observed.calls) {
        page.write(&behaved(behaviour, report.show_noise, look));
    }
    page.out
}

/// One line for each thing that is worth knowing, with all tools that it is true of, in the order in which they came.
fn noted(notes: &[Note]) -> Vec<String> {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for Note { tool, text } in notes {
        let tools = match told.iter().position(|(known, _)| known == text) {
            Some(place) => &mut told[place].1,
            None => {
                told.push((text, Vec::new()));
                &mut told.last_mut().expect("just added").1
            }
        };
        tools.extend(tool.as_ref().map(|tool| shortened(tool, NAME)));
    }
    let line = |(text, tools): (&str, Vec<String>)| match (tools.len(), shortened(text, TEXT)) {
        (0, text) => text,
        (1..=MANY_TOOLS, text) => format!("{}: {text}", tools.join(", ")),
        (count, text) => format!("{} and {} other tools: {text}", tools[0], count - 1),
    };
    told.into_iter().map(line).collect()
}

struct Page {
    out: String,
    look: Look,
}

impl Page {
    fn verdict(&mut self, report: &Report<'_>) {
        let run = report.run;
        let (word, tone, said) = match run.conclusion(report.threshold) {
            Conclusion::Broken => ("FAILED", Tone::Bad, found(run, report.threshold)),
            Conclusion::Stale => {
                let said = format!(
                    "{} accepted in the baseline, and not found any more",
                    counted(run.stale.len(), "finding")
                );
                ("STALE", Tone::Warning, said)
            }
            Conclusion::Interrupted => {
                let so_far = if run.has_tested() { found(run, report.threshold) } else { after(run) };
                ("INTERRUPTED", Tone::Warning, so_far)
            }
            Conclusion::NotTested => {
                let said = "nothing that the server offers was called, so nothing is known";
                ("NOT TESTED", Tone::Warning, run.in_vain.unwrap_or(said).to_owned())
            }
            Conclusion::Clean => ("PASSED", Tone::Good, found(run, report.threshold)),
        };
        let before = word.len() + 2;
        let mut lines = self.look.wrapped(&said, before);
        lines.extend(self.look.wrapped(&subject(run), before));
        self.write(&format!("{}  {}\n", self.look.paint(tone, word), lines[0]));
        for line in &lines[1..] {
            self.write(&format!("{:before$}{line}\n", ""));
        }
    }

    fn full(&mut self, number: usize, finding: &Finding, report: &Report<'_>) {
        let tone = if finding.severity >= report.threshold { Tone::Bad } else { Tone::Warning };
        let severity = self.look.paint(tone, finding.severity.as_str());
        let heading = format!("{} in {}", finding.kind.name(), shortened(finding.place(), NAME));
        self.write(&format!("\n{number}  {severity}  {}\n", self.look.paint(Tone::Heading, &heading)));
        for line in self.look.wrapped(&shortened(&finding.message, TEXT), INDENT) {
            self.write(&format!("{:INDENT$}{line}\n", ""));
        }
        if finding.tools.len() > 1 {
            let tools: Vec<String> = finding.tools.iter().map(|tool| shortened(tool, NAME)).collect();
            self.row("tools", &shortened(&tools.join(", "), TEXT));
        }
        if let Some(sent) = sent(&finding.repro) {
            self.row("request", &sent);
        }
        for evidence in &finding.evidence {
            self.evidence(&shortened(&evidence.label, NAME), &evidence.text);
        }
        let proven = format!("{} of {} times on fresh servers", finding.reproduced.k, finding.reproduced.n);
        self.row("proven", &proven);
        // One line, however long: it is there to be copied.
        self.write(&format!("{:INDENT$}{:<8} {}\n", "", "replay", finding.replay_line()));
    }

    fn row(&mut self, key: &str, value: &str) {
        for (index, line) in self.look.wrapped(value, KEY).iter().enumerate() {
            let key = if index == 0 { key } else { "" };
            self.write(&format!("{:INDENT$}{key:<8} {line}\n", ""));
        }
    }

    fn evidence(&mut self, label: &str, text: &str) {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let room = self.look.width() - KEY - 1;
        let shown: Vec<String> = match lines.len() {
            few if few <= FIRST_LINES + LAST_LINES + 1 => {
                lines.iter().map(|line| shortened(line, room)).collect()
            }
            many => {
                let left_out = many - FIRST_LINES - LAST_LINES;
                let first = lines[..FIRST_LINES].iter().map(|line| shortened(line, room));
                let last = lines[many - LAST_LINES..].iter().map(|line| shortened(line, room));
                first.chain([format!("({left_out} lines more)")]).chain(last).collect()
            }
        };
        // A long label takes a line of its own, so that all text stands in one column.
        let fits = label.chars().count() <= 8;
        if !fits {
            self.write(&format!("{:INDENT$}{label}\n", ""));
        }
        for (index, line) in shown.iter().enumerate() {
            let key = if index == 0 && fits { label } else { "" };
            let line = self.look.paint(Tone::Faint, line);
            self.write(&format!("{:INDENT$}{key:<8} {line}\n", ""));
        }
    }

    fn exercised(&mut self, run: &Run) {
        self.heading("Exercised");
        let effort = format!(
            "{} on {} in {:.1} s, seed {}",
            counted(run.summary.calls as usize, "call"),
            counted(run.lives as usize, "server start"),
            run.took.as_secs_f64(),
            run.seed
        );
        self.write(&format!("  {effort}\n"));
        self.standing(&run.server.standing);
        self.table(&run.tools);
    }

    /// How the server was confined, what of it was seen, and what stood in the way of more.
    fn standing(&mut self, standing: &Standing) {
        let seen = format!("{standing}; seen: {}", standing.watched().join(", "));
        for line in [&seen].into_iter().chain(&standing.remarks).chain(&standing.access.told()) {
            for part in self.look.wrapped(&shortened(line, TEXT), 2) {
                self.write(&format!("  {part}\n"));
            }
        }
    }

    fn table(&mut self, tools: &BTreeMap<String, ToolSummary>) {
        if tools.is_empty() {
            return;
        }
        let names: Vec<String> = tools.keys().map(|name| shortened(name, TOOL_COLUMN - 1)).collect();
        let column = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(4);
        let head = format!(
            "  {:column$} {:>6} {:>13} {:>8} {:>12} {:>7}",
            "tool", "calls", "valid, worked", "refused", "tool errors", "failed"
        );
        self.write(&format!("{}\n", self.look.paint(Tone::Faint, &head)));
        for (name, tool) in names.iter().zip(tools.values()).take(MAX_ROWS) {
            let worked = format!("{}/{}", tool.valid_completed, tool.valid_calls);
            let calls = &tool.calls;
            let failed = calls.failed + calls.malformed + calls.silent + calls.gone;
            self.write(&format!(
                "  {name:column$} {:>6} {worked:>13} {:>8} {:>12} {failed:>7}\n",
                calls.calls, calls.rejected, calls.tool_errors
            ));
        }
        self.more(tools.len(), MAX_ROWS);
    }

    fn lines(&mut self, heading: &str, lines: impl Iterator<Item = String>) {
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            return;
        }
        self.heading(heading);
        for line in lines.iter().take(IN_LINES) {
            for (index, part) in self.look.wrapped(line, 4).iter().enumerate() {
                self.write(&format!("  {} {part}\n", if index == 0 { "-" } else { " " }));
            }
        }
        self.more(lines.len(), IN_LINES);
    }

    fn more(&mut self, there: usize, shown: usize) {
        if there > shown {
            self.write(&format!("  and {} more; --format json has all\n", there - shown));
        }
    }

    fn heading(&mut self, text: &str) {
        self.write(&format!("\n{}\n", self.look.paint(Tone::Heading, text)));
    }

    fn write(&mut self, text: &str) {
        let _infallible = self.out.write_str(text);
    }
}

/// How much was found at, above and below the threshold.
fn found(run: &Run, threshold: Severity) -> String {
    let by_severity = |grave: bool| {
        let severities = Severity::ALL.into_iter().rev().filter(|severity| (*severity >= threshold) == grave);
        let counts = severities.map(|severity| {
            (severity, run.findings.iter().filter(|finding| finding.severity == severity).count())
        });
        let counts = counts.filter(|(_, count)| *count > 0);
        counts.map(|(severity, count)| format!("{count} {severity}")).collect::<Vec<_>>().join(", ")
    };
    let grave = run.findings.iter().filter(|finding| finding.severity >= threshold).count();
    let (above, below) = (by_severity(true), by_severity(false));
    let mut said = match grave {
        0 if run.interrupted => format!("nothing of severity {threshold} or above so far"),
        0 => format!("nothing of severity {threshold} or above"),
        _ => format!("{} of severity {threshold} or above: {above}", counted(grave, "finding")),
    };
    if !below.is_empty() {
        let _infallible = write!(said, "; below that: {below}");
    }
    if run.interrupted {
        let _infallible = write!(said, "; {}", after(run));
    } else if run.out_of_time {
        said.push_str("; time ran out before the plan did");
    }
    said
}

/// When a signal came.
fn after(run: &Run) -> String {
    format!("interrupted after {:.1} s, before the plan was done", run.took.as_secs_f64())
}

/// The server, as it calls itself.
fn subject(run: &Run) -> String {
    let server = &run.server;
    let name =
        server.name.as_deref().map_or("a server without a name".to_owned(), |name| shortened(name, NAME));
    let version =
        server.version.as_deref().map(|version| format!(" {}", shortened(version, NAME))).unwrap_or_default();
    format!("{name}{version}, protocol {} ({} era)", server.protocol, server.era())
}

fn line(finding: &Finding, besides: &str) -> String {
    format!(
        "{} {} in {}: {} ({besides})",
        finding.severity,
        finding.kind.name(),
        shortened(finding.place(), NAME),
        shortened(&finding.message, TEXT)
    )
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
