//! Finds the places in a text that look like a secret. What is known to be one needs no such guess.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::wording::pattern;
use crate::target::{TOKEN_BEGINNINGS, is_secret_name};

/// A shorter word behind `key:` is part of a sentence.
const SHORTEST_CREDENTIAL: usize = 6;
/// Names that are words of ordinary sentences too.
const EVERYDAY: [&str; 8] = ["key", "token", "pass", "pat", "auth", "signature", "cookie", "bearer"];
/// Names of the protocol that hold no secret.
const PROTOCOL: [&str; 1] = ["progressToken"];
const EMPTY: [&str; 7] = ["null", "none", "None", "true", "false", "undefined", "nil"];

/// A place in a text, and the name under which its secret goes.
#[derive(Debug, PartialEq, Eq)]
pub struct Disclosure {
    pub at: Range<usize>,
    pub name: String,
}

/// All places that look like a secret, in order and apart from each other.
pub fn disclosures(text: &str) -> Vec<Disclosure> {
    let shapes = SHAPES.iter().flat_map(|(shape, name)| {
        shape.find_iter(text).map(|found| Disclosure { at: found.range(), name: (*name).to_owned() })
    });
    let tokens =
        TOKEN.find_iter(text).map(|found| Disclosure { at: found.range(), name: service(found.as_str()) });
    let schemes = SCHEME.captures_iter(text).filter_map(scheme);
    let users = USER.captures_iter(text).map(|found| named(&found, "user", "URL_PASSWORD"));
    let mut all: Vec<_> = shapes.chain(tokens).chain(schemes).chain(users).chain(pairs(text)).collect();
    // Of two that overlap the longer one says more.
    all.sort_by_key(|found| (found.at.start, std::cmp::Reverse(found.at.end)));
    let mut end = 0;
    all.retain(|found| {
        let apart = found.at.start >= end;
        end = if apart { found.at.end } else { end };
        apart
    });
    all
}

/// Shapes of secrets that say more than a beginning.
static SHAPES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let shapes = [
        (r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.)*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)", "PRIVATE_KEY"),
        (r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", "AWS_ACCESS_KEY"),
        (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", "JWT"),
    ];
    shapes.into_iter().map(|(text, name)| (pattern(text), name)).collect()
});

/// A word that begins as the keys of a well-known service do.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let shaped = ["AKIA", "ASIA", "eyJ"];
    let beginnings = TOKEN_BEGINNINGS.iter().map(|(beginning, _)| *beginning);
    let beginnings: Vec<String> =
        beginnings.filter(|beginning| !shaped.contains(beginning)).map(regex::escape).collect();
    pattern(&format!(r"\b(?:{})[A-Za-z0-9_-]{{16,}}", beginnings.join("|")))
});

/// The name by which the key of a service goes.
fn service(token: &str) -> String {
    let known = TOKEN_BEGINNINGS.iter().find(|(beginning, _)| token.starts_with(beginning));
    known.map_or("TOKEN", |(_, name)| name).to_owned()
}

/// `Bearer abc123`
static SCHEME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?P<scheme>bearer|basic)\s+(?P<value>[A-Za-z0-9._~+/-]{4,}=*)"));

/// `https://ada:hunter2@host`
static USER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[a-zA-Z][a-zA-Z0-9+.-]{0,20}://(?P<user>[^\s/@'\x22<>]+)@"));

/// `token=abc`, `"token": "abc"`, and the same within a JSON text.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?P<key>[A-Za-z_][A-Za-z0-9_.-]{0,63})(?P<close>\\*["']?)\s{0,3}(?P<border>[:=])\s{0,3}"#,
        r#"(?:\\+"(?P<escaped>[^"\\]*(?:\\\\+.[^"\\]*)*)|"(?P<double>(?:[^"\\]|\\.)*)|'(?P<single>(?:[^'\\]|\\.)*)"#,
        r#"|(?P<bare>[^\s"'\\,;&<>{}\[\]()]+))"#,
    ))
});

fn scheme(found: Captures<'_>) -> Option<Disclosure> {
    is_credential(found["value"].trim_end_matches('.'))
        .then(|| named(&found, "value", &found["scheme"].to_ascii_uppercase()))
}

/// In `failed: token=abc` the first pair is none of ours and ends within the second, so each key is tried.
fn pairs(text: &str) -> Vec<Disclosure> {
    let mut all = Vec::new();
    let mut from = 0;
    while let Some(found) = PAIR.captures_at(text, from) {
        let disclosure = pair(&found);
        let key = found.name("key").expect("every pair has a key");
        from = disclosure.as_ref().map_or(key.end(), |disclosure| disclosure.at.end);
        all.extend(disclosure);
    }
    all
}

fn pair(found: &Captures<'_>) -> Option<Disclosure> {
    let group =
        ["escaped", "double", "single", "bare"].into_iter().find(|group| found.name(group).is_some())?;
    let (key, value) = (&found["key"], &found[group]);
    let holds_something = !value.is_empty() && !EMPTY.contains(&value) && value.parse::<u16>().is_err();
    if !holds_something || PROTOCOL.contains(&key) || !is_secret_name(last_word(key)) {
        return None;
    }
    // `Authorization: Bearer …` is found by its scheme.
    if ["bearer", "basic"].contains(&value.to_ascii_lowercase().as_str()) {
        return None;
    }
    let is_sentence = &found["border"] == ":" && found["close"].is_empty();
    let may_be_prose =
        is_sentence && (group == "bare" || EVERYDAY.contains(&key.to_ascii_lowercase().as_str()));
    (!may_be_prose || is_credential(value)).then(|| named(found, group, key))
}

fn named(found: &Captures<'_>, group: &str, name: &str) -> Disclosure {
    let at = found.name(group).expect("the group was matched").range();
    Disclosure { at, name: name.to_owned() }
}

/// `KeyError` is about an error, `apiKey` about a key.
fn last_word(name: &str) -> &str {
    let name = name.trim_end_matches(['-', '_', '.']);
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    let border = letters.windows(2).rposition(|pair| {
        matches!(pair[0].1, '-' | '_' | '.') || pair[0].1.is_lowercase() && pair[1].1.is_uppercase()
    });
    border.map_or(name, |at| &name[letters[at + 1].0..])
}

/// Whether a word is unlike those of a sentence.
fn is_credential(word: &str) -> bool {
    let letters: Vec<char> = word.chars().collect();
    let mixed = letters.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
    letters.len() >= SHORTEST_CREDENTIAL
        && (mixed
            || letters.iter().any(|letter| letter.is_ascii_digit() || matches!(letter, '=' | '+' | '/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> String {
        let mut shown = text.to_owned();
        for Disclosure { at, name } in disclosures(text).into_iter().rev() {
            shown.replace_range(at, &format!("<{name}>"));
        }
        shown
    }

    #[test]
    fn what_looks_like_a_secret_is_found() {
        for (text, shown) in [
            ("Authorization: Bearer abc123.def", "Authorization: Bearer <BEARER>"),
            ("proxy said Basic YWRhOmh1bnRlcjI= once", "proxy said Basic <BASIC> once"),
            ("db password=hunter and more", "db password=<password> and more"),
            (r#"{"apiKey":"a\"b", "n": 1}"#, r#"{"apiKey":"<apiKey>", "n": 1}"#),
            (r#"{\"api_key\":\"hunter\"}"#, r#"{\"api_key\":\"<api_key>\"}"#),
            ("{ client_secret: 'hunter' }", "{ client_secret: '<client_secret>' }"),
            ("GET /x?token=hunter&y=1", "GET /x?token=<token>&y=1"),
            ("postgres://ada:hunter@db/x", "postgres://<URL_PASSWORD>@db/x"),
            ("key is ghp_0123456789abcdefghij.", "key is <GITHUB_TOKEN>."),
            ("id AKIAIOSFODNN7EXAMPLE", "id <AWS_ACCESS_KEY>"),
            ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_-d", "got <JWT>"),
            ("-----BEGIN PRIVATE KEY-----\nMIIB\n", "<PRIVATE_KEY>"),
            ("password: hunter2", "password: <password>"),
            ("login failed: password=hunter", "login failed: password=<password>"),
        ] {
            assert_eq!(hidden(text), shown);
        }
    }

    #[test]
    fn sentences_and_the_protocol_are_left_as_they_are() {
        for text in [
            "KeyError: 'name'",
            "Unexpected token: < in JSON at position 4",
            "missing key: city",
            "password: must not be empty",
            "basic authentication is required",
            "Bearer token missing",
            r#"{"_meta":{"progressToken":"abc123"},"token":null}"#,
            "max_tokens=4096",
            "https://host/a@b",
            "monkey=hunter2",
        ] {
            assert_eq!(hidden(text), text);
        }
    }
}
