//! Plans a run in phases, each only a way of making cases. What was learned by the end of a round goes into the next
//! one, so that the plan depends on the seed and the server, not on how many workers there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use wallfacer_text::lexicon::{Action, actions};

use super::case::{Case, HEAVY, Step, Subject};
use super::first_calls::FirstCalls;
use super::foothold::Footholds;
use super::injection::demanded;
use super::input::Input;
use super::knowledge::Common;
use super::lesson::{Lesson, Teaching};
use super::prelude::hints;
use super::producer::Producer;
use super::refusal::read_refusal;
use super::tool_plan::ToolPlan;
use crate::catalogue::{Catalogue, Tool};

/// Valid calls of each tool that open the plan, and after which it is seen whether any succeeds.
const OPENING: usize = 4;
/// Further rounds of valid calls for tools that have not succeeded yet, with what was learned meanwhile: so many at once, the
/// others each after one of the other phases.
const RETRIES: usize = 4;
/// Rounds in which a tool that said what must come first is called behind that alone.
const IN_VAIN: usize = 2;
/// With at least so many iterations, a tool that took no call yet gets as many tries as [`REACH`] says.
const ENOUGH_TO_REACH: usize = 16;
/// Valid calls of a tool that took none yet, at most, whatever is left of its iterations.
const REACH: usize = 80;
/// Random cases of each tool in the first round of them. Each further round has twice as many, for there is ever less
/// to learn.
const RANDOM_ROUND: usize = 50;
/// Random cases of all tools in one round, at most: a round is kept whole.
const LARGE_ROUND: usize = 10_000;
/// The parts of what is left of a tool's iterations that each list may use, so that none of them crowds out the next.
const BOUNDARY_SHARE: f64 = 0.35;
const INVALID_SHARE: f64 = 0.4;
const ADVERSARIAL_SHARE: f64 = 0.7;

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
#[derive(Debug, Clone)]
pub struct Planner {
    options: Options,
    tools: Vec<ToolPlan>,
    /// What any tool may use.
    common: Common,
    footholds: Option<Arc<Footholds>>,
    next: Next,
    /// Where the phase goes on, when the last round was too heavy for all tools.
    from: usize,
    /// Random cases of each tool in the next round.
    random: usize,
    /// How many of the random cases are made of inputs that brought news, from none to all; none where nobody asks.
    mutate_ratio: Option<f64>,
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
            match ToolPlan::new(tool, options.max_bytes) {
                Ok(plan) => plans.push(plan),
                Err(error) => drop(refused.insert(tool.name.clone(), error.to_string())),
            }
        }
        let next = if options.mode == Mode::Adversarial { Next::Boundary } else { Next::Examples(0) };
        let planner = Planner {
            options,
            tools: plans,
            common: Common::default(),
            footholds: None,
            next,
            from: 0,
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
            let begun = self.from;
            let round = self.make(phase);
            if self.from > 0 {
                return Some(round);
            }
            let done = round.cases.is_empty() && begun == 0;
            self.next = match phase {
                Next::Examples(try_) if try_ < RETRIES => Next::Examples(try_ + 1),
                Next::Examples(try_) => match try_ - RETRIES {
                    0 => Next::Boundary,
                    1 => Next::Invalid,
                    2 => Next::Adversarial,
                    _ => Next::Random,
                },
                Next::Boundary => Next::Examples(RETRIES + 1),
                Next::Invalid => Next::Examples(RETRIES + 2),
                Next::Adversarial => Next::Examples(RETRIES + 3),
                Next::Random if done => return None,
                Next::Random => Next::Random,
            };
            if !round.cases.is_empty() {
                return Some(round);
            }
        }
    }

    /// What came of a call steers what is tried next: its arguments are good where it succeeded, and what was returned may
    /// be of use elsewhere; a refusal says what would do.
    pub fn learn(&mut self, case: &Case, teaching: Teaching) {
        let arguments = match case.arguments() {
            Some(Value::Object(arguments)) => Some(arguments),
            _ => None,
        };
        match teaching {
            Teaching::Nothing => {}
            Teaching::Result(returned) => {
                if let (Some(plan), Some(arguments)) = (self.plan_of(case), arguments) {
                    plan.keep_good(case, &returned);
                    plan.adopt(case);
                    plan.knowledge.prove(arguments);
                    self.common.prove(arguments);
                }
                self.common.hear(returned);
            }
            Teaching::Refusal(text) => {
                let footholds = self.footholds.clone();
                let (Some(plan), Some(arguments)) = (self.plan_of(case), arguments) else { return };
                // Who said that something must come first, and says so no longer, has had it.
                if plan.was_unready {
                    plan.adopt(case);
                }
                if case.intent.is_valid() == Some(true) {
                    plan.note_refusal(&text);
                }
                if plan.declare(&demanded(&text))
                    && let Some(footholds) = &footholds
                {
                    let (name, about) = (plan.name.clone(), plan.about.clone());
                    plan.knowledge.know(|field| footholds.of(field, &name, &about));
                }
                let given = plan.knowledge.arguments_of(arguments);
                let mut refusal = read_refusal(&text, &plan.knowledge.names(), given);
                // Where one argument is not valid, nothing is said of the others.
                if case.intent.is_valid() == Some(false) {
                    refusal.blamed.clear();
                }
                plan.knowledge.refuse(arguments, refusal);
                if let Some(footholds) = footholds {
                    plan.knowledge.know(|field| footholds.with_endings(field, &text));
                }
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
            plan.was_unready = true;
            plan.note_refusal(text);
            plan.unready.get_or_insert_with(|| (arguments.clone(), meant));
        }
        told
    }

    /// What must come before the calls of each tool, as far as that is known.
    pub fn preludes(&self) -> impl Iterator<Item = (&str, &[Step])> {
        let known = self.tools.iter().filter(|plan| !plan.prelude.is_empty());
        known.map(|plan| (plan.name.as_str(), &plan.prelude[..]))
    }

    /// What its calls taught, for others.
    pub fn first_calls(&self) -> FirstCalls {
        let taught = |plan: &ToolPlan| (plan.name.clone(), plan.taught());
        FirstCalls { tools: self.tools.iter().map(taught).collect(), common: self.common.clone() }
    }

    /// Begins with what earlier calls taught.
    pub fn recall(&mut self, earlier: &FirstCalls) {
        self.common.recall(&earlier.common);
        for plan in &mut self.tools {
            if let Some(taught) = earlier.tools.get(&plan.name) {
                plan.recall(taught);
            }
        }
    }

    /// Values that are there, and worth trying wherever a field has their name.
    pub fn know(&mut self, lessons: Vec<Lesson>) {
        self.common.know(lessons);
    }

    /// Files and directories that are there, for all arguments that ask for one.
    pub fn stand_on(&mut self, footholds: Footholds) {
        for plan in &mut self.tools {
            let (name, about) = (plan.name.clone(), plan.about.clone());
            plan.knowledge.know(|field| footholds.of(field, &name, &about));
        }
        self.footholds = Some(Arc::new(footholds));
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

    /// A plan of its own for one tool, which this plan has no further cases for. It knows what this one knows so far.
    pub fn split_off(&mut self, tool: &str) -> Planner {
        let mut own = self.clone();
        own.tools.iter_mut().filter(|plan| plan.name != tool).for_each(|plan| plan.stopped = true);
        self.stop(tool);
        own
    }

    /// Tools whose calls are made elsewhere: here they are only called as examples, from which the others learn.
    pub fn leave_to_others(&mut self, is_left: impl Fn(&str) -> bool) {
        self.tools.iter_mut().for_each(|plan| plan.elsewhere = is_left(&plan.name));
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
        let Planner { options, tools, common, random, mutate_ratio, from, .. } = self;
        let most = (LARGE_ROUND / tools.len().max(1)).max(RANDOM_ROUND);
        let mut cases = Vec::new();
        let ready: BTreeMap<String, Vec<Vec<Step>>> =
            tools.iter().map(|plan| (plan.name.clone(), plan.leads_to(common))).collect();
        let producers: Vec<Producer> = match next {
            Next::Examples(try_) if try_ > 0 => tools.iter().flat_map(ToolPlan::producers).collect(),
            _ => Vec::new(),
        };
        // What came first where a tool was not ready before.
        let helped = tools.iter().filter(|plan| plan.was_unready && !plan.prelude.is_empty());
        let served: Vec<Vec<Step>> = helped.map(|plan| plan.prelude.clone()).collect();
        let is_example = matches!(next, Next::Examples(_));
        let begun = std::mem::take(from);
        let mut weight = 0;
        for (number, plan) in tools.iter_mut().enumerate().skip(begun) {
            if weight >= HEAVY {
                *from = number;
                break;
            }
            if plan.stopped || plan.elsewhere && !is_example {
                continue;
            }
            let left = options.iterations.saturating_sub(plan.made);
            let reach =
                if options.iterations >= ENOUGH_TO_REACH { REACH.saturating_sub(plan.made) } else { 0 };
            let room = match (options.mode, next) {
                (_, Next::Examples(try_)) if try_ > 0 => left.max(reach),
                (Mode::Mixed, Next::Boundary) => part(left, BOUNDARY_SHARE),
                (Mode::Mixed, Next::Invalid) => part(left, INVALID_SHARE),
                (Mode::Mixed, Next::Adversarial) => part(left, ADVERSARIAL_SHARE),
                _ => left,
            };
            let mut made = match next {
                Next::Examples(_) if options.mode == Mode::Adversarial => Vec::new(),
                Next::Examples(0) => plan.examples(options.seed, OPENING, common),
                Next::Examples(_) if !plan.good.is_empty() => Vec::new(),
                Next::Examples(retry) if retry <= IN_VAIN && plan.waits_for(&ready) => Vec::new(),
                Next::Examples(retry) => plan.guesses(options.seed, common, retry),
                Next::Boundary if options.mode == Mode::Adversarial => Vec::new(),
                Next::Boundary => plan.boundary(options.seed, common),
                Next::Invalid | Next::Adversarial if options.mode == Mode::Conform => Vec::new(),
                Next::Invalid => plan.invalid(options.seed, common),
                Next::Adversarial => plan.adversarial(options.seed, common),
                Next::Random => plan.random(options, *mutate_ratio, *random, common),
            };
            made.truncate(room);
            plan.made += made.len();
            // Without what must come first all others are in vain, so these are made however few are wanted.
            if matches!(next, Next::Examples(try_) if try_ > 0) {
                cases.extend(plan.behind(&ready, &served, options.seed));
                cases.extend(plan.behind_producers(&producers, common, options.seed));
            }
            // Whose calls are examples learn from each other, so that all tools have theirs in one round.
            if !is_example {
                weight += made.iter().map(Case::weight).sum::<usize>();
            }
            cases.append(&mut made);
        }
        if matches!(next, Next::Examples(_)) {
            cases = in_turn(cases);
        }
        if next == Next::Random && *from == 0 {
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

/// The first call of each tool, then the second of each: where time is short, something is known of all. Calls behind others
/// come last, those of one tool together, because what comes first is then done once.
fn in_turn(cases: Vec<Case>) -> Vec<Case> {
    let mut counts: BTreeMap<Subject, usize> = BTreeMap::new();
    let mut ranked: Vec<(bool, usize, usize, Case)> = Vec::new();
    for case in cases {
        let count = counts.entry(case.subject.clone()).or_default();
        *count += 1;
        let waits = !case.prelude.is_empty();
        ranked.push((waits, if waits { 0 } else { *count }, in_order(&case), case));
    }
    ranked.sort_by_key(|(waits, count, order, _)| (*waits, *count, *order));
    ranked.into_iter().map(|(.., case)| case).collect()
}

/// What is made must be there before it is read, and is taken away last. What only gets the server ready comes after those that
/// may wait for it: only a refusal tells that they do, and a fresh server must be got ready again.
fn in_order(case: &Case) -> usize {
    let does = case.subject.tool().map(actions).unwrap_or_default();
    let stores = does.contains(&Action::Creates) && does.contains(&Action::Writes);
    match () {
        () if does.contains(&Action::Removes) => 5,
        () if does.contains(&Action::Prepares) && !stores => 4,
        () if does.contains(&Action::Creates) => 0,
        () if does.contains(&Action::Lists) => 1,
        () if does.contains(&Action::Changes) => 3,
        () => 2,
    }
}

/// At least one, where there is any.
fn part(left: usize, share: f64) -> usize {
    (left as f64 * share).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;
    use crate::plan::Intent;
    use serde_json::json;

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
        planner.learn(&first, Teaching::refusal("query must be one of: learned"));
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
        let (mut planner, _) = Planner::new([&search()], options(Mode::Conform));
        planner.follow_news(0.9, &inputs);
        let mut rounds = std::iter::from_fn(|| planner.next_round());
        let random = rounds.find(|round| round.phase == Phase::Random).unwrap();
        assert_eq!(random.cases[0].arguments(), Some(&known));
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
    fn what_is_heavy_is_spread_over_rounds_and_nothing_of_it_is_left_out() {
        let long = json!({ "type": "string", "minLength": 900_000 });
        let schema = json!({ "type": "object", "properties": { "long": long }, "required": ["long"] });
        let tools: Vec<Tool> = (0..4).map(|number| tool(&format!("t{number}"), schema.clone())).collect();
        let options = Options { iterations: 60, ..options(Mode::Mixed) };
        let tried = |tools: &[Tool]| {
            let (mut planner, _) = Planner::new(tools, options.clone());
            let mut tried: BTreeMap<(String, Phase), usize> = BTreeMap::new();
            while let Some(round) = planner.next_round() {
                let weight: usize = round.cases.iter().map(Case::weight).sum();
                assert!(weight < 3 * HEAVY, "{:?}: {weight}", round.phase);
                for case in round.cases {
                    *tried.entry((case.tool_name().unwrap().to_owned(), round.phase)).or_default() += 1;
                }
            }
            tried
        };
        let together = tried(&tools);
        assert!(together.keys().any(|(_, phase)| *phase == Phase::Random), "{together:?}");
        let each: BTreeMap<_, _> = tools.iter().flat_map(|tool| tried(std::slice::from_ref(tool))).collect();
        assert_eq!(together, each);
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_told() {
        let remote = tool("remote", json!({ "$ref": "https://example.com/schema" }));
        let (_, refused) = Planner::new([&remote], options(Mode::Mixed));
        assert!(refused["remote"].contains("never fetched"), "{refused:?}");
    }
}
