//! Marks a [`Finding`] with a [`Key`] of this user on this machine, so that a command from someone else's corpus is
//! recognised and not run unasked.

use serde::Serialize;

use super::{Finding, Repro};
use crate::target::Shown;

/// A secret of one user on one machine.
#[derive(Clone)]
pub struct Key([u8; Key::BYTES]);

/// What is started, where, and what is sent to it. The rest of a finding does nothing.
#[derive(Serialize)]
struct Marked<'a> {
    target: &'a Option<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: &'a Option<Shown>,
    repro: &'a Repro,
}

impl Key {
    pub const BYTES: usize = 32;

    pub fn new(bytes: [u8; Key::BYTES]) -> Key {
        Key(bytes)
    }

    /// The mark of a finding in the form in which it is stored.
    pub fn mark(&self, finding: &Finding) -> String {
        self.hash(finding).to_hex().to_string()
    }

    /// Whether a finding was marked with this key, and not changed since.
    pub fn knows(&self, finding: &Finding) -> bool {
        let mark = finding.mark.as_deref().and_then(|mark| blake3::Hash::from_hex(mark).ok());
        mark.is_some_and(|mark| mark == self.hash(finding))
    }

    fn hash(&self, finding: &Finding) -> blake3::Hash {
        let marked = Marked { target: &finding.target, other: &finding.other, repro: &finding.repro };
        let text = serde_json::to_vec(&marked).expect("a finding has only text for keys");
        blake3::keyed_hash(&self.0, &text)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Key").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::examples::{crash, full};
    use super::*;
    use serde_json::json;

    fn marked(key: &Key, finding: Finding) -> Finding {
        Finding { mark: Some(key.mark(&finding)), ..finding }
    }

    #[test]
    fn a_finding_is_known_to_the_key_that_marked_it_and_to_no_other() {
        let (ours, theirs) = (Key::new([1; 32]), Key::new([2; 32]));
        let finding = marked(&ours, full());
        assert!(ours.knows(&finding) && !theirs.knows(&finding));
        let stored = serde_json::to_string(&finding).unwrap();
        assert!(ours.knows(&serde_json::from_str(&stored).unwrap()));
    }

    #[test]
    fn another_command_place_or_payload_is_not_known() {
        let key = Key::new([1; 32]);
        let finding = marked(&key, full());
        let mut changed = [finding.clone(), finding.clone(), finding.clone(), finding.clone(), finding];
        changed[0].target.as_mut().unwrap().command = vec!["rm".to_owned()];
        changed[1].target.as_mut().unwrap().cwd = None;
        changed[2].repro = crash("search", json!({ "q": "y" })).repro;
        changed[3].mark = None;
        changed[4].other.as_mut().unwrap().command = vec!["rm".to_owned()];
        assert!(changed.iter().all(|finding| !key.knows(finding)));
    }
}
