//! A tool that says it only reads must leave every file as it was. What is put into temporary directories does not
//! count, nor do logs and caches, nor what git writes down for itself when it looks. What a server makes for itself when
//! it is first used counts only if the same call goes on making things.

use super::{declared, deeds, lasts, named, with_files};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Observation, Place, Touch};
use crate::plan::Case;
use crate::run::Recording;
use crate::target::Severity;

pub struct OnlyReads;

/// Whether the last call is the one before it once more.
fn again(case: &Case) -> bool {
    matches!(&case.steps[..], [.., one, other] if one == other)
}

impl Check for OnlyReads {
    fn name(&self) -> &'static str {
        "only-reads"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, context: &Context) -> Verdict {
        let Some(says) = declared(case, context).and_then(|declared| declared.read_only.as_ref()) else {
            return Verdict::Holds;
        };
        let Some((watched, deeds)) = deeds(case, recording, context) else { return Verdict::Holds };
        let (mut written, mut gone): (Vec<&Touch>, Vec<&Touch>) = (Vec::new(), Vec::new());
        let last = deeds.len().saturating_sub(1);
        for (place, (_, effects)) in deeds.iter().enumerate() {
            let is_again = place == last && again(case);
            let counts =
                |touch: &&Touch| lasts(touch, effects) && (is_again || !effects.creates.contains(*touch));
            written.extend(effects.writes.iter().filter(counts));
            gone.extend(effects.deletes.iter().filter(|touch| lasts(touch, effects)));
        }
        let done = match (written.is_empty(), gone.is_empty()) {
            (true, true) => return Verdict::Holds,
            (false, _) => format!("wrote {}", named(watched, written.iter().copied())),
            (true, false) => format!("removed {}", named(watched, gone.iter().copied())),
        };
        let message = format!("it says {says}, and a call {done}");
        let cause = Cause::rule(self.name(), None);
        let mut charge = Charge::new(self.name(), Kind::UndeclaredBehaviour, cause, message);
        // What a program keeps for itself at home weighs less than what the user works with.
        let own = written.iter().chain(&gone).all(|touch| touch.place == Place::Home);
        charge.severity = own.then_some(Severity::Medium);
        Verdict::Broken(Box::new(with_files(charge, written.into_iter().chain(gone))))
    }
}
