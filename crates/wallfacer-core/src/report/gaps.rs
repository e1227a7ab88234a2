//! What was not tested, grouped by the reason: one line says what many tools have in common.

use super::verdict::number;
use crate::summary::NotTested;
use crate::wire::shortened;

const NAME: usize = 60;
const WHY: usize = 400;
/// Things that are named in one line.
const NAMED: usize = 4;

/// Some things that were not tested, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    pub why: String,
    /// In the order in which they came.
    pub what: Vec<String>,
}

impl Gap {
    /// `add, remove and 3 more: they are destructive`.
    pub fn line(&self) -> String {
        let named = self.what.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        match self.what.len().saturating_sub(NAMED) {
            0 => format!("{named}: {}", self.why),
            more => format!("{named} and {} more: {}", number(more), self.why),
        }
    }
}

/// The reasons, those that concern most first.
pub fn gaps(not_tested: &[NotTested]) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    for NotTested { what, why } in not_tested {
        let (what, why) = (shortened(what, NAME), shortened(reason(why), WHY));
        match gaps.iter_mut().find(|gap| gap.why == why) {
            Some(gap) if gap.what.contains(&what) => {}
            Some(gap) => gap.what.push(what),
            None => gaps.push(Gap { why, what: vec![what] }),
        }
    }
    gaps.sort_by_key(|gap| std::cmp::Reverse(gap.what.len()));
    gaps
}

/// The reason without the place in the rule that it was met at: it is the same for many rules.
fn reason(why: &str) -> &str {
    why.split_once(wallfacer_rules::CANNOT_BE_FILLED).map_or(why, |(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_one_reason_stands_in_one_line() {
        let not = |what: &str, why: &str| NotTested { what: what.to_owned(), why: why.to_owned() };
        let all = [not("a", "x"), not("b", "y"), not("c", "y"), not("c", "y")];
        let lines: Vec<String> = gaps(&all).iter().map(Gap::line).collect();
        assert_eq!(lines, ["b, c: y", "a: x"]);
        let many: Vec<NotTested> = (0..9).map(|number| not(&format!("t{number}"), "z")).collect();
        assert_eq!(gaps(&many)[0].line(), "t0, t1, t2, t3 and 5 more: z");
        let places = [
            not("a", "`{{canary.path}}` at `$.a` cannot be filled: z"),
            not("b", "`{{canary.link}}` at `$.b` cannot be filled: z"),
        ];
        assert_eq!(gaps(&places)[0].line(), "a, b: z");
    }
}
