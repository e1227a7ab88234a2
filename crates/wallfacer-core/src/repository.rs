//! Opens the files that wallfacer keeps in a repository, and follows no link that leads out of it: who checks out what
//! others wrote must not have their own files read or written over.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// No directory tree that people work in is deeper.
const MAX_PARENTS: usize = 64;
/// Far more than any file takes that is kept in a repository.
pub const MAX_BYTES: u64 = 64 << 20;

/// A directory in which somebody works, and the root of the repository around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    directory: PathBuf,
    root: PathBuf,
}

/// A link that is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is a symbolic link to `{}`, and links in a repository are not followed; remove it, or name the place itself",
    link.display(),
    target.display()
)]
pub struct LinkError {
    pub link: PathBuf,
    pub target: PathBuf,
}

impl Repository {
    /// The repository around an absolute directory. Where there is none, the directory stands for it.
    pub fn around(directory: &Path) -> Repository {
        let root = directories(directory).last().copied().unwrap_or(directory);
        Repository { directory: directory.to_owned(), root: root.to_owned() }
    }

    /// A directory below the root may be reached through links that stay below it. One that lies elsewhere was named by
    /// the user, who may mean a link.
    pub fn check_directory(&self, path: &Path) -> Result<(), LinkError> {
        let refused = self.links(path).into_iter().find(|link| !self.holds(link));
        refused.map_or(Ok(()), |link| Err(LinkError::new(link)))
    }

    /// The same for a file, which must be no link itself.
    pub fn check_file(&self, path: &Path) -> Result<(), LinkError> {
        let file = self.directory.join(path);
        let refused = self.links(path).into_iter().find(|link| *link == file || !self.holds(link));
        refused.map_or(Ok(()), |link| Err(LinkError::new(link)))
    }

    pub fn read(&self, path: &Path) -> io::Result<String> {
        self.check_file(path).map_err(io::Error::other)?;
        text(self.opened(path, OpenOptions::new().read(true))?, MAX_BYTES)
    }

    pub fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.check_file(path).map_err(io::Error::other)?;
        self.opened(path, OpenOptions::new().write(true).create(true).truncate(true))?
            .write_all(text.as_bytes())
    }

    fn opened(&self, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        let path = self.directory.join(path);
        match path.starts_with(&self.root) {
            true => open_unlinked(&path, options),
            false => options.open(path),
        }
    }

    /// The links on the way from the root to a path, as far as the way is there.
    fn links(&self, path: &Path) -> Vec<PathBuf> {
        let path = self.directory.join(path);
        let Ok(below) = path.strip_prefix(&self.root) else { return Vec::new() };
        let mut place = self.root.clone();
        let mut links = Vec::new();
        for part in below.components() {
            place.push(part);
            match fs::symlink_metadata(&place) {
                Ok(about) if about.is_symlink() => links.push(place.clone()),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        links
    }

    /// Whether a path leads to something below the root; a link that leads nowhere does not.
    pub fn holds(&self, link: &Path) -> bool {
        let (root, target) = (self.root.canonicalize(), link.canonicalize());
        root.is_ok_and(|root| target.is_ok_and(|target| target.starts_with(root)))
    }
}

impl LinkError {
    fn new(link: PathBuf) -> LinkError {
        let target = fs::read_link(&link).unwrap_or_default();
        LinkError { link, target }
    }
}

/// A directory and its parents, up to the one that holds `.git`. Outside of a repository it is the directory alone:
/// whoever can write to a shared parent must not choose what counts as ours.
pub fn directories(directory: &Path) -> Vec<&Path> {
    let up = || directory.ancestors().take(MAX_PARENTS);
    let root = up().position(|directory| directory.join(".git").exists());
    up().take(root.unwrap_or(0) + 1).collect()
}

/// The text of an ordinary file of at most so many bytes, wherever it lies.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    text(open_regular(path)?, most)
}

/// Opens an ordinary file to be read. Whoever made the files of a project may have put a pipe there, which would keep us
/// waiting, or a device that never ends.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    open_ordinary(path, OpenOptions::new().read(true), 0)
}

/// Opens a file that is no link, even where it became one a moment ago.
pub(crate) fn open_unlinked(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    return open_ordinary(path, options, libc::O_NOFOLLOW);
    #[cfg(not(unix))]
    open_ordinary(path, options, 0)
}

/// What was opened is looked at, not what lies there, so that nobody can exchange it in between.
fn open_ordinary(path: &Path, options: &mut OpenOptions, flags: i32) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags | libc::O_NONBLOCK | libc::O_NOCTTY);
    #[cfg(not(unix))]
    let _of_unix = flags;
    let file = options.open(path)?;
    match file.metadata()? {
        about if about.is_file() => Ok(file),
        about if about.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

fn text(file: File, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let message = format!("it is larger than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A repository `repo` beside a directory `out`, in which somebody works in `repo/sub`.
    fn place() -> (tempfile::TempDir, PathBuf, Repository) {
        let kept = tempfile::TempDir::new().unwrap();
        let root = kept.path().canonicalize().unwrap();
        for name in ["repo/.git", "repo/sub", "repo/other", "out"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("out/file"), "theirs").unwrap();
        let repository = Repository::around(&root.join("repo/sub"));
        (kept, root, repository)
    }

    #[test]
    fn a_file_behind_a_link_is_neither_read_nor_written() {
        let (_kept, root, repository) = place();
        symlink("../../out/file", root.join("repo/sub/a.lock")).unwrap();
        let path = Path::new("a.lock");
        let said = repository.write(path, "ours").unwrap_err().to_string();
        assert!(said.contains("repo/sub/a.lock` is a symbolic link to `../../out/file`"), "{said}");
        assert!(repository.read(path).is_err());
        let raced =
            open_unlinked(&root.join("repo/sub/a.lock"), OpenOptions::new().write(true).truncate(true));
        assert!(raced.is_err(), "one that came after the look is not followed either");
        assert_eq!(fs::read_to_string(root.join("out/file")).unwrap(), "theirs");
    }

    #[test]
    fn a_link_to_nowhere_is_not_followed_to_make_a_file_there() {
        let (_kept, root, repository) = place();
        symlink(root.join("out/new"), root.join("repo/sub/a.lock")).unwrap();
        assert!(repository.write(Path::new("a.lock"), "ours").is_err());
        assert!(!root.join("out/new").exists());
    }

    #[test]
    fn a_directory_is_reached_only_through_links_that_stay() {
        let (_kept, root, repository) = place();
        symlink("../other", root.join("repo/sub/inside")).unwrap();
        symlink(root.join("out"), root.join("repo/other/outside")).unwrap();
        assert_eq!(repository.check_directory(Path::new("inside/new")), Ok(()));
        repository.write(Path::new("inside/file"), "ours").unwrap();
        assert_eq!(repository.read(Path::new("inside/file")).unwrap(), "ours");
        let out = repository.check_directory(Path::new("inside/outside/x")).unwrap_err();
        assert_eq!(out.link, root.join("repo/sub/inside/outside"));
        assert!(repository.read(Path::new("inside/outside/file")).is_err());
    }

    #[test]
    fn what_lies_elsewhere_is_the_users_own_word() {
        let (_kept, root, repository) = place();
        symlink(root.join("out/file"), root.join("out/link")).unwrap();
        repository.write(&root.join("out/link"), "ours").unwrap();
        assert_eq!(fs::read_to_string(root.join("out/file")).unwrap(), "ours");
    }
}
