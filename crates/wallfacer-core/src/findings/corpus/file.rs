//! One finding, one file: written whole or not at all, readable by its owner alone, read within bounds.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::Value;

use super::error::CorpusError;
use super::peer;
use crate::findings::Finding;
use crate::repository::open_unlinked;

/// Far more than a finding takes, whose payload is in its short form.
const MAX_BYTES: u64 = 64 << 20;
/// No write takes this long; what is older was left by a run that was killed.
const ABANDONED: Duration = Duration::from_secs(3_600);
/// Names that other runs may hold before one is free: runs of one process id come from other containers.
const MAX_TRIES: u64 = 100;
const TEMPORARY: &str = ".tmp";

/// Puts a finding into a file.
pub fn write(path: &Path, finding: &Finding) -> Result<(), CorpusError> {
    let failed = |source| CorpusError::Write { id: finding.id.clone(), path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    if !prepare(folder).map_err(failed)? {
        return Err(CorpusError::NotAFolder { path: folder.to_owned() });
    }
    let text = serde_json::to_string_pretty(finding).map_err(|error| failed(error.into()))?;
    put(path, format!("{}\n", wallfacer_text::json(&text)).as_bytes()).map_err(failed)
}

/// Makes a folder where there is none; says whether there is one now. The corpus itself may be a link that
/// stays in the repository; what lies in it is ours, and a link there was put by someone else.
pub fn prepare(folder: &Path) -> io::Result<bool> {
    make_folder(folder)?;
    Ok(fs::symlink_metadata(folder)?.is_dir())
}

/// Puts bytes into a file of a folder that is there, all of them or none.
pub fn put(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let (temporary, file) = new_file(path)?;
    let moved = fill(file, text).and_then(|()| fs::rename(&temporary, path)).and_then(|()| settle(folder));
    moved.inspect_err(|_| {
        let _gone_or_cleaned_later = fs::remove_file(&temporary);
    })
}

/// The finding in a file of a corpus, or why there is none.
pub fn read(path: &Path) -> Result<Finding, String> {
    let finding = finding(json(path)?)?;
    let named = path.file_stem().is_some_and(|stem| stem == finding.id.as_str());
    named.then_some(()).ok_or_else(|| format!("it holds the finding {}, and is not named so", finding.id))?;
    Ok(finding)
}

/// What a file holds.
pub fn json(path: &Path) -> Result<Value, String> {
    serde_json::from_slice(&bytes(path)?).map_err(|error| explained(&error))
}

/// The finding that a document is, of our own form or of an older one.
pub fn finding(value: Value) -> Result<Finding, String> {
    match peer::is_of_peer(&value) {
        true => peer::convert(value),
        false => Finding::deserialize(&value).map_err(|error| format!("it is not a finding: {error}")),
    }
}

/// How large a file is, without reading it.
pub fn size(path: &Path) -> Result<u64, String> {
    fs::symlink_metadata(path).map(|about| about.len()).map_err(|error| error.to_string())
}

/// Whether a name is one under which a file comes into being.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(TEMPORARY)
}

/// Whether nobody can be writing to this file any more. One from the future may still be written to.
pub fn is_abandoned(path: &Path, now: SystemTime) -> bool {
    let written = fs::symlink_metadata(path).and_then(|about| about.modified());
    written.is_ok_and(|written| now.duration_since(written).is_ok_and(|age| age > ABANDONED))
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let about = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    // A pipe would keep us waiting, a link leads out of the corpus.
    if !about.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = Vec::new();
    let opened = open_unlinked(path, OpenOptions::new().read(true));
    let file = opened.map_err(|error| error.to_string())?;
    file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    match text.len() as u64 > MAX_BYTES {
        true => Err(format!("it is larger than {} MiB", MAX_BYTES >> 20)),
        false => Ok(text),
    }
}

fn explained(error: &serde_json::Error) -> String {
    match error.to_string() {
        text if text.contains("recursion limit") => {
            format!("it is nested too deep, at line {}", error.line())
        }
        text => format!("it is not JSON: {text}"),
    }
}

/// A new file beside the one to be, under a name that no other run uses.
fn new_file(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for _ in 0..MAX_TRIES {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".{stem}.{}.{number}{TEMPORARY}", std::process::id());
        let temporary = path.with_file_name(name);
        match private().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (temporary, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn fill(mut file: File, text: &[u8]) -> io::Result<()> {
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.recursive(true).create(folder) {
        // Something else of that name is told apart by the caller.
        Err(_) if fs::symlink_metadata(folder).is_ok() => Ok(()),
        made => made,
    }
}

/// The new name survives a power cut only once the folder is on the disk as well.
#[cfg(unix)]
fn settle(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn settle(_: &Path) -> io::Result<()> {
    Ok(())
}
