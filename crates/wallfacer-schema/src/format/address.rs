//! Mail addresses, host names and IP addresses.

use crate::choices::Choices;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Names reserved for documentation: whatever a server does with them reaches nobody.
const HOSTS: [&str; 5] = ["example.com", "example.org", "www.example.net", "api.example.com", "localhost"];
const PEOPLE: [&str; 5] = ["alice", "bob", "carol.jones", "dave+test", "erin_99"];

pub(super) fn email(choices: &mut Choices, international: bool) -> String {
    let person = PEOPLE[choices.index(PEOPLE.len())];
    let person = if international && choices.one_in(3) { "chloé" } else { person };
    format!("{person}@{}", HOSTS[choices.index(4)])
}

pub(super) fn hostname(choices: &mut Choices, international: bool) -> String {
    if international && choices.one_in(3) {
        return "bücher.example".to_owned();
    }
    let host = HOSTS[choices.index(HOSTS.len())];
    if choices.one_in(3) { format!("node-{}.{host}", choices.below(100)) } else { host.to_owned() }
}

pub(super) fn ipv4(choices: &mut Choices) -> String {
    // The blocks set aside for documentation.
    let block = [[192, 0, 2], [198, 51, 100], [203, 0, 113]][choices.index(3)];
    Ipv4Addr::new(block[0], block[1], block[2], choices.below(255) as u8 + 1).to_string()
}

pub(super) fn ipv6(choices: &mut Choices) -> String {
    let last = choices.below(0xffff) as u16 + 1;
    Ipv6Addr::new(0x2001, 0xdb8, 0, choices.below(16) as u16, 0, 0, 0, last).to_string()
}

pub(super) fn is_email(text: &str, international: bool) -> bool {
    if !international && !text.is_ascii() {
        return false;
    }
    let Some((person, host)) = text.rsplit_once('@') else { return false };
    let host_fits = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(literal) => match literal.strip_prefix("IPv6:") {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => literal.parse::<Ipv4Addr>().is_ok(),
        },
        None if international => is_idn_hostname(host),
        None => is_hostname(host),
    };
    host_fits && is_mailbox(person)
}

fn is_mailbox(text: &str) -> bool {
    if text.len() > 64 {
        return false;
    }
    if let Some(quoted) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        return !quoted.contains('"') && !quoted.chars().any(char::is_control);
    }
    let atom = |part: &str| {
        let allowed =
            |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c);
        !part.is_empty() && part.chars().all(allowed)
    };
    text.split('.').all(atom)
}

pub(super) fn is_hostname(text: &str) -> bool {
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let rim = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        // Two hyphens in the third and fourth place are kept for encoded labels.
        let reserved = label.get(2..4) == Some("--") && !label.to_ascii_lowercase().starts_with("xn--");
        label.len() <= 63
            && label.bytes().all(inner)
            && rim(label.bytes().next())
            && rim(label.bytes().last())
            && !reserved
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// The full rules of IDNA need its tables; here a label is made of letters, digits, marks and inner hyphens.
pub(super) fn is_idn_hostname(text: &str) -> bool {
    let label = |label: &str| {
        let inner = |c: char| c == '-' || c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphanumeric());
        !label.is_empty()
            && label.len() <= 63
            && label.chars().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split(['.', '。', '．', '｡']).all(label)
}
