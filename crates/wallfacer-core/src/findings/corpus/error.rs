//! What can go wrong between a finding and the disk.

use std::io;
use std::path::PathBuf;

use crate::findings::FindingId;
use crate::repository::LinkError;

#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("cannot write the finding {id} to {}", path.display())]
    Write { id: FindingId, path: PathBuf, source: io::Error },
    #[error("{} is a symbolic link or no folder, and nothing is written through it; remove it", path.display())]
    NotAFolder { path: PathBuf },
    #[error("cannot read the folder {}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot remove {}", path.display())]
    Remove { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("`{prefix}` is not the beginning of an id, which has 16 hexadecimal digits")]
    NotAPrefix { prefix: String },
    #[error("no finding in {} begins with `{prefix}`; `wallfacer corpus list` shows what is there", path.display())]
    Unknown { prefix: String, path: PathBuf },
    #[error("`{prefix}` is the beginning of {}; write more digits", listed(candidates))]
    Ambiguous { prefix: String, candidates: Vec<FindingId> },
}

/// How many candidates are named; more would only fill the screen.
const MAX_LISTED: usize = 10;

fn listed(candidates: &[FindingId]) -> String {
    let shown: Vec<&str> = candidates.iter().take(MAX_LISTED).map(FindingId::as_str).collect();
    let rest = candidates.len() - shown.len();
    let shown = shown.join(", ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}
