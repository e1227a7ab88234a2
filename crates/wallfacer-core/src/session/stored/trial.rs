//! Puts a stored finding on trial: fresh servers of the target, in the world that the finding needs.

use std::path::Path;
use std::time::Duration;

use crate::catalogue::{Catalogue, discover};
use crate::findings::{Bug, Cause, Finding, FindingId, Kind, Origin};
use crate::judge::{Charge, Context};
use crate::place::Pattern;
use crate::plan::{Aim, Case, Intent, Measure, Subject, held_back};
use crate::run::{Patience, Runner};
use crate::session::entrust::{entrust, marker};
use crate::session::lab::{Needs, Pair, attempt, equip, planted, said, watching};
use crate::session::probes::inject::{prepare, why_unseen};
use crate::target::{Destructive, Protocol, Timeouts};
use crate::wire::{ConnectError, Connector, Server};

/// How long a server that was only looked at may take to leave.
const GRACE: Duration = Duration::from_secs(2);
/// A stored hang cannot keep us longer than this for one answer.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(600);

/// One finding on trial.
pub(super) struct Trial<'a> {
    pub finding: &'a Finding,
    pub server: Server,
    pub catalogue: Catalogue,
    pub context: Context,
    runner: Runner,
    patience: Patience,
    /// Why what the server does would not be seen.
    unseen: Option<String>,
    /// Beside the server that it is held against, where it is.
    pair: Option<Pair>,
}

/// What a case did this time, beside what it did when it was stored.
#[derive(Debug)]
pub(super) enum Likeness {
    /// The same bug.
    Same,
    /// Of the same kind or as grave, but of another origin.
    AnotherWay,
    /// Something less grave.
    Lesser,
}

impl<'a> Trial<'a> {
    /// Looks at the server, so that what it declares is known.
    pub async fn open(
        mut connector: Connector,
        other: Option<Connector>,
        finding: &'a Finding,
    ) -> Result<Trial<'a>, ConnectError> {
        // The same canary as in the run that found it, so that a leak shows again.
        let secrets = entrust(&mut connector, finding.seed);
        for stated in &finding.stated {
            connector.world_mut().declare(Path::new(stated));
        }
        let by_effect = matches!(finding.kind, Kind::UndeclaredBehaviour | Kind::SecretLeak);
        connector.world_mut().watch |= by_effect;
        let case = finding.repro.case().ok();
        let pair = match (other, case.as_ref().and_then(|case| case.measure.as_deref())) {
            (Some(mut other), Some(Measure::Other { here, there, .. })) => {
                for (side, spoken) in [(&mut connector, here), (&mut other, there)] {
                    Protocol::parse(spoken).into_iter().for_each(|version| side.speak(version));
                }
                Some(Pair::open(connector.clone(), other, finding.seed).await?)
            }
            _ => None,
        };
        let injection = case.as_ref().and_then(|case| Some((case.seed, case.intent.injection()?)));
        connector.world_mut().watch |= injection.is_some();
        let (mut connection, mut server) = connector.open().await?;
        let timeouts = connector.target().timeouts.clone();
        let catalogue = discover(&mut connection, &server, &timeouts).await;
        connector.dismiss(connection, GRACE).await;
        let mut context =
            Context::new(&catalogue, server.protocol).with_secrets(secrets).with_marker(marker(finding.seed));
        if let Some((measure, tool)) =
            case.as_ref().and_then(|case| Some((case.measure.as_deref()?, case.tool_name()?)))
        {
            context = context.with_measure(tool, measure);
        }
        let patience = Patience::new(waiting(&finding.kind, timeouts));
        context.server_said = said(&server);
        let needs = case.as_ref().map(|case| needs(case, &context)).unwrap_or_default();
        if needs.any() {
            equip(&mut connector, needs, finding.seed);
            let (connection, equipped) = connector.open().await?;
            connector.dismiss(connection, GRACE).await;
            server = equipped;
        }
        context.canary = planted(&connector, &server, finding.seed);
        let unseen = connector.standing().and_then(why_unseen);
        let unseen = unseen.filter(|_| injection.is_some() || needs.effects);
        if let Some((seed, injection)) = injection {
            prepare(&mut connector, &catalogue, seed, injection.offline);
        }
        let mut runner = Runner::new(connector.clone(), &catalogue, patience.clone());
        if by_effect || needs.effects {
            context = watching(context, &connector, &server, &[], &mut runner, finding.seed).await?;
        }
        Ok(Trial { finding, server, catalogue, context, runner, patience, unseen, pair })
    }

    /// Why a case cannot be tried on this server, or must not.
    /// The rule of the case is read, if it has one.
    pub fn obstacle(&self, case: &mut Case, destructive: &Destructive) -> Option<String> {
        if let Some(claim) = &mut case.claim
            && let Err(why) = claim.read(&self.context.shapes())
        {
            return Some(why);
        }
        if let Some(why) = &self.unseen {
            return Some(format!("it shows only where what the server does is seen: {why}"));
        }
        if let Some(Measure::Other { .. }) = case.measure.as_deref() {
            let Some(pair) = &self.pair else {
                return Some("the server that it was held against is not known".to_owned());
            };
            let mut held = case.called_tools().filter_map(|tool| pair.held_back(tool, destructive));
            if let Some(why) = held.next() {
                return Some(format!("it is not called on the other server: {why}"));
            }
        }
        let takes_rule = matches!(
            self.finding.kind,
            Kind::PropertyFailure { .. } | Kind::SequenceFailure { .. } | Kind::StateLeak
        );
        if takes_rule && case.claim.is_none() && case.schedule().is_none() && !case.is_disturbed() {
            return Some("the rule that it breaks is not stored with it".to_owned());
        }
        if !is_judged(&self.finding.kind) && case.measure.is_none() {
            let kind = self.finding.kind.name();
            return Some(format!("one case by itself does not show a {kind}"));
        }
        let unlisted = case.claim.as_ref().and_then(|claim| claim.rule()).is_some_and(|rule| rule.unlisted);
        let hidden = case.intent.injection().is_some_and(|it| matches!(it.aim, Aim::Hidden { .. }));
        for name in case.called_tools().filter(|_| !unlisted && !hidden) {
            let Some(tool) = self.catalogue.tools.entries.iter().find(|tool| tool.name == name) else {
                return Some(format!("the server has no tool `{name}` any more"));
            };
            if let Some(why) = held_back(tool, destructive).filter(|_| !self.server.standing.is_harmless()) {
                return Some(format!(
                    "`{name}` is not called: {why}, and its effects would be real; [allow_destructive] tools lifts this"
                ));
            }
        }
        None
    }

    /// What is held against a fresh server after this case, the most alike first.
    pub async fn charges(&mut self, case: &Case) -> Result<Vec<(Likeness, Charge)>, ConnectError> {
        let charges = match (&mut self.pair, case.measure.as_deref()) {
            (Some(pair), Some(Measure::Other { ignore, .. })) => {
                let ignored: Vec<Pattern> = ignore.iter().flat_map(|text| Pattern::parse(text)).collect();
                pair.charges(case, &ignored).await?
            }
            _ => {
                self.runner.rest().await;
                attempt(&mut self.runner, case, &self.patience, &self.context).await?.judgement.charges
            }
        };
        let mut alike: Vec<_> =
            charges.into_iter().map(|charge| (self.likeness(case, &charge), charge)).collect();
        alike.sort_by_key(|(likeness, _)| match likeness {
            Likeness::Same => 0,
            Likeness::AnotherWay => 1,
            Likeness::Lesser => 2,
        });
        Ok(alike)
    }

    /// The id of a charge against the server as it calls itself now.
    pub fn id(&self, case: &Case, charge: &Charge) -> FindingId {
        Origin::new(self.server.name.as_deref(), &charge.kind, &case.subject, &charge.cause).id()
    }

    /// Ends the last server.
    pub async fn close(mut self) {
        if let Some(pair) = &mut self.pair {
            pair.rest().await;
        }
        self.runner.rest().await;
    }

    fn likeness(&self, case: &Case, charge: &Charge) -> Likeness {
        let Finding { kind, server, .. } = self.finding;
        // A server that took another name in the meantime is still the same, and a cause that was found in many tools
        // shows in one of them as well.
        let wide = charge.cause.clone().server_wide();
        let tool = case.tool_name().map(|tool| Subject::Tool(tool.to_owned()));
        let bug = Bug::of(&charge.kind, &charge.cause, tool.as_ref().unwrap_or(&case.subject));
        let names = [server.name.as_deref(), self.server.name.as_deref()];
        let former = charge.cause.former();
        let causes: Vec<&Cause> = [&charge.cause, &wide, bug.cause()].into_iter().chain(&former).collect();
        let mut ids = names.into_iter().flat_map(|name| {
            causes.iter().map(move |cause| Origin::new(name, &charge.kind, &case.subject, cause).id())
        });
        let same_kind = charge.kind.name() == kind.name();
        // The ids of older versions cannot be made again.
        if ids.any(|each| self.finding.is_known_as(&each)) || same_kind && case.intent == Intent::Stored {
            Likeness::Same
        } else if same_kind || charge.kind.default_severity() >= kind.default_severity() {
            Likeness::AnotherWay
        } else {
            Likeness::Lesser
        }
    }
}

/// What the rule of a case needs; nothing where it has none.
fn needs(case: &Case, context: &Context) -> Needs {
    let Some(mut claim) = case.claim.clone() else { return Needs::default() };
    // One that cannot be read is told when the case is tried.
    if claim.read(&context.shapes()).is_err() {
        return Needs::default();
    }
    let rule = claim.rule().map(Needs::of_rule);
    rule.or_else(|| claim.sequence().map(|sequence| Needs::of_sequence(sequence))).unwrap_or_default()
}

/// Whether a check looks for this kind in one case. The others take many cases or an observed world.
fn is_judged(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Crash
            | Kind::Hang { .. }
            | Kind::ProtocolError
            | Kind::InternalError
            | Kind::SchemaViolation
            | Kind::AcceptedInvalid
            | Kind::SecretLeak
            | Kind::UndeclaredBehaviour
            | Kind::Injection
            | Kind::ResourceGrowth
            | Kind::PropertyFailure { .. }
            | Kind::SequenceFailure { .. }
            | Kind::StateLeak
            | Kind::Race
            | Kind::DataLoss
            | Kind::Conformance { .. }
    )
}

/// A hang is one if the time in which there was no answer passes again.
fn waiting(kind: &Kind, timeouts: Timeouts) -> Timeouts {
    match kind {
        Kind::Hang { ms } => {
            let waited = Duration::from_millis(*ms).clamp(Duration::from_millis(1), MAX_WAIT);
            Timeouts { call: waited, per_tool: Default::default(), ..timeouts }
        }
        _ => timeouts,
    }
}
