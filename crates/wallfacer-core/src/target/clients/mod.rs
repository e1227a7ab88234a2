//! Finds a server by its name in the files that MCP clients keep.

mod entry;
mod file;
mod jsonc;
mod places;
#[cfg(test)]
mod tests;

use super::source::Problem;
use super::{Reach, Surroundings};
use entry::Entry;
use file::{ClientFile, Listed};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wallfacer_rules::nearest;

/// Every client file around us that exists.
#[derive(Debug)]
pub struct ClientFiles<'a> {
    around: &'a Surroundings<'a>,
    /// Nearest first.
    files: Vec<ClientFile>,
}

/// A server that was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientServer {
    pub reach: Reach,
    /// Where it stands.
    pub file: PathBuf,
    /// Values that came from environment variables.
    pub from_environment: BTreeSet<String>,
    /// What the user should know: the name stands in another file too, or a part was left out.
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no server is named `{name}`{hint}\n{looked_at}")]
    Unknown { name: String, hint: String, looked_at: String },
    #[error("there is no MCP client file to take the server `{name}` from; looked for:{places}")]
    NoFile { name: String, places: String },
    #[error("the server `{name}` cannot be used:\n{problem}")]
    Unusable { name: String, problem: Box<Problem> },
}

impl<'a> ClientFiles<'a> {
    pub fn read(around: &'a Surroundings<'a>) -> Self {
        let files = places::places(around).into_iter().filter_map(|place| ClientFile::read(place, around));
        Self { around, files: files.collect() }
    }

    /// One file and no other.
    pub fn of(file: &Path, around: &'a Surroundings<'a>) -> Self {
        let path = around.whole(file);
        let workspace = path.parent().unwrap_or(around.directory).to_owned();
        let place = places::Place { path, workspace, of_project: true };
        Self { around, files: ClientFile::read(place, around).into_iter().collect() }
    }

    /// The servers of the project's own files, each name once.
    pub fn of_project(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let files = self.files.iter().filter(|file| file.place.of_project);
        for server in files.flat_map(|file| &file.servers) {
            if !names.contains(&server.name) {
                names.push(server.name.clone());
            }
        }
        names
    }

    /// What is wrong with files that cannot be read.
    pub fn problems(&self) -> Vec<String> {
        self.files.iter().filter_map(|file| file.broken.as_ref()).map(ToString::to_string).collect()
    }

    /// All names, nearest first, each with the file it stands in.
    pub fn names(&self) -> Vec<(String, PathBuf)> {
        self.servers().map(|(file, server)| (server.name.clone(), file.named.clone())).collect()
    }

    /// The nearest server of that name.
    pub fn find(&self, name: &str) -> Result<ClientServer, ClientError> {
        let mut found = self.servers().filter(|(_, server)| server.name == name);
        let (file, server) = found.next().ok_or_else(|| self.unknown(name))?;
        let unusable = |problem| ClientError::Unusable { name: name.to_owned(), problem: Box::new(problem) };
        let entry: Entry =
            serde_json::from_str(&server.json).map_err(|error| unusable(file.misfit(server, &error)))?;
        let meant =
            entry.meant(&file.place, self.around).map_err(|fault| unusable(file.fault(server, fault)))?;
        let others = found.map(|(other, _)| {
            let (taken, left) = (file.named.display(), other.named.display());
            format!("`{name}` is taken from `{taken}`; the one in `{left}` is not used")
        });
        Ok(ClientServer {
            reach: meant.reach,
            file: file.place.path.clone(),
            from_environment: meant.from_environment,
            notes: others.chain(meant.note).collect(),
        })
    }

    fn servers(&self) -> impl Iterator<Item = (&ClientFile, &Listed)> {
        self.files.iter().flat_map(|file| file.servers.iter().map(move |server| (file, server)))
    }

    fn unknown(&self, name: &str) -> ClientError {
        let name = name.to_owned();
        if self.files.is_empty() {
            let places = places::places(self.around);
            let places =
                places.iter().map(|place| format!("\n  {}", self.around.named(&place.path).display()));
            return ClientError::NoFile { name, places: places.collect() };
        }
        let meant = nearest(&name, self.servers().map(|(_, server)| server.name.as_str()));
        let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        ClientError::Unknown { name, hint, looked_at: self.looked_at() }
    }

    fn looked_at(&self) -> String {
        format!("these are known:{}", told(&mut self.files.iter()))
    }

    /// The same of the project's own files; none where there are none.
    pub fn told_of_project(&self) -> Option<String> {
        let mut files = self.files.iter().filter(|file| file.place.of_project).peekable();
        files.peek().is_some().then(|| told(&mut files))
    }
}

/// One line per file, and what is wrong with those that could not be read.
fn told(files: &mut dyn Iterator<Item = &ClientFile>) -> String {
    let (mut text, mut problems) = (String::new(), String::new());
    for file in files {
        let names: Vec<_> = file.servers.iter().map(|server| server.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        write!(text, "\n  {}: {names}", file.named.display()).expect("a string takes all text");
        if let Some(broken) = &file.broken {
            write!(problems, "\n{broken}").expect("a string takes all text");
        }
    }
    text + &problems
}
