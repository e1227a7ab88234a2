//! Takes what a server left on its disk, so that the next one finds it there: each life in the sandbox has a disk of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wallfacer_process::Process;
use wallfacer_process::jail::{Changes, Effect, Entry, Plant};

/// What is carried over at most: servers that store more are not started again with it.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: usize = 64 << 20;
/// What interpreters keep beside code, and what nobody misses.
const CACHES: [&str; 3] = ["__pycache__", ".npm", "node-compile-cache"];

/// How files begin that can be run.
const PROGRAMS: [&[u8]; 2] = [b"\x7fELF", b"#!"];

/// The disk of one server, as plants for the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Carried {
    pub plants: BTreeMap<PathBuf, Plant>,
}

impl Carried {
    /// What is there now that was carried into the life before, and what that life has changed. An error says why it cannot
    /// be carried.
    pub fn and_left_by(mut self, process: &Process) -> Result<Carried, String> {
        // Without a disk of its own the next server finds everything anyway.
        let Some(changes) = process.changes() else { return Ok(self) };
        if changes.more || changes.changes.len() > MAX_FILES {
            return Err("it writes too many files".to_owned());
        }
        let mut bytes = 0;
        for change in changes.changes.iter().filter(|change| !is_cache(&change.path)) {
            match (change.effect, change.entry) {
                (Effect::Deleted, _) => drop(self.plants.remove(&change.path)),
                (_, Entry::Directory) => {
                    self.plants.entry(change.path.clone()).or_insert(Plant::Directory);
                }
                (_, Entry::File) => {
                    let Some(content) = written(process, &change.path) else { continue };
                    bytes += content.len();
                    if bytes > MAX_BYTES {
                        return Err("it writes too much".to_owned());
                    }
                    let executable = PROGRAMS.iter().any(|beginning| content.starts_with(beginning));
                    self.plants.insert(change.path.clone(), Plant::File { content, executable });
                }
                (_, Entry::Symlink | Entry::Special | Entry::Nothing) => {}
            }
        }
        Ok(self)
    }
}

/// The files that a server has written and that hold a text.
pub fn files_holding(process: &Process, text: &str) -> Vec<PathBuf> {
    const MAX_LOOKED_AT: u64 = 1 << 20;
    let changes: Changes = process.changes().unwrap_or_default();
    let files = changes.changes.into_iter().filter(|change| {
        change.entry == Entry::File && change.effect != Effect::Deleted && change.bytes <= MAX_LOOKED_AT
    });
    let holds = |path: &PathBuf| {
        let content = written(process, path).unwrap_or_default();
        content.windows(text.len().max(1)).any(|window| window == text.as_bytes())
    };
    files.map(|change| change.path).filter(holds).collect()
}

#[cfg(target_os = "linux")]
fn written(process: &Process, path: &Path) -> Option<Vec<u8>> {
    process.read_written(path, MAX_BYTES as u64 + 1).ok()
}

#[cfg(not(target_os = "linux"))]
fn written(_: &Process, _: &Path) -> Option<Vec<u8>> {
    None
}

fn is_cache(path: &Path) -> bool {
    path.iter().any(|name| CACHES.iter().any(|cache| name == *cache))
}
