//! What a configuration says beyond the target: where findings go, how they weigh, what may be called.

use super::{Severity, SeverityKey};
use crate::place::Pattern;
use crate::repository::Repository;
use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CORPUS_DIRECTORY: &str = ".wallfacer/corpus";
const INPUTS_DIRECTORY: &str = ".wallfacer/inputs";

/// A configuration as meant, the target aside.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the configuration lies, or would.
    pub repository: Repository,
    pub corpus_directory: PathBuf,
    /// Where inputs that brought news go, unless somebody says otherwise.
    pub inputs_directory: PathBuf,
    pub severities: BTreeMap<SeverityKey, Severity>,
    pub destructive: Destructive,
    /// Whether all sessions share what is stored, where somebody says so.
    pub shared: Option<bool>,
    /// Lines of noise, for whoever watches what a server does.
    pub noise: Vec<String>,
    /// Files that hold more of them.
    pub noise_files: Vec<PathBuf>,
    /// Parameters by pack, then by name.
    pub packs: BTreeMap<String, BTreeMap<String, String>>,
    /// The rule files that are tried; none where the usual ones are.
    pub rule_files: Option<Vec<PathBuf>>,
    /// Places of results that may differ between two servers.
    pub ignore: Vec<Pattern>,
}

/// What the user has to say on which tools destroy something.
#[derive(Debug, Clone, Default)]
pub struct Destructive {
    /// Names that are destructive besides those we know ourselves.
    pub patterns: Vec<Regex>,
    /// Only `patterns` count.
    pub replace_defaults: bool,
    /// Names that may be called all the same.
    pub allowed: Vec<Regex>,
}

impl Settings {
    /// What holds where no file says otherwise, for a project in this directory.
    pub fn new(directory: &Path) -> Self {
        Self {
            repository: Repository::around(directory),
            corpus_directory: directory.join(CORPUS_DIRECTORY),
            inputs_directory: directory.join(INPUTS_DIRECTORY),
            severities: BTreeMap::new(),
            destructive: Destructive::default(),
            shared: None,
            noise: Vec::new(),
            noise_files: Vec::new(),
            packs: BTreeMap::new(),
            rule_files: None,
            ignore: Vec::new(),
        }
    }

    /// The severity the user wants for a finding, if any: the tool's, else the rule's, else the kind's.
    pub fn severity(&self, kind: &str, rule: Option<&str>, tool: Option<&str>) -> Option<Severity> {
        let by_tool = tool.map(|tool| SeverityKey::Tool { tool: tool.to_owned(), kind: kind.to_owned() });
        let by_rule = rule.map(|rule| SeverityKey::Rule(rule.to_owned()));
        let by_kind = SeverityKey::Kind(kind.to_owned());
        [by_tool, by_rule, Some(by_kind)]
            .into_iter()
            .flatten()
            .find_map(|key| self.severities.get(&key).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_severity_wins() {
        let mut settings = Settings::new(Path::new("/project"));
        let keys =
            [("hang", Severity::Low), ("rule:slow", Severity::Medium), ("tool:report.hang", Severity::High)];
        settings.severities = keys.map(|(key, severity)| (SeverityKey::parse(key).unwrap(), severity)).into();
        assert_eq!(settings.severity("hang", Some("slow"), Some("report")), Some(Severity::High));
        assert_eq!(settings.severity("hang", Some("slow"), Some("other")), Some(Severity::Medium));
        assert_eq!(settings.severity("hang", Some("other"), None), Some(Severity::Low));
        assert_eq!(settings.severity("crash", None, Some("report")), None);
    }
}
