//! Makes the cases of one tool from what is known of it, with one way of making them for each phase.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use wallfacer_schema::{Choices, CompileError, Having, Limits, Pool, Schema, pointer};

use super::case::{Case, HEAVY, Intent, Step};
use super::described::described;
use super::field::stems;
use super::first_calls::Taught;
use super::groups::in_groups;
use super::input::Inputs;
use super::knowledge::{Common, Knowledge};
use super::lesson::Lesson;
use super::mutation::{Draw, mutate, pick};
use super::planner::{Mode, Options};
use super::producer::{First, Producer};
use crate::catalogue::Tool;

/// All that has to be escaped where a text is written into another language.
const QUOTES: &str = "\"quoted\" 'text' `and` \\ \\\"";

/// Values that are tried for each text of which nothing is known, in one round.
const GUESSES: usize = 3;
/// Calls of one tool that are tried before those of another.
const MAX_GOOD: usize = 4;
/// Of these, and of the same with other values, so many are tried.
const MAX_LEADS: usize = 8;
/// Steps that come before one call, at most.
const MAX_PRELUDE: usize = 8;
/// Calls of other tools that one that was refused is tried behind, in one round.
const MAX_PRODUCERS: usize = 3;
/// Arguments that are remembered so that the same are not tried again in vain.
const MAX_TRIED: usize = 200;
/// Random cases after which what a tool that took no call may take is guessed anew.
const RANDOM_TURN: usize = 25;
/// Arguments of a tool that declares none.
const MAX_UNDECLARED: usize = 16;
/// Words of refusals that are remembered.
const MAX_WORDS: usize = 100;

/// One tool, and what is planned for it.
#[derive(Debug, Clone)]
pub struct ToolPlan {
    pub name: String,
    /// What it says of itself.
    pub about: String,
    /// What its arguments are made by.
    schema: Arc<Schema>,
    /// What it declares: the same, but where arguments were learned that it does not name.
    declared: Arc<Schema>,
    /// The tool itself, where it declares no argument.
    bare: Option<Tool>,
    pub knowledge: Knowledge,
    /// What brought news, to be changed.
    pub inputs: Inputs,
    /// Calls that succeeded, the first few, with what each gave.
    pub good: Vec<(Step, Vec<Lesson>)>,
    /// Calls that succeeded on another server, each behind what must come first.
    recalled: Vec<(Vec<Step>, Step)>,
    /// What must come before each of its calls.
    pub prelude: Vec<Step>,
    /// The call that was refused because something must come first, and what may be meant.
    pub unready: Option<(Value, Vec<String>)>,
    /// Whether it ever said so.
    pub was_unready: bool,
    /// What its refusals speak of.
    refusals: BTreeSet<String>,
    /// Calls of others that it was tried behind.
    tried_behind: BTreeSet<(String, usize)>,
    /// What it was called with while nothing succeeded.
    tried: BTreeSet<u64>,
    pub made: usize,
    /// The largest payload.
    max_bytes: usize,
    /// Whether what brought news in earlier runs was tried in this one.
    repeated: bool,
    /// No further cases, because of what it did.
    pub stopped: bool,
    /// Whether its cases, but for examples, are tried on another machine.
    pub elsewhere: bool,
}

impl ToolPlan {
    /// None of its schema, and why, where that cannot be used.
    pub fn new(tool: &Tool, max_bytes: usize) -> Result<ToolPlan, CompileError> {
        let schema = compile(tool, max_bytes)?;
        Ok(ToolPlan {
            name: tool.name.clone(),
            about: tool.description.clone().unwrap_or_default(),
            declared: schema.clone(),
            schema,
            bare: is_bare(tool).then(|| tool.clone()),
            max_bytes,
            knowledge: Knowledge::of(tool),
            inputs: Inputs::default(),
            good: Vec::new(),
            recalled: Vec::new(),
            prelude: Vec::new(),
            unready: None,
            was_unready: false,
            refusals: BTreeSet::new(),
            tried_behind: BTreeSet::new(),
            tried: BTreeSet::new(),
            made: 0,
            repeated: false,
            stopped: false,
            elsewhere: false,
        })
    }

    /// Arguments that it does not declare, and that its refusals ask for, each with a value of the sort that they want: they
    /// are planned for from now on. Whether any was new.
    pub fn declare(&mut self, asked: &BTreeMap<String, Value>) -> bool {
        let Some(tool) = &mut self.bare else { return false };
        let mut schema = tool.input_schema().as_object().cloned().unwrap_or_default();
        let known = schema.entry("properties").or_insert_with(|| json!({}));
        let Some(known) = known.as_object_mut() else { return false };
        let before = known.len();
        for (name, value) in asked.iter().filter(|_| before < MAX_UNDECLARED) {
            known.entry(name.clone()).or_insert_with(|| type_of(value));
        }
        if known.len() == before {
            return false;
        }
        let required = known.keys().map(|name| Value::from(name.as_str())).collect();
        schema.insert("required".to_owned(), Value::Array(required));
        *tool = tool.with_input_schema(schema);
        let Ok(schema) = compile(tool, self.max_bytes) else { return false };
        (self.schema, self.knowledge) = (schema, Knowledge::of(tool));
        true
    }

    /// What its calls taught, for other tests.
    pub fn taught(&self) -> Taught {
        let good = self.good.iter().map(|(step, _)| step.clone());
        Taught::new(self.knowledge.clone(), &self.prelude, good)
    }

    pub fn recall(&mut self, taught: &Taught) {
        self.knowledge.recall(&taught.knowledge);
        self.recalled.clone_from(&taught.calls);
    }

    /// What succeeded before and the simplest arguments first, then a few realistic ones.
    pub fn examples(&self, seed: u64, count: usize, common: &Common) -> Vec<Case> {
        let pool = self.knowledge.sure(common);
        let filled = self.schema.simplest_having(&Having { items: true, ..Having::default() }, &pool).ok();
        let simplest = self.simplest(&pool).into_iter().chain(filled);
        let simplest = simplest.map(|value| self.case(value, Intent::Example, seed));
        let mut cases: Vec<Case> = Vec::new();
        for case in self.recalled_cases(seed).chain(simplest) {
            let is_new =
                !cases.iter().any(|other| (&other.prelude, &other.steps) == (&case.prelude, &case.steps));
            if is_new && cases.len() < count {
                cases.push(case);
            }
        }
        let drawn = self.drawn(seed, count - cases.len(), &pool);
        cases.extend(drawn);
        cases
    }

    fn recalled_cases(&self, seed: u64) -> impl Iterator<Item = Case> {
        self.recalled.iter().filter_map(move |(prelude, step)| {
            let Step::Call { params, .. } = step else { return None };
            let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
            let prelude = prelude.clone();
            Some(Case { prelude, ..Case::tool(&self.name, arguments, Intent::Example, seed) })
        })
    }

    /// Valid arguments of a tool that took none yet, made of what was learned meanwhile: as few as it goes with what is
    /// known and with what may fit, then arguments in groups, then more of them.
    pub fn guesses(&mut self, seed: u64, common: &Common, retry: usize) -> Vec<Case> {
        let known = self.knowledge.sure(common);
        let turns = (0..GUESSES).map(|turn| retry.saturating_sub(1) * GUESSES + turn);
        let pools: Vec<Pool> = turns.map(|turn| self.knowledge.guess(common, turn)).collect();
        let asked = self.knowledge.having(self.knowledge.wanted().clone(), false);
        let mut values: Vec<Value> = Vec::new();
        for pool in [&known].into_iter().chain(&pools) {
            values.extend(self.simplest(pool));
            values.extend(self.schema.simplest_having(&asked, pool));
        }
        let pool = pools.first().unwrap_or(&known);
        values.extend(in_groups(&self.schema, &self.knowledge, pool, retry));
        let many = pools.first().into_iter().chain([&known]).enumerate();
        let drawn: Vec<Case> =
            many.flat_map(|(number, pool)| self.drawn(seed.wrapping_add(number as u64), 1, pool)).collect();
        let fresh = values.into_iter().filter(|value| self.is_new(value)).collect::<Vec<_>>();
        fresh.into_iter().map(|value| self.case(value, Intent::Valid, seed)).chain(drawn).collect()
    }

    /// Whether these arguments were not tried yet; they count as tried then.
    fn is_new(&mut self, value: &Value) -> bool {
        let hash = blake3::hash(value.to_string().as_bytes());
        let hash = u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("a hash has 32 bytes"));
        self.tried.len() >= MAX_TRIED || self.tried.insert(hash)
    }

    /// A valid call was refused in these words.
    pub fn note_refusal(&mut self, text: &str) {
        let room = MAX_WORDS.saturating_sub(self.refusals.len());
        self.refusals.extend(stems(text).into_iter().take(room));
    }

    /// Calls of it that succeeded, for others that may need what they made.
    pub fn producers(&self) -> Vec<Producer> {
        let good = self.good.iter().filter(|_| self.prelude.len() < MAX_PRELUDE).take(2);
        let producer = |(step, gave): &(Step, Vec<Lesson>)| {
            let steps = self.prelude.iter().cloned().chain([step.clone()]).collect();
            Producer::new(&self.name, steps, gave.clone())
        };
        good.map(producer).collect()
    }

    /// Where it was refused so far: behind calls of others that may make what it needs.
    pub fn behind_producers(&mut self, producers: &[Producer], common: &Common, seed: u64) -> Vec<Case> {
        if !self.good.is_empty() || self.refusals.is_empty() || !self.prelude.is_empty() {
            return Vec::new();
        }
        let mut worth: Vec<(usize, usize)> = Vec::new();
        for (index, producer) in
            producers.iter().enumerate().filter(|(_, producer)| producer.tool != self.name)
        {
            let is_new = !self.tried_behind.contains(&(producer.tool.clone(), producer.steps.len()));
            let worth_for =
                producer.worth_for(&self.name, &self.knowledge, &self.refusals).filter(|_| is_new);
            worth.extend(worth_for.map(|value| (value, index)));
        }
        worth.sort_by_key(|(worth, index)| (std::cmp::Reverse(*worth), *index));
        let asked = self.knowledge.having(self.knowledge.wanted().clone(), false);
        let pool = self.knowledge.guess(common, 0);
        let Ok(base) = self.schema.simplest_having(&asked, &pool) else { return Vec::new() };
        let mut cases: Vec<Case> = Vec::new();
        for (_, index) in worth.into_iter().take(MAX_PRODUCERS) {
            let producer = &producers[index];
            self.tried_behind.insert((producer.tool.clone(), producer.steps.len()));
            for first in [First::Given, First::Sent] {
                let (value, kept) = producer.fill(&base, self.knowledge.fields(), first);
                if !self.schema.violations(&value).is_empty() {
                    continue;
                }
                let prelude = producer.steps.iter().cloned().chain(kept).collect();
                let case = Case { prelude, ..self.case(value, Intent::Valid, seed) };
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
        cases
    }

    /// A call succeeded, and gave these.
    pub fn keep_good(&mut self, case: &Case, gave: &[Lesson]) {
        let is_known = |step: &Step| self.good.iter().any(|(known, _)| known == step);
        let new = case.steps.first().filter(|step| self.good.len() < MAX_GOOD && !is_known(step));
        self.good.extend(new.map(|step| (step.clone(), gave.to_vec())));
    }

    /// Calls of it that succeeded, each behind what must come first; then the first of them with other values that are
    /// known for its arguments, for some servers refuse in words and call it a success.
    pub fn leads_to(&self, common: &Common) -> Vec<Vec<Step>> {
        let good = self.good.iter().map(|(step, _)| step).filter(|_| self.prelude.len() < MAX_PRELUDE);
        let others = good.clone().take(1).flat_map(|good| self.with_other_values(good, common));
        let leads = good.cloned().chain(others).take(MAX_LEADS);
        leads.map(|last| self.prelude.iter().cloned().chain([last]).collect()).collect()
    }

    /// The same call, each time with one argument that is known under the same name; no more of them than are tried.
    fn with_other_values(&self, good: &Step, common: &Common) -> Vec<Step> {
        let Step::Call { method, params } = good else { return Vec::new() };
        let arguments = params.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
        let other = |name: &String, value: &Value| {
            let mut arguments = arguments.clone();
            arguments.insert(name.clone(), value.clone());
            let arguments = Value::Object(arguments);
            let valid = self.schema.violations(&arguments).is_empty();
            let mut params = params.clone();
            params.insert("arguments".to_owned(), arguments);
            valid.then(|| Step::Call { method: method.clone(), params })
        };
        let known =
            arguments.keys().flat_map(|name| common.known_as(name).iter().map(move |value| (name, value)));
        let others = known.filter_map(|(name, value)| other(name, value));
        let others = others.filter(|step| !self.good.iter().any(|(known, _)| known == step));
        others.take(MAX_LEADS).collect()
    }

    /// Whether it said that something must come first which is known to succeed: until then all of its calls are in vain.
    pub fn waits_for(&self, ready: &BTreeMap<String, Vec<Vec<Step>>>) -> bool {
        let succeeds = |tool: &String| ready.get(tool).is_some_and(|leads| !leads.is_empty());
        self.prelude.is_empty() && self.unready.iter().flat_map(|(_, meant)| meant).any(succeeds)
    }

    /// The call that was refused, behind each call that may be meant to come first and is known to succeed. Some servers
    /// refuse in words and call it a success, so several are tried of each tool.
    /// What already served another tool serves this one too.
    pub fn behind(
        &mut self,
        ready: &BTreeMap<String, Vec<Vec<Step>>>,
        served: &[Vec<Step>],
        seed: u64,
    ) -> Vec<Case> {
        let Some((arguments, meant)) = self.unready.take().filter(|_| self.prelude.is_empty()) else {
            return Vec::new();
        };
        let leads = |tool: &String| ready.get(tool).map(Vec::as_slice).unwrap_or_default();
        let (there, later): (Vec<String>, Vec<String>) =
            meant.into_iter().partition(|tool| !leads(tool).is_empty());
        let case = |prelude: &Vec<Step>| {
            let case = self.case(arguments.clone(), Intent::Example, seed);
            Case { prelude: prelude.clone(), ..case }
        };
        let all: Vec<&Vec<Step>> = there.iter().flat_map(leads).collect();
        let known: Vec<&Vec<Step>> = all.iter().copied().filter(|lead| served.contains(*lead)).collect();
        let cases = if known.is_empty() { all } else { known }.into_iter().map(case).collect();
        self.unready = (!later.is_empty()).then_some((arguments, later));
        cases
    }

    /// What a call was made behind is kept, now that it was not answered that something must come first.
    pub fn adopt(&mut self, case: &Case) {
        if self.prelude.is_empty() {
            self.prelude.clone_from(&case.prelude);
        }
    }

    fn simplest(&self, pool: &Pool) -> Option<Value> {
        let having = self.schema.simplest_having(&Having::default(), pool);
        having.or_else(|_| self.schema.valid(&mut Choices::simplest(), pool)).ok()
    }

    fn drawn(&self, seed: u64, count: usize, pool: &Pool) -> Vec<Case> {
        let draw = |number: usize| {
            let seed = self.seed(seed, self.made + number);
            let value = self.schema.valid(&mut Choices::seeded(seed), pool).ok()?;
            Some(self.case(value, Intent::Valid, seed))
        };
        (0..count).filter_map(draw).collect()
    }

    pub fn boundary(&self, seed: u64, common: &Common) -> Vec<Case> {
        let list = self.schema.boundary(&self.knowledge.sure(common)).unwrap_or_default();
        let list = interleaved(list, |found| found.at.clone());
        let case = |found: wallfacer_schema::Boundary| {
            let intent = Intent::Boundary(format!("{}: {}", place(&found.at), found.limit));
            self.case(found.value, intent, seed)
        };
        list.into_iter().map(case).collect()
    }

    pub fn invalid(&self, seed: u64, common: &Common) -> Vec<Case> {
        let list = self.declared.invalid(&self.knowledge.sure(common)).unwrap_or_default();
        let list = interleaved(list, |found| (found.violation.at.clone(), found.violation.rule));
        let case = |found: wallfacer_schema::Invalid| {
            let wallfacer_schema::Violation { at, rule, message } = found.violation;
            let intent = Intent::Invalid { at, rule: words(&format!("{rule:?}")), what: message };
            self.case(found.value, intent, seed)
        };
        list.into_iter().map(case).collect()
    }

    pub fn adversarial(&self, seed: u64, common: &Common) -> Vec<Case> {
        let pool = self.knowledge.sure(common);
        let list = self.declared.adversarial(&pool).unwrap_or_default();
        let list = interleaved(list, |found| (found.at.clone(), words(&format!("{:?}", found.attack))));
        let case = |found: wallfacer_schema::Adversarial| {
            let kind = format!("{}: {}", place(&found.at), words(&format!("{:?}", found.attack)));
            self.case(found.value, Intent::Adversarial { kind, valid: found.conforms }, seed)
        };
        self.quoted(seed, &pool).into_iter().chain(list.into_iter().map(case)).collect()
    }

    /// Each text of the simplest arguments with what has to be escaped when it is written into JSON, SQL or a shell.
    fn quoted(&self, seed: u64, pool: &Pool) -> Vec<Case> {
        let simplest = self.simplest(pool);
        let full = self.schema.valid(&mut Choices::seeded(seed), pool).ok();
        let mut places = BTreeSet::new();
        let mut cases = Vec::new();
        for arguments in [full, simplest].into_iter().flatten() {
            let texts = arguments.as_object().into_iter().flatten().filter(|(_, value)| value.is_string());
            for (key, _) in texts.filter(|(key, _)| places.insert((*key).clone())) {
                let mut arguments = arguments.clone();
                arguments[key.as_str()] = Value::from(QUOTES);
                let valid = self.schema.violations(&arguments).is_empty();
                let kind = format!("{}: quotes", pointer::join("", key));
                cases.push(self.case(arguments, Intent::Adversarial { kind, valid }, seed));
            }
        }
        cases
    }

    /// What brought news in earlier runs; then, until the iterations are used up, random valid arguments, or changed ones
    /// where there is something to change.
    pub fn random(
        &mut self,
        options: &Options,
        ratio: Option<f64>,
        count: usize,
        common: &Common,
    ) -> Vec<Case> {
        if options.mode == Mode::Adversarial && ratio.is_none() {
            return Vec::new();
        }
        let count = count.min(options.iterations.saturating_sub(self.made));
        let mut cases = Vec::new();
        if !self.repeated {
            self.repeated = true;
            let known = self.inputs.known().iter().cloned();
            let known = known.filter_map(|arguments| self.of_input(arguments, options.seed, options.mode));
            cases.extend(known.take(count));
        }
        if self.good.is_empty() && !self.refusals.is_empty() && options.mode != Mode::Adversarial {
            let turn = self.made / RANDOM_TURN + 1;
            cases.extend(
                self.guesses(options.seed, common, turn).into_iter().take(count - cases.len().min(count)),
            );
        }
        // Half of them are made of what is most likely to be taken, the others of all that may be.
        let pools = [self.knowledge.sure(common), self.knowledge.wide(common)];
        let drawn = (cases.len()..count).filter_map(|number| {
            let seed = self.seed(options.seed, self.made + number);
            let fresh = self.schema.valid(&mut Choices::seeded(seed), &pools[number % pools.len()]).ok()?;
            let changed = self.changed(&fresh, seed, options.mode, ratio);
            changed.or_else(|| {
                (options.mode != Mode::Adversarial).then(|| self.case(fresh, Intent::Valid, seed))
            })
        });
        let mut weight = 0;
        for case in drawn {
            weight += case.weight();
            cases.push(case);
            // What is left of the round comes in the next one.
            if weight >= HEAVY {
                break;
            }
        }
        cases
    }

    /// Something that brought news, changed; none where it is not the turn of such a case, or the mode forbids it.
    fn changed(&self, fresh: &Value, seed: u64, mode: Mode, ratio: Option<f64>) -> Option<Case> {
        let mut draw = Draw::new(seed);
        let turn = draw.happens(ratio?);
        let input = pick(self.inputs.all(), &mut draw).filter(|_| turn)?;
        let changed = mutate(input, fresh.as_object()?, &mut draw);
        self.of_input(changed, seed, mode)
    }

    /// A case of such arguments, where the mode has them.
    fn of_input(&self, arguments: Map<String, Value>, seed: u64, mode: Mode) -> Option<Case> {
        let value = Value::Object(arguments);
        let valid = self.declared.violations(&value).is_empty();
        let wanted = match mode {
            Mode::Conform => valid,
            Mode::Adversarial => !valid,
            Mode::Mixed => true,
        };
        let invalid = || Intent::Adversarial { kind: "made of what brought news".to_owned(), valid: false };
        wanted.then(|| self.case(value, if valid { Intent::Valid } else { invalid() }, seed))
    }

    fn case(&self, value: Value, intent: Intent, seed: u64) -> Case {
        // Arguments are an object by the protocol; a schema that allows more is still called with one.
        let arguments = if value.is_object() { value } else { json!({ "value": value }) };
        Case { prelude: self.prelude.clone(), ..Case::tool(&self.name, arguments, intent, seed) }
    }

    /// The seed of one case: the same whatever else the plan holds.
    fn seed(&self, seed: u64, number: usize) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(&seed.to_le_bytes())
            .update(self.name.as_bytes())
            .update(&(number as u64).to_le_bytes());
        u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().expect("eight bytes"))
    }
}

fn compile(tool: &Tool, max_bytes: usize) -> Result<Arc<Schema>, CompileError> {
    let limits = Limits { string: max_bytes, ..Limits::default() };
    Schema::compile_with(&Value::Object(described(tool)), limits).map(Arc::new)
}

/// Whether a tool declares no argument, and forbids none.
fn is_bare(tool: &Tool) -> bool {
    const SAYING: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "maxProperties"];
    let forbids = tool.input_schema().get("additionalProperties") == Some(&Value::Bool(false));
    let named = tool.input_schema().get("properties").and_then(Value::as_object);
    named.is_none_or(Map::is_empty)
        && !forbids
        && !SAYING.iter().any(|word| tool.input_schema().get(word).is_some())
}

/// The schema of values like this one.
fn type_of(value: &Value) -> Value {
    match value {
        Value::Array(_) => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        Value::Object(_) => json!({ "type": "object" }),
        Value::Number(_) => json!({ "type": "integer" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        _ => json!({ "type": "string" }),
    }
}

/// The first of each key, then the second of each, and so on: where a list is cut, something of everything is kept.
fn interleaved<T, K: Ord>(list: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen: BTreeMap<K, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, T)> = Vec::new();
    for item in list {
        let rank = seen.entry(key(&item)).or_default();
        ranked.push((*rank, item));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, item)| item).collect()
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "/" } else { pointer }
}

/// `PathTraversal` as `path traversal`.
fn words(name: &str) -> String {
    let spaced = name.chars().flat_map(|letter| {
        let gap = letter.is_uppercase().then_some(' ');
        gap.into_iter().chain(letter.to_lowercase())
    });
    spaced.collect::<String>().trim_start().to_owned()
}
