//! Expressions against an independent implementation of CEL, and where this one means to differ.

use super::Expression;
use super::run::{Fault, run};
use crate::evaluate::{Budget, Context, Scope};
use crate::library::Library;
use proptest::prelude::*;
use serde_json::{Value, json};

fn response() -> Value {
    json!({ "i": 7, "f": 2.5, "s": "héllo", "l": [1, 2, 3], "e": [], "m": { "a": 1, "b c": 2 }, "t": true, "z": null })
}

/// `None` is an expression without a value here.
fn ours(text: &str) -> Option<Value> {
    let expression =
        Expression::parse(text, &mut Library::default()).unwrap_or_else(|why| panic!("{text}: {why}"));
    let (input, response, budget) = (json!({}), response(), Budget::default());
    let context = Context::new(&input, &response);
    match run(&expression.syntax, &Scope::new(&context, &budget)) {
        Ok(value) => Some(value.into_owned()),
        Err(Fault::Undefined(_)) => None,
        Err(Fault::Unknown(unknown)) => panic!("{text}: {unknown:?}"),
    }
}

fn reference(text: &str) -> Option<Value> {
    let program = cel::Program::compile(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    let mut context = cel::Context::default();
    context.add_variable("response", response()).unwrap();
    program.execute(&context).ok().map(|value| value.json().unwrap())
}

fn refused(text: &str) -> String {
    Expression::parse(text, &mut Library::default()).expect_err(text)
}

#[test]
fn expressions_have_the_value_that_the_reference_gives_them() {
    let expressions = [
        "true",
        "null",
        "1 + 2 * 3",
        "(1 + 2) * 3",
        "7 / 2",
        "-7 / 2",
        "7 % 3",
        "-7 % 3",
        "1 / 0",
        "7.0 / 2.0",
        "2 - -3",
        "--5",
        "'a' + \"b\"",
        "'a\\n\\u00e9\\x41'",
        "r'a\\n'",
        "'''it's'''",
        "[1, 2] + [3]",
        "{'a': 1}.a",
        "{'a': 1}['a']",
        "[1, 2][1]",
        "[1][5]",
        "1 == 1",
        "'1' == '2'",
        "[1, 2] == [1, 2]",
        "{'a': 1} == {'a': 1}",
        "null == null",
        "1 < 2",
        "'a' < 'b'",
        "1.5 >= 1.0",
        "true && false",
        "true || false",
        "!true",
        "!!true",
        "true ? 1 : 2",
        "false ? 1 : true ? 2 : 3",
        "true || 1 / 0 == 1",
        "1 / 0 == 1 || true",
        "false && 1 / 0 == 1",
        "1 / 0 == 1 && false",
        "1 / 0 == 1 && true",
        "2 in [1, 2]",
        "'a' in {'a': 1}",
        "5 in [1, 2]",
        "size('héllo')",
        "'héllo'.size()",
        "size([1, 2])",
        "size({'a': 1})",
        "'abc'.contains('b')",
        "'abc'.startsWith('a')",
        "'abc'.endsWith('a')",
        "'abc'.matches('^a.c$')",
        "'abc'.matches('b')",
        "int('12')",
        "int(2.9)",
        "double(3)",
        "string(5)",
        "string(true)",
        "int('x')",
        "[1, 2, 3].all(x, x > 0)",
        "[1, 2, 3].all(x, x > 1)",
        "[1, 2, 3].exists(x, x == 2)",
        "[1, 2, 2].exists_one(x, x == 2)",
        "[1, 2].exists_one(x, x == 2)",
        "[1, 2, 3].filter(x, x > 1)",
        "[1, 2, 3].map(x, x * 2)",
        "[1, 2, 3].map(x, x > 1, x * 2)",
        "[[1], [2]].all(l, l.exists(x, x > 0))",
        "[].all(x, x)",
        "{'a': 1, 'b': 2}.all(k, k != 'c')",
        "response.s == 'héllo'",
        "response.l.map(x, x > 1u)",
        "response.m['b c']",
        "has(response.i)",
        "has(response.gone)",
        "response.gone",
        "response.m.a == response.l[0]",
        "response.t && response.z == null",
        "size(response.e) == 0",
        "response.l.all(x, response.l.exists(y, y >= x))",
        "response.f > 2.0",
        "9223372036854775807 + 1",
        "0x10",
        "1e3",
        "1.5e-1",
    ];
    for text in expressions {
        let (found, expected) = (ours(text), reference(text));
        let same = match (&found, &expected) {
            // One kind of number here: a float that is whole may be spelt either way.
            (Some(left), Some(right)) => crate::evaluate::equal(left, right, &Budget::default()).unwrap(),
            (None, None) => true,
            _ => false,
        };
        assert!(same, "{text}: {found:?}, and the reference has {expected:?}");
    }
}

#[test]
fn integers_and_floats_can_be_mixed() {
    assert_eq!(ours("response.i + response.f"), Some(json!(9.5)));
    assert_eq!(ours("response.l.map(x, x + 1)"), Some(json!([2, 3, 4])));
    assert_eq!(ours("1 == 1.0 && 1 < 1.5"), Some(json!(true)));
    assert_eq!(ours("5u + 1"), Some(json!(6)));
}

#[test]
fn what_is_written_wrong_is_refused_when_it_is_read() {
    for text in [
        "",
        "1 +",
        "(1",
        "[1",
        "{'a' 1}",
        "a",
        "response.",
        "response..a",
        "1 = 1",
        "1 & 1",
        "'open",
        "response.x(1)",
        "x.all(x, true)",
        "[1].all(x)",
        "[1].all(1, true)",
        "has(1)",
        "has(response)",
        "size()",
        "size(1, 2)",
        "contains('a', 'b')",
        "'a'.matches('(')",
        "1 2",
        "5 in",
        "#",
        "response.l.all(x, y > 0)",
        "'\\q'",
    ] {
        refused(text);
    }
}

#[test]
fn size_and_nesting_are_bounded() {
    assert!(refused(&format!("{}1{}", "(".repeat(100), ")".repeat(100))).contains("levels deep"));
    assert!(refused(&vec!["1"; 500].join("+")).contains("parts"));
    assert!(refused(&format!("{}true", "!".repeat(500))).contains("parts"));
    assert!(refused(&format!("'{}' == ''", "x".repeat(5000))).contains("longer than"));
    assert!(refused(&format!("{}1", "true ? 1 : ".repeat(100))).contains("levels deep"));
}

fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (-9..10).prop_map(|number| format!("({number})")),
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("'a'".to_owned()),
        Just("response.i".to_owned()),
        Just("response.l".to_owned()),
        Just("response.gone".to_owned()),
        Just("response.s".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let operator = prop_oneof![
            Just("+"),
            Just("-"),
            Just("*"),
            Just("/"),
            Just("%"),
            Just("=="),
            Just("!="),
            Just("<"),
            Just("&&"),
            Just("||"),
            Just("in")
        ];
        prop_oneof![
            (inner.clone(), operator, inner.clone())
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            inner.clone().prop_map(|inner| format!("!({inner})")),
            inner.clone().prop_map(|inner| format!("size({inner})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (inner.clone(), inner).prop_map(|(over, body)| format!("[{over}, 1].all(x, x == {body})")),
        ]
    })
}

proptest! {
    #[test]
    fn any_expression_has_the_value_that_the_reference_gives_it(text in expressions()) {
        if let (Some(found), Some(expected)) = (ours(&text), reference(&text)) {
            prop_assert!(crate::evaluate::equal(&found, &expected, &Budget::default()).unwrap(), "{}: {} and {}", text, found, expected);
        }
    }

    #[test]
    fn any_text_is_an_expression_or_refused(text in "[a-c0-9'\".()\\[\\]{}!&|<>=+*/%?:, \\\\-]{0,60}") {
        let _ = Expression::parse(&text, &mut Library::default());
    }
}
