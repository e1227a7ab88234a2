//! Reduces a server's message to its own wording: what we sent, and what differs from call to call, is replaced by one
//! mark, whichever of the two it was.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::given::{Given, MARK, beginning};

/// What of a message is looked at; the wording stands at the beginning.
const MAX_BYTES: usize = 16 << 10;
/// What of the wording is kept.
const MAX_WORDING_CHARS: usize = 300;
/// Braces within braces, printed by a server; deeper ones are left as they are.
const MAX_BRACES: usize = 16;

/// The wording of a message, on one line.
pub fn normalised(message: &str, given: &Given) -> String {
    let mut text = given.taken_from(beginning(message, MAX_BYTES));
    for varying in VARYING.iter() {
        text = varying.replace_all(&text, format!("${{before}}{MARK}")).into_owned();
    }
    for _ in 0..MAX_BRACES {
        let before = text.len();
        text = DATA.replace_all(&text, MARK).into_owned();
        if text.len() == before {
            break;
        }
    }
    let text = LIST.replace_all(&text, MARK);
    // A message that ends with a value ends alike when the value is empty.
    let wording = one_line(&text);
    wording.trim_end_matches(['<', '*', '>', ' ', '.', '…', ':', ',', '=']).to_owned()
}

/// What differs from call to call, in the order in which it is looked for.
static VARYING: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let varying = [
        // Addresses, ids and times.
        r"(?P<before>)[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s'\x22`<>()]+",
        r"(?P<before>)\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
        r"(?P<before>)\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?Z|[+-]\d\d:?\d\d)?)?",
        // Quoted texts; the last one may have lost its end.
        r#"(?P<before>)"(?:[^"\\\n]|\\.)*(?:"|\z)"#,
        r"(?P<before>^|[^\w])'(?:[^'\\\n]|\\.)*'",
        r"(?P<before>)`[^`\n]*`",
        r"(?P<before>)[“‘«][^”’»\n]*[”’»]",
        // Paths, numbers, and words that are too long to be words.
        r"(?P<before>^|[\s=:(\[,])(?:[A-Za-z]:)?(?:\.{0,2}[\\/])(?:[^\s\\/:'\x22<>()\[\],]+[\\/]?)+",
        r"(?P<before>)\b(?:0x[0-9a-fA-F]+|[0-9a-fA-F]{8,})\b",
        r"(?P<before>^|[^\w.])[+-]?\d[\d_]*(?:[.,]\d+)*(?:[eE][+-]?\d+)?",
        r"(?P<before>^|[^\w])(?:NaN|[+-]?Infinity|[+-]?inf)\b",
        r"(?P<before>)[^\s<>]{40,}",
    ];
    varying.map(pattern).into()
});

/// The innermost object or list of values that a server prints.
static DATA: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\{[^{}]*\}|\[(?:\s*(?:<\*>|null|None|true|false|True|False)\s*,?)*\]"));

/// Several marks in a row; how many there are depends on what was sent.
static LIST: LazyLock<Regex> = LazyLock::new(|| pattern(r"<\*>(?:[, /:.+-]{0,2}<\*>)+"));

/// Each line once, one behind the other: a server that lists its complaints lists as many as the input has faults.
fn one_line(text: &str) -> String {
    let mut seen = BTreeSet::new();
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines = lines.filter(|line| !line.is_empty() && seen.insert(line.clone()));
    lines.collect::<Vec<_>>().join(" ").chars().take(MAX_WORDING_CHARS).collect()
}

/// A pattern of our own, which is known to be one.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("patterns in the source are valid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Case, Intent};
    use serde_json::{Value, json};

    fn plain(message: &str) -> String {
        normalised(message, &Given::default())
    }

    fn after(arguments: Value, message: &str) -> String {
        normalised(message, &Given::of(&Case::tool("now", arguments, Intent::Valid, 1)))
    }

    #[test]
    fn what_differs_from_call_to_call_is_marked() {
        for (message, wording) in [
            ("division by zero", "division by zero"),
            ("index 17 out of range [0, 3)", "index <*> out of range [<*>)"),
            ("took 1.5e3ms of 30s", "took <*>ms of <*>s"),
            ("KeyError: 'name' is missing", "KeyError: <*> is missing"),
            ("can't read \"a \\\" b\", don't ask", "can't read <*>, don't ask"),
            ("file /home/ada/x.txt is missing", "file <*> is missing"),
            (r"file C:\Users\ada\x.txt is missing", "file <*> is missing"),
            ("open '../a/b': ENOENT", "open <*>: ENOENT"),
            ("https://host/a?b=c cannot be fetched", "<*> cannot be fetched"),
            ("request 123e4567-e89b-42d3-a456-426614174000 failed", "request <*> failed"),
            ("object at 0x7f3a12 died", "object at <*> died"),
            ("at 2026-01-02T03:04:05.678Z: late", "at <*>: late"),
            ("utf8 and md5 stay, as does i32", "utf8 and md5 stay, as does i32"),
            ("input {'a': {'b': [1, 2]}} is bad", "input <*> is bad"),
            ("line one\n  line two\n\nline one\n", "line one line two"),
            ("unknown zone: 'x'.", "unknown zone"),
            ("unknown zone: ", "unknown zone"),
        ] {
            assert_eq!(plain(message), wording);
        }
    }

    #[test]
    fn what_we_sent_is_marked_however_it_comes_back() {
        let long = "x".repeat(100_000);
        let words = "lorem ipsum ".repeat(1_000);
        let values = [
            "Europe/Nowhere",
            "a b c d",
            "'; DROP TABLE x; --",
            "x\u{0}y",
            "naïve",
            "2026-13-45",
            "{{7*7}}",
            "a",
            "-",
            "\"",
            "17",
            "alpha",
            &long,
            &words,
        ];
        for value in values {
            let cut: String = value.chars().take(60).collect();
            for shown in [value.to_owned(), cut + "…", Value::from(value).to_string(), format!("{value:?}")]
            {
                let said = after(json!({ "deep": [{ "zone": value }] }), &format!("unknown zone: {shown}"));
                assert_eq!(said, "unknown zone", "{value:.20}");
            }
        }
    }

    #[test]
    fn a_number_of_the_servers_own_is_marked_alike_whether_we_sent_it_or_not() {
        let message = "at most 100 items, please";
        assert_eq!(after(json!({ "n": 100 }), message), after(json!({ "n": 7 }), message));
    }

    #[test]
    fn a_word_of_the_server_stays_when_we_happened_to_send_it() {
        assert_eq!(after(json!({ "q": "not" }), "it must not be empty"), "it must not be empty");
        assert_eq!(after(json!({ "q": "e" }), "it must be there"), "it must be there");
        let nothing = "cannot read properties of undefined (reading a map)";
        assert_eq!(after(json!({ "q": "undefined" }), nothing), nothing);
        assert_eq!(
            after(json!({ "q": "undefined" }), "there is no 'undefined' here"),
            "there is no <*> here"
        );
        assert_eq!(after(json!({ "q": "-" }), "no - really"), "no - really");
        assert_eq!(after(json!({ "q": "Value" }), "ValueError: empty"), "ValueError: empty");
    }

    #[test]
    fn many_complaints_read_like_one() {
        let complaint = "q\n  Field required [type=missing, input_value={'a': 1}]\n";
        let one = format!("1 validation error for Search\n{complaint}");
        let two = format!("2 validation error for Search\n{complaint}{complaint}");
        assert_eq!(plain(&one), plain(&two));
    }

    #[test]
    fn a_huge_message_costs_little() {
        let message = "{".repeat(1 << 20) + &"'x' ".repeat(1 << 20);
        let arguments = json!(vec!["abcdefghij"; 10_000]);
        assert!(after(arguments, &message).chars().count() <= MAX_WORDING_CHARS);
    }
}
