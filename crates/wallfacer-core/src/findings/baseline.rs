//! Reads and writes `wallfacer-baseline.toml`: the findings that someone accepted, each with a reason. The file is
//! meant to be committed, so it is the same text whenever it says the same.

use std::collections::BTreeMap;
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
    /// The last day on which it is; none where it is for good.
    pub expires: Option<String>,
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
    #[error("{BASELINE_NAME} accepts {id} until `{given}`, which is no day; write it as YYYY-MM-DD")]
    NoDay { id: FindingId, given: String },
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
    expires: Option<String>,
    #[serde(default)]
    about: String,
}

impl Baseline {
    pub fn read(text: &str) -> Result<Baseline, BaselineError> {
        let file: File = toml::from_str(text)
            .map_err(|error| BaselineError::NotToml(error.to_string().trim_end().to_owned()))?;
        let mut accepted = BTreeMap::new();
        for Entry { id, reason, date, expires, about } in file.accepted {
            if reason.trim().is_empty() {
                return Err(BaselineError::NoReason(id));
            }
            if let Some(given) = expires.clone().filter(|day| !is_day(day)) {
                return Err(BaselineError::NoDay { id, given });
            }
            if accepted.insert(id.clone(), Acceptance { reason, date, expires, about }).is_some() {
                return Err(BaselineError::Twice(id));
            }
        }
        Ok(Baseline { accepted })
    }

    /// The file, in the order of the ids.
    pub fn written(&self) -> String {
        let mut text = HEAD.to_owned();
        for (id, Acceptance { reason, date, expires, about }) in &self.accepted {
            write!(text, "\n[[accepted]]\nid = \"{id}\"\n").expect("a string takes all text");
            let about = Some(about).filter(|about| !about.is_empty());
            let lines = [
                ("about", about),
                ("reason", Some(reason)),
                ("date", Some(date)),
                ("expires", expires.as_ref()),
            ];
            for (key, value) in lines.into_iter().filter_map(|(key, value)| Some((key, value?))) {
                let value = toml::Value::from(value.as_str());
                writeln!(text, "{key} = {value}").expect("a string takes all text");
            }
        }
        text
    }

    /// Accepts a finding; `date` is the day on which that is done.
    pub fn accept(&mut self, finding: &Finding, reason: &str, date: &str) {
        let about = format!("{} of {}: {}", finding.kind.name(), finding.place(), finding.message);
        let about = wallfacer_text::shown(&about);
        let acceptance =
            Acceptance { reason: reason.to_owned(), date: date.to_owned(), expires: None, about };
        self.accepted.insert(finding.id.clone(), acceptance);
    }

    /// Whether a finding is accepted on this day.
    pub fn accepts(&self, finding: &Finding, day: &str) -> bool {
        let accepted = |id: &FindingId| self.accepted.get(id).is_some_and(|entry| !entry.is_over(day));
        let every_way = !finding.sightings.is_empty()
            && finding.sightings.iter().all(|sighting| sighting.ids.iter().any(accepted));
        accepted(&finding.id) || finding.wider.iter().any(accepted) || every_way
    }

    /// What is accepted and no longer found: fixed, it seems, so the entry should go.
    pub fn stale<'a>(&'a self, found: &[Finding]) -> Vec<(&'a FindingId, &'a Acceptance)> {
        let is_found = |id: &FindingId| found.iter().any(|finding| finding.is_known_as(id));
        self.accepted.iter().filter(|(id, _)| !is_found(id)).collect()
    }
}

impl Acceptance {
    /// Whether it was accepted for a time that has passed by this day. Days sort as their texts do.
    pub fn is_over(&self, day: &str) -> bool {
        self.expires.as_deref().is_some_and(|last| last < day)
    }
}

fn is_day(text: &str) -> bool {
    let form = |(index, letter): (usize, char)| match index {
        4 | 7 => letter == '-',
        _ => letter.is_ascii_digit(),
    };
    text.len() == 10 && text.chars().enumerate().all(form)
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
        let day = "2026-02-01";
        assert!(baseline().accepts(&search, day) && !baseline().accepts(&other, day));
        let baseline = baseline();
        let stale = baseline.stale(&[search, other]);
        assert_eq!(stale.iter().map(|(_, entry)| &*entry.reason).collect::<Vec<_>>(), ["upstream"]);
    }

    #[test]
    fn an_entry_holds_until_the_end_of_its_last_day() {
        let finding = crash("search", json!({}));
        let mut baseline = Baseline::default();
        baseline.accept(&finding, "until the next release", "2026-01-02");
        let entry = baseline.accepted.get_mut(&finding.id).unwrap();
        entry.expires = Some("2026-03-01".to_owned());
        let read = Baseline::read(&baseline.written()).unwrap();
        assert_eq!(read, baseline);
        assert!(read.accepts(&finding, "2026-03-01") && !read.accepts(&finding, "2026-03-02"));
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
            format!("{entry}expires = \"next week\"\n"),
        ]
        .map(|text| Baseline::read(&text).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n---\n"));
        assert_eq!(Baseline::read("").unwrap(), Baseline::default());
    }
}
