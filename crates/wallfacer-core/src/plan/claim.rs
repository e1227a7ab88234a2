//! The rule that a case is judged by, as a case carries it: enough to judge it now and, read from a file, once more
//! later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wallfacer_rules::{Rule, Rules, Sequence, ToolShape};

/// What a case is held against.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claim {
    /// The name of the rule or sequence.
    pub rule: String,
    /// A rule file with nothing but it.
    #[serde(with = "shared")]
    written: Arc<str>,
    /// Steps of a sequence that are not needed to break it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left_out: BTreeSet<usize>,
    /// None until it is read.
    #[serde(skip)]
    law: Option<Law>,
}

/// A rule or a sequence, compiled.
#[derive(Debug, Clone)]
pub enum Law {
    Rule(Arc<Rule>),
    Sequence(Arc<Sequence>),
}

impl Claim {
    pub fn of_rule(rule: &Arc<Rule>) -> Claim {
        Claim::new(&rule.name, &rule.written, Law::Rule(rule.clone()))
    }

    pub fn of_sequence(sequence: &Arc<Sequence>) -> Claim {
        Claim::new(&sequence.name, &sequence.written, Law::Sequence(sequence.clone()))
    }

    fn new(rule: &str, written: &Arc<str>, law: Law) -> Claim {
        Claim { rule: rule.to_owned(), written: written.clone(), left_out: BTreeSet::new(), law: Some(law) }
    }

    /// Reads the rule of a stored claim, for the tools that the server has now.
    pub fn read(&mut self, tools: &[ToolShape]) -> Result<(), String> {
        if self.law.is_some() {
            return Ok(());
        }
        let rules = Rules::read(&self.rule, &self.written, &BTreeMap::new(), &|_| None)
            .map_err(|problems| format!("the rule that is stored with it cannot be read: {problems}"))?;
        let made = rules.expand(tools).rules;
        let mut rule = rules.rules.into_iter().chain(made);
        let rule = rule.find(|rule| rule.name == self.rule).map(|rule| Law::Rule(Arc::new(rule)));
        let sequence = || rules.sequences.into_iter().next();
        let law = rule.or_else(|| sequence().map(|sequence| Law::Sequence(Arc::new(sequence))));
        self.law = law;
        match self.law {
            Some(_) => Ok(()),
            None => Err(format!("the rule `{}` fits no tool of the server any more", self.rule)),
        }
    }

    pub fn rule(&self) -> Option<&Rule> {
        match self.law.as_ref()? {
            Law::Rule(rule) => Some(rule),
            Law::Sequence(_) => None,
        }
    }

    pub fn sequence(&self) -> Option<&Arc<Sequence>> {
        match self.law.as_ref()? {
            Law::Sequence(sequence) => Some(sequence),
            Law::Rule(_) => None,
        }
    }
}

/// What it says makes it what it is, read or not.
impl PartialEq for Claim {
    fn eq(&self, other: &Claim) -> bool {
        (&self.rule, &self.written, &self.left_out) == (&other.rule, &other.written, &other.left_out)
    }
}

/// One text for all cases of a rule.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}
