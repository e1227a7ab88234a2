//! Findings are stored when they are made, then told: whoever kills a run loses nothing that they were told of.

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::target::Settings;

use super::output::Listeners;
use super::store::Store;

/// Stores each finding before the others hear of it.
#[derive(Debug)]
pub struct Keeping<'a> {
    pub store: &'a Store,
    pub settings: &'a Settings,
    pub listeners: Listeners,
}

impl Listener for Keeping<'_> {
    fn hear(&mut self, event: &Event<'_>) {
        if let Event::FindingMade { finding, replaces, .. } = event {
            let mut finding = (*finding).clone();
            let (kind, rule) = (finding.kind.name(), finding.kind.rule());
            let wanted = self.settings.severity(kind, rule, finding.tool.as_deref());
            finding.severity = wanted.unwrap_or(finding.severity);
            // All is stored once more at the end of the run, and what fails then is told.
            let _at_the_end = self.store.keep([&mut finding]);
            replaces.iter().for_each(|id| self.store.forget(id));
        }
        self.listeners.hear(event);
    }
}
