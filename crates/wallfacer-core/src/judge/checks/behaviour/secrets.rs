//! Nobody asked the server for a secret of the user: to open a planted one, or a file that holds power over the machine,
//! is beyond anything that was declared. Clients that read the file made for them are told as observations.

use std::path::Path;

use super::business::Business;
use super::{declared, deeds, named, with_files};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::judge::watched::Watched;
use crate::observe::{Effects, Observation, Place, Touch};
use crate::plan::{Case, Step};
use crate::run::Recording;

pub struct LeavesSecretsAlone;

impl Check for LeavesSecretsAlone {
    fn name(&self) -> &'static str {
        "leaves-secrets-alone"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, context: &Context) -> Verdict {
        let Some((watched, deeds)) = deeds(case, recording, context) else { return Verdict::Holds };
        let said = declared(case, context).map_or("", |declared| &declared.said);
        let said = format!("{said} {}", context.server_said);
        let mut touched: Vec<&Touch> = Vec::new();
        for (_, effects) in &deeds {
            touched.extend(uncalled_for(case, effects, &said, watched));
        }
        if touched.is_empty() {
            return Verdict::Holds;
        }
        touched.sort();
        touched.dedup();
        let when = match case.subject.name() {
            Some(_) => "a call opened",
            None if recording.steps.first().is_some_and(|first| first.method == "start") => {
                "the server opened, at its start,"
            }
            None => "the server opened, by itself,",
        };
        let message = format!("{when} {}, which nobody asked for", named(watched, touched.iter().copied()));
        let cause = Cause::rule(self.name(), None);
        let charge = Charge::new(self.name(), Kind::UndeclaredBehaviour, cause, message);
        Verdict::Broken(Box::new(with_files(charge, touched)))
    }
}

/// Secrets that were touched, and are neither asked for by the call nor the business of anyone.
fn uncalled_for<'a>(
    case: &'a Case,
    effects: &'a Effects,
    said: &'a str,
    watched: &'a Watched,
) -> impl Iterator<Item = &'a Touch> {
    effects.secrets().filter(move |touch| {
        !is_asked_for(case, &touch.path)
            && Business::of(&touch.path, said, effects).is_none()
            && !is_of_the_project(touch, watched)
    })
}

/// The names of the last two parts of a path, as a call may write them.
fn is_asked_for(case: &Case, path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    case.steps.iter().any(|step| match step {
        Step::Call { params, .. } | Step::Many { params, .. } => {
            serde_json::to_string(params).is_ok_and(|sent| !name.is_empty() && sent.contains(&name))
        }
        _ => false,
    })
}

/// Settings are looked for from the working directory upwards; where that leads through home, its `.env` is met.
fn is_of_the_project(touch: &Touch, watched: &Watched) -> bool {
    let places = &watched.places;
    touch.place == Place::Canary
        && touch.path.ends_with(".env")
        && places.working_directory.starts_with(&places.home)
}
