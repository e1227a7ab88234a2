//! Whatever a file holds: an answer, no panic, and soon.

use bolero::check;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wallfacer_rules::{RuleFile, Rules, ToolShape, test_offline};

/// Generous, for tests are built without optimisation and share the machine.
const SOON: Duration = Duration::from_secs(20);

const FILES: [&str; 4] = [
    include_str!("earlier/version1.yaml"),
    include_str!("earlier/version2.yaml"),
    include_str!("earlier/version3.yaml"),
    include_str!("../../../docs/rules.md"),
];
/// Pieces that are more likely than a random byte to lead somewhere.
const PIECES: [&str; 24] = [
    "{{",
    "}}",
    "{{steps.a.b}}",
    "[",
    "]",
    "{",
    "}",
    "\n",
    "\n  - ",
    ": ",
    "&a ",
    "*a",
    "!!str ",
    "|\n",
    "\"",
    "'",
    "\\",
    "$.response..*",
    "version: 4\n",
    "kind: expr\n",
    "expr: \"a.all(x, x)\"",
    "\t",
    "\u{feff}",
    "? ",
];

fn read(text: &str) {
    let started = Instant::now();
    let loader = |name: &str| (name == "witness").then(|| text.to_owned());
    match Rules::read("any.yaml", text, &BTreeMap::new(), &loader) {
        Ok(rules) => {
            test_offline(&rules);
            rules.expand(&[ToolShape::new(serde_json::json!({ "name": "t" }))]);
        }
        Err(problems) => {
            assert!(!problems.0.is_empty());
            let _ = problems.to_string();
        }
    }
    if let Ok(file) = RuleFile::parse("any.yaml", text) {
        let _ = file.to_string();
    }
    assert!(started.elapsed() < SOON, "{:?} for {} bytes", started.elapsed(), text.len());
}

#[test]
fn any_text_is_answered_without_panic() {
    check!().with_iterations(3_000).for_each(|bytes| read(&String::from_utf8_lossy(bytes)));
}

#[test]
fn any_change_of_a_file_is_answered_without_panic() {
    check!().with_iterations(1_500).with_type::<(u8, Vec<(u16, u8, u8)>)>().for_each(|(file, changes)| {
        let mut text: Vec<char> = FILES[usize::from(*file) % FILES.len()].chars().take(6_000).collect();
        for (place, length, piece) in changes.iter().take(8) {
            let start = usize::from(*place) % (text.len() + 1);
            let end = (start + usize::from(*length) % 16).min(text.len());
            text.splice(start..end, PIECES[usize::from(*piece) % PIECES.len()].chars());
        }
        read(&text.into_iter().collect::<String>());
    });
}

#[test]
fn texts_made_to_exhaust_are_answered_soon() {
    let deep = |open: &str, close: &str| {
        format!("version: 4\ninvariants: {}{}\n", open.repeat(50_000), close.repeat(50_000))
    };
    let wide = |item: &str| format!("version: 4\ninvariants: [{}]\n", item.repeat(20_000));
    let aliases = (0..2_000).fold("version: 4\na0: &a0 [x]\n".to_owned(), |text, number| {
        text + &format!("a{}: &a{} [*a{number}, *a{number}]\n", number + 1, number + 1)
    });
    let expression = format!(
        "version: 4\ninvariants: [{{ name: a, tool: t, fixed: {{}}, assert: [{{ kind: expr, expr: \"{}\" }}] }}]",
        "[1].all(x, ".repeat(300)
    );
    let pattern = "version: 4\ninvariants: [{ name: a, tool: t, fixed: {}, assert: [{ kind: matches_regex, path: $.response, pattern: '((((a{99}){99}){99}){99})' }] }]";
    for text in [
        deep("[", "]"),
        deep("{a: ", "}"),
        deep("- ", ""),
        deep("{{", "}}"),
        deep("? ", ""),
        wide("{ name: a }, "),
        wide("{{x}}, "),
        wide("'{{steps.a.b}}', "),
        aliases,
        expression,
        pattern.to_owned(),
        format!("version: 4\nx: \"{}\"\n", "{{".repeat(200_000)),
        format!("version: 4\nx: \"{}{}\"\n", "{{a".repeat(150_000), " ".repeat(400_000)),
        format!("version: 4\nx: \"{}\"\n", "{{steps.a".repeat(80_000)),
        format!("version: 4\n{}", "# comment\n".repeat(100_000)),
        format!("version: 4\n{}", "key: value\n".repeat(80_000)),
        format!("a:\n{}", " ".repeat(900_000)),
    ] {
        read(&text);
    }
}
