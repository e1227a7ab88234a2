//! Gives each name an address, and finds the name of an address again.
//!
//! Every name gets addresses of its own from ranges that real servers live in, since many servers refuse to fetch
//! from private or reserved ones. They follow from the seed and the name alone.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::bounds::MAX_NAMES;
use super::hash::hash;

/// First bytes of IPv4 addresses of which none has a special meaning.
const FIRST: [u8; 16] = [18, 23, 34, 44, 52, 63, 65, 72, 99, 104, 108, 142, 151, 162, 184, 208];

/// Two names may come to the same address; after this many tries they may keep it.
const MAX_TRIES: u64 = 16;
/// Parts of a name in which an address is looked for.
const MAX_LABELS: usize = 32;

#[derive(Debug)]
pub(super) struct Names {
    seed: u64,
    /// Addresses that the caller has set.
    fixed: BTreeMap<String, Vec<IpAddr>>,
    given: BTreeMap<String, Given>,
    back: BTreeMap<IpAddr, String>,
    /// Names that found no room.
    pub(super) lost: u64,
}

#[derive(Debug, Clone, Copy)]
struct Given {
    v4: Ipv4Addr,
    v6: Ipv6Addr,
}

impl Names {
    pub(super) fn new(seed: u64, fixed: &[(String, IpAddr)]) -> Self {
        let mut names =
            Self { seed, fixed: BTreeMap::new(), given: BTreeMap::new(), back: BTreeMap::new(), lost: 0 };
        for (name, address) in fixed {
            names.fixed.entry(plain(name)).or_default().push(*address);
        }
        names
    }

    /// All addresses of a name; `None` when there can be no such name.
    pub(super) fn resolve(&mut self, name: &str) -> Option<Vec<IpAddr>> {
        let name = plain(name);
        if let Some(fixed) = self.fixed.get(&name) {
            return Some(fixed.clone());
        }
        match name.rsplit('.').next() {
            // RFC 6761: the one never resolves, the other is always this machine.
            Some("invalid" | "") | None => None,
            Some("localhost") => Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
            Some(_) if embedded(&name).is_some() => Some(embedded(&name).into_iter().collect()),
            Some(_) => {
                let Given { v4, v6 } = self.give(name);
                Some(vec![v4.into(), v6.into()])
            }
        }
    }

    /// The name that an address was given out for.
    pub(super) fn name_of(&self, address: IpAddr) -> Option<&str> {
        self.back.get(&address).map(String::as_str)
    }

    fn give(&mut self, name: String) -> Given {
        if let Some(given) = self.given.get(&name) {
            return *given;
        }
        let given = (0..MAX_TRIES)
            .map(|attempt| self.made_up(&name, attempt))
            .find(|given| {
                !self.back.contains_key(&given.v4.into()) && !self.back.contains_key(&given.v6.into())
            })
            .unwrap_or_else(|| self.made_up(&name, 0));
        if self.given.len() < MAX_NAMES {
            self.back.insert(given.v4.into(), name.clone());
            self.back.insert(given.v6.into(), name.clone());
            self.given.insert(name, given);
        } else {
            self.lost += 1;
        }
        given
    }

    fn made_up(&self, name: &str, attempt: u64) -> Given {
        let number = hash(self.seed.wrapping_add(attempt), name.as_bytes());
        let [choice, second, third, last, high, low, ..] = number.to_be_bytes();
        let first = FIRST[usize::from(choice) % FIRST.len()];
        // Neither a network's own address nor its broadcast.
        let v4 = Ipv4Addr::new(first, second, third, last % 254 + 1);
        let subnet = u16::from_be_bytes([high, low]);
        let host = u16::from_be_bytes([third, last]);
        let v6 = Ipv6Addr::new(0x2600, 0x9000, subnet, u16::from(second), 0, u16::from(choice), host, 1);
        Given { v4, v6 }
    }
}

/// The address in a name such as `127.0.0.1.nip.io` or `www.example.com.127.0.0.1.nip.io`: there are public domains whose names
/// lead there, and who looks at names alone does not notice.
fn embedded(name: &str) -> Option<IpAddr> {
    let parts: Vec<&str> = name.split('.').take(MAX_LABELS).collect();
    let (_, below) = parts.split_last()?;
    below.windows(4).find_map(|four| four.join(".").parse::<Ipv4Addr>().ok()).map(IpAddr::from)
}

fn plain(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(7, &[("inside.test".to_owned(), Ipv4Addr::LOCALHOST.into())])
    }

    #[test]
    fn every_name_has_public_addresses_of_its_own_that_lead_back_to_it() {
        let mut names = names();
        for number in 0..2000 {
            let name = format!("host{number}.example.com");
            for address in names.resolve(&name).unwrap() {
                assert_eq!(names.name_of(address), Some(name.as_str()));
                if let IpAddr::V4(v4) = address {
                    assert!(
                        !v4.is_private()
                            && !v4.is_loopback()
                            && !v4.is_link_local()
                            && !v4.is_documentation()
                    );
                }
            }
        }
    }

    #[test]
    fn addresses_follow_from_the_seed_and_the_name_alone() {
        let mut other_order = names();
        other_order.resolve("b.example");
        assert_eq!(names().resolve("a.example"), other_order.resolve("A.Example."));
        assert_ne!(names().resolve("a.example"), Names::new(8, &[]).resolve("a.example"));
    }

    #[test]
    fn names_with_a_set_meaning_keep_it() {
        let mut names = names();
        assert_eq!(names.resolve("nothing.invalid"), None);
        assert_eq!(names.resolve(""), None);
        assert_eq!(names.resolve("inside.test"), Some(vec![Ipv4Addr::LOCALHOST.into()]));
        assert!(names.resolve("db.localhost").unwrap().iter().all(IpAddr::is_loopback));
        for name in ["127.0.0.1.nip.io", "www.example.com.127.0.0.1.nip.io"] {
            assert!(names.resolve(name).unwrap().iter().all(IpAddr::is_loopback), "{name}");
        }
    }

    #[test]
    fn names_beyond_the_bound_resolve_but_are_counted_as_lost() {
        let mut names = names();
        for number in 0..MAX_NAMES + 5 {
            assert!(names.resolve(&format!("n{number}.example")).is_some());
        }
        assert_eq!(names.lost, 5);
        assert_eq!(names.given.len(), MAX_NAMES);
    }
}
