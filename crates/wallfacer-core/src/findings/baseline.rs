//! `wallfacer-baseline.toml` in, the findings that someone accepted out, each with a reason; and back. The file is
//! meant to be committed, so it is the same text whenever it says the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Deserialize;

use super::{Finding, FindingId};

/// The file beside `wallfacer.toml`.
pub const BASELINE_NAME: &str = "wallfacer-baseline.toml";

const HEAD: &str = "# Findings that are known and accepted. They are shown, and do not fail a run.\n";

/// What is accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    pub accepted: BTreeMap<FindingId, Acceptance>,
}

/// Why one finding is accepted, and since when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acceptance {
    pub reason: String,
    pub date: String,
    /// What the finding is, for those who read the file.
    pub about: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    #[error("{BASELINE_NAME} cannot be read: {0}")]
    NotToml(String),
    #[error("{BASELINE_NAME} accepts {0} twice; keep one of the two")]
    Twice(FindingId),
    #[error("{BASELINE_NAME} accepts {0} without a reason; write one for those who come later")]
    NoReason(FindingId),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    accepted: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: FindingId,
    reason: String,
    date: String,
    #[serde(default)]
    about: String,
}

impl Baseline {
    pub fn read(text: &str) -> Result<Baseline, BaselineError> {
        let file: File = toml::from_str(text)
            .map_err(|error| BaselineError::NotToml(error.to_string().trim_end().to_owned()))?;
        let mut accepted = BTreeMap::new();
        for Entry { id, reason, date, about } in file.accepted {
            if reason.trim().is_empty() {
                return Err(BaselineError::NoReason(id));
            }
            if accepted.insert(id.clone(), Acceptance { reason, date, about }).is_some() {
                return Err(BaselineError::Twice(id));
            }
        }
        Ok(Baseline { accepted })
    }

    /// The file, in the order of the ids.
    pub fn written(&self) -> String {
        let mut text = HEAD.to_owned();
        for (id, Acceptance { reason, date, about }) in &self.accepted {
            write!(text, "\n[[accepted]]\nid = \"{id}\"\n").expect("a string takes all text");
            let lines = [("about", about), ("reason", reason), ("date", date)];
            for (key, value) in lines.into_iter().filter(|(key, value)| *key != "about" || !value.is_empty())
            {
                let value = toml::Value::from(value.as_str());
                writeln!(text, "{key} = {value}").expect("a string takes all text");
            }
        }
        text
    }

    /// Accepts a finding; `date` is the day on which that is done.
    pub fn accept(&mut self, finding: &Finding, reason: &str, date: &str) {
        let about = format!("{} of {}: {}", finding.kind.name(), finding.place(), finding.message);
        let acceptance = Acceptance { reason: reason.to_owned(), date: date.to_owned(), about };
        self.accepted.insert(finding.id.clone(), acceptance);
    }

    pub fn accepts(&self, finding: &Finding) -> bool {
        self.accepted.contains_key(&finding.id)
    }

    /// What is accepted and no longer found: fixed, it seems, so the entry should go.
    pub fn stale<'a>(&'a self, found: &[Finding]) -> Vec<(&'a FindingId, &'a Acceptance)> {
        let found: BTreeSet<&FindingId> = found.iter().map(|finding| &finding.id).collect();
        self.accepted.iter().filter(|(id, _)| !found.contains(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::examples::crash;
    use super::*;
    use serde_json::json;

    fn baseline() -> Baseline {
        let mut baseline = Baseline::default();
        baseline.accept(&crash("search", json!({})), "fixed in \"2.0\"\nand later", "2026-01-02");
        baseline.accept(&crash("fetch", json!({})), "upstream", "2026-01-03");
        baseline
    }

    #[test]
    fn a_baseline_reads_back_and_is_always_the_same_text() {
        let text = baseline().written();
        assert_eq!(Baseline::read(&text).unwrap(), baseline());
        assert_eq!(Baseline::read(&text).unwrap().written(), text);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn an_entry_that_is_no_longer_found_is_stale() {
        let (search, other) = (crash("search", json!({})), crash("other", json!({})));
        assert!(baseline().accepts(&search) && !baseline().accepts(&other));
        let baseline = baseline();
        let stale = baseline.stale(&[search, other]);
        assert_eq!(stale.iter().map(|(_, entry)| &*entry.reason).collect::<Vec<_>>(), ["upstream"]);
    }

    #[test]
    fn a_file_that_says_too_little_or_too_much_is_refused() {
        let entry = "[[accepted]]\nid = \"0123456789abcdef\"\nreason = \"x\"\ndate = \"2026-01-02\"\n";
        let errors = [
            "accepted = 3".to_owned(),
            entry.replace("reason", "raeson"),
            entry.replace("0123", "../.."),
            entry.replace("\"x\"", "\" \""),
            entry.repeat(2),
        ]
        .map(|text| Baseline::read(&text).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n---\n"));
        assert_eq!(Baseline::read("").unwrap(), Baseline::default());
    }
}
