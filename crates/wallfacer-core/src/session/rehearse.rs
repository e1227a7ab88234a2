//! Calls each tool until it works, before everything else. So the world fits the server (what its services are expected to
//! answer is learned from its errors, and programs that it looks for in vain are stood in for), and every test that follows
//! knows a call that each tool takes. Nothing is judged here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wallfacer_process::sink::{Hint, Type};

use super::lab::{attempt, confining, fails_in_words, refusal, teach};
use crate::catalogue::{Catalogue, Tool};
use crate::judge::{Blame, Context, blame, lacks_program};
use crate::observe::Answer;
use crate::plan::{Case, FirstCalls, Footholds, Mode, Options, Phase, Planner};
use crate::run::{Fetched, Patience, Recording, Runner, Taken};
use crate::wire::{ConnectError, Connector, Server};
use crate::world::{Expected, Traced, asked_of_nothing, expected_members, members_asked_for, missed};

/// Valid calls of each tool; one that takes none of them gets more.
const CALLS: usize = 16;
/// The longest argument: a call as it is meant needs no more.
const MAX_BYTES: usize = 1_000;
/// Calls of each tool after which a server that asked for no service and missed no program is taken to need none.
const CALLS_UNTIL_SURE: usize = 2;
/// Answers that are tried for one call.
const MAX_ANSWERS: usize = 12;
/// The answer that has what the server's own code expects: its errors were heeded in the one before.
const FROM_CODE: usize = 1;
/// Tools that are called: of more the others are like these.
const MAX_TOOLS: usize = 256;
/// Passes in which what is looked for in vain is seen: a program that was stood in for may be followed by another.
const MAX_WATCHED: usize = 2;
/// Tools that are watched so: what they look for others do too.
const MAX_LACKING: usize = 12;
/// The part of a run's time that a pass may take, and the most.
const SHARE: u32 = 5;
const MOST: Duration = Duration::from_secs(15);

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Rehearsed {
    /// A call that asked a service for something and succeeded, by tool.
    pub fetching: BTreeMap<String, Case>,
    /// Programs that are stood in for.
    pub stand_ins: BTreeSet<String>,
    /// Whether servers must be started anew, because the sandbox was changed: they trust it, or work in other directories.
    pub changes: bool,
    /// Servers that were started.
    pub lives: u64,
    /// Calls that worked, and what they returned.
    pub calls: Arc<FirstCalls>,
}

impl Rehearsed {
    /// How long it may take in a run of this length.
    pub fn time(budget: Option<Duration>) -> Duration {
        budget.map_or(MOST, |budget| (budget / SHARE).min(MOST))
    }
}

/// Calls the tools of a server in the sandbox, until the world fits or the time is up. First as they are, on a server that
/// is there; then those that say that a program is missing once more, watched, to see which one they look for.
pub async fn rehearse(
    connector: &mut Connector,
    runner: &mut Runner,
    server: &Server,
    catalogue: &Catalogue,
    tools: &[Tool],
    plan: Plan,
) -> Rehearsed {
    let mut rehearsed = Rehearsed::default();
    let fits = server.standing.is_harmless() && server.standing.observed.network;
    let mut tools: Vec<Tool> = tools.iter().take(MAX_TOOLS).cloned().collect();
    if !fits {
        return rehearsed;
    }
    let context = Context::new(catalogue, server.protocol);
    let mut distrust = Distrust::Unknown;
    // A server of its own, where the one that is there will not do.
    let mut other: Option<Runner> = None;
    let mut number = 0;
    while number <= MAX_WATCHED {
        if number > 0 {
            let mut connector = connector.clone();
            connector.world_mut().lookups = true;
            other = Some(watched(connector, catalogue));
        }
        let known = rehearsed.stand_ins.len();
        let mut pass = Pass {
            connector,
            runner: other.as_mut().unwrap_or(runner),
            context: &context,
            until: Instant::now() + plan.time,
            rehearsed: &mut rehearsed,
            lacking: BTreeSet::new(),
            confining: BTreeSet::new(),
            expected: None,
            asked: BTreeMap::new(),
            needs_anything: false,
            made: 0,
            distrust,
        };
        // A server that does not start a second time is told by those who need it.
        let _or_out_of_time = tokio::time::timeout(plan.time * 2, pass.go(&tools, plan.seed)).await;
        // What the calls have left in it belongs to nobody; but where a start is dear, it is worth more than that.
        if number > 0 || !plan.keeps_server {
            pass.runner.rest().await;
        }
        let lacking = std::mem::take(&mut pass.lacking);
        let confining = std::mem::take(&mut pass.confining);
        distrust = std::mem::replace(&mut pass.distrust, Distrust::LookedInto);
        rehearsed.lives += other.take().map_or(0, |runner| runner.lives);
        if let Distrust::Seen(case) = distrust {
            distrust = Distrust::LookedInto;
            let mut watched = watched(connector.clone(), catalogue);
            let told = tokio::time::timeout(plan.time, trusted(&mut watched, &case, &context)).await;
            watched.rest().await;
            rehearsed.lives += watched.lives;
            let told = told.into_iter().flatten().flatten();
            let trusts = told.filter(|traced| connector.world_mut().trust_us_in(traced)).count() > 0;
            if trusts {
                rehearsed.changes = true;
                runner.rest().await;
                other = Some(unwatched(connector, catalogue));
            }
            continue;
        }
        // Who says which directories it keeps to is called about files in these.
        let declared = confining.iter().filter(|stated| connector.world_mut().declare(stated)).count() > 0;
        if declared {
            rehearsed.changes = true;
            runner.rest().await;
            other = Some(unwatched(connector, catalogue));
            continue;
        }
        if number > 0 && rehearsed.stand_ins.len() == known {
            break;
        }
        number += 1;
        tools.retain(|tool| lacking.contains(&tool.name));
        tools.truncate(MAX_LACKING);
        if tools.is_empty() {
            break;
        }
    }
    rehearsed
}

/// A further server, in the world as it is now.
fn unwatched(connector: &Connector, catalogue: &Catalogue) -> Runner {
    let patience = Patience::new(connector.target().timeouts.clone());
    Runner::new(connector.clone(), catalogue, patience)
}

/// A server of which every call into the system is seen.
fn watched(mut connector: Connector, catalogue: &Catalogue) -> Runner {
    connector.world_mut().watch = true;
    unwatched(&connector, catalogue)
}

/// What a server did at its start and in a call that it did not trust anybody in: it has read somewhere whom it trusts.
async fn trusted(runner: &mut Runner, case: &Case, context: &Context) -> Result<Vec<Traced>, ConnectError> {
    let mut seen: Vec<Traced> = runner.life().await?.startup.take().into_iter().collect();
    let patience = runner.patience().brief();
    let attempt = attempt(runner, case, &patience, context).await?;
    seen.extend(attempt.recording.steps.into_iter().filter_map(|taken| taken.traced));
    Ok(seen)
}

/// Whether a server refuses to believe that the sandbox is who it wanted to reach.
#[derive(Debug, Clone)]
enum Distrust {
    Unknown,
    /// In this call.
    Seen(Case),
    LookedInto,
}

/// What decides a rehearsal.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    /// How long each pass may take, once its server is there.
    pub time: Duration,
    /// Whether the server goes on afterwards.
    pub keeps_server: bool,
}

struct Pass<'a> {
    connector: &'a mut Connector,
    runner: &'a mut Runner,
    context: &'a Context,
    until: Instant,
    rehearsed: &'a mut Rehearsed,
    /// Tools that say that a program is not there.
    lacking: BTreeSet<String>,
    /// Directories that the server says it keeps to.
    confining: BTreeSet<PathBuf>,
    expected: Option<Vec<Expected>>,
    /// Members of which its code asks something, by what that is.
    asked: BTreeMap<String, Vec<String>>,
    /// Whether any call asked for a service, or missed a program.
    needs_anything: bool,
    /// Cases that had their turn.
    made: usize,
    distrust: Distrust,
}

impl Pass<'_> {
    async fn go(&mut self, tools: &[Tool], seed: u64) -> Result<(), ConnectError> {
        let given = self.until.saturating_duration_since(Instant::now());
        self.runner.life().await?;
        self.until = Instant::now() + given;
        let plan = Options { seed, mode: Mode::Conform, iterations: CALLS, max_bytes: MAX_BYTES };
        let (mut planner, _) = Planner::new(tools, plan);
        planner.recall(&self.rehearsed.calls);
        let world = self.connector.world();
        let footholds = Footholds::new(tools, world.scopes(), world.workspace().is_some());
        footholds.into_iter().for_each(|footholds| planner.stand_on(footholds));
        let gone = self.call_all(&mut planner, tools).await;
        let calls = planner.first_calls();
        // A later pass is about some tools only.
        if calls.reached().count() >= self.rehearsed.calls.reached().count() {
            self.rehearsed.calls = Arc::new(calls);
        }
        gone
    }

    async fn call_all(&mut self, planner: &mut Planner, tools: &[Tool]) -> Result<(), ConnectError> {
        let mut done: BTreeSet<String> = self.rehearsed.fetching.keys().cloned().collect();
        while let Some(round) = planner.next_round().filter(|round| round.phase == Phase::Examples) {
            for case in in_turn(round.cases) {
                if self.made >= tools.len() * CALLS_UNTIL_SURE && !self.needs_anything {
                    return Ok(());
                }
                self.made += 1;
                let Some(name) = case.subject.tool().map(str::to_owned) else { continue };
                let tool = tools.iter().find(|tool| tool.name == name);
                if done.contains(&name) {
                    continue;
                }
                if Instant::now() >= self.until {
                    return Ok(());
                }
                let called = self.call(&case, tool).await?;
                if matches!(self.distrust, Distrust::Seen(_)) {
                    return Ok(());
                }
                let Some((answer, recording)) = called else { continue };
                self.confining.extend(confining(&case, &recording, &answer));
                if teach(planner, &case, &answer, &recording) || is_fatal(&recording) {
                    self.lacking.remove(&name);
                    done.insert(name);
                }
            }
        }
        Ok(())
    }

    /// Makes one call until its services answer as the server expects; what it was answered last.
    async fn call(
        &mut self,
        case: &Case,
        tool: Option<&Tool>,
    ) -> Result<Option<(Answer, Recording)>, ConnectError> {
        let (mut last, mut said_before) = (None, None);
        for round in 0..MAX_ANSWERS {
            let patience = self.runner.patience().brief();
            let attempt = attempt(self.runner, case, &patience, self.context).await?;
            let (Some(taken), Some(seen)) = (attempt.recording.steps.last(), attempt.seen.steps.last())
            else {
                return Ok(last);
            };
            let words = refusal(taken);
            let fetched = taken.fetched.as_deref().unwrap_or_default();
            let asked = !fetched.is_empty();
            if matches!(self.distrust, Distrust::Unknown) && fetched.iter().any(Fetched::is_distrusted) {
                self.distrust = Distrust::Seen(case.clone());
                return Ok(None);
            }
            self.needs_anything |= asked || lacks_program(&words);
            let failed = seen.answer != Answer::Completed || fails_in_words(taken) || is_error(&words);
            if failed {
                self.stand_in(taken);
                if lacks_program(&words) {
                    self.lacking.extend(case.subject.tool().map(str::to_owned));
                }
            }
            let mut documents = taken.fetched.iter().flatten().filter(|fetched| fetched.is_document());
            let hints = match documents.next_back() {
                Some(asked) if failed => {
                    let mut hints = hints(&words, tool, round);
                    hints.extend(self.asked_of_nothing(&words));
                    if said_before.as_ref() == Some(&words) {
                        hints.extend(whole_instead(&hints));
                    }
                    if round == FROM_CODE {
                        hints.extend(self.named_by_code());
                    }
                    Some((asked.clone(), hints))
                }
                Some(_) => {
                    let name = case.subject.tool().unwrap_or_default().to_owned();
                    self.rehearsed.fetching.insert(name, case.clone());
                    None
                }
                None => None,
            };
            let silent = attempt.recording.steps.iter().any(Taken::is_fatal);
            said_before = Some(words);
            last = Some((seen.answer.clone(), attempt.recording));
            let Some((Fetched { method, host, path }, mut hints)) = hints else { break };
            if silent {
                // It may wait for a state that its service never tells: its code says which, or it is the usual one.
                hints = self.named_by_code();
                let usual = Hint::Named("status".to_owned(), Some(Type::Is("completed".into())));
                let says =
                    |hint: &Hint| matches!(hint, Hint::Named(name, Some(Type::Is(_))) if name == "status");
                if !hints.iter().any(says) {
                    hints.push(usual);
                }
            }
            let news = self.connector.world().shapes.learn(&method, &host, &path, &hints);
            if !news || silent || Instant::now() >= self.until {
                break;
            }
        }
        Ok(last)
    }

    fn named_by_code(&mut self) -> Vec<Hint> {
        self.expected().iter().map(|(name, is)| Hint::Named(name.clone(), is.clone())).collect()
    }

    /// What its own code expects of services. Read once, and only where its errors do not say enough.
    fn expected(&mut self) -> &[Expected] {
        let command = self.command();
        self.expected.get_or_insert_with(|| expected_members(&command))
    }

    /// Members that were missing where an error says only what was asked of them: its code says of which it asks that.
    fn asked_of_nothing(&mut self, words: &str) -> Vec<Hint> {
        let Some((asked, is)) = asked_of_nothing(words) else { return Vec::new() };
        let command = self.command();
        let known = self.asked.entry(asked.clone()).or_insert_with(|| members_asked_for(&command, &asked));
        known.iter().map(|name| Hint::Named(name.clone(), Some(is.clone()))).collect()
    }

    /// The command line, with files as they are seen from anywhere.
    fn command(&self) -> Vec<String> {
        let Some(command) = self.connector.target().reach.command() else { return Vec::new() };
        let here = command.cwd.clone().unwrap_or_default();
        let words = [&command.program].into_iter().chain(&command.args);
        let words = words.map(|word| {
            let file = std::path::absolute(here.join(word)).ok().filter(|file| file.is_file());
            file.map_or_else(|| word.clone(), Into::into).to_string_lossy().into_owned()
        });
        words.collect()
    }

    fn stand_in(&mut self, taken: &Taken) {
        let Some(traced) = &taken.traced else { return };
        let path = self.connector.search_path();
        let found = self.connector.world_mut().stand_in_for(&path, traced);
        self.rehearsed.stand_ins.extend(found);
    }
}

/// What an answer should have had, by what was said of it and by what the tool gives back itself.
fn hints(words: &str, tool: Option<&Tool>, round: usize) -> Vec<Hint> {
    let mut hints = missed(words);
    if hints.is_empty() {
        hints.push(Hint::More);
    }
    let declared = tool.filter(|_| round == 0).and_then(|tool| tool.output_schema());
    let members =
        declared.and_then(|schema| schema.get("properties")).and_then(|members| members.as_object());
    for (name, schema) in members.into_iter().flatten() {
        let is = match schema.get("type").and_then(|is| is.as_str()) {
            Some("array") => Some(Type::List),
            Some("string") => Some(Type::Text),
            Some("number" | "integer") => Some(Type::Number),
            Some("boolean") => Some(Type::Flag),
            _ => None,
        };
        hints.extend(is.map(|is| Hint::Named(name.clone(), Some(is))));
    }
    hints
}

/// Who misses a list under the name of a variable, though the answer has a member of that name, has all of the answer in
/// that variable.
fn whole_instead(hints: &[Hint]) -> Option<Hint> {
    hints.iter().find_map(|hint| match hint {
        Hint::At(path, is) if path.len() == 1 => Some(Hint::At(Vec::new(), is.clone())),
        _ => None,
    })
}

/// Whether a result says that it is none, as those of some servers do.
fn is_error(words: &str) -> bool {
    let beginning: String = words.trim_start().chars().take(200).collect();
    let told = beginning.to_lowercase();
    let says = ["error", "failed", "traceback"].iter().any(|word| told.starts_with(word));
    says || told.contains("\"error\":") || matches!(blame(&beginning), Blame::World(_)) && told.len() < 200
}

fn is_fatal(recording: &Recording) -> bool {
    recording.steps.iter().any(Taken::is_fatal)
}

/// The first call of each tool, then the second of each: where time is short, something is known of all.
pub fn in_turn(cases: Vec<Case>) -> Vec<Case> {
    let mut counts: BTreeMap<crate::plan::Subject, usize> = BTreeMap::new();
    let mut counted: Vec<(usize, Case)> = Vec::new();
    for case in cases {
        let count = counts.entry(case.subject.clone()).or_default();
        *count += 1;
        counted.push((*count, case));
    }
    counted.sort_by_key(|(count, _)| *count);
    counted.into_iter().map(|(_, case)| case).collect()
}
