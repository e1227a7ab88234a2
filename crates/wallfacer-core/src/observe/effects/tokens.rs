//! Finds the content of a canary among bytes: as it stands, in base64 or in hexadecimal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::bytes::Regex;
use wallfacer_process::jail::Canary;

/// Shorter pieces would turn up by chance.
const SHORTEST: usize = 12;

/// What is planted, ready to be looked for.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    /// None where nothing is planted.
    any: Option<Regex>,
    owners: BTreeMap<Vec<u8>, PathBuf>,
    contents: BTreeMap<PathBuf, Vec<u8>>,
}

impl Tokens {
    pub fn new(canaries: &[Canary]) -> Tokens {
        let mut owners = BTreeMap::new();
        for canary in canaries {
            for token in &canary.tokens {
                owners.extend(forms(token).into_iter().map(|form| (form, canary.path.clone())));
            }
        }
        let literals: Vec<String> =
            owners.keys().map(|form| regex::escape(&String::from_utf8_lossy(form))).collect();
        let any = Some(literals).filter(|list| !list.is_empty());
        let any = any.map(|list| Regex::new(&list.join("|")).expect("escaped texts make an expression"));
        let contents = canaries.iter().map(|canary| (canary.path.clone(), canary.content.clone())).collect();
        Tokens { any, owners, contents }
    }

    /// The canary that the first token among these bytes comes from.
    pub fn find(&self, bytes: &[u8]) -> Option<&Path> {
        let found = self.any.as_ref()?.find(bytes)?;
        self.owners.get(found.as_bytes()).map(PathBuf::as_path)
    }

    /// Those of these canaries of which any piece is among the bytes: as it stands, in hexadecimal or in base64.
    pub fn parts_of(&self, bytes: &[u8], read: &BTreeSet<&Path>) -> BTreeSet<&Path> {
        let bytes = &bytes[..bytes.len().min(MAX_SEARCHED)];
        let texts = [bytes.to_vec()].into_iter().chain(decoded(bytes)).collect::<Vec<_>>();
        let shows = |content: &[u8]| {
            let pieces: BTreeSet<&[u8]> = content.windows(PART).collect();
            texts.iter().any(|text| text.windows(PART).any(|window| pieces.contains(window)))
        };
        let of_read = self.contents.iter().filter(|(path, _)| read.contains(path.as_path()));
        of_read.filter(|(_, content)| shows(content)).map(|(path, _)| path.as_path()).collect()
    }

    /// Every canary that a token among these bytes comes from.
    pub fn find_all(&self, bytes: &[u8]) -> BTreeSet<&Path> {
        let found = self.any.iter().flat_map(|any| any.find_iter(bytes)).take(MAX_FOUND);
        found.filter_map(|found| self.owners.get(found.as_bytes()).map(PathBuf::as_path)).collect()
    }
}

/// A piece of this length is known for what it is, where the file that it is from was just read.
const PART: usize = 16;
/// What of a text is looked through for pieces.
const MAX_SEARCHED: usize = 64 << 10;

/// Canaries that are told of one text.
const MAX_FOUND: usize = 64;

/// What runs of hexadecimal digits and of base64 stand for. Base64 is read from each of four places, for nobody knows
/// where it began.
fn decoded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let runs = bytes.split(|byte| !is_letter(byte)).filter(|run| run.len() >= PART);
    let mut texts = Vec::new();
    for run in runs {
        if run.iter().all(u8::is_ascii_hexdigit) {
            texts.extend([0, 1].map(|start| hexadecimal(&run[start..])));
        }
        let plain: Vec<u8> = run
            .iter()
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => *byte,
            })
            .collect();
        for start in 0..4 {
            let whole = &plain[start..start + (plain.len() - start) / 4 * 4];
            texts.extend(STANDARD_NO_PAD.decode(whole));
        }
    }
    texts
}

fn hexadecimal(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
    digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect()
}

/// The ways in which a token is written. In base64 its letters depend on where it begins; those at its edges also on
/// what stands beside it, and are left out.
fn forms(token: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![token.as_bytes().to_vec()];
    for lead in 0..3_usize {
        let padded = [&vec![0; lead][..], token.as_bytes()].concat();
        let encoded = STANDARD_NO_PAD.encode(padded);
        let whole = (token.len() + lead) / 3 * 4;
        let begin = (lead * 8).div_ceil(6);
        forms.push(encoded.as_bytes()[begin..whole].to_vec());
    }
    forms.push(token.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect());
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use wallfacer_process::jail::canaries;

    #[test]
    fn a_token_is_found_plain_and_encoded_wherever_it_stands() {
        let canaries = canaries(Path::new("/home/u"), 3);
        let tokens = Tokens::new(&canaries);
        for canary in &canaries {
            for token in &canary.tokens {
                let plain = format!("body={token}&x");
                let hexadecimal: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
                let encoded =
                    ["", "a", "ab"].map(|lead| STANDARD_NO_PAD.encode(format!("{lead}{token}tail")));
                for text in encoded.into_iter().chain([plain, hexadecimal]) {
                    assert_eq!(tokens.find(text.as_bytes()), Some(canary.path.as_path()), "{text}");
                }
            }
        }
        assert_eq!(tokens.find(b"nothing of the sort"), None);
        assert_eq!(Tokens::default().find(b"anything"), None);
    }

    #[test]
    fn a_piece_of_what_was_read_is_known_and_one_of_what_was_not_is_not() {
        let canaries = canaries(Path::new("/home/u"), 3);
        let tokens = Tokens::new(&canaries);
        let key = &canaries[0];
        let read: BTreeSet<&Path> = [key.path.as_path()].into();
        let piece = &key.content[..32];
        let hexadecimal: String = piece.iter().map(|byte| format!("{byte:02x}")).collect();
        let encoded = ["", "a", "ab"].map(|lead| STANDARD_NO_PAD.encode([lead.as_bytes(), piece].concat()));
        let plain = String::from_utf8_lossy(piece).into_owned();
        for text in encoded.into_iter().chain([hexadecimal, plain]) {
            let sent = format!("{{\"x\":\"{text}\"}}");
            assert_eq!(tokens.parts_of(sent.as_bytes(), &read), read, "{sent}");
            assert!(tokens.parts_of(sent.as_bytes(), &BTreeSet::new()).is_empty());
        }
        assert!(tokens.parts_of(b"nothing that stands in any of these", &read).is_empty());
    }

    #[test]
    fn every_secret_among_the_bytes_is_told() {
        let canaries = canaries(Path::new("/home/u"), 3);
        let both = format!("{} {}", canaries[3].tokens[0], canaries[4].tokens[0]);
        let wanted: BTreeSet<&Path> = [canaries[3].path.as_path(), canaries[4].path.as_path()].into();
        assert_eq!(Tokens::new(&canaries).find_all(both.as_bytes()), wanted);
    }
}
