//! What every command does with a run once its session is done: weigh the findings, store them, and say how it ended.

use wallfacer_core::stop::Reason;
use wallfacer_core::summary::{Note, Run};
use wallfacer_core::target::Settings;

use super::store::Store;
use crate::interruption::Watch;
use crate::terminal;

/// Weighs and stores what was found, and tells what became of it.
pub fn settle(run: &mut Run, settings: &Settings, store: &Store, watch: &Watch) {
    run.weigh(settings);
    (run.timeline, run.keep_in) = (store.timeline(), Some(store.runs().to_owned()));
    store.keep(run.findings.iter_mut().chain(&mut run.flaky));
    store.clean();
    if let Some(reason) = watch.stop().reason() {
        tell_ending(run, reason, store);
    } else {
        tell_unstored(run, store);
    }
}

/// Says that a run was ended from outside, and where what it found by then is kept.
pub fn tell_ending(run: &mut Run, reason: Reason, store: &Store) {
    if reason == Reason::Interrupted {
        run.interrupt();
    }
    tell_unstored(run, store);
    if !run.findings.is_empty() && store.trouble().is_none() {
        let text = format!("what was found so far is kept in {}", store.place());
        run.notes.push(Note { tool: None, text });
    }
}

/// Says once why findings could not be stored; the report has them all the same.
fn tell_unstored(run: &mut Run, store: &Store) {
    if let Some(trouble) = store.trouble() {
        let text = format!("what was found is not kept: {trouble}; `--corpus DIR` names another place");
        terminal::note(&text);
        run.notes.push(Note { tool: None, text });
    }
}
