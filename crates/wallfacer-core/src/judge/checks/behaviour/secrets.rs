//! Nobody asked the server for a secret of the user: to open a planted one, or a file that holds power over the machine,
//! is beyond anything that was declared. Clients that read the file made for them are told as observations.

use super::business::{Business, Said};
use super::{all_named, declared, deeds, is_asked_for, is_met_on_a_walk, said_in_all, with_files};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::judge::watched::Watched;
use crate::observe::{Effects, Observation, Place, Touch};
use crate::plan::{Case, Subject};
use crate::run::Recording;

pub struct LeavesSecretsAlone;

impl Check for LeavesSecretsAlone {
    fn name(&self) -> &'static str {
        "leaves-secrets-alone"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, context: &Context) -> Verdict {
        let Some((watched, deeds)) = deeds(case, recording, context) else { return Verdict::Holds };
        let in_all = said_in_all(context);
        let of_tool = declared(case, context).map_or("", |declared| &declared.described);
        let said = Said { of_tool, in_all: &in_all };
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
        let message = format!(
            "{when} {}, which nobody asked for",
            all_named(watched, touched.iter().map(|touch| touch.path.as_path()))
        );
        let cause = Cause::rule(self.name(), None);
        let mut charge = Charge::new(self.name(), Kind::UndeclaredBehaviour, cause, message);
        charge.way.clone_from(&charge.message);
        Verdict::Broken(Box::new(with_files(charge, touched)))
    }
}

/// Secrets that were touched, and are neither asked for by the call nor the business of anyone.
fn uncalled_for<'a>(
    case: &'a Case,
    effects: &'a Effects,
    said: &'a Said<'_>,
    watched: &'a Watched,
) -> impl Iterator<Item = &'a Touch> {
    let mut with_background = Effects::default();
    with_background.connects.clone_from(&effects.connects);
    with_background.programs = effects.programs.iter().chain(&watched.programs).cloned().collect();
    effects.secrets().filter(move |touch| {
        !is_asked_for(case, &touch.path, watched)
            && Business::of(&touch.path, said, &with_background).is_none()
            && !is_met_on_a_walk(&touch.path, effects)
            && !is_of_the_project(case, touch, watched)
    })
}

/// Settings are looked for at the start, where the server is started and from there upwards; where that leads through
/// home, its `.env` is met. What was read then may be read again.
fn is_of_the_project(case: &Case, touch: &Touch, watched: &Watched) -> bool {
    let places = &watched.places;
    let upwards = places.working_directory.starts_with(touch.path.parent().unwrap_or(&touch.path));
    let starts = case.subject == Subject::Server;
    touch.place == Place::Canary
        && touch.path.ends_with(".env")
        && upwards
        && (starts
            || watched.noise.was_read_before_all(&touch.path)
            || touch.path.parent() == Some(&places.home))
}
