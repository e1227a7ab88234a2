//! The secrets of an environment, and the hosts that it names: one of them may be the one that a secret is for.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

/// Hosts that are kept of an environment; no server has more upstreams.
const MOST_HOSTS: usize = 256;
/// Endings of names of variables that name a host, or a place at one.
const NAME_A_HOST: [&str; 8] =
    ["HOST", "HOSTNAME", "DOMAIN", "ENDPOINT", "SERVER", "ADDRESS", "INSTANCE", "REGISTRY"];

/// What a server is given in variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entrusted {
    /// Secrets, each behind the name of its variable.
    pub secrets: Vec<(String, String)>,
    /// Hosts that the environment of the server names.
    pub hosts: BTreeSet<String>,
}

impl<Secrets: IntoIterator<Item = (String, String)>> From<Secrets> for Entrusted {
    fn from(secrets: Secrets) -> Self {
        Self { secrets: secrets.into_iter().collect(), hosts: BTreeSet::new() }
    }
}

/// The hosts that variables name, in small letters: in addresses, and where the name of a variable says so.
pub(super) fn hosts(variables: &BTreeMap<OsString, OsString>) -> BTreeSet<String> {
    let texts = variables.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let named = texts.flat_map(|(name, value)| {
        let addresses = value.split("://").skip(1).filter_map(host);
        let is_host = NAME_A_HOST.iter().any(|ending| name.to_ascii_uppercase().ends_with(ending));
        addresses.chain(is_host.then(|| host(value)).flatten())
    });
    named.take(MOST_HOSTS).collect()
}

/// The host that an address begins with, behind its scheme.
fn host(address: &str) -> Option<String> {
    let authority = address.split(['/', '?', '#', ' ', '"', '\'', ',']).next()?;
    let place = authority.rsplit('@').next()?;
    let host = match place.strip_prefix('[') {
        Some(inner) => inner.split(']').next()?,
        None => place.split(':').next()?,
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_addresses_and_by_the_names_of_variables() {
        let variables = [
            ("DATABASE_URL", "postgres://me:p@ss@db.example:5432/x"),
            ("JIRA_HOST", "Acme.atlassian.net"),
            ("PROXIES", "http://one.example:80, https://[::1]:8080/x"),
            ("EDITOR", "vi"),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into())).into();
        let wanted = ["::1", "acme.atlassian.net", "db.example", "one.example"];
        assert_eq!(hosts(&variables), wanted.map(str::to_owned).into());
    }
}
