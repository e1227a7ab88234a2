//! Values for the tool schemas of real servers, judged by the independent validator.

mod support;

use wallfacer_schema::{Choices, Pool, Schema};

const VALUES: u64 = 100;

#[test]
fn every_recorded_tool_gives_a_hundred_valid_values() {
    let tools = support::tools();
    assert!(tools.len() > 200, "only {} schemas", tools.len());
    let mut wrong = Vec::new();
    for tool in &tools {
        let schema = Schema::compile(&tool.schema).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
        let judge = support::judge(&tool.schema).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
        for number in 0..VALUES {
            match schema.valid(&mut Choices::for_case(2, number), &Pool::new()) {
                Ok(value) if judge.is_valid(&value) => {}
                other => {
                    wrong.push(format!("{}: {other:?}", tool.name));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_lists_of_every_recorded_tool_keep_their_word() {
    let mut wrong = Vec::new();
    let (mut boundary, mut invalid, mut adversarial, mut conforming) = (0, 0, 0, 0);
    for tool in &support::tools() {
        let schema = Schema::compile(&tool.schema).expect("compiles");
        let judge = support::judge(&tool.schema).expect("a judge");
        for made in schema.boundary(&Pool::new()).expect("a list") {
            boundary += 1;
            if !judge.is_valid(&made.value) {
                wrong.push(format!("{}: boundary {}: {}: {}", tool.name, made.at, made.limit, made.value));
            }
        }
        for made in schema.invalid(&Pool::new()).expect("a list") {
            invalid += 1;
            if judge.is_valid(&made.value) {
                wrong.push(format!("{}: invalid {}: {}", tool.name, made.violation, made.value));
            }
        }
        for made in schema.adversarial(&Pool::new()).expect("a list") {
            adversarial += 1;
            conforming += usize::from(made.conforms);
            if made.conforms != judge.is_valid(&made.value) {
                wrong.push(format!(
                    "{}: adversarial {:?} {} {}",
                    tool.name, made.attack, made.at, made.conforms
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(boundary > 1_000 && invalid > 1_000, "{boundary} and {invalid}");
    assert!(conforming * 2 > adversarial, "{conforming} of {adversarial} conform");
}
