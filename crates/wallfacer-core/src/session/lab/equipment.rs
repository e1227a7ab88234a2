//! Prepares the world in which calls are judged by what they do: what rules name is planted, and what a server does by
//! itself is learned to be noise.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use wallfacer_rules::{Root, Rule, Sequence};

use super::start_case;
use crate::judge::{Context, Watched};
use crate::observe::{BadNoise, Effects, Noise, Places, Tokens, Whose};
use crate::plan::Landmarks;
use crate::run::{Recording, Runner};
use crate::session::entrust::{CANARY, canary};
use crate::wire::{ConnectError, Connector, Server};
use crate::world::DeclaredBy;

/// The file of the home directory that rules may ask for by name.
const HOME_FILE: &str = ".env";

/// What rules need beside answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    pub effects: bool,
    pub canary: bool,
}

impl Needs {
    pub fn of_rule(rule: &Rule) -> Needs {
        Needs { effects: rule.refers_to(Root::Effects), canary: rule.refers_to(Root::Canary) }
    }

    pub fn of_sequence(sequence: &Sequence) -> Needs {
        Needs { effects: sequence.refers_to(Root::Effects), canary: sequence.refers_to(Root::Canary) }
    }

    pub fn and(self, other: Needs) -> Needs {
        Needs { effects: self.effects || other.effects, canary: self.canary || other.canary }
    }

    pub fn any(self) -> bool {
        self.effects || self.canary
    }
}

/// Plants what rules name into all lives to come, and has those watched if need be. Only where nothing leaves the
/// server's world: elsewhere neither may be named nor harmed what is not ours.
pub fn equip(connector: &mut Connector, needs: Needs, seed: u64) {
    if !connector.standing().is_some_and(|standing| standing.is_harmless()) {
        return;
    }
    let world = connector.world_mut();
    world.watch |= needs.effects;
    if needs.any() {
        world.plants = Landmarks::new(world.scopes(), seed).plants;
    }
}

/// What rules may name in the lives of this server.
pub fn planted(connector: &Connector, server: &Server, seed: u64) -> Option<Value> {
    // What runs already has the environment that it has.
    connector.target().reach.command()?;
    let mut names = Map::new();
    names.insert("environment_name".to_owned(), CANARY.into());
    names.insert("environment".to_owned(), canary(seed).into());
    if !server.standing.is_harmless() {
        return Some(Value::Object(names));
    }
    let world = connector.world();
    names.extend(Landmarks::new(world.scopes(), seed).names);
    let canaries = world.canaries(&server.standing);
    // What the server was told of, it may read.
    let is_told = |canary: &&wallfacer_process::jail::Canary| {
        world.scopes().keys().any(|scope| canary.path.starts_with(scope))
    };
    let hidden: Vec<_> = canaries.iter().filter(|canary| !is_told(canary)).collect();
    if let Some(file) = hidden.iter().find(|canary| canary.path.ends_with(HOME_FILE)) {
        names.insert("home_file".to_owned(), file.path.to_string_lossy().into());
        names.insert("home_secret".to_owned(), file.tokens.first().cloned().into());
    }
    let paths: Vec<Value> = hidden.iter().map(|canary| canary.path.to_string_lossy().into()).collect();
    names.insert("home_files".to_owned(), paths.into());
    Some(Value::Object(names))
}

/// The context in which what calls do is known, where it is seen: what the server does by itself is learned first.
pub async fn watching(
    context: Context,
    connector: &Connector,
    server: &Server,
    noise: &[String],
    runner: &mut Runner,
    seed: u64,
) -> Result<Context, ConnectError> {
    let seen = connector.world().is_watched() && server.standing.observed.calls;
    let Some(mut watched) = observer(connector, server, noise).ok().filter(|_| seen) else {
        return Ok(context);
    };
    let recording = runner.perform(&start_case(seed), &runner.patience().clone()).await?;
    learn_noise(&mut watched, &recording);
    let mut context = context.with_watched(watched);
    context.server_said = said(server);
    Ok(context)
}

/// All that a server says of itself, in small letters.
pub fn said(server: &Server) -> String {
    let said = [server.name.as_deref(), server.title.as_deref(), server.instructions.as_deref()];
    said.into_iter().flatten().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What is known of the world before anything is asked.
pub fn observer(connector: &Connector, server: &Server, extra: &[String]) -> Result<Watched, BadNoise> {
    let world = connector.world();
    let canaries = world.canaries(&server.standing);
    let home = server.standing.home.clone().unwrap_or_default();
    let declared = world.scopes().iter();
    let at = |by: fn(&DeclaredBy) -> bool| {
        let found = declared.clone().filter(move |(_, each)| by(each)).map(|(path, _)| path.clone());
        found.collect::<Vec<PathBuf>>()
    };
    let command = connector.target().reach.command();
    let working_directory =
        at(|by| *by == DeclaredBy::WorkingDirectory).into_iter().next().unwrap_or_default();
    let words = command.into_iter().flat_map(|command| {
        let arguments = command.args.iter().map(|word| word.to_string_lossy().into_owned());
        arguments.chain(command.environment.set.values().cloned())
    });
    let named: Vec<String> = words.collect();
    let program = command.map(|command| PathBuf::from(&command.program));
    let parts = program.into_iter().chain(named.iter().map(PathBuf::from));
    let places = Places {
        canaries: canaries.iter().map(|canary| canary.path.clone()).collect(),
        own: parts.filter_map(|path| own(&working_directory.join(path))).collect(),
        scopes: at(|by| *by != DeclaredBy::WorkingDirectory),
        working_directory,
        home,
    };
    Ok(Watched {
        noise: Noise::new(&places.home, extra)?,
        tokens: Tokens::new(&canaries),
        places,
        by_itself: BTreeSet::new(),
        programs: BTreeSet::new(),
        named,
    })
}

/// The directory that a program or a script lies in.
fn own(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok().filter(|file| file.is_file())?;
    file.parent().filter(|directory| directory.parent().is_some()).map(Path::to_owned)
}

/// Learns the noise of a server from its start; what it did then, and what it did when it was asked for nothing.
pub fn learn_noise(watched: &mut Watched, recording: &Recording) -> [Effects; 2] {
    let [started, idle] = [0, 1].map(|step| {
        let mut effects = Effects::default();
        for whose in [Whose::Background, Whose::Call] {
            let done = recording.steps.get(step).and_then(|taken| watched.effects(taken, whose));
            effects.add(&done.unwrap_or_default());
        }
        effects
    });
    for touch in started.reads.iter().chain(&idle.reads).chain(&started.lists).chain(&started.sought) {
        watched.noise.learn_read(&touch.path);
    }
    idle.writes.iter().chain(&idle.deletes).for_each(|touch| watched.noise.learn_write(&touch.path));
    let met = started.connects.iter().chain(&idle.connects);
    watched.by_itself.extend(met.map(|contact| contact.host.clone()));
    watched.programs.extend(started.programs.iter().chain(&idle.programs).cloned());
    [started, idle]
}
