//! The kinds of finding, in one table: name, usual severity, what it means, and where the world speaks of it.
//!
//! The names are the file format: they stand in corpora, baselines and settings.

use serde::{Deserialize, Serialize};

use crate::rule_severity::severity_of_rule;
use crate::severity::Severity;

const TRANSPORTS: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports";
const TOOLS: &str = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools";
const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification/2025-11-25";

/// What there is to know of one kind of finding.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// As it stands in files and settings.
    pub name: &'static str,
    /// The weight where neither the check nor the user says otherwise.
    pub severity: Severity,
    /// A few words.
    pub title: &'static str,
    /// What it means for those who use the server, and what to do about it.
    pub help: &'static str,
    references: &'static [(ReferenceKind, &'static str)],
}

/// Where the world speaks of this sort of fault.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reference {
    pub kind: ReferenceKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ReferenceKind {
    Spec,
    Cwe,
    Owasp,
}

impl About {
    pub fn references(&self) -> Vec<Reference> {
        let made = |(kind, text): &(ReferenceKind, &str)| Reference { kind: *kind, text: (*text).to_owned() };
        self.references.iter().map(made).collect()
    }
}

/// Makes the enum and its table of one row for each kind. In parentheses stands what only this kind has.
macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $variant:ident $(($($(#[$field_doc:meta])* $field:ident: $type:ty),*))? {
            name: $name:literal,
            severity: $severity:ident,
            title: $title:literal,
            help: $help:literal,
            references: [$(($reference:ident, $text:expr)),*],
        }
    )*) => {
        /// What sort of wrong a finding is. In files an object: `{"type": "hang", "ms": 5000}`.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "type")]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub enum Kind {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $variant $({ $($(#[$field_doc])* $field: $type),* })?
            ),*
        }

        /// The names of all kinds of finding, as they stand in files.
        pub const FINDING_KINDS: [&str; [$($name),*].len()] = [$($name),*];

        impl Kind {
            pub fn about(&self) -> &'static About {
                match self {
                    $(Kind::$variant { .. } => &About {
                        name: $name,
                        severity: Severity::$severity,
                        title: $title,
                        help: $help,
                        references: &[$((ReferenceKind::$reference, $text)),*],
                    }),*
                }
            }

            /// One of each: what files, settings and the JSON Schema are held against.
            #[cfg(test)]
            pub(crate) fn examples() -> [Kind; FINDING_KINDS.len()] {
                [$(Kind::$variant $({ $($field: Default::default()),* })?),*]
            }
        }
    };
}

kinds! {
    /// The process ended, or the transport closed, because of a request.
    Crash {
        name: "crash",
        severity: Critical,
        title: "A request ends the server",
        help: "The process exits, or the connection closes, because of one request: every other conversation is lost \
               with it. Catch the failure where it happens and answer with an error.",
        references: [(Cwe, "CWE-248"), (Cwe, "CWE-20")],
    }

    /// No answer, and again none on a fresh server with twice the time.
    Hang(
        /// How long was waited.
        ms: u64
    ) {
        name: "hang",
        severity: High,
        title: "A request is never answered",
        help: "No answer came, and none on a fresh server with twice the time. Bound the work that one request can \
               ask for, and answer with an error when the bound is met.",
        references: [(Cwe, "CWE-835"), (Cwe, "CWE-400")],
    }

    ProtocolError {
        name: "protocol_error",
        severity: High,
        title: "What the server sends is no valid message",
        help: "Clients cannot read such bytes, and many give up the connection. Log to standard error, never to \
               standard output, and let one place write replies.",
        references: [(Spec, TRANSPORTS)],
    }

    InternalError {
        name: "internal_error",
        severity: Medium,
        title: "An input makes the server fail inside",
        help: "The server answers with an internal error or a stack trace, where it should have said what is wrong with \
               the input. Check the input before it is used.",
        references: [(Cwe, "CWE-755"), (Cwe, "CWE-209")],
    }

    SchemaViolation {
        name: "schema_violation",
        severity: Medium,
        title: "A result does not keep to the declared output schema",
        help: "Clients check structured results against the schema that the tool declares, and refuse what does not \
               fit. Mend the result or the schema.",
        references: [(Spec, TOOLS)],
    }

    AcceptedInvalid {
        name: "accepted_invalid",
        severity: Low,
        title: "Arguments that the schema forbids are accepted",
        help: "The tool succeeds with arguments that its own input schema rules out: either the schema is wrong or the \
               check is missing.",
        references: [(Cwe, "CWE-20"), (Spec, TOOLS)],
    }

    PropertyFailure(invariant: String) {
        name: "property_failure",
        severity: Medium,
        title: "A rule does not hold",
        help: "An answer breaks a rule that was written for this server. The rule names what was expected.",
        references: [(Cwe, "CWE-840")],
    }

    SequenceFailure(sequence: String, step_index: usize, step_call: String) {
        name: "sequence_failure",
        severity: High,
        title: "A sequence of calls does not go as it should",
        help: "A step of a sequence fails that was written for this server. The step names what was expected.",
        references: [(Cwe, "CWE-840")],
    }

    StateLeak {
        name: "state_leak",
        severity: High,
        title: "One session sees what belongs to another",
        help: "What was planted in one session came back in another. Keep state by session, not in the process.",
        references: [(Cwe, "CWE-488"), (Owasp, "MCP10:2025 Context Injection & Over-Sharing")],
    }

    Race {
        name: "race",
        severity: High,
        title: "Concurrent calls disturb each other",
        help: "No order of the calls, one after another, explains the answers. Guard what the calls share.",
        references: [(Cwe, "CWE-362")],
    }

    Injection {
        name: "injection",
        severity: Critical,
        title: "An input makes the server do something",
        help: "Proven by its effect: a marker was executed, a file outside the declared scope was opened, or an address \
               was reached, because an argument said so.",
        references: [(Cwe, "CWE-74"), (Owasp, "MCP05:2025 Command Injection & Execution")],
    }

    SecretLeak {
        name: "secret_leak",
        severity: High,
        title: "A secret comes out",
        help: "A secret that the server was given appears in a reply, a log line or in bytes that leave the machine.",
        references: [(Cwe, "CWE-200"), (Owasp, "MCP01:2025 Token Mismanagement & Secret Exposure")],
    }

    UndeclaredBehaviour {
        name: "undeclared_behaviour",
        severity: High,
        title: "The server does what it does not say",
        help: "What was observed contradicts what a tool declares of itself. Mend the tool or its annotations.",
        references: [(Cwe, "CWE-912"), (Owasp, "MCP03:2025 Tool Poisoning")],
    }

    ResourceGrowth {
        name: "resource_growth",
        severity: Medium,
        title: "What is taken is not given back",
        help: "Memory, open files or processes grow with the number of calls, and go on growing.",
        references: [(Cwe, "CWE-401"), (Cwe, "CWE-770")],
    }

    Conformance(rule: String) {
        name: "conformance",
        severity: Medium,
        title: "A rule of the specification is broken",
        help: "The rule is named; clients that rely on it will not work with this server.",
        references: [(Spec, SPECIFICATION)],
    }

    Drift {
        name: "drift",
        severity: Medium,
        title: "The server is not what it was",
        help: "What the server declares or does differs from what was written down when it was last looked at, or from \
               another server that it is held against.",
        references: [(Owasp, "MCP03:2025 Tool Poisoning")],
    }
}

impl Kind {
    /// The name that stands in files and settings.
    pub fn name(&self) -> &'static str {
        self.about().name
    }

    /// The weight where neither the check nor the user says otherwise.
    pub fn default_severity(&self) -> Severity {
        match self {
            Kind::PropertyFailure { invariant } => severity_of_rule(invariant),
            _ => self.about().severity,
        }
    }

    /// Whether it is that no answer comes.
    pub fn is_hang(&self) -> bool {
        matches!(self, Kind::Hang { .. })
    }

    /// Whether the server is lost by it, so that what came before may have a part in it.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Kind::Crash | Kind::Hang { .. })
    }

    /// The rule, sequence or check that failed, for settings of the form `rule:NAME`.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Kind::PropertyFailure { invariant: rule }
            | Kind::SequenceFailure { sequence: rule, .. }
            | Kind::Conformance { rule } => Some(rule),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_kind_is_an_object_with_its_name_as_type_and_reads_back() {
        assert_eq!(Kind::examples().map(|kind| kind.name()), FINDING_KINDS);
        for kind in Kind::examples() {
            let stored = serde_json::to_value(&kind).unwrap();
            assert_eq!(stored["type"], kind.name());
            assert_eq!(serde_json::from_value::<Kind>(stored).unwrap(), kind);
        }
        assert_eq!(json!(Kind::Hang { ms: 7 }), json!({ "type": "hang", "ms": 7 }));
    }
}
