//! Judges a history of concurrent writes and reads: is there an order of them, one after another, that explains it?
//!
//! Each write adds one value that no other write adds, so an order exists unless one of a few things happened, and each of
//! these shows in a handful of operations. The work grows about as the history does: a read is only looked at value by
//! value where the number of values that it must show is not the number that it shows.

mod counter;

pub use counter::miscount;

use std::collections::{BTreeMap, BTreeSet};

/// The number of a written value.
pub type Value = usize;
/// The place of an operation in the history.
pub type Place = usize;

/// Anomalies that are told of one history.
const MAX_ANOMALIES: usize = 64;

/// One operation of one client; times are nanoseconds since any moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub asked: u64,
    /// None where no answer came: it may have happened, now or later.
    pub answered: Option<u64>,
    pub act: Act,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Write {
        value: Value,
        done: Done,
    },
    /// The values that it showed, each with how often and how much of it.
    Read(Vec<Shown>),
    /// It was answered that what is stored cannot be read.
    Unreadable,
}

/// What a write was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It was acknowledged.
    Yes,
    /// It was refused.
    No,
    /// Nobody knows.
    Maybe,
}

/// One value in a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    pub value: Value,
    pub times: u32,
    /// Only a part of what was written in one call.
    pub torn: bool,
}

/// Something that no order explains, with the operations that show it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// What is stored cannot be read any more, though it could be.
    Unreadable { before: Place, read: Place },
    /// A write was acknowledged, and a later read does not show it.
    Lost { value: Value, write: Place, read: Place },
    /// One read shows it, and a later one does not.
    Vanished { value: Value, seen: Place, read: Place },
    /// A write was refused, or not yet asked for, and a read shows it.
    Phantom { value: Value, write: Place, read: Place },
    /// One write shows more than once.
    Doubled { value: Value, write: Place, read: Place },
    /// A read shows a part of what one call wrote.
    Torn { value: Value, write: Place, read: Place },
}

/// All that no order explains, as far as it is told; each value once, as the gravest that happened to it.
pub fn anomalies(history: &[Operation]) -> Vec<Anomaly> {
    let known = Known::of(history);
    let mut found = BTreeMap::new();
    let mut reads: Vec<(Place, &Operation, &[Shown])> = Vec::new();
    for (place, operation) in history.iter().enumerate() {
        if let Act::Read(shown) = &operation.act {
            reads.push((place, operation, shown));
        }
    }
    let unreadable = unreadable(history);
    reads.sort_by_key(|(place, read, _)| (read.asked, *place));
    let mut before: Option<(Place, &Operation, &[Shown])> = None;
    for (place, read, shown) in reads {
        if found.len() >= MAX_ANOMALIES {
            break;
        }
        let seen = before.filter(|(_, before, _)| known.is_quiet_between(before, read));
        let missing = known.missing(read, shown, place).into_iter().map(|missing| missing.after(seen));
        for anomaly in missing.chain(known.odd(read, shown, place)) {
            found.entry(anomaly.value()).or_insert(anomaly);
        }
        before = Some((place, read, shown));
    }
    let mut all: Vec<Anomaly> = unreadable.into_iter().chain(found.into_values()).collect();
    all.sort();
    all.truncate(MAX_ANOMALIES);
    all
}

impl Anomaly {
    /// What was written and is missing has vanished where the read before showed it, and nobody has written since.
    fn after(self, before: Option<(Place, &Operation, &[Shown])>) -> Anomaly {
        let Some((seen, _, shown)) = before else { return self };
        match self {
            Anomaly::Lost { value, read, .. } if shown.iter().any(|shown| shown.value == value) => {
                Anomaly::Vanished { value, seen, read }
            }
            other => other,
        }
    }

    fn value(&self) -> Option<Value> {
        match self {
            Anomaly::Unreadable { .. } => None,
            Anomaly::Lost { value, .. }
            | Anomaly::Vanished { value, .. }
            | Anomaly::Phantom { value, .. }
            | Anomaly::Doubled { value, .. }
            | Anomaly::Torn { value, .. } => Some(*value),
        }
    }

    /// The operations that show it.
    pub fn places(&self) -> [Place; 2] {
        match *self {
            Anomaly::Unreadable { before, read } => [before, read],
            Anomaly::Vanished { seen, read, .. } => [seen, read],
            Anomaly::Lost { write, read, .. }
            | Anomaly::Phantom { write, read, .. }
            | Anomaly::Doubled { write, read, .. }
            | Anomaly::Torn { write, read, .. } => [write, read],
        }
    }
}

/// The last read of a history that fails for good, after one that did not.
fn unreadable(history: &[Operation]) -> Option<Anomaly> {
    let reads = history.iter().enumerate();
    let mut reads = reads.filter(|(_, operation)| !matches!(operation.act, Act::Write { .. }));
    let (last, operation) = reads.next_back()?;
    let before = history[..last].iter().rposition(|before| {
        matches!(before.act, Act::Read(_)) && before.answered.is_some_and(|at| at < operation.asked)
    })?;
    (operation.act == Act::Unreadable).then_some(Anomaly::Unreadable { before, read: last })
}

/// When each value was first known to be there.
struct Known {
    writes: BTreeMap<Value, (Place, u64, Done)>,
    /// The moment, the value, and the operation that says so; in order.
    since: Vec<(u64, Value, Place)>,
    of: BTreeMap<Value, u64>,
    /// When writes were asked for, in order, and when all up to that one were answered.
    quiet: Vec<(u64, u64)>,
}

impl Known {
    fn of(history: &[Operation]) -> Known {
        let mut writes = BTreeMap::new();
        let mut first: BTreeMap<Value, (u64, Place)> = BTreeMap::new();
        let mut hear = |value: Value, at: u64, place: Place| {
            let known = first.entry(value).or_insert((at, place));
            *known = (*known).min((at, place));
        };
        for (place, operation) in history.iter().enumerate() {
            match (&operation.act, operation.answered) {
                (Act::Write { value, done }, answered) => {
                    writes.insert(*value, (place, operation.asked, *done));
                    if let (Done::Yes, Some(at)) = (done, answered) {
                        hear(*value, at, place);
                    }
                }
                (Act::Read(shown), Some(at)) => shown.iter().for_each(|shown| hear(shown.value, at, place)),
                (Act::Read(_) | Act::Unreadable, _) => {}
            }
        }
        let mut since: Vec<_> = first.iter().map(|(value, (at, place))| (*at, *value, *place)).collect();
        since.sort_unstable();
        let of = since.iter().map(|(at, value, _)| (*value, *at)).collect();
        let mut quiet: Vec<(u64, u64)> = history
            .iter()
            .filter(|operation| matches!(operation.act, Act::Write { .. }))
            .map(|write| (write.asked, write.answered.unwrap_or(u64::MAX)))
            .collect();
        quiet.sort_unstable();
        let mut last = 0;
        for (_, answered) in &mut quiet {
            last = last.max(*answered);
            *answered = last;
        }
        Known { writes, since, of, quiet }
    }

    /// Whether one read followed the other with no write under way since the first was asked for.
    fn is_quiet_between(&self, before: &Operation, read: &Operation) -> bool {
        let (Some(first), Some(last)) = (before.answered, read.answered) else { return false };
        let asked = self.quiet.partition_point(|(asked, _)| *asked <= last);
        let over = asked.checked_sub(1).map_or(0, |place| self.quiet[place].1);
        first < read.asked && over < before.asked
    }

    /// What a read must show and does not.
    fn missing(&self, read: &Operation, shown: &[Shown], place: Place) -> Vec<Anomaly> {
        let due = self.since.partition_point(|(at, _, _)| *at < read.asked);
        let is_due = |value: &Value| self.of.get(value).is_some_and(|at| *at < read.asked);
        let seen: BTreeSet<Value> = shown.iter().map(|shown| shown.value).collect();
        if seen.iter().filter(|value| is_due(value)).count() == due {
            return Vec::new();
        }
        let missing = self.since[..due].iter().filter(|(_, value, _)| !seen.contains(value));
        let anomaly = |(_, value, first): &(u64, Value, Place)| match self.writes.get(value) {
            Some((write, _, _)) if write == first => {
                Anomaly::Lost { value: *value, write: *write, read: place }
            }
            _ => Anomaly::Vanished { value: *value, seen: *first, read: place },
        };
        missing.take(MAX_ANOMALIES).map(anomaly).collect()
    }

    /// What a read shows and must not, or not so.
    fn odd(&self, read: &Operation, shown: &[Shown], place: Place) -> Vec<Anomaly> {
        let mut odd = Vec::new();
        for Shown { value, times, torn } in shown {
            let Some((write, asked, done)) = self.writes.get(value) else { continue };
            let (value, write) = (*value, *write);
            let early = read.answered.is_some_and(|at| at < *asked);
            if *done == Done::No || early {
                odd.push(Anomaly::Phantom { value, write, read: place });
            } else if *times > 1 {
                odd.push(Anomaly::Doubled { value, write, read: place });
            } else if *torn {
                odd.push(Anomaly::Torn { value, write, read: place });
            }
        }
        odd
    }
}

#[cfg(test)]
mod tests;
