//! `fuzz`: exercises everything that a server offers.

use std::sync::Arc;

use crate::event::Listener;
use crate::judge::{Context, Secrets};
use crate::learn::Learned;
use crate::plan::{Footholds, offer_cases, protocol_cases};
use crate::session::agenda::{Selection, Wishes};
use crate::session::entrust::entrust;
use crate::session::lab::World;
use crate::session::look::Known;
use crate::session::options::{FuzzError, FuzzOptions};
use crate::session::probes::Notebook;
use crate::session::probes::differential::{Listing, declaration_cases};
use crate::session::probes::fuzz::{Fuzz, plan, stored};
use crate::session::prove::Interest;
use crate::session::run::{Limits, Session};
use crate::summary::Fuzzed;
use crate::wire::Connector;

const OF_ANOTHER: &str =
    "the answers that were learned are those of a server with another name, and were left out";

/// Fuzzes one target.
pub fn fuzz(
    mut connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    let secrets = entrust(&mut connector, options.seed);
    let mut session = Session::open(connector, &Limits::from(options), listener)?;
    let lab = session.lab(World::Plain);
    let mut notebook = session.notebook();
    let (mut fuzz, mut listing) = probes(&session, options, secrets, &mut notebook);
    session.run(&lab, &mut [&mut fuzz, &mut listing], &mut notebook, listener)?;
    let news = fuzz.news();
    Ok(Fuzzed { news, ..session.fuzzed(&lab, notebook) })
}

/// The probe that exercises everything, and the one that holds declarations against what was learned.
pub(super) fn probes(
    session: &Session,
    options: &FuzzOptions,
    secrets: Secrets,
    notebook: &mut Notebook,
) -> (Fuzz, Listing) {
    let Known { server, catalogue, .. } = &session.known;
    let selection = Selection::new(catalogue, server, Wishes::from(options));
    notebook.not_tested.extend(selection.left_out.clone());
    let known = known_answers(options, server.name.as_deref(), notebook);
    let context = Context::new(catalogue, server.protocol).with_secrets(secrets);
    let context = Arc::new(known.into_iter().fold(context, Context::with_learned));
    let declarations = known.map(|known| declaration_cases(known, &selection, options.seed));
    let declarations = declarations.unwrap_or_default();
    notebook.judged += declarations.len() as u64;
    let listing = Listing::new(declarations, &context, server.protocol, Interest::ANSWERS);
    let mut planner = plan(options, &selection, notebook);
    // Calls about files that are there reach further, and do no harm where nothing is written through.
    if server.standing.is_confined() {
        let world = session.connector.world();
        let footholds = Footholds::new(&catalogue.tools.entries, world.scopes(), world.workspace().is_some());
        footholds
            .into_iter()
            .for_each(|footholds| planner.stand_on(footholds.of_server(server.name.as_deref())));
    }
    let stored = stored(options, catalogue, &selection, notebook);
    let frames = match options.protocol_frames {
        true => protocol_cases(server.protocol, options.max_bytes, options.seed),
        false => Vec::new(),
    };
    let offers = offer_cases(catalogue, server.claims("completions"), options.max_bytes, options.seed);
    let fuzz = Fuzz::new(options, context, selection).with_plan(planner, stored, frames, offers);
    fuzz.suspect_noise(session.known.noise.as_ref(), options.seed, notebook);
    (fuzz, listing)
}

/// What was learned of this server's answers; of another one's nothing is used.
fn known_answers<'a>(
    options: &'a FuzzOptions,
    server: Option<&str>,
    notebook: &mut Notebook,
) -> Option<&'a Learned> {
    let learned = options.learned.as_deref()?;
    if learned.server.as_deref() != server {
        notebook.note(None, OF_ANOTHER.to_owned());
        return None;
    }
    Some(learned)
}
