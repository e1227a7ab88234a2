//! Remembers what of which argument was seen to work, so that nothing more is tried there.

use std::collections::BTreeSet;

use super::aim::Aim;
use crate::plan::case::Case;

/// The class of a path that leads out in the plainest way, which explains all others.
const OUTSIDE: &str = "path";
/// The class of a command that is run, which explains paths and options.
const COMMAND: &str = "command";

/// What was met so far: tool or resource, argument, and class.
#[derive(Debug, Clone, Default)]
pub struct Met {
    keys: BTreeSet<(String, String, &'static str)>,
}

impl Met {
    pub fn add(&mut self, case: &Case) {
        self.keys.extend(key(case));
    }

    /// Whether a case would show the same again, or something that is explained by what was seen.
    pub fn explains(&self, case: &Case) -> bool {
        let Some((tool, at, class)) = key(case) else { return false };
        let aim = case.intent.injection().map(|injection| &injection.aim);
        let escapes = matches!(aim, Some(Aim::Reach { .. }));
        let is_met = |class| self.keys.contains(&(tool.clone(), at.clone(), class));
        // Whoever runs any command reads any file, and passes any option.
        let runs = (escapes || matches!(aim, Some(Aim::Pass { .. }))) && is_met(COMMAND);
        runs || escapes && is_met(OUTSIDE) || is_met(class)
    }
}

fn key(case: &Case) -> Option<(String, String, &'static str)> {
    let injection = case.intent.injection()?;
    Some((case.subject.name()?.to_owned(), injection.at.clone(), injection.aim.class()))
}
