//! Values for every schema of the official suite, judged by the independent validator.

mod support;

use std::collections::BTreeMap;
use support::Case;
use wallfacer_schema::{Choices, CompileError, Pool, Schema, Unable};

const VALUES: u64 = 100;
/// Of a hundred schemas so many may be answered with "unsupported".
const MOST_UNSUPPORTED_PERCENT: usize = 2;

fn cases() -> Option<Vec<Case>> {
    let mut cases = support::suite("draft7")?;
    cases.extend(support::suite("draft2020-12")?);
    Some(cases)
}

/// The schema with its judge; nothing for remote references and what the judge itself cannot read.
fn prepared(case: &Case) -> Option<(Schema, jsonschema::Validator)> {
    let schema = match Schema::compile(&case.schema) {
        Ok(schema) => schema,
        Err(CompileError::Remote { .. }) => return None,
        Err(error) => panic!("{}/{}: {error}", case.draft, case.name),
    };
    Some((schema, support::judge(&case.schema).ok()?))
}

#[test]
fn every_schema_gives_valid_values_or_says_why_not() {
    let Some(cases) = cases() else { return };
    let (mut tried, mut unsatisfiable, mut wrong) = (0, 0, Vec::new());
    let mut unsupported: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in &cases {
        let Some((schema, judge)) = prepared(case) else { continue };
        tried += 1;
        for number in 0..VALUES {
            match schema.valid(&mut Choices::for_case(1, number), &Pool::new()) {
                Ok(value) if judge.is_valid(&value) => {}
                Ok(value) => {
                    wrong.push(format!("{}/{}: {value}", case.draft, case.name));
                    break;
                }
                Err(Unable::Unsatisfiable { .. }) => {
                    unsatisfiable += 1;
                    let accepted =
                        case.tests.iter().find(|(value, valid, _)| *valid && judge.is_valid(value));
                    if let Some((value, ..)) = accepted {
                        wrong
                            .push(format!("{}/{}: called unsatisfiable, yet {value}", case.draft, case.name));
                    }
                    break;
                }
                Err(Unable::Unsupported { keyword, why, .. }) => {
                    unsupported
                        .entry(keyword.to_owned())
                        .or_default()
                        .push(format!("{}/{}: {why}", case.draft, case.name));
                    break;
                }
                Err(error @ Unable::TooLarge { .. }) => {
                    wrong.push(format!("{}/{}: {error}", case.draft, case.name));
                    break;
                }
            }
        }
    }
    let count: usize = unsupported.values().map(Vec::len).sum();
    let summary =
        format!("{tried} schemas, {unsatisfiable} unsatisfiable, {count} unsupported: {unsupported:#?}");
    assert!(wrong.is_empty(), "{} wrong:\n{}\n{summary}", wrong.len(), wrong.join("\n"));
    assert!(count * 100 <= tried * MOST_UNSUPPORTED_PERCENT, "{summary}");
}

#[test]
fn every_boundary_value_is_valid_and_every_invalid_value_is_not() {
    let Some(cases) = cases() else { return };
    let mut wrong = Vec::new();
    let (mut on_boundary, mut invalid) = (0, 0);
    for case in &cases {
        let Some((schema, judge)) = prepared(case) else { continue };
        for made in schema.boundary(&Pool::new()).unwrap_or_default() {
            on_boundary += 1;
            if !judge.is_valid(&made.value) {
                wrong.push(format!(
                    "{}/{}: boundary {}: {}: {}",
                    case.draft, case.name, made.at, made.limit, made.value
                ));
            }
        }
        for made in schema.invalid(&Pool::new()).unwrap_or_default() {
            invalid += 1;
            if judge.is_valid(&made.value) {
                wrong.push(format!(
                    "{}/{}: invalid {}: {}",
                    case.draft, case.name, made.violation, made.value
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {on_boundary} + {invalid} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(on_boundary > 2 * cases.len() && invalid > 2 * cases.len(), "{on_boundary} + {invalid}");
}
