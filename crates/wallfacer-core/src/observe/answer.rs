//! What a server did with one request, in seven words.

use std::time::Duration;

use serde_json::Value;
use wallfacer_process::Ending;

use crate::run::{Recording, Taken};
use crate::wire::{Body, Content, ErrorObject, Fault, Faults, Incoming, Outcome};

/// Faults with which a reply with the right id is still no valid answer.
const FATAL: [Fault; 6] = [
    Fault::WrongVersion,
    Fault::ResultAndError,
    Fault::NeitherResultNorError,
    Fault::BadError,
    Fault::NotUtf8,
    Fault::Oversized,
];

/// The facts of one case: one entry for each step that was taken.
#[derive(Debug, Clone)]
pub struct Observation {
    pub steps: Vec<Seen>,
    /// The end of the server's stderr, where it went away or fell silent.
    pub stderr: Vec<u8>,
}

/// The facts of one step.
#[derive(Debug, Clone)]
pub struct Seen {
    pub answer: Answer,
    /// All that was wrong with what came, in the answer and beside it.
    pub faults: Faults,
    pub took: Duration,
}

/// What became of the request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Completed,
    /// The tool ran and said that it failed.
    ToolError,
    /// The input was refused, by JSON-RPC or by an HTTP status of the four hundreds.
    Rejected {
        code: i64,
    },
    /// The server's own fault: −32603 and the like, or an HTTP status of the five hundreds.
    Failed {
        code: i64,
    },
    /// Bytes came that are no valid answer.
    Malformed,
    /// Nothing came in time.
    Silent,
    /// The step was one that nobody answers.
    NotAwaited,
    /// The server ended, or closed the connection.
    Gone {
        ending: Option<Ending>,
    },
}

/// Reads the facts out of a recording.
pub fn observe(recording: &Recording) -> Observation {
    let stderr = recording.stderr.as_ref().map(|stderr| stderr.tail.clone()).unwrap_or_default();
    Observation { steps: recording.steps.iter().map(see).collect(), stderr }
}

/// Reads the facts of one step.
pub fn see(taken: &Taken) -> Seen {
    let mut faults = taken.strays.faults();
    let answer = match (&taken.outcome, &taken.closed) {
        (Some(outcome), _) => settle(outcome, &taken.method, &mut faults),
        (None, Some(closed)) => Answer::Gone { ending: closed.ending },
        (None, None) if !taken.awaited => Answer::NotAwaited,
        (None, None) if taken.strays.is_empty() => Answer::Silent,
        (None, None) => Answer::Malformed,
    };
    Seen { answer, faults, took: taken.took }
}

/// Reads what one request was answered.
pub fn read_outcome(outcome: &Outcome, method: &str) -> Answer {
    settle(outcome, method, &mut Faults::default())
}

fn settle(outcome: &Outcome, method: &str, faults: &mut Faults) -> Answer {
    match outcome {
        Outcome::Reply(incoming) => {
            faults.add_all(&incoming.faults);
            read_reply(incoming, method)
        }
        Outcome::Refused { status, said, .. } => {
            faults.add(Fault::HttpStatus(*status));
            let code = said.as_ref().and_then(error_code).unwrap_or_else(|| i64::from(*status));
            if *status >= 500 { Answer::Failed { code } } else { Answer::Rejected { code } }
        }
        Outcome::Broken { faults: found, .. } => {
            faults.add_all(found);
            Answer::Malformed
        }
        Outcome::Lost(_) => Answer::Gone { ending: None },
    }
}

fn read_reply(incoming: &Incoming, method: &str) -> Answer {
    if FATAL.into_iter().any(|fault| incoming.faults.has(fault)) {
        return Answer::Malformed;
    }
    match &incoming.content {
        Content::Reply { body: Body::Result(range), .. } => {
            if !incoming.text(range).starts_with('{') {
                return Answer::Malformed;
            }
            let failed = method == "tools/call" && is_error(incoming.value(range));
            if failed { Answer::ToolError } else { Answer::Completed }
        }
        Content::Reply { body: Body::Error(error), .. } => classify(error),
        _ => Answer::Malformed,
    }
}

fn is_error(result: Option<Value>) -> bool {
    result.is_some_and(|result| result.get("isError") == Some(&Value::Bool(true)))
}

/// A refusal is good behaviour, a failure is not: the codes tell which it was.
fn classify(error: &ErrorObject) -> Answer {
    let code = error.code.unwrap_or_default();
    match code {
        -32603 => Answer::Failed { code },
        // Defined by the protocol as refusals, though they lie in the range of server errors.
        -32002 | -32022..=-32020 | -32042 => Answer::Rejected { code },
        -32099..=-32000 => Answer::Failed { code },
        _ => Answer::Rejected { code },
    }
}

fn error_code(incoming: &Incoming) -> Option<i64> {
    match &incoming.content {
        Content::Reply { body: Body::Error(error), .. } => error.code,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(json: &str) -> Answer {
        let incoming = Incoming::read(bytes::Bytes::copy_from_slice(json.as_bytes()), 64);
        let taken = Taken::unanswered("tools/call", Duration::ZERO);
        see(&Taken { awaited: true, outcome: Some(Outcome::Reply(incoming)), ..taken }).answer
    }

    #[test]
    fn results_are_told_from_tool_errors() {
        assert_eq!(answer(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#), Answer::Completed);
        assert_eq!(answer(r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true}}"#), Answer::ToolError);
        assert_eq!(answer(r#"{"jsonrpc":"2.0","id":1,"result":{"isError":"true"}}"#), Answer::Completed);
    }

    #[test]
    fn refusals_are_told_from_failures() {
        let error = |code: i64| {
            answer(&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"m"}}}}"#))
        };
        for code in [-32602, -32601, -32600, -32002, -32022, 404, -1] {
            assert_eq!(error(code), Answer::Rejected { code });
        }
        for code in [-32603, -32000, -32001] {
            assert_eq!(error(code), Answer::Failed { code });
        }
    }

    #[test]
    fn a_reply_of_the_wrong_shape_is_no_answer() {
        for json in [
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
        ] {
            assert_eq!(answer(json), Answer::Malformed, "{json}");
        }
    }
}
