//! Runs on disk: one directory each below `.wallfacer/runs`, for reports of another format, comparisons and trends.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wallfacer_core::findings::Redaction;
use wallfacer_core::report::{Document, written};
use wallfacer_core::repository::{Repository, read_text};

use crate::exit::{Exit, Failure, without_number};

/// The file in the directory of a run.
const FILE: &str = "run.json";
/// Runs that are kept; the oldest go.
const MOST_RUNS: usize = 50;
/// A longer document is not kept, and not read.
const LONGEST: u64 = 64 * 1024 * 1024;

/// A place for runs.
#[derive(Debug)]
pub struct Runs<'a> {
    directory: &'a Path,
}

impl<'a> Runs<'a> {
    pub fn new(directory: &'a Path) -> Runs<'a> {
        Runs { directory }
    }

    /// Where runs go that belong to a corpus: `.wallfacer/runs` beside `.wallfacer/corpus`.
    pub fn beside(corpus: &Path) -> PathBuf {
        // A bare name has no directory that could be looked into for links.
        let corpus = std::path::absolute(corpus).unwrap_or_else(|_| corpus.to_owned());
        match corpus.file_name().map(|name| name.to_string_lossy()) {
            Some(name) if name != "corpus" => corpus.with_file_name(format!("{name}-runs")),
            _ => corpus.with_file_name("runs"),
        }
    }

    /// The name of a run, with a number behind it where several began in one second.
    pub fn name_of(document: &Document) -> String {
        let started: String = document.run.started.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{started}-{}", document.run.command)
    }

    /// Keeps a run without secrets; gives its name.
    pub fn keep(&self, document: &Document, redaction: &Redaction) -> io::Result<String> {
        let text = redaction.of(&written(&document.value()));
        if text.len() as u64 > LONGEST {
            return Err(io::Error::other("it is too large"));
        }
        let repository = Repository::around(self.directory);
        repository.check_directory(self.directory).map_err(io::Error::other)?;
        let plain = Runs::name_of(document);
        let id = (1..)
            .map(|number| if number == 1 { plain.clone() } else { format!("{plain}-{number}") })
            .find(|id| !self.directory.join(id).exists())
            .expect("some number is free");
        let folder = self.directory.join(&id);
        create_private(&folder)?;
        repository.write(&folder.join(FILE), &text)?;
        self.forget_oldest();
        Ok(id)
    }

    /// The names of all runs, the oldest first: a name begins with the time.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory).into_iter().flatten().flatten();
        // A link leads to what is somebody else's, as does a name that we do not give: the oldest are taken away.
        let runs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let runs = runs.filter(|entry| entry.path().join(FILE).is_file());
        let mut names: Vec<String> = runs.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| begins_with_a_time(name));
        names.sort();
        names
    }

    /// A run by its name or the beginning of it, by the path of a document, or the latest.
    pub fn find(&self, wanted: Option<&str>) -> Result<(String, Document), Failure> {
        let names = self.names();
        let Some(wanted) = wanted else {
            let latest = names.last().ok_or_else(|| {
                let place = self.directory.display();
                failed(format!(
                    "no run is kept in `{place}`; run `wallfacer check` first, or name a JSON report"
                ))
            })?;
            return self.read(latest);
        };
        let fitting: Vec<&String> = names.iter().filter(|name| name.starts_with(wanted)).collect();
        match fitting.as_slice() {
            [only] => self.read(only),
            _ if names.iter().any(|name| name == wanted) => self.read(wanted),
            [] if Path::new(wanted).is_file() => Ok((wanted.to_owned(), read(Path::new(wanted))?)),
            [] => Err(failed(format!(
                "there is no run `{wanted}`, and no such file; `wallfacer report --list` shows the runs"
            ))),
            several => {
                let names = several.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
                Err(failed(format!("several runs begin with `{wanted}`: {names}")))
            }
        }
    }

    fn read(&self, name: &str) -> Result<(String, Document), Failure> {
        let path = self.directory.join(name).join(FILE);
        let repository = Repository::around(self.directory);
        Ok((name.to_owned(), document(&path, repository.read(&path))?))
    }

    /// All runs that can be read, the oldest first.
    pub fn all(&self) -> Vec<(String, Document)> {
        self.names().iter().filter_map(|name| self.read(name).ok()).collect()
    }

    /// Takes away what is more than is kept; nothing hangs on it.
    fn forget_oldest(&self) {
        let names = self.names();
        for name in &names[..names.len().saturating_sub(MOST_RUNS)] {
            let folder = self.directory.join(name);
            let _next_time = fs::remove_file(folder.join(FILE)).and_then(|()| fs::remove_dir(folder));
        }
    }
}

/// As in `20260101T120000Z-check`.
fn begins_with_a_time(name: &str) -> bool {
    const LIKE: &[u8] = b"00000000T000000Z-";
    let fits = |(is, like): (u8, &u8)| if *like == b'0' { is.is_ascii_digit() } else { is == *like };
    name.len() > LIKE.len() && name.bytes().zip(LIKE).all(fits)
}

/// The run that a file holds.
pub fn read(path: &Path) -> Result<Document, Failure> {
    document(path, read_text(path, LONGEST))
}

/// The run that stands in a file, which may be anybody's.
fn document(path: &Path, text: io::Result<String>) -> Result<Document, Failure> {
    let shown = path.display();
    let text = text
        .map_err(|error| failed(format!("cannot read `{shown}`: {}", without_number(&error.to_string()))))?;
    Document::read(&text)
        .map_err(|error| failed(format!("`{shown}` is not the JSON report of a run: {error}")))
}

/// Makes a directory that is its owner's alone, as that of the findings is.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn failed(message: String) -> Failure {
    Failure { exit: Exit::Usage, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_lie_beside_the_corpus_they_belong_to() {
        assert_eq!(Runs::beside(Path::new("/a/.wallfacer/corpus")), Path::new("/a/.wallfacer/runs"));
        assert_eq!(Runs::beside(Path::new("/a/found")), Path::new("/a/found-runs"));
    }

    #[test]
    fn only_what_we_keep_ourselves_is_taken_away_when_there_is_too_much_of_it() {
        let place = tempfile::tempdir().unwrap();
        let others = place.path().join("others");
        let runs = place.path().join("runs");
        for folder in [&others, &runs.join("experiment-1")] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(FILE), "theirs").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(&others, runs.join("00000000T000000Z-check")).unwrap();
        for number in 0..MOST_RUNS + 2 {
            let folder = runs.join(format!("20260101T0000{number:02}Z-check"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(FILE), "ours").unwrap();
        }
        Runs::new(&runs).forget_oldest();
        assert_eq!(Runs::new(&runs).names().len(), MOST_RUNS);
        assert!(!runs.join("20260101T000000Z-check").exists());
        assert!(others.join(FILE).exists() && runs.join("experiment-1").join(FILE).exists());
    }
}
