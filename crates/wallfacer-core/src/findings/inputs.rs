//! Stores [`Input`]s that brought news, and reads them again: `<directory>/<tool>/<hash>.json`, each whole or not
//! there. An input that holds a secret is not stored.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::corpus::{Unreadable, file, folder};
use super::redaction::Redaction;
use crate::plan::{Input, Subject};
use crate::repository::{LinkError, Repository};

/// More tools, or inputs of one tool, are not looked at: a folder from elsewhere must not keep us busy for ever.
const MAX_FOLDERS: usize = 1_000;
const MAX_FILES: usize = 256;
/// What a file may take; inputs that are kept are far smaller.
const MAX_FILE_BYTES: u64 = 256 << 10;
/// Names of one folder that are looked at before the first of them are chosen.
const MAX_NAMES: usize = 10_000;
const ENDING: &str = "json";

/// A folder of inputs that brought news. It need not exist before something is written.
#[derive(Debug, Clone)]
pub struct InputStore {
    directory: PathBuf,
    /// Whose links are not followed.
    repository: Option<Repository>,
}

/// What earlier runs kept.
#[derive(Debug, Default)]
pub struct KnownInputs {
    /// By tool, in the order of their names on disk.
    pub inputs: Vec<Input>,
    /// What is no input, and why. It never hides the others.
    pub unreadable: Vec<Unreadable>,
}

/// Why inputs could not be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum InputsError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("cannot read the inputs in {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot keep an input in {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} is a symbolic link or no folder, and nothing is written through it; remove it", path.display())]
    NotAFolder { path: PathBuf },
}

impl InputStore {
    pub fn new(directory: impl Into<PathBuf>) -> InputStore {
        InputStore { directory: directory.into(), repository: None }
    }

    /// The same in a repository, out of which no link is followed.
    pub fn within(self, repository: &Repository) -> InputStore {
        InputStore { repository: Some(repository.clone()), ..self }
    }

    /// The inputs that earlier runs kept.
    pub fn read(&self) -> Result<KnownInputs, InputsError> {
        self.check()?;
        let failed = |source| InputsError::Read { path: self.directory.clone(), source };
        let mut known = KnownInputs::default();
        let folders = match names(&self.directory, MAX_FOLDERS) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(known),
            folders => folders.map_err(failed)?,
        };
        for folder in folders.into_iter().filter(|folder| is_folder(folder)) {
            match names(&folder, MAX_FILES) {
                Ok(files) => files.into_iter().for_each(|file| known.take(file)),
                Err(error) => known.unreadable.push(Unreadable { path: folder, why: error.to_string() }),
            }
        }
        Ok(known)
    }

    /// Keeps an input; says whether it may be kept.
    pub fn write(&self, input: &Input, redaction: &Redaction) -> Result<bool, InputsError> {
        let text = serde_json::to_string_pretty(input).expect("an input is plain data");
        let text = format!("{}\n", wallfacer_text::json(&text));
        if redaction.text(&text) != text {
            return Ok(false);
        }
        self.check()?;
        let folder = self.folder(&input.tool);
        let failed = |source| InputsError::Write { path: folder.clone(), source };
        if !file::prepare(&folder).map_err(failed)? {
            return Err(InputsError::NotAFolder { path: folder });
        }
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let path = folder.join(format!("{}.{ENDING}", &hash[..16]));
        file::put(&path, text.as_bytes()).map_err(failed)?;
        Ok(true)
    }

    fn check(&self) -> Result<(), InputsError> {
        let checked = self.repository.as_ref().map(|repository| repository.check_directory(&self.directory));
        Ok(checked.transpose().map(drop)?)
    }

    fn folder(&self, tool: &str) -> PathBuf {
        self.directory.join(folder_of(tool))
    }
}

impl KnownInputs {
    fn take(&mut self, path: PathBuf) {
        match read(&path) {
            Ok(input) => self.inputs.push(input),
            Err(why) => self.unreadable.push(Unreadable { path, why }),
        }
    }
}

fn read(path: &Path) -> Result<Input, String> {
    if file::size(path)? > MAX_FILE_BYTES {
        return Err(format!("it is larger than {} KiB", MAX_FILE_BYTES >> 10));
    }
    let input =
        Input::deserialize(&file::json(path)?).map_err(|error| format!("it is not an input: {error}"))?;
    let lies_right = path.parent().is_some_and(|parent| parent.ends_with(folder_of(&input.tool)));
    lies_right.then_some(input).ok_or_else(|| "it is an input of another tool".to_owned())
}

fn folder_of(tool: &str) -> String {
    folder::folder(&Subject::Tool(tool.to_owned()))
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// The folders and files of inputs in a folder, in order; what is still being written is none.
fn names(folder: &Path, most: usize) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.take(MAX_NAMES).collect::<io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING) || is_folder(path));
    paths.sort();
    paths.truncate(most);
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Secrets;
    use serde_json::{Value, json};

    fn input(arguments: Value) -> Input {
        Input { tool: "search".to_owned(), arguments: arguments.as_object().cloned().unwrap() }
    }

    fn store() -> (tempfile::TempDir, InputStore) {
        let place = tempfile::TempDir::new().unwrap();
        let store = InputStore::new(place.path().join("inputs"));
        (place, store)
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let (_place, store) = store();
        assert!(store.read().unwrap().inputs.is_empty(), "a folder that is not there is empty");
        let kept = input(json!({ "q": "x".repeat(5_000), "n": [1, null] }));
        for _ in 0..2 {
            assert!(store.write(&kept, &Redaction::default()).unwrap());
        }
        let known = store.read().unwrap();
        assert_eq!((known.inputs, known.unreadable.len()), (vec![kept], 0));
    }

    #[test]
    fn an_input_that_holds_a_secret_is_not_stored() {
        let (_place, store) = store();
        let mut secrets = Secrets::default();
        secrets.add("token", "tok-4f9a8b7c6d5e4f3a");
        let redaction = Redaction::new(secrets);
        let kept = store.write(&input(json!({ "q": "my tok-4f9a8b7c6d5e4f3a" })), &redaction).unwrap();
        assert!(!kept && store.read().unwrap().inputs.is_empty());
    }

    #[test]
    fn one_unreadable_file_hides_no_other() {
        let (_place, store) = store();
        let kept = input(json!({ "q": 1 }));
        store.write(&kept, &Redaction::default()).unwrap();
        let folder = store.folder("search");
        let foreign = serde_json::to_string(&Input { tool: "other".to_owned(), ..kept.clone() }).unwrap();
        for (name, text) in [("0.json", "{"), ("1.json", "[]"), ("2.json", &foreign), ("note.txt", "x")] {
            fs::write(folder.join(name), text).unwrap();
        }
        let known = store.read().unwrap();
        assert_eq!(known.inputs, [kept]);
        let why: Vec<&str> = known.unreadable.iter().map(|unreadable| unreadable.why.as_str()).collect();
        assert!(why[0].starts_with("it is not JSON") && why[1].starts_with("it is not an input"), "{why:?}");
        assert_eq!(why[2], "it is an input of another tool");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_kept_is_for_its_owner_alone_and_not_written_through_a_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (place, store) = store();
        let kept = input(json!({ "q": 1 }));
        store.write(&kept, &Redaction::default()).unwrap();
        let files: Vec<_> = fs::read_dir(store.folder("search")).unwrap().map(Result::unwrap).collect();
        assert_eq!(files.len(), 1, "nothing is left beside it");
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        symlink(place.path(), store.folder("other")).unwrap();
        let elsewhere = Input { tool: "other".to_owned(), ..kept };
        let error = store.write(&elsewhere, &Redaction::default()).unwrap_err().to_string();
        assert!(error.contains("is a symbolic link"), "{error}");
    }
}
