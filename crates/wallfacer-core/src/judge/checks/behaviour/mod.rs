//! Checks of what a server does against what it says: one file each. Without anyone watching they say nothing.

mod additive;
mod business;
mod closed;
mod idempotent;
mod planted;
mod read_only;
mod repository;
mod secrets;
mod sent;

pub use additive::TakesNothingAway;
pub use business::{Business, Said};
pub use closed::StaysInside;
pub use idempotent::ChangesOnce;
pub use planted::KeepsWhatIsPlanted;
pub use read_only::OnlyReads;
pub use secrets::LeavesSecretsAlone;

use std::path::{Component, Path, PathBuf};

use crate::judge::watched::Watched;
use crate::judge::{Charge, Context};
use crate::observe::{Effects, Place, Touch, Whose};
use crate::plan::{Case, Declared, Step, Subject, places};
use crate::run::{Recording, Taken};

/// Files and hosts that one sentence or one piece of evidence names.
const MAX_NAMED: usize = 5;
/// Secrets that one sentence names: as many as are planted, and more.
const MAX_SECRETS: usize = 32;

/// What the calls of a case did, one after another; for a case about the server as a whole, what it did besides too.
fn deeds<'a>(
    case: &Case,
    recording: &'a Recording,
    context: &'a Context,
) -> Option<(&'a Watched, Vec<(&'a Taken, Effects)>)> {
    let watched = context.watched.as_ref()?;
    let of_server = case.subject == Subject::Server;
    let mut all = Vec::new();
    for taken in &recording.steps {
        let mut effects = watched.effects(taken, Whose::Call)?;
        if of_server {
            effects.add(&watched.effects(taken, Whose::Background)?);
        }
        all.push((taken, effects));
    }
    Some((watched, all))
}

/// What the tool of a case says of itself.
fn declared<'a>(case: &Case, context: &'a Context) -> Option<&'a Declared> {
    context.tools.get(case.tool_name()?).map(|facts| &facts.declared)
}

/// All that is described, which clients may go by: what each tool does, and what the server says of itself.
fn said_in_all(context: &Context) -> String {
    let tools = context.tools.values().map(|facts| facts.declared.described.as_str());
    tools.chain([context.server_said.as_str()]).collect::<Vec<_>>().join(" ")
}

/// Whether a call was given this file: its whole path, its name and that of its directory, its name alone as one value,
/// or a directory that it lies in.
fn is_asked_for(case: &Case, path: &Path, watched: &Watched) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let above = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let both = format!("{above}/{name}");
    let asks = |value: &str| {
        let whole = watched.places.working_directory.join(value.trim_start_matches("file://"));
        let within =
            !value.is_empty() && (value.contains('/') || value == ".") && path.starts_with(tidy(&whole));
        value == name || value.contains(&both) || within
    };
    case.steps.iter().filter_map(Step::request).any(|(_, params)| {
        let given = params.iter().filter(|(key, _)| *key != "name" || params.get("arguments").is_none());
        given.into_iter().any(|(_, value)| places(value).iter().any(|place| asks(&place.value)))
    })
}

/// Without `.` and `..`.
fn tidy(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut tidied, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(tidied.pop()),
            part => tidied.push(part),
        }
        tidied
    })
}

/// Whether it was met on a walk through its directory, as searches and indexes take one: nobody was after it.
fn is_met_on_a_walk(path: &Path, effects: &Effects) -> bool {
    path.parent().is_some_and(|directory| effects.walked.contains(directory))
}

/// Files in words: the first few, each with what was done to it.
fn named<'a>(watched: &Watched, touches: impl IntoIterator<Item = &'a Touch>) -> String {
    let all: Vec<String> = touches.into_iter().map(|touch| watched.places.shown(&touch.path)).collect();
    listed(&all)
}

/// The same for secrets, of which each counts.
fn all_named<'a>(watched: &Watched, paths: impl IntoIterator<Item = &'a Path>) -> String {
    let all: Vec<String> = paths.into_iter().map(|path| watched.places.shown(path)).collect();
    listed_up_to(&all, MAX_SECRETS)
}

fn listed(all: &[String]) -> String {
    listed_up_to(all, MAX_NAMED)
}

fn listed_up_to(all: &[String], most: usize) -> String {
    let shown = all.iter().take(most).map(|each| format!("`{each}`")).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The deeds behind a charge, as the kernel saw them.
fn with_files<'a>(charge: Charge, touches: impl IntoIterator<Item = &'a Touch>) -> Charge {
    let lines: Vec<String> =
        touches.into_iter().take(MAX_NAMED).map(|touch| touch.path.display().to_string()).collect();
    charge.with("files", lines.join("\n"))
}

/// Whether a change there lasts, and is of more than the server's own bookkeeping.
fn lasts(touch: &Touch, effects: &Effects) -> bool {
    touch.place != Place::Temporary && !repository::is_looked_at(&touch.path, effects)
}
