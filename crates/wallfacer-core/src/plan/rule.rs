//! Makes the cases that show whether a rule holds: each input a script, sent as often as the rule says.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wallfacer_rules::{Generate, Input, Known, Rule, Sequence};
use wallfacer_schema::{Choices, Pool, Schema};

use super::case::{Case, Intent, Step, Subject};
use super::claim::Claim;
use super::mutation::{Draw, mutate, pick};

/// Inputs of one rule, whatever it asks for: each is kept until it is judged.
const MAX_INPUTS: u32 = 10_000;

/// What cases of rules are made with.
#[derive(Debug)]
pub struct RulePlan<'a> {
    /// The input schemas of the tools that may be called.
    pub schemas: &'a BTreeMap<String, Schema>,
    pub known: Known<'a>,
    pub seed: u64,
    /// Inputs of a rule that names no number.
    pub cases: u32,
    /// How many of the made inputs are changed ones of earlier runs, from none to all, and those.
    pub news: Option<(f64, Vec<Map<String, Value>>)>,
}

/// Why no case could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotMade(pub String);

/// The cases of a rule that makes calls.
pub fn rule_cases(rule: &Arc<Rule>, plan: &RulePlan<'_>) -> Result<Vec<Case>, NotMade> {
    let inputs = rule.inputs(plan.cases).min(MAX_INPUTS);
    let claim = Claim::of_rule(rule);
    let source = Source::new(rule, plan)?;
    let case = |number: u32| {
        // All rules about a tool see the same inputs, so that each call serves them all.
        let seed = seed(plan.seed, &rule.tool, number);
        let call = Case::tool(&rule.tool, source.draw(number, seed, plan.news.as_ref())?, Intent::Rule, seed);
        let steps = std::iter::repeat_n(call.steps[0].clone(), rule.repeat.max(1) as usize).collect();
        Ok(Case { steps, claim: Some(Box::new(claim.clone())), ..call })
    };
    (0..inputs).map(case).collect()
}

/// A case that is judged by what the server says of its tool, and sends nothing.
pub fn static_case(rule: &Arc<Rule>, seed: u64) -> Case {
    Case {
        subject: Subject::Tool(rule.tool.clone()),
        intent: Intent::Rule,
        prelude: Vec::new(),
        steps: Vec::new(),
        seed,
        claim: Some(Box::new(Claim::of_rule(rule))),
        measure: None,
    }
}

/// A sequence as a case: its calls depend on its answers, so its steps are known only once it was played.
pub fn sequence_case(sequence: &Arc<Sequence>, seed: u64) -> Case {
    let tools = sequence.tools();
    let mut called = tools.iter();
    let subject = match (called.next(), called.next()) {
        (Some(only), None) => Subject::Tool((*only).to_owned()),
        _ => Subject::Server,
    };
    Case {
        subject,
        intent: Intent::Rule,
        prelude: Vec::new(),
        steps: Vec::new(),
        seed,
        claim: Some(Box::new(Claim::of_sequence(sequence))),
        measure: None,
    }
}

/// Where the arguments of a rule come from.
enum Source<'a> {
    Fixed(Value),
    Made(Schema),
    Declared { schema: &'a Schema, made: Option<Schema>, over: Value },
}

impl<'a> Source<'a> {
    fn new(rule: &Rule, plan: &RulePlan<'a>) -> Result<Source<'a>, NotMade> {
        let resolved = |draft: &wallfacer_rules::Draft| {
            draft.resolve(&plan.known).map_err(|unresolved| NotMade(unresolved.to_string()))
        };
        Ok(match &rule.input {
            Input::Fixed(draft) => Source::Fixed(resolved(draft)?),
            Input::Generated(generate) => Source::Made(compiled(generate)?),
            Input::SchemaValid { over, made } => Source::Declared {
                made: made.as_ref().map(compiled).transpose()?,
                schema: plan
                    .schemas
                    .get(&rule.tool)
                    .ok_or_else(|| NotMade("the input schema of its tool cannot be used".to_owned()))?,
                over: resolved(over)?,
            },
        })
    }

    /// The first is the simplest there is, which is the one that most often succeeds.
    fn draw(
        &self,
        number: u32,
        seed: u64,
        news: Option<&(f64, Vec<Map<String, Value>>)>,
    ) -> Result<Value, NotMade> {
        let mut choices = if number == 0 { Choices::simplest() } else { Choices::seeded(seed) };
        let mut draw = |schema: &Schema| {
            let value = schema.valid(&mut choices, &Pool::new());
            let value = value
                .map(|fresh| changed(&fresh, schema, seed, news.filter(|_| number > 0)).unwrap_or(fresh));
            value.map_err(|error| NotMade(format!("no valid arguments can be made: {error}")))
        };
        match self {
            Source::Fixed(value) => Ok(value.clone()),
            Source::Made(schema) => draw(schema),
            Source::Declared { schema, made, over } => {
                let arguments = draw(schema)?;
                let made = made.as_ref().map_or(Ok(Value::Null), draw)?;
                Ok(put_over(put_over(arguments, &made), over))
            }
        }
    }
}

/// Something that brought news, changed; none where it is not the turn of it. What the rule does not ask for is not sent.
fn changed(
    fresh: &Value,
    schema: &Schema,
    seed: u64,
    news: Option<&(f64, Vec<Map<String, Value>>)>,
) -> Option<Value> {
    let (ratio, known) = news?;
    let mut draw = Draw::new(seed);
    let turn = draw.happens(*ratio);
    let input = pick(known, &mut draw).filter(|_| turn)?;
    let value = Value::Object(mutate(input, fresh.as_object()?, &mut draw));
    schema.violations(&value).is_empty().then_some(value)
}

fn compiled(generate: &Generate) -> Result<Schema, NotMade> {
    Schema::compile(&generate.schema())
        .map_err(|error| NotMade(format!("nothing can be generated for it: {error}")))
}

/// The arguments, with the members that a rule fixes.
pub fn put_over(arguments: Value, over: &Value) -> Value {
    // Arguments are an object by the protocol; a schema that allows more is still called with one.
    let mut arguments = if arguments.is_object() { arguments } else { json!({ "value": arguments }) };
    for (name, value) in over.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    arguments
}

fn seed(seed: u64, tool: &str, number: u32) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(tool.as_bytes()).update(&number.to_le_bytes());
    u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().expect("eight bytes"))
}

/// The arguments that every call of a case has in common.
pub fn common_arguments(case: &Case) -> Option<&Value> {
    let mut arguments = case.steps.iter().map(|step| match step {
        Step::Call { method, params } if method == "tools/call" => params.get("arguments"),
        _ => None,
    });
    let first = arguments.next()??;
    arguments.all(|other| other == Some(first)).then_some(first)
}

/// The same case with other arguments in all of its calls.
pub fn with_arguments(case: &Case, arguments: &Value) -> Case {
    let mut case = case.clone();
    for step in &mut case.steps {
        if let Step::Call { params, .. } = step {
            params.insert("arguments".to_owned(), arguments.clone());
        }
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use wallfacer_rules::Rules;

    #[test]
    fn the_same_seed_makes_the_same_cases_and_another_makes_others_but_for_the_first() {
        let text = "version: 4\ninvariants:\n  - { name: r, tool: add, cases: 20, generate: { a: { type: integer } }, \
                    assert: [{ kind: exists, path: $.response }] }\n";
        let rules = Rules::read("rules.yaml", text, &BTreeMap::new(), &|_| None).unwrap();
        let rule = Arc::new(rules.rules[0].clone());
        let (schemas, steps) = (BTreeMap::new(), Value::Null);
        let inputs = |seed: u64| -> Vec<Value> {
            let known = Known { steps: &steps, canary: None, marker: None };
            let cases = rule_cases(&rule, &RulePlan { schemas: &schemas, known, seed, cases: 5, news: None })
                .unwrap();
            cases.iter().map(|case| common_arguments(case).unwrap().clone()).collect()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
        assert_eq!(inputs(1)[0], inputs(2)[0], "the simplest of all");
        assert_eq!(inputs(1).len(), 20);
    }
}
