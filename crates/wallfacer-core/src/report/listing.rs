//! Lists findings for a person: one entry each, under what they have in common.

use std::path::Path;

use super::look::{Look, Tone};
use crate::findings::{Diff, Finding, Listing};
use crate::wire::shortened;

/// What of a name, of a message and of a reason is shown.
const NAME: usize = 60;
const TEXT: usize = 120;
const REASON: usize = 200;
/// `critical` is the longest.
const SEVERITY: usize = 8;
const INDENT: usize = 2;

/// What is stored in a directory.
pub fn stored(listing: &Listing, directory: &Path, look: Look) -> String {
    let place = directory.display();
    let mut text = match listing.findings.len() {
        0 => format!("No findings in {place}\n"),
        1 => format!("One finding in {place}\n\n"),
        many => format!("{many} findings in {place}\n\n"),
    };
    text.extend(listing.findings.iter().map(|finding| entry(finding, look)));
    if !listing.unreadable.is_empty() {
        text += &format!("\n{}\n", look.paint(Tone::Heading, "Not readable"));
    }
    for unreadable in &listing.unreadable {
        // One line, however long: it is there to be copied.
        text += &format!("{:INDENT$}{}\n", "", unreadable.path.display());
        let before = 2 * INDENT;
        let why = look.wrapped(&shortened(&unreadable.why, REASON), before);
        text.extend(why.iter().map(|line| format!("{:before$}{line}\n", "")));
    }
    text
}

/// What differs between two sets of findings.
pub fn differences(diff: &Diff<'_>, look: Look) -> String {
    let Diff { new, fixed, not_seen, persisting } = diff;
    let [added, gone, unknown, stayed] = [new, fixed, not_seen, persisting].map(Vec::len);
    let mut text = format!("{added} new, {gone} fixed, {unknown} not seen, {stayed} persisting\n");
    let lists = [
        ("New", new),
        ("Fixed: tried again, and gone", fixed),
        ("Not seen: not tried, or the run was cut short", not_seen),
        ("Persisting", persisting),
    ];
    for (title, findings) in lists {
        if !findings.is_empty() {
            text += &format!("\n{}\n", look.paint(Tone::Heading, title));
        }
        text.extend(findings.iter().map(|finding| entry(finding, look)));
    }
    text
}

/// The id and the severity, and in a column beside them what it is.
fn entry(finding: &Finding, look: Look) -> String {
    let head = format!("{:INDENT$}{}  {:SEVERITY$}  ", "", finding.id, finding.severity.as_str());
    let (kind, place) = (finding.kind.name(), shortened(finding.place(), NAME));
    let seen = finding.reproduced;
    let flaky = if seen.k < seen.n { format!(" (flaky {}/{})", seen.k, seen.n) } else { String::new() };
    let what = format!("{kind} in {place}: {}{flaky}", shortened(&finding.message, TEXT));
    let before = head.chars().count();
    let mut lines = look.wrapped(&what, before).into_iter();
    let first = lines.next().unwrap_or_default();
    let rest = lines.map(|line| format!("{:before$}{line}\n", ""));
    format!("{head}{first}\n{}", rest.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Cause, Kind, Origin, Repro, Reproduced, Tried, Unreadable, diff};
    use crate::plan::{Case, Intent};
    use serde_json::json;

    fn crash(tool: &str, message: &str) -> Finding {
        let case = Case::tool(tool, json!({}), Intent::Valid, 1);
        let origin = Origin::new(Some("demo"), &Kind::Crash, &case.subject, &Cause::silence());
        Finding::new(&origin, Kind::Crash, message, Repro::new(&case, &case))
    }

    fn findings() -> [Finding; 3] {
        let long = "the server exited with code 1 after a request of 1048576 bytes, whatever it asks for, and \
                    that is told at more length than anyone wants to read in a list";
        let mut flaky = crash("fetch", "a \u{1b}[2J line\nand another");
        flaky.reproduced = Reproduced { k: 1, n: 3 };
        [crash("search", "it ended"), flaky, crash(&"long_name_".repeat(9), long)]
    }

    #[test]
    fn no_line_of_a_list_is_longer_than_the_terminal_is_wide() {
        let findings = findings();
        let all = diff(&[], &findings, &Tried::default());
        for width in [60, 80, 120] {
            let text = differences(&all, Look::terminal(width, false));
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
    }

    #[test]
    fn what_changed_is_listed_under_how_it_did() {
        let [one, two, three] = findings();
        let (base, candidate) = ([one.clone(), two], [three, one]);
        let text = differences(&diff(&base, &candidate, &Tried::default()), Look::PLAIN);
        insta::assert_snapshot!(format!(
            "{text}---\n{}",
            differences(&diff(&[], &[], &Tried::default()), Look::PLAIN)
        ));
    }

    #[test]
    fn what_is_stored_is_listed_with_what_cannot_be_read() {
        let why = format!("it is not JSON: {}", "expected value at line 1 column 1, ".repeat(4));
        let unreadable = Unreadable { path: "/here/corpus/roll/00000000deadbeef.json".into(), why };
        let listing = Listing { findings: findings().to_vec(), unreadable: vec![unreadable] };
        insta::assert_snapshot!(stored(&listing, Path::new("/here/corpus"), Look::PLAIN));
    }
}
