//! Makes a [`Finding`] of a [`Difference`] to the lock file.

use super::compare::Difference;
use crate::findings::{Cause, Evidence, Finding, Kind, Origin, Repro, Reproduced};

/// Comparing is what shows it again, so there is no case to replay.
const NO_CASE: &str = "it is a difference to the lock file; `wallfacer lock --check` shows it again";

/// One thing that is other than it was, of the server of this name.
pub fn drift(server: Option<&str>, difference: &Difference) -> Finding {
    let Difference { direction, subject, what, texts } = difference;
    let cause = Cause::rule("lock", Some(what));
    let origin = Origin::new(server, &Kind::Drift, subject, &cause);
    let message = format!("{} since it was locked: {what}", direction.as_str());
    let repro = Repro::NotReplayable { reason: NO_CASE.to_owned() };
    let shown = |label: &str, text: &str| Evidence { label: label.to_owned(), text: text.to_owned() };
    let texts = texts.iter().flat_map(|texts| [shown("before", &texts.before), shown("now", &texts.now)]);
    Finding {
        evidence: texts.collect(),
        reproduced: Reproduced { k: 1, n: 1 },
        references: Kind::Drift.about().references(),
        ..Finding::new(&origin, Kind::Drift, &message, repro)
    }
}
