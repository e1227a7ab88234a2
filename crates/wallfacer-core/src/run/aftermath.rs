//! What was seen of a server when something happened to it in the middle of its work.

use std::time::Duration;

/// What a disturbance led to, beside an answer.
#[derive(Debug, Clone, Default, PartialEq)]
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
    /// The ids of sessions that were opened one after another.
    pub sessions: Vec<String>,
    /// What another client saw that asked meanwhile.
    pub meanwhile: Option<Meanwhile>,
    /// Whether the same request is answered on a connection of its own.
    pub answered_alone: Option<bool>,
    /// To whom a second process of the server showed what was stored there.
    pub elsewhere: Option<Elsewhere>,
    /// What a call told of how far it was, in the order in which it came.
    pub progress: Vec<Progress>,
}

/// How long a client waited that asked while another one was slow.
#[derive(Debug, Clone, PartialEq)]
pub struct Meanwhile {
    /// How long the other would be slow yet when this one asked.
    pub slow_for: Duration,
    pub took: Duration,
    /// For how much of that the machine kept the server from working.
    pub kept_waiting: Duration,
    pub answered: bool,
}

/// To whom it showed what one session had stored there.
#[derive(Debug, Clone, PartialEq)]
pub struct Elsewhere {
    /// To that session.
    pub to_its_own: bool,
    /// To another session that was begun there.
    pub to_another: bool,
    /// To the session of the first process.
    pub to_ours: bool,
}

/// A notification of progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Whether it names the token of the call.
    pub ours: bool,
    /// None where it is no number.
    pub value: Option<f64>,
    /// Whether it came after the answer.
    pub late: bool,
}
