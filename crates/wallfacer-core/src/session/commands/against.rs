//! `differential --against`: holds one server against another.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::event::{Event, Listener};
use crate::judge::Context;
use crate::place::Pattern;
use crate::session::agenda::{Budget, Selection, Wishes};
use crate::session::lab::Pair;
use crate::session::look::{schemas, tell_connected};
use crate::session::options::{FuzzError, FuzzOptions};
use crate::session::probes::Notebook;
use crate::session::probes::against::{Book, Comparison};
use crate::session::probes::fuzz::plan;
use crate::session::prove::{Proven, Prover};
use crate::stop::Stopped;
use crate::summary::Fuzzed;
use crate::wire::{Connector, shortened};

/// Letters of a name that are told.
const SHOWN: usize = 80;

/// Holds one server against another, but for the places that are to be ignored.
pub fn against(
    here: Connector,
    there: Connector,
    options: &FuzzOptions,
    ignore: &[Pattern],
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    let target = here.target().shown();
    listener.hear(&Event::Connecting { target: &target });
    let mut pair = runtime.block_on(options.stop.unless(Pair::open(here, there, options.seed)))??;
    let server = pair.here.server.clone();
    let catalogue = Arc::new(pair.here.catalogue.clone());
    let schemas = Arc::new(schemas(&catalogue));
    let mut notebook = Notebook::new(Prover::new(&server, &catalogue, &schemas, options.seed));
    let mut selection = Selection::new(&catalogue, &server, Wishes::from(options));
    tell_other(&mut notebook, &pair);
    let context = Arc::new(Context::new(&catalogue, server.protocol));
    leave_out(&mut selection, &pair, &context);
    notebook.not_tested.extend(selection.left_out.clone());
    let mut planner = plan(options, &selection, &mut notebook);
    let budget = Budget::new(started, options.budget);
    let mut book = Book { notebook, schemas, context, budget, stop: options.stop.clone() };
    let mut comparison = Comparison {
        selection: &selection,
        seed: options.seed,
        typed: ignore,
        volatile: BTreeMap::new(),
        known: BTreeMap::new(),
        silences: BTreeMap::new(),
    };
    tell_connected(&server, listener);
    let listings = comparison.listings(&mut pair, &mut book, listener);
    runtime.block_on(options.stop.unless(listings)).unwrap_or_else(|Stopped| Ok(()))?;
    let mut complete = false;
    while !book.is_over() {
        let Some(round) = planner.next_round() else {
            complete = true;
            break;
        };
        let phase = format!("{:?}", round.phase).to_lowercase();
        listener.hear(&Event::RoundBegun { phase: &phase, cases: round.cases.len() });
        let made = comparison.round(&round.cases, &mut pair, &mut book, &mut planner, listener);
        runtime.block_on(options.stop.unless(made)).unwrap_or_else(|Stopped| Ok(()))?;
        let calls = book.notebook.summary.calls;
        listener.hear(&Event::RoundDone { phase: &phase, calls, suspicions: 0, suspected: &[] });
    }
    comparison.tell_volatile(&mut book);
    let mut notebook = book.notebook;
    if !complete {
        notebook.leave_out("the rest of the plan", options.stop.why());
    }
    let Notebook { prover, summary, tools, not_tested, judged, .. } = notebook;
    let Proven { findings, flaky, notes, tokens, .. } = prover.finish();
    Ok(Fuzzed {
        target,
        server,
        seed: options.seed,
        took: started.elapsed(),
        lives: pair.lives(),
        summary,
        tools,
        latencies: Default::default(),
        findings,
        flaky,
        notes: notes.into_iter().collect(),
        not_tested: not_tested.into_iter().collect(),
        out_of_time: !complete,
        rules_judged: judged,
        rules: Default::default(),
        news: Vec::new(),
        tokens,
    })
}

fn tell_other(notebook: &mut Notebook, pair: &Pair) {
    let there = &pair.there.server;
    let name = there.name.as_deref().unwrap_or("a server without a name");
    let version = there.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let name = shortened(&format!("{name}{version}"), SHOWN);
    notebook.note(None, format!("it was held against {name}, which speaks {}", there.protocol));
    if !pair.with_structured {
        let why = "one of the two speaks a version that has none";
        notebook.leave_out("structured content and output schemas", why);
    }
}

/// Tools that cannot be compared, or must not be called on the other server.
fn leave_out(selection: &mut Selection, pair: &Pair, context: &Context) {
    let names: Vec<String> = selection.tools.iter().map(|tool| tool.name.clone()).collect();
    for tool in names {
        let why = if context.shows_environment(&tool) {
            "it shows its environment, which is not the same for two servers".to_owned()
        } else if pair.there.tool(&tool).is_none() {
            "the other server does not have it".to_owned()
        } else if let Some(held) = pair.held_back(&tool, selection.destructive()) {
            format!(
                "{held}, and its effects on the other server would be real; [allow_destructive] tools lifts this"
            )
        } else {
            continue;
        };
        selection.do_without(&tool, &why);
    }
}
