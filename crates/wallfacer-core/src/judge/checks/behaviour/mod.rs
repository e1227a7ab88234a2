//! Checks of what a server does against what it says: one file each. Without anyone watching they say nothing.

mod additive;
mod business;
mod closed;
mod idempotent;
mod planted;
mod read_only;
mod repository;
mod secrets;

pub use additive::TakesNothingAway;
pub use business::Business;
pub use closed::StaysInside;
pub use idempotent::ChangesOnce;
pub use planted::KeepsWhatIsPlanted;
pub use read_only::OnlyReads;
pub use secrets::LeavesSecretsAlone;

use crate::judge::watched::Watched;
use crate::judge::{Charge, Context};
use crate::observe::{Effects, Place, Touch, Whose};
use crate::plan::{Case, Declared, Subject};
use crate::run::{Recording, Taken};

/// Files and hosts that one sentence or one piece of evidence names.
const MAX_NAMED: usize = 5;

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

/// Files in words: the first few, each with what was done to it.
fn named<'a>(watched: &Watched, touches: impl IntoIterator<Item = &'a Touch>) -> String {
    let all: Vec<String> = touches.into_iter().map(|touch| watched.places.shown(&touch.path)).collect();
    listed(&all)
}

fn listed(all: &[String]) -> String {
    let shown = all.iter().take(MAX_NAMED).map(|each| format!("`{each}`")).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MAX_NAMED) {
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
