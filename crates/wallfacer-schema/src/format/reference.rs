//! URIs, IRIs and references by RFC 3986 and RFC 3987.

use crate::choices::Choices;
use std::net::Ipv6Addr;

const WEB: [&str; 5] = [
    "https://example.com/",
    "https://example.com/index.html",
    "http://www.example.org/docs?page=1",
    "https://api.example.net/v1/items/42",
    "https://example.com/a/b#top",
];
const RELATIVE: [&str; 4] = ["/docs/index.html", "docs/readme.md", "?page=2", "#section"];

pub(super) fn uri(choices: &mut Choices, international: bool) -> String {
    if international && choices.one_in(3) {
        return "https://example.com/größe".to_owned();
    }
    let web = WEB[choices.index(WEB.len())];
    if choices.one_in(8) { format!("https://example.com/{}", choices.below(10_000)) } else { web.to_owned() }
}

pub(super) fn reference(choices: &mut Choices, international: bool) -> String {
    if choices.one_in(2) {
        RELATIVE[choices.index(RELATIVE.len())].to_owned()
    } else {
        uri(choices, international)
    }
}

pub(super) fn is_uri(text: &str, international: bool) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let letters = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(letters)
        && is_hierarchy(&text[scheme.len() + 1..], international)
}

pub(super) fn is_reference(text: &str, international: bool) -> bool {
    // A colon in the first segment would make it a scheme.
    let first = text.split(['/', '?', '#']).next().unwrap_or("");
    is_uri(text, international) || (!first.contains(':') && is_hierarchy(text, international))
}

/// All that follows the scheme.
fn is_hierarchy(text: &str, international: bool) -> bool {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, query) = text.split_once('?').unwrap_or((text, ""));
    let (authority, path) = match text.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", text),
    };
    is_authority(authority, international)
        && made_of(path, "/:@", international)
        && made_of(query, "/:@?", international)
        && made_of(fragment, "/:@?", international)
}

fn is_authority(text: &str, international: bool) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let (host, port) = if let Some(rest) = host.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else { return false };
        if address.parse::<Ipv6Addr>().is_err() && !address.starts_with(['v', 'V']) {
            return false;
        }
        ("", port)
    } else {
        host.split_at(host.find(':').unwrap_or(host.len()))
    };
    made_of(user, ":", international)
        && made_of(host, "", international)
        && (port.is_empty() || port.starts_with(':'))
        && port.bytes().skip(1).all(|byte| byte.is_ascii_digit())
}

/// Unreserved characters, sub-delimiters, whole escapes, and the extra ones given.
fn made_of(text: &str, extra: &str, international: bool) -> bool {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let fits = match character {
            '%' => {
                let hex = |c: Option<char>| c.is_some_and(|c| c.is_ascii_hexdigit());
                hex(characters.next()) && hex(characters.next())
            }
            c if c.is_ascii() => {
                c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c) || extra.contains(c)
            }
            c => international && !c.is_control(),
        };
        if !fits {
            return false;
        }
    }
    true
}
