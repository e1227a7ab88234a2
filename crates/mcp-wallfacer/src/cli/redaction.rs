//! Text in, the same text without the target's secrets out: the last gate before anything is written, because a server
//! may repeat what it was given.

use std::collections::BTreeSet;
use std::io::{self, Write};

use wallfacer_core::target::REDACTED;

use crate::exit::Failure;

/// Stands where the words of a server were cut.
const CUT: &str = "…";
/// A shorter beginning of a secret tells nothing, and would be found in ordinary words.
const SHORTEST_BEGINNING: usize = 4;

/// What must not be written.
#[derive(Clone)]
pub struct Redaction {
    /// The longest first, so that no rest of one is left where another begins alike.
    secrets: Vec<String>,
}

impl Redaction {
    pub fn new(secrets: BTreeSet<String>) -> Redaction {
        let in_json: Vec<String> = secrets.iter().map(|secret| as_in_json(secret)).collect();
        let all: BTreeSet<String> = secrets.into_iter().chain(in_json).collect();
        let mut secrets: Vec<String> = all.into_iter().collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Redaction { secrets }
    }

    /// The text without the secrets, and without what a cut left of one.
    pub fn of(&self, text: &str) -> String {
        let whole = self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED));
        let mut pieces: Vec<String> = whole.split(CUT).map(str::to_owned).collect();
        let cut = pieces.len() - 1;
        pieces[..cut].iter_mut().for_each(|piece| self.trim_beginning(piece));
        pieces.join(CUT)
    }

    pub fn of_failure(&self, failure: Failure) -> Failure {
        Failure { message: self.of(&failure.message), ..failure }
    }

    fn trim_beginning(&self, piece: &mut String) {
        let left = |secret: &String| {
            let ends = secret.char_indices().map(|(end, _)| end).rev();
            ends.take_while(|end| *end >= SHORTEST_BEGINNING).find(|end| piece.ends_with(&secret[..*end]))
        };
        if let Some(length) = self.secrets.iter().filter_map(left).max() {
            piece.replace_range(piece.len() - length.., REDACTED);
        }
    }
}

impl std::fmt::Debug for Redaction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redaction").finish_non_exhaustive()
    }
}

/// A writer that keeps everything back until it is flushed, so that no secret passes in two halves.
#[derive(Debug)]
pub struct Redacted<W> {
    out: W,
    redaction: Redaction,
    kept: Vec<u8>,
}

impl<W> Redacted<W> {
    pub fn new(out: W, redaction: &Redaction) -> Redacted<W> {
        Redacted { out, redaction: redaction.clone(), kept: Vec::new() }
    }
}

impl<W: Write> Write for Redacted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let kept = std::mem::take(&mut self.kept);
        self.out.write_all(self.redaction.of(&String::from_utf8_lossy(&kept)).as_bytes())?;
        self.out.flush()
    }
}

/// The text as it stands between the quotes of a JSON document.
fn as_in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(secrets: &[&str]) -> Redaction {
        Redaction::new(secrets.iter().map(|secret| secret.to_string()).collect())
    }

    #[test]
    fn a_secret_is_gone_wherever_it_stands() {
        let redaction = redaction(&["hunter22", "hunter22-and-more"]);
        assert_eq!(redaction.of("a hunter22-and-more, hunter22."), "a [redacted], [redacted].");
    }

    #[test]
    fn a_secret_that_json_escapes_is_gone_too() {
        assert_eq!(redaction(&["pass\"word"]).of(r#"{"a": "pass\"word"}"#), r#"{"a": "[redacted]"}"#);
    }

    #[test]
    fn the_beginning_of_a_secret_before_a_cut_is_gone() {
        let redaction = redaction(&["hunter22"]);
        assert_eq!(redaction.of("token hunter2… and hunt…"), "token [redacted]… and [redacted]…");
        assert_eq!(redaction.of("hun… hunter"), "hun… hunter");
    }

    #[test]
    fn a_secret_written_in_two_halves_does_not_pass() {
        let mut out = Vec::new();
        let mut redacted = Redacted::new(&mut out, &redaction(&["hunter22"]));
        redacted.write_all(b"a hunt").unwrap();
        redacted.write_all(b"er22\n").unwrap();
        redacted.flush().unwrap();
        assert_eq!(out, b"a [redacted]\n");
    }
}
