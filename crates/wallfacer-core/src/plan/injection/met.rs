//! Remembers what of which argument was seen to work, so that nothing more is tried there.

use std::collections::BTreeSet;

use super::aim::Aim;
use crate::plan::case::Case;

/// The class of a path that leads out in the plainest way, which explains all others.
const OUTSIDE: &str = "path";

/// What was met so far: tool, argument, and class.
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
        let escapes =
            case.intent.injection().is_some_and(|injection| matches!(injection.aim, Aim::Reach { .. }));
        let outside = (tool, at, OUTSIDE);
        escapes && self.keys.contains(&outside) || self.keys.contains(&(outside.0, outside.1, class))
    }
}

fn key(case: &Case) -> Option<(String, String, &'static str)> {
    let injection = case.intent.injection()?;
    Some((case.subject.tool()?.to_owned(), injection.at.clone(), injection.aim.class()))
}
