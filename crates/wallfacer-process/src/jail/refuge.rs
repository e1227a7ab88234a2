//! A home in, a directory with its canaries out: for machines on which the real one cannot be replaced in place.
//! It goes when the last holder does; if we are killed, the keeper removes it.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{Canary, Jail};

/// Memory where there is some, else the disk.
const BASES: [&str; 3] = ["/dev/shm", "/tmp", "/var/tmp"];

#[derive(Debug)]
pub(crate) struct Refuge {
    path: PathBuf,
}

impl Refuge {
    pub(crate) fn new(jail: &Jail) -> io::Result<Self> {
        let made = BASES.iter().find_map(|base| make(base));
        let refuge = Self { path: made.ok_or_else(|| io::Error::other("no directory to make another in"))? };
        for directory in [refuge.home(), refuge.scratch()] {
            fs::create_dir(directory)?;
        }
        for Canary { path, content, .. } in jail.canaries() {
            let inside = path.strip_prefix(&jail.home).unwrap_or(&path);
            let path = refuge.home().join(inside);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(&content)?;
        }
        Ok(refuge)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
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
        // The keeper may have done it already.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The system chooses a name that nobody has.
fn make(base: &str) -> Option<PathBuf> {
    let mut template = CString::new(format!("{base}/wallfacer-XXXXXX")).ok()?.into_bytes_with_nul();
    // SAFETY: the template is a C string of ours, and is changed in place.
    let made = unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) };
    template.pop();
    (!made.is_null()).then(|| PathBuf::from(std::ffi::OsString::from_vec(template)))
}
