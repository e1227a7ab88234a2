//! Encoded content: JSON text and base64.

use crate::choices::Choices;

const DOCUMENTS: [&str; 4] = ["{}", "[1, 2]", "{\"name\": \"example\"}", "null"];
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn json(choices: &mut Choices) -> String {
    DOCUMENTS[choices.index(DOCUMENTS.len())].to_owned()
}

pub(super) fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(bytes).is_ok()
}

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place)) & 63;
            text.push(if place <= group.len() { char::from(ALPHABET[index as usize]) } else { '=' });
        }
    }
    text
}

/// Only the canonical form with padding.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let digits = group.iter().take_while(|&&byte| byte != b'=').count();
        if group.len() != 4 || digits < 2 || group[digits..].iter().any(|&byte| byte != b'=') {
            return None;
        }
        let mut bits = 0_u32;
        for &byte in &group[..digits] {
            bits = bits << 6 | ALPHABET.iter().position(|&known| known == byte)? as u32;
        }
        bits <<= 6 * (4 - digits);
        bytes.extend_from_slice(&bits.to_be_bytes()[1..digits]);
    }
    (encode(&bytes) == text).then_some(bytes)
}
