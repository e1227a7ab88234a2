//! The key by which a user's own findings are known again: a file that only they can read, made when the first finding
//! is kept.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use wallfacer_core::findings::Key;

use crate::environment;

const NAME: &str = "wallfacer/findings.key";

/// The key, where there is one.
pub fn read() -> Option<Key> {
    read_from(&path()?)
}

/// The key, made where there is none. Without a place to keep one, nothing is marked, and every replay asks.
pub fn read_or_make() -> Option<Key> {
    let path = path()?;
    read_from(&path).or_else(|| {
        make(&path).ok()?;
        read_from(&path)
    })
}

fn path() -> Option<PathBuf> {
    Some(environment::state_directory()?.join(NAME))
}

fn read_from(path: &Path) -> Option<Key> {
    let mut bytes = Vec::new();
    let most = Key::BYTES as u64 + 1;
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    bytes.try_into().ok().map(Key::new)
}

/// Another run may make one at the same time; whichever is first in place is the key of both.
fn make(path: &Path) -> io::Result<()> {
    let mut bytes = [0; Key::BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = private().open(&temporary).and_then(|mut file| file.write_all(&bytes));
    let placed = written.and_then(|()| fs::hard_link(&temporary, path));
    fs::remove_file(&temporary)?;
    placed
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_first_key_in_place_stays_and_is_its_owners_alone() {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("state/wallfacer/findings.key");
        assert!(read_from(&path).is_none());
        make(&path).unwrap();
        let first = fs::read(&path).unwrap();
        assert!(make(&path).is_err(), "it is never replaced");
        assert_eq!(fs::read(&path).unwrap(), first);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn a_file_of_another_length_is_no_key() {
        let place = tempfile::TempDir::new().unwrap();
        for length in [0, Key::BYTES - 1, Key::BYTES + 1] {
            let path = place.path().join("key");
            fs::write(&path, vec![1; length]).unwrap();
            assert!(read_from(&path).is_none(), "{length}");
        }
    }
}
