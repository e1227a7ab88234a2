//! Phases in order, each only a way of making cases. What was learned by the end of a round goes into the next one,
//! so that the plan depends on the seed and the server, not on how many workers there are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use wallfacer_schema::{Choices, Limits, Pool, Schema};

use super::case::{Case, Intent, Step};
use super::input::{Input, Inputs};
use super::lesson::Lesson;
use super::mutation::{Draw, mutate, pick};
use super::prelude::hints;
use crate::catalogue::{Catalogue, Tool};

/// Valid calls of each tool that open the plan, and after which it is seen whether any succeeds.
const OPENING: usize = 4;
/// Further rounds of valid calls for tools that have not succeeded yet, with what was learned meanwhile.
const RETRIES: usize = 3;
/// Random cases of each tool in the first round of them. Each further round has twice as many, for there is ever less
/// to learn.
const RANDOM_ROUND: usize = 50;
/// Random cases of all tools in one round, at most: a round is kept whole.
const LARGE_ROUND: usize = 10_000;
/// Calls that come before one call, at most.
const MAX_PRELUDE: usize = 4;
/// Values of results that are kept for other tools; a server can return new ones for ever.
const MAX_SHARED: usize = 1_000;
/// The parts of what is left of a tool's iterations that each list may use, so that none of them crowds out the next.
const BOUNDARY_SHARE: f64 = 0.35;
const INVALID_SHARE: f64 = 0.4;
const ADVERSARIAL_SHARE: f64 = 0.7;

/// All that has to be escaped where a text is written into another language.
const QUOTES: &str = "\"quoted\" 'text' `and` \\ \\\"";

/// What to plan.
#[derive(Debug, Clone)]
pub struct Options {
    pub seed: u64,
    pub mode: Mode,
    /// Cases of each tool, at most.
    pub iterations: usize,
    /// The largest payload.
    pub max_bytes: usize,
}

/// Which arguments are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Valid by the schema.
    Conform,
    /// Invalid and hostile.
    Adversarial,
    Mixed,
}

/// The phases, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Examples,
    Boundary,
    Invalid,
    Adversarial,
    Random,
}

/// Cases that may run in any order, and whose lessons are learned together.
#[derive(Debug)]
pub struct Round {
    pub phase: Phase,
    pub cases: Vec<Case>,
}

/// Makes the cases of a run, round by round.
#[derive(Debug)]
pub struct Planner {
    options: Options,
    tools: Vec<ToolPlan>,
    /// Values that any tool may use, by the name of the field where they were seen.
    shared: Vec<Lesson>,
    next: Next,
    /// Random cases of each tool in the next round.
    random: usize,
    /// How many of the random cases are made of inputs that brought news, from none to all; none where nobody asks.
    mutate_ratio: Option<f64>,
}

#[derive(Debug)]
struct ToolPlan {
    name: String,
    schema: Schema,
    /// The arguments that are declared as texts.
    texts: Vec<String>,
    pool: Pool,
    /// What brought news, to be changed.
    inputs: Inputs,
    made: usize,
    succeeded: bool,
    /// A call that succeeded.
    good: Option<Step>,
    /// What must come before each of its calls.
    prelude: Vec<Step>,
    /// The call that was refused because something must come first, and what may be meant.
    unready: Option<(Value, Vec<String>)>,
    /// Whether what brought news in earlier runs was tried in this one.
    repeated: bool,
    /// No further cases, because of what it did.
    stopped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Examples(usize),
    Boundary,
    Invalid,
    Adversarial,
    Random,
}

impl Planner {
    /// A plan for these tools; those whose schema cannot be used are given back with the reason.
    pub fn new<'a>(
        tools: impl IntoIterator<Item = &'a Tool>,
        options: Options,
    ) -> (Planner, BTreeMap<String, String>) {
        let mut refused = BTreeMap::new();
        let mut plans = Vec::new();
        for tool in tools {
            let limits = Limits { string: options.max_bytes, ..Limits::default() };
            match Schema::compile_with(&Value::Object(tool.input_schema.clone()), limits) {
                Ok(schema) => plans.push(ToolPlan {
                    name: tool.name.clone(),
                    schema,
                    texts: texts(tool),
                    pool: Pool::new(),
                    inputs: Inputs::default(),
                    made: 0,
                    succeeded: false,
                    good: None,
                    prelude: Vec::new(),
                    unready: None,
                    repeated: false,
                    stopped: false,
                }),
                Err(error) => drop(refused.insert(tool.name.clone(), error.to_string())),
            }
        }
        let next = if options.mode == Mode::Adversarial { Next::Boundary } else { Next::Examples(0) };
        let planner = Planner {
            options,
            tools: plans,
            shared: Vec::new(),
            next,
            random: RANDOM_ROUND,
            mutate_ratio: None,
        };
        (planner, refused)
    }

    /// All tools of a catalogue that have a usable entry.
    pub fn for_catalogue(catalogue: &Catalogue, options: Options) -> (Planner, BTreeMap<String, String>) {
        Planner::new(&catalogue.tools.entries, options)
    }

    /// The tools that the plan is for.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|plan| plan.name.as_str())
    }

    /// The next round; none when the plan is done.
    pub fn next_round(&mut self) -> Option<Round> {
        loop {
            let phase = self.next;
            let round = self.make(phase);
            let done = round.cases.is_empty();
            self.next = match phase {
                Next::Examples(try_) if try_ < RETRIES => Next::Examples(try_ + 1),
                Next::Examples(_) => Next::Boundary,
                Next::Boundary => Next::Invalid,
                Next::Invalid => Next::Adversarial,
                Next::Adversarial => Next::Random,
                Next::Random if done => return None,
                Next::Random => Next::Random,
            };
            if !done {
                return Some(round);
            }
        }
    }

    /// A call succeeded: its arguments are good, and so are the values of its result.
    pub fn learn_success(&mut self, case: &Case, lessons: Vec<Lesson>) {
        if let Some(plan) = self.plan_of(case)
            && let Some(arguments) = case.arguments()
        {
            plan.succeeded = true;
            plan.good.get_or_insert_with(|| case.steps[0].clone());
            plan.adopt(case);
            for (key, value) in arguments.as_object().into_iter().flatten() {
                plan.pool.add_for_path(&format!("/{}", escaped(key)), value.clone());
            }
        }
        self.know(lessons);
    }

    /// Values that are worth trying wherever a field has the name that they were learned for.
    pub fn know(&mut self, lessons: Vec<Lesson>) {
        for lesson in lessons {
            if self.shared.len() < MAX_SHARED && !self.shared.contains(&lesson) {
                self.tools
                    .iter_mut()
                    .for_each(|plan| plan.pool.add_for_name(&lesson.field, lesson.value.clone()));
                self.shared.push(lesson);
            }
        }
    }

    /// A call was refused, and the refusal says what would do.
    pub fn learn_refusal(&mut self, case: &Case, lessons: Vec<Lesson>) {
        let Some(plan) = self.plan_of(case) else { return };
        plan.adopt(case);
        let fields: Vec<String> = match case.arguments() {
            Some(Value::Object(arguments)) => arguments.keys().cloned().collect(),
            _ => return,
        };
        for lesson in lessons {
            let named = fields.iter().filter(|field| **field == lesson.field);
            let meant: Vec<&String> = match named.clone().next() {
                Some(_) => named.collect(),
                // No field is named: whichever takes the value by its schema may have been meant.
                None => fields.iter().collect(),
            };
            for field in meant {
                plan.pool.add_for_path(&format!("/{}", escaped(field)), lesson.value.clone());
            }
        }
    }

    /// A valid call was answered that something must come first; false where nothing says what. Who answers so as if it
    /// had succeeded must name it.
    pub fn learn_unready(&mut self, case: &Case, text: &str, completed: bool) -> bool {
        let (Some(own), Some(arguments)) = (case.subject.tool(), case.arguments()) else { return false };
        let hints = hints(text, own, self.tools.iter().map(|plan| plan.name.as_str()));
        let meant: Vec<String> =
            hints.iter().filter(|hint| hint.named || !completed).map(|hint| hint.tool.to_owned()).collect();
        let told = !meant.is_empty();
        if let Some(plan) = self.plan_of(case)
            && told
        {
            plan.unready.get_or_insert_with(|| (arguments.clone(), meant));
        }
        told
    }

    /// What must come before the calls of each tool, as far as that is known.
    pub fn preludes(&self) -> impl Iterator<Item = (&str, &[Step])> {
        let known = self.tools.iter().filter(|plan| !plan.prelude.is_empty());
        known.map(|plan| (plan.name.as_str(), &plan.prelude[..]))
    }

    /// From now on this part of the random cases is made of inputs that brought news. Those of earlier runs are tried
    /// first.
    pub fn follow_news(&mut self, ratio: f64, known: &[Input]) {
        self.mutate_ratio = Some(ratio);
        for Input { tool, arguments } in known {
            let plans = self.tools.iter_mut().filter(|plan| plan.name == *tool);
            plans.for_each(|plan| plan.inputs.add_known(arguments.clone()));
        }
    }

    /// An answer of this kind came; where it is the first, what was sent is worth changing.
    pub fn learn_kind(&mut self, case: &Case, kind: u64) {
        if let Some(plan) = self.plan_of(case)
            && let Some(Value::Object(arguments)) = case.arguments()
        {
            plan.inputs.hear(arguments, kind);
        }
    }

    /// The inputs that brought news in this run.
    pub fn news(&self) -> Vec<Input> {
        let of = |plan: &ToolPlan| {
            let tool = plan.name.clone();
            let input = move |arguments| Input { tool: tool.clone(), arguments };
            plan.inputs.news().to_vec().into_iter().map(input)
        };
        self.tools.iter().flat_map(of).collect()
    }

    /// No further cases for this tool.
    pub fn stop(&mut self, tool: &str) {
        self.tools.iter_mut().filter(|plan| plan.name == tool).for_each(|plan| plan.stopped = true);
    }

    fn plan_of(&mut self, case: &Case) -> Option<&mut ToolPlan> {
        let name = case.subject.tool()?;
        self.tools.iter_mut().find(|plan| plan.name == name)
    }

    fn make(&mut self, next: Next) -> Round {
        let Planner { options, tools, shared, random, mutate_ratio, .. } = self;
        let most = (LARGE_ROUND / tools.len().max(1)).max(RANDOM_ROUND);
        let mut cases = Vec::new();
        let ready: BTreeMap<String, Vec<Step>> =
            tools.iter().filter_map(|plan| Some((plan.name.clone(), plan.leads_to()?))).collect();
        for plan in tools.iter_mut().filter(|plan| !plan.stopped) {
            let left = options.iterations.saturating_sub(plan.made);
            let room = match (options.mode, next) {
                (Mode::Mixed, Next::Boundary) => part(left, BOUNDARY_SHARE),
                (Mode::Mixed, Next::Invalid) => part(left, INVALID_SHARE),
                (Mode::Mixed, Next::Adversarial) => part(left, ADVERSARIAL_SHARE),
                _ => left,
            };
            let mut made = match next {
                Next::Examples(0) => plan.examples(options.seed, OPENING),
                Next::Examples(_) if plan.succeeded => Vec::new(),
                Next::Examples(_) => plan.guesses(options.seed, OPENING, shared),
                Next::Boundary if options.mode == Mode::Adversarial => Vec::new(),
                Next::Boundary => plan.boundary(options.seed),
                Next::Invalid | Next::Adversarial if options.mode == Mode::Conform => Vec::new(),
                Next::Invalid => plan.invalid(options.seed),
                Next::Adversarial => plan.adversarial(options.seed),
                Next::Random => plan.random(options, *mutate_ratio, *random),
            };
            made.truncate(room);
            plan.made += made.len();
            // Without what must come first all others are in vain, so these are made however few are wanted.
            if matches!(next, Next::Examples(try_) if try_ > 0) {
                cases.extend(plan.behind(&ready, options.seed));
            }
            cases.append(&mut made);
        }
        if next == Next::Random {
            *random = (*random * 2).min(most);
        }
        let phase = match next {
            Next::Examples(_) => Phase::Examples,
            Next::Boundary => Phase::Boundary,
            Next::Invalid => Phase::Invalid,
            Next::Adversarial => Phase::Adversarial,
            Next::Random => Phase::Random,
        };
        Round { phase, cases }
    }
}

impl ToolPlan {
    /// The simplest arguments first, then a few realistic ones.
    fn examples(&self, seed: u64, count: usize) -> Vec<Case> {
        let simplest = self.schema.valid(&mut Choices::simplest(), &self.pool).ok();
        let simplest = simplest.map(|value| self.case(value, Intent::Example, seed));
        simplest.into_iter().chain(self.valid(seed, count.saturating_sub(1))).collect()
    }

    /// A call of it that succeeded, behind what must come first.
    fn leads_to(&self) -> Option<Vec<Step>> {
        let good = self.good.clone()?;
        (self.prelude.len() < MAX_PRELUDE).then(|| self.prelude.iter().cloned().chain([good]).collect())
    }

    /// The call that was refused, behind each call that may be meant to come first and is known to succeed.
    fn behind(&mut self, ready: &BTreeMap<String, Vec<Step>>, seed: u64) -> Vec<Case> {
        let Some((arguments, meant)) = self.unready.take().filter(|_| self.prelude.is_empty()) else {
            return Vec::new();
        };
        let (there, later): (Vec<String>, Vec<String>) =
            meant.into_iter().partition(|tool| ready.contains_key(tool));
        let case = |tool: &String| {
            let case = self.case(arguments.clone(), Intent::Example, seed);
            Case { prelude: ready[tool].clone(), ..case }
        };
        let cases = there.iter().map(case).collect();
        self.unready = (!later.is_empty()).then_some((arguments, later));
        cases
    }

    /// What a call was made behind is kept, now that it was not answered that something must come first.
    fn adopt(&mut self, case: &Case) {
        if self.prelude.is_empty() {
            self.prelude.clone_from(&case.prelude);
        }
    }

    fn valid(&self, seed: u64, count: usize) -> Vec<Case> {
        self.drawn(seed, count, &self.pool)
    }

    /// Valid arguments whose texts are, mostly, what other tools returned: an id need not have the same name here.
    fn guesses(&self, seed: u64, count: usize, returned: &[Lesson]) -> Vec<Case> {
        let mut pool = self.pool.clone();
        let texts = || returned.iter().filter(|lesson| lesson.value.is_string());
        for field in &self.texts {
            texts()
                .for_each(|lesson| pool.add_for_path(&format!("/{}", escaped(field)), lesson.value.clone()));
        }
        self.drawn(seed, count, &pool)
    }

    fn drawn(&self, seed: u64, count: usize, pool: &Pool) -> Vec<Case> {
        let draw = |number: usize| {
            let seed = self.seed(seed, self.made + number);
            let value = self.schema.valid(&mut Choices::seeded(seed), pool).ok()?;
            Some(self.case(value, Intent::Valid, seed))
        };
        (0..count).filter_map(draw).collect()
    }

    fn boundary(&self, seed: u64) -> Vec<Case> {
        let list = self.schema.boundary(&self.pool).unwrap_or_default();
        let list = interleaved(list, |found| found.at.clone());
        let case = |found: wallfacer_schema::Boundary| {
            let intent = Intent::Boundary(format!("{}: {}", place(&found.at), found.limit));
            self.case(found.value, intent, seed)
        };
        list.into_iter().map(case).collect()
    }

    fn invalid(&self, seed: u64) -> Vec<Case> {
        let list = self.schema.invalid(&self.pool).unwrap_or_default();
        let list = interleaved(list, |found| (found.violation.at.clone(), found.violation.rule));
        let case = |found: wallfacer_schema::Invalid| {
            let wallfacer_schema::Violation { at, rule, message } = found.violation;
            let intent = Intent::Invalid { at, rule: words(&format!("{rule:?}")), what: message };
            self.case(found.value, intent, seed)
        };
        list.into_iter().map(case).collect()
    }

    fn adversarial(&self, seed: u64) -> Vec<Case> {
        let list = self.schema.adversarial(&self.pool).unwrap_or_default();
        let list = interleaved(list, |found| (found.at.clone(), words(&format!("{:?}", found.attack))));
        let case = |found: wallfacer_schema::Adversarial| {
            let kind = format!("{}: {}", place(&found.at), words(&format!("{:?}", found.attack)));
            self.case(found.value, Intent::Adversarial { kind, valid: found.conforms }, seed)
        };
        self.quoted(seed).into_iter().chain(list.into_iter().map(case)).collect()
    }

    /// Each text of the simplest arguments with what has to be escaped when it is written into JSON, SQL or a shell.
    fn quoted(&self, seed: u64) -> Vec<Case> {
        let simplest = self.schema.valid(&mut Choices::simplest(), &self.pool).ok();
        let full = self.schema.valid(&mut Choices::seeded(seed), &self.pool).ok();
        let mut places = BTreeSet::new();
        let mut cases = Vec::new();
        for arguments in [full, simplest].into_iter().flatten() {
            let texts = arguments.as_object().into_iter().flatten().filter(|(_, value)| value.is_string());
            for (key, _) in texts.filter(|(key, _)| places.insert((*key).clone())) {
                let mut arguments = arguments.clone();
                arguments[key.as_str()] = Value::from(QUOTES);
                let valid = self.schema.violations(&arguments).is_empty();
                let kind = format!("/{}: quotes", escaped(key));
                cases.push(self.case(arguments, Intent::Adversarial { kind, valid }, seed));
            }
        }
        cases
    }

    /// What brought news in earlier runs; then, until the iterations are used up, random valid arguments, or changed ones
    /// where there is something to change.
    fn random(&mut self, options: &Options, ratio: Option<f64>, count: usize) -> Vec<Case> {
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
        let drawn = (cases.len()..count).filter_map(|number| {
            let seed = self.seed(options.seed, self.made + number);
            self.changed(seed, options.mode, ratio).or_else(|| self.at_random(seed, options.mode))
        });
        cases.extend(drawn.collect::<Vec<_>>());
        cases
    }

    fn at_random(&self, seed: u64, mode: Mode) -> Option<Case> {
        let value = self.schema.valid(&mut Choices::seeded(seed), &self.pool).ok()?;
        (mode != Mode::Adversarial).then(|| self.case(value, Intent::Valid, seed))
    }

    /// Something that brought news, changed; none where it is not the turn of such a case, or the mode forbids it.
    fn changed(&self, seed: u64, mode: Mode, ratio: Option<f64>) -> Option<Case> {
        let mut draw = Draw::new(seed);
        let turn = draw.happens(ratio?);
        let input = pick(self.inputs.all(), &mut draw).filter(|_| turn)?;
        let fresh = self.schema.valid(&mut Choices::seeded(seed), &self.pool).ok()?;
        let changed = mutate(input, fresh.as_object()?, &mut draw);
        self.of_input(changed, seed, mode)
    }

    /// A case of such arguments, where the mode has them.
    fn of_input(&self, arguments: Map<String, Value>, seed: u64, mode: Mode) -> Option<Case> {
        let value = Value::Object(arguments);
        let valid = self.schema.violations(&value).is_empty();
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

fn texts(tool: &Tool) -> Vec<String> {
    let arguments = tool.arguments().into_iter().filter(|argument| argument.kind == Some("string"));
    arguments.map(|argument| argument.name.to_owned()).collect()
}

/// At least one, where there is any.
fn part(left: usize, share: f64) -> usize {
    (left as f64 * share).ceil() as usize
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

/// A key as it stands in a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;

    fn tool(name: &str, schema: Value) -> Tool {
        Tool::read(json!({ "name": name, "inputSchema": schema }).as_object().unwrap()).unwrap()
    }

    fn search() -> Tool {
        tool(
            "search",
            json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "minLength": 1, "maxLength": 50 },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
                    "mode": { "type": "string" },
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
        )
    }

    fn options(mode: Mode) -> Options {
        Options { seed: 7, mode, iterations: 200, max_bytes: 1 << 20 }
    }

    fn all(mode: Mode) -> Vec<Case> {
        let (mut planner, _) = Planner::new([&search()], options(mode));
        std::iter::from_fn(|| planner.next_round()).flat_map(|round| round.cases).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_cases() {
        assert_eq!(all(Mode::Mixed), all(Mode::Mixed));
    }

    #[test]
    fn the_plan_ends_with_the_iterations_of_each_tool() {
        assert_eq!(all(Mode::Conform).len(), 200);
        assert!(all(Mode::Mixed).len() <= 200);
    }

    #[test]
    fn each_mode_keeps_to_its_kind_of_arguments() {
        assert!(all(Mode::Conform).iter().all(|case| case.intent.is_valid() == Some(true)));
        let hostile =
            |case: &Case| matches!(case.intent, Intent::Invalid { .. } | Intent::Adversarial { .. });
        let adversarial = all(Mode::Adversarial);
        assert!(!adversarial.is_empty() && adversarial.iter().all(hostile));
        let mixed = all(Mode::Mixed);
        assert!(mixed.iter().any(hostile) && mixed.iter().any(|case| case.intent == Intent::Valid));
    }

    #[test]
    fn what_is_learned_is_used_in_the_next_round() {
        let (mut planner, _) = Planner::new([&search()], options(Mode::Conform));
        let first = planner.next_round().unwrap().cases.remove(0);
        let lesson = Lesson { field: "query".to_owned(), value: json!("learned") };
        planner.learn_refusal(&first, vec![lesson]);
        let rest = std::iter::from_fn(|| planner.next_round()).flat_map(|round| round.cases);
        let used = rest.filter(|case| case.arguments().unwrap()["query"] == "learned").count();
        assert!(used > 0);
    }

    fn with_feedback(inputs: &[Input], mode: Mode) -> Vec<Case> {
        let (mut planner, _) = Planner::new([&search()], options(mode));
        planner.follow_news(0.9, inputs);
        let mut cases = Vec::new();
        while let Some(round) = planner.next_round() {
            round
                .cases
                .iter()
                .enumerate()
                .for_each(|(number, case)| planner.learn_kind(case, number as u64 % 5));
            cases.extend(round.cases);
        }
        cases
    }

    #[test]
    fn what_brought_news_in_earlier_runs_opens_the_random_cases() {
        let arguments = json!({ "query": "from an earlier run" }).as_object().cloned().unwrap();
        let inputs = [Input { tool: "search".to_owned(), arguments: arguments.clone() }];
        let cases = with_feedback(&inputs, Mode::Conform);
        let known = Value::Object(arguments);
        let first = cases.iter().position(|case| case.arguments() == Some(&known)).unwrap();
        assert!(matches!(cases[first - 1].intent, Intent::Boundary(_)), "{:?}", cases[first - 1]);
        let kept = |case: &&Case| case.arguments().unwrap()["query"] == "from an earlier run";
        assert!(cases.iter().filter(kept).count() > 1, "nothing was made of it");
    }

    #[test]
    fn feedback_keeps_to_the_mode_and_to_the_iterations() {
        let conform = with_feedback(&[], Mode::Conform);
        assert_eq!(conform.len(), 200);
        assert!(conform.iter().all(|case| case.intent.is_valid() == Some(true)));
        let adversarial = with_feedback(&[], Mode::Adversarial);
        assert!(adversarial.len() > all(Mode::Adversarial).len());
        assert!(adversarial.iter().all(|case| !matches!(case.intent, Intent::Valid)));
    }

    #[test]
    fn the_same_news_give_the_same_cases() {
        assert_eq!(with_feedback(&[], Mode::Mixed), with_feedback(&[], Mode::Mixed));
        assert_ne!(with_feedback(&[], Mode::Mixed), all(Mode::Mixed));
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_told() {
        let remote = tool("remote", json!({ "$ref": "https://example.com/schema" }));
        let (_, refused) = Planner::new([&remote], options(Mode::Mixed));
        assert!(refused["remote"].contains("never fetched"), "{refused:?}");
    }
}
