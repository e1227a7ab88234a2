//! Keeps what was fetched for a launcher, in a directory of our own for each command.
//!
//! The user's own caches are never written, because code of a package may run while it is fetched, and what it left in
//! them would run outside one day. For the same reason no two commands share a directory: a package can spoil nothing
//! but what is fetched for itself.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Below the user's directory for caches.
const PLACE: &str = "wallfacer/fetched";
/// What nobody used for this long is removed.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Directories that are looked at to remove some.
const MAX_LOOKED_AT: usize = 1_000;
/// Bytes of a digest that name a directory.
const DIGITS: usize = 32;

/// The place for one command. A fetch can write to its `cache`, and to nothing beside it.
#[derive(Debug, Clone)]
pub(super) struct Store {
    pub(super) path: PathBuf,
}

impl Store {
    /// `caches` is the user's directory for caches, and `command` all that makes a command another one.
    pub(super) fn new(caches: &Path, command: &[&OsStr]) -> Self {
        Self { path: caches.join(PLACE).join(digest(command.iter().map(|word| word.as_bytes()))) }
    }

    pub(super) fn cache(&self) -> PathBuf {
        self.path.join("cache")
    }

    /// What npm takes for the settings of the user.
    pub(super) fn npm_settings(&self) -> PathBuf {
        self.path.join("npmrc")
    }

    /// An environment of uv that is made anew for each step of a fetch and that no server uses.
    pub(super) fn environment(&self) -> PathBuf {
        self.path.join("cache/environment")
    }

    /// Makes room for a fetch.
    pub(super) fn prepare(&self, npm_settings: &str) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.cache())?;
        fs::write(self.npm_settings(), npm_settings)?;
        if let Some(place) = self.path.parent() {
            remove_unused(place, &self.path);
        }
        Ok(())
    }

    /// Takes away the environment of the last step: what is installed in it would not be fetched for the next.
    pub(super) fn empty_environment(&self) {
        let _was_there = fs::remove_dir_all(self.environment());
    }

    /// Whether all that is needed was fetched once.
    pub(super) fn is_filled(&self) -> bool {
        self.stamp().is_file()
    }

    /// Whether what is there need not be fetched again: nothing that decides about it has changed since, and it is not as
    /// old as `keeps` yet.
    pub(super) fn is_fresh(&self, state: &str, keeps: Duration) -> bool {
        let age = fs::metadata(self.stamp()).and_then(|stamp| stamp.modified()).ok();
        let age = age.and_then(|then| SystemTime::now().duration_since(then).ok());
        fs::read(self.stamp()).is_ok_and(|stamp| stamp == state.as_bytes())
            && age.is_some_and(|age| age < keeps)
    }

    /// All that is needed is there.
    pub(super) fn mark(&self, state: &str) -> io::Result<()> {
        fs::write(self.stamp(), state)
    }

    fn stamp(&self) -> PathBuf {
        self.path.join("fetched")
    }
}

/// What is there at some paths, in short: whoever changes a file changes this.
pub(super) fn state_of(paths: &BTreeSet<PathBuf>) -> String {
    let told = paths.iter().map(|path| {
        let data = fs::metadata(path).map(|data| (data.len(), data.mtime(), data.mtime_nsec(), data.ino()));
        format!("{} {:?}", path.display(), data.ok()).into_bytes()
    });
    digest(told.collect::<Vec<_>>().iter().map(Vec::as_slice))
}

fn digest<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}

/// Removes the neighbours that nobody has used for long. That one of them stays is no harm.
fn remove_unused(place: &Path, own: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten().take(MAX_LOOKED_AT) {
        let path = entry.path();
        let is_ours = entry.file_name().len() == DIGITS && path != own && !path.is_symlink();
        let used = fs::metadata(path.join("npmrc")).and_then(|settings| settings.modified());
        let unused = used.ok().and_then(|used| SystemTime::now().duration_since(used).ok());
        if is_ours && unused.is_some_and(|unused| unused > UNUSED) {
            let _stays = fs::remove_dir_all(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(caches: &Path, command: &[&str]) -> Store {
        Store::new(caches, &command.iter().map(|word| OsStr::new(*word)).collect::<Vec<_>>())
    }

    #[test]
    fn what_was_fetched_is_taken_again_until_something_changes_or_time_passes() {
        let caches = tempfile::tempdir().unwrap();
        let store = store(caches.path(), &["npx", "pkg"]);
        let [short, long] = [60, 600].map(Duration::from_secs);
        assert!(!store.is_fresh("a", long));
        store.prepare("").unwrap();
        assert!(!store.is_filled());
        store.mark("a").unwrap();
        assert!(store.is_filled() && store.is_fresh("a", short) && !store.is_fresh("b", short));
        let long_ago = SystemTime::now() - short * 2;
        fs::File::options().write(true).open(store.stamp()).unwrap().set_modified(long_ago).unwrap();
        assert!(!store.is_fresh("a", short));
        assert!(store.is_fresh("a", long) && store.is_fresh("a", Duration::MAX));
    }

    #[test]
    fn commands_share_nothing_and_what_is_unused_goes() {
        let caches = tempfile::tempdir().unwrap();
        let [one, other] = [["npx", "a b"], ["npxa", " b"]].map(|words| store(caches.path(), &words));
        assert_ne!(one.path, other.path);
        one.prepare("").unwrap();
        let long_ago = SystemTime::now() - UNUSED * 2;
        fs::File::options().write(true).open(one.npm_settings()).unwrap().set_modified(long_ago).unwrap();
        other.prepare("").unwrap();
        assert!(!one.path.exists() && other.path.exists());
    }
}
