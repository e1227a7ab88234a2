//! Keeps the last bytes of what a server writes to stderr.

use std::collections::VecDeque;

/// What the process wrote to stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stderr {
    /// The last bytes, at most [`Spec::stderr_keep`](crate::Spec::stderr_keep).
    pub tail: Vec<u8>,
    /// How many bytes were written in all.
    pub total: u64,
}

#[derive(Debug)]
pub(crate) struct Tail {
    keep: usize,
    bytes: VecDeque<u8>,
    total: u64,
}

impl Tail {
    pub(crate) fn new(keep: usize) -> Self {
        Self { keep, bytes: VecDeque::new(), total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.keep)..];
        let too_many = (self.bytes.len() + bytes.len()).saturating_sub(self.keep);
        self.bytes.drain(..too_many);
        self.bytes.extend(bytes);
    }

    pub(crate) fn copy(&self) -> Stderr {
        Stderr { tail: self.bytes.iter().copied().collect(), total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(keep: usize, pushes: &[&[u8]]) -> Stderr {
        let mut tail = Tail::new(keep);
        pushes.iter().for_each(|bytes| tail.push(bytes));
        tail.copy()
    }

    #[test]
    fn only_the_last_bytes_are_kept_and_all_are_counted() {
        assert_eq!(kept(4, &[b"abc", b"def"]), Stderr { tail: b"cdef".to_vec(), total: 6 });
        assert_eq!(kept(4, &[b"a", b"bcdefgh"]), Stderr { tail: b"efgh".to_vec(), total: 8 });
        assert_eq!(kept(4, &[b"ab", b""]), Stderr { tail: b"ab".to_vec(), total: 2 });
    }

    #[test]
    fn a_tail_of_nothing_still_counts() {
        assert_eq!(kept(0, &[b"abc"]), Stderr { tail: Vec::new(), total: 3 });
    }
}
