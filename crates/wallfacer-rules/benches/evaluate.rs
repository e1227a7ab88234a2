//! A thousand rules on a thousand responses: how many evaluations a second, and what was compiled for them.
//!
//! Instructions are counted by callgrind, of what is evaluated alone:
//! `valgrind --tool=callgrind --toggle-collect='evaluate::evaluated' target/release/deps/evaluate-…`

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;
use wallfacer_rules::{Compiled, Context, Rules, Verdict};

const RULES: usize = 1000;
const RESPONSES: usize = 1000;

/// Ten kinds of claim in turn; the patterns are all different.
fn file() -> String {
    let mut page = String::from("version: 4\ninvariants:\n");
    for number in 0..RULES {
        let field = number % 100;
        let claim = match number % 10 {
            0 => format!("{{ kind: is_type, path: \"$.response.structuredContent.f{field}\", type: number }}"),
            1 => format!("{{ kind: at_least, path: \"$.response.structuredContent.f{field}\", value: 0 }}"),
            2 => format!("{{ kind: matches_regex, path: \"$.response.content[0].text\", pattern: '^item [0-9]+ of {number}|all' }}"),
            3 => format!("{{ kind: equals, lhs: \"$.response.structuredContent.f{field}\", rhs: \"$.response.structuredContent.f{field}\" }}"),
            4 => "{ kind: length_at_least, path: \"$.response.content\", value: 1 }".into(),
            5 => "{ kind: for_each, path: \"$.response.content[*].type\", assert: [{ kind: equals, lhs: \"$.item\", rhs: text }] }".into(),
            6 => format!("{{ kind: matches_schema, path: \"$.response.structuredContent\", schema: {{ type: object, required: [f{field}] }} }}"),
            7 => "{ kind: not, assertion: { kind: matches_regex, path: \"$.response.content[0].text\", pattern: 'Traceback|panicked at' } }".into(),
            8 => format!("{{ kind: expr, expr: \"response.structuredContent.f{field} >= 0 && size(response.content) > 0\" }}"),
            _ => format!("{{ kind: exists, path: \"$.response.structuredContent[?@ == {field}]\" }}"),
        };
        let _ = writeln!(page, "  - {{ name: rule{number}, tool: t, fixed: {{}}, assert: [{claim}] }}");
    }
    page
}

fn response(number: usize) -> Value {
    let fields: serde_json::Map<String, Value> =
        (0..100).map(|field| (format!("f{field}"), json!(field))).collect();
    json!({ "content": [{ "type": "text", "text": format!("item {number} of all") }], "structuredContent": fields })
}

/// How many times a rule holds.
#[inline(never)]
fn evaluated(rules: &Rules, input: &Value, responses: &[Value]) -> usize {
    let mut holding = 0;
    for response in responses {
        let context = Context::new(input, response);
        holding += rules.rules.iter().filter(|rule| rule.judge(&context) == Verdict::Holds).count();
    }
    holding
}

#[allow(clippy::print_stdout)]
fn main() {
    let text = file();
    let started = Instant::now();
    let rules = Rules::read("bench.yaml", &text, &BTreeMap::new(), &|_| None)
        .expect("the file of the benchmark is right");
    let reading = started.elapsed();
    let before = rules.compiled();
    // A hundred patterns of their own and one in common; what stands in many rules is compiled once.
    assert_eq!(before, Compiled { regexes: 101, paths: 45, schemas: 10, expressions: 10 });
    let responses: Vec<Value> = (0..RESPONSES).map(response).collect();
    let input = json!({});

    let started = Instant::now();
    let holding = evaluated(&rules, &input, &responses);
    let evaluating = started.elapsed();

    let evaluations = RULES * RESPONSES;
    assert_eq!(holding, evaluations, "every rule holds for every response");
    assert_eq!(rules.compiled(), before, "nothing is compiled while evaluating");
    println!("read and compiled {RULES} rules in {reading:?}: {before:?}");
    println!("{evaluations} evaluations in {evaluating:?}");
    println!("{:.0} evaluations per second", evaluations as f64 / evaluating.as_secs_f64());
    println!("{:.0} ns per evaluation", evaluating.as_nanos() as f64 / evaluations as f64);
}
