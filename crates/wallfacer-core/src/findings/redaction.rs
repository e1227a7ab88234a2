//! [`Finding`] in, the same without secrets out, fit for the disk and every report.
//!
//! Real secrets go by their value, wherever they stand. What merely looks like one goes from what the server said,
//! but not from what we made ourselves: a hostile value under `token` is no secret, and without it nothing replays.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::Value;

use super::disclosure::disclosures;
use super::payload::{Payload, edit_strings, payloads};
use super::secrets::{Secrets, key};
use super::substitution::Substitution;
use super::{Finding, Repro};
use crate::plan::Subject;
use crate::target::is_secret_name;

const BEGINNING: &str = "<redacted:";
/// A shorter value of a payload would be found inside ordinary words.
const SHORTEST: usize = 6;

/// What is to be kept out of sight, and what is known not to be.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    secrets: Secrets,
    /// The secrets as they are sent, and so that they can be put back.
    plain: Substitution,
    /// The secrets as they look elsewhere.
    disguised: Substitution,
    foreign: BTreeSet<String>,
    own: BTreeSet<String>,
}

impl Redaction {
    pub fn new(secrets: Secrets) -> Redaction {
        let (mut plain, mut disguised) = (Substitution::default(), Substitution::default());
        for (value, name) in secrets.iter() {
            plain.add(value, &placeholder(name));
            disguises(value).iter().for_each(|form| disguised.add(form, &placeholder(name)));
        }
        Redaction { secrets, plain, disguised, foreign: BTreeSet::new(), own: BTreeSet::new() }
    }

    /// Values of payloads that we did not make: learned from replies, or written by the user into a rule. Where one
    /// stands under a secret's name or looks like a secret, it is one.
    pub fn with_foreign(mut self, values: impl IntoIterator<Item = String>) -> Redaction {
        self.foreign.extend(values);
        self
    }

    /// Values that we planted. They are proof, not secrets, whatever they look like.
    pub fn with_own(mut self, values: impl IntoIterator<Item = String>) -> Redaction {
        self.own.extend(values);
        self
    }

    /// Takes the secrets out of a finding.
    pub fn apply(&self, finding: &mut Finding) {
        let mut pass = Pass::new(self);
        pass.repro(&mut finding.repro);
        let texts = finding.evidence.iter_mut().map(|evidence| &mut evidence.text);
        for text in texts.chain([&mut finding.message, &mut finding.details]) {
            *text = pass.said(text);
        }
        for name in names(finding) {
            *name = self.plain.apply(name);
        }
    }

    /// Takes the known secrets out of a text that is ours.
    pub(super) fn known(&self, text: &str) -> String {
        self.plain.apply(text)
    }

    /// Takes the secrets out of any other text that the server had a part in.
    pub fn text(&self, text: &str) -> String {
        Pass::new(self).said(text)
    }
}

/// One finding on its way, so that one secret has one name in all of it.
struct Pass<'a> {
    redaction: &'a Redaction,
    /// All that have a name, also those that were only guessed.
    names: Secrets,
    /// What of the payload is a secret, though it is none of the real ones.
    found: Substitution,
    /// Texts that are in sight anyway, one a line.
    kept: String,
}

impl<'a> Pass<'a> {
    fn new(redaction: &'a Redaction) -> Pass<'a> {
        let kept = redaction.own.iter().fold(String::new(), |kept, own| kept + own + "\n");
        Pass { redaction, names: redaction.secrets.clone(), found: Substitution::default(), kept }
    }

    fn repro(&mut self, repro: &mut Repro) {
        let Repro::Replayable { case, .. } = repro else { return };
        let mut hides_a_secret = false;
        for payload in payloads(case) {
            hides_a_secret |= match payload {
                Payload::Values(value) => {
                    edit_strings(value, &mut |under, text| self.sent(under, text));
                    self.hides_a_secret(value)
                }
                Payload::Text(text) => {
                    *text = self.sent(None, text);
                    self.redaction.disguised.occurs_in(text)
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
        if !self.redaction.foreign.contains(text) {
            self.kept.extend([text, "\n"]);
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
            None => self.guessed(&clean),
        }
    }

    /// A text of the server's, or one of ours that repeats it.
    fn said(&mut self, text: &str) -> String {
        let Redaction { plain, disguised, .. } = self.redaction;
        let shown =
            [plain, disguised, &self.found].iter().fold(text.to_owned(), |text, all| all.apply(&text));
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
        let disguised = &self.redaction.disguised;
        match value {
            Value::Null | Value::Bool(_) => false,
            Value::Number(number) => self.redaction.secrets.name(&number.to_string()).is_some(),
            Value::String(text) => disguised.occurs_in(text),
            Value::Array(items) => items.iter().any(|item| self.hides_a_secret(item)),
            Value::Object(members) => {
                members.iter().any(|(key, value)| disguised.occurs_in(key) || self.hides_a_secret(value))
            }
        }
    }

    fn is_within_bytes(&self, encoded: &str) -> bool {
        let bytes = STANDARD.decode(encoded).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let Redaction { plain, disguised, .. } = self.redaction;
        plain.occurs_in(&text) || disguised.occurs_in(&text)
    }
}

pub(super) fn placeholder(name: &str) -> String {
    format!("{BEGINNING}{}>", key(name))
}

/// How a secret looks within a JSON text, a URL or a header, where that differs.
fn disguises(secret: &str) -> Vec<String> {
    let json = Value::from(secret).to_string();
    let percent: String = secret.bytes().map(percent_encoded).collect();
    let mut forms = vec![json[1..json.len() - 1].to_owned(), percent, STANDARD_NO_PAD.encode(secret)];
    forms.retain(|form| form != secret);
    forms
}

fn percent_encoded(byte: u8) -> String {
    match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    }
}

/// Names of a finding that the server or the user chose, and that could hold a secret: a resource is named by a URL.
fn names(finding: &mut Finding) -> Vec<&mut String> {
    let mut names: Vec<&mut String> = finding.tools.iter_mut().chain(&mut finding.tool).collect();
    match &mut finding.subject {
        Subject::Tool(name) | Subject::Resource(name) | Subject::Prompt(name) | Subject::Completion(name) => {
            names.push(name);
        }
        Subject::Server => {}
    }
    if let Some(target) = &mut finding.target {
        names.extend(
            target.command.iter_mut().chain(&mut target.roots).chain(&mut target.cwd).chain(&mut target.url),
        );
    }
    names.extend(finding.server.name.iter_mut().chain(&mut finding.server.version));
    names
}

#[cfg(test)]
mod tests;
