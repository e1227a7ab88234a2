//! Puts secrets back into a stored finding, so that it can be run again.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::payload::{Payload, edit_strings, is_played, payloads};
use super::secrets::replay_variable;
use super::wording::pattern;
use super::{Finding, Repro};

/// Puts the secrets back into the repro of a finding, and nowhere else; `lookup` knows variables by name. Gives the
/// variables that are missing.
pub fn restore(finding: &mut Finding, lookup: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let (mut missing, mut of_calls) = (BTreeSet::new(), BTreeSet::new());
    if let Repro::Replayable { case, .. } = &mut finding.repro {
        let is_played = is_played(case);
        for payload in payloads(case) {
            match payload {
                Payload::Values(value) => {
                    edit_strings(value, &mut |_, text| put_back(text, &lookup, &mut of_calls));
                }
                Payload::Text(text) => *text = put_back(text, &lookup, &mut missing),
                Payload::Bytes(_) => {}
            }
        }
        // The calls of a sequence are made anew from its rule and from the answers that come this time.
        if !is_played {
            missing.append(&mut of_calls);
        }
    }
    missing.into_iter().collect()
}

/// The text with the secrets in the place of their names, and the variables that are missing.
pub(super) fn put_back(
    text: &str,
    lookup: impl Fn(&str) -> Option<String>,
    missing: &mut BTreeSet<String>,
) -> String {
    replace(text, |variable, placeholder| {
        lookup(&variable).unwrap_or_else(|| {
            missing.insert(variable);
            placeholder.to_owned()
        })
    })
}

/// The text with something else in the place of each placeholder, told by its variable and as it stands.
pub(super) fn replace(text: &str, mut by: impl FnMut(String, &str) -> String) -> String {
    static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"<redacted:(?P<name>[^<>]{1,100})>"));
    let value = |found: &Captures<'_>| by(replay_variable(&found["name"]), &found[0]);
    PLACEHOLDER.replace_all(text, value).into_owned()
}
