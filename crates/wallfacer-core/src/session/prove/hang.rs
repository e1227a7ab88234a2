//! Proves that a call hangs, on several fresh servers at the same time: it is silent for its whole time on one and for twice
//! the time on another, while a third is asked for less, to see whether the call is only slow and which smaller one hangs too.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use wallfacer_text::lexicon::{Action, does};

use super::inquiry::{Confirmed, Inquiry, STRETCH, TRIES, gravest, seconds, tried};
use crate::catalogue::Tool;
use crate::findings::Reproduced;
use crate::judge::Charge;
use crate::plan::Case;
use crate::run::Patience;
use crate::wire::ConnectError;

/// Servers beside the first that it takes.
pub(super) const AT_ONCE: usize = 3;
/// A call that is answered by then was only in bad company.
const SOON: Duration = Duration::from_millis(700);

/// Whether a tool says that it answers only once something happens.
pub(super) fn waits_on_purpose(tool: &Tool) -> bool {
    static SAYS: LazyLock<Regex> = LazyLock::new(|| {
        let for_what = r"(?:next|new|another|user|human|person|event|message|reply|response|change|command|notification|signal)";
        Regex::new(&format!(
            r"(?i)\blong[- ]?poll|\b(?:blocks?|waits?|sleeps?) until\b|\bwaits? for (?:an? |the |any )?{for_what}s?\b"
        ))
        .expect("a fixed pattern")
    });
    let about = tool.description.as_deref().unwrap_or_default();
    does(&tool.name, Action::Waits).is_some() || SAYS.is_match(about)
}

/// What is worth knowing of such a tool, where nobody else is kept waiting.
pub(super) fn as_it_says(limit: &Patience) -> Confirmed {
    let limit = seconds(limit);
    Confirmed::Slow(format!("it waits for something to happen, as it says, for more than {limit}"))
}

/// Why nothing more has to be looked at.
enum Settled {
    Connect(ConnectError),
    /// It was answered; what else is held against the server.
    Answered(Vec<Charge>),
    Slow(Confirmed),
}

impl From<ConnectError> for Settled {
    fn from(error: ConnectError) -> Settled {
        Settled::Connect(error)
    }
}

impl Inquiry<'_> {
    pub(super) async fn look_into_hang(
        &mut self,
        case: &Case,
        charge: &Charge,
    ) -> Result<Confirmed, ConnectError> {
        let (whole, twice) = (self.runner.patience().clone(), self.runner.patience().stretched(STRETCH));
        if self.is_over_in(twice.plain()) {
            return Ok(Confirmed::OutOfTime);
        }
        let wanted = self.id(case, charge);
        let Inquiry { context, server, tool, schema, era, until, minimise, .. } = *self;
        let [second, third, fourth, ..] = &mut *self.others else { return Ok(Confirmed::OutOfTime) };
        let runner = &mut *self.runner;
        // The longest try begins first. All are boxed, because together they are larger than a thread's stack.
        let longest = Box::pin(async {
            match tried(runner, case, &wanted, &twice, context, server).await? {
                (Some(_), _) => Ok(true),
                (None, others) if others.is_empty() => Ok(false),
                (None, others) => Err(Settled::Answered(others)),
            }
        });
        let again = Box::pin(async {
            tokio::time::sleep(SOON).await;
            match tried(second, case, &wanted, &whole, context, server).await? {
                (Some(charge), _) => Ok(charge),
                (None, others) => Err(Settled::Answered(others)),
            }
        });
        let meanwhile = Box::pin(async {
            tokio::time::sleep(SOON).await;
            Ok(fourth.is_wedged_by(case).await?)
        });
        let smaller = Box::pin(async {
            tokio::time::sleep(SOON).await;
            let others = &mut [][..];
            let runner = third;
            let mut less = Inquiry { runner, others, context, server, tool, schema, era, until, minimise };
            if let Some(slow) = less.is_slow(case).await? {
                return Err(Settled::Slow(slow));
            }
            Ok(match schema {
                Some(schema) if minimise && case.claim.is_none() => {
                    less.minimise(case, &wanted, charge, schema, true).await?.0
                }
                _ => case.clone(),
            })
        });
        match tokio::try_join!(longest, again, meanwhile, smaller) {
            // There was no answer within the time limit, but one within twice that.
            Ok((false, ..)) => Ok(Confirmed::Slow(format!("an answer took more than {}", seconds(&whole)))),
            Ok((true, _, false, _)) if tool.is_some_and(waits_on_purpose) => Ok(as_it_says(&whole)),
            Ok((true, mut charge, wedged, case)) => {
                let meanwhile =
                    if wedged { "answers nothing else meanwhile" } else { "still answers other requests" };
                charge.message = format!("{}; it {meanwhile}", charge.message);
                let reproduced = Reproduced { k: TRIES, n: TRIES };
                Ok(Confirmed::Finding { charge: Box::new(charge), case, reproduced })
            }
            Err(Settled::Connect(error)) => Err(error),
            Err(Settled::Slow(slow)) => Ok(slow),
            Err(Settled::Answered(others)) => Ok(match gravest(others) {
                Some(another) => Confirmed::Another(Box::new(another)),
                None => Confirmed::Works,
            }),
        }
    }
}
