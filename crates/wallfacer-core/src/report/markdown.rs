//! A run as Markdown, for the summary of a CI job. All text of the server stands in code, where nothing of it is rendered.

use super::document::Document;
use super::gaps::gaps;
use super::told::Told;
use super::verdict::{self, counted};
use crate::wire::shortened;
use wallfacer_text::{markdown as plain, shown};

/// GitHub refuses a summary of more than 1 MiB; one step leaves room for others.
const MOST_BYTES: usize = 900 * 1024;
const NAME: usize = 80;
const TEXT: usize = 400;
/// Lines of one piece of evidence.
const LINES: usize = 12;

/// The whole report; what has no room is counted.
pub fn markdown(document: &Document) -> String {
    let warning = document.warning().map(|warning| code(&warning, TEXT) + "\n\n").unwrap_or_default();
    let server = code(&verdict::server(document), TEXT);
    let mut text = format!("{warning}## {}\n\n{server}\n\n", verdict::line(document));
    if !document.findings.is_empty() {
        text += "| severity | finding | what happened |\n|---|---|---|\n";
    }
    let mut left_out = 0;
    for told in &document.findings {
        let what = cell(&told.what);
        let row = format!("| {} | {} | {what} |\n", told.finding.severity, cell(&told.heading()));
        if text.len() + row.len() > MOST_BYTES / 2 {
            left_out += 1;
            continue;
        }
        text += &row;
    }
    text += "\n";
    let mut closed = left_out;
    for told in &document.findings {
        let full = full(told);
        if text.len() + full.len() > MOST_BYTES {
            closed += 1;
            continue;
        }
        text += &full;
    }
    if closed > 0 {
        text += &format!("{} not shown here for want of room.\n\n", counted(closed, "finding"));
    }
    text += &untested(document, MOST_BYTES.saturating_sub(text.len()));
    text
}

fn full(told: &Told) -> String {
    let mut text = format!(
        "<details><summary>{} {}</summary>\n\n{}\n\n**Why it matters.** {}\n\n**What to change.** {}\n\n",
        told.finding.severity,
        escaped(&told.heading()),
        code(&told.what, TEXT),
        told.why,
        worded(&told.change),
    );
    if let Some(request) = &told.request {
        text += &format!("Request:\n\n{}\n", block([request.as_str()].into_iter()));
    }
    for evidence in &told.finding.evidence {
        text += &format!("{}:\n\n{}\n", code(&evidence.label, NAME), block(evidence.text.lines()));
    }
    text += &format!(
        "Proven {}. See it again:\n\n{}\n",
        told.proven(),
        block([told.replay.as_str()].into_iter())
    );
    text + "</details>\n\n"
}

fn untested(document: &Document, room: usize) -> String {
    let gaps = gaps(&document.not_tested);
    if gaps.is_empty() {
        return String::new();
    }
    let mut text = "### Not tested\n\n".to_owned();
    for gap in &gaps {
        let line = format!("- {}\n", code(&gap.line(), TEXT));
        if text.len() + line.len() > room {
            return text + "- and more\n";
        }
        text += &line;
    }
    text
}

/// A text of the server in one line, as code: nothing in it is a link, a tag or a mention.
fn code(text: &str, most: usize) -> String {
    let text = plain(&shortened(text, most)).replace('`', "'");
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

/// The same in a cell of a table, where a bar would end it.
fn cell(text: &str) -> String {
    code(text, TEXT).replace('|', "\\|")
}

/// Our own words with names of the server in them: what they quote stays code, and nothing is a tag.
fn worded(text: &str) -> String {
    let mut quoted = false;
    let part = |part: &str| {
        let part_shown = if quoted { shown(part).replace('|', "\\|") } else { entities(&shown(part)) };
        quoted = !quoted;
        part_shown
    };
    let parts: Vec<String> = text.split('`').map(part).collect();
    // An odd number of parts means that every quote is closed.
    if parts.len() % 2 == 1 { parts.join("`") } else { escaped(text) }
}

/// As text of HTML, in which Markdown has no meaning either.
fn escaped(text: &str) -> String {
    entities(&shortened(text, TEXT))
}

fn entities(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '`' => plain.push('\''),
            '*' | '_' | '[' | ']' | '!' | '@' | '#' | '~' | '\\' | '|' | '(' | ')' => {
                plain.push_str(&format!("&#{};", u32::from(letter)));
            }
            letter => plain.push(letter),
        }
    }
    plain
}

/// Lines as a block of code; each is indented, so that none can end it.
fn block<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    let mut text: String =
        lines.iter().take(LINES).map(|line| format!("    {}\n", plain(&shortened(line, TEXT)))).collect();
    if lines.len() > LINES {
        text += &format!("    ({})\n", counted(lines.len() - LINES, "more line"));
    }
    text
}
