//! The one line that says how a run ended: `PASSED · 14 of 16 tools worked · 7,228 calls`. Every format shows the same.

use super::document::Document;
use crate::summary::Conclusion;
use crate::target::Severity;
use crate::wire::shortened;

const NAME: usize = 60;

/// The word for the end of a run.
pub fn word(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Broken => "FAILED",
        Conclusion::Stale => "STALE",
        Conclusion::Interrupted => "INTERRUPTED",
        Conclusion::NotTested => "NOT TESTED",
        Conclusion::Clean => "PASSED",
    }
}

/// What is said behind the word, part by part.
pub fn parts(document: &Document) -> Vec<String> {
    let mut parts = match document.verdict.conclusion {
        Conclusion::NotTested => {
            let reason = document.verdict.reason.as_deref();
            return vec![
                reason
                    .unwrap_or("nothing that the server offers could be called, so nothing is known")
                    .to_owned(),
            ];
        }
        Conclusion::Stale => vec![format!(
            "{} in the baseline not found any more",
            counted(document.stale.len(), "accepted finding")
        )],
        Conclusion::Interrupted => vec![format!(
            "stopped after {:.1} s; {}",
            document.run.duration_ms as f64 / 1e3,
            found(document).unwrap_or_else(|| "nothing found so far".to_owned())
        )],
        Conclusion::Broken | Conclusion::Clean => found(document).into_iter().collect(),
    };
    if document.verdict.conclusion == Conclusion::Broken && document.run.interrupted {
        parts.push(format!("stopped after {:.1} s", document.run.duration_ms as f64 / 1e3));
    }
    let (worked, tools) = document.worked();
    // Where no call was meant to be valid, it is not said that none of them worked.
    if document.tools.values().any(|tool| tool.valid_calls > 0) {
        parts.push(format!("{} of {} worked", worked, counted(tools, "tool")));
    }
    if document.summary.calls.calls > 0 {
        parts.push(counted(document.summary.calls.calls as usize, "call"));
    }
    if document.run.out_of_time && !document.run.interrupted {
        parts.push("the time limit cut the run short".to_owned());
    }
    parts
}

/// `FAILED · 3 findings: 2 critical, 1 high · 14 of 16 tools worked · 7,228 calls`.
pub fn line(document: &Document) -> String {
    let said = parts(document).join(" · ");
    format!("{} · {said}", word(document.verdict.conclusion)).trim_end_matches(" · ").to_owned()
}

/// What was found and accepted, in a few words; nothing where there is neither.
fn found(document: &Document) -> Option<String> {
    let threshold = document.verdict.threshold;
    let (all, accepted) = (document.findings.len(), document.accepted.len());
    let mut said = match all {
        0 if accepted > 0 => return Some(format!("nothing new, {} accepted", number(accepted))),
        0 => return None,
        _ if document.grave() == 0 => {
            format!("{} below {threshold}: {}", counted(all, "finding"), by_severity(document))
        }
        _ => format!("{}: {}", counted(all, "finding"), by_severity(document)),
    };
    if accepted > 0 {
        said.push_str(&format!(", {} accepted", number(accepted)));
    }
    Some(said)
}

fn by_severity(document: &Document) -> String {
    let count =
        |wanted: Severity| document.findings.iter().filter(|told| told.finding.severity == wanted).count();
    let counts = Severity::ALL.into_iter().rev().map(|severity| (severity, count(severity)));
    let counts = counts.filter(|(_, count)| *count > 0);
    counts.map(|(severity, count)| format!("{} {severity}", number(count))).collect::<Vec<_>>().join(", ")
}

/// The server, as it calls itself, and the protocol that was spoken.
pub fn server(document: &Document) -> String {
    let server = &document.server;
    let name =
        server.name.as_deref().map_or("a server without a name".to_owned(), |name| shortened(name, NAME));
    let version = server.version.as_deref().filter(|version| !version.is_empty());
    let version = version.map(|version| format!(" {}", shortened(version, NAME)));
    format!("{name}{}, protocol {}", version.unwrap_or_default(), server.protocol)
}

/// `1 call`, `7,228 calls`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", number(count)) }
}

/// `7,228`.
pub fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(
            [0, 999, 1_000, 7_228, 1_234_567].map(number),
            ["0", "999", "1,000", "7,228", "1,234,567"]
        );
        assert_eq!(counted(1, "call"), "1 call");
    }
}
