//! Finds the content of a canary among bytes: as it stands, in base64 or in hexadecimal.

use std::collections::BTreeMap;
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
        Tokens { any, owners }
    }

    /// The canary that the first token among these bytes comes from.
    pub fn find(&self, bytes: &[u8]) -> Option<&Path> {
        let found = self.any.as_ref()?.find(bytes)?;
        self.owners.get(found.as_bytes()).map(PathBuf::as_path)
    }
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
}
