//! Makes look-alikes of secrets, for servers that start only with a key but need no real one: the same beginning, length
//! and sorts of characters, and nothing else of the original. What is to be imitated is decided here too.

use std::ops::Range;
use std::path::Path;

use super::secret::{is_long_enough, is_plain_variable, is_secret_name};
use super::token::{TOKEN_BEGINNINGS, has_known_beginning, secret_pairs, url_secrets};

/// What of the original may stand in a row, behind a known beginning, is less than this.
const MOST_IN_A_ROW: usize = 6;
/// A secret of so few letters and digits has its other signs changed as well.
const FEW_LETTERS: usize = 6;
/// How often a look-alike that shares too much with the original by chance is made anew.
const MAX_TRIES: u64 = 64;
/// More of a value is no key but a document; what is behind is imitated all the same, with no check of what is shared.
const MAX_CHECKED: usize = 1 << 16;

/// Words in front of a key that say what it is for.
const SCHEMES: [&str; 4] = ["Bearer ", "bearer ", "Basic ", "token "];
/// What stands where a key is not set, or only switched.
const SWITCHES: [&str; 14] = [
    "always",
    "auto",
    "default",
    "disabled",
    "enabled",
    "false",
    "never",
    "none",
    "null",
    "optional",
    "required",
    "true",
    "undefined",
    "unset",
];
/// Endings of names that stand for places, whatever else is in the name.
const PLACES: [&str; 5] = ["PATH", "HOME", "DIR", "SOCK", "SOCKET"];

/// A value that looks like the real one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imitation {
    /// The whole value, of which only secrets are other than before.
    pub value: String,
    /// What stands in it where the secrets stood.
    pub tokens: Vec<String>,
}

/// The look-alike of an inherited variable; none where it holds no secret. The seed and the name decide it, not the
/// original, so that nothing can be learned from it.
pub fn imitate(name: &str, value: &str, seed: u64) -> Option<Imitation> {
    let parts = secret_parts(name, value);
    if parts.is_empty() {
        return None;
    }
    let mut imitated = String::with_capacity(value.len());
    let mut tokens = Vec::new();
    let mut done = 0;
    for (number, part) in parts.into_iter().enumerate() {
        imitated.push_str(&value[done..part.start]);
        let token = look_alike(&value[part.clone()], &format!("{name}/{number}"), seed);
        imitated.push_str(&token);
        tokens.push(token);
        done = part.end;
    }
    imitated.push_str(&value[done..]);
    Some(Imitation { value: imitated, tokens })
}

/// The secrets in the value of a variable.
pub fn secret_values(name: &str, value: &str) -> Vec<String> {
    secret_parts(name, value).into_iter().map(|part| value[part].to_owned()).collect()
}

/// Where in the value of a variable its secrets stand, in order and apart.
fn secret_parts(name: &str, value: &str) -> Vec<Range<usize>> {
    if is_plain_variable(name) || PLACES.iter().any(|ending| name.ends_with(ending)) || is_path(value) {
        return Vec::new();
    }
    if value.contains("://") {
        return of_url(value);
    }
    let pairs = secret_pairs(value);
    let is_document = value.contains(['{', ';', '\n']) || value.contains('=') && value.contains(' ');
    if is_document && !pairs.is_empty() {
        return pairs;
    }
    let start = SCHEMES.iter().find(|scheme| value.starts_with(**scheme)).map_or(0, |scheme| scheme.len());
    let key = &value[start..];
    let named = is_secret_name(name) && !is_switch(key);
    if !is_long_enough(key.trim()) || !named && !has_known_beginning(key.trim()) {
        return Vec::new();
    }
    if key.contains("-----BEGIN") {
        return between_marks(value);
    }
    std::iter::once(start..value.len()).collect()
}

/// The password, keys, and what stands under a name to keep; user and host stay, so that a client still finds its way.
fn of_url(value: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (name, secret) in url_secrets(value) {
        let is_user = name == "url_password" && !value.contains(&format!(":{secret}@"));
        // A user without a password is one only where it is no key.
        if is_user && (secret.contains(':') || !has_known_beginning(&secret)) || !is_long_enough(&secret) {
            continue;
        }
        let places = value.match_indices(&secret).map(|(at, _)| at..at + secret.len());
        found.extend(places);
    }
    apart(found)
}

/// The lines of a key file, without those that say what it is.
fn between_marks(value: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in value.split_inclusive('\n') {
        let text = line.trim_end();
        if !text.starts_with("-----") && is_long_enough(text) {
            found.push(start..start + text.len());
        }
        start += line.len();
    }
    // On one line, with `\n` written out: what stands between the marks.
    if found.is_empty()
        && let (Some(open), Some(close)) = (value.find("-----BEGIN"), value.find("-----END"))
        && let Some(end_of_open) = value[open + 10..].find("-----").map(|at| open + 10 + at + 5)
        && end_of_open < close
    {
        found.push(end_of_open..close);
    }
    found
}

/// Of two that overlap the longer one stays.
fn apart(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|part| (part.start, std::cmp::Reverse(part.end)));
    let mut end = 0;
    found.retain(|part| {
        let apart = part.start >= end;
        end = if apart { part.end } else { end };
        apart
    });
    found
}

fn is_switch(value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    SWITCHES.contains(&value.as_str()) || value.parse::<f64>().is_ok_and(|_| value.len() < 10)
}

/// A list of places where something is, or could be made.
fn is_path(value: &str) -> bool {
    let is_place = |entry: &str| {
        let path = Path::new(entry);
        let above = path.parent().filter(|above| above.components().count() > 1);
        path.is_absolute() && (path.exists() || above.is_some_and(Path::is_dir))
    };
    ["~/", "./", "../"].iter().any(|start| value.starts_with(start)) || value.split(':').all(is_place)
}

/// Another text of the same make.
fn look_alike(original: &str, name: &str, seed: u64) -> String {
    let kept = beginning(original);
    let (beginning, rest) = original.split_at(kept);
    let made = (0..MAX_TRIES).map(|number| disguised(rest, &mut Chance::new(seed, name, number)));
    let other = made
        .into_iter()
        .find(|other| !shares(rest, other))
        // Chance alone does not get here; a text that cannot be changed without a trace is not handed on.
        .unwrap_or_else(|| "x".repeat(rest.chars().count()));
    format!("{beginning}{other}")
}

/// How much of a text is the known beginning of keys of its kind: the longest there is, and no less.
fn beginning(text: &str) -> usize {
    let known = TOKEN_BEGINNINGS.iter().map(|(beginning, _)| *beginning);
    // Longer ones of services whose keys have a second part that is always the same.
    let longer =
        ["sk-ant-api03-", "sk-ant-admin01-", "sk-proj-", "sk-svcacct-", "sk-or-v1-", "GOCSPX-", "whsec_"];
    let fitting = known.chain(longer).filter(|known| text.starts_with(known) && text.len() > known.len());
    fitting.map(str::len).max().unwrap_or(0)
}

/// Every letter and digit becomes another of its sort, and what is written in hexadecimal digits stays so.
fn disguised(text: &str, chance: &mut Chance) -> String {
    let letters = || text.chars().filter(|letter| letter.is_ascii_alphabetic());
    let hexadecimal = letters().all(|letter| letter.is_ascii_hexdigit());
    let few = text.chars().filter(|letter| letter.is_alphanumeric()).count() < FEW_LETTERS;
    let mut kept = 0;
    let mut escaped = false;
    let mut pick = |from: &str| char::from(from.as_bytes()[chance.below(from.len())]);
    text.chars()
        .map(|letter| {
            // `\n` in a JSON text is one sign.
            let is_escape = escaped;
            escaped = letter == '\\' && !is_escape;
            let other = match letter {
                _ if is_escape => letter,
                '0'..='9' => pick("0123456789"),
                'a'..='z' if hexadecimal => pick("abcdef"),
                'A'..='Z' if hexadecimal => pick("ABCDEF"),
                'a'..='z' => pick("abcdefghijklmnopqrstuvwxyz"),
                'A'..='Z' => pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                _ if letter.is_ascii() && letter != '\\' && !letter.is_whitespace() => {
                    kept += 1;
                    if few || kept >= MOST_IN_A_ROW - 1 { pick("!*-_.~") } else { letter }
                }
                _ if letter.is_alphanumeric() => sibling(letter, &mut pick),
                _ => letter,
            };
            if letter.is_alphanumeric() {
                kept = 0;
            }
            other
        })
        .collect()
}

/// A letter of the same length in bytes from the same corner of the alphabet.
fn sibling(letter: char, pick: &mut impl FnMut(&str) -> char) -> char {
    let shift = 1 + (pick("0123456789") as u32 - '0' as u32);
    let candidates = (0..16).filter_map(|step| char::from_u32((letter as u32 ^ shift) + step));
    let alike = |other: &char| {
        *other != letter
            && other.len_utf8() == letter.len_utf8()
            && other.is_alphabetic() == letter.is_alphabetic()
            && other.is_lowercase() == letter.is_lowercase()
            && other.is_uppercase() == letter.is_uppercase()
    };
    let mut candidates = candidates.filter(alike);
    candidates.next().unwrap_or(letter)
}

/// Whether a look-alike holds so much of the original in a row that it tells something.
fn shares(original: &str, other: &str) -> bool {
    if original == other {
        return true;
    }
    let letters: Vec<char> = original.chars().take(MAX_CHECKED).collect();
    let other: Vec<char> = other.chars().take(MAX_CHECKED).collect();
    let known: std::collections::BTreeSet<&[char]> = letters.windows(MOST_IN_A_ROW).collect();
    other.windows(MOST_IN_A_ROW).any(|window| known.contains(window))
}

/// Numbers that a seed, a name and the number of the try decide: each name has look-alikes of its own.
struct Chance(blake3::OutputReader);

impl Chance {
    fn new(seed: u64, name: &str, number: u64) -> Chance {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes()).update(&number.to_le_bytes()).update(name.as_bytes());
        Chance(hasher.finalize_xof())
    }

    fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imitated(name: &str, value: &str) -> String {
        imitate(name, value, 7).map_or_else(|| value.to_owned(), |imitation| imitation.value)
    }

    #[test]
    fn variables_that_hold_no_secret_are_left_as_they_are() {
        for (name, value) in [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/ada"),
            ("LANG", "en_GB.UTF-8"),
            ("PWD", "/srv/work"),
            ("SSH_AUTH_SOCK", "/tmp/agent.1"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/passwd"),
            ("SSL_KEY", "./keys/server.key"),
            ("GIT_AUTH", "false"),
            ("KEY_TIMEOUT", "1500000"),
            ("AUTH_URL", "https://login.example.com/realms/main"),
            ("DATABASE_URL", "postgres://postgres@localhost/app"),
            ("TOKEN", "abc"),
            ("EDITOR", "vim"),
            ("TERM_PROGRAM_VERSION", "3.5.0beta12"),
            ("GITHUB_SHA", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"),
        ] {
            assert_eq!(imitate(name, value, 7), None, "{name}");
        }
    }

    #[test]
    fn a_secret_keeps_its_beginning_its_length_and_its_sorts_of_characters() {
        for (name, value, beginning) in [
            ("GITHUB_TOKEN", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_"),
            ("ANYTHING", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_"),
            ("OPENAI_API_KEY", "sk-proj-abcDEF123456abcDEF123456", "sk-proj-"),
            ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", "AKIA"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""),
            ("API_TOKEN", "Bearer 0123456789abcdef", "Bearer "),
            ("DB_PASSWORD", "correct horse", ""),
            ("MY_PASSWORD", "пароль-секрет", ""),
            ("MY_SECRET", "!?!?!?!?!?", ""),
        ] {
            let other = imitated(name, value);
            assert_ne!(other, value, "{name}");
            assert!(other.starts_with(beginning), "{name}: {other}");
            assert_eq!(other.len(), value.len(), "{name}: {other}");
        }
        let hexadecimal = imitated("API_KEY", "9f86d081884c7d65");
        assert!(hexadecimal.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hexadecimal}");
    }

    #[test]
    fn of_an_address_only_the_password_and_keys_are_other() {
        let other = imitated("DATABASE_URL", "postgres://ada:hunter22@db.internal:5432/app?sslmode=on");
        assert!(other.starts_with("postgres://ada:"), "{other}");
        assert!(
            other.ends_with("@db.internal:5432/app?sslmode=on") && !other.contains("hunter22"),
            "{other}"
        );
        let other = imitated("FEED", "https://host/hooks/T0123456789abcdef0123456/x?token=abcdef123");
        assert!(
            other.starts_with("https://host/hooks/T") || other.starts_with("https://host/hooks/"),
            "{other}"
        );
        assert!(
            !other.contains("abcdef123") && other.ends_with(|letter: char| letter.is_ascii_digit()),
            "{other}"
        );
    }

    #[test]
    fn of_a_document_only_what_goes_under_a_name_to_keep_is_other() {
        let other = imitated("CONNECTION", "Server=db;User Id=sa;Password=hunter22;Port=1");
        assert!(other.starts_with("Server=db;User Id=sa;Password=") && other.ends_with(";Port=1"), "{other}");
        assert!(!other.contains("hunter22"), "{other}");
        let account = r#"{"type":"service_account","private_key_id":"0123456789abcdef","client":"ada"}"#;
        let other = imitated("GOOGLE_CREDENTIALS", account);
        assert!(other.starts_with(r#"{"type":"service_account","private_key_id":""#), "{other}");
        assert!(other.ends_with(r#"","client":"ada"}"#) && !other.contains("0123456789abcdef"), "{other}");
        let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END PRIVATE KEY-----\n";
        let other = imitated("APP_PRIVATE_KEY", key);
        assert!(other.starts_with("-----BEGIN PRIVATE KEY-----\n"), "{other}");
        assert!(other.ends_with("\n-----END PRIVATE KEY-----\n") && !other.contains("MIIEvQ"), "{other}");
    }

    #[test]
    fn the_seed_and_the_name_decide_and_not_the_original() {
        let made = |name, value, seed| imitate(name, value, seed).unwrap().value;
        assert_eq!(made("API_KEY", "abcdefgh12345678", 1), made("API_KEY", "abcdefgh12345678", 1));
        assert_eq!(made("API_KEY", "abcdefgh12345678", 1), made("API_KEY", "zyxwvuts98765432", 1));
        assert_ne!(made("API_KEY", "abcdefgh12345678", 1), made("API_KEY", "abcdefgh12345678", 2));
        assert_ne!(made("API_KEY", "abcdefgh12345678", 1), made("OTHER_KEY", "abcdefgh12345678", 1));
    }

    #[test]
    fn a_look_alike_has_the_make_of_the_original_and_nothing_of_it() {
        let signs: Vec<char> = "ABCXYZabcxyz0123456789_/+=.~!@#$%^&*()äßλж-".chars().collect();
        let sort = |letter: char| {
            (letter.is_ascii_digit(), letter.is_lowercase(), letter.is_uppercase(), letter.len_utf8())
        };
        for seed in 0..3_000 {
            let mut chance = Chance::new(seed, "originals", 0);
            let length = 6 + chance.below(80);
            let rest: String = (0..length).map(|_| signs[chance.below(signs.len())]).collect();
            let beginnings = ["", "ghp_", "sk-", "AKIA", "xoxb-", "glpat-"];
            let value = format!("{}{rest}", beginnings[chance.below(beginnings.len())]);
            let other = look_alike(&value, "API_KEY/0", seed);
            let known = beginning(&value);
            assert_eq!(other.len(), value.len(), "{value} {other}");
            assert_eq!(other[..known], value[..known], "{value} {other}");
            assert!(value.chars().map(sort).eq(other.chars().map(sort)), "{value} {other}");
            assert_ne!(other, value);
            let letters: Vec<char> = value[known..].chars().collect();
            for window in letters.windows(MOST_IN_A_ROW) {
                let window: String = window.iter().collect();
                assert!(!other[known..].contains(&window), "{window} of {value} is in {other}");
            }
        }
    }
}
