//! Tries a stored finding again, and says whether it is still true.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::trial::{Likeness, MAX_WAIT, Trial};
use crate::event::{Event, Listener};
use crate::findings::{Finding, Kind, Reproduced};
use crate::judge::Charge;
use crate::target::Destructive;
use crate::wire::{ConnectError, Connector};

/// Tries on fresh servers.
const TRIES: u32 = 3;
/// The same for a hang, each of which takes all its time.
const HANG_TRIES: u32 = 2;
/// The same for what did not show each time before: a few quiet tries would prove nothing.
const FLAKY_TRIES: u32 = 10;

/// The time for all tries, of a server that starts and answers as servers do.
const BUDGET: Duration = Duration::from_secs(120);

/// What became of a finding.
#[derive(Debug)]
pub struct Replayed {
    pub verdict: Replay,
    /// What was seen instead, or in another way.
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replay {
    /// Not seen in any try.
    Fixed {
        n: u32,
    },
    /// Seen in every try; in the words of now.
    StillFails {
        n: u32,
        message: String,
    },
    Flaky(Reproduced),
    NotReplayable {
        why: String,
    },
}

/// The time that the tries of a finding have unless somebody says otherwise: a hang takes all of its wait each time.
pub fn usual_budget(finding: &Finding) -> Duration {
    let waits = match finding.kind {
        // Once without an answer, and once more to see whether anything else is answered.
        Kind::Hang { ms } => Duration::from_millis(ms).min(MAX_WAIT) * 2 * tries(finding),
        _ => Duration::ZERO,
    };
    BUDGET + waits
}

/// Tries a finding, whose secrets were put back, on fresh servers of the target, beside the other that it was held against.
/// Where the budget is used up, what was seen by then counts; what was not seen by then is not taken for fixed.
pub async fn replay(
    connector: Connector,
    other: Option<Connector>,
    finding: &Finding,
    destructive: &Destructive,
    budget: Duration,
    listener: &mut dyn Listener,
) -> Result<Replayed, ConnectError> {
    let mut case = match finding.repro.case() {
        Ok(case) => case,
        Err(why) => return Ok(Replayed::not(why.to_string())),
    };
    listener.hear(&Event::Connecting { target: &connector.target().shown() });
    let until = Instant::now() + budget;
    let Ok(opened) = timeout_at(until, Trial::open(connector, other, finding)).await else {
        return Ok(Replayed::not(out_of_time(budget, "before it could be tried")));
    };
    let mut trial = opened?;
    if let Some(why) = trial.obstacle(&mut case, destructive) {
        return Ok(Replayed::not(why));
    }
    let mut seen = Tally::default();
    let wanted = tries(finding);
    let mut n = 0;
    while n < wanted {
        let Ok(charges) = timeout_at(until, trial.charges(&case)).await else { break };
        seen.count(charges?);
        n += 1;
    }
    let mut remarks: Vec<String> =
        renamed(finding, trial.server.name.as_deref()).into_iter().chain(seen.remarks()).collect();
    trial.close().await;
    let cut = (n < wanted).then(|| out_of_time(budget, &format!("after {n} of {wanted} tries")));
    let verdict = match (seen.k, seen.message, &cut) {
        (0, _, Some(cut)) => {
            return Ok(Replayed { verdict: Replay::NotReplayable { why: cut.clone() }, remarks });
        }
        (0, _, None) => Replay::Fixed { n },
        (k, Some(message), _) if k == n => Replay::StillFails { n, message },
        (k, _, _) => Replay::Flaky(Reproduced { k, n }),
    };
    remarks.extend(cut);
    Ok(Replayed { verdict, remarks })
}

fn out_of_time(budget: Duration, when: &str) -> String {
    format!("the time limit of {}s ended it {when}; --budget TIME gives it longer", budget.as_secs_f64())
}

impl Replayed {
    pub fn not(why: String) -> Replayed {
        Replayed { verdict: Replay::NotReplayable { why }, remarks: Vec::new() }
    }
}

/// What the tries came to.
#[derive(Default)]
struct Tally {
    k: u32,
    message: Option<String>,
    another: Option<String>,
    lesser: Option<String>,
}

impl Tally {
    fn count(&mut self, charges: Vec<(Likeness, Charge)>) {
        for (index, (likeness, charge)) in charges.into_iter().enumerate() {
            let told = format!("{}: {}", charge.kind.name(), charge.message);
            match likeness {
                Likeness::Same | Likeness::AnotherWay if index == 0 => {
                    self.k += 1;
                    self.message.get_or_insert(charge.message);
                    if let Likeness::AnotherWay = likeness {
                        self.another.get_or_insert(told);
                    }
                }
                Likeness::Lesser if index == 0 => drop(self.lesser.get_or_insert(told)),
                _ => {}
            }
        }
    }

    fn remarks(&self) -> Vec<String> {
        let another = self.another.iter().map(|told| format!("in another way than it was stored: {told}"));
        another.chain(self.lesser.iter().map(|told| format!("seen instead: {told}"))).collect()
    }
}

fn tries(finding: &Finding) -> u32 {
    let Reproduced { k, n } = finding.reproduced;
    match finding.kind {
        _ if k < n => FLAKY_TRIES,
        Kind::Hang { .. } => HANG_TRIES,
        _ => TRIES,
    }
}

fn renamed(finding: &Finding, name: Option<&str>) -> Option<String> {
    let (was, is) = (finding.server.name.as_deref()?, name?);
    let said = || {
        let (is, was) = (crate::wire::shortened(is, 80), crate::wire::shortened(was, 80));
        format!("the server calls itself {is}, and {was} when this was found")
    };
    (was != is).then(said)
}
