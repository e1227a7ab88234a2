//! A file that is printed reads as the same file.

use proptest::prelude::*;
use serde_json::Value;
use std::fmt::Write;
use wallfacer_rules::RuleFile;

/// Pieces that mean something to YAML, to placeholders or to a terminal.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{{".to_owned()),
        Just("}}".to_owned()),
        Just("{".to_owned()),
        Just("{{name}}".to_owned()),
        Just("{{steps.a.response['x']}}".to_owned()),
        Just("{{{{".to_owned()),
        "[ :#&*!|>%@`'\"\\\\,\\[\\]?~-]{1,3}",
        Just("\n".to_owned()),
        Just("\r\t\u{0}\u{7f}\u{85}\u{2028}\u{feff}".to_owned()),
        Just("null".to_owned()),
        Just("1e3".to_owned()),
        "[a-z]{1,4}",
        "\\PC{1,3}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..5)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("a reference must be closed", |text| {
            RuleFile::parse("t", &json_file(&Value::from(text.as_str()))).is_ok()
        })
}

fn trees() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(texts(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// JSON is YAML, if every character beyond ASCII is written as a code.
fn json_file(rules: &Value) -> String {
    let text = format!("{{\"version\": 4, \"invariants\": {rules}}}");
    let mut page = String::new();
    for letter in text.chars() {
        if letter.is_ascii() && letter != '\u{7f}' {
            page.push(letter);
        } else {
            let mut pair = [0; 2];
            for code in letter.encode_utf16(&mut pair) {
                let _ = write!(page, "\\u{code:04x}");
            }
        }
    }
    page
}

proptest! {
    #[test]
    fn a_printed_file_reads_as_the_same_file(tree in trees()) {
        let file = RuleFile::parse("t", &json_file(&tree));
        // Two spellings of one key, `{{` and `{{{{`, are a mistake that random keys make at times.
        prop_assume!(file.is_ok());
        let file = file.unwrap();
        let printed = file.to_string();
        let again = RuleFile::parse("t", &printed);
        prop_assert!(again.is_ok(), "{}\n{}", printed, again.unwrap_err());
        prop_assert_eq!(again.unwrap(), file, "{}", printed);
    }
}

#[test]
fn placeholders_without_quotes_are_printed_without_quotes() {
    let file =
        RuleFile::parse("t", "version: 2\ninvariants: [{ {{key}}: {{value}}, b: [{{c}}, \"{{d}}\"] }]\n")
            .unwrap();
    let printed = file.to_string();
    assert!(printed.contains(": {{value}}\n"), "{printed}");
    assert!(printed.contains("- {{c}}\n"), "{printed}");
    assert!(printed.contains("- \"{{d}}\"\n"), "{printed}");
    assert_eq!(RuleFile::parse("t", &printed).unwrap(), file);
}

#[test]
fn the_rule_files_of_the_tests_survive_printing() {
    for text in [
        include_str!("earlier/version1.yaml"),
        include_str!("earlier/version2.yaml"),
        include_str!("earlier/version3.yaml"),
        include_str!("../../mcp-wallfacer/src/demo/invariants.yaml"),
    ] {
        let file = RuleFile::parse("t", text).unwrap();
        assert_eq!(RuleFile::parse("t", &file.to_string()).unwrap(), file);
    }
}
