//! Valid values per second and their validity, beside `json_schema_fuzz` in the same run on the same schemas:
//! the recorded tools of real servers and, where `JSON_SCHEMA_TEST_SUITE` is set, the official suite.
#![allow(clippy::print_stdout)]

#[path = "../tests/support/mod.rs"]
mod support;

use json_schema_ast::SchemaDocument;
use json_schema_fuzz::{GenerationConfig, ValueGenerator};
use rand::SeedableRng;
use serde_json::Value;
use std::{collections::BTreeMap, time::Instant};
use wallfacer_schema::{Choices, CompileError, Pool, Schema, Unable};

/// Each schema is run so many times and the fastest run counts: other work on the machine only ever slows down.
const ROUNDS: u64 = 5;
/// Values made in one run.
const BATCH: u64 = 60;
const VALUES: u64 = ROUNDS * BATCH;

/// What one generator did with one schema.
struct Run {
    nanoseconds: u64,
    made: Vec<Value>,
}

fn main() {
    let tools: Vec<(String, Value)> =
        support::tools().into_iter().map(|tool| (tool.name, tool.schema)).collect();
    compare("tool schemas of real servers", &tools);
    let mut suite = Vec::new();
    for draft in ["draft7", "draft2020-12"] {
        suite.extend(support::suite(draft).into_iter().flatten().map(|case| (case.name, case.schema)));
    }
    if !suite.is_empty() {
        compare("official suite, drafts 7 and 2020-12", &suite);
    }
    lists(&tools);
}

fn compare(title: &str, schemas: &[(String, Value)]) {
    let (mut ours, mut theirs) = (Tally::default(), Tally::default());
    let mut ratios = Vec::new();
    for (_, schema) in schemas {
        let Ok(judge) = support::judge(schema) else { continue };
        let (own, peer) = (run_ours(schema), run_theirs(schema));
        ours.add(own.as_ref(), &judge);
        theirs.add(peer.as_ref(), &judge);
        if let (Some(own), Some(peer)) = (own, peer)
            && !own.made.is_empty()
            && !peer.made.is_empty()
        {
            ratios.push(peer.nanoseconds as f64 / own.nanoseconds as f64);
        }
    }
    println!("{title}: {} schemas, {VALUES} values each", schemas.len());
    ours.print("wallfacer-schema");
    theirs.print("json_schema_fuzz");
    let refused = schemas.iter().filter(|(_, schema)| SchemaDocument::from_json(schema).is_err()).count();
    println!("  json_schema_fuzz refuses {refused} schemas as written; those it was given without `$schema`");
    println!("  wallfacer-schema gives no value for: {:?}", reasons(schemas));
    ratios.sort_by(f64::total_cmp);
    println!(
        "  speed, theirs / ours: median {:.2}, quartiles {:.2} … {:.2}\n",
        quantile(&ratios, 0.5),
        quantile(&ratios, 0.25),
        quantile(&ratios, 0.75)
    );
}

fn run_ours(schema: &Value) -> Option<Run> {
    let schema = Schema::compile(schema).ok()?;
    let pool = Pool::new();
    let mut choices = Choices::seeded(1);
    Some(run(|| {
        choices.take_recorded();
        schema.valid(&mut choices, &pool).ok()
    }))
}

/// How many schemas give no value, by what is said of them.
fn reasons(schemas: &[(String, Value)]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for (_, schema) in schemas {
        let reason = match Schema::compile(schema) {
            Err(CompileError::Remote { .. }) => "remote reference".to_owned(),
            Err(_) => "refused".to_owned(),
            Ok(schema) => match schema.valid(&mut Choices::seeded(1), &Pool::new()) {
                Ok(_) => continue,
                Err(Unable::Unsatisfiable { .. }) => "unsatisfiable".to_owned(),
                Err(Unable::TooLarge { .. }) => "too large".to_owned(),
                Err(Unable::Unsupported { keyword, .. }) => format!("unsupported: {keyword}"),
            },
        };
        *reasons.entry(reason).or_default() += 1;
    }
    reasons
}

/// The peer refuses `$schema` of older drafts; such a schema it gets without, and only such a one.
fn run_theirs(schema: &Value) -> Option<Run> {
    let without = || {
        let mut schema = schema.clone();
        schema.as_object_mut()?.shift_remove("$schema");
        SchemaDocument::from_json(&schema).ok()
    };
    let schema = SchemaDocument::from_json(schema).ok().or_else(without)?;
    let mut random = rand::rngs::StdRng::seed_from_u64(1);
    Some(run(|| ValueGenerator::generate(&schema, GenerationConfig::default(), &mut random).ok()))
}

fn run(mut make: impl FnMut() -> Option<Value>) -> Run {
    let mut made = Vec::with_capacity(VALUES as usize);
    let mut nanoseconds = u64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        made.extend((0..BATCH).filter_map(|_| make()));
        nanoseconds = nanoseconds.min(start.elapsed().as_nanos() as u64 / BATCH);
    }
    Run { nanoseconds, made }
}

#[derive(Default)]
struct Tally {
    asked: u64,
    valid: u64,
    wrong: u64,
    times: Vec<f64>,
}

impl Tally {
    fn add(&mut self, run: Option<&Run>, judge: &jsonschema::Validator) {
        self.asked += VALUES;
        let Some(run) = run else { return };
        let valid = run.made.iter().filter(|value| judge.is_valid(value)).count() as u64;
        self.valid += valid;
        self.wrong += run.made.len() as u64 - valid;
        if !run.made.is_empty() {
            self.times.push(run.nanoseconds as f64 / 1000.0);
        }
    }

    fn print(&mut self, name: &str) {
        self.times.sort_by(f64::total_cmp);
        let median = quantile(&self.times, 0.5);
        println!(
            "  {name}: valid {:.2} %, wrong {}, µs per value: median {median:.2}, 90 % below {:.2}, slowest {:.0}; {:.0} values/s at the median",
            100.0 * self.valid as f64 / self.asked as f64,
            self.wrong,
            quantile(&self.times, 0.9),
            quantile(&self.times, 1.0),
            1e6 / median,
        );
    }
}

fn lists(tools: &[(String, Value)]) {
    let pool = Pool::new();
    let mut times = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let mut counts = [0; 3];
    for (_, schema) in tools {
        let start = Instant::now();
        let Ok(schema) = Schema::compile(schema) else { continue };
        times[0].push(start.elapsed().as_secs_f64() * 1e6);
        let start = Instant::now();
        counts[0] += schema.boundary(&pool).map_or(0, |list| list.len());
        times[1].push(start.elapsed().as_secs_f64() * 1e6);
        let start = Instant::now();
        counts[1] += schema.invalid(&pool).map_or(0, |list| list.len());
        times[2].push(start.elapsed().as_secs_f64() * 1e6);
        let start = Instant::now();
        counts[2] += schema.adversarial(&pool).map_or(0, |list| list.len());
        times[3].push(start.elapsed().as_secs_f64() * 1e6);
    }
    println!(
        "lists of {} tool schemas: {} boundary, {} invalid, {} adversarial",
        tools.len(),
        counts[0],
        counts[1],
        counts[2]
    );
    for (name, times) in ["compile", "boundary", "invalid", "adversarial"].iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        println!("  {name}: median {:.0} µs, slowest {:.0} µs", quantile(times, 0.5), quantile(times, 1.0));
    }
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * share).round() as usize).copied().unwrap_or(f64::NAN)
}
