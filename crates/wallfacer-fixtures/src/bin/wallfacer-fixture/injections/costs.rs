//! What a call costs.

use serde_json::json;

use crate::answer::Answer;
use crate::scenes::{Scene, Tool, failed, said};

/// A text that is longer is not looked at by the correct twins, nor is more than this written out.
const LONGEST: usize = 1 << 20;
/// The largest exponent of the correct twin.
const LARGEST: usize = 1_000;
/// What an expression is held against.
const LINE: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "time-runs-away" => Tool::new(
            "trim_text",
            "Takes away white space at the end.",
            json!({"text": {"type": "string"}}),
            &["text"],
            |call| {
                let text = call.text("text");
                if text.len() > LONGEST { failed("too long") } else { said(text.trim_end()) }
            },
        )
        .except(|_| true, |call| said(&format!("{} places end in white space", places(call.text("text"))))),
        "pattern-that-backtracks" => Tool::new(
            "search_pages",
            "Searches the pages.",
            json!({"pattern": {"type": "string"}}),
            &["pattern"],
            |call| said(&format!("{}", LINE.contains(call.text("pattern")))),
        )
        .except(
            |call| repeated(call.text("pattern")).is_some(),
            |call| {
                let times = repeated(call.text("pattern")).unwrap_or_default();
                said(&format!("{}", matches(LINE.as_bytes(), times)))
            },
        ),
        "pattern-behind-a-switch" => Tool::new(
            "search_pages",
            "Searches the pages.",
            json!({"query": {"type": "string"}, "ending": {"type": "string"}, "regex": {"type": "boolean"}}),
            &["query"],
            |call| said(&format!("{}", LINE.contains(call.text("query")))),
        )
        .except(
            |call| call.arguments["regex"] == true && call.arguments["ending"].is_null(),
            |call| try_all(call.text("query")),
        ),
        "power-without-limit" => Tool::new(
            "work_out",
            "Works out a power.",
            json!({"expression": {"type": "string", "examples": ["2**8"]}}),
            &["expression"],
            |call| power(call.text("expression"), LARGEST),
        )
        .except(|_| true, |call| power(call.text("expression"), usize::MAX)),
        "archive-without-limit" => Tool::new(
            "measure_archive",
            "Tells how much a gzip file in base64 unpacks to.",
            json!({"archive": {"type": "string"}}),
            &["archive"],
            |call| unpack(call.text("archive"), LONGEST),
        )
        .except(|_| true, |call| unpack(call.text("archive"), usize::MAX)),
        "memory-runs-away" => Tool::new(
            "read_document",
            "Tells how long a document is.",
            json!({"document": {"type": "string"}}),
            &["document"],
            |call| match expanded(call.text("document"), LONGEST) {
                Some(text) => said(&text.len().to_string()),
                None => failed("too long"),
            },
        )
        .except(
            |_| true,
            |call| match expanded(call.text("document"), usize::MAX) {
                Some(text) => said(&text.len().to_string()),
                None => failed("too long"),
            },
        ),
        _ => return None,
    };
    Some(Scene::around(tool))
}

/// Each run of white space is walked from each of its letters, as an expression that backtracks does.
fn places(text: &str) -> usize {
    let letters: Vec<char> = text.chars().collect();
    let ends = |start: &usize| letters[*start..].iter().take_while(|letter| letter.is_whitespace()).count();
    (0..letters.len()).filter(|start| *start + ends(start) == letters.len()).count()
}

/// The last digit of a power, after as many steps as it takes to multiply two numbers of its length by hand.
fn power(expression: &str, largest: usize) -> Answer {
    let exponent = expression.split_once("**").map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
    let Some(exponent) = exponent.and_then(|digits| digits.parse::<usize>().ok()) else {
        return failed("this is no power");
    };
    if exponent > largest {
        return failed("the exponent is too large");
    }
    let length = exponent / 1_000;
    let steps = (0..length).flat_map(|row| (0..length).map(move |column| row ^ column));
    said(&(steps.fold(exponent, |sum, step| sum.wrapping_add(step)) % 10).to_string())
}

/// Holds an expression against a line, as an engine does that backtracks.
pub fn try_all(pattern: &str) -> Answer {
    match repeated(pattern) {
        Some(times) => said(&format!("{}", matches(LINE.as_bytes(), times))),
        None => said("no"),
    }
}

/// How often `(a+)` is to come before a `b`.
fn repeated(pattern: &str) -> Option<usize> {
    pattern.strip_prefix("(a+){")?.strip_suffix("}b")?.parse().ok()
}

/// Tries every length of every repetition before it gives up.
fn matches(line: &[u8], times: usize) -> bool {
    if times == 0 {
        return line.first() == Some(&b'b');
    }
    let letters = line.iter().take_while(|letter| **letter == b'a').count();
    (1..=letters).rev().any(|length| matches(&line[length..], times - 1))
}

/// A document with its entities written out, each of which doubles the one before; none where that is too long.
fn expanded(document: &str, longest: usize) -> Option<String> {
    let mut text = String::new();
    for declared in document.split("<!ENTITY ").skip(1) {
        let value = declared.split('"').nth(1).unwrap_or_default();
        text = if value.starts_with('&') { text.repeat(2) } else { value.to_owned() };
        if text.len() > longest {
            return None;
        }
    }
    Some(text)
}

/// As much memory as the file says that it unpacks to, all of it written.
fn unpack(archive: &str, longest: usize) -> Answer {
    let packed = decoded(archive);
    let size = match packed.last_chunk::<4>() {
        Some(size) if packed.starts_with(&[0x1f, 0x8b]) => u32::from_le_bytes(*size) as usize,
        _ => return failed("this is no gzip file"),
    };
    if size > longest {
        return failed("too long");
    }
    let room = vec![b'.'; size];
    said(&format!("{} bytes", std::hint::black_box(room).len()))
}

/// What a text in base64 stands for; what is no base64 is passed over.
fn decoded(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text
        .bytes()
        .filter_map(|letter| LETTERS.iter().position(|known| *known == letter))
        .filter_map(|digit| u32::try_from(digit).ok())
        .collect();
    let group = |group: &[u32]| {
        let whole = (0..4).fold(0, |whole, place| whole << 6 | group.get(place).copied().unwrap_or_default());
        whole.to_be_bytes()[1..group.len().max(1)].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}
