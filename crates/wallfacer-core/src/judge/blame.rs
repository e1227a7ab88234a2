//! Whom does an error blame, by its own words: what was asked for, the world that we gave the server, or nobody? A
//! refusal is good behaviour, what the sandbox lacks is no fault of the server, and the rest is.

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

use crate::findings::Kind;
use crate::plan::{Case, places};
use crate::run::Taken;
use crate::wire::shortened;

/// What of an error is read.
const MAX_TEXT: usize = 16 << 10;
/// Shorter texts stand in others by chance.
const MIN_REPEATED: usize = 3;
/// What of an error is shown.
const SHOWN: usize = 200;
/// What stands for a text that was sent.
const REPEATED: &str = "…";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// What the world of the server lacks, or what it answered; in words for the report.
    World(&'static str),
    /// What was asked for: a refusal, under whatever code.
    Input,
    /// Its own output, which it holds against its own schema.
    Output,
    /// Nothing that is known: the server got out of hand.
    Nobody,
}

/// Whom the error that answers this case blames. What it repeats of the arguments does not count, even if it is only a part of
/// one, or a path in its simplest form.
pub fn blame_of(text: &str, case: &Case) -> Blame {
    let sent = case.arguments().map(places).unwrap_or_default();
    let sent = sent.iter().map(|place| place.value.as_str()).filter(|value| value.len() >= MIN_REPEATED);
    let (mut own, mut sent_lowercase) = (text.to_owned(), String::new());
    for value in sent {
        own = own.replace(value, REPEATED);
        sent_lowercase.push_str(&value.to_lowercase());
        sent_lowercase.push('\n');
    }
    let is_sent = |sign: &Captures<'_>| sent_lowercase.contains(&sign[0].to_lowercase());
    let keep = |sign: &Captures<'_>| if is_sent(sign) { REPEATED } else { &sign[0] }.to_owned();
    blame(&ANY_LACK.replace_all(&own, keep))
}

/// Why an error says nothing of the server: our world lacks what it needed, or answered otherwise than the world outside.
/// In words for the report; none where the error is its own. Every check, rule and probe asks this.
pub fn excuse(text: &str, case: &Case, taken: &Taken) -> Option<String> {
    // Who failed behind a fetch, and does not say that the arguments are at fault, failed over what was fetched.
    let blamed = blame_of(text, case);
    excused(text, blamed, taken, |said| {
        READS_AN_ANSWER.is_match(said) || blamed == Blame::Nobody && !BY_ITSELF.is_match(said)
    })
}

/// The same of a server that ended, and wrote this before: it may say anything, so only what tells of an answer counts.
pub fn excuse_of_end(text: &str, case: &Case, taken: &Taken) -> Option<String> {
    excused(text, blame_of(text, case), taken, |said| READS_AN_ANSWER.is_match(said))
}

fn excused(
    text: &str,
    blamed: Blame,
    taken: &Taken,
    fails_over_answer: impl Fn(&str) -> bool,
) -> Option<String> {
    let said = shortened(text.trim(), SHOWN);
    if let Blame::World(what) = blamed {
        return Some(format!("{what}: {said}"));
    }
    let asked = last_fetched(taken)?;
    let text = without_frames(&text.chars().take(MAX_TEXT).collect::<String>().to_lowercase());
    let fails = !REFUSES_ARGUMENTS.is_match(&text) && fails_over_answer(&text);
    fails.then(|| format!("the sandbox answered for `{asked}`, and not as the service does: {said}"))
}

/// The service that was asked last in this step, where the sandbox answered in its place.
pub fn last_fetched(taken: &Taken) -> Option<&str> {
    Some(taken.fetched.as_ref()?.last()?.host.as_str())
}

/// Whether an error says that a program is not there.
pub fn lacks_program(text: &str) -> bool {
    blame(text) == Blame::World(LACKS[PROGRAMS].1)
}

/// Whether our world can be what is to blame for a failure of this kind.
pub fn may_be_of_world(kind: &Kind) -> bool {
    matches!(kind, Kind::InternalError | Kind::SchemaViolation | Kind::PropertyFailure { .. })
}

/// Whom an error blames.
pub fn blame(text: &str) -> Blame {
    let text: String = text.chars().take(MAX_TEXT).collect::<String>().to_lowercase();
    let said = without_frames(&text);
    if is_about_output(&said) {
        return Blame::Output;
    }
    if let Some(row) = WORLD.matches(&said).into_iter().next() {
        return Blame::World(LACKS[row].1);
    }
    let refuses =
        INPUT.is_match(&said) && (!CRASHES.is_match(&said) || REFUSALS_BY_LIBRARIES.is_match(&said));
    if refuses { Blame::Input } else { Blame::Nobody }
}

/// Whether a server says that its own output is at fault.
pub fn is_about_output(text: &str) -> bool {
    static OUTPUT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"output validation error|invalid structured content|structured content does not match|does not match its output schema|has an output schema but no structured content|outputschema defined but no structured|failed to validate output|error executing tool \S+: \d+ validation errors? for \w+output\b",
        )
    });
    OUTPUT.is_match(text)
}

/// The lines that say something. Those that name places in the code may have any word in them.
fn without_frames(text: &str) -> String {
    let says = |line: &&str| {
        let indented = line.starts_with([' ', '\t']);
        let frame = line.trim_start().starts_with("at ") || line.trim_start().starts_with("file \"");
        !(frame || indented && text.contains("traceback (most recent call last)"))
    };
    text.lines().filter(says).collect::<Vec<_>>().join("\n")
}

/// The row of programs in the list below.
const PROGRAMS: usize = 2;

/// How errors tell that the world lacks something, and what. The first that fits holds.
const LACKS: [(&str, &str); 6] = [
    (
        r"\b(?:enotfound|econnrefused|econnreset|econnaborted|ehostunreach|enetunreach|etimedout|eai_again|epipe|getaddrinfo)\b|name or service not known|nodename nor servname|temporary failure in name resolution|network is unreachable|no route to host|connection (?:refused|reset|error|aborted|timed out|closed)|connect(?:ion)? timeout|connect timed out|fetch failed|\bdns\b|all connection attempts failed|socket hang up|max retries exceeded|connecterror|connectionerror|could not connect|cannot connect|unable to connect|failed to connect|not connected to|timed out\b[^\n]{0,60}\b(?:network|service|cluster|host)|certificate verify failed|self[- ]signed certificate|tls handshake",
        "the network, or a service on it, was not there",
    ),
    (
        r"executable doesn'?t exist|executable file not found|browsertype\.launch|failed to launch (?:the )?browser|(?:browser|chrome|chromium|firefox)\b[^\n]{0,40}\b(?:not found|not installed|could not be found|was not found)|could not find (?:an? |the |google )?(?:chrome|chromium|browser|expected browser)|(?:browser|chrome|chromium|firefox) failed to (?:start|launch)|playwright install",
        "a browser was not there",
    ),
    (
        r"\bspawn \S+ (?:enoent|eacces)|command not found|not found in \$?path|not (?:in|on) (?:your |the )?\$?path\b|is not installed|(?:binary|program|executable|cli|sdk)\b[^\n]{0,40}\bnot (?:found|installed|available)|no such file or directory: '(?:/[^'\n]{0,80}/s?bin/)?[a-z0-9][a-z0-9_.-]*'|\bsh: (?:line )?(?:\d+: )?\S+: (?:not found|no such file)|\bexit(?:ed)?(?: with)?(?: code| status)? 127\b|modulenotfounderror|no module named|cannot find (?:module|package)|dependenc(?:y|ies) (?:is |are |not )?(?:missing|installed)|missing dependenc|install (?:it |them )?with\b",
        "a program was not there",
    ),
    (
        r"(?:api[ _-]?key|api[ _-]?token|access[ _-]?token|auth[ _-]?token|credentials?|environment variable|env var)\b[^\n]{0,60}\b(?:missing|required|not set|not found|not configured|not provided|undefined|invalid|must be set|could not)|(?:missing|no|invalid|set|provide|configure)\b[^\n]{0,30}\b(?:api[ _-]?key|api[ _-]?token|access[ _-]?token|credentials|environment variable)|\b[a-z0-9]+(?:_[a-z0-9]+)+ environment variable (?:is )?(?:not set|must be set|is required)|\b(?:[a-z0-9]+_)+(?:api|auth|credentials|email|endpoint|host|id|key|password|secret|token|uri|url|user|username) (?:is )?(?:not set|must be set|is required)|unauthori[sz]ed|not (?:authenticated|logged in|authori[sz]ed)|authentication (?:required|failed)|please (?:log ?in|authenticate|sign in)|default credentials|invalid_grant",
        "an account or a key was not there",
    ),
    (
        r#"unexpected token '?<|invalid character '<'|expecting value: line 1 column 1|unexpected end of json input|<!doctype|(?:request|response|upstream|server|http)\b[^\n]{0,40}\b(?:status(?: code)?:? ?[45]\d\d|error:? ?[45]\d\d)|unexpected (?:response|content[- ]type|status)|invalid response|bad gateway|service unavailable|not a valid (?:feed|image|pdf|xml)|cannot identify image"#,
        "a service answered otherwise than it does in the world outside",
    ),
    (
        r"\b(?:call|command|connection|exec|execution|operation|query|request|session)\b[^\n]{0,40}\btimed[ -]out\b|deadline exceeded",
        "what it was waiting for timed out",
    ),
];

static ANY_LACK: LazyLock<Regex> = LazyLock::new(|| {
    let signs: Vec<&str> = LACKS.iter().map(|(signs, _)| *signs).collect();
    pattern(&format!("(?i){}", signs.join("|")))
});

static WORLD: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(LACKS.iter().map(|(signs, _)| *signs)).expect("constant expressions"));

/// How refusals say what is wrong with what was asked: validators, databases, policies, plain sentences.
static INPUT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"not found|is not a (?:directory|file|folder)|no such|does not exist|doesn't exist|\bunknown\b|unrecognized|\binvalid|is required|missing required|missing \d+ required|field required|must (?:be|have|contain|match|not)|should be|cannot be (?:empty|null|negative|blank)|can't be empty|unsupported|not supported|not (?:a )?valid|validation (?:error|failed)|validationerror|zoderror|valueerror|"code":\s*"(?:invalid|too|unrecognized|custom|not)_|expected \w+,? (?:but )?(?:received|got)|input should be|syntax error|parse error|parsing error|failed to parse|could not parse|cannot parse|unable to parse|unterminated|malformed|sqlite_error|operationalerror|duplicate key|violates|constraint failed|already exists|bad request|out of range|out of bounds|too (?:long|large|many|short|small|big)|exceeds|at (?:least|most) \d|not allowed|not permitted|disallowed|forbidden|access denied|permission denied|denied|blocked|security policy|\bpolicy\b|prohibited|rejected|refused|outside|not both|mutually exclusive|cannot be constructed from a url|(?:use|pass|give|provide|specify) (?:either|one|only|exactly|at least)|please (?:provide|specify|give|use)|can ?not be (?:combined|constructed|converted|interpreted|used)|could(?: not|n't) find|read-only|readonly|only \w+ (?:is|are) (?:allowed|supported)|enoent|eacces|eisdir|enotdir|eperm|enametoolong"#,
    )
});

/// A crash in a program's own words, which may quote anything.
static CRASHES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"typeerror|referenceerror|rangeerror|keyerror|indexerror|attributeerror|unboundlocalerror|nameerror|zerodivisionerror|recursionerror|assertionerror|nullpointer|nil pointer|panic|list index out of|index out of (?:range|bounds)(?:: | \[)|cannot read propert|is not a function|is not iterable|undefined is not|maximum call stack|segmentation fault|unwrap\(\)",
    )
});

/// How programs fail when a value is not of the type that they expect.
const TYPE_MISTAKES: &str = r"typeerror|keyerror|indexerror|attributeerror|valueerror|cannot read propert|cannot destructure|is not a function|is not iterable|(?:undefined|null) is not|nonetype|has no attribute|string indices|list ind(?:ex|ices)|nil pointer|unwrap\(\)";

/// How programs fail that read a document which is not as they expect it.
static READS_AN_ANSWER: LazyLock<Regex> = LazyLock::new(|| {
    let reads = r"validation|zoderror|invalid_type|\bjson\b|unmarshal|deseriali[sz]|decod|missing field|pars(?:e|ing)|not well-formed|unexpected|invalid (?:response|date|time value)|isoformat|could not convert|panicked|expected \w+,? (?:but )?(?:received|got)";
    pattern(&format!("{TYPE_MISTAKES}|{reads}"))
});

/// Whether an error says that a value was not of the type that the code expected.
pub fn is_type_mistake(text: &str) -> bool {
    static MISTAKES: LazyLock<Regex> = LazyLock::new(|| pattern(TYPE_MISTAKES));
    MISTAKES.is_match(&text.chars().take(MAX_TEXT).collect::<String>().to_lowercase())
}

/// Whether an error is that of a program that got out of hand, by its own words, or says nothing at all. Whatever else it
/// says somebody wrote for this very case.
pub fn is_out_of_hand(text: &str) -> bool {
    static SAYS_NOTHING: LazyLock<Regex> = LazyLock::new(|| {
        let vague = r"internal (?:server )?error|unexpected|unhandled|uncaught|unknown error|something (?:went|is) wrong|exception\b";
        let by_code = r"not (?:a constructor|defined|callable|subscriptable)|unhashable|unsupported operand|keyword argument|positional argument|cannot access (?:local|free)|referenced before|before initiali[sz]ation|values to unpack|math domain|json serializable|circular structure|reduce of empty|cannot (?:convert|set propert)|can't (?:convert|multiply)|mix bigint|invalid (?:array length|literal|memory address)|runtime error|interface conversion|slice bounds|null ?pointer|object reference|deadlock";
        pattern(&format!("{vague}|{by_code}"))
    });
    let text = without_frames(&text.chars().take(MAX_TEXT).collect::<String>().to_lowercase());
    let words = text.split_whitespace().count();
    let fails = [&*CRASHES, &*BY_ITSELF, &*SAYS_NOTHING];
    words < 2 || is_type_mistake(&text) || fails.iter().any(|signs| signs.is_match(&text))
}

/// How the library of a server refuses arguments before the tool has them: whatever was fetched has no part in it.
static REFUSES_ARGUMENTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"input validation error|invalid arguments for tool"));

/// How programs fail that need no answer for it.
static BY_ITSELF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"zerodivision|division by zero|divide by zero|recursion|maximum call stack|stack overflow|out of memory|memoryerror|heap|segmentation fault|assert|referenceerror|nameerror|unboundlocalerror|rangeerror|unicode\w*error|surrogate",
    )
});

/// What libraries throw as such an error to refuse a value.
static REFUSALS_BY_LIBRARIES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"err_invalid_url|invalid url|invalid uri|invalid base url|invalid time zone|invalid time value|invalid header",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant expression")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Intent;
    use crate::run::Fetched;
    use serde_json::json;

    #[test]
    fn what_the_sandbox_lacks_is_told_by_what_it_is() {
        let reason = |row: usize| Blame::World(LACKS[row].1);
        for (text, wanted) in [
            ("request to https://a.example failed, reason: getaddrinfo ENOTFOUND a.example", reason(0)),
            ("httpx.ConnectError: All connection attempts failed", reason(0)),
            ("Error: connect ECONNREFUSED 127.0.0.1:5432", reason(0)),
            ("The call timed out (networking, rights, or the cluster)", reason(0)),
            ("browserType.launch: Executable doesn't exist at /root/.cache/x/chrome", reason(1)),
            (
                "Browser failed to start: Could not find Google Chrome executable for channel 'stable'",
                reason(1),
            ),
            ("spawn plotter ENOENT", reason(2)),
            ("/bin/sh: 1: plotter: command not found", reason(2)),
            ("Command failed: plotter --list\n/bin/sh: 1: plotter: not found", reason(2)),
            ("plotter exited with code 127", reason(2)),
            ("FileNotFoundError: [Errno 2] No such file or directory: '/usr/bin/plotter'", reason(2)),
            ("FileNotFoundError: [Errno 2] No such file or directory: 'plotter'", reason(2)),
            ("Error: The API key is not set. Set GARDEN_API_KEY.", reason(3)),
            ("GARDEN_TOKEN environment variable is required", reason(3)),
            ("Could not automatically determine default credentials", reason(3)),
            ("SyntaxError: Unexpected token '<', \"<!doctype \"... is not valid JSON", reason(4)),
            ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", reason(4)),
            ("Request failed with status code 404", reason(4)),
        ] {
            assert_eq!(blame(text), wanted, "{text}");
        }
    }

    #[test]
    fn refusals_are_told_from_crashes_by_their_words() {
        for text in [
            "Resource test://x not found",
            "MCP error: Invalid cursor",
            "`topic` is required",
            "[\n  {\n    \"code\": \"invalid_type\",\n    \"expected\": \"string\",\n    \"path\": [\"item\"]\n  }\n]",
            "2 validation errors for Arguments\nitem\n  Field required",
            "syntax error at or near \"x\"",
            "SQLITE_ERROR: near \"x\": incomplete input",
            "Command blocked by security policy",
            "TypeError: Invalid URL",
            "Request cannot be constructed from a URL that includes credentials: p://e@1",
            "Use either the lamp or the shelf when you light it, not both.",
            "ValueError: time data 'x' does not match format",
            "Request cannot be constructed from a URL that includes credentials",
            "Path is not a file",
        ] {
            assert_eq!(blame(text), Blame::Input, "{text}");
        }
        for text in [
            "unexpected condition",
            "TypeError: unknown property",
            "Cannot read properties of undefined (reading 'map')",
            "KeyError: 'missing'",
            "runtime error: invalid memory address or nil pointer dereference",
            "division by zero",
            "list index out of range",
            "runtime error: index out of range [5] with length 3",
        ] {
            assert_eq!(blame(text), Blame::Nobody, "{text}");
        }
    }

    #[test]
    fn a_sentence_that_somebody_wrote_is_not_a_program_out_of_hand() {
        for text in [
            "Packing failed: a box of this kind needs a lid. Take a tray instead.",
            "The shelf is not empty. Set `recursive` to clear it",
            "No more tries are left",
        ] {
            assert!(!is_out_of_hand(text), "{text}");
        }
        for text in [
            "",
            "'beds'",
            "Internal error",
            "something went wrong somewhere",
            "lines.map is not a function",
            "beds is not defined",
            "'NoneType' object is not subscriptable",
            "java.lang.IllegalStateException: shelf",
        ] {
            assert!(is_out_of_hand(text), "{text}");
        }
    }

    #[test]
    fn what_stands_in_the_places_of_a_trace_blames_nobody() {
        let node = "TypeError: x\n    at lookup (/app/node_modules/dns/invalid.js:10:5)";
        assert_eq!(blame(node), Blame::Nobody);
        let python = "Traceback (most recent call last):\n  File \"/srv/dns/a.py\", line 3, in f\n    raise not found\nIndexError: x";
        assert_eq!(blame(python), Blame::Nobody);
    }

    #[test]
    fn what_was_sent_is_not_what_a_server_says() {
        let case =
            Case::tool("t", json!({ "name": "plotter", "text": "the api key is missing" }), Intent::Valid, 1);
        let missing = "FileNotFoundError: [Errno 2] No such file or directory: 'plotter'";
        assert_eq!(blame_of(missing, &case), Blame::Input);
        assert_eq!(blame_of("boom: the api key is missing", &case), Blame::Nobody);
        let page =
            Case::tool("t", json!({ "place": "<!DOCTYPE x [<!ENTITY y \"file:///a\">]>" }), Intent::Valid, 1);
        let changed = "cannot open /srv/<!DOCTYPE x [<!ENTITY y \"file:/a\">]>";
        assert_eq!(blame_of(changed, &page), Blame::Nobody);
        assert_ne!(blame_of("got <!DOCTYPE html>, fetch failed", &page), Blame::Nobody);
        assert_ne!(blame_of("Unexpected token '<'", &page), Blame::Nobody);
    }

    #[test]
    fn a_failure_to_read_an_answer_is_excused_where_the_sandbox_gave_that_answer() {
        let case = Case::tool("t", json!({}), Intent::Valid, 1);
        let step = |fetched: Option<Vec<Fetched>>| Taken {
            fetched,
            ..Taken::unanswered("tools/call", std::time::Duration::ZERO)
        };
        let asked = || {
            let (method, host, path) = ("GET".into(), "garden.example".into(), "/plants".into());
            Some(vec![Fetched { method, host, path }])
        };
        for text in [
            "TypeError: Cannot read properties of undefined (reading 'map')",
            "KeyError: 'plants'",
            "Failed to look at the garden: there are no beds in it",
            "beds need version 19 of the garden, and this is 1.0.0",
        ] {
            let why = excuse(text, &case, &step(asked())).expect("an answer of ours");
            assert!(why.contains("garden.example") && why.contains(text), "{why}");
            assert_eq!(excuse(text, &case, &step(Some(Vec::new()))), None, "{text}");
            assert_eq!(excuse(text, &case, &step(None)), None, "{text}");
        }
        for text in [
            "division by zero",
            "maximum recursion depth exceeded",
            "out of memory",
            "Input validation error: Invalid arguments for tool dig: expected string, received number",
            "bed 7 not found",
        ] {
            assert_eq!(excuse(text, &case, &step(asked())), None, "{text}");
        }
        // A log says many things; only what tells of an answer excuses an end.
        assert_eq!(excuse_of_end("listening", &case, &step(asked())), None);
        assert!(excuse_of_end("KeyError: 'plants'", &case, &step(asked())).is_some());
    }

    #[test]
    fn an_output_that_is_refused_is_the_servers_own() {
        for text in [
            "Output validation error: 'n' is a required property",
            "Error executing tool dig: 1 validation error for digOutput\nresult\n  Input should be a valid string",
        ] {
            assert_eq!(blame(text), Blame::Output, "{text}");
        }
        let arguments = "Error executing tool dig_output: 1 validation error for dig_outputArguments\nbed\n  Field required";
        assert_eq!(blame(arguments), Blame::Input);
    }
}
