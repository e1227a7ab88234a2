//! Writes the first files for a project: a configuration that loads and runs as it is, starter rules, a CI workflow.
//! Nothing that is already there is touched, and where one file is in the way none is written.

mod config;
mod project;
mod workflow;

use project::Project;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use wallfacer_core::repository::{Repository, read_text};
use wallfacer_core::target::{CONFIG_NAME, ClientFiles, Surroundings};

const RULES_NAME: &str = "invariants.yaml";
/// Files of a project that say how it is started are short.
const LONGEST: u64 = 4 * 1024 * 1024;
const RULES: &str = include_str!("invariants.yaml");
const IGNORE_NAME: &str = ".gitignore";
/// Findings may be kept in a repository; what runs leave may not.
const IGNORED: &str = "/.wallfacer/";
const WORKFLOW_NAME: &str = ".github/workflows/wallfacer.yml";

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer init       # wallfacer.toml and starter rules
  wallfacer init --ci  # a workflow for GitHub Actions too";

/// Write a first configuration for the server in this directory
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The server is reached over HTTP
    #[arg(long, conflicts_with = "stdio")]
    pub http: bool,
    /// The server is started and spoken to over its standard streams (the default)
    #[arg(long)]
    pub stdio: bool,
    /// Write a workflow for GitHub Actions too
    #[arg(long)]
    pub ci: bool,
    /// Write no starter rules
    #[arg(long)]
    pub skip_invariants: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum InitError {
    #[error("{} already there and init never overwrites: {advice}; nothing was written", are(files))]
    Exists { files: Vec<PathBuf>, advice: &'static str },
    #[error("cannot write `{}`: {source}; nothing was written", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// A file that is not there yet.
#[derive(Debug, PartialEq, Eq)]
struct FileToWrite {
    /// Relative to the directory.
    path: PathBuf,
    text: String,
    /// What it is good for, in a few words.
    meaning: String,
}

/// Writes the files; gives the words for what was written.
pub fn run(args: &Args, directory: &Path) -> Result<String, InitError> {
    // A variable stands for itself, so that what was a placeholder there is one here.
    let around = Surroundings { directory, home: None, variable: &|name| Some(format!("${{{name}}}")) };
    let read = |name: &str| read(&directory.join(name));
    let project = Project { read: &read, clients: &ClientFiles::read(&around), directory };
    let files = plan(&project, args);
    check_absent(&files, directory)?;
    write(&files, directory)?;
    let ignored = ignore(directory);
    Ok(words(&files, ignored))
}

/// Adds what runs leave to the files that git leaves alone, where there is a repository and nobody did. True where it
/// was added.
fn ignore(directory: &Path) -> bool {
    let path = directory.join(IGNORE_NAME);
    let there = read_text(&path, LONGEST);
    let known =
        |text: &str| text.lines().any(|line| line.trim().trim_matches('/') == IGNORED.trim_matches('/'));
    let is_repository = there.is_ok() || directory.join(".git").exists();
    let is_safe = Repository::around(directory).check_file(&path).is_ok();
    // A file that is there and cannot be read is not added to either: a pipe would keep us waiting.
    let is_unreadable = there.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::NotFound);
    if !is_repository || !is_safe || is_unreadable || there.as_deref().is_ok_and(known) {
        return false;
    }
    let before = there.as_deref().unwrap_or_default();
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let file = OpenOptions::new().append(true).create(true).open(&path);
    file.and_then(|mut file| file.write_all(format!("{gap}{IGNORED}\n").as_bytes())).is_ok()
}

/// The text of a file of the project, where it is not absurdly long.
fn read(path: &Path) -> Option<String> {
    read_text(path, LONGEST).ok()
}

fn plan(project: &Project<'_>, args: &Args) -> Vec<FileToWrite> {
    let server = project.server(args.http, args.stdio);
    let mut files = vec![FileToWrite {
        path: CONFIG_NAME.into(),
        text: config::text(&server),
        meaning: server.because.clone(),
    }];
    if !args.skip_invariants {
        let meaning = "rules that hold for any server; add your own";
        files.push(FileToWrite { path: RULES_NAME.into(), text: RULES.into(), meaning: meaning.into() });
    }
    if args.ci {
        let text = workflow::text(server.setup);
        let meaning = "tests the server on every push".into();
        files.push(FileToWrite { path: WORKFLOW_NAME.into(), text, meaning });
    }
    files
}

fn check_absent(files: &[FileToWrite], directory: &Path) -> Result<(), InitError> {
    // A link that leads nowhere is in the way as well.
    let there = |file: &&FileToWrite| directory.join(&file.path).symlink_metadata().is_ok();
    let files: Vec<_> = files.iter().filter(there).map(|file| file.path.clone()).collect();
    let advice = match files.as_slice() {
        [] => return Ok(()),
        [only] if only == Path::new(RULES_NAME) => "move it away or add --skip-invariants",
        [_] => "edit it or move it away",
        _ => "edit them or move them away",
    };
    Err(InitError::Exists { files, advice })
}

/// All files or none.
fn write(files: &[FileToWrite], directory: &Path) -> Result<(), InitError> {
    let repository = Repository::around(directory);
    for (done, file) in files.iter().enumerate() {
        let path = directory.join(&file.path);
        let reachable = repository.check_file(&path).map_err(io::Error::other);
        if let Err(source) = reachable.and_then(|()| create(&path, &file.text)) {
            for written in &files[..done] {
                // The error that stopped us is the one worth telling.
                let _ = std::fs::remove_file(directory.join(&written.path));
            }
            return Err(InitError::Write { path: file.path.clone(), source });
        }
    }
    Ok(())
}

fn create(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

fn words(files: &[FileToWrite], ignored: bool) -> String {
    let mut text = String::new();
    for file in files {
        // The names in it are the project's.
        let meaning = wallfacer_text::shown(&file.meaning);
        writeln!(text, "wrote {}: {meaning}", file.path.display()).expect("a string takes all text");
    }
    if ignored {
        text.push_str("added /.wallfacer/ to .gitignore: what runs leave is not for the repository\n");
    }
    text.push_str("next: `wallfacer check` tests the server for a minute\n");
    text
}

fn are(files: &[PathBuf]) -> String {
    let names: Vec<_> = files.iter().map(|file| format!("`{}`", file.display())).collect();
    format!("{} {}", names.join(" and "), if files.len() == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests;
