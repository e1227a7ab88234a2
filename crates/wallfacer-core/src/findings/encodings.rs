//! The usual ways to write a secret other than letter by letter: hexadecimal, base64, backwards.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::escapes::unescape;

/// A shorter form would be found where no secret is.
const SHORTEST_FORM: usize = 6;
/// Lines of a secret that has several, such as a private key, are told one by one; a shorter one tells nothing.
const SHORTEST_LINE: usize = 16;
/// Layers of escapes that are undone: a URL within JSON within JSON has three.
pub const LAYERS: usize = 3;

/// All forms of a secret beside itself. Escapes are none of them: those are undone in what is searched.
pub fn encodings(secret: &str) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
    let parts: Vec<&str> = std::iter::once(secret).chain(lines.filter(|line| *line != secret)).collect();
    for part in parts {
        forms.push(part.as_bytes().to_vec());
        forms.push(part.replace(' ', "+").into_bytes());
        // A report puts a text on one line.
        forms.push(part.replace(['\n', '\r', '\t'], " ").into_bytes());
        forms.push(part.chars().rev().collect::<String>().into_bytes());
        forms.extend(hexadecimal(part.as_bytes()));
        forms.extend(base64(part.as_bytes()));
    }
    // A secret that itself looks escaped must match in a text whose escapes are undone.
    let mut meant = secret.as_bytes().to_vec();
    for _ in 0..LAYERS {
        let Some(undone) = unescape(&meant) else { break };
        meant = undone.bytes;
        forms.push(meant.clone());
    }
    forms.retain(|form| form.len() >= SHORTEST_FORM && form != secret.as_bytes());
    forms.sort();
    forms.dedup();
    forms
}

fn hexadecimal(secret: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let bytes: Vec<String> = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    ["", ":", " ", "-"].into_iter().map(move |between| bytes.join(between).into_bytes())
}

/// The letters that depend on the secret alone, wherever it stands among other bytes: of three bytes base64 makes four
/// letters, so there are three ways to come to stand.
fn base64(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let bytes = [&vec![0; before][..], secret].concat();
        let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            forms.push(encoded.as_bytes()[first..last].to_vec());
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_known_whatever_stands_around_it() {
        let secret = "s3cr?t>pässword";
        let forms = encodings(secret);
        for before in ["", "u", "us", "user:", "ada:"] {
            for behind in ["", "x", "xy", "xyz"] {
                let whole = format!("{before}{secret}{behind}");
                for encoded in [STANDARD_NO_PAD.encode(&whole), URL_SAFE_NO_PAD.encode(&whole)] {
                    let holds = |form: &Vec<u8>| memchr::memmem::find(encoded.as_bytes(), form).is_some();
                    let longest = forms.iter().filter(|form| holds(form)).map(Vec::len).max();
                    assert!(longest >= Some(secret.len() * 8 / 6 - 2), "{encoded}: {longest:?}");
                }
            }
        }
    }

    #[test]
    fn each_line_of_a_long_secret_is_one() {
        let key = "-----BEGIN PRIVATE KEY-----\nMIIBVQIBADANBgkqhkiG9w0B\nAQEF\n-----END PRIVATE KEY-----\n";
        let forms = encodings(key);
        assert!(forms.contains(&b"MIIBVQIBADANBgkqhkiG9w0B".to_vec()));
        assert!(!forms.contains(&b"AQEF".to_vec()));
    }
}
