//! A command in, the directories that it declares as its own out.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::target::Command;

/// Who said that a directory is the server's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeclaredBy {
    /// The client names it when it is asked for roots.
    Roots,
    CommandLine,
    Environment,
    WorkingDirectory,
}

/// The directories that a server was told of. To leave them is to leave its scope; one that was given none by its
/// command line, environment or roots has no scope to leave.
pub fn scopes(command: &Command, cwd: &Path, roots: &[PathBuf]) -> BTreeMap<PathBuf, DeclaredBy> {
    let mut scopes: BTreeMap<PathBuf, DeclaredBy> =
        roots.iter().filter_map(|root| directory(root)).map(|root| (root, DeclaredBy::Roots)).collect();
    let arguments = command.args.iter().flat_map(paths_in);
    let named = arguments.map(|path| (path, DeclaredBy::CommandLine));
    let values = command.environment.set.values().flat_map(|value| std::env::split_paths(value));
    let set = values.filter(|path| path.is_absolute()).map(|path| (path, DeclaredBy::Environment));
    for (path, by) in named.chain(set) {
        if let Some(directory) = directory(&cwd.join(path)) {
            scopes.entry(directory).or_insert(by);
        }
    }
    scopes.entry(cwd.to_path_buf()).or_insert(DeclaredBy::WorkingDirectory);
    scopes
}

/// What must stay there for a server to find what it was told of: the scopes, and the places of files that it is to make.
pub(super) fn places(command: &Command, cwd: &Path) -> BTreeSet<PathBuf> {
    let arguments = command.args.iter().flat_map(paths_in);
    let values = command.environment.set.values().flat_map(|value| std::env::split_paths(value));
    let all = arguments.chain(values.filter(|path| path.is_absolute())).map(|path| cwd.join(path));
    let place = |path: PathBuf| match path.exists() {
        true => Some(path),
        false => path.parent().filter(|parent| parent.is_dir()).map(Path::to_path_buf),
    };
    all.filter(|path| path.components().count() > 1).filter_map(place).collect()
}

fn directory(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    (real.is_dir() && real.parent().is_some()).then_some(real)
}

/// The parts of an argument that may be a path: all of it, or what follows `=` or `file://`.
fn paths_in(argument: &OsString) -> impl Iterator<Item = PathBuf> + use<'_> {
    let text = argument.to_str();
    let value = text.and_then(|text| text.split_once('=')).map(|(_, value)| value);
    let address = text.and_then(|text| text.strip_prefix("file://"));
    let whole = Some(argument.as_os_str()).filter(|word| !word.is_empty() && !is_option(word));
    whole.into_iter().chain([value, address].into_iter().flatten().map(OsStr::new)).map(PathBuf::from)
}

fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_declared_by_arguments_variables_roots_and_the_place_of_start() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for name in ["cwd", "data", "cache", "cwd/sub", "open"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::fs::write(root.join("cwd/server.js"), "").unwrap();
        let data = format!("--root={}", root.join("data").display());
        let mut command = Command::new("node", ["server.js", "sub", &data, "--verbose", "/no/such/place"]);
        let cache = root.join("cache").to_str().unwrap().to_owned();
        command.environment.set.insert("CACHE".to_owned(), cache);
        let found = scopes(&command, &root.join("cwd"), &[root.join("open")]);
        let wanted = [
            (root.join("cache"), DeclaredBy::Environment),
            (root.join("cwd"), DeclaredBy::WorkingDirectory),
            (root.join("cwd/sub"), DeclaredBy::CommandLine),
            (root.join("data"), DeclaredBy::CommandLine),
            (root.join("open"), DeclaredBy::Roots),
        ];
        assert_eq!(found, wanted.into());
    }

    #[test]
    fn a_file_that_is_to_be_made_needs_the_directory_it_will_lie_in() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("new.db");
        let command = Command::new("server", ["--db", file.to_str().unwrap(), "/no/such/place/at/all"]);
        let found = places(&command, Path::new("/"));
        assert!(found.contains(place.path()), "{found:?}");
        assert!(!found.iter().any(|path| path.starts_with("/no")), "{found:?}");
    }
}
