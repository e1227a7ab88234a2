//! Rules in, the world in which they can be judged out: what they name is planted, and what calls do is seen where one of
//! them judges by it.

use serde_json::{Map, Value};
use wallfacer_rules::{Root, Rule, Sequence};

use super::behave::{learn, said, start_case, watched};
use super::fuzz::{CANARY, canary};
use crate::judge::Context;
use crate::plan::Landmarks;
use crate::run::Runner;
use crate::wire::{ConnectError, Connector, Server};

/// The file of the home directory that rules may ask for by name.
const HOME_FILE: &str = ".env";

/// What rules need beside answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needs {
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
pub(super) fn equip(connector: &mut Connector, needs: Needs, seed: u64) {
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
pub(super) fn planted(connector: &Connector, server: &Server, seed: u64) -> Option<Value> {
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
pub(super) async fn watch(
    context: Context,
    connector: &Connector,
    server: &Server,
    noise: &[String],
    runner: &mut Runner,
    seed: u64,
) -> Result<Context, ConnectError> {
    let seen = connector.world().is_watched() && server.standing.observed.calls;
    let Some(mut watched) = watched(connector, server, noise).ok().filter(|_| seen) else {
        return Ok(context);
    };
    let recording = runner.perform(&start_case(seed), &runner.patience().clone()).await?;
    learn(&mut watched, &recording);
    let mut context = context.with_watched(watched);
    context.server_said = said(server);
    Ok(context)
}
