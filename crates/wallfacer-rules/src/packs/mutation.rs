//! Every claim of every rule that ships turned into its opposite, one at a time: some fixture of the rule must notice.

use super::{Shelf, packs};
use crate::assertion::{Assertion, Claim};
use crate::offline::{FixtureResult, play, tried};
use crate::rule::Rule;
use crate::rules::Rules;
use crate::sequence::{Outcome, Sequence};
use std::collections::BTreeMap;

/// Rule files beside the packs.
const FILES: [(&str, &str); 3] = [
    ("the starter rules", include_str!("../../../mcp-wallfacer/src/init/invariants.yaml")),
    ("a new pack", include_str!("../../../mcp-wallfacer/src/cli/pack.yaml")),
    ("the demo", include_str!("../../../mcp-wallfacer/src/demo/invariants.yaml")),
];

#[test]
fn turning_any_claim_round_is_noticed_by_a_fixture() {
    let unnoticed: Vec<String> = shipped().iter().flat_map(|(name, rules)| unnoticed(name, rules)).collect();
    assert!(unnoticed.is_empty(), "{}", unnoticed.join("\n"));
}

fn shipped() -> Vec<(&'static str, Rules)> {
    let shelf = Shelf::default();
    let packs = packs().iter().map(|pack| (pack.name, shelf.rules(pack.name, &BTreeMap::new()).unwrap()));
    let files = FILES.map(|(name, text)| (name, Rules::read(name, text, &BTreeMap::new(), &|_| None)));
    packs.chain(files).map(|(name, rules)| (name, rules.unwrap())).collect()
}

/// What may be turned round without any fixture of the file failing.
fn unnoticed(file: &str, rules: &Rules) -> Vec<String> {
    let mut unnoticed = Vec::new();
    let mut turned = 0;
    for rule in every_rule(rules) {
        for assertions in variants(&rule.assertions) {
            turned += 1;
            let mutant = Rule { assertions, ..rule.clone() };
            if mutant.fixtures.iter().all(|fixture| tried(&mutant, fixture) == FixtureResult::Met) {
                unnoticed.push(format!("{file}: {}: {:?}", rule.name, mutant.assertions));
            }
        }
    }
    for sequence in &rules.sequences {
        for mutant in sequence_variants(sequence) {
            turned += 1;
            if mutant.fixtures.iter().all(|fixture| play(&mutant, fixture) == FixtureResult::Met) {
                unnoticed.push(format!("{file}: {}: {:?}", sequence.name, mutant.steps));
            }
        }
    }
    assert!(turned > 0, "{file}");
    unnoticed
}

/// Those about one tool, and an example of each about every tool.
fn every_rule(rules: &Rules) -> Vec<Rule> {
    let mut library = rules.library.clone();
    let samples = rules.blocks.iter().map(|block| block.sample(&mut library).unwrap());
    let samples: Vec<_> = samples.collect();
    rules.rules.iter().cloned().chain(samples).collect()
}

/// The claims with one of them, at any depth, turned round.
fn variants(claims: &[Assertion]) -> Vec<Vec<Assertion>> {
    let mut found = Vec::new();
    for (index, claim) in claims.iter().enumerate() {
        for changed in turned(claim) {
            let mut claims = claims.to_vec();
            claims[index] = changed;
            found.push(claims);
        }
    }
    found
}

fn turned(claim: &Assertion) -> Vec<Assertion> {
    let opposite = Claim::Not { claim: Box::new(claim.clone()), or_missing: false };
    let mut found = vec![Assertion(opposite)];
    let wrap = |make: &dyn Fn(Vec<Assertion>) -> Claim, claims: &[Assertion]| {
        variants(claims).into_iter().map(|claims| Assertion(make(claims))).collect::<Vec<_>>()
    };
    match &claim.0 {
        Claim::AllOf(claims) => found.extend(wrap(&Claim::AllOf, claims)),
        Claim::AnyOf(claims) => found.extend(wrap(&Claim::AnyOf, claims)),
        Claim::ForEach { path, claims } => {
            found.extend(wrap(&|claims| Claim::ForEach { path: path.clone(), claims }, claims));
        }
        Claim::ParsesAsJson { path, claims } => {
            found.extend(wrap(&|claims| Claim::ParsesAsJson { path: path.clone(), claims }, claims));
        }
        _ => {}
    }
    found
}

fn sequence_variants(sequence: &Sequence) -> Vec<Sequence> {
    let mut found = Vec::new();
    for (index, step) in sequence.steps.iter().enumerate() {
        let with = |change: &dyn Fn(&mut crate::sequence::Step)| {
            let mut sequence = sequence.clone();
            change(&mut sequence.steps[index]);
            sequence
        };
        found.extend(
            variants(&step.assertions)
                .into_iter()
                .map(|claims| with(&|step| step.assertions.clone_from(&claims))),
        );
        match step.expect {
            Outcome::Ok => found.push(with(&|step| step.expect = Outcome::Error)),
            Outcome::Error => found.push(with(&|step| step.expect = Outcome::Ok)),
            Outcome::Any => {}
        }
    }
    found
}
