//! Reads `wallfacer.toml` as a [`FileConfig`]. Everything wrong with a file is said at once, each thing with its place.

mod keys;
mod reach;
mod reader;
mod reference;
#[cfg(test)]
mod tests;

pub use reference::{config_reference, config_schema};

use super::source::{Problem, Source, listed};
use super::surroundings::joined;
use super::{
    Bounds, Confine, Net, Protocol, Reach, Required, SandboxWishes, Settings, Surroundings, Timeouts,
};
use super::{Severity, SeverityKey};
use crate::place::Pattern;
use reader::{At, Reader, Section};
use regex::Regex;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeString, DeTable};

/// The name a configuration is looked for by.
pub const CONFIG_NAME: &str = "wallfacer.toml";

/// A configuration file as meant: checked, variables filled in, paths resolved.
#[derive(Debug, Clone)]
pub struct FileConfig {
    pub path: PathBuf,
    /// None when the file names no server.
    pub reach: Option<Reach>,
    pub protocol: Protocol,
    pub timeouts: Timeouts,
    pub bounds: Bounds,
    pub sandbox: SandboxWishes,
    /// Directories that the server is told of when it asks for roots.
    pub roots: Vec<PathBuf>,
    pub settings: Settings,
    /// Values that came from environment variables.
    pub from_environment: BTreeSet<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the configuration `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}", listed(.0))]
    Wrong(Vec<Problem>),
}

impl FileConfig {
    /// The file that was asked for, else the nearest `wallfacer.toml` of the project, if there is one.
    pub fn find(
        explicit: Option<&Path>,
        around: &Surroundings<'_>,
    ) -> Result<Option<FileConfig>, ConfigError> {
        if let Some(path) = explicit {
            return Self::load(path, around).map(Some);
        }
        let mut candidates =
            around.project_directories().into_iter().map(|directory| directory.join(CONFIG_NAME));
        candidates.find(|path| path.exists()).map(|path| Self::load(&path, around)).transpose()
    }

    pub fn load(path: &Path, around: &Surroundings<'_>) -> Result<FileConfig, ConfigError> {
        let path = joined(around.directory, path);
        let named = around.named(&path);
        let mut source =
            Source::read(&path).map_err(|source| ConfigError::Unreadable { path: named.clone(), source })?;
        source.path = named;
        Self::parse(&source, &path, around.variable)
    }

    /// The text of a file that lies, or will lie, at the absolute `path`.
    pub fn parse(
        source: &Source,
        path: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<FileConfig, ConfigError> {
        let (root, mistakes) = DeTable::parse_recoverable(&source.text);
        if !mistakes.is_empty() {
            return Err(wrong(mistakes.iter().map(|mistake| syntax(source, mistake)).collect()));
        }
        let reader =
            Reader { source, variable, problems: RefCell::default(), from_environment: RefCell::default() };
        let config = read(&reader, root.get_ref(), path);
        let problems = reader.problems.into_inner();
        if problems.is_empty() {
            return Ok(FileConfig { from_environment: reader.from_environment.into_inner(), ..config });
        }
        Err(wrong(problems))
    }
}

/// In the order a reader meets them.
fn wrong(mut problems: Vec<Problem>) -> ConfigError {
    problems.sort_by_key(|problem| (problem.line, problem.column));
    ConfigError::Wrong(problems)
}

fn syntax(source: &Source, mistake: &toml::de::Error) -> Problem {
    let span = mistake.span().unwrap_or_default();
    let problem = source.problem(span.clone(), format!("this is not TOML: {}", mistake.message()));
    // The parser takes a bare word for a number gone wrong; a person has forgotten the quotes.
    let is_word = source.text.get(span).is_some_and(|written| written.starts_with(char::is_alphabetic));
    match is_word && mistake.message().starts_with("invalid") {
        true => problem.with_help("a string is written in quotes"),
        false => problem,
    }
}

fn read(reader: &Reader<'_>, root: &DeTable<'_>, path: &Path) -> FileConfig {
    let directory = path.parent().unwrap_or(Path::new("/"));
    reader.check_names(
        "at the top level",
        root,
        &keys::SECTIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
    );
    let section = |name| {
        let section = reader.section(root, name);
        section.check_names();
        section
    };
    let target = section("target");
    FileConfig {
        path: path.to_owned(),
        reach: reach::read(reader, &target, directory),
        protocol: target.choice("protocol").and_then(Protocol::parse).unwrap_or_default(),
        timeouts: timeouts(&target),
        bounds: bounds(&target),
        sandbox: sandbox(reader, &section("sandbox"), directory),
        roots: target
            .texts("roots")
            .unwrap_or_default()
            .into_iter()
            .map(|root| joined(directory, root.value))
            .collect(),
        settings: settings(reader, root, &section, directory),
        from_environment: BTreeSet::new(),
    }
}

fn timeouts(target: &Section<'_>) -> Timeouts {
    let defaults = Timeouts::default();
    let time = |name| target.whole(name).map(Duration::from_millis);
    let per_tool = target.whole_table("tool_timeouts_ms").unwrap_or_default();
    Timeouts {
        startup: time("startup_timeout_ms").unwrap_or(defaults.startup),
        probe: time("probe_timeout_ms").unwrap_or(defaults.probe),
        call: time("timeout_ms").unwrap_or(defaults.call),
        per_tool: per_tool.into_iter().map(|(tool, time)| (tool, Duration::from_millis(time))).collect(),
    }
}

fn bounds(target: &Section<'_>) -> Bounds {
    let defaults = Bounds::default();
    let line_bytes = target.whole("max_line_bytes").and_then(|bytes| usize::try_from(bytes).ok());
    Bounds { line_bytes: line_bytes.unwrap_or(defaults.line_bytes), ..defaults }
}

fn sandbox(reader: &Reader<'_>, section: &Section<'_>, directory: &Path) -> SandboxWishes {
    let net = section.text("net").and_then(|text| {
        let known = Net::parse(&text.value);
        if known.is_none() {
            reader.report(text.span, "`net` is sink, deny, host or allow=HOST:PORT,…");
        }
        known
    });
    let words = section.texts("require").unwrap_or_default();
    let required =
        words.into_iter().fold(Required::default(), |required, word| match Required::parse(&word.value) {
            Some(more) => required.or(more),
            None => {
                reader.report(word.span, "`require` lists observe, confine or both");
                required
            }
        });
    let kept = section.texts("keep").unwrap_or_default().into_iter().filter_map(|path| {
        if path.value.is_empty() {
            reader.report(path.span, "`keep` lists paths, and this one is empty");
            return None;
        }
        // What begins with `~` is made whole where the home directory is known.
        Some(if path.value.starts_with('~') { path.value.into() } else { joined(directory, path.value) })
    });
    let keep = kept.collect();
    SandboxWishes { confine: section.choice("mode").and_then(Confine::parse), net, required, keep }
}

fn settings<'a>(
    reader: &'a Reader<'a>,
    root: &'a DeTable<'a>,
    section: &dyn Fn(&'static str) -> Section<'a>,
    directory: &Path,
) -> Settings {
    let mut settings = Settings::new(directory);
    let output = section("output");
    if let Some(corpus) = output.text("corpus_dir") {
        settings.corpus_directory = joined(directory, corpus.value);
    }
    // Nothing is waited for; a value that cannot be meant is told all the same.
    let _of_older_files = output.whole("lock_timeout_ms");
    let behave = section("behave");
    let texts = |name| behave.texts(name).unwrap_or_default().into_iter().map(|text| text.value);
    settings.noise = texts("noise").collect();
    settings.noise_files = texts("noise_files").map(|file| joined(directory, file)).collect();
    settings.shared = section("isolation").flag("shared");
    let destructive = section("destructive");
    settings.destructive.patterns = patterns(reader, &destructive, "patterns");
    settings.destructive.replace_defaults = destructive.flag("replace_defaults").unwrap_or(false);
    settings.destructive.allowed = patterns(reader, &section("allow_destructive"), "tools");
    settings.severities = severities(reader, root);
    settings.ignore = ignored(reader, &section("differential"));
    settings.packs = packs(reader, root);
    let files = section("rules").texts("files");
    settings.rule_files =
        files.map(|files| files.into_iter().map(|file| joined(directory, file.value)).collect());
    settings
}

fn patterns(reader: &Reader<'_>, section: &Section<'_>, name: &'static str) -> Vec<Regex> {
    let compiled = section.texts(name).unwrap_or_default().into_iter().map(|pattern| {
        Regex::new(&pattern.value).map_err(|error| {
            reader.report(pattern.span, format!("this is not a regular expression: {}", reason(&error)));
        })
    });
    compiled.flatten().collect()
}

fn ignored(reader: &Reader<'_>, section: &Section<'_>) -> Vec<Pattern> {
    let read = |text: At<String>| {
        Pattern::parse(&text.value).map_err(|error| reader.report(text.span, error.to_string()))
    };
    section.texts("ignore").unwrap_or_default().into_iter().flat_map(read).collect()
}

/// What is wrong, without the picture that goes with it: ours points into the file.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

fn severities<'a>(reader: &'a Reader<'a>, root: &'a DeTable<'a>) -> BTreeMap<SeverityKey, Severity> {
    let Some(table) = root.get("severity").and_then(|value| reader.table("severity", value)) else {
        return BTreeMap::new();
    };
    let entry = |(key, value): (&Spanned<DeString<'_>>, _)| {
        let wanted = SeverityKey::parse(key.get_ref()).map_err(|(message, help)| match help {
            Some(help) => reader.report_with_help(key.span(), message, help),
            None => reader.report(key.span(), message),
        });
        let severity = reader.choice(key.get_ref(), value, keys::SEVERITIES).and_then(Severity::parse);
        Some((wanted.ok()?, severity?))
    };
    table.iter().filter_map(entry).collect()
}

fn packs<'a>(reader: &'a Reader<'a>, root: &'a DeTable<'a>) -> BTreeMap<String, BTreeMap<String, String>> {
    let Some(table) = root.get("packs").and_then(|value| reader.table("packs", value)) else {
        return BTreeMap::new();
    };
    let pack = |(name, value): (&Spanned<DeString<'_>>, _)| {
        let parameters = reader.table(&format!("packs.{}", name.get_ref()), value)?;
        let parameter = |(key, value): (&Spanned<DeString<'_>>, _)| {
            Some((key.get_ref().to_string(), reader.scalar(key.get_ref(), value)?))
        };
        Some((name.get_ref().to_string(), parameters.iter().filter_map(parameter).collect()))
    };
    table.iter().filter_map(pack).collect()
}
