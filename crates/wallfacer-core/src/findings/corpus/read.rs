//! Reads the finding, or all findings, in a file or folder that the user names.

use std::path::Path;

use serde_json::Value;

use super::error::CorpusError;
use super::{Corpus, Unreadable, file};
use crate::findings::{Finding, Listing};

/// The finding in a file, whatever its name.
pub fn read_finding(path: &Path) -> Result<Finding, CorpusError> {
    let unreadable = |why| CorpusError::Unreadable { path: path.to_owned(), why };
    file::json(path).and_then(file::finding).map_err(unreadable)
}

/// All findings of a corpus, or of the document that a run printed, flaky ones as well.
pub fn read_findings(path: &Path) -> Result<Listing, CorpusError> {
    if path.is_dir() {
        return Corpus::new(path).list();
    }
    let unreadable = |why: String| CorpusError::Unreadable { path: path.to_owned(), why };
    let mut document = file::json(path).map_err(unreadable)?;
    let mut taken = |key: &str| match document.get_mut(key).map(Value::take) {
        Some(Value::Array(entries)) => Some(entries),
        _ => None,
    };
    let findings = taken("findings").ok_or_else(|| unreadable("it has no list of findings".to_owned()))?;
    let mut listing = Listing::default();
    for (index, entry) in findings.into_iter().chain(taken("flaky").unwrap_or_default()).enumerate() {
        match file::finding(entry) {
            Ok(finding) => listing.findings.push(finding),
            Err(why) => {
                let why = format!("number {}: {why}", index + 1);
                listing.unreadable.push(Unreadable { path: path.to_owned(), why });
            }
        }
    }
    Ok(listing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::finding::examples::{crash, full};
    use serde_json::json;
    use tempfile::TempDir;

    #[test]
    fn the_document_of_a_run_and_a_corpus_hold_the_same_findings() {
        let place = TempDir::new().unwrap();
        let (sure, flaky) = (full(), crash("fetch", json!({})));
        let document = json!({ "findings": [sure, { "id": 3 }], "flaky": [flaky] });
        let path = place.path().join("report.json");
        std::fs::write(&path, document.to_string()).unwrap();
        let read = read_findings(&path).unwrap();
        assert_eq!(read.findings, [sure.clone(), flaky.clone()]);
        assert!(read.unreadable[0].why.starts_with("number 2: "), "{:?}", read.unreadable);
        let corpus = Corpus::new(place.path().join("corpus"));
        [&sure, &flaky].iter().for_each(|finding| drop(corpus.write(finding).unwrap()));
        let mut listed = read_findings(corpus.directory()).unwrap().findings;
        listed.sort_by_key(|finding| finding.id != sure.id);
        assert_eq!(listed, read.findings);
    }

    #[test]
    fn a_file_of_another_sort_is_told_so() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("some.json");
        std::fs::write(&path, "{\"a\": 1}").unwrap();
        let said = read_findings(&path).unwrap_err().to_string();
        assert!(said.ends_with("it has no list of findings"), "{said}");
        std::fs::write(&path, json!(full()).to_string()).unwrap();
        assert_eq!(read_finding(&path).unwrap(), full());
    }
}
