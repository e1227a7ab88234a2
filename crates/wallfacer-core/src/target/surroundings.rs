//! Where wallfacer was started: the working directory, the home and the environment, as the caller hands them in.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::repository::directories;

/// The world a target is resolved in.
pub struct Surroundings<'a> {
    /// The working directory, absolute.
    pub directory: &'a Path,
    pub home: Option<&'a Path>,
    /// An environment variable by its name.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Surroundings<'_> {
    /// The working directory and its parents, up to the one that holds `.git`. Outside of a repository it is
    /// the working directory alone: whoever can write to a shared parent must not choose what we start.
    pub(super) fn project_directories(&self) -> Vec<&Path> {
        directories(self.directory)
    }

    /// A file of the project as a URI from the project's root; none for a file outside of it.
    pub fn project_uri(&self, file: &Path) -> Option<String> {
        let root = self.project_directories().last().copied().unwrap_or(self.directory);
        let parts = file.strip_prefix(root).ok()?.components();
        let encoded = parts.map(|part| part.as_os_str().as_encoded_bytes().iter().map(escaped).collect());
        Some(encoded.collect::<Vec<String>>().join("/"))
    }

    /// A path as typed, made whole: `~` is the home directory, and what is relative begins where we are.
    pub(super) fn whole(&self, path: &Path) -> PathBuf {
        let at_home = || Some(self.home?.join(path.strip_prefix("~").ok()?));
        let whole = at_home().unwrap_or_else(|| joined(self.directory, path));
        // Only the file system knows what is above a link.
        let climbs = whole.components().any(|part| part == Component::ParentDir);
        if climbs { whole.canonicalize().unwrap_or(whole) } else { whole }
    }

    /// A file as a report names it: one of this directory begins with `./`.
    pub fn as_written(&self, file: &Path) -> PathBuf {
        let named = self.named(file);
        if named.is_relative() && !named.starts_with("~") { Path::new(".").join(named) } else { named }
    }

    /// The path as a person in the working directory would write it.
    pub(super) fn named(&self, path: &Path) -> PathBuf {
        let under_home = || Some(Path::new("~").join(path.strip_prefix(self.home?).ok()?));
        let here = path.strip_prefix(self.directory).ok().map(Path::to_owned);
        here.or_else(under_home).unwrap_or(path.to_owned())
    }
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Surroundings")
            .field("directory", &self.directory)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// A byte as it may stand in a URI.
fn escaped(byte: &u8) -> String {
    let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    if plain { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
}

/// `path` as seen from `directory`, without the `.` in between.
pub(super) fn joined(directory: &Path, path: impl AsRef<Path>) -> PathBuf {
    directory.join(path).components().filter(|part| *part != Component::CurDir).collect()
}

/// A program named by a path is looked up from `directory`; a bare name is left to `PATH`.
pub(super) fn program(directory: &Path, name: &str) -> PathBuf {
    if name.contains(['/', std::path::MAIN_SEPARATOR]) { joined(directory, name) } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_project_is_named_from_its_root() {
        let kept = tempfile::TempDir::new().unwrap();
        let root = kept.path();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let directory = root.join("a b");
        let around = Surroundings { directory: &directory, home: None, variable: &|_| None };
        assert_eq!(around.project_uri(&directory.join("wallfacer.toml")).unwrap(), "a%20b/wallfacer.toml");
        assert_eq!(around.project_uri(Path::new("/elsewhere/wallfacer.toml")), None);
    }
}
