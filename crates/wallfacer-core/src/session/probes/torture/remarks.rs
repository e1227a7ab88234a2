//! What is no fault by any contract, and still worth telling: answers that are lost with a connection, long calls that tell
//! nothing of how far they are, slow calls that keep others waiting.

use std::time::Duration;

use crate::judge::ClientReply;
use crate::plan::{Case, Disturbance, Step};
use crate::run::Recording;

/// Who hears nothing for longer than this is given up by many clients.
const UNTOLD: Duration = Duration::from_secs(60);
/// A call that takes less is not slow.
const NOTICED: Duration = Duration::from_millis(150);
/// Whoever is quick takes at most this part of that, and is kept waiting for this part.
const MUCH: u32 = 5;
const AS_LONG: f64 = 0.8;

/// What is to be told of one case, in words.
pub fn remark(case: &Case, recording: &Recording) -> Option<String> {
    case.steps.iter().zip(&recording.steps).find_map(|(step, taken)| {
        let (Step::Disturb(disturbance), Some(after)) = (step, &taken.aftermath) else { return None };
        match **disturbance {
            Disturbance::Drop { .. } if after.unanswered > 0 => Some(
                "numbers the events of its answers, so that clients may resume a lost connection; when one did, the answer \
                 did not come"
                    .to_owned(),
            ),
            Disturbance::Progress { .. } if taken.took >= UNTOLD && after.progress.is_empty() => {
                Some(format!(
                    "takes {} s and tells nothing of its progress; many clients wait no longer than {} s",
                    taken.took.as_secs(),
                    UNTOLD.as_secs()
                ))
            }
            _ => None,
        }
    })
}

/// A tool that takes long alone, and keeps quick ones waiting as long while it is at work.
pub fn stalled(replies: &[ClientReply<'_>]) -> Option<String> {
    let slow = slowest(replies.iter().filter(|reply| reply.alone && took(reply) >= Some(NOTICED)))?;
    let together = replies.iter().filter(|reply| !reply.alone && reply.ask.tool_name() != Some(slow.0));
    together.into_iter().filter_map(|reply| {
        let alone = replies.iter().filter(|other| other.alone && other.ask.form() == reply.ask.form());
        let alone = alone.filter_map(took).max()?;
        let (took, tool) = (took(reply)?, reply.ask.tool_name()?);
        (alone <= slow.1 / MUCH && took >= slow.1.mul_f64(AS_LONG)).then(|| {
            format!(
                "one slow call keeps others waiting: {tool} takes {} ms alone, and {} ms while {} is at work, which takes {} ms",
                alone.as_millis(),
                took.as_millis(),
                slow.0,
                slow.1.as_millis()
            )
        })
    }).next()
}

fn slowest<'a>(alone: impl Iterator<Item = &'a ClientReply<'a>>) -> Option<(&'a str, Duration)> {
    alone.filter_map(|reply| Some((reply.ask.tool_name()?, took(reply)?))).max_by_key(|(_, took)| *took)
}

fn took(reply: &ClientReply<'_>) -> Option<Duration> {
    reply.asked.answered?.checked_sub(reply.asked.asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Intent, Request};
    use crate::run::{Aftermath, Progress, Taken};
    use serde_json::json;

    fn told(seconds: u64, progress: Vec<Progress>) -> Option<String> {
        let request = Request::tool("wait", json!({}));
        let steps = vec![Step::Disturb(Box::new(Disturbance::Progress { request }))];
        let case = Case { steps, ..Case::tool("wait", json!({}), Intent::Example, 0) };
        let aftermath = Some(Box::new(Aftermath { progress, ..Aftermath::default() }));
        let taken = Taken { aftermath, ..Taken::unanswered("tools/call", Duration::from_secs(seconds)) };
        remark(&case, &Recording { steps: vec![taken], stderr: None })
    }

    #[test]
    fn a_long_call_that_tells_nothing_is_remarked_on() {
        assert!(told(61, Vec::new()).is_some());
        assert_eq!(told(59, Vec::new()), None);
        assert_eq!(told(90, vec![Progress { ours: true, value: Some(1.0), late: false }]), None);
    }
}
