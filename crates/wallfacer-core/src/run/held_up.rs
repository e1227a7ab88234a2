//! Measures how long the machine kept a server from working. Time that a server was not given is no time that it took.

use std::collections::BTreeMap;
use std::time::Duration;

use wallfacer_process::Process;

/// How long the processes of one server have waited for a processor since the first look. Looked at now and then, for
/// what one that has ended had waited is not known any more.
#[derive(Debug)]
pub struct HeldUp {
    first: BTreeMap<u32, Duration>,
    last: BTreeMap<u32, Duration>,
}

impl HeldUp {
    pub fn since_now(process: Option<&Process>) -> HeldUp {
        let first = queued(process);
        HeldUp { last: first.clone(), first }
    }

    pub fn look(&mut self, process: Option<&Process>) {
        self.last.extend(queued(process));
    }

    /// One process may wait for another, so that their times add up.
    pub fn time(&self) -> Duration {
        let since = |(pid, last): (&u32, &Duration)| {
            last.saturating_sub(self.first.get(pid).copied().unwrap_or_default())
        };
        self.last.iter().map(since).sum()
    }
}

fn queued(process: Option<&Process>) -> BTreeMap<u32, Duration> {
    process.and_then(Process::queued).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_waited_before_the_first_look_does_not_count_and_what_ended_since_does() {
        let seconds = |list: &[(u32, u64)]| -> BTreeMap<u32, Duration> {
            list.iter().map(|(pid, seconds)| (*pid, Duration::from_secs(*seconds))).collect()
        };
        let mut held = HeldUp { first: seconds(&[(1, 10)]), last: seconds(&[(1, 10)]) };
        assert_eq!(held.time(), Duration::ZERO);
        held.last.extend(seconds(&[(1, 12), (2, 3)]));
        held.last.extend(seconds(&[(1, 13)]));
        assert_eq!(held.time(), Duration::from_secs(6));
    }
}
