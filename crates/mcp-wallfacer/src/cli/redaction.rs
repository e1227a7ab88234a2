//! Gathers what a run must not write: the secrets of its target, of our environment, and of the rules that it tries.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;
use wallfacer_core::findings::{Redaction, Secrets};
use wallfacer_core::target::Target;
use wallfacer_rules::{Rules, Shelf};

use crate::environment;

/// What a run without rules must not write.
pub fn of_target(target: &Target) -> Redaction {
    of_rules(target, &Written::default())
}

/// What a run must not write that holds one target against another.
pub fn of_both(target: &Target, other: &Target) -> Redaction {
    let environment = environment::named_secrets();
    let other = Secrets::named_by(other, &environment);
    Redaction::new(Secrets::named_by(target, &environment).with(&other))
}

/// What a run must not write that tries rules.
pub fn of_rules(target: &Target, written: &Written) -> Redaction {
    written.added_to(Secrets::named_by(target, &environment::named_secrets()))
}

/// What must not be written where there is no server.
pub fn of_environment(written: &Written) -> Redaction {
    let mut secrets = Secrets::default();
    environment::named_secrets().iter().for_each(|(name, value)| secrets.add(name, value));
    written.added_to(secrets)
}

/// Values that somebody wrote into rules or gave as parameters, each with its name.
#[derive(Debug, Default)]
pub struct Written(Vec<(String, String)>);

impl Written {
    /// Parameters of packs or of a rule file.
    pub fn parameters(&mut self, given: &BTreeMap<String, Value>) {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.0.extend(given.iter().map(|(name, value)| (name.clone(), text(value))));
    }

    /// Rules of the user's own.
    pub fn rules(&mut self, rules: &Rules) {
        self.0.extend(rules.sent());
    }

    /// A pack with these parameters. What a built-in pack says by itself everybody can read.
    pub fn pack(&mut self, shelf: &Shelf, name: &str, rules: &Rules, given: &BTreeMap<String, Value>) {
        let filled: Vec<&str> =
            given.values().filter_map(Value::as_str).filter(|value| !value.is_empty()).collect();
        let mut sent = rules.sent();
        if !shelf.is_of_workspace(name) {
            sent.retain(|(_, value)| filled.iter().any(|filled| value.contains(filled)));
        }
        self.0.extend(sent);
        self.parameters(given);
    }

    /// All packs that a run may choose from.
    pub fn packs(&mut self, shelf: &Shelf, set: &BTreeMap<String, BTreeMap<String, String>>) {
        for name in shelf.names() {
            let given = shelf.given(name, set, &BTreeMap::new());
            if !shelf.is_of_workspace(name) && given.is_empty() {
                continue;
            }
            // A pack that cannot be read is told by the commands that are about packs; its parameters may be secret all
            // the same.
            match shelf.rules(name, &given) {
                Some(Ok(rules)) => self.pack(shelf, name, &rules, &given),
                _ => self.parameters(&given),
            }
        }
    }

    fn added_to(&self, mut secrets: Secrets) -> Redaction {
        let short: Vec<String> =
            self.0.iter().filter_map(|(name, value)| secrets.add_written(name, value)).collect();
        Redaction::new(secrets).with_foreign(short)
    }
}

/// A writer that keeps everything back until it is flushed, so that no secret passes in two halves.
#[derive(Debug)]
pub struct Redacted<W> {
    out: W,
    redaction: Redaction,
    kept: Vec<u8>,
}

impl<W> Redacted<W> {
    pub fn new(out: W, redaction: &Redaction) -> Redacted<W> {
        Redacted { out, redaction: redaction.clone(), kept: Vec::new() }
    }
}

impl<W: Write> Write for Redacted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let kept = std::mem::take(&mut self.kept);
        self.out.write_all(self.redaction.of(&String::from_utf8_lossy(&kept)).as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_written_in_two_halves_does_not_pass() {
        let mut secrets = Secrets::default();
        secrets.add("token", "hunter22");
        let mut out = Vec::new();
        let mut redacted = Redacted::new(&mut out, &Redaction::new(secrets));
        redacted.write_all(b"a hunt").unwrap();
        redacted.write_all(b"er22\n").unwrap();
        redacted.flush().unwrap();
        assert_eq!(out, b"a [redacted]\n");
    }

    #[test]
    fn a_pack_that_is_built_in_holds_no_secret_but_the_parameters_that_it_is_given() {
        let pack = "version: 4\nmetadata:\n  parameters:\n    word: { description: w, type: string, default: x }\ninvariants:\n  - { name: r, tool: t, \
                    fixed: { password: \"{{word}}\", token: written-here }, assert: [{ kind: exists, path: $.response }] }\n";
        let given = BTreeMap::from([("word".to_owned(), Value::from("swordfish"))]);
        let rules = Rules::read("pack", pack, &given, &|_| None).unwrap();
        for (workspace, wanted) in
            [(vec!["pack"], vec!["swordfish", "written-here"]), (vec![], vec!["swordfish"])]
        {
            let texts = workspace.iter().map(|name| (name.to_string(), pack.to_owned())).collect();
            let mut written = Written::default();
            written.pack(&Shelf::new(texts), "pack", &rules, &given);
            let redaction = written.added_to(Secrets::default());
            let gone: Vec<&str> = ["swordfish", "written-here", "exists"]
                .into_iter()
                .filter(|word| redaction.of(word) != *word)
                .collect();
            assert_eq!(gone, wanted);
        }
    }
}
