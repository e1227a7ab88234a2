//! Tells from the upper layers of a jail what the server did to files.
//!
//! The server can change everything here while we look, so each name is looked up beneath an open directory and no
//! link is followed.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::change::{Change, Changes, Effect, Entry};
use super::plan::Layer;

/// Changes that are told; a server that makes more of them is told to have done so.
const MAX_CHANGES: usize = 10_000;

/// Entries that are looked at, changed or not.
const MAX_ENTRIES: usize = 200_000;

/// Directories within directories; the system allows names much longer than this makes them.
const MAX_DEPTH: usize = 128;

/// Files up to this size are compared byte by byte; larger ones count as modified when they were opened for writing.
const MAX_COMPARED: u64 = 16 << 20;

/// What a directory has that hides all that was in it before.
const OPAQUE: &CStr = c"user.overlay.opaque";

/// The upper layers, held open. They outlive the server.
#[derive(Debug)]
pub(crate) struct Upper {
    directory: OwnedFd,
    layers: Vec<Layer>,
}

impl Upper {
    pub(crate) fn new(directory: OwnedFd, layers: Vec<Layer>) -> Self {
        Self { directory, layers }
    }

    pub(crate) fn changes(&self) -> Changes {
        let mut walk = Walk { changes: Changes::default(), entries: 0 };
        for (number, layer) in self.layers.iter().enumerate() {
            // A layer that is no overlay has no changes.
            if let Ok(upper) = self.open_layer("u", number) {
                let lower = self.open_layer("l", number).ok();
                walk.directory(&upper, Path::new(""), &Below { layer, lower, hidden: false }, 0);
            }
        }
        walk.changes.changes.sort_by(|one, other| one.path.cmp(&other.path));
        walk.changes
    }

    /// The content of a file that the server has written, up to a number of bytes.
    pub(crate) fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let around = self.layers.iter().enumerate().filter(|(_, layer)| path.starts_with(&layer.at));
        let innermost = around.max_by_key(|(_, layer)| layer.at.as_os_str().len());
        let (number, layer) = innermost.ok_or(io::ErrorKind::NotFound)?;
        let inside = path.strip_prefix(&layer.at).unwrap_or(path);
        let file = open_beneath(&self.open_layer("u", number)?, inside)?;
        let mut content = Vec::new();
        file.take(most).read_to_end(&mut content)?;
        Ok(content)
    }

    fn open_layer(&self, kind: &str, number: usize) -> io::Result<OwnedFd> {
        open_directory(self.directory.as_raw_fd(), OsStr::new(&format!("{kind}{number}")))
    }
}

/// What lies below an upper directory.
struct Below<'a> {
    layer: &'a Layer,
    lower: Option<OwnedFd>,
    /// The directory hides all that is below.
    hidden: bool,
}

impl Below<'_> {
    /// What was there before: what we had added, or what is really there.
    fn before(&self, inside: &Path) -> Option<(Metadata, Option<File>)> {
        if self.hidden {
            return None;
        }
        if self.layer.added.contains(inside) {
            let file = open_beneath(self.lower.as_ref()?, inside).ok();
            let metadata = file.as_ref().map(File::metadata);
            return match metadata {
                Some(Ok(metadata)) => Some((metadata, file)),
                // A link of ours, for instance: it was there, and that is all we need to know.
                _ => Some((Path::new("/").metadata().ok()?, None)),
            };
        }
        let place = self.layer.real.then(|| self.layer.at.join(inside))?;
        let metadata = place.symlink_metadata().ok()?;
        let file = metadata.is_file().then(|| File::open(&place).ok()).flatten();
        Some((metadata, file))
    }
}

struct Walk {
    changes: Changes,
    entries: usize,
}

impl Walk {
    fn directory(&mut self, upper: &OwnedFd, inside: &Path, below: &Below<'_>, depth: usize) {
        let at = || below.layer.at.join(inside);
        let Ok(names) = names(upper) else { return self.changes.unreadable.push(at()) };
        for name in names {
            self.entries += 1;
            if self.entries > MAX_ENTRIES || self.changes.changes.len() >= MAX_CHANGES || depth > MAX_DEPTH {
                self.changes.more = true;
                return;
            }
            self.entry(upper, &name, &inside.join(OsStr::from_bytes(name.as_bytes())), below, depth);
        }
    }

    fn entry(&mut self, upper: &OwnedFd, name: &CStr, inside: &Path, below: &Below<'_>, depth: usize) {
        let Ok(entry) = open_path(upper.as_raw_fd(), name) else { return };
        let entry = File::from(entry);
        let Ok(now) = entry.metadata() else { return };
        let before = below.before(inside);
        let path = below.layer.at.join(inside);
        if now.file_type().is_char_device() && now.rdev() == 0 {
            let change = Change { path, effect: Effect::Deleted, entry: Entry::Nothing, bytes: 0 };
            return self.changes.changes.push(change);
        }
        let opaque = now.is_dir() && is_opaque(&entry);
        let effect = match &before {
            None => Some(Effect::Created),
            Some((before, _)) if before.file_type() != now.file_type() => Some(Effect::Replaced),
            Some(_) if opaque => Some(Effect::Replaced),
            Some((before, _)) if now.is_dir() => {
                // Every directory above a change is in the upper layer too.
                (before.mode() != now.mode()).then_some(Effect::Touched)
            }
            Some((before, file)) if now.is_file() => Some(compare(before, file.as_ref(), &now, upper, name)),
            Some(_) => Some(Effect::Replaced),
        };
        if let Some(effect) = effect {
            let change = Change { path, effect, entry: Entry::of(&now), bytes: now.len() };
            self.changes.changes.push(change);
        }
        if now.is_dir() {
            let hidden = below.hidden || opaque || before.is_none();
            let lower = below.lower.as_ref().and_then(|lower| lower.try_clone().ok());
            let below = Below { layer: below.layer, lower, hidden };
            match open_directory(upper.as_raw_fd(), OsStr::from_bytes(name.to_bytes())) {
                Ok(directory) => self.directory(&directory, inside, &below, depth + 1),
                Err(_) => self.changes.unreadable.push(below.layer.at.join(inside)),
            }
        }
    }
}

impl Entry {
    fn of(metadata: &Metadata) -> Self {
        match metadata.file_type() {
            kind if kind.is_file() => Self::File,
            kind if kind.is_dir() => Self::Directory,
            kind if kind.is_symlink() => Self::Symlink,
            _ => Self::Special,
        }
    }
}

fn compare(before: &Metadata, old: Option<&File>, now: &Metadata, upper: &OwnedFd, name: &CStr) -> Effect {
    if before.len() != now.len() || now.len() > MAX_COMPARED {
        return Effect::Modified;
    }
    let inside = Path::new(OsStr::from_bytes(name.to_bytes()));
    let contents = old.zip(open_beneath(upper, inside).ok()).and_then(|(old, new)| {
        let mut both = [Vec::new(), Vec::new()];
        for (mut file, content) in [old, &new].into_iter().zip(&mut both) {
            (&mut file).take(MAX_COMPARED).read_to_end(content).ok()?;
        }
        Some(both)
    });
    match contents {
        Some([old, new]) if old == new => Effect::Touched,
        _ => Effect::Modified,
    }
}

fn is_opaque(directory: &File) -> bool {
    let path = CString::new(format!("/proc/self/fd/{}", directory.as_raw_fd())).unwrap_or_default();
    let mut value = [0_u8; 1];
    // SAFETY: the path is a C string and the buffer as long as the length says.
    unsafe {
        libc::getxattr(path.as_ptr(), OPAQUE.as_ptr(), value.as_mut_ptr().cast(), 1) == 1 && value == *b"y"
    }
}

/// Opens a regular file beneath a directory, or a directory; follows no link on the way.
fn open_beneath(directory: &OwnedFd, inside: &Path) -> io::Result<File> {
    let mut names: Vec<&OsStr> = inside.iter().collect();
    let last = names.pop().ok_or(io::ErrorKind::NotFound)?;
    let mut current = directory.try_clone()?;
    for name in names {
        current = open_directory(current.as_raw_fd(), name)?;
    }
    // A pipe would wait for someone to write to it.
    let file = File::from(open_at(current.as_raw_fd(), last, libc::O_RDONLY | libc::O_NONBLOCK)?);
    let metadata = file.metadata()?;
    if metadata.is_file() || metadata.is_dir() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

pub(super) fn open_directory(at: RawFd, name: &OsStr) -> io::Result<OwnedFd> {
    open_at(at, name, libc::O_RDONLY | libc::O_DIRECTORY)
}

fn open_path(at: RawFd, name: &CStr) -> io::Result<OwnedFd> {
    open_at(at, OsStr::from_bytes(name.to_bytes()), libc::O_PATH)
}

pub(super) fn c_name(name: &OsStr) -> io::Result<CString> {
    Ok(CString::new(name.as_bytes())?)
}

pub(super) fn open_at(at: RawFd, name: &OsStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    let name = c_name(name)?;
    // SAFETY: the name is a C string, and the new descriptor is owned by nobody else.
    unsafe {
        let opened = libc::openat(at, name.as_ptr(), flags | libc::O_NOFOLLOW | libc::O_CLOEXEC, 0o600);
        if opened < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(opened)) }
    }
}

/// The names in a directory, in order.
fn names(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    // Reading goes through a descriptor of its own, for it moves on in it.
    let own = open_directory(directory.as_raw_fd(), OsStr::new("."))?;
    let mut names = Vec::new();
    // SAFETY: the stream takes the descriptor over and closes it; an entry is valid until the next one is read.
    unsafe {
        let raw = std::os::fd::IntoRawFd::into_raw_fd(own);
        let stream = libc::fdopendir(raw);
        if stream.is_null() {
            let error = io::Error::last_os_error();
            libc::close(raw);
            return Err(error);
        }
        while names.len() <= MAX_ENTRIES {
            let entry = libc::readdir(stream);
            if entry.is_null() {
                break;
            }
            let name = CStr::from_ptr((*entry).d_name.as_ptr());
            if name != c"." && name != c".." {
                names.push(name.to_owned());
            }
        }
        libc::closedir(stream);
    }
    names.sort();
    Ok(names)
}
