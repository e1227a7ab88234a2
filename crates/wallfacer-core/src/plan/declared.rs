//! Reads from a tool's annotations and description what it says that it does *not* do.

use std::sync::LazyLock;

use regex::Regex;

use crate::catalogue::Tool;
use wallfacer_text::lexicon::words;

/// What a tool says of its effects, and in which words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// It changes nothing.
    pub read_only: Option<String>,
    /// It answers questions put to a database, and takes no other statements.
    pub only_asks: Option<String>,
    /// It reaches for nothing outside.
    pub closed: Option<Closed>,
    /// The same call a second time changes nothing more.
    pub idempotent: Option<String>,
    /// It adds, and takes nothing away.
    pub additive: Option<String>,
    /// It ends the server.
    pub ends_server: bool,
    /// Its job is to end processes that it is told of.
    pub ends_processes: bool,
    /// All that it says of itself, in small letters.
    pub said: String,
    /// The same without its name and title, which say nothing of what it does.
    pub described: String,
}

/// Why a tool should not be seen to connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closed {
    /// Its world is closed by annotation; what the user named for it may belong to that world.
    Hint(String),
    /// It denies to use the network at all.
    Denial(String),
}

impl Declared {
    pub fn of(tool: &Tool) -> Declared {
        let hints = &tool.annotations;
        let description = tool.description.as_deref().unwrap_or_default();
        let hint = |value: Option<bool>, wanted: bool, text: &str| {
            (value == Some(wanted)).then(|| format!("`{text}: {wanted}`"))
        };
        let read_only = hint(hints.read_only_hint, true, "readOnlyHint");
        let denial = denied(&NO_NETWORK, description).map(Closed::Denial);
        let closed = hint(hints.open_world_hint, false, "openWorldHint").map(Closed::Hint);
        let said = [Some(tool.name.as_str()), tool.title.as_deref(), tool.description.as_deref()];
        Declared {
            // Of a tool that only reads, the other hints mean nothing.
            idempotent: hint(hints.idempotent_hint, true, "idempotentHint").filter(|_| read_only.is_none()),
            additive: hint(hints.destructive_hint, false, "destructiveHint").filter(|_| read_only.is_none()),
            read_only: read_only.or_else(|| denied(&NO_CHANGE, description)),
            only_asks: only_asks(description),
            ends_processes: ends_processes(tool),
            closed: denial.or(closed),
            ends_server: ENDS_SERVER.is_match(description) || ENDING.contains(&tool.name.as_str()),
            described: description.to_lowercase(),
            said: said.into_iter().flatten().collect::<Vec<_>>().join(" ").to_lowercase(),
        }
    }
}

static NO_NETWORK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:purely|strictly|entirely|fully|completely|100%) (?:local|offline)|(?:local|offline)[- ]only|(?:works?|runs?|working|running) (?:\w+ )?offline|(?:no|without|never (?:uses|needs|touches)|does not (?:use|need|access|require)|doesn't (?:use|need|access|require)) (?:any |the |an )?(?:network|internet)\b|makes no (?:network|http|external) (?:calls|requests|connections)|never leaves (?:your|the|this) (?:machine|computer|device)",
    )
});

/// Names that mean the end of the server without a word more.
const ENDING: [&str; 5] = ["shutdown", "shutdown_server", "stop_server", "exit_server", "quit"];

static ENDS_SERVER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:shuts? ?down|shutting down|stops?|terminates?|exits?|ends?|quits?|restarts?)(?: \w+)? (?:the|this) (?:mcp |running |current )?server\b(?:[.!,;]|$| (?:process|gracefully|cleanly|immediately))",
    )
});

/// By its name or the first word of its description a tool that ends something, and by any word something that runs.
fn ends_processes(tool: &Tool) -> bool {
    const ENDS: [&str; 14] = [
        "cancel",
        "close",
        "end",
        "ends",
        "kill",
        "kills",
        "quit",
        "quits",
        "signal",
        "signals",
        "stop",
        "stops",
        "terminate",
        "terminates",
    ];
    const RUNNING: [&str; 9] =
        ["app", "application", "job", "pid", "process", "processes", "program", "session", "task"];
    let (named, described) = (words(&tool.name), words(tool.description.as_deref().unwrap_or_default()));
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let ends = named.iter().chain(described.first()).any(|word| is(word, &ENDS));
    ends && named.iter().chain(&described).any(|word| is(word, &RUNNING))
}

static NO_CHANGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:does not|doesn't|never|will not|won't) (?:modify|modifies|change|changes|write|writes|alter|alters|touch|touches) (?:any|anything|files?\b|data\b|(?:the|your) (?:files?|disk|file system|filesystem|system|state|data|database|repository|project)\b)|without modifying (?:any|anything|files?\b|(?:the|your) (?:files?|system|state|data))|(?:no|without|free of) (?:any )?side[- ]effects|makes no changes|^read[- ]only\b",
    )
});

/// Statements that only read, as tools say that they take no others.
static QUESTIONS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bread[- ]only (?:\w+ )?(?:quer(?:y|ies)|questions?|statements?|sql|transactions?|access|mode|connection)\b|\bonly (?:allows? |accepts? |runs? |executes? )?(?:select|read)\b|\bselect(?:[- ]only)? (?:sql )?(?:quer(?:y|ies)|statements?)\b|\bread quer(?:y|ies)\b",
    )
});

/// Whether only questions may be put to it. One that names the others as well may take them, unless it says that it does
/// not.
fn only_asks(description: &str) -> Option<String> {
    static OTHERS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\b(?:insert|update|delete|drop|alter|create)\b"));
    static DENIED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"\b(?:only|no|not|never|cannot|can't|without|except|refuses?|rejects?|blocks?|forbids?|prevents?)\b",
        )
    });
    let found = denied(&QUESTIONS, description)?;
    (!OTHERS.is_match(description) || DENIED.is_match(description)).then_some(found)
}

/// Phrases that deny, unless a condition is what they speak of.
fn denied(phrases: &Regex, description: &str) -> Option<String> {
    static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?:\b(?:if|when|while|unless|in case|because)(?: there is| there's| you have)?|error:?)\s*$",
        )
    });
    let found = phrases.find_iter(description);
    let mut meant = found.filter(|found| !CONDITION.is_match(description[..found.start()].trim_end()));
    meant.next().map(|found| format!("\"{}\"", found.as_str()))
}

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("an expression of ours")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;
    use serde_json::json;

    fn declared(description: &str, annotations: serde_json::Value) -> Declared {
        let listed = json!({ "name": "t", "description": description, "inputSchema": { "type": "object" },
            "annotations": annotations });
        Declared::of(&Tool::read(listed.as_object().unwrap()).unwrap())
    }

    #[test]
    fn annotations_are_taken_at_their_word_and_their_defaults_say_nothing() {
        assert_eq!(declared("", json!({})), Declared { said: "t ".into(), ..Declared::default() });
        let all = json!({ "readOnlyHint": true, "openWorldHint": false, "idempotentHint": true });
        let read = declared("", all);
        assert_eq!(read.read_only.as_deref(), Some("`readOnlyHint: true`"));
        assert_eq!(read.closed, Some(Closed::Hint("`openWorldHint: false`".to_owned())));
        assert_eq!(read.idempotent, None, "of a tool that only reads it means nothing");
        let adds = declared("", json!({ "destructiveHint": false, "idempotentHint": true }));
        assert!(adds.additive.is_some() && adds.idempotent.is_some());
    }

    #[test]
    fn a_tool_that_ends_the_server_says_so() {
        for said in [
            "Shuts down the server.",
            "Stop the MCP server gracefully",
            "Gracefully shut down this server, then exit.",
        ] {
            assert!(declared(said, json!({})).ends_server, "{said}");
        }
        for said in ["Stops the server of that name.", "Starts the server.", "Ends the game."] {
            assert!(!declared(said, json!({})).ends_server, "{said}");
        }
    }

    #[test]
    fn only_phrases_that_deny_count() {
        for said in [
            "Purely local.",
            "Formats text. Works offline.",
            "No network access.",
            "It never leaves your machine",
        ] {
            assert!(matches!(declared(said, json!({})).closed, Some(Closed::Denial(_))), "{said}");
        }
        for said in [
            "Searches local files.",
            "Marks a device as offline.",
            "Fails when there is no network.",
            "Configures the local network.",
        ] {
            assert_eq!(declared(said, json!({})).closed, None, "{said}");
        }
        for said in
            ["Lists notes; does not modify anything.", "Has no side effects.", "Read-only view of a table."]
        {
            assert!(declared(said, json!({})).read_only.is_some(), "{said}");
        }
        for said in
            ["Copies a file; does not modify the original.", "Makes a file read-only.", "Writes a note."]
        {
            assert_eq!(declared(said, json!({})).read_only, None, "{said}");
        }
    }

    #[test]
    fn tools_that_take_questions_only_say_so() {
        for said in [
            "Execute a SELECT query on the database",
            "Runs a read-only SQL query.",
            "Query the data; only SELECT is allowed, INSERT and DROP are refused.",
            "Answers a read-only question about the pages.",
        ] {
            assert!(declared(said, json!({})).only_asks.is_some(), "{said}");
        }
        for said in [
            "Runs SELECT queries, INSERT and UPDATE statements.",
            "Makes a file read-only.",
            "Selects a table.",
            "Reads a page.",
        ] {
            assert_eq!(declared(said, json!({})).only_asks, None, "{said}");
        }
    }

    #[test]
    fn tools_that_end_processes_say_so() {
        assert!(declared("Terminates a process by its number.", json!({})).ends_processes);
        assert!(!declared("Lists the processes.", json!({})).ends_processes);
        assert!(!declared("Ends the paragraph.", json!({})).ends_processes);
    }
}
