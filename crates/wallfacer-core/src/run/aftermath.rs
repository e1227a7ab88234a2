//! What was seen of a server when something happened to it in the middle of its work.

use std::time::Duration;

/// What a disturbance led to, beside an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aftermath {
    /// Why there is no server afterwards, in the words of whoever tried to start it, and its own.
    pub refused: Option<String>,
    /// Why nothing can be concluded: the world could not be made so.
    pub impossible: Option<String>,
    /// Processes that were still there when all should have been gone.
    pub left: Vec<String>,
    /// How long after it was taken back a call was answered all the same.
    pub answered_after: Option<Duration>,
    /// Processor time that was used after a call was taken back, and the time in which it was.
    pub worked: Option<(Duration, Duration)>,
    /// Processes that a call had started and that were still there after it was taken back.
    pub still_running: usize,
    /// Requests of several that were never answered.
    pub unanswered: usize,
}
