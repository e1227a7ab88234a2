//! Judges a counter: is each call counted?

/// A counter that lost calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Miscount {
    pub acknowledged: u64,
    pub counted: i64,
}

/// Whether each call that was acknowledged between two values of a counter is counted. More than that is none of ours to
/// explain: a call without an answer may be counted, and somebody else may count too.
pub fn miscount(before: i64, acknowledged: u64, after: i64) -> Option<Miscount> {
    let counted = after.saturating_sub(before);
    (u64::try_from(counted).unwrap_or(0) < acknowledged).then_some(Miscount { acknowledged, counted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_is_counted_or_some_are_lost() {
        assert_eq!(miscount(3, 3, 6), None);
        assert_eq!(miscount(0, 2, 3), None);
        assert_eq!(miscount(10, 3, 12), Some(Miscount { acknowledged: 3, counted: 2 }));
        assert_eq!(miscount(10, 1, 4), Some(Miscount { acknowledged: 1, counted: -6 }));
    }
}
