//! Tells what one system call does to which files.

use std::path::{Component, Path, PathBuf};

use wallfacer_process::trace::{Address, Event, Kind, Location};

/// What the kernel puts behind the path of a file that is gone.
const GONE: &str = " (deleted)";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Read,
    List,
    /// It is other than before.
    Write,
    /// It may be written to: whether it was is for others to tell.
    OpenToWrite,
    Delete,
    /// It is somewhere else.
    Move,
    /// A socket in the file system is spoken to.
    Reach,
}

/// The deeds of one event, whether or not it succeeded.
pub(super) fn deeds(event: &Event) -> Vec<(Deed, PathBuf)> {
    let one = |deed, location: &Location| vec![(deed, tidy(&location.path()))];
    match &event.kind {
        Kind::Open { access, .. } if access.place_only => Vec::new(),
        Kind::Open { location, access } => {
            let path = tidy(&location.path());
            if access.directory {
                return vec![(Deed::List, path)];
            }
            let written = match (access.write, access.read, access.truncate || access.exclusive) {
                // What is opened for both may be opened so out of habit, as databases do.
                (true, true, false) => Some(Deed::OpenToWrite),
                (true, _, _) => Some(Deed::Write),
                (false, _, true) => Some(Deed::Write),
                (false, _, false) => None,
            };
            let read = access.read.then_some(Deed::Read);
            written.into_iter().chain(read).map(|deed| (deed, path.clone())).collect()
        }
        Kind::Unlink { location } | Kind::RemoveDirectory { location } => one(Deed::Delete, location),
        Kind::Rename { from, to } => {
            vec![(Deed::Move, tidy(&from.path())), (Deed::Write, tidy(&to.path()))]
        }
        Kind::Link { to, .. } => one(Deed::Write, to),
        Kind::MakeDirectory { location }
        | Kind::Symlink { location, .. }
        | Kind::MakeNode { location, .. }
        | Kind::ChangeMode { location, .. }
        | Kind::ChangeOwner { location, .. }
        | Kind::ChangeAttribute { location, .. }
        | Kind::Truncate { location, .. } => one(Deed::Write, location),
        Kind::Connect { address: Address::Unix(location), .. } => one(Deed::Reach, location),
        _ => Vec::new(),
    }
}

/// Without `.` and `..`, and without what the kernel adds.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(tidied.pop()),
            other => tidied.push(other),
        }
    }
    match tidied.to_str().and_then(|text| text.strip_suffix(GONE)) {
        Some(before) => PathBuf::from(before),
        None => tidied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_detours() {
        for (path, wanted) in [("/a/./b/../c", "/a/c"), ("/a/x (deleted)", "/a/x"), ("/..", "/")] {
            assert_eq!(tidy(Path::new(path)), Path::new(wanted));
        }
    }
}
