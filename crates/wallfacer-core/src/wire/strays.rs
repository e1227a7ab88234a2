//! What a server said that answers nothing: counted by fault, with the beginning of the first few.

use std::collections::BTreeMap;

use super::fault::{Fault, Faults};
use super::message::Incoming;

/// Examples kept between two looks; the counts go on.
const MAX_EXAMPLES: usize = 16;
/// What is kept of each example.
const EXAMPLE_BYTES: usize = 512;

/// Strays since they were last taken.
#[derive(Debug, Clone, Default)]
pub struct Strays {
    pub counts: BTreeMap<Fault, u64>,
    pub examples: Vec<Stray>,
}

/// The beginning of one stray frame.
#[derive(Debug, Clone)]
pub struct Stray {
    pub faults: Faults,
    pub head: Vec<u8>,
}

impl Strays {
    pub fn add(&mut self, incoming: &Incoming, extra: Option<Fault>) {
        let mut faults = incoming.faults.clone();
        if let Some(fault) = extra {
            faults.add(fault);
        }
        for fault in faults.iter() {
            *self.counts.entry(fault).or_default() += 1;
        }
        if self.examples.len() < MAX_EXAMPLES {
            let head = incoming.bytes[..incoming.bytes.len().min(EXAMPLE_BYTES)].to_vec();
            self.examples.push(Stray { faults, head });
        }
    }

    pub fn add_all(&mut self, others: Strays) {
        for (fault, count) in others.counts {
            *self.counts.entry(fault).or_default() += count;
        }
        let room = MAX_EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(others.examples.into_iter().take(room));
    }

    /// Takes back the newest strays of one fault, once they have turned out to be something else.
    pub fn forget(&mut self, fault: Fault, mut how_many: u64) {
        if let Some(count) = self.counts.get_mut(&fault) {
            *count = count.saturating_sub(how_many);
            if *count == 0 {
                self.counts.remove(&fault);
            }
        }
        while how_many > 0 && self.examples.last().is_some_and(|stray| stray.faults.has(fault)) {
            self.examples.pop();
            how_many -= 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        self.counts.keys().for_each(|fault| faults.add(*fault));
        faults
    }
}

/// Recognises one message that was written over several lines, as a pretty-printer does.
#[derive(Debug, Default)]
pub struct SplitLines {
    gathered: Vec<u8>,
    lines: u64,
}

/// Lines are gathered up to this size; beyond it they are plain noise.
const MAX_GATHERED: usize = 1 << 20;

impl SplitLines {
    /// Takes one line that was no message of its own; gives the message that it completes.
    pub fn add(&mut self, line: &[u8], max_depth: usize) -> Option<Incoming> {
        if self.gathered.is_empty() {
            self.lines = 0;
            if line.trim_ascii_start().first() != Some(&b'{') {
                return None;
            }
        }
        if self.gathered.len() + line.len() > MAX_GATHERED {
            self.gathered.clear();
            return None;
        }
        self.gathered.extend_from_slice(line);
        self.gathered.push(b'\n');
        self.lines += 1;
        // Only a line that ends with the outermost brace can complete it; trying at each line would be quadratic.
        if line.trim_ascii_end() != b"}" && !line.ends_with(b"}}") {
            return None;
        }
        let whole = Incoming::read(bytes::Bytes::copy_from_slice(&self.gathered), max_depth);
        if whole.faults.has(Fault::NotJson) {
            return None;
        }
        self.gathered.clear();
        Some(whole)
    }

    /// How many lines the message had that was completed last.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    pub fn reset(&mut self) {
        self.gathered.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pretty_printed_message_is_put_together_again() {
        let text = serde_json::to_string_pretty(&serde_json::json!({
            "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "a": {} }] }
        }));
        let text = text.unwrap();
        let mut split = SplitLines::default();
        let whole: Vec<_> = text.lines().filter_map(|line| split.add(line.as_bytes(), 64)).collect();
        assert_eq!(whole.len(), 1);
        assert!(whole[0].faults.is_empty());
    }

    #[test]
    fn plain_text_is_not_gathered() {
        let mut split = SplitLines::default();
        assert!(split.add(b"Server started }", 64).is_none());
        assert!(split.gathered.is_empty());
    }

    #[test]
    fn strays_that_were_something_else_are_forgotten() {
        let mut strays = Strays::default();
        for line in ["{", "}"] {
            strays.add(&Incoming::read(line.into(), 8), None);
        }
        strays.forget(Fault::NotJson, 2);
        assert!(strays.is_empty() && strays.examples.is_empty());
    }

    #[test]
    fn strays_are_counted_beyond_the_examples() {
        let mut strays = Strays::default();
        for _ in 0..100 {
            strays.add(&Incoming::read("noise".into(), 8), None);
        }
        assert_eq!(strays.counts[&Fault::NotJson], 100);
        assert_eq!(strays.examples.len(), MAX_EXAMPLES);
    }
}
