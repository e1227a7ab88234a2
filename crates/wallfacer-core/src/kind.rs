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
    /// How a sentence about one finding begins, with `{place}` for the tool; empty where the message says it all.
    pub lead: &'static str,
    /// What it means for those who use the server.
    pub why: &'static str,
    /// What the author of the server can do about it.
    pub change: &'static str,
    /// How a finding of this kind is known to be true.
    pub proof: &'static str,
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

/// Where the page of a kind is, for readers who have no wallfacer at hand.
const PAGES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/kinds/");

impl About {
    /// By the name of the kind.
    pub fn of(name: &str) -> Option<&'static About> {
        static TABLE: [About; FINDING_KINDS.len()] = ABOUT;
        TABLE.iter().find(|about| about.name == name)
    }

    /// The address of the page about this kind.
    pub fn page(&self) -> String {
        format!("{PAGES}{}.md", self.name)
    }

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
            lead: $lead:literal,
            why: $why:literal,
            change: $change:literal,
            proof: $proof:literal,
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

        /// What there is to know of each kind, in the order of [`FINDING_KINDS`].
        pub const ABOUT: [About; FINDING_KINDS.len()] = [
            $(About {
                        name: $name,
                        severity: Severity::$severity,
                        title: $title,
                        lead: $lead,
                        why: $why,
                        change: $change,
                        proof: $proof,
                        references: &[$((ReferenceKind::$reference, $text)),*],
            }),*
        ];

        impl Kind {
            /// The name that stands in files and settings.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Kind::$variant { .. } => $name),*
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
        lead: "a call to {place} crashes the server",
        why: "One request ends the process, and every conversation that goes through it. Clients report a \
              lost connection, and what was in progress is gone.",
        change: "Catch the failure where it happens and answer the request with an error: `isError: true` for \
                 a tool, a JSON-RPC error for anything else.",
        proof: "The process exited, was killed by a signal, or closed the connection right after the \
                request, on fresh servers each time.",
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
        lead: "a call to {place} is never answered",
        why: "The client waits until its own limit, and the model with it. Many clients then drop the \
              whole connection; some servers answer nothing else meanwhile.",
        change: "Bound the work that one request can ask for (size, count, depth, time), and answer with an \
                 error when the bound is reached. Give every call to the outside a timeout.",
        proof: "No answer came within the time limit, and again none on a fresh server with twice the time. \
                A tool that is only slow is not reported.",
        references: [(Cwe, "CWE-835"), (Cwe, "CWE-400")],
    }

    ProtocolError {
        name: "protocol_error",
        severity: High,
        title: "The server sends something that is not a valid message",
        lead: "",
        why: "Clients cannot read it. Strict ones close the connection; others drop the line, and with it \
              perhaps an answer that somebody waits for.",
        change: "Write logs and banners to standard error, never to standard output, and let one place write \
                 all replies. Over HTTP, send only JSON-RPC messages in the declared content type.",
        proof: "The exact bytes that the server sent are in the evidence; they were sent again by a fresh \
                server.",
        references: [(Spec, TRANSPORTS)],
    }

    InternalError {
        name: "internal_error",
        severity: Medium,
        title: "An input makes the server fail internally",
        lead: "{place} fails internally instead of saying what is wrong with its arguments",
        why: "The model is told of a fault that it cannot do anything about, so it gives up or repeats the \
              call. A stack trace also shows how the server is built.",
        change: "Check the arguments before they are used, and answer with an error that names the argument \
                 and what is expected of it.",
        proof: "The answer is an internal error (JSON-RPC code -32603) or carries a stack trace, on fresh \
                servers each time.",
        references: [(Cwe, "CWE-755"), (Cwe, "CWE-209")],
    }

    SchemaViolation {
        name: "schema_violation",
        severity: Medium,
        title: "A result does not match the declared output schema",
        lead: "",
        why: "Clients check structured results against the schema that the tool declares. They refuse a \
              result that does not match, so the call fails although the tool did its work.",
        change: "Correct the result or the `outputSchema` of the tool, so that both say the same.",
        proof: "The result was checked against the tool's own `outputSchema`; the place and the broken \
                keyword are named.",
        references: [(Spec, TOOLS)],
    }

    AcceptedInvalid {
        name: "accepted_invalid",
        severity: Low,
        title: "Arguments that the schema forbids are accepted",
        lead: "",
        why: "The tool succeeds with arguments that its own `inputSchema` rules out. Models read the \
              schema; where it is not enforced, a mistake is carried out instead of being pointed out.",
        change: "Validate the arguments against the `inputSchema` before using them, or loosen the schema if \
                 the value is meant to be allowed.",
        proof: "The call was made with arguments that break the schema, and the tool answered with success.",
        references: [(Cwe, "CWE-20"), (Spec, TOOLS)],
    }

    PropertyFailure(invariant: String) {
        name: "property_failure",
        severity: Medium,
        title: "A rule does not hold",
        lead: "",
        why: "The answer is not what the rule promises to those who use the tool.",
        change: "Correct the tool, or the rule if it asks too much. `wallfacer explain RULE` shows the rule.",
        proof: "The rule was judged on the answer of a fresh server; the value that breaks it is named.",
        references: [(Cwe, "CWE-840")],
    }

    SequenceFailure(sequence: String, step_index: usize, step_call: String) {
        name: "sequence_failure",
        severity: High,
        title: "A sequence of calls does not go as it should",
        lead: "",
        why: "Calls that build on each other (create, read, delete) do not fit together, so a client that \
              uses them in this order gets wrong results.",
        change: "Look at the step that is named, and at what the steps before it left behind.",
        proof: "The whole sequence was made again on a fresh server, and failed at the same step.",
        references: [(Cwe, "CWE-840")],
    }

    StateLeak {
        name: "state_leak",
        severity: High,
        title: "One session sees what belongs to another",
        lead: "{place} shows one session what belongs to another",
        why: "Users who share the server see each other's data.",
        change: "Keep state by session, not in global variables of the process.",
        proof: "A unique value was stored in one session and came back in another.",
        references: [(Cwe, "CWE-488"), (Owasp, "MCP10:2025 Context Injection & Over-Sharing")],
    }

    Race {
        name: "race",
        severity: High,
        title: "Concurrent calls disturb each other",
        lead: "calls to {place} at the same time disturb each other",
        why: "Clients make calls at the same time. Then answers are wrong, or data is lost, and it cannot \
              be reproduced by making the calls one by one.",
        change: "Guard what the calls share with a lock or a transaction, or give each call its own.",
        proof: "No order of the same calls, one after another, explains the answers that came.",
        references: [(Cwe, "CWE-362")],
    }

    DataLoss {
        name: "data_loss",
        severity: High,
        title: "What was stored is lost",
        lead: "{place} loses what it has acknowledged",
        why: "The model was told that it is stored. Clients end servers at any time, machines lose power and \
              disks fill up; then the user's data is gone, and nobody was told.",
        change: "Write the whole of it to a new file, and put that in the place of the old one, before the \
                 call is answered; or use a database with transactions. Where that fails, answer with an error.",
        proof: "A unique value was stored and acknowledged; a server that was started again with the same \
                disk does not show it, although it does so after it ended in peace.",
        references: [(Cwe, "CWE-404")],
    }

    Injection {
        name: "injection",
        severity: Critical,
        title: "An argument makes the server do something it should not",
        lead: "an argument of {place} decides what the server does",
        why: "Whoever writes the argument decides: a user, or a web page or mail that the model read. They \
              can run commands, read files or reach addresses with the rights of the server.",
        change: "Do not build commands, paths, queries or addresses out of text: pass arguments as a list, \
                 resolve paths and check that they are inside the allowed directory, bind values in queries, \
                 and allow addresses by a list.",
        proof: "Proven by its effect in the sandbox: a marker was executed, a file outside the allowed place \
                was opened or written, or an address was reached, because an argument said so.",
        references: [(Cwe, "CWE-74"), (Owasp, "MCP05:2025 Command Injection & Execution")],
    }

    SecretLeak {
        name: "secret_leak",
        severity: High,
        title: "A secret is disclosed",
        lead: "",
        why: "Whatever is in an answer ends up in the model's context, in logs and in transcripts; \
              whatever is sent away is in somebody else's hands. The secret has to be replaced.",
        change: "Never put the environment, headers or configuration into answers, errors or logs. Send a \
                 secret only to the service that it is for.",
        proof: "A secret that was made up for this run, or a variable that the server was given, was found \
                in what the server sent.",
        references: [(Cwe, "CWE-200"), (Owasp, "MCP01:2025 Token Mismanagement & Secret Exposure")],
    }

    UndeclaredBehaviour {
        name: "undeclared_behaviour",
        severity: High,
        title: "A tool does what it says it does not do",
        lead: "{place} does what it says it does not do",
        why: "Clients decide by the annotations and the description of a tool whether to ask the user \
              first. A tool that does more than it says is called without anyone having agreed to it.",
        change: "Correct the annotations (`readOnlyHint`, `destructiveHint`, `idempotentHint`, \
                 `openWorldHint`) and the description, or leave out what the tool should not do.",
        proof: "The system calls of the server were recorded while the tool was called; the one that \
                contradicts it is named.",
        references: [(Cwe, "CWE-912"), (Owasp, "MCP03:2025 Tool Poisoning")],
    }

    ResourceGrowth {
        name: "resource_growth",
        severity: Medium,
        title: "Memory, files or processes are not released",
        lead: "{place} does not release what it uses",
        why: "A server that runs for days becomes slow and is killed in the end.",
        change: "Release what a call opened when it is done (files, connections, child processes), and bound \
                 caches.",
        proof: "The same call was made many times on one server; what it uses grew with each call, and went \
                on growing.",
        references: [(Cwe, "CWE-401"), (Cwe, "CWE-770")],
    }

    Conformance(rule: String) {
        name: "conformance",
        severity: Medium,
        title: "A rule of the MCP specification is broken",
        lead: "",
        why: "Clients that rely on the rule do not work with this server.",
        change: "Change what the message names, or update the SDK that the server is built with.",
        proof: "The exchange that breaks the rule is in the evidence, and happens each time.",
        references: [(Spec, SPECIFICATION)],
    }

    Drift {
        name: "drift",
        severity: Medium,
        title: "The server is not what it was",
        lead: "",
        why: "What was reviewed and accepted is not what runs now. Users who approved the old server have \
              not approved this one.",
        change: "If the change is meant, review it and write the lock file anew (`wallfacer lock`). If not, \
                 find out what changed it.",
        proof: "What the server declares and does now was compared with what was recorded before, or with \
                the other server.",
        references: [(Owasp, "MCP03:2025 Tool Poisoning")],
    }
}

impl Kind {
    /// What there is to know of this kind.
    pub fn about(&self) -> &'static About {
        About::of(self.name()).expect("every kind is in the table")
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

    /// Whether it may show only where something is stored, so that what came before may have a part in it.
    pub fn may_need_state(&self) -> bool {
        matches!(self, Kind::SchemaViolation | Kind::InternalError)
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
