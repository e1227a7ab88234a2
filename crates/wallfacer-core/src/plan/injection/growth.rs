//! Texts that ask for more and more time or memory, each twice as much as the one before.

use super::aim::Aim;
use super::archive::{self, SIZES, Size};
use super::code::is_calculated;
use super::ground::LINES;
use super::payload::Payload;
use super::place::{Place, Purpose};
use wallfacer_text::lexicon::words;

/// What a call asks for first; each further one asks twice as much.
const DOUBLINGS: u32 = 3;
/// Repetitions at which an expression that backtracks exponentially is felt, and at which one that does so over a long
/// text is.
const FEW: usize = 8;
const MANY: usize = 2_000;
/// Levels of a text that doubles with each of them: three doublings of this are some hundred megabytes.
const LEVELS: usize = 3;

/// The exponent at which a power is felt that is worked out to its last digit.
const EXPONENT: usize = 2_000_000;

/// Words of arguments that may be packed.
const PACKED: [&str; 11] = [
    "archive",
    "base64",
    "compressed",
    "gunzip",
    "gz",
    "gzip",
    "gzipped",
    "inflate",
    "packed",
    "zip",
    "zipped",
];

/// Texts that each ask twice as much as the one before. `said` is all that the tool says of itself.
pub fn growths(place: &Place, said: &str) -> Vec<Payload> {
    let expressions = is_expression(place, said);
    let rank = match place.purpose {
        Purpose::Number => return Vec::new(),
        Purpose::Pattern => 1,
        Purpose::Prose | Purpose::Unknown | Purpose::Statement => 2,
        _ => 3,
    };
    let doubled = |first: usize| (0..=DOUBLINGS).map(move |step| first << step);
    let all = |first, write: fn(usize) -> String| doubled(first).map(write).collect::<Vec<String>>();
    // Held against lines of letters, each twice as long as the one before.
    let lines = || LINES.iter().map(|(letter, _)| format!("({letter}+)+$")).collect();
    let patterns = [
        ("an expression that backtracks", all(1, |times| format!("(a+){{{times}}}b"))),
        ("an expression that backtracks over longer and longer lines", lines()),
    ];
    let texts = [
        ("letters that nearly match", all(FEW, |times| format!("{}!", "a".repeat(times)))),
        ("many letters that nearly match", all(MANY, |times| format!("{}!", "a".repeat(times)))),
        ("much white space", all(MANY, |times| format!("x{}x", " ".repeat(times)))),
        ("many brackets", all(MANY, |times| "<".repeat(times))),
        ("many lines without anything on them", all(MANY, |times| format!("x{}x", "\n".repeat(times)))),
        ("many digits", all(MANY, |times| format!("{}!", "1".repeat(times)))),
        ("many dots", all(MANY, |times| format!("x{}x", "a.".repeat(times)))),
        ("entities of entities", all(LEVELS, entities)),
        ("aliases of aliases", all(LEVELS, aliases)),
    ];
    let pattern = |(way, values): (&str, Vec<String>)| Payload {
        beside: Some(super::ground::lines()),
        ..Payload::of(way, Aim::Grow, values, if expressions { 0 } else { rank })
    };
    let text = |(way, values): (&str, Vec<String>)| Payload::of(way, Aim::Grow, values, rank);
    let patterns: Vec<Payload> = patterns.into_iter().map(pattern).collect();
    patterns.into_iter().chain(powers(place)).chain(texts.into_iter().map(text)).collect()
}

/// For what is calculated: numbers with more and more digits. What is left of them is small, so that nobody fails to write it.
fn powers(place: &Place) -> Option<Payload> {
    let power = |step: u32| format!("7**{} % 11", EXPONENT << step);
    let values = (0..=DOUBLINGS).map(power).collect();
    is_calculated(place).then(|| Payload::of("powers with larger and larger exponents", Aim::Grow, values, 0))
}

/// Whether a text is likely to be taken for a regular expression.
fn is_expression(place: &Place, said: &str) -> bool {
    let said = said.to_lowercase();
    let tool_says = ["regex", "regexp", "regular expression"].iter().any(|words| said.contains(words));
    let named = words(&place.name).iter().any(|word| ["regex", "regexp", "pattern"].contains(&word.as_str()));
    let may_be = matches!(place.purpose, Purpose::Pattern | Purpose::Statement | Purpose::Unknown);
    named || tool_says && may_be
}

/// Archives that unpack to much more than is sent. They are not small, so only what speaks of such things is sent any.
pub fn archives(place: &Place, about: &str) -> Vec<Payload> {
    let said = words(&place.name).into_iter().chain(words(about)).collect::<Vec<String>>();
    let speaks = said.iter().any(|word| PACKED.contains(&word.as_str()));
    if !speaks {
        return Vec::new();
    }
    let payload =
        |way: &str, write: fn(Size) -> String| Payload::of(way, Aim::Inflate, SIZES.map(write).to_vec(), 1);
    vec![
        payload("a packed file that unpacks to much more", archive::gzip),
        payload("an archive that unpacks to much more", archive::zip),
    ]
}

/// A document in which each entity stands for twice the one before.
fn entities(levels: usize) -> String {
    let next = |level: usize| format!("<!ENTITY e{level} \"&e{0};&e{0};\">", level - 1);
    let rest: String = (1..=levels).map(next).collect();
    format!("<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY e0 \"aaaaaaaaaa\">{rest}]><a>&e{levels};</a>")
}

/// The same as lists that name one another.
fn aliases(levels: usize) -> String {
    let next = |level: usize| format!("e{level}: &e{level} [*e{0}, *e{0}]\n", level - 1);
    let rest: String = (1..=levels).map(next).collect();
    format!("e0: &e0 [aaaaaaaaaa]\n{rest}")
}
