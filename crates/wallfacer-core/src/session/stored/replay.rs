//! Tries a stored finding again, and says whether it is still true.

use super::trial::{Likeness, Trial};
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

/// Tries a finding, whose secrets were put back, on fresh servers of the target, beside the other that it was held against.
pub async fn replay(
    connector: Connector,
    other: Option<Connector>,
    finding: &Finding,
    destructive: &Destructive,
    listener: &mut dyn Listener,
) -> Result<Replayed, ConnectError> {
    let mut case = match finding.repro.case() {
        Ok(case) => case,
        Err(why) => return Ok(Replayed::not(why.to_string())),
    };
    listener.hear(&Event::Connecting { target: &connector.target().shown() });
    let mut trial = Trial::open(connector, other, finding).await?;
    if let Some(why) = trial.obstacle(&mut case, destructive) {
        return Ok(Replayed::not(why));
    }
    let mut seen = Tally::default();
    let n = tries(finding);
    for _ in 0..n {
        seen.count(trial.charges(&case).await?);
    }
    let remarks = renamed(finding, trial.server.name.as_deref()).into_iter().chain(seen.remarks()).collect();
    trial.close().await;
    let verdict = match (seen.k, seen.message) {
        (k, Some(message)) if k == n => Replay::StillFails { n, message },
        (0, _) => Replay::Fixed { n },
        (k, _) => Replay::Flaky(Reproduced { k, n }),
    };
    Ok(Replayed { verdict, remarks })
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
