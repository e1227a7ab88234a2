//! Any JSON document as schema: no panic, bounded time and size. A fuzz target that is an ordinary test too;
//! and the same documents, from fixed seeds, held against the independent judge.

mod support;

use bolero::check;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};
use wallfacer_schema::{Choices, Class, Judgement, Limits, Pool, Schema, Shrinker};

/// Generous for a loaded machine and an unoptimised build.
const SOON: Duration = Duration::from_secs(60);

fn limits() -> Limits {
    Limits {
        string: 2_000,
        items: 200,
        nodes: 2_000,
        steps: 20_000,
        judge_steps: 50_000,
        variants: 100,
        shrinks: 50,
        ..Limits::default()
    }
}

const KEYWORDS: [&str; 48] = [
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "$ref",
    "$dynamicRef",
    "$anchor",
    "$dynamicAnchor",
    "$id",
    "$defs",
    "$schema",
    "default",
    "examples",
];
const TEXTS: [&str; 24] = [
    "string",
    "integer",
    "object",
    "array",
    "number",
    "null",
    "boolean",
    "a",
    "b",
    "#",
    "#/$defs/a",
    "#/properties/a",
    "#a",
    "date",
    "uuid",
    "uri",
    "^a+$",
    "[0-9]{2,}",
    "(a|b)*c",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "x/y",
    "(",
    "",
];

/// Reads a document out of bytes; schemas are likelier than other documents.
struct Reader<'b> {
    bytes: &'b [u8],
    depth: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }

    fn text(&mut self) -> String {
        let index = self.byte() as usize;
        TEXTS.get(index % 30).map_or_else(|| char::from(index as u8).to_string(), |text| (*text).to_owned())
    }

    fn schema(&mut self) -> Value {
        if self.depth == 0 || self.bytes.is_empty() {
            return json!(!self.byte().is_multiple_of(8));
        }
        self.depth -= 1;
        let count = self.byte() % 5;
        let mut keywords = Map::new();
        for _ in 0..count {
            let keyword = KEYWORDS[self.byte() as usize % KEYWORDS.len()];
            let value = self.value_for(keyword);
            keywords.insert(keyword.to_owned(), value);
        }
        self.depth += 1;
        Value::Object(keywords)
    }

    fn value_for(&mut self, keyword: &str) -> Value {
        if self.byte().is_multiple_of(16) {
            return self.any();
        }
        let count = self.byte() % 4;
        match keyword {
            "properties" | "$defs" | "patternProperties" | "dependentSchemas" | "dependencies" => {
                (0..count).map(|_| (self.text(), self.schema())).collect::<Map<_, _>>().into()
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => (0..count).map(|_| self.schema()).collect(),
            "required" => (0..count).map(|_| Value::from(self.text())).collect(),
            "type" if count == 3 => (0..count).map(|_| Value::from(self.text())).collect(),
            "enum" | "examples" => (0..count).map(|_| self.any()).collect(),
            "const" | "default" => self.any(),
            "dependentRequired" => json!({ self.text(): [self.text()] }),
            "uniqueItems" => json!(count != 0),
            _ if keyword.starts_with("min")
                || keyword.starts_with("max")
                || keyword.starts_with("exclusive")
                || keyword == "multipleOf" =>
            {
                let byte = self.byte();
                match count {
                    0 => json!(f64::from(byte) / 8.0),
                    1 => json!(i64::from(byte) << (byte % 60)),
                    _ => json!(byte % 9),
                }
            }
            "not"
            | "if"
            | "then"
            | "else"
            | "items"
            | "contains"
            | "additionalProperties"
            | "propertyNames"
            | "unevaluatedProperties"
            | "unevaluatedItems" => self.schema(),
            _ => self.text().into(),
        }
    }

    fn any(&mut self) -> Value {
        match self.byte() % 8 {
            0 => Value::Null,
            1 => json!(true),
            2 => json!(i64::from(self.byte()) - 100),
            3 => json!(f64::from(self.byte()) / 3.0),
            4 => self.text().into(),
            5 => json!([self.text(), self.byte()]),
            6 => json!({ self.text(): self.byte() }),
            _ => self.schema(),
        }
    }
}

/// Beyond 2^53 the independent judge divides with rounding, and the two may differ rightly.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|float| float.abs() <= 9_007_199_254_740_992.0),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        _ => true,
    }
}

/// A `$schema` that is no draft means something else to everyone.
fn is_comparable(document: &Value) -> bool {
    is_exact(document) && !document.to_string().contains("\"$schema\"")
}

fn exercise(document: &Value) {
    let start = Instant::now();
    if let Ok(schema) = Schema::compile_with(document, limits()) {
        let pool = Pool::new();
        for case in 0..3 {
            let mut choices = Choices::for_case(7, case);
            if let Ok(value) = schema.valid(&mut choices, &pool) {
                assert_eq!(schema.judge(&value), Judgement::Valid, "{document}");
                let again = schema.valid(&mut Choices::replay(choices.recorded()), &pool);
                assert_eq!(again.as_ref(), Ok(&value), "{document}");
                let mut shrinker =
                    Shrinker::from_draws(&schema, value, choices.recorded(), &pool, Class::Valid);
                while let Some(candidate) = shrinker.next() {
                    shrinker.keep(candidate.to_string().len().is_multiple_of(2));
                }
                assert_eq!(schema.judge(shrinker.best()), Judgement::Valid, "{document}");
            }
        }
        for made in schema.boundary(&pool).unwrap_or_default() {
            assert_eq!(schema.judge(&made.value), Judgement::Valid, "{document}");
        }
        for made in schema.invalid(&pool).unwrap_or_default() {
            assert_eq!(schema.judge(&made.value), Judgement::Invalid, "{document}");
            assert!(schema.violations(&made.value).contains(&made.violation), "{document}");
        }
        let adversarial = schema.adversarial(&pool).unwrap_or_default();
        assert!(adversarial.len() <= limits().variants);
    }
    assert!(start.elapsed() < SOON, "{:?} for {document}", start.elapsed());
}

#[test]
fn any_document_is_a_schema_that_does_no_harm() {
    check!().for_each(|bytes: &[u8]| {
        exercise(&Reader { bytes, depth: 5 }.schema());
        if let Ok(document) = serde_json::from_slice::<Value>(bytes) {
            exercise(&document);
        }
    });
}

/// Random documents for which the judge's word is asked.
const COMPARED: u64 = 1_500;

#[test]
fn the_independent_judge_agrees_on_random_schemas() {
    let (pool, mut compared) = (Pool::new(), 0);
    for seed in 0..COMPARED {
        let bytes = bytes_from(seed);
        let document = Reader { bytes: &bytes, depth: 5 }.schema();
        let (Ok(schema), Ok(judge)) = (Schema::compile_with(&document, limits()), support::judge(&document))
        else {
            continue;
        };
        let agrees = |value: &Value, valid: bool| {
            !is_comparable(&document) || !is_exact(value) || judge.is_valid(value) == valid
        };
        for case in 0..5 {
            if let Ok(value) = schema.valid(&mut Choices::for_case(seed, case), &pool) {
                compared += 1;
                assert!(agrees(&value, true), "{document}: {value}");
            }
        }
        for made in schema.boundary(&pool).unwrap_or_default() {
            assert!(agrees(&made.value, true), "{document}: {} {}", made.limit, made.value);
        }
        for made in schema.invalid(&pool).unwrap_or_default() {
            assert!(agrees(&made.value, false), "{document}: {} {}", made.violation, made.value);
        }
    }
    assert!(compared > COMPARED, "only {compared} values compared");
}

/// A few hundred bytes of the usual linear congruence; good enough to pick keywords by.
fn bytes_from(seed: u64) -> Vec<u8> {
    let step = |state: &u64| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    std::iter::successors(Some(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)), step)
        .skip(1)
        .take(300)
        .map(|state| (state >> 56) as u8)
        .collect()
}
