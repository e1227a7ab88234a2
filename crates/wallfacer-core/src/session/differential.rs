//! A server in, what its answers have in common out; and later, what was learned in, where the server keeps to it no longer
//! out.

use std::collections::BTreeMap;
use std::time::Instant;

use super::campaign::{Campaign, Field};
use super::entrust::entrust;
use super::examine::tell_connected;
use super::fuzz::{FuzzError, FuzzOptions, look};
use crate::event::{Event, Listener};
use crate::judge::{Context, Output};
use crate::learn::Learned;
use crate::plan::{Case, Measure};
use crate::run::{Patience, Runner};
use crate::summary::Fuzzed;
use crate::wire::{Connector, shortened};

/// How often a server is asked again for its tools where what it declares is not what it declared.
const ASKED_AGAIN: usize = 2;
/// Letters of a name that are told.
const SHOWN: usize = 80;

/// What came of learning.
#[derive(Debug)]
pub struct Taught {
    pub learned: Learned,
    /// What was called for it.
    pub run: Fuzzed,
}

/// Calls the tools as they are meant to be called, and learns what they declare and answer. Nothing is held against them.
pub fn learn(
    connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Taught, FuzzError> {
    let (run, learned) = exercise(connector, options, true, listener)?;
    Ok(Taught { learned, run })
}

/// Calls the tools as they are meant to be called, and holds what they declare and answer against what was learned.
pub fn differential(
    connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    exercise(connector, options, false, listener).map(|(run, _)| run)
}

fn exercise(
    mut connector: Connector,
    options: &FuzzOptions,
    learns: bool,
    listener: &mut dyn Listener,
) -> Result<(Fuzzed, Learned), FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    let target = connector.target().shown();
    let secrets = entrust(&mut connector, options.seed);
    listener.hear(&Event::Connecting { target: &target });
    let (server, catalogue) = runtime.block_on(options.stop.unless(look(&mut connector)))??;
    tell_connected(&server, listener);
    let context = Context::new(&catalogue, server.protocol).with_secrets(secrets);
    let known = options.learned.as_deref().filter(|_| !learns);
    let context = known.into_iter().fold(context, Context::with_learned);
    let patience = Patience::new(connector.target().timeouts.clone()).at_first_sight();
    let runner = || Runner::new(connector.clone(), &catalogue, patience.clone());
    let field = Field { runner: &runner, context: &context, runtime: &runtime };
    let mut campaign = Campaign::new(options, &catalogue, &server, started);
    campaign.answers = learns.then(BTreeMap::new);
    // Who learns does not judge.
    campaign.only_rules = learns;
    if let Some(known) = known {
        hold_declarations(&mut campaign, &context, known, &connector, options, listener)?;
        tell_news(&mut campaign, &context, known, server.name.as_deref());
    }
    if !learns {
        tell_unheld(&mut campaign, &context);
    }
    let mut planner = campaign.planner();
    while !campaign.is_over()
        && let Some(round) = planner.next_round()
    {
        let phase = format!("{:?}", round.phase).to_lowercase();
        campaign.play(&round.cases, &phase, &field, Some(&mut planner), listener)?;
    }
    campaign.confirm_the_rest(&field, listener)?;
    let answers = campaign.answers.take().unwrap_or_default();
    let learned = Learned::new(server.name.as_deref(), &catalogue.tools.entries, &answers);
    Ok((campaign.finish(target, server), learned))
}

/// Holds what the tools declare against what was written down. What is other must be so each time that it is asked for.
pub(super) fn hold_declarations(
    campaign: &mut Campaign<'_>,
    context: &Context,
    learned: &Learned,
    connector: &Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<(), FuzzError> {
    let cases: Vec<Case> = learned
        .tools
        .iter()
        .filter(|(tool, _)| options.wants(tool))
        .map(|(tool, entry)| {
            Case::listing(tool, Measure::Declared { schema: entry.declared.clone() }, options.seed)
        })
        .collect();
    let ask = || -> Result<Vec<Context>, FuzzError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let again = |_| -> Result<Context, FuzzError> {
            let (server, catalogue) =
                runtime.block_on(options.stop.unless(look(&mut connector.clone())))??;
            Ok(Context::new(&catalogue, server.protocol))
        };
        (0..ASKED_AGAIN).map(again).collect()
    };
    campaign.judge_declarations(&cases, context, &ask, listener)
}

/// Says what has come since the answers were learned.
fn tell_news(campaign: &mut Campaign<'_>, context: &Context, known: &Learned, server: Option<&str>) {
    if known.server.as_deref() != server {
        let shown = |name: Option<&str>| name.map_or("nothing".to_owned(), |name| shortened(name, SHOWN));
        let (was, is) = (shown(known.server.as_deref()), shown(server));
        campaign.note(None, format!("the server calls itself {is}, and {was} when its answers were learned"));
    }
    for name in campaign.chosen_names() {
        let declares = context.tools.get(&name).is_some_and(|facts| facts.output.is_some());
        let text = match known.tools.get(&name) {
            None => "it is new since answers were learned",
            Some(entry) if declares && entry.declared.is_none() => {
                "it declares an output schema now, and did not when answers were learned"
            }
            Some(_) => continue,
        };
        campaign.note(Some(&name), text.to_owned());
    }
}

/// Says of which tools nothing is known that answers could be held against.
fn tell_unheld(campaign: &mut Campaign<'_>, context: &Context) {
    for name in campaign.chosen_names() {
        let declared = context.tools.get(&name).and_then(|facts| facts.output.as_ref());
        let why = match declared {
            Some(Output::Compiled(_)) => continue,
            Some(Output::Unusable(why)) => {
                format!("its output schema cannot be used: {}", shortened(why, SHOWN))
            }
            None if context.habits.contains_key(&name) => continue,
            None => "no output schema is declared, and none was learned".to_owned(),
        };
        campaign.leave_out(&format!("the answers of {name}"), &why);
    }
}
