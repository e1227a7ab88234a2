//! What can be wrong with bytes that a server sent. A fault is a fact of the wire, not yet a finding.

use std::collections::BTreeSet;
use std::fmt;

/// One way in which bytes differ from a well-formed message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    NotUtf8,
    NotJson,
    /// One message written over several lines.
    SplitOverLines,
    /// The last line, without its newline.
    Unterminated,
    Oversized,
    TooDeep,
    /// Valid JSON, but neither an object nor a batch.
    NotAnObject,
    Batch,
    DuplicateKey,
    BigNumber,
    LoneSurrogate,
    /// `jsonrpc` is not `"2.0"`.
    WrongVersion,
    ResultAndError,
    NeitherResultNorError,
    /// A reply to something that was never asked.
    UnknownId,
    /// `"1"` where `1` was sent, or `1.0`.
    IdOfAnotherType,
    /// A reply without an id, or with `null`.
    NoId,
    DuplicateReply,
    /// A reply to a request that had been given up.
    LateReply,
    /// An error object whose code or message has the wrong type.
    BadError,
    HttpStatus(u16),
    WrongContentType,
    /// An event stream that ended without the reply, or is no event stream.
    BrokenStream,
    Redirect,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Fault::NotUtf8 => "bytes that are not UTF-8",
            Fault::NotJson => "text that is not JSON",
            Fault::SplitOverLines => "one message split over several lines",
            Fault::Unterminated => "a last line without its newline",
            Fault::Oversized => "a message above the size limit",
            Fault::TooDeep => "JSON nested beyond the depth limit",
            Fault::NotAnObject => "JSON that is not an object",
            Fault::Batch => "a batch where one reply was due",
            Fault::DuplicateKey => "an object with a key twice",
            Fault::BigNumber => "an integer that 64 bits cannot hold",
            Fault::LoneSurrogate => "an escape that is half a surrogate pair",
            Fault::WrongVersion => "a message whose `jsonrpc` is not \"2.0\"",
            Fault::ResultAndError => "`result` and `error` together",
            Fault::NeitherResultNorError => "a reply with neither `result` nor `error`",
            Fault::UnknownId => "a reply to an id that was never sent",
            Fault::IdOfAnotherType => "a reply whose id has another type than the request's",
            Fault::NoId => "a reply without an id",
            Fault::DuplicateReply => "a second reply to the same request",
            Fault::LateReply => "a reply after the time limit",
            Fault::BadError => "an error object with a wrong shape",
            Fault::HttpStatus(status) => return write!(out, "HTTP status {status}"),
            Fault::WrongContentType => "a content type that is neither JSON nor an event stream",
            Fault::BrokenStream => "a response that ends without the reply",
            Fault::Redirect => "an HTTP redirect",
        };
        out.write_str(text)
    }
}

/// A set of faults, in their declared order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults(BTreeSet<Fault>);

impl Faults {
    pub fn add(&mut self, fault: Fault) {
        self.0.insert(fault);
    }

    pub fn add_all(&mut self, others: &Faults) {
        self.0.extend(&others.0);
    }

    pub fn has(&self, fault: Fault) -> bool {
        self.0.contains(&fault)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = Fault> + '_ {
        self.0.iter().copied()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(out, "{comma}{fault}")?;
        }
        Ok(())
    }
}
