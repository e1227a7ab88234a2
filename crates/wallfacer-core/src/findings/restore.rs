//! [`Finding`] with its secrets left open in, the same ready to be run again out.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::payload::{Payload, edit_strings, payloads};
use super::secrets::replay_variable;
use super::wording::pattern;
use super::{Finding, Repro};

/// Puts the secrets back into the repro of a finding, and nowhere else; `lookup` knows variables by name. Gives the
/// variables that are missing.
pub fn restore(finding: &mut Finding, lookup: impl Fn(&str) -> Option<String>) -> Vec<String> {
    static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"<redacted:(?P<name>[^<>]{1,100})>"));
    let mut missing = BTreeSet::new();
    let mut put_back = |text: &str| {
        let value = |found: &Captures<'_>| {
            let variable = replay_variable(&found["name"]);
            lookup(&variable).unwrap_or_else(|| {
                missing.insert(variable);
                found[0].to_owned()
            })
        };
        PLACEHOLDER.replace_all(text, value).into_owned()
    };
    if let Repro::Replayable { case, .. } = &mut finding.repro {
        for payload in payloads(case) {
            match payload {
                Payload::Values(value) => edit_strings(value, &mut |_, text| put_back(text)),
                Payload::Text(text) => *text = put_back(text),
                Payload::Bytes(_) => {}
            }
        }
    }
    missing.into_iter().collect()
}
