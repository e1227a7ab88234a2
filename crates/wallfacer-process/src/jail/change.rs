//! What a server did to files: plain data for whoever judges it.

use std::path::PathBuf;

/// What is different from the world before the server was started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// In the order of their paths.
    pub changes: Vec<Change>,
    /// There were more, which are not told.
    pub more: bool,
    /// Directories that the server made unreadable.
    pub unreadable: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: PathBuf,
    pub effect: Effect,
    pub entry: Entry,
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Created,
    /// The content is other than before.
    Modified,
    /// Mode, owner or times are other than before, or it was opened for writing; the content is the same.
    Touched,
    Deleted,
    /// Something else is there under the same name; for a directory, all that was in it is gone.
    Replaced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    File,
    Directory,
    Symlink,
    /// A socket, a pipe or a device.
    Special,
    /// It was deleted.
    Nothing,
}
