//! How grave is a broken rule of a pack? As grave as a finding of a check that proves the same: what counts is who can do
//! what to whom, and not who looked. `docs/findings.md` has the table for people.

use crate::severity::Severity;

/// Beginnings of the names of rules; the longest that fits holds. What is not here is medium.
const RULES: [(&str, Severity); 17] = [
    // Who may call a tool gets at what the server was not to touch, or runs what he likes.
    ("path.", Severity::Critical),
    ("shell.", Severity::Critical),
    ("sql.second_statement", Severity::Critical),
    // Secrets, accounts and trust of the user are at stake, or the server does what it denies.
    ("auth.", Severity::High),
    ("authz.", Severity::High),
    ("effects.", Severity::High),
    ("poison.", Severity::High),
    ("prompt.secrets_stay_inside", Severity::High),
    ("secrets.", Severity::High),
    // What a check of internal errors finds too.
    ("error_quality.error_has_no_stack", Severity::Medium),
    // It works, and whoever uses it has more trouble than needed.
    ("annotations.", Severity::Low),
    ("error.", Severity::Low),
    ("error_quality.", Severity::Low),
    ("pagination.", Severity::Low),
    ("quality.", Severity::Low),
    ("rate.", Severity::Low),
    ("unicode.", Severity::Low),
];

/// The weight of a rule, where the user does not say otherwise.
pub fn severity_of_rule(name: &str) -> Severity {
    let fitting = RULES.iter().filter(|(beginning, _)| name.starts_with(beginning));
    fitting.max_by_key(|(beginning, _)| beginning.len()).map_or(Severity::Medium, |(_, severity)| *severity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_weighs_what_a_check_of_the_same_weighs() {
        for (name, severity) in [
            ("path.dots", Severity::Critical),
            ("effects.read_only_writes_nothing.list", Severity::High),
            ("error_quality.error_has_no_stack.list", Severity::Medium),
            ("error_quality.error_says_something.list", Severity::Low),
            ("sql.quote_reaches_no_parser", Severity::Medium),
            ("anything of your own", Severity::Medium),
        ] {
            assert_eq!(severity_of_rule(name), severity, "{name}");
        }
    }
}
