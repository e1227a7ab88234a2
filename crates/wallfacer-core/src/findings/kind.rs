//! What sort of wrong a finding is. The names are the file format: they stand in corpora, baselines and settings.

use serde::{Deserialize, Serialize};

use super::severity::severity_of_rule;
use crate::target::Severity;

/// In files an object: `{"type": "hang", "ms": 5000}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Kind {
    /// The process ended, or the transport closed, because of a request.
    Crash,
    /// No answer, and again none on a fresh server with twice the time.
    Hang {
        /// How long was waited.
        ms: u64,
    },
    ProtocolError,
    InternalError,
    SchemaViolation,
    AcceptedInvalid,
    PropertyFailure {
        invariant: String,
    },
    SequenceFailure {
        sequence: String,
        step_index: usize,
        step_call: String,
    },
    StateLeak,
    Race,
    Injection,
    SecretLeak,
    UndeclaredBehaviour,
    ResourceGrowth,
    Conformance {
        rule: String,
    },
    Drift,
}

impl Kind {
    /// The name that stands in files and settings.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Crash => "crash",
            Kind::Hang { .. } => "hang",
            Kind::ProtocolError => "protocol_error",
            Kind::InternalError => "internal_error",
            Kind::SchemaViolation => "schema_violation",
            Kind::AcceptedInvalid => "accepted_invalid",
            Kind::PropertyFailure { .. } => "property_failure",
            Kind::SequenceFailure { .. } => "sequence_failure",
            Kind::StateLeak => "state_leak",
            Kind::Race => "race",
            Kind::Injection => "injection",
            Kind::SecretLeak => "secret_leak",
            Kind::UndeclaredBehaviour => "undeclared_behaviour",
            Kind::ResourceGrowth => "resource_growth",
            Kind::Conformance { .. } => "conformance",
            Kind::Drift => "drift",
        }
    }

    /// The weight where neither the check nor the user says otherwise.
    pub fn default_severity(&self) -> Severity {
        match self {
            Kind::Crash | Kind::Injection => Severity::Critical,
            Kind::Hang { .. }
            | Kind::ProtocolError
            | Kind::SequenceFailure { .. }
            | Kind::StateLeak
            | Kind::Race
            | Kind::SecretLeak
            | Kind::UndeclaredBehaviour => Severity::High,
            Kind::InternalError
            | Kind::SchemaViolation
            | Kind::ResourceGrowth
            | Kind::Conformance { .. }
            | Kind::Drift => Severity::Medium,
            Kind::PropertyFailure { invariant } => severity_of_rule(invariant),
            Kind::AcceptedInvalid => Severity::Low,
        }
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

    /// One of each, with some content: what files, settings and the JSON Schema are held against.
    #[cfg(test)]
    pub(super) fn examples() -> [Kind; 16] {
        [
            Kind::Crash,
            Kind::Hang { ms: 5_000 },
            Kind::ProtocolError,
            Kind::InternalError,
            Kind::SchemaViolation,
            Kind::AcceptedInvalid,
            Kind::PropertyFailure { invariant: "auth.whoami".to_owned() },
            Kind::SequenceFailure {
                sequence: "auth-flow".to_owned(),
                step_index: 2,
                step_call: "logout".to_owned(),
            },
            Kind::StateLeak,
            Kind::Race,
            Kind::Injection,
            Kind::SecretLeak,
            Kind::UndeclaredBehaviour,
            Kind::ResourceGrowth,
            Kind::Conformance { rule: "ping".to_owned() },
            Kind::Drift,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::FINDING_KINDS;
    use serde_json::json;

    #[test]
    fn every_kind_has_the_name_that_settings_know() {
        assert_eq!(Kind::examples().map(|kind| kind.name()), FINDING_KINDS);
    }

    #[test]
    fn a_kind_is_an_object_with_its_name_as_type_and_reads_back() {
        for kind in Kind::examples() {
            let stored = serde_json::to_value(&kind).unwrap();
            assert_eq!(stored["type"], kind.name());
            assert_eq!(serde_json::from_value::<Kind>(stored).unwrap(), kind);
        }
        assert_eq!(json!(Kind::Hang { ms: 7 }), json!({ "type": "hang", "ms": 7 }));
    }
}
