//! The one table of modes. A mode that is not here cannot be started.

use crate::expected::Answer::{self, Completed, Failed, Gone, Malformed, Rejected, Silent, ToolError};
use crate::expected::Fault::{
    self, BadError, Batch, BigNumber, BrokenStream, DuplicateKey, DuplicateReply, HttpStatus,
    IdOfAnotherType, LoneSurrogate, NeitherResultNorError, NoId, NotAnObject, NotJson, NotUtf8, Oversized,
    Redirect, ResultAndError, SplitOverLines, TooDeep, UnknownId, Unterminated, WrongContentType,
    WrongVersion,
};
use crate::expected::{Catalogue, Ending, Era, Expected, Mode, Start};

/// How many tools the correct server has, over both pages.
const TOOLS: usize = 12;
/// What `abort` ends a process with.
const SIGABRT: i32 = 6;

pub fn modes() -> &'static [Mode] {
    MODES
}

static MODES: &[Mode] = &[
    // Correct servers.
    mode("correct", "Speaks both eras and does everything right.", EVERYWHERE, FINE),
    mode("modern-only", "Speaks 2026-07-28 only, and refuses `initialize`.", NOT_LEGACY_SSE, FINE),
    mode("legacy-only", "Knows nothing of 2026-07-28.", EVERYWHERE, Expected { start: LEGACY, ..FINE }),
    mode("slow-start", "Answers the first request after a while.", EVERYWHERE, FINE),
    // Starting.
    mode("never-answers", "Reads everything and answers nothing.", EVERYWHERE, never(Start::Silent, &[])),
    mode(
        "never-answers-initialize",
        "Refuses `server/discover`, and leaves `initialize` without an answer.",
        EVERYWHERE,
        never(Start::Silent, &[]),
    ),
    mode(
        "never-answers-discover",
        "Leaves `server/discover` without an answer, and is else correct.",
        STDIO,
        Expected { start: LEGACY, ..FINE },
    ),
    mode(
        "exits-at-start",
        "Exits with code 3 before it reads anything.",
        STDIO,
        Expected { ending: Ending::Exited(3), ..never(Start::Exits { code: 3 }, &[]) },
    ),
    mode(
        "dies-at-start",
        "Aborts before it reads anything.",
        STDIO,
        Expected { ending: Ending::Signalled(SIGABRT), ..never(Start::DiesBySignal, &[]) },
    ),
    mode(
        "prints-banner",
        "Greets on standard output before the protocol begins.",
        STDIO,
        answers(Completed, &[NotJson]),
    ),
    mode(
        "wrong-version-in-initialize",
        "Answers `initialize` with the version 1999-01-01.",
        EVERYWHERE,
        never(Start::Malformed, &[]),
    ),
    mode(
        "http-401-at-start",
        "Answers everything with 401.",
        HTTP,
        never(Start::HttpStatus(401), &[HttpStatus(401)]),
    ),
    mode(
        "http-500-at-start",
        "Answers everything with 500.",
        HTTP,
        never(Start::HttpStatus(500), &[HttpStatus(500)]),
    ),
    mode(
        "html-at-start",
        "Answers everything with a web page, as a proxy does.",
        HTTP,
        never(Start::Malformed, &[WrongContentType]),
    ),
    // What the server says of itself.
    mode("tools-capability-missing", "Has tools, but does not say so.", EVERYWHERE, FINE),
    mode(
        "broken-tool",
        "Lists one tool whose schema is no schema.",
        EVERYWHERE,
        Expected { catalogue: Catalogue { tools: TOOLS + 1, broken: 1, repeated_cursor: false }, ..FINE },
    ),
    mode(
        "repeating-cursor",
        "Gives the cursor of the last page again on the last page.",
        EVERYWHERE,
        Expected { catalogue: Catalogue { tools: TOOLS, broken: 0, repeated_cursor: true }, ..FINE },
    ),
    mode("endless-pagination", "Has always one more page, empty, with a new cursor.", EVERYWHERE, FINE),
    mode("null-cursor", "Ends the list with a cursor that is null.", EVERYWHERE, FINE),
    // Clean answers that are no success.
    mode("tool-error", "Answers with `isError`.", EVERYWHERE, answers(ToolError, &[])),
    mode("rejects-call", "Refuses the call with -32602.", EVERYWHERE, answers(Rejected, &[])),
    mode("internal-error", "Answers with -32603.", EVERYWHERE, answers(Failed, &[])),
    mode("silent-call", "Never answers the call.", EVERYWHERE, answers(Silent, &[])),
    // Bytes that are no message.
    mode(
        "garbage-before-reply",
        "Prints a line of debugging before the reply.",
        EVERYWHERE,
        answers(Completed, &[NotJson]),
    ),
    mode(
        "garbage-instead",
        "Prints a line of debugging in place of the reply.",
        EVERYWHERE,
        answers(Malformed, &[NotJson]),
    ),
    mode("truncated-json", "Sends the first half of the reply.", EVERYWHERE, answers(Malformed, &[NotJson])),
    mode(
        "pretty-printed",
        "Spreads the reply over several lines.",
        STDIO,
        answers(Malformed, &[SplitOverLines]),
    ),
    mode("not-utf8", "Replies in Latin-1.", EVERYWHERE, answers(Malformed, &[NotUtf8])),
    mode(
        "lone-surrogate",
        "Has half of a surrogate pair in the text.",
        EVERYWHERE,
        answers(Completed, &[LoneSurrogate]),
    ),
    mode(
        "duplicate-key",
        "Has the same key twice in an object.",
        EVERYWHERE,
        answers(Completed, &[DuplicateKey]),
    ),
    mode(
        "big-number",
        "Has an integer of 30 digits in the result.",
        EVERYWHERE,
        answers(Completed, &[BigNumber]),
    ),
    mode("deep-reply", "Nests the result 10,000 deep.", EVERYWHERE, answers(Completed, &[TooDeep])),
    // Messages that are no answer.
    mode("batch-reply", "Wraps the reply in a batch.", EVERYWHERE, answers(Malformed, &[Batch])),
    mode("not-an-object", "Replies with a bare string.", EVERYWHERE, answers(Malformed, &[NotAnObject])),
    mode("wrong-id", "Replies under an id that nobody used.", EVERYWHERE, answers(Malformed, &[UnknownId])),
    mode(
        "unknown-id",
        "Sends a reply that nobody asked for before the right one.",
        EVERYWHERE,
        answers(Completed, &[UnknownId]),
    ),
    mode(
        "id-of-another-type",
        "Replies under the id as a string where it was a number.",
        EVERYWHERE,
        answers(Malformed, &[IdOfAnotherType]),
    ),
    mode(
        "id-less-error",
        "Sends an error without an id in place of the reply.",
        ONE_STREAM,
        answers(Malformed, &[NoId]),
    ),
    mode(
        "bad-error",
        "Replies with an error whose code is no number.",
        EVERYWHERE,
        answers(Malformed, &[BadError]),
    ),
    mode("duplicate-reply", "Sends the reply twice.", EVERYWHERE, answers(Completed, &[DuplicateReply])),
    mode(
        "result-and-error",
        "Replies with result and error together.",
        EVERYWHERE,
        answers(Malformed, &[ResultAndError]),
    ),
    mode(
        "neither-result-nor-error",
        "Replies with the id alone.",
        EVERYWHERE,
        answers(Malformed, &[NeitherResultNorError]),
    ),
    mode("wrong-jsonrpc", "Replies by JSON-RPC 1.0.", EVERYWHERE, answers(Malformed, &[WrongVersion])),
    mode(
        "asks-before-answering",
        "Pings the client under odd ids, and replies when all have been answered.",
        EVERYWHERE,
        Expected { start: LEGACY, ..FINE },
    ),
    // Size and pace.
    mode("huge-reply", "Replies with 50 MiB of text.", EVERYWHERE, FINE),
    mode("oversized-reply", "Replies with 65 MiB of text.", EVERYWHERE, answers(Malformed, &[Oversized])),
    mode("one-byte-at-a-time", "Writes the reply byte by byte.", EVERYWHERE, FINE),
    mode("notification-flood", "Sends 100,000 notifications before the reply.", EVERYWHERE, FINE),
    mode("stderr-flood", "Writes 16 MB to standard error before the reply.", EVERYWHERE, FINE),
    // The process.
    mode(
        "exits-mid-call",
        "Exits with code 4 in place of the reply.",
        EVERYWHERE,
        Expected { ending: Ending::Exited(4), ..answers(Gone, &[]) },
    ),
    mode(
        "exits-without-newline",
        "Exits after a reply whose line is not ended.",
        STDIO,
        Expected { ending: Ending::Exited(0), ..answers(Completed, &[Unterminated]) },
    ),
    mode(
        "dies-by-signal",
        "Aborts in place of the reply.",
        EVERYWHERE,
        Expected { ending: Ending::Signalled(SIGABRT), ..answers(Gone, &[]) },
    ),
    mode(
        "leaves-children",
        "Starts a child that outlives it.",
        EVERYWHERE,
        Expected { left_behind: true, ..FINE },
    ),
    mode(
        "closes-stdout",
        "Closes standard output in place of the reply, and lives on.",
        STDIO,
        Expected { ending: Ending::StdoutClosed, ..answers(Gone, &[]) },
    ),
    // HTTP.
    mode("http-401", "Answers the call with 401.", HTTP, answers(Rejected, &[HttpStatus(401)])),
    mode("http-403", "Answers the call with 403.", HTTP, answers(Rejected, &[HttpStatus(403)])),
    mode("http-404", "Answers the call with 404.", HTTP, answers(Rejected, &[HttpStatus(404)])),
    mode("http-413", "Answers the call with 413.", HTTP, answers(Rejected, &[HttpStatus(413)])),
    mode("http-500", "Answers the call with 500.", HTTP, answers(Failed, &[HttpStatus(500)])),
    mode("redirect", "Sends the client to another path.", HTTP, answers(Malformed, &[Redirect])),
    mode(
        "wrong-content-type",
        "Answers the call with a web page.",
        HTTP,
        answers(Malformed, &[WrongContentType]),
    ),
    mode("broken-sse", "Ends the event stream before the reply.", HTTP, answers(Malformed, &[BrokenStream])),
    mode("not-sse", "Calls a web page an event stream.", HTTP, answers(Malformed, &[BrokenStream])),
    mode("slow-headers", "Never comes to the end of the headers.", HTTP, answers(Silent, &[])),
    mode("drops-connection", "Closes the connection in place of the answer.", HTTP, answers(Gone, &[])),
];

const LEGACY: Start = Start::Connects { era: Era::Legacy };

/// What a client sees of a server without flaw.
const FINE: Expected = Expected {
    start: Start::Connects { era: Era::Modern },
    answer: Some(Completed),
    faults: &[],
    ending: Ending::StillRunning,
    left_behind: false,
    catalogue: Catalogue { tools: TOOLS, broken: 0, repeated_cursor: false },
};

/// Correct until the call, and then this.
const fn answers(answer: Answer, faults: &'static [Fault]) -> Expected {
    Expected { answer: Some(answer), faults, ..FINE }
}

/// The client never comes to ask anything.
const fn never(start: Start, faults: &'static [Fault]) -> Expected {
    let nothing = Catalogue { tools: 0, broken: 0, repeated_cursor: false };
    Expected { start, answer: None, faults, catalogue: nothing, ..FINE }
}

/// The transports over which a mode shows the same.
struct Over {
    stdio: bool,
    http: bool,
    legacy_sse: bool,
}

const EVERYWHERE: Over = Over { stdio: true, http: true, legacy_sse: true };
const NOT_LEGACY_SSE: Over = Over { legacy_sse: false, ..EVERYWHERE };
/// Where replies to all requests share one stream; over Streamable HTTP each has its own, and needs no id to be matched.
const ONE_STREAM: Over = Over { http: false, ..EVERYWHERE };
const STDIO: Over = Over { stdio: true, http: false, legacy_sse: false };
const HTTP: Over = Over { stdio: false, http: true, legacy_sse: false };

const fn mode(name: &'static str, about: &'static str, over: Over, expected: Expected) -> Mode {
    Mode { name, about, stdio: over.stdio, http: over.http, legacy_sse: over.legacy_sse, expected }
}

#[cfg(test)]
mod tests {
    use super::modes;
    use std::collections::BTreeSet;

    #[test]
    fn every_mode_has_a_name_of_its_own_and_a_transport() {
        let names: BTreeSet<&str> = modes().iter().map(|mode| mode.name).collect();
        assert_eq!(names.len(), modes().len());
        assert!(modes().iter().all(|mode| mode.stdio || mode.http || mode.legacy_sse));
    }
}
