//! The usual ways to write a secret other than letter by letter: hexadecimal, base64, base32, backwards, as a list of numbers,
//! as UTF-16.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::escapes::unescape;

/// A shorter form would be found where no secret is.
const SHORTEST_FORM: usize = 6;
/// Lines of a secret that has several, such as a private key, are told one by one; a shorter one tells nothing.
const SHORTEST_LINE: usize = 16;
/// Layers of escapes that are undone: a URL within JSON within JSON has three.
pub const LAYERS: usize = 3;
/// Pieces that one form of a secret is cut into: of a longer one, such as a private key, not every place begins one.
const MOST_PIECES: usize = 256;
/// How much of a secret gives it away, in bytes.
const GIVES_AWAY: usize = 16;
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

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
        forms.extend(numbers(part.as_bytes()));
        forms.push(wide(part.as_bytes()));
        forms.extend(base64(part.as_bytes()));
        forms.extend(base32(part.as_bytes()));
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

/// The same forms, each cut into pieces of which one is enough to give the secret away: all of a short secret, of a
/// longer one any sixteen bytes in a row.
pub fn pieces(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let enough = bytes.len().min(GIVES_AWAY);
    let backwards: Vec<u8> = bytes.iter().rev().copied().collect();
    let mut forms = vec![(bytes.to_vec(), enough), (backwards, enough)];
    let spaced = |form: &[u8]| form.len() > bytes.len() * 2;
    forms.extend(hexadecimal(bytes).map(|form| {
        let least = if spaced(&form) { enough * 3 - 1 } else { enough * 2 };
        (form, least)
    }));
    // Letters at the edges depend on what stands beside them.
    forms.extend(base64(bytes).into_iter().map(|form| (form, (enough * 8 / 6).saturating_sub(1))));
    forms.extend(base32(bytes).map(|form| (form, (enough * 8 / 5).saturating_sub(1))));
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for (form, least) in forms {
        let least = least.min(form.len());
        let step = form.len().div_ceil(MOST_PIECES).max(1);
        pieces.extend(form.windows(least.max(1)).step_by(step).map(<[u8]>::to_vec));
    }
    pieces.retain(|piece| piece.len() >= SHORTEST_FORM);
    pieces.sort();
    pieces.dedup();
    pieces
}

fn hexadecimal(secret: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let bytes: Vec<String> = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    ["", ":", " ", "-"].into_iter().map(move |between| bytes.join(between).into_bytes())
}

/// As programming languages print an array of bytes.
fn numbers(secret: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let bytes: Vec<String> = secret.iter().map(u8::to_string).collect();
    [",", ", "].into_iter().map(move |between| bytes.join(between).into_bytes())
}

/// ASCII letters as UTF-16. Without the last zero byte this is found in either byte order.
fn wide(secret: &[u8]) -> Vec<u8> {
    let mut wide: Vec<u8> = secret.iter().flat_map(|byte| [*byte, 0]).collect();
    wide.pop();
    wide
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

/// The same for base32, which makes eight letters of five bytes.
fn base32(secret: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..5).map(move |before| {
        let bytes = [&vec![0; before][..], secret].concat();
        let (first, last) = ((before * 8).div_ceil(5), bytes.len() * 8 / 5);
        let letters = (first..last).map(|letter| {
            let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
            let value = (letter * 5..letter * 5 + 5).fold(0, |value, at| value << 1 | bit(at));
            BASE32[usize::from(value)]
        });
        letters.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_known_whatever_stands_around_it() {
        // As `base32` of the coreutils writes it.
        let forms: Vec<Vec<u8>> = base32(b"hunter2hunter2").collect();
        assert_eq!(forms[0], b"NB2W45DFOIZGQ5LOORSXEM");
        for before in ["", "u", "us", "use", "user", "user:"] {
            let whole = format!("{before}hunter2hunter2tail");
            let encoded = base32(whole.as_bytes()).next().unwrap();
            assert!(forms.iter().any(|form| memchr::memmem::find(&encoded, form).is_some()), "{before}");
        }
    }

    #[test]
    fn sixteen_bytes_of_a_secret_give_it_away_however_they_are_written() {
        let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        let pieces = pieces(secret);
        let gives_away =
            |text: &str| pieces.iter().any(|piece| memchr::memmem::find(text.as_bytes(), piece).is_some());
        for start in 0..secret.len() - 16 {
            let part = &secret[start..start + 16];
            assert!(gives_away(part) && gives_away(&part.chars().rev().collect::<String>()));
            let hexadecimal: Vec<String> = part.bytes().map(|byte| format!("{byte:02x}")).collect();
            assert!(gives_away(&hexadecimal.concat()) && gives_away(&hexadecimal.join(":")), "{part}");
            for before in ["", "u", "us"] {
                assert!(gives_away(&STANDARD_NO_PAD.encode(format!("{before}{part}"))), "{part}");
            }
            assert!(!gives_away(&part[..15]), "{part}");
        }
        assert!(super::pieces("short-one").contains(&b"short-one".to_vec()));
    }

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
