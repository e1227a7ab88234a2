//! Makes a directory with canaries that stands for the home, on machines where the real one cannot be replaced in
//! place.
//!
//! The keeper makes it and removes it, so that it goes even if we are killed; if the keeper is killed, we remove it.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::operation::{Operation, Step};
use super::{Canary, Jail};

/// Memory where there is some, else the disk.
const BASES: [&str; 3] = ["/dev/shm", "/tmp", "/var/tmp"];

#[derive(Debug)]
pub(crate) struct Refuge {
    path: PathBuf,
    name: CString,
}

impl Refuge {
    /// Chooses a place; nothing is there yet.
    pub(crate) fn new() -> io::Result<Self> {
        let base = BASES.iter().find(|base| is_writable(base));
        let base = base.ok_or_else(|| io::Error::other("no directory to make another in"))?;
        // Others can write there too, so they must not know the name beforehand. It is such as `mktemp` gives.
        let mut number = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut number)?;
        let path = Path::new(base).join(format!("tmp.{:016x}", u64::from_ne_bytes(number)));
        Ok(Self { name: c(&path)?, path })
    }

    pub(crate) fn steps(&self, jail: &Jail) -> io::Result<Vec<Step>> {
        let mut operations = vec![Operation::New { path: self.name.clone() }];
        let mut made = BTreeSet::from([self.path.clone()]);
        for directory in [self.home(), self.scratch()] {
            operations.push(Operation::Directory { path: c(&directory)?, mode: 0o700 });
            made.insert(directory);
        }
        let mut links = BTreeSet::new();
        for Canary { path, content, .. } in jail.canaries() {
            let path = self.home().join(path.strip_prefix(&jail.home).unwrap_or(&path));
            self.make_above(&path, &mut made, &mut operations)?;
            operations.push(Operation::Create { path: c(&path)?, bytes: content, mode: 0o600 });
        }
        // What is kept is found from this home too.
        for kept in &jail.kept {
            let Ok(inside) = kept.strip_prefix(&jail.home) else { continue };
            let path = self.home().join(inside);
            if !made.insert(path.clone()) || path.ancestors().skip(1).any(|above| links.contains(above)) {
                continue;
            }
            self.make_above(&path, &mut made, &mut operations)?;
            operations.push(Operation::Symlink { path: c(&path)?, target: c(kept)? });
            links.insert(path);
        }
        Ok(operations.into_iter().map(|operation| Step { operation, required: true }).collect())
    }

    /// The directories above a path that are not there yet.
    fn make_above(
        &self,
        path: &Path,
        made: &mut BTreeSet<PathBuf>,
        operations: &mut Vec<Operation>,
    ) -> io::Result<()> {
        let above: Vec<_> = path.ancestors().skip(1).take_while(|above| !made.contains(*above)).collect();
        for directory in above.into_iter().rev() {
            operations.push(Operation::Directory { path: c(directory)?, mode: 0o755 });
        }
        made.extend(path.ancestors().skip(1).map(Path::to_path_buf));
        Ok(())
    }

    pub(crate) fn name(&self) -> &CString {
        &self.name
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.path.join("tmp")
    }
}

impl Drop for Refuge {
    fn drop(&mut self) {
        // The keeper has most likely done it already.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn is_writable(directory: &str) -> bool {
    // SAFETY: the path is a C string.
    c(Path::new(directory))
        .is_ok_and(|path| unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) == 0 })
}

fn c(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
