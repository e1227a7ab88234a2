//! Keeps the findings of a run on disk, without secrets and with the line that shows each again.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use wallfacer_core::findings::{
    Corpus, CorpusError, Finding, FindingId, Key, Missing, Redaction, asked_for, restore, rfc3339,
    stored_target, typed_target,
};
use wallfacer_core::lock::FILE_NAME;
use wallfacer_core::plan::Case;
use wallfacer_core::summary::Moment;
use wallfacer_core::target::{REDACTED, Shown};
use wallfacer_core::wire::Connector;

use super::corpus_place::CorpusArgs;
use super::key;
use super::runs::Runs;
use super::target::{Chosen, TargetArgs};
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// Stored failures that a run begins with, at most; more would eat the time for what is new.
const MOST_STORED: usize = 500;

/// Where the findings of one run go.
#[derive(Debug)]
pub struct Store {
    corpus: Corpus,
    redaction: Redaction,
    target: Shown,
    /// The server that this one is held against.
    other: Option<Shown>,
    /// What a replay needs beside the id.
    behind: String,
    before: String,
    /// Why something could not be stored, as it was first told.
    trouble: OnceLock<String>,
    /// When what happened, once the session is done.
    timeline: OnceLock<Vec<Moment>>,
    /// Where runs are kept.
    runs: PathBuf,
}

impl Store {
    /// For a run against this target.
    pub fn new(
        chosen: &Chosen,
        args: &TargetArgs,
        place: &CorpusArgs,
        config: Option<&Path>,
        redaction: &Redaction,
    ) -> Result<Store, Failure> {
        let redaction = redaction.clone();
        let here = super::target::working_directory()?;
        let target = stored_target(chosen.connector.target(), &redaction, &here);
        let corpus = place.of(&chosen.settings);
        let (before, mut behind) = needed(&target, args, config);
        if let Some(directory) = &place.directory {
            behind = format!(" --corpus {}{behind}", quoted(&directory.to_string_lossy()));
        }
        let (trouble, timeline) = (OnceLock::new(), OnceLock::new());
        let runs = Runs::beside(corpus.directory());
        Ok(Store { corpus, redaction, target, other: None, before, behind, trouble, timeline, runs })
    }

    /// The same for a comparison with another server.
    pub fn against(self, other: &Connector) -> Result<Store, Failure> {
        let here = super::target::working_directory()?;
        let other = stored_target(other.target(), &self.redaction, &here);
        Ok(Store { other: Some(other), ..self })
    }

    /// Findings of this server that earlier runs stored. What cannot be read is told and left out.
    pub fn stored(&self) -> Vec<Finding> {
        let listing = match self.corpus.list() {
            Ok(listing) => listing,
            Err(error) => {
                terminal::note(&format!("stored failures are not tried: {error}"));
                return Vec::new();
            }
        };
        for unreadable in &listing.unreadable {
            terminal::note(&format!("{} is left out: {}", unreadable.path.display(), unreadable.why));
        }
        let ours = listing.findings.into_iter().filter(|finding| self.is_ours(finding));
        ours.take(MOST_STORED).collect()
    }

    /// Their cases, to be tried first. One whose secrets are not there is left out.
    pub fn cases(&self, stored: &[Finding]) -> Vec<Case> {
        stored.iter().filter_map(|finding| self.case(finding.clone())).collect()
    }

    /// Completes findings, takes the secrets out of them, and stores them. What is shown of them afterwards is what is
    /// stored. Where that fails, the run goes on, and the reason is kept for the report.
    pub fn keep<'a>(&self, findings: impl IntoIterator<Item = &'a mut Finding>) {
        let key = key::read_or_make();
        for finding in findings {
            if !self.before.is_empty() || !self.behind.is_empty() {
                let plain = format!("wallfacer replay {}", finding.id);
                finding.replay = Some(format!("{}{plain}{}", self.before, self.behind));
            }
            self.complete(finding);
            if let Err(failure) = write(&self.corpus, finding, key.as_ref()) {
                let _told_before = self.trouble.set(failure.message);
            }
        }
    }

    /// Remembers when what happened.
    pub fn remember(&self, timeline: Vec<Moment>) {
        let _only_once = self.timeline.set(timeline);
    }

    pub fn timeline(&self) -> Vec<Moment> {
        self.timeline.get().cloned().unwrap_or_default()
    }

    /// Where runs are kept.
    pub fn runs(&self) -> &Path {
        &self.runs
    }

    /// Takes away what killed runs left; nothing hangs on it.
    pub fn clean(&self) {
        let _next_time = self.corpus.clean(SystemTime::now());
    }

    /// Why something could not be stored; none where all was.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.get().map(String::as_str)
    }

    /// Where findings are kept, to be shown.
    pub fn place(&self) -> String {
        let directory = self.corpus.directory();
        let here = super::target::working_directory().ok();
        let shown = here.as_deref().and_then(|here| directory.strip_prefix(here).ok()).unwrap_or(directory);
        format!("`{}`", shown.display())
    }

    /// Says when it was found and of what, and takes the secrets out of it.
    pub fn complete(&self, finding: &mut Finding) {
        let now = rfc3339(SystemTime::now());
        finding.target = Some(self.target.clone());
        finding.other.clone_from(&self.other);
        finding.first_seen.clone_from(&now);
        finding.last_seen = now;
        self.redaction.apply(finding);
    }

    /// The command that compares the same server with a lock file.
    pub fn compared_again(&self, file: &Path) -> String {
        let file = match file == Path::new(FILE_NAME) {
            true => String::new(),
            false => format!(" --file {}", quoted(&file.to_string_lossy())),
        };
        format!("wallfacer lock --check{file}{}", anew(&self.target))
    }

    /// Takes away a finding that another stands for. Where that fails, it is found among the stored ones next time.
    pub fn forget(&self, id: &FindingId) {
        let _next_time = self.corpus.remove(id);
    }

    /// One without a target is of an older form, and may be of any server.
    fn is_ours(&self, finding: &Finding) -> bool {
        let apart = |shown: &Shown| Shown { cwd: None, ..shown.clone() };
        finding.target.as_ref().is_none_or(|target| apart(target) == apart(&self.target))
    }

    fn case(&self, mut finding: Finding) -> Option<Case> {
        let lookup =
            |name: &str| environment::variable(name).or_else(|| self.redaction.secrets().by_variable(name));
        let missing = restore(&mut finding, lookup);
        missing.is_empty().then(|| finding.repro.case().ok()).flatten()
    }
}

/// Stores a finding that has no secrets any more, as one of our own.
pub fn write(corpus: &Corpus, finding: &Finding, key: Option<&Key>) -> Result<PathBuf, Failure> {
    let marked = Finding { mark: key.map(|key| key.mark(finding)), ..finding.clone() };
    corpus.write(&marked).map_err(|error| failure(&error))
}

/// A corpus that cannot be read or written is the user's to mend.
pub fn failure(error: &CorpusError) -> Failure {
    Failure { exit: Exit::Usage, ..Failure::usage(error) }
}

/// What stands before and behind `wallfacer replay ID` so that it works here.
fn needed(target: &Shown, args: &TargetArgs, config: Option<&Path>) -> (String, String) {
    let config = config.map(|path| format!(" --config {}", quoted(&path.to_string_lossy())));
    let config = config.unwrap_or_default();
    let given = typed_target(target, |_| None);
    if given.is_ok() || !args.names_a_server() {
        return (String::new(), config);
    }
    if let Some(name) = args.client_server() {
        return (String::new(), format!(" --server {}{config}", quoted(name)));
    }
    match given {
        Err(Missing::Hidden) => (String::new(), format!("{config}{}", anew(target))),
        _ => {
            let variables = asked_for(target).into_iter().map(|variable| format!("{variable}=… "));
            (variables.collect(), config)
        }
    }
}

/// The flags that name the target anew, with a gap where a secret goes.
fn anew(target: &Shown) -> String {
    let gap = |word: &String| quoted(&word.replace(REDACTED, "…"));
    let url = target.url.iter().map(|url| format!(" --url {}", gap(url)));
    let command = target.command.iter().map(gap).collect::<Vec<_>>().join(" ");
    let command = (!command.is_empty()).then(|| format!(" -- {command}"));
    url.chain(command).collect()
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "@%+=:,./-_…".contains(letter);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
