//! Every frame of a conversation, both ways, as it was: when, where, how long, and its bytes up to a bound.

use std::collections::VecDeque;
use std::time::Duration;

use super::fault::Faults;
use crate::target::Bounds;

/// One frame, sent or received.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Time since the connection was opened.
    pub at: Duration,
    pub direction: Direction,
    pub stream: Stream,
    /// The beginning of the frame, up to the bound.
    pub head: Vec<u8>,
    /// The length of the whole frame.
    pub length: u64,
    /// Hash of the whole frame, where `head` is not all of it.
    pub hash: Option<blake3::Hash>,
    pub faults: Faults,
    pub correlation: Correlation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Sent,
    Received,
}

/// Where a frame travelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdio,
    /// The body of an HTTP exchange, by its number.
    Http(u64),
    /// One event of the event stream of an HTTP exchange.
    Event(u64),
}

/// What a frame belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correlation {
    /// A request of ours, or the reply to it.
    Request(i64),
    /// A request of the server, or our answer to it.
    ServerRequest,
    Notification,
    /// Sent as raw bytes, or received and matching nothing.
    None,
}

/// The frames of one connection: the newest, up to a bound, and a count of all.
#[derive(Debug)]
pub struct FrameLog {
    frames: VecDeque<Frame>,
    max_frames: usize,
    max_bytes: usize,
    total: u64,
}

impl FrameLog {
    pub fn new(bounds: &Bounds) -> FrameLog {
        FrameLog {
            frames: VecDeque::new(),
            max_frames: bounds.frames_kept,
            max_bytes: bounds.frame_bytes_kept,
            total: 0,
        }
    }

    pub(super) fn add(
        &mut self,
        at: Duration,
        direction: Direction,
        stream: Stream,
        bytes: &[u8],
        faults: Faults,
        correlation: Correlation,
    ) {
        self.total += 1;
        if self.max_frames == 0 {
            return;
        }
        let kept = bytes.len().min(self.max_bytes);
        let hash = (kept < bytes.len()).then(|| blake3::hash(bytes));
        let mut head = self.room();
        head.reserve_exact(kept);
        head.extend_from_slice(&bytes[..kept]);
        let length = bytes.len() as u64;
        self.frames.push_back(Frame { at, direction, stream, head, length, hash, faults, correlation });
    }

    /// Room for a head: that of the oldest frame where it has to give way, so that a long conversation allocates nothing.
    fn room(&mut self) -> Vec<u8> {
        if self.frames.len() < self.max_frames {
            return Vec::new();
        }
        let mut room = self.frames.pop_front().map(|oldest| oldest.head).unwrap_or_default();
        room.clear();
        room
    }

    /// The frames still kept, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        self.frames.iter()
    }

    /// How many frames there were in all, kept or not.
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(max_frames: usize, max_bytes: usize) -> FrameLog {
        FrameLog::new(&Bounds { frames_kept: max_frames, frame_bytes_kept: max_bytes, ..Bounds::default() })
    }

    fn add(log: &mut FrameLog, bytes: &[u8]) {
        let faults = Faults::default();
        log.add(Duration::ZERO, Direction::Received, Stream::Stdio, bytes, faults, Correlation::None);
    }

    #[test]
    fn a_long_frame_keeps_its_beginning_its_length_and_its_hash() {
        let mut log = log(4, 3);
        add(&mut log, b"abcdef");
        let frame = log.iter().next().unwrap();
        assert_eq!((&*frame.head, frame.length), (b"abc".as_slice(), 6));
        assert_eq!(frame.hash, Some(blake3::hash(b"abcdef")));
    }

    #[test]
    fn the_oldest_frames_give_way_and_all_are_counted() {
        let mut log = log(2, 8);
        for bytes in [b"1", b"2", b"3"] {
            add(&mut log, bytes);
        }
        let kept: Vec<_> = log.iter().map(|frame| &*frame.head).collect();
        assert_eq!(kept, [b"2", b"3"]);
        assert_eq!(log.total(), 3);
    }
}
