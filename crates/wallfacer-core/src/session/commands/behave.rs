//! `behave`: watches what every tool does, and holds it against what the tool says.

use crate::catalogue::Catalogue;
use crate::event::Listener;
use crate::judge::{Context, Secrets};
use crate::lock::Lock;
use crate::observe::{BadNoise, Behaviour};
use crate::session::agenda::{Selection, Wishes};
use crate::session::entrust::entrust;
use crate::session::lab::{World, observer, said};
use crate::session::look::Known;
use crate::session::options::FuzzError;
use crate::session::probes::Notebook;
use crate::session::probes::behave::{Behave, BehaveOptions, Keep};
use crate::session::run::{Limits, Session};
use crate::shard::Shard;
use crate::summary::{NotTested, Run, StepDone};
use crate::wire::{ConnectError, Connector};

/// Why nothing could be watched.
#[derive(Debug, thiserror::Error)]
pub enum BehaveError {
    #[error(transparent)]
    Fuzz(#[from] FuzzError),
    #[error(transparent)]
    Noise(#[from] BadNoise),
}

impl From<ConnectError> for BehaveError {
    fn from(error: ConnectError) -> BehaveError {
        BehaveError::Fuzz(error.into())
    }
}

/// A watched run.
#[derive(Debug)]
pub struct Behaved {
    pub run: Run,
    pub behaviour: Behaviour,
    /// What was declared.
    pub catalogue: Catalogue,
}

/// Watches one target.
pub fn behave(
    mut connector: Connector,
    options: &BehaveOptions,
    keep: Keep<'_>,
    listener: &mut dyn Listener,
) -> Result<Behaved, BehaveError> {
    let secrets = entrust(&mut connector, options.seed);
    connector.world_mut().watch = true;
    let limits = Limits {
        seed: options.seed,
        budget: options.budget,
        workers: None,
        include: options.include.clone(),
        stop: options.stop.clone(),
    };
    let mut session = Session::open(connector, &limits, listener)?;
    let lab = session.lab(World::Plain);
    let mut run = Run::empty(
        options.command,
        options.started.clone(),
        session.known.target.clone(),
        session.known.server.clone(),
    );
    run.seed = options.seed;
    run.budget = options.budget;
    if !session.known.server.standing.observed.calls {
        lab.rest();
        let why = session.known.server.standing.remarks.first().cloned();
        run.not_tested.push(unwatched(why));
        run.took = session.known.begun.elapsed();
        run.locked = Some(Lock::new(&session.known.server, &session.known.catalogue, None));
        let catalogue = Catalogue::clone(&session.known.catalogue);
        return Ok(Behaved { run, behaviour: Behaviour::default(), catalogue });
    }
    let mut notebook = session.notebook();
    let mut probe = probe(&session, options, secrets, &mut notebook, keep)?;
    session.run(&lab, &mut [&mut probe], &mut notebook, listener)?;
    notebook.not_tested.extend(probe.never_done());
    run.in_vain = probe.is_in_vain().then_some("no call succeeded, so what the server does is not known");
    let behaviour = std::mem::take(&mut probe.behaviour);
    let catalogue = Catalogue::clone(&session.known.catalogue);
    run.locked = Some(Lock::new(&session.known.server, &catalogue, Some(&behaviour)));
    let fuzzed = session.fuzzed(&lab, notebook);
    run.lives = fuzzed.lives;
    run.took = fuzzed.took;
    run.out_of_time = fuzzed.out_of_time;
    run.summary = fuzzed.summary;
    run.tools = fuzzed.tools;
    run.latencies = fuzzed.latencies;
    run.notes.extend(fuzzed.notes);
    run.tokens = fuzzed.tokens;
    run.not_tested.extend(fuzzed.not_tested);
    run.add_findings(fuzzed.findings, fuzzed.flaky);
    run.steps.push(StepDone { name: "behave", took: run.took });
    Ok(Behaved { run, behaviour, catalogue })
}

/// Nobody sees what the server does, for this reason.
pub(super) fn unwatched(why: Option<String>) -> NotTested {
    let why = why.unwrap_or_else(|| "the server ran without a sandbox".to_owned());
    NotTested { what: "effects on files, network and other programs".to_owned(), why }
}

/// The probe that watches.
pub(super) fn probe<'a>(
    session: &Session,
    options: &BehaveOptions,
    secrets: Secrets,
    notebook: &mut Notebook,
    keep: Keep<'a>,
) -> Result<Behave<'a>, BadNoise> {
    let Known { server, catalogue, .. } = &session.known;
    let wishes = Wishes {
        include: options.include.clone(),
        exclude: options.exclude.clone(),
        max_tools: None,
        shard: Shard::WHOLE,
        destructive: options.destructive.clone(),
    };
    let selection = Selection::new(catalogue, server, wishes);
    notebook.not_tested.extend(selection.left_out.clone());
    let watched = observer(&session.connector, server, &options.noise)?;
    let mut context = Context::new(catalogue, server.protocol).with_secrets(secrets).with_watched(watched);
    context.server_said = said(server);
    Ok(Behave::new(context, &session.known, &session.connector, selection, options, notebook, keep))
}
