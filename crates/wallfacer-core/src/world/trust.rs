//! Has a server trust what the sandbox says over TLS although it brought its own list of authorities, as many libraries do:
//! the list that it was seen to read has ours in it, in the sandbox alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use wallfacer_process::jail::Plant;
use wallfacer_process::trace::{Kind, Outcome};

use super::recipe::World;
use super::traced::Traced;
use crate::repository::read_text;

/// Lists of one server: each library may bring one.
const MAX_LISTS: usize = 8;
/// Far more than a list of all public authorities takes.
const MAX_BYTES: u64 = 4 << 20;
/// A file with fewer holds the certificate of somebody in particular, not those of all who vouch for others.
const MIN_AUTHORITIES: usize = 16;
/// The lists of the machine have ours in them in any case.
const OF_THE_MACHINE: &str = "/etc";

impl World {
    /// Has every further server trust us that reads one of the lists that were read here. Whether any of them is new.
    pub fn trust_us_in(&mut self, traced: &Traced) -> bool {
        let known = self.trusted.len();
        for event in &traced.events {
            let (Kind::Open { location, .. }, Outcome::Done(_)) = (&event.kind, &event.outcome) else {
                continue;
            };
            let path = location.path();
            if self.trusted.len() < MAX_LISTS && !self.trusted.contains(&path) && lists_authorities(&path) {
                self.trusted.insert(path);
            }
        }
        self.trusted.len() > known
    }
}

/// What lies in the place of these lists.
pub(super) fn plants(trusted: &BTreeSet<PathBuf>, authority: &str) -> Vec<(PathBuf, Plant)> {
    let list = || Plant::File { content: authority.into(), executable: false };
    trusted.iter().map(|path| (path.clone(), list())).collect()
}

/// Whether a file lists authorities, by its name first: everything that the server opened is asked for.
fn lists_authorities(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("pem" | "crt" | "txt" | "cer"))
        && !path.starts_with(OF_THE_MACHINE)
        && read_text(path, MAX_BYTES)
            .is_ok_and(|text| text.matches("-----BEGIN CERTIFICATE-----").nth(MIN_AUTHORITIES - 1).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_of_many_certificates_is_one_of_authorities() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, certificates: usize| {
            let path = place.path().join(name);
            let one = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
            std::fs::write(&path, one.repeat(certificates)).unwrap();
            path
        };
        assert!(lists_authorities(&file("all.pem", 120)));
        assert!(!lists_authorities(&file("mine.pem", 2)));
        assert!(!lists_authorities(&file("all.json", 120)));
        assert!(!lists_authorities(&place.path().join("none.pem")));
    }
}
