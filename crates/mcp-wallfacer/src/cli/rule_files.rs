//! The rule files of a project: those that the configuration names, else those that lie beside it under a usual name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wallfacer_core::repository::{MAX_BYTES, read_text};
use wallfacer_core::session::RuleSet;
use wallfacer_core::target::Settings;
use wallfacer_rules::{Rules, Shelf};

use super::pack;
use super::target::{repository, working_directory};
use crate::exit::{Exit, Failure, without_number};
use crate::terminal;

/// What is looked for where the configuration names no file: the first is what `init` writes.
const USUAL: [&str; 2] = ["invariants.yaml", "wallfacer.rules.yaml"];

/// The rules of the project.
pub fn of_project(settings: &Settings, shelf: &Shelf) -> Result<Vec<RuleSet>, Failure> {
    let files = match &settings.rule_files {
        Some(named) => named.clone(),
        None => usual()?,
    };
    files.iter().map(|file| read(file, &BTreeMap::new(), shelf)).collect()
}

/// Those of the usual names that are there, and are no links out of the repository.
fn usual() -> Result<Vec<PathBuf>, Failure> {
    let (here, repository) = (working_directory()?, repository()?);
    let is_there = |path: &PathBuf| path.is_file() && repository.check_file(path).is_ok();
    let files = USUAL.iter().map(|name| here.join(name)).filter(is_there);
    Ok(files.map(|path| path.strip_prefix(&here).map_or(path.clone(), Path::to_path_buf)).collect())
}

/// Reads one file of rules.
pub fn read(path: &Path, given: &BTreeMap<String, Value>, shelf: &Shelf) -> Result<RuleSet, Failure> {
    let name = path.display().to_string();
    let text = read_text(path, MAX_BYTES).map_err(|error| {
        let help = match shelf.text(&name) {
            Some(_) => format!("--pack {name} tries the pack of that name"),
            None => "name a rule file, or a pack with --pack".to_owned(),
        };
        let message = format!("cannot read `{name}`: {}; {help}", without_number(&error.to_string()));
        Failure { exit: Exit::Usage, message }
    })?;
    let loader = |wanted: &str| shelf.text(wanted).map(str::to_owned);
    let rules = Rules::read(&name, &text, given, &loader).map_err(|problems| pack::wrong(&problems))?;
    rules.warnings.iter().for_each(|warning| terminal::note(&warning.to_string()));
    Ok(RuleSet { name, rules, own: true })
}
