//! `pack`: lists the rule packs, shows one as text or its parameters, begins a new one, and tries their fixtures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use serde_json::{Value, json};
use wallfacer_core::findings::Redaction;
use wallfacer_core::report::written;
use wallfacer_core::repository::Repository;
use wallfacer_rules::{
    FixtureOutcome, FixtureResult, Parameter, Problems, RuleFile, Rules, Shelf, nearest, test_offline,
};

use super::output::{Format, OutputArgs};
use super::redaction::{self, Written};
use super::target;
use crate::exit::{Exit, Failure, without_number};

/// Where a workspace keeps its own packs.
const DIRECTORY: &str = "packs";
/// A workspace has a handful; more is another directory that happens to bear the name.
const MAX_PACKS: usize = 512;
/// What the rule language reads at most, so that a large file is not taken in to be refused.
const MAX_BYTES: u64 = 1 << 20;
/// `NAME` stands for the name of the pack.
const STARTER: &str = include_str!("pack.yaml");

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer pack list                      # all of them; `wallfacer suggest` tells which fit
  wallfacer pack show error-shape          # the rules of one
  wallfacer pack init my-rules             # begin one of your own in packs/my-rules.yaml
  wallfacer pack test --all                # try all of them on their examples, without a server";

/// Work with rule packs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the packs there are, built in and in packs/
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print a pack, with parameters filled in where some are given
    Show {
        name: String,
        #[command(flatten)]
        parameters: ParameterArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Write a pack to packs/: a new one, or a copy of a built-in one to change
    Init {
        name: String,
        /// Write over a pack that is there
        #[arg(long)]
        force: bool,
    },
    /// Try packs on their fixtures, without a server
    Test {
        /// The packs [default: those in packs/, or all if there are none]
        names: Vec<String>,
        /// All packs, built in and in packs/
        #[arg(long, conflicts_with = "names")]
        all: bool,
        #[command(flatten)]
        parameters: ParameterArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show the parameters of a pack, with those of the packs it extends
    Params {
        name: String,
        #[command(flatten)]
        parameters: ParameterArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Debug, clap::Args)]
pub struct ParameterArgs {
    /// A parameter of the pack, over what [packs.NAME] in the configuration says
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    let here = target::working_directory()?;
    let shelf = shelf(&here)?;
    let set = target::settings(config)?.packs;
    match &args.command {
        Command::List { output } => list(&shelf, output),
        Command::Show { name, parameters, output } => show(
            &shelf,
            name,
            &parameters.given(&shelf, name, &set),
            !parameters.parameters.is_empty(),
            output,
        ),
        Command::Init { name, force } => init(&shelf, name, *force, &here),
        Command::Test { names, all, parameters, output } => {
            let chosen = chosen(&shelf, names, *all);
            test(&shelf, &chosen, &|name| parameters.given(&shelf, name, &set), output)
        }
        Command::Params { name, parameters, output } => {
            params(&shelf, name, &parameters.given(&shelf, name, &set), output)
        }
    }
}

/// The packs of the workspace, with the built-in ones behind them.
pub fn shelf(here: &Path) -> Result<Shelf, Failure> {
    let directory = here.join(DIRECTORY);
    let repository = Repository::around(here);
    repository.check_directory(&directory).map_err(|error| Failure::usage(&error))?;
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Shelf::default());
        }
        Err(error) => return Err(failed(format!("cannot read `{DIRECTORY}`: {error}"))),
    };
    let mut files: Vec<PathBuf> = entries.take(MAX_PACKS).flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut packs = BTreeMap::new();
    for file in files {
        let is_yaml = file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        let (true, Some(name)) = (is_yaml, file.file_stem().and_then(|name| name.to_str())) else { continue };
        let shown = format!("{DIRECTORY}/{}", file.file_name().unwrap_or_default().to_string_lossy());
        let length = fs::metadata(&file).map(|file| file.len());
        if length.as_ref().is_ok_and(|length| *length > MAX_BYTES) {
            return Err(failed(format!("cannot read `{shown}`: it is longer than {MAX_BYTES} bytes")));
        }
        let text = length.and_then(|_| repository.read(&file));
        let text = text.map_err(|error| failed(format!("cannot read `{shown}`: {error}")))?;
        packs.entry(name.to_owned()).or_insert(text);
    }
    Ok(Shelf::new(packs))
}

impl ParameterArgs {
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|(name, _)| name.as_str())
    }

    pub fn typed(&self) -> BTreeMap<String, Value> {
        self.parameters.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
    }

    /// As [`ParameterArgs::given`], where what is typed is meant for several packs: each gets what it declares.
    pub fn given_to(
        &self,
        shelf: &Shelf,
        name: &str,
        set: &BTreeMap<String, BTreeMap<String, String>>,
        declared: &BTreeSet<String>,
    ) -> BTreeMap<String, Value> {
        let typed = self.parameters.iter().filter(|(name, _)| declared.contains(name)).cloned().collect();
        shelf.given(name, set, &typed)
    }

    fn given(
        &self,
        shelf: &Shelf,
        name: &str,
        set: &BTreeMap<String, BTreeMap<String, String>>,
    ) -> BTreeMap<String, Value> {
        shelf.given(name, set, &self.parameters.iter().cloned().collect())
    }
}

fn parameter(typed: &str) -> Result<(String, String), String> {
    let (name, value) = typed.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn list(shelf: &Shelf, output: &OutputArgs) -> Result<Exit, Failure> {
    output.check()?;
    let rows: Vec<Row> = shelf.names().into_iter().map(|name| Row::new(shelf, name)).collect();
    let text = match output.format {
        Format::Json => {
            let packs: Vec<_> = rows.iter().map(Row::json).collect();
            written(&json!({ "packs": packs }))
        }
        Format::Human => {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
            rows.iter().map(|row| row.line(width)).collect()
        }
    };
    output.deliver(&text)
}

/// A pack as it is listed.
struct Row<'a> {
    name: &'a str,
    is_of_workspace: bool,
    /// How many rules and sequences, with those of the packs it extends.
    rules: Option<usize>,
    about: String,
    parameters: Vec<Parameter>,
}

impl<'a> Row<'a> {
    fn new(shelf: &Shelf, name: &'a str) -> Self {
        let rules = shelf.rules(name, &BTreeMap::new()).and_then(Result::ok);
        let about = rules.as_ref().map(|rules| rules.metadata.description.clone().unwrap_or_default());
        Row {
            name,
            is_of_workspace: shelf.is_of_workspace(name),
            rules: rules.as_ref().map(count),
            about: about.unwrap_or_else(|| format!("cannot be read; see `wallfacer pack test {name}`")),
            parameters: shelf.parameters(name),
        }
    }

    fn line(&self, width: usize) -> String {
        let rules = self.rules.map_or_else(|| "?".to_owned(), |rules| rules.to_string());
        let place = if self.is_of_workspace { " (packs/)" } else { "" };
        format!("{:width$}  {rules:>3}  {}{place}\n", self.name, self.about)
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "from": if self.is_of_workspace { "workspace" } else { "built-in" },
            "rules": self.rules,
            "about": self.about,
            "parameters": self.parameters.iter().map(|parameter| &parameter.name).collect::<Vec<_>>(),
        })
    }
}

fn count(rules: &Rules) -> usize {
    rules.rules.len() + rules.block_count() + rules.sequences.len()
}

fn show(
    shelf: &Shelf,
    name: &str,
    given: &BTreeMap<String, Value>,
    is_filled: bool,
    output: &OutputArgs,
) -> Result<Exit, Failure> {
    output.check()?;
    let text = shelf.text(name).ok_or_else(|| unknown(shelf, name))?;
    let text = if is_filled {
        loaded(shelf, name, given)?;
        let file = RuleFile::parse(name, text).map_err(|problems| wrong(&problems))?;
        let own = file.metadata.parameters.iter().map(|parameter| parameter.name.clone());
        let own: BTreeSet<String> = own.collect();
        let given = given.iter().filter(|(key, _)| own.contains(*key));
        let given = given.map(|(key, value)| (key.clone(), value.clone())).collect();
        file.with_parameters(&given).map_err(|problems| wrong(&problems))?.to_string()
    } else {
        text.to_owned()
    };
    let text = match output.format {
        Format::Human => text,
        Format::Json => written(&json!({ "name": name, "text": text })),
    };
    output.deliver(&redaction(shelf, name, given).of(&text))
}

/// Parameters may be secrets, also where a pack is only shown.
fn redaction(shelf: &Shelf, name: &str, given: &BTreeMap<String, Value>) -> Redaction {
    let mut held = Written::default();
    match shelf.rules(name, given) {
        Some(Ok(rules)) if !given.is_empty() => held.pack(shelf, name, &rules, given),
        _ => held.parameters(given),
    }
    redaction::of_environment(&held)
}

fn init(shelf: &Shelf, name: &str, force: bool, here: &Path) -> Result<Exit, Failure> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(failed(format!(
            "`{name}` cannot be the name of a pack; use letters, digits, `-` and `_`"
        )));
    }
    let shown = format!("{DIRECTORY}/{name}.yaml");
    let path = here.join(&shown);
    let is_there = shelf.is_of_workspace(name) || path.exists();
    if is_there && !force {
        return Err(failed(format!("there is a pack `{name}` in `{DIRECTORY}`; --force writes over it")));
    }
    let built_in = Shelf::default();
    let (text, what) = match built_in.text(name) {
        Some(text) => (text.to_owned(), "a copy of the built-in pack"),
        None => (STARTER.replace("NAME", name), "a pack to begin with"),
    };
    fs::create_dir_all(here.join(DIRECTORY))
        .and_then(|()| Repository::around(here).write(&path, &text))
        .map_err(|error| failed(format!("cannot write `{shown}`: {error}")))?;
    super::output::print(&format!("{shown}: {what}. Try it with: wallfacer pack test {name}\n"))
}

fn chosen(shelf: &Shelf, names: &[String], all: bool) -> Vec<String> {
    if !names.is_empty() {
        return names.to_vec();
    }
    let own: Vec<String> =
        shelf.names().into_iter().filter(|name| shelf.is_of_workspace(name)).map(str::to_owned).collect();
    if all || own.is_empty() { shelf.names().into_iter().map(str::to_owned).collect() } else { own }
}

fn test(
    shelf: &Shelf,
    names: &[String],
    given: &dyn Fn(&str) -> BTreeMap<String, Value>,
    output: &OutputArgs,
) -> Result<Exit, Failure> {
    output.check()?;
    let mut tested = Vec::new();
    for name in names {
        tested.push((name.as_str(), test_offline(&loaded(shelf, name, &given(name))?)));
    }
    let text = match output.format {
        Format::Human => tested.iter().map(|(name, outcomes)| told(name, outcomes)).collect(),
        Format::Json => {
            let packs: Vec<_> = tested.iter().map(|(name, outcomes)| told_json(name, outcomes)).collect();
            written(&json!({ "packs": packs }))
        }
    };
    output.deliver(&text)?;
    let all_met = tested.iter().flat_map(|(_, outcomes)| outcomes).all(|outcome| missed(outcome).is_none());
    Ok(if all_met { Exit::Clean } else { Exit::Findings })
}

fn told(name: &str, outcomes: &[FixtureOutcome]) -> String {
    let met = outcomes.iter().filter(|outcome| outcome.result == FixtureResult::Met).count();
    let mut text = match outcomes.len() {
        0 => format!("{name}: no fixtures\n"),
        all => format!("{name}: {met} of {all} fixtures hold\n"),
    };
    for outcome in outcomes {
        if let Some(why) = missed(outcome).or_else(|| mute(outcome)) {
            text.push_str(&format!("  {} / {}: {why}\n", outcome.rule, outcome.fixture));
        }
    }
    text
}

fn told_json(name: &str, outcomes: &[FixtureOutcome]) -> Value {
    let fixtures: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            let (missed, mute) = (missed(outcome), mute(outcome));
            let holds = mute.is_none().then_some(missed.is_none());
            let why = missed.or(mute);
            json!({ "rule": outcome.rule, "fixture": outcome.fixture, "holds": holds, "why": why })
        })
        .collect();
    json!({ "name": name, "fixtures": fixtures })
}

fn missed(outcome: &FixtureOutcome) -> Option<String> {
    match &outcome.result {
        FixtureResult::Met | FixtureResult::Mute(_) => None,
        FixtureResult::Missed { expected, observed } => {
            let why = match observed {
                wallfacer_rules::Verdict::Holds => String::new(),
                wallfacer_rules::Verdict::Broken(why) | wallfacer_rules::Verdict::Unknown(why) => {
                    format!(": {why}")
                }
            };
            Some(format!("expected {}, got {}{why}", expected.name(), observed.word()))
        }
        FixtureResult::Impossible(why) => Some(why.clone()),
    }
}

/// A fixture that neither holds nor fails: what its rule looks at could not be written down before version 4.
fn mute(outcome: &FixtureOutcome) -> Option<String> {
    match &outcome.result {
        FixtureResult::Mute(why) => Some(format!("says nothing: {why}; with version 4 it can be given")),
        _ => None,
    }
}

fn params(
    shelf: &Shelf,
    name: &str,
    given: &BTreeMap<String, Value>,
    output: &OutputArgs,
) -> Result<Exit, Failure> {
    output.check()?;
    loaded(shelf, name, given)?;
    let parameters = shelf.parameters(name);
    let value = |parameter: &Parameter| given.get(&parameter.name).unwrap_or(&parameter.default).clone();
    let text = match output.format {
        Format::Json => {
            let rows: Vec<_> = parameters
                .iter()
                .map(|parameter| {
                    json!({
                        "name": parameter.name,
                        "type": parameter.kind.map(|kind| kind.name()),
                        "default": parameter.default,
                        "value": value(parameter),
                        "description": parameter.description,
                    })
                })
                .collect();
            written(&json!({ "name": name, "parameters": rows }))
        }
        Format::Human if parameters.is_empty() => format!("{name} takes no parameters\n"),
        Format::Human => parameters
            .iter()
            .map(|parameter| {
                let about = parameter.description.as_deref().unwrap_or_default();
                format!("{} = {}\n    {about}\n", parameter.name, value(parameter))
            })
            .collect(),
    };
    output.deliver(&redaction(shelf, name, given).of(&text))
}

pub fn loaded(shelf: &Shelf, name: &str, given: &BTreeMap<String, Value>) -> Result<Rules, Failure> {
    let rules = shelf.rules(name, given).ok_or_else(|| unknown(shelf, name))?;
    rules.map_err(|problems| wrong(&with_files(problems, shelf)))
}

/// The same problems, each in the file that a pack of the workspace stands in.
fn with_files(mut problems: Problems, shelf: &Shelf) -> Problems {
    for problem in &mut problems.0 {
        let files = ["yaml", "yml"].map(|ending| format!("{DIRECTORY}/{}.{ending}", problem.source.name));
        let file = files.into_iter().find(|file| Path::new(file).exists());
        if let Some(file) = file.filter(|_| shelf.is_of_workspace(&problem.source.name)) {
            Arc::make_mut(&mut problem.source).name = file;
        }
    }
    problems
}

fn unknown(shelf: &Shelf, name: &str) -> Failure {
    let known = shelf.names();
    let help = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    };
    failed(format!("there is no pack `{name}`; {help}"))
}

pub fn wrong(problems: &Problems) -> Failure {
    failed(problems.to_string())
}

fn failed(message: impl AsRef<str>) -> Failure {
    Failure { exit: Exit::Usage, message: without_number(message.as_ref()).to_owned() }
}
