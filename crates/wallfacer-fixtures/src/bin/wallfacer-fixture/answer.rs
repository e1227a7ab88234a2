//! What is to be done with a request, once it is known.

use crate::message::Failure;
use crate::request::Request;
use serde_json::Value;

pub enum Answer {
    Result(Value),
    Refusal(Failure),
    /// The reply that is due, and what is sent in its place.
    Instead(Value, fn(&Request, Value)),
    /// The client waits in vain.
    Never,
    /// The client has withdrawn the request.
    Withdrawn,
}

impl From<Result<Value, Failure>> for Answer {
    fn from(result: Result<Value, Failure>) -> Answer {
        result.map_or_else(Answer::Refusal, Answer::Result)
    }
}
