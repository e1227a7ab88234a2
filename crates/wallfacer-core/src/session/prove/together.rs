//! Proves what calls do only together, in a row or in flight at the same time, and finds the smallest number of them that
//! still does it.

use std::time::{Duration, Instant};

use super::inquiry::{Confirmed, Inquiry, STRETCH, Tried};
use crate::findings::FindingId;
use crate::judge::{Charge, about_culprits, health_call};
use crate::plan::{Case, Step, Subject};
use crate::run::Patience;
use crate::session::lab::attempt;
use crate::wire::ConnectError;

/// Numbers of calls of one tool that are tried before calls are left out one by one.
const FEW: [usize; 4] = [2, 3, 4, 8];
/// Tools of which that is tried.
const MOST_TOOLS: usize = 4;

impl Inquiry<'_> {
    /// Each call alone is innocent. One after another comes first, since it shows each time; what came before on the same
    /// server may have its part in it.
    pub(super) async fn look_into_together(
        &mut self,
        case: &Case,
        charge: &Charge,
        before: &[Step],
    ) -> Result<Confirmed, ConnectError> {
        let hang = charge.kind.is_hang();
        let patience = match hang {
            true => self.runner.patience().stretched(STRETCH),
            false => self.runner.patience().clone(),
        };
        let steps = before.iter().chain(&case.steps).cloned().collect();
        let longer = Case { steps, ..case.clone() };
        let mut scripts = vec![in_a_row(case), case.clone()];
        if !before.is_empty() && health_call(case).is_none() {
            scripts.extend([in_a_row(&longer), longer]);
        }
        scripts.dedup();
        let mut now_and_then = None;
        for script in scripts {
            if self.is_over_in(if hang { patience.plain() } else { Duration::ZERO }) {
                return Ok(now_and_then.unwrap_or(Confirmed::OutOfTime));
            }
            let plain = self.runner.patience().clone();
            let Some(seen) = self.shows(&script, charge, &plain).await? else { continue };
            let wanted = self.id(&script, &seen);
            match Box::pin(self.try_often(&script, &wanted, &patience, hang)).await? {
                Tried::OutOfTime => return Ok(now_and_then.unwrap_or(Confirmed::OutOfTime)),
                Tried::Done { reproduced, proven: Some(charge), .. } => {
                    let proven = Confirmed::Finding { charge, case: script.clone(), reproduced };
                    if reproduced.always() {
                        return Box::pin(self.with_fewest(proven, &script, &wanted, &patience)).await;
                    }
                    now_and_then.get_or_insert(proven);
                }
                Tried::Done { .. } => {}
            }
        }
        // That calls take longer when there are many of them says nothing.
        Ok(now_and_then.unwrap_or(if hang { Confirmed::Works } else { Confirmed::Never }))
    }

    /// The same with the fewest calls, where that holds as firmly.
    async fn with_fewest(
        &mut self,
        proven: Confirmed,
        script: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Confirmed, ConnectError> {
        let Confirmed::Finding { charge, .. } = &proven else { return Ok(proven) };
        let hang = charge.kind.is_hang();
        let glance = if hang { self.runner.patience().glimpse() } else { patience.clone() };
        let few = match self.minimise {
            true => Box::pin(self.few_of_one_tool(script, charge, &glance)).await?,
            false => Some(script.clone()),
        };
        let small = match few {
            Some(few) => few,
            None => Box::pin(self.shorten(script.clone(), wanted, &glance, kept(script))).await?,
        };
        let small = about(small);
        // What one call does by itself is suspected of that call.
        let calls = small.steps.iter().filter(|step| step.request().is_some()).count();
        if calls == 1 && health_call(&small).is_none() {
            return Ok(Confirmed::Works);
        }
        // A busy machine looks the same from here, so this is worth knowing and no more.
        if hang && script.is_concurrent() {
            return Ok(Confirmed::Slow(charge.message.clone()));
        }
        let wanted = self.id(&small, charge);
        let again = Box::pin(self.try_often(&small, &wanted, patience, hang)).await?;
        let Tried::Done { reproduced, proven: Some(again), .. } = again else { return Ok(in_words(proven)) };
        Ok(in_words(match reproduced.always() {
            true => Confirmed::Finding { charge: again, case: small, reproduced },
            false => proven,
        }))
    }

    /// A few calls of one tool in flight together, where they are enough.
    async fn few_of_one_tool(
        &mut self,
        script: &Case,
        charge: &Charge,
        patience: &Patience,
    ) -> Result<Option<Case>, ConnectError> {
        let until = self.minimising_until();
        let is_sent = |step: &&Step| matches!(step, Step::Send { .. });
        let sent: Vec<&Step> = script.steps.iter().filter(is_sent).collect();
        let mut tools: Vec<&str> = Vec::new();
        for tool in sent.iter().filter_map(|step| step.tool()) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        let (Some(first), Some(last)) = (
            script.steps.iter().position(|step| is_sent(&step)),
            script.steps.iter().rposition(|step| is_sent(&step)),
        ) else {
            return Ok(None);
        };
        for number in FEW.into_iter().filter(|number| *number < sent.len()) {
            for tool in tools.iter().take(MOST_TOOLS) {
                let own = sent.iter().filter(|step| step.tool() == Some(tool));
                let own = own.cycle().take(number).map(|step| (*step).clone());
                let mut steps = script.steps.clone();
                steps.splice(first..=last, own);
                let few = about(Case { steps, ..script.clone() });
                if Instant::now() >= until {
                    return Ok(None);
                }
                if self.shows(&few, charge, patience).await?.is_some() {
                    return Ok(Some(few));
                }
            }
        }
        Ok(None)
    }

    /// What the same check holds against a fresh server after this script.
    async fn shows(
        &mut self,
        script: &Case,
        charge: &Charge,
        patience: &Patience,
    ) -> Result<Option<Charge>, ConnectError> {
        self.runner.rest().await;
        let tried = Box::pin(attempt(self.runner, script, patience, self.context)).await?;
        let charges = tried.judgement.charges;
        Ok(charges.into_iter().find(|other| other.check == charge.check))
    }
}

/// The same calls, one after another.
fn in_a_row(case: &Case) -> Case {
    about(case.one_by_one())
}

/// A script of calls in a row is about the server, whatever they call; else it is about what is in flight, or what spoils.
fn about(script: Case) -> Case {
    match () {
        () if health_call(&script).is_some() => about_culprits(&script),
        () if script.is_concurrent() => script.about_what_is_sent(),
        () => Case { subject: Subject::Server, ..script },
    }
}

/// Steps at the beginning and at the end without which nothing is shown.
fn kept(script: &Case) -> (usize, usize) {
    if health_call(script).is_some() { (1, 2) } else { (0, 0) }
}

/// A script of several calls in a row says how many they are.
fn in_words(confirmed: Confirmed) -> Confirmed {
    let Confirmed::Finding { mut charge, case, reproduced } = confirmed else { return confirmed };
    if !case.is_concurrent() && health_call(&case).is_none() {
        charge.message = format!("{} after {} requests in a row", charge.message, case.steps.len());
    }
    Confirmed::Finding { charge, case, reproduced }
}
