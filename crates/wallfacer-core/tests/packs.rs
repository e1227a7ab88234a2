//! Walks every rule of every pack, live over stdio: broken by a server that breaks it, and by no other of its pack; kept
//! by the correct twin, and not for want of looking.
//!
//! What takes more than an answer has its servers in the table of rules. All else is played from the fixtures that stand
//! beside the rules: one server answers as a fixture that fails, another as one that passes.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use wallfacer_core::event::{Event, Listener};
use wallfacer_core::session::{
    FuzzOptions, PropertyOptions, Replay, RuleSet, property, replay, usual_budget,
};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Confine, Destructive, Reach, Target};
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::{RuleServer, require, rule_servers};
use wallfacer_rules::{
    Context as Facts, Expect, Input, Rule, Rules, Sequence, Shelf, ToolShape, Verdict, packs,
};
use wallfacer_schema::{Pool, Schema};

/// Servers at a time.
const AT_ONCE: usize = 8;

/// Names under which the rules of these packs apply: by its usual name a tool may do what it is accused of.
const NAMES: &[(&str, &str, &str)] =
    &[("injection-shell", "shell_tool", "ping"), ("injection-sql", "query_tool", "find_notes")];

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

#[test]
fn every_rule_that_judges_an_answer_is_broken_by_one_server_and_kept_by_another() {
    let jobs: Vec<Job> = every_rule().into_iter().filter(|rule| !has_servers(&rule.base)).collect();
    assert!(jobs.len() > 50, "{}", jobs.len());
    in_parallel(&jobs, |job| {
        let answers = [Expect::Fail, Expect::Pass].map(|expect| job.play(expect));
        let wanted = [BTreeSet::from([job.name()]), BTreeSet::new()];
        (answers != wanted.clone().map(Ok)).then(|| format!("{}: {answers:?}", job.base))
    });
}

#[test]
fn every_rule_that_judges_more_is_broken_by_its_server_and_kept_by_the_twin() {
    let Some(()) = require("a machine on which servers can be watched", can_watch()) else { return };
    in_parallel(rule_servers(), |row| {
        let broken = found(&tried(row, false));
        let wanted: BTreeSet<String> = row.breaks.iter().map(|&rule| rule.to_owned()).collect();
        let broken: BTreeSet<String> = broken.into_iter().map(|name| base(&name, row)).collect();
        let twin = tried(row, true);
        let is_kept = twin.findings.is_empty() && twin.flaky.is_empty();
        let is_judged = twin.rules_judged >= row.breaks.len() as u64;
        (broken != wanted || !is_kept || !is_judged).then(|| {
            let told: Vec<&str> = twin.findings.iter().map(|finding| finding.message.as_str()).collect();
            let unsaid = &twin.not_tested;
            format!("{}, {}: {broken:?} for {wanted:?}; twin: {told:?}, {unsaid:?}", row.name, row.pack)
        })
    });
}

#[test]
fn what_breaks_a_rule_by_its_effect_breaks_it_again_when_it_is_replayed() {
    let Some(()) = require("a machine on which servers can be watched", can_watch()) else { return };
    for name in ["read-only-writes", "opens-first", "follows-links"] {
        let row = rule_servers().iter().find(|row| row.name == name).unwrap();
        let place = place();
        let again = |fixed: bool| connector(row, fixed, place.path(), Confine::Require);
        let found = try_on(row, false, again(false));
        let verdict = |fixed: bool| {
            let (guard, mut deaf) = (anything_goes(), Deaf);
            let budget = usual_budget(&found.findings[0]);
            let replayed = replay(again(fixed), None, &found.findings[0], &guard, budget, &mut deaf);
            common::wait_for(replayed).unwrap().verdict
        };
        assert!(matches!(verdict(false), Replay::StillFails { .. }), "{name}: {:?}", verdict(false));
        assert!(matches!(verdict(true), Replay::Fixed { .. }), "{name}: {:?}", verdict(true));
    }
}

#[test]
fn where_nobody_watches_a_rule_by_effect_is_not_tested() {
    for (name, why) in
        [("read-only-writes", "the effects of the call were not observed"), ("follows-links", "canary.link")]
    {
        let row = rule_servers().iter().find(|row| row.name == name).unwrap();
        let place = place();
        let found = try_on(row, true, connector(row, false, place.path(), Confine::Off));
        assert_eq!((found.findings.len(), found.rules_judged), (0, 0), "{name}");
        let told = found.not_tested.iter().find(|not| not.what.starts_with(row.breaks[0]));
        let told = told.map(|not| not.why.as_str()).unwrap_or_default();
        assert!(told.contains(why), "{name}: {:?}", found.not_tested);
    }
}

#[test]
fn every_server_of_the_table_breaks_rules_that_there_are() {
    let known: BTreeSet<String> = every_rule().into_iter().map(|rule| rule.base).collect();
    for row in rule_servers() {
        for rule in row.breaks {
            assert!(known.contains(*rule), "{}: there is no rule {rule}", row.name);
        }
    }
}

#[test]
fn what_tests_sent_themselves_is_no_poison_where_it_comes_back() {
    let tool = ToolShape::new(candidates().swap_remove(0));
    let mut poison = rules("context-poisoning", &[]).expand(&[tool]).rules;
    poison.retain(|rule| !rule.is_static());
    assert_eq!(poison.len(), 2);
    let sent = texts_that_are_sent();
    assert!(sent.len() > 100, "{}", sent.len());
    for text in sent {
        // As it is, and within JSON.
        for shown in [text.clone(), Value::from(text).to_string()] {
            let answer = json!({"content": [{"type": "text", "text": shown}]});
            for rule in &poison {
                let verdict = rule.judge(&Facts::new(&Value::Null, &answer));
                assert_eq!(verdict, Verdict::Holds, "{}: {shown:?}", rule.name);
            }
        }
    }
}

/// The texts of every dictionary of attacks, and of every call that a pack makes.
fn texts_that_are_sent() -> BTreeSet<String> {
    let schema = Schema::compile(&json!({"type": "string"})).unwrap();
    let attacks = schema.adversarial(&Pool::new()).unwrap();
    let mut texts: BTreeSet<String> = BTreeSet::new();
    attacks.iter().for_each(|attack| gather(&attack.value, &mut texts));
    for pack in packs() {
        let rules = rules(pack.name, &[]);
        let of_rules = rules.rules.iter().filter_map(|rule| match &rule.input {
            Input::Fixed(draft) | Input::SchemaValid { over: draft, .. } => draft.ready(),
            Input::Generated(_) => None,
        });
        let steps = rules.sequences.iter().flat_map(|sequence| &sequence.steps);
        let sent = of_rules.chain(steps.filter_map(|step| step.with.ready()));
        sent.for_each(|value| gather(value, &mut texts));
    }
    texts
}

fn gather(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(texts.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(members) => members.values().for_each(|value| gather(value, texts)),
        _ => {}
    }
}

/// One rule or sequence of one pack.
struct Job {
    /// Without the name of a tool.
    base: String,
    law: Law,
}

enum Law {
    Rule(Box<Rule>),
    /// A rule about every tool: the pack and the name under which one of them is known.
    Block(Box<Rules>),
    Sequence(Box<Sequence>),
}

/// All that the packs hold, each once, though packs extend each other.
fn every_rule() -> Vec<Job> {
    let mut jobs: BTreeMap<String, Job> = BTreeMap::new();
    for pack in packs() {
        let rules = rules(pack.name, &[]);
        for rule in &rules.rules {
            let law = Law::Rule(Box::new(rule.clone()));
            jobs.entry(rule.name.clone()).or_insert(Job { base: rule.name.clone(), law });
        }
        for candidate in candidates() {
            let name = candidate["name"].as_str().unwrap().to_owned();
            for rule in rules.expand(&[ToolShape::new(candidate)]).rules {
                let base = rule.name.strip_suffix(&format!(".{name}")).unwrap().to_owned();
                let law = Law::Block(Box::new(rules.clone()));
                jobs.entry(base.clone()).or_insert(Job { base, law });
            }
        }
        for sequence in &rules.sequences {
            let law = Law::Sequence(Box::new(sequence.clone()));
            jobs.entry(sequence.name.clone()).or_insert(Job { base: sequence.name.clone(), law });
        }
        let blocks = jobs.values().filter(|job| matches!(job.law, Law::Block(_))).count();
        assert!(blocks >= rules.block_count(), "a rule of {} fits no candidate", pack.name);
    }
    jobs.into_values().collect()
}

fn rules(pack: &str, parameters: &[(&str, &str)]) -> Rules {
    let names = NAMES.iter().filter(|(of, _, _)| *of == pack).map(|(_, name, value)| (*name, *value));
    let given = names.chain(parameters.iter().copied());
    let given = given.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
    Shelf::default().rules(pack, &given).unwrap().unwrap()
}

/// Tools of which each rule about every tool fits one.
fn candidates() -> Vec<Value> {
    let hints = [
        json!({}),
        json!({"readOnlyHint": true}),
        json!({"readOnlyHint": false, "idempotentHint": true}),
        json!({"readOnlyHint": false, "destructiveHint": false}),
        json!({"openWorldHint": false}),
    ];
    let tool = |annotations: &Value| {
        json!({"name": "sum", "description": "Adds up. Works offline.", "inputSchema": {"type": "object"},
            "annotations": annotations})
    };
    let with_output = json!({"name": "sum", "description": "Adds up.", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"}});
    let plain = json!({"name": "sum", "inputSchema": {"type": "object"}});
    [plain].into_iter().chain(hints.iter().map(tool)).chain([with_output]).collect()
}

impl Job {
    /// The name under which it is found.
    fn name(&self) -> String {
        match &self.law {
            Law::Block(_) => format!("{}.{}", self.base, self.staged(Expect::Fail).1),
            Law::Rule(_) | Law::Sequence(_) => self.base.clone(),
        }
    }

    /// What is broken by a server that answers as a fixture of this kind; an error where nothing was judged.
    fn play(&self, expect: Expect) -> Result<BTreeSet<String>, String> {
        let (set, _, script) = self.staged(expect);
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("script.json");
        std::fs::write(&file, script.to_string()).unwrap();
        let mut arguments: Vec<OsString> =
            ["rule", "as-written", "--era", "legacy", "--script"].map(Into::into).into();
        arguments.push(file.into());
        let target = match self.takes_two_clients() {
            false => Target::new(Reach::Command(Command::new(wallfacer_fixtures::server(), arguments))),
            // Over stdio each client has a server of its own, and nothing can be between them.
            true => {
                let (port, url) = common::address("mcp");
                arguments.extend(["--http".into(), "--port".into(), port.to_string().into()]);
                Target::new(common::listening(Command::new(wallfacer_fixtures::server(), arguments), url))
            }
        };
        let tried = run(Connector::new(target, common::environment()), &|_| vec![set.clone()]);
        match tried.rules_judged {
            1 => Ok(found(&tried)),
            _ => Err(format!("{:?}", tried.not_tested)),
        }
    }

    fn takes_two_clients(&self) -> bool {
        let is_other = |step: &wallfacer_rules::Step| step.client == wallfacer_rules::Client::Other;
        matches!(&self.law, Law::Sequence(sequence) if sequence.steps.iter().any(is_other))
    }

    /// The rule alone, the name of its tool, and what the server is to say.
    fn staged(&self, expect: Expect) -> (RuleSet, String, Value) {
        let mut rules = Rules::default();
        let (tools, answers) = match &self.law {
            Law::Rule(rule) => {
                let fixture = rule.fixtures.iter().find(|fixture| fixture.expect == expect);
                let fixture =
                    fixture.unwrap_or_else(|| panic!("{} has no fixture that may be played", self.base));
                rules.rules.push((**rule).clone());
                let mut tool = merged(&candidates()[0], fixture.tool.as_ref());
                tool["name"] = rule.tool.as_str().into();
                tool["unlisted"] = rule.unlisted.into();
                // A server that lists nothing is not spoken to.
                (vec![tool, candidates().swap_remove(0)], vec![fixture.response.clone()])
            }
            Law::Block(pack) => {
                let (rule, tool, answer) = fitting(pack, &self.base, expect)
                    .unwrap_or_else(|| panic!("{} has no fixture that may be played", self.base));
                rules.rules.push(rule);
                (vec![tool], vec![answer])
            }
            Law::Sequence(sequence) => {
                let fixture = sequence.fixtures.iter().find(|fixture| fixture.expect == expect);
                let fixture =
                    fixture.unwrap_or_else(|| panic!("{} has no fixture that may be played", self.base));
                rules.sequences.push((**sequence).clone());
                let tool = |name: &&str| merged(&candidates()[0], Some(&json!({ "name": name })));
                (sequence.tools().iter().map(tool).collect(), fixture.responses.clone())
            }
        };
        let name = tools[0]["name"].as_str().unwrap().to_owned();
        let answers: Vec<Value> = answers.into_iter().map(whole).collect();
        (
            RuleSet { name: self.base.clone(), rules, own: false },
            name,
            json!({"tools": tools, "answers": answers}),
        )
    }
}

/// The first fixture of a rule about every tool whose own tool the rule is about.
fn fitting(pack: &Rules, base: &str, expect: Expect) -> Option<(Rule, Value, Value)> {
    for candidate in candidates() {
        let first = pack.expand(&[ToolShape::new(candidate.clone())]).rules;
        let Some(first) = first.into_iter().find(|rule| rule.name == format!("{base}.sum")) else { continue };
        for fixture in first.fixtures.iter().filter(|fixture| fixture.expect == expect) {
            let tool = merged(&candidate, fixture.tool.as_ref());
            let name = format!("{base}.{}", tool["name"].as_str()?);
            let rule =
                pack.expand(&[ToolShape::new(tool.clone())]).rules.into_iter().find(|rule| rule.name == name);
            if let Some(rule) = rule {
                return Some((rule, tool, fixture.response.clone()));
            }
        }
    }
    None
}

/// The first with the members of the second, those of objects one by one.
fn merged(tool: &Value, over: Option<&Value>) -> Value {
    let mut tool = tool.clone();
    for (name, value) in over.and_then(Value::as_object).into_iter().flatten() {
        tool[name] = match tool[name].is_object() && value.is_object() {
            true => merged(&tool[name], Some(value)),
            false => value.clone(),
        };
    }
    tool
}

/// Fixtures leave out what their rule does not look at.
fn whole(mut answer: Value) -> Value {
    let is_partial =
        answer.get("structuredContent").is_some() || answer.as_object().is_none_or(|map| map.is_empty());
    if is_partial && answer.get("content").is_none() && answer.get("error").is_none() {
        answer["content"] = json!([]);
    }
    answer
}

fn has_servers(base: &str) -> bool {
    rule_servers().iter().any(|row| row.breaks.contains(&base))
}

/// A server of the table on trial: for all rules of its pack, and the twin for those that it is to keep.
fn tried(row: &RuleServer, fixed: bool) -> Fuzzed {
    let place = place();
    try_on(row, fixed, connector(row, fixed, place.path(), Confine::Require))
}

fn try_on(row: &RuleServer, fixed: bool, connector: Connector) -> Fuzzed {
    let pack = rules(row.pack, row.parameters);
    let choose = |tools: &[ToolShape]| {
        let mut only = Rules::default();
        let all = pack.rules.iter().cloned().chain(pack.expand(tools).rules);
        only.rules = all.filter(|rule| row.breaks.contains(&base(&rule.name, row).as_str())).collect();
        vec![RuleSet {
            name: row.pack.to_owned(),
            rules: if fixed { only } else { pack.clone() },
            own: false,
        }]
    };
    run(connector, &choose)
}

/// A home, a place to start in, and a directory that the server is told of.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for name in ["home", "work", "area", "area/root"] {
        std::fs::create_dir(place.path().join(name)).unwrap();
    }
    place
}

fn connector(row: &RuleServer, fixed: bool, place: &Path, confine: Confine) -> Connector {
    let place = place.canonicalize().unwrap();
    let mut arguments: Vec<OsString> = row.arguments().map(Into::into).into();
    arguments.extend(fixed.then(|| "--fixed".into()));
    arguments.extend(["--root".into(), place.join("area/root").into()]);
    let command =
        Command { cwd: Some(place.join("work")), ..Command::new(wallfacer_fixtures::server(), arguments) };
    let mut target = Target::new(Reach::Command(command));
    target.sandbox.confine = confine;
    let mut environment = common::environment();
    environment.insert("HOME".into(), place.join("home").into());
    Connector::new(target, environment)
}

/// The name of a rule without that of the tool, where it is one that the server breaks.
fn base(name: &str, row: &RuleServer) -> String {
    let is_of =
        |rule: &&&str| name.strip_prefix(**rule).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    row.breaks.iter().find(is_of).map_or(name, |rule| rule).to_owned()
}

fn run(connector: Connector, choose: &dyn Fn(&[ToolShape]) -> Vec<RuleSet>) -> Fuzzed {
    let effort = FuzzOptions { in_flight: 1, destructive: anything_goes(), ..FuzzOptions::default() };
    let options = PropertyOptions { effort, cases: 3, looks_further: true, noise: Vec::new() };
    property(connector, &choose, &options, &mut Deaf).unwrap()
}

/// Nothing that is called here is real.
fn anything_goes() -> Destructive {
    Destructive { allowed: vec![regex::Regex::new("").unwrap()], ..Destructive::default() }
}

/// The rules that findings are about.
fn found(tried: &Fuzzed) -> BTreeSet<String> {
    let cases = tried.findings.iter().chain(&tried.flaky).filter_map(|finding| finding.repro.case().ok());
    cases.filter_map(|case| case.claim.map(|claim| claim.rule)).collect()
}

fn can_watch() -> Option<()> {
    let offers = wallfacer_process::jail::offers();
    offers.observation.refused.is_none().then_some(())
}

/// Tells all that is wrong at the end.
fn in_parallel<T: Sync>(all: &[T], judge: impl Fn(&T) -> Option<String> + Sync) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(each) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(judge(each));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
