//! Makes the disk of a running server fail: full, not to be written to, or without a file that was there.
//!
//! All of it goes through the server's own root, name by name, and no link is followed: the server can put links wherever
//! it likes, and they must not lead us out.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use super::DiskTrouble;
use super::upper::{c_name, open_at, open_directory};

/// A larger disk is not filled: it lies in memory.
const MAX_FILLED: usize = 64 << 20;
/// What fills the disk, in a directory that every server has.
const DIRECTORY: &str = "tmp";
const NAME: &str = ".filled";
const PIECE: usize = 64 << 10;
const WRITABLE: u32 = 0o222;

/// What was changed, to be changed back.
#[derive(Debug, Default)]
pub(crate) struct Meddled {
    modes: Vec<(File, u32)>,
    filled: bool,
}

impl Meddled {
    pub(crate) fn meddle(&mut self, pid: u32, trouble: DiskTrouble<'_>) -> io::Result<()> {
        match trouble {
            DiskTrouble::Full => self.fill(pid),
            DiskTrouble::ReadOnly(path) => self.make_read_only(pid, path),
            DiskTrouble::Gone(path) => {
                let (directory, name) = parent(pid, path)?;
                remove_in(&directory, name)
            }
            DiskTrouble::Over => self.restore(pid),
        }
    }

    fn fill(&mut self, pid: u32) -> io::Result<()> {
        let directory = open_directory(root(pid)?.as_raw_fd(), OsStr::new(DIRECTORY))?;
        let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
        let mut file = File::from(open_at(directory.as_raw_fd(), OsStr::new(NAME), flags)?);
        self.filled = true;
        let piece = vec![0; PIECE];
        let mut size = PIECE;
        for _ in 0..MAX_FILLED / PIECE {
            match file.write(&piece[..size]) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                // The last bytes are filled in small pieces.
                Err(error) if error.kind() == io::ErrorKind::StorageFull && size > 512 => size /= 8,
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.restore(pid)?;
        Err(io::Error::other("the disk is too large to be filled"))
    }

    fn make_read_only(&mut self, pid: u32, path: &Path) -> io::Result<()> {
        let (directory, name) = parent(pid, path)?;
        let file = File::from(open_at(directory.as_raw_fd(), name, libc::O_RDONLY | libc::O_NONBLOCK)?);
        for each in [file, File::from(directory)] {
            let mode = each.metadata()?.mode();
            each.set_permissions(PermissionsExt::from_mode(mode & 0o7777 & !WRITABLE))?;
            self.modes.push((each, mode & 0o7777));
        }
        Ok(())
    }

    /// Everything can be written to again, and there is room.
    fn restore(&mut self, pid: u32) -> io::Result<()> {
        while let Some((file, mode)) = self.modes.pop() {
            file.set_permissions(PermissionsExt::from_mode(mode))?;
        }
        if std::mem::take(&mut self.filled) {
            let directory = open_directory(root(pid)?.as_raw_fd(), OsStr::new(DIRECTORY))?;
            remove_in(&directory, OsStr::new(NAME))?;
        }
        Ok(())
    }
}

/// The root of a jailed process. Its number may have gone to another by now: one that has the root that we have lives in no
/// jail, and its files are real.
fn root(pid: u32) -> io::Result<OwnedFd> {
    let path = c_name(OsStr::new(&format!("/proc/{pid}/root")))?;
    // SAFETY: the path is a C string, and the new descriptor is owned by nobody else.
    let root = unsafe {
        let opened = libc::open(path.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
        if opened < 0 { return Err(io::Error::last_os_error()) } else { File::from_raw_fd(opened) }
    };
    let (its, ours) = (root.metadata()?, Path::new("/").metadata()?);
    let is_ours = (its.dev(), its.ino()) == (ours.dev(), ours.ino());
    if is_ours { Err(io::ErrorKind::NotFound.into()) } else { Ok(root.into()) }
}

/// The directory that a file lies in, and its name there.
pub(super) fn parent(pid: u32, path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let inside = path.strip_prefix("/").map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut names: Vec<&OsStr> = inside.iter().collect();
    let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
    let mut current = root(pid)?;
    for name in names {
        current = open_directory(current.as_raw_fd(), name)?;
    }
    Ok((current, last))
}

fn remove_in(directory: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let name = c_name(name)?;
    // SAFETY: the name is a C string; what it names is removed, and not followed.
    let removed = unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0) };
    if removed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_done_to_the_files_of_a_process_outside() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("kept");
        std::fs::write(&file, "text").unwrap();
        let mut meddled = Meddled::default();
        for trouble in [DiskTrouble::Gone(&file), DiskTrouble::ReadOnly(&file), DiskTrouble::Full] {
            assert!(meddled.meddle(std::process::id(), trouble).is_err());
        }
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & WRITABLE & 0o200, 0o200);
        assert!(!Path::new("/tmp").join(NAME).exists());
    }
}
