//! What `check` and `ci` do alike: a target and an effort in, a finished run with its findings stored out.

use std::path::Path;
use std::time::SystemTime;

use wallfacer_core::findings::rfc3339;
use wallfacer_core::session::{CheckOptions, check};
use wallfacer_core::summary::Run;

use super::behave;
use super::conclude::failure;
use super::differential;
use super::effort::EffortArgs;
use super::keeping::Keeping;
use super::output::{OutputArgs, RunFormat};
use super::pack;
use super::redaction::Redaction;
use super::store::Store;
use super::target::{TargetArgs, working_directory};
use crate::exit::Failure;

/// What is asked for.
pub struct Asked<'a> {
    pub command: &'static str,
    pub target: &'a TargetArgs,
    pub effort: &'a EffortArgs,
    /// Cases of each tool, where not only the time bounds them.
    pub iterations: Option<usize>,
    pub output: &'a OutputArgs<RunFormat>,
}

/// What came of it.
pub struct Checked {
    pub run: Run,
    /// The file that the target came from.
    pub source: Option<String>,
    pub redaction: Redaction,
}

/// Checks the target that was asked for.
pub fn perform(asked: &Asked<'_>, config: Option<&Path>) -> Result<Checked, Failure> {
    let locked = asked.effort.drift.read()?;
    let chosen = asked.target.choose(config)?;
    let redaction = Redaction::new(chosen.connector.target().secrets());
    let store = Store::new(&chosen, asked.target, config)?;
    let mut fuzz = asked.effort.options(&chosen)?;
    fuzz.iterations = asked.iterations.unwrap_or(fuzz.iterations);
    fuzz.stored = store.stored_cases();
    fuzz.learned = differential::committed();
    let options = CheckOptions {
        command: asked.command,
        started: rfc3339(SystemTime::now()),
        fuzz,
        noise: behave::noise(&chosen.settings)?,
        shelf: pack::shelf(&working_directory()?)?,
        parameters: chosen.settings.packs.clone(),
        rules: asked.target.own_rules()?,
    };
    let listeners = asked.output.listeners(&redaction)?;
    let mut keeping = Keeping { store: &store, settings: &chosen.settings, listeners };
    let run = check(chosen.connector, &options, &mut keeping);
    keeping.listeners.finish();
    let mut run = run.map_err(|error| redaction.of_failure(failure(error)))?;
    run.weigh(&chosen.settings);
    store.keep(run.findings.iter_mut().chain(&mut run.flaky))?;
    if let Some(locked) = &locked {
        locked.hold_against(&mut run, &chosen.settings, &store);
    }
    Ok(Checked { run, source: chosen.source, redaction })
}
