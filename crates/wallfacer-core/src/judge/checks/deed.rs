//! One thing that a server did, as the kernel saw it: the files it names, and a line for people.

use std::ffi::OsString;
use std::path::PathBuf;

use wallfacer_process::trace::{Access, Address, Event, Kind, Location, Outcome};

/// What of one argument is shown.
const MAX_WORD: usize = 160;
/// Arguments of a program that are shown.
const MAX_WORDS: usize = 12;
/// What the kernel says of a connection that is begun by a program which does not wait for it.
const IN_PROGRESS: i32 = 115;

/// The files that it names.
pub fn paths(kind: &Kind) -> Vec<PathBuf> {
    match kind {
        Kind::Open { location, .. }
        | Kind::Unlink { location }
        | Kind::MakeDirectory { location }
        | Kind::RemoveDirectory { location }
        | Kind::MakeNode { location, .. }
        | Kind::ChangeMode { location, .. }
        | Kind::ChangeOwner { location, .. }
        | Kind::ChangeAttribute { location, .. }
        | Kind::Truncate { location, .. }
        | Kind::Symlink { location, .. } => vec![location.path()],
        Kind::Rename { from, to } | Kind::Link { from, to } => vec![from.path(), to.path()],
        Kind::Execute(program) => vec![program.location.path()],
        _ => Vec::new(),
    }
}

/// One line, as one would write the call.
pub fn line(event: &Event) -> String {
    let what = match &event.kind {
        Kind::Open { location, access } => format!("open({}, {})", place(location), mode(access)),
        Kind::Unlink { location } => format!("unlink({})", place(location)),
        Kind::Rename { from, to } => format!("rename({}, {})", place(from), place(to)),
        Kind::MakeDirectory { location } => format!("mkdir({})", place(location)),
        Kind::RemoveDirectory { location } => format!("rmdir({})", place(location)),
        Kind::Link { from, to } => format!("link({}, {})", place(from), place(to)),
        Kind::Symlink { target, location } => format!("symlink({}, {})", word(target), place(location)),
        Kind::Truncate { location, length } => format!("truncate({}, {length})", place(location)),
        Kind::Connect { address: Address::Inet(address), .. } => format!("connect({address})"),
        Kind::Execute(program) => {
            let words = program.arguments.iter().take(MAX_WORDS).map(word).collect::<Vec<_>>();
            format!("execve({}, [{}])", place(&program.location), words.join(", "))
        }
        other => paths(other).first().map_or_else(|| "a call".to_owned(), |path| format!("change({path:?})")),
    };
    match event.outcome {
        Outcome::Done(_) => what,
        Outcome::Failed(IN_PROGRESS) => format!("{what}, without waiting for it"),
        Outcome::Failed(error) => format!("{what} failed with error {error}"),
        Outcome::Refused(_) => format!("{what} was refused by the sandbox"),
        Outcome::Unfinished => format!("{what} was not finished"),
    }
}

/// The place that was found, and how it was asked for where that reads otherwise.
fn place(location: &Location) -> String {
    let found = location.path();
    match &location.asked {
        Some(asked) if !asked.is_empty() && found.as_os_str() != asked => {
            format!("{} as {}", word(&found.into_os_string()), word(asked))
        }
        _ => word(&found.into_os_string()),
    }
}

fn mode(access: &Access) -> &'static str {
    match (access.directory, access.write, access.create) {
        (true, ..) => "list",
        (_, true, true) => "write or make",
        (_, true, false) => "write",
        _ => "read",
    }
}

fn word(text: &OsString) -> String {
    let text: String = text.to_string_lossy().chars().take(MAX_WORD).collect();
    format!("{text:?}")
}
