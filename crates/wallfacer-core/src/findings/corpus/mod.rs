//! Stores [`Finding`]s as files and lists them again: `<corpus>/<subject>/<id>.json`, each whole or not there.
//!
//! There is no lock that a killed run could leave behind. A file comes into being under another name and is then moved
//! into place, so that readers and other runs see the old finding or the new one, and never half of one.

mod error;
pub(super) mod file;
pub(super) mod folder;
mod peer;
mod read;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::id::is_hexadecimal;
use super::{Finding, FindingId};
use crate::repository::Repository;

pub use error::CorpusError;
pub use read::{read_finding, read_findings};

/// More folders or files are not looked at, and said so: a corpus from elsewhere must not keep us busy for ever.
const MAX_FOLDERS: usize = 10_000;
const MAX_FILES: usize = 100_000;
/// What one listing reads. A finding takes a few thousand bytes.
const MAX_LISTED_BYTES: u64 = 1 << 30;
const ENDING: &str = ".json";

/// A folder of findings. It need not exist before something is written.
#[derive(Debug, Clone)]
pub struct Corpus {
    directory: PathBuf,
    /// Whose links are not followed.
    repository: Option<Repository>,
}

/// What is in a corpus.
#[derive(Debug, Default)]
pub struct Listing {
    /// In the order of their ids.
    pub findings: Vec<Finding>,
    pub unreadable: Vec<Unreadable>,
}

/// Something in a corpus that is no finding, and why. It never hides the others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreadable {
    pub path: PathBuf,
    pub why: String,
}

/// The files of a corpus by name, before any is read.
#[derive(Debug, Default)]
struct Inventory {
    files: BTreeSet<(FindingId, PathBuf)>,
    temporary: Vec<PathBuf>,
    unreadable: Vec<Unreadable>,
}

impl Corpus {
    pub fn new(directory: impl Into<PathBuf>) -> Corpus {
        Corpus { directory: directory.into(), repository: None }
    }

    /// The same in a repository, out of which no link is followed.
    pub fn within(self, repository: &Repository) -> Corpus {
        Corpus { repository: Some(repository.clone()), ..self }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where a finding goes.
    pub fn path(&self, finding: &Finding) -> PathBuf {
        self.directory.join(folder::folder(&finding.subject)).join(format!("{}{ENDING}", finding.id))
    }

    /// Stores a finding, from which the secrets were taken before. One of the same id is replaced; when it was first
    /// seen stays.
    pub fn write(&self, finding: &Finding) -> Result<PathBuf, CorpusError> {
        self.check()?;
        let path = self.path(finding);
        let before = file::read(&path).ok().map(|before| before.first_seen);
        let first_seen = before.filter(|before| !before.is_empty() && *before < finding.first_seen);
        match first_seen {
            Some(first_seen) => file::write(&path, &Finding { first_seen, ..finding.clone() })?,
            None => file::write(&path, finding)?,
        }
        Ok(path)
    }

    /// All findings, and beside them what could not be read.
    pub fn list(&self) -> Result<Listing, CorpusError> {
        let inventory = self.inventory()?;
        let mut listing = Listing { findings: Vec::new(), unreadable: inventory.unreadable };
        let mut room = MAX_LISTED_BYTES;
        for (id, path) in inventory.files {
            let found = file::size(&path).and_then(|size| room.checked_sub(size).ok_or_else(too_much));
            room = *found.as_ref().unwrap_or(&room);
            match found.and_then(|_| file::read(&path)) {
                // One finding may lie in two folders, where an older run named them otherwise.
                Ok(_) if listing.findings.last().is_some_and(|last: &Finding| last.id == id) => {}
                Ok(finding) => listing.findings.push(finding),
                Err(why) => listing.unreadable.push(Unreadable { path, why }),
            }
        }
        listing.unreadable.sort();
        Ok(listing)
    }

    /// The finding whose id begins so.
    pub fn find(&self, prefix: &str) -> Result<Finding, CorpusError> {
        if prefix.is_empty() || prefix.len() > 16 || !is_hexadecimal(prefix) {
            return Err(CorpusError::NotAPrefix { prefix: crate::wire::shortened(prefix, 40) });
        }
        let files = self.inventory()?.files;
        let found: Vec<_> = files.into_iter().filter(|(id, _)| id.as_str().starts_with(prefix)).collect();
        let candidates: BTreeSet<FindingId> = found.iter().map(|(id, _)| id.clone()).collect();
        if candidates.len() > 1 {
            return Err(CorpusError::Ambiguous {
                prefix: prefix.into(),
                candidates: candidates.into_iter().collect(),
            });
        }
        let mut why = None;
        for (_, path) in found {
            match file::read(&path) {
                Ok(finding) => return Ok(finding),
                Err(reason) => why = Some(CorpusError::Unreadable { path, why: reason }),
            }
        }
        Err(why.unwrap_or(CorpusError::Unknown { prefix: prefix.into(), path: self.directory.clone() }))
    }

    /// Takes a finding away; says whether it was there.
    pub fn remove(&self, id: &FindingId) -> Result<bool, CorpusError> {
        let files = self.inventory()?.files;
        let mut removed = false;
        for (_, path) in files.into_iter().filter(|(found, _)| found == id) {
            match fs::remove_file(&path) {
                Ok(()) => removed = true,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(CorpusError::Remove { path, source }),
            }
        }
        Ok(removed)
    }

    /// Takes away what killed runs left half written. Younger files may belong to a run that is still at work.
    pub fn clean(&self, now: SystemTime) -> Result<usize, CorpusError> {
        let left = self.inventory()?.temporary.into_iter().filter(|path| file::is_abandoned(path, now));
        // Another run may clean at the same time; what is gone is gone.
        Ok(left.filter(|path| fs::remove_file(path).is_ok()).count())
    }

    fn check(&self) -> Result<(), CorpusError> {
        let checked = self.repository.as_ref().map(|repository| repository.check_directory(&self.directory));
        Ok(checked.transpose().map(drop)?)
    }

    fn inventory(&self) -> Result<Inventory, CorpusError> {
        self.check()?;
        let mut inventory = Inventory::default();
        let folders = match names(&self.directory, MAX_FOLDERS, &mut inventory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(inventory),
            Err(source) => return Err(CorpusError::Folder { path: self.directory.clone(), source }),
            Ok(folders) => folders,
        };
        for folder in folders {
            match fs::symlink_metadata(&folder) {
                Ok(about) if about.is_dir() => self.look_into(&folder, &mut inventory),
                Ok(about) if about.is_symlink() => inventory.refuse(folder, "it is a symbolic link"),
                Ok(_) => {} // A file beside the folders is none of ours.
                Err(error) => inventory.refuse(folder, &error.to_string()),
            }
        }
        Ok(inventory)
    }

    fn look_into(&self, folder: &Path, inventory: &mut Inventory) {
        let room = MAX_FILES.saturating_sub(inventory.files.len());
        let paths = match names(folder, room, inventory) {
            Ok(paths) => paths,
            Err(error) => return inventory.refuse(folder.to_owned(), &error.to_string()),
        };
        for path in paths {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if file::is_temporary(name) {
                inventory.temporary.push(path);
            } else if let Some(stem) = name.strip_suffix(ENDING) {
                match FindingId::parse(stem) {
                    Ok(id) => drop(inventory.files.insert((id, path))),
                    Err(error) => inventory.refuse(path, &error.to_string()),
                }
            }
        }
    }
}

impl Inventory {
    fn refuse(&mut self, path: PathBuf, why: &str) {
        self.unreadable.push(Unreadable { path, why: why.to_owned() });
    }
}

fn too_much() -> String {
    format!("the findings before it are {} MiB", MAX_LISTED_BYTES >> 20)
}

/// What is in a folder, in order.
fn names(folder: &Path, most: usize, inventory: &mut Inventory) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        if paths.len() == most {
            inventory.refuse(folder.to_owned(), "there is more in it than is looked at");
            break;
        }
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests;
