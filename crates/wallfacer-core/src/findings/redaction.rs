//! Takes secrets out of findings and of every other text before it is written to a disk, a terminal or a pipe.
//!
//! Real secrets go by their value, wherever they stand. What merely looks like one goes from what the server said,
//! but not from what we made ourselves: a hostile value under `token` is no secret, and without it nothing replays.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::disclosure::disclosures;
use super::payload::{Payload, edit_strings, is_planted, is_played, payloads};
use super::search::SecretSearch;
use super::secrets::{Secrets, key};
use super::substitution::Substitution;
use super::{Finding, Kind, Repro, Sighting};
use crate::plan::Subject;
use crate::target::{REDACTED, is_secret_name};

const BEGINNING: &str = "<redacted:";
/// A shorter value of a payload would be found inside ordinary words.
const SHORTEST: usize = 6;

/// What is to be kept out of sight, and what is known not to be. Made once for a run.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    secrets: Secrets,
    /// The secrets as they are sent, and so that they can be put back.
    plain: Substitution,
    /// The secrets however they are written.
    search: SecretSearch,
    /// What stands in the place of each, in the order of the search.
    placeholders: Vec<String>,
    foreign: BTreeSet<String>,
    own: BTreeSet<String>,
}

impl Redaction {
    pub fn new(secrets: Secrets) -> Redaction {
        let mut plain = Substitution::default();
        secrets.iter().for_each(|(value, name)| plain.add(value, &placeholder(name)));
        let search = SecretSearch::new(secrets.iter().map(|(value, _)| value));
        let placeholders = secrets.iter().map(|(_, name)| placeholder(name)).collect();
        Redaction { secrets, plain, search, placeholders, ..Redaction::default() }
    }

    /// Values of payloads that we did not make, and that are too short to be looked for everywhere. Where one stands
    /// under a secret's name or looks like a secret, it is one.
    pub fn with_foreign(mut self, values: impl IntoIterator<Item = String>) -> Redaction {
        self.foreign.extend(values);
        self
    }

    /// With tokens that the server gave while it ran. No replay asks for them, so that they have no names.
    pub fn with_tokens(&self, tokens: &[String]) -> Redaction {
        if tokens.is_empty() {
            return self.clone();
        }
        let known = self.secrets.iter().map(|(value, _)| value);
        let search = SecretSearch::new(known.chain(tokens.iter().map(String::as_str)));
        let nameless = tokens.iter().map(|_| REDACTED.to_owned());
        let placeholders = self.placeholders.iter().cloned().chain(nameless).collect();
        Redaction { search, placeholders, ..self.clone() }
    }

    /// Values that we planted. They are proof, not secrets, whatever they look like.
    pub fn with_own(mut self, values: impl IntoIterator<Item = String>) -> Redaction {
        self.own.extend(values);
        self
    }

    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Takes the secrets out of a finding.
    pub fn apply(&self, finding: &mut Finding) {
        let mut pass = Pass::new(self, std::mem::take(&mut finding.learned));
        pass.repro(&mut finding.repro);
        let Finding { evidence, message, details, references, replay, .. } = finding;
        let evidence = evidence.iter_mut().flat_map(|evidence| [&mut evidence.label, &mut evidence.text]);
        for text in evidence.chain([message, details]) {
            *text = pass.said(text);
        }
        for text in references.iter_mut().map(|reference| &mut reference.text).chain(replay) {
            *text = self.named(text);
        }
        for name in names(finding) {
            *name = self.named(name);
        }
        for directory in &mut finding.stated {
            *directory = self.known(directory);
        }
        for target in finding.target.iter_mut().chain(&mut finding.other) {
            let words = target.command.iter_mut().chain(&mut target.roots);
            for word in words.chain(&mut target.cwd).chain(&mut target.url) {
                *word = self.known(word);
            }
        }
    }

    /// The last gate before anything is written: the text without the known secrets, and without what a cut left of one.
    pub fn of(&self, text: &str) -> String {
        self.search.replace(text, |_| REDACTED)
    }

    /// Takes the known secrets out of a text that is ours, so that they can be put back where they stand as they are.
    pub(super) fn known(&self, text: &str) -> String {
        match self.is_disguised_in(text) {
            true => self.of(text),
            false => self.plain.apply(text),
        }
    }

    /// Takes the secrets out of any other text that the server had a part in.
    pub fn text(&self, text: &str) -> String {
        Pass::new(self, BTreeMap::new()).said(text)
    }

    /// Takes the known secrets out of a text, each for its name.
    fn named(&self, text: &str) -> String {
        self.search.replace(text, |secret| &self.placeholders[secret])
    }

    /// Whether a secret stands there in another form than its own, and so cannot be put back.
    fn is_disguised_in(&self, text: &str) -> bool {
        self.search.find(text).into_iter().any(|found| !self.plain.is_made_of(&text[found.at]))
    }
}

/// One finding on its way, so that one secret has one name in all of it.
struct Pass<'a> {
    redaction: &'a Redaction,
    /// What of its payload came from replies, and what the server called it where that is a secret.
    learned: BTreeMap<String, Option<String>>,
    /// All that have a name, also those that were only guessed.
    names: Secrets,
    /// What of the payload is a secret, though it is none of the real ones.
    found: Substitution,
    /// Texts that are in sight anyway, one a line.
    kept: String,
    is_played: bool,
}

impl<'a> Pass<'a> {
    fn new(redaction: &'a Redaction, learned: BTreeMap<String, Option<String>>) -> Pass<'a> {
        let kept = redaction.own.iter().fold(String::new(), |kept, own| kept + own + "\n");
        let names = redaction.secrets.clone();
        Pass { redaction, learned, names, found: Substitution::default(), kept, is_played: false }
    }

    fn repro(&mut self, repro: &mut Repro) {
        let Repro::Replayable { case, .. } = repro else { return };
        // What a sequence sends is made of answers, and made anew when it is played again.
        self.is_played = is_played(case);
        let mut hides_a_secret = false;
        for payload in payloads(case) {
            hides_a_secret |= match payload {
                Payload::Values(value) => {
                    let hides = self.hides_a_secret(value);
                    edit_strings(value, &mut |under, text| self.sent(under, text));
                    hides
                }
                Payload::Text(text) => {
                    let hides = self.redaction.is_disguised_in(text);
                    *text = self.sent(None, text);
                    hides
                }
                Payload::Bytes(encoded) => self.is_within_bytes(encoded),
            };
        }
        if hides_a_secret {
            let reason = "its payload holds a secret in a form that cannot be left open".to_owned();
            *repro = Repro::NotReplayable { reason };
        }
    }

    /// A text of a payload, and the name under which it stands.
    fn sent(&mut self, under: Option<&str>, text: &str) -> String {
        let clean = self.redaction.plain.apply(text);
        if !self.is_foreign(under, text) {
            let clean = self.without_learned(clean);
            let shown = if clean.contains(BEGINNING) { &clean } else { text };
            self.kept.extend([shown, "\n"]);
            return clean;
        }
        match under.filter(|name| is_secret_name(name) && clean == text && !text.is_empty()) {
            Some(name) => {
                let shown = self.placeholder(name, text);
                if text.len() >= SHORTEST {
                    self.found.add(text, &shown);
                }
                shown
            }
            None => {
                let clean = self.without_learned(clean);
                self.guessed(&clean)
            }
        }
    }

    /// A text without the secrets that the server gave, whatever was added to them, such as an injection.
    fn without_learned(&mut self, text: String) -> String {
        let mut clean = text;
        for (value, name) in self.learned.clone() {
            if let Some(name) = name.filter(|_| clean.contains(&value)) {
                let shown = self.placeholder(&name, &value);
                self.found.add(&value, &shown);
                clean = clean.replace(&value, &shown);
            }
        }
        clean
    }

    /// Whether a text of a payload is none that we made.
    fn is_foreign(&self, under: Option<&str>, text: &str) -> bool {
        let is_bound = self.is_played && under.is_some() && !is_planted(text);
        is_bound || self.learned.contains_key(text) || self.redaction.foreign.contains(text)
    }

    /// A text of the server's, or one of ours that repeats it.
    fn said(&mut self, text: &str) -> String {
        let shown = self.found.apply(&self.redaction.named(text));
        self.guessed(&shown)
    }

    /// What looks like a secret goes, unless it is in sight anyway or gone already.
    fn guessed(&mut self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut end = 0;
        for found in disclosures(text) {
            let value = &text[found.at.clone()];
            if !self.kept.contains(value) && !value.contains(BEGINNING) {
                shown.push_str(&text[end..found.at.start]);
                shown.push_str(&self.placeholder(&found.name, value));
                end = found.at.end;
            }
        }
        shown.push_str(&text[end..]);
        shown
    }

    fn placeholder(&mut self, name: &str, value: &str) -> String {
        self.names.add(name, value);
        placeholder(self.names.name(value).unwrap_or(name))
    }

    /// Numbers that are secrets, and texts that hold one in disguise.
    fn hides_a_secret(&self, value: &Value) -> bool {
        let redaction = self.redaction;
        match value {
            Value::Null | Value::Bool(_) => false,
            Value::Number(number) => redaction.secrets.name(&number.to_string()).is_some(),
            Value::String(text) => redaction.is_disguised_in(text),
            Value::Array(items) => items.iter().any(|item| self.hides_a_secret(item)),
            Value::Object(members) => members
                .iter()
                .any(|(key, value)| redaction.is_disguised_in(key) || self.hides_a_secret(value)),
        }
    }

    fn is_within_bytes(&self, encoded: &str) -> bool {
        let bytes = STANDARD.decode(encoded).unwrap_or_default();
        self.redaction.search.occurs_in(&String::from_utf8_lossy(&bytes))
    }
}

pub(super) fn placeholder(name: &str) -> String {
    format!("{BEGINNING}{}>", key(name))
}

/// Names of a finding that the server or the user chose, and that could hold a secret: a resource is named by a URL.
fn names(finding: &mut Finding) -> Vec<&mut String> {
    let Finding { tool, subject, tools, sightings, bug, kind, server, protocol, .. } = finding;
    let mut names: Vec<&mut String> = tools.iter_mut().chain(tool).collect();
    match subject {
        Subject::Tool(name) | Subject::Resource(name) | Subject::Prompt(name) | Subject::Completion(name) => {
            names.push(name);
        }
        Subject::Server => {}
    }
    for Sighting { tool, way, ids: _ } in sightings {
        names.extend(tool.iter_mut().chain([way]));
    }
    // A rule about every tool bears the name of each.
    match kind {
        Kind::PropertyFailure { invariant: rule } | Kind::Conformance { rule } => names.push(rule),
        Kind::SequenceFailure { sequence, step_call, .. } => names.extend([sequence, step_call]),
        _ => {}
    }
    names.extend(bug.iter_mut().map(|bug| &mut bug.cause));
    names.extend(server.name.iter_mut().chain(&mut server.version).chain(protocol));
    names
}

#[cfg(test)]
mod tests;
