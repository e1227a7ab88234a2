//! Which bug is a failure one of? Failures of one bug are told as one finding, whatever found them and however many tools
//! and arguments they show in.

use serde::{Deserialize, Serialize};

use super::{Cause, Kind};
use crate::plan::Subject;

/// Tools in which a bug must show to be one of the server, where two can hardly have it independently.
const SAME_PLACE: usize = 2;
/// The same where two tools may well have a fault each.
const SAME_WORDS: usize = 3;
/// The name of all ways in which one tool takes what its schema forbids.
const REFUSES_INVALID: &str = "refuses-invalid";
/// One name for all ways in which a tool's code fails on arguments that its schema forbids.
const CHECKS_ARGUMENTS: &str = "checks-arguments";
/// The check that a server goes on working.
pub const STAYS_HEALTHY: &str = "stays-healthy";

/// What failures of one bug have in common. The tool is no part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bug {
    kind: &'static str,
    cause: Cause,
}

/// What a stored finding keeps of its bug.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BugMark {
    /// The name of the rule or check and what of it is broken; empty for what is neither.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// In how many tools it must show to be one of the server.
    pub tools: usize,
}

/// A failure that is nothing new where another one shows in the same tool.
struct Same {
    /// The beginning of a rule's name, or of the label of a check's cause.
    failure: &'static str,
    /// The kind that says it already, and the label of its cause: a check, or a check and what of it.
    kind: &'static str,
    cause: &'static str,
}

const fn same(failure: &'static str, kind: &'static str, cause: &'static str) -> Same {
    Same { failure, kind, cause }
}

/// What says the same as what. The first column holds rules of packs, and causes of checks that another check includes.
const SAYS_THE_SAME: [Same; 31] = [
    same("error.shows_no_stack", "internal_error", ""),
    same("error.shows_no_home", "internal_error", ""),
    same("error_quality.error_has_no_stack", "internal_error", ""),
    same("error_quality.error_says_something", "internal_error", ""),
    same("error_quality.missing_argument_is_named", "internal_error", ""),
    same("effects.read_only_writes_nothing", "undeclared_behaviour", "only-reads"),
    same("effects.harmless_deletes_nothing", "undeclared_behaviour", "takes-nothing-away"),
    same("effects.harmless_deletes_nothing", "undeclared_behaviour", "only-reads"),
    same("effects.closed_world_stays_home", "undeclared_behaviour", "stays-inside"),
    same("effects.offline_is_offline", "undeclared_behaviour", "stays-inside"),
    same("effects.secrets_are_left_alone", "undeclared_behaviour", "leaves-secrets-alone"),
    same("effects.secrets_are_left_alone", "secret_leak", ""),
    same("idempotent.second_call_leaves_nothing_new", "undeclared_behaviour", "changes-once"),
    same("path.", "injection", "no-injection path"),
    same("path.sibling", "injection", "no-injection path prefix"),
    same("path.link", "injection", "no-injection symlink"),
    same("secrets.files_are_not_included", "injection", "no-injection path"),
    same("secrets.", "secret_leak", ""),
    same("shell.", "injection", "no-injection command"),
    same("sql.", "injection", "no-injection statement"),
    same("spec.declared_output_is_there", "schema_violation", ""),
    same("spec.structured_content_is_an_object", "schema_violation", ""),
    same("large.", "resource_growth", "no-blow-up"),
    // Who checks no path at all is led out by links and by names that begin alike, too.
    same("no-injection symlink", "injection", "no-injection path"),
    same("no-injection path prefix", "injection", "no-injection path"),
    // Who runs what he likes reads, writes and reaches what he likes.
    same("no-injection option", "injection", "no-injection command"),
    same("no-injection path", "injection", "no-injection command"),
    same("no-injection request", "injection", "no-injection command"),
    same("no-injection scheme", "injection", "no-injection command"),
    same("no-injection symlink", "injection", "no-injection command"),
    // A secret that is read without being asked for is told with where it went.
    same("leaves-secrets-alone", "secret_leak", "keeps-what-is-planted"),
];

impl Bug {
    pub fn of(kind: &Kind, cause: &Cause, subject: &Subject) -> Bug {
        let cause = match kind {
            Kind::AcceptedInvalid => Cause::rule(REFUSES_INVALID, None),
            Kind::InternalError if cause.is_of_unchecked_arguments() => Cause::rule(CHECKS_ARGUMENTS, None),
            Kind::PropertyFailure { invariant } => Cause::rule(of_all_tools(invariant, subject), None),
            _ => cause.anywhere(),
        };
        Bug { kind: kind.name(), cause }
    }

    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Whether it is that a rule is broken.
    pub fn is_of_rule(&self) -> bool {
        self.kind == (Kind::PropertyFailure { invariant: String::new() }).name()
    }

    /// Whether it is that a server goes on failing after calls that it took.
    pub fn is_of_health(&self) -> bool {
        self.cause.label() == STAYS_HEALTHY
    }

    /// Whether one tool may have it in several ways.
    pub fn has_ways(&self) -> bool {
        self.kind == Kind::AcceptedInvalid.name() || self.cause.is_of_payload() || self.is_unchecked()
    }

    /// Whether the bug is that arguments are not checked against the schema.
    fn is_unchecked(&self) -> bool {
        self.cause.label() == CHECKS_ARGUMENTS
    }

    /// Whether it shows in so many tools that it lies in what they share.
    pub fn is_of_the_server(&self, subjects: usize) -> bool {
        // Silence has no cause that could be told from another.
        self.kind != (Kind::Hang { ms: 0 }).name() && subjects >= self.tools_of_the_server()
    }

    fn tools_of_the_server(&self) -> usize {
        let scope = self.cause.label().starts_with("no-injection path")
            || self.cause.label().starts_with("no-injection symlink");
        // What every call opens, none of the tools does.
        let opens = self.cause.label().starts_with("leaves-secrets-alone");
        // What two tools do to what they share is done in one place.
        let together = self.cause.label().starts_with("answers-in-company");
        let shared = scope || opens || together || self.is_unchecked() || self.is_of_rule();
        let one_place = self.cause.names_its_place() || shared;
        if one_place { SAME_PLACE } else { SAME_WORDS }
    }

    /// What a finding of it keeps.
    pub fn mark(&self) -> BugMark {
        BugMark { cause: self.cause.label(), tools: self.tools_of_the_server() }
    }

    /// Whether its failure in a tool is nothing new where the other shows in the same tool.
    pub fn is_told_by(&self, other: &Bug) -> bool {
        self != other && says_the_same(&self.cause.label(), other.kind, &other.cause.label())
    }
}

/// Whether a failure of this cause is nothing new where a finding of that kind and cause shows in the same tool.
pub fn says_the_same(label: &str, kind: &str, told: &str) -> bool {
    let is_of = |cause: &str| match cause.contains(' ') {
        true => told == cause,
        false => cause.is_empty() || told.split(' ').next() == Some(cause),
    };
    let fits = |same: &Same| label.starts_with(same.failure) && kind == same.kind && is_of(same.cause);
    SAYS_THE_SAME.iter().any(fits)
}

/// The name of a rule that is made for every tool, without the tool.
fn of_all_tools<'r>(rule: &'r str, subject: &Subject) -> &'r str {
    let own = subject.tool().and_then(|tool| rule.strip_suffix(tool)?.strip_suffix('.'));
    own.filter(|name| !name.is_empty()).unwrap_or(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Given;

    fn tool(name: &str) -> Subject {
        Subject::Tool(name.to_owned())
    }

    fn rule(name: &str, of: &str) -> Bug {
        let kind = Kind::PropertyFailure { invariant: name.to_owned() };
        Bug::of(&kind, &Cause::rule(name, None), &tool(of))
    }

    fn injection(part: &str) -> Bug {
        Bug::of(&Kind::Injection, &Cause::rule("no-injection", Some(part)), &tool("read"))
    }

    #[test]
    fn a_rule_for_every_tool_is_one_bug_and_another_rule_is_another() {
        assert_eq!(rule("error.shows_no_stack.read", "read"), rule("error.shows_no_stack.list", "list"));
        assert_ne!(rule("error.shows_no_stack.read", "read"), rule("error.shows_no_home.read", "read"));
        assert_eq!(rule("mine", "read"), rule("mine", "list"));
    }

    #[test]
    fn one_way_in_is_one_bug_through_whatever_argument() {
        assert_eq!(injection("path at /a"), injection("path at /b/*"));
        assert_ne!(injection("path at /a"), injection("command at /a"));
        let takes = |at| Bug::of(&Kind::AcceptedInvalid, &Cause::schema(at, "type"), &tool("read"));
        assert_eq!(takes("/a"), takes("/b"));
    }

    #[test]
    fn what_nobody_holds_against_a_schema_is_one_bug_of_a_tool_and_from_two_tools_on_of_the_server() {
        let error = |text: &str| Cause::error(-32603, text, &Given::default());
        let bug = |cause: &Cause| Bug::of(&Kind::InternalError, cause, &tool("read"));
        let [first, second] = ["items.map is not a function", "cannot read properties of null"].map(error);
        assert_ne!(bug(&first), bug(&second));
        let one = bug(&first.clone().of_unchecked_arguments());
        assert_eq!(one, bug(&second.of_unchecked_arguments()));
        assert!(one.has_ways() && one.is_of_the_server(2) && !one.is_of_the_server(1));
        assert!(!bug(&first).has_ways());
        let trace = "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\nKeyError: 'x'\n";
        let thrown = error(trace);
        assert_eq!(bug(&thrown), bug(&thrown.clone().of_unchecked_arguments()), "its place is known");
    }

    #[test]
    fn one_place_in_what_two_tools_return_is_one_bug_and_the_root_is_not() {
        let broken = |at| Bug::of(&Kind::SchemaViolation, &Cause::schema(at, "type"), &tool("read"));
        assert!(broken("/shelves/0").is_of_the_server(2));
        assert!(!broken("").is_of_the_server(2) && broken("").is_of_the_server(3));
    }

    #[test]
    fn a_rule_says_what_a_check_says_and_not_the_other_way_round() {
        let (check, by_rule) = (injection("path at /a"), rule("path.dots", "read"));
        assert!(by_rule.is_told_by(&check));
        assert!(!check.is_told_by(&by_rule));
        assert!(!rule("mine", "read").is_told_by(&check));
        let (prefix, link) = (injection("path prefix at /a"), injection("symlink at /a"));
        assert!(prefix.is_told_by(&check) && link.is_told_by(&check));
        assert!(!check.is_told_by(&prefix) && !link.is_told_by(&prefix) && !check.is_told_by(&link));
        let command = injection("command at /a");
        assert!(check.is_told_by(&command) && prefix.is_told_by(&command) && !command.is_told_by(&check));
    }

    #[test]
    fn how_many_tools_make_a_bug_of_the_server() {
        assert!(injection("path at /a").is_of_the_server(2));
        assert!(!injection("command at /a").is_of_the_server(2));
        assert!(injection("command at /a").is_of_the_server(3));
        assert!(!Bug::of(&Kind::Hang { ms: 1 }, &Cause::silence(), &tool("a")).is_of_the_server(9));
    }
}
