//! Reads the servers that one client file lists, each with its place in the text.

use super::entry::Fault;
use super::jsonc;
use super::places::Place;
use crate::target::Surroundings;
use crate::target::source::{Problem, Source};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Where clients put their servers, each under its own word.
const TABLES: [&str; 2] = ["mcpServers", "servers"];

#[derive(Debug)]
pub(super) struct ClientFile {
    pub place: Place,
    /// The path as its user would write it.
    pub named: PathBuf,
    pub source: Source,
    pub servers: Vec<Listed>,
    /// Why the file, or a part of it, could not be read.
    pub broken: Option<Problem>,
}

/// A server under its name, not yet looked into.
#[derive(Debug)]
pub(super) struct Listed {
    pub name: String,
    pub json: String,
    /// Where the JSON begins in the text of the file.
    pub start: usize,
}

type Object<'a> = BTreeMap<String, &'a RawValue>;

impl ClientFile {
    /// None when there is no such file.
    pub fn read(place: Place, around: &Surroundings<'_>) -> Option<ClientFile> {
        let named = around.named(&place.path);
        let read = Source::read(&place.path);
        let unreadable = match &read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => Some(format!("this file cannot be read: {error}")),
            Ok(_) => None,
        };
        let text = read.map(|source| source.text).unwrap_or_default();
        let mut file = ClientFile {
            place,
            named: named.clone(),
            source: Source { path: named, text },
            servers: vec![],
            broken: None,
        };
        match unreadable {
            Some(message) => file.broken = Some(file.source.problem(0..0, message)),
            None => file.list(around),
        }
        Some(file)
    }

    fn list(&mut self, around: &Surroundings<'_>) {
        let plain = jsonc::plain(&self.source.text);
        match tables(&plain, around) {
            Ok(servers) => self.servers = servers,
            Err((at, error)) => self.broken = Some(self.misplaced(at, &error)),
        }
    }

    /// What is wrong with the shape of one entry.
    pub fn misfit(&self, server: &Listed, error: &serde_json::Error) -> Problem {
        let at = server.start + offset(&server.json, error);
        self.source.problem(at..at + 1, reason(error))
    }

    /// What is wrong with what an entry says.
    pub fn fault(&self, server: &Listed, fault: Fault) -> Problem {
        let about = fault.about.and_then(|about| Some((server.json.find(&about)?, about.len())));
        let (offset, length) = about.unwrap_or((0, 1));
        let start = server.start + offset;
        self.source.problem(start..start + length, fault.message)
    }

    fn misplaced(&self, at: usize, error: &serde_json::Error) -> Problem {
        self.source.problem(at..at + 1, format!("this is not a list of servers: {}", reason(error)))
    }
}

/// The servers of this project before those of everywhere.
fn tables(plain: &str, around: &Surroundings<'_>) -> Result<Vec<Listed>, (usize, serde_json::Error)> {
    if plain.trim().is_empty() {
        return Ok(vec![]);
    }
    let root = object(plain, plain)?;
    let mut servers = vec![];
    if let Some(projects) = root.get("projects") {
        let projects = object(plain, projects.get())?;
        for directory in around.project_directories() {
            if let Some(project) = projects.get(&*directory.to_string_lossy()) {
                servers.extend(listed(plain, &object(plain, project.get())?)?);
            }
        }
    }
    servers.extend(listed(plain, &root)?);
    Ok(servers)
}

fn listed(plain: &str, object_with_tables: &Object<'_>) -> Result<Vec<Listed>, (usize, serde_json::Error)> {
    let mut servers = vec![];
    for table in TABLES.iter().filter_map(|name| object_with_tables.get(*name)) {
        servers.extend(object(plain, table.get())?.into_iter().map(|(name, entry)| Listed {
            name,
            json: entry.get().to_owned(),
            start: start(plain, entry.get()),
        }));
    }
    Ok(servers)
}

fn object<'a>(plain: &str, part: &'a str) -> Result<Object<'a>, (usize, serde_json::Error)> {
    serde_json::from_str(part).map_err(|error| (start(plain, part) + offset(part, &error), error))
}

/// Where `part`, a piece of `whole`, begins in it.
fn start(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

fn offset(text: &str, error: &serde_json::Error) -> usize {
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    line_start + error.column().saturating_sub(1)
}

/// The reason without the place, for ours counts from the beginning of the file; and without the value that was
/// met instead, for that may be a secret.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    match reason.rsplit_once(", expected ") {
        Some((_, "a sequence")) => "expected a list".to_owned(),
        Some((_, "a map")) => "expected an object".to_owned(),
        Some((_, expected)) => format!("expected {expected}"),
        None => reason.to_owned(),
    }
}
