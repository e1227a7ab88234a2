//! Explains what each [`Kind`] of finding means, for someone who sees the word for the first time.

use super::{Kind, Reference, ReferenceKind};

const TRANSPORTS: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports";
const TOOLS: &str = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools";
const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification/2025-11-25";

/// What one kind of finding means.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// A few words.
    pub title: &'static str,
    /// What it means for those who use the server, and what to do about it.
    pub help: &'static str,
    references: &'static [(ReferenceKind, &'static str)],
}

impl About {
    pub fn references(&self) -> Vec<Reference> {
        let made = |(kind, text): &(ReferenceKind, &str)| Reference { kind: *kind, text: (*text).to_owned() };
        self.references.iter().map(made).collect()
    }
}

const fn about(
    title: &'static str,
    help: &'static str,
    references: &'static [(ReferenceKind, &'static str)],
) -> About {
    About { title, help, references }
}

impl Kind {
    pub fn about(&self) -> About {
        use ReferenceKind::{Cwe, Owasp, Spec};
        match self {
            Kind::Crash => about(
                "A request ends the server",
                "The process exits, or the connection closes, because of one request: every other conversation is lost \
                 with it. Catch the failure where it happens and answer with an error.",
                &[(Cwe, "CWE-248"), (Cwe, "CWE-20")],
            ),
            Kind::Hang { .. } => about(
                "A request is never answered",
                "No answer came, and none on a fresh server with twice the time. Bound the work that one request can \
                 ask for, and answer with an error when the bound is met.",
                &[(Cwe, "CWE-835"), (Cwe, "CWE-400")],
            ),
            Kind::ProtocolError => about(
                "What the server sends is no valid message",
                "Clients cannot read such bytes, and many give up the connection. Log to standard error, never to \
                 standard output, and let one place write replies.",
                &[(Spec, TRANSPORTS)],
            ),
            Kind::InternalError => about(
                "An input makes the server fail inside",
                "The server answers with an internal error or a stack trace, where it should have said what is wrong with \
                 the input. Check the input before it is used.",
                &[(Cwe, "CWE-755"), (Cwe, "CWE-209")],
            ),
            Kind::SchemaViolation => about(
                "A result does not keep to the declared output schema",
                "Clients check structured results against the schema that the tool declares, and refuse what does not \
                 fit. Mend the result or the schema.",
                &[(Spec, TOOLS)],
            ),
            Kind::AcceptedInvalid => about(
                "Arguments that the schema forbids are accepted",
                "The tool succeeds with arguments that its own input schema rules out: either the schema is wrong or the \
                 check is missing.",
                &[(Cwe, "CWE-20"), (Spec, TOOLS)],
            ),
            Kind::PropertyFailure { .. } => about(
                "A rule does not hold",
                "An answer breaks a rule that was written for this server. The rule names what was expected.",
                &[(Cwe, "CWE-840")],
            ),
            Kind::SequenceFailure { .. } => about(
                "A sequence of calls does not go as it should",
                "A step of a sequence fails that was written for this server. The step names what was expected.",
                &[(Cwe, "CWE-840")],
            ),
            Kind::StateLeak => about(
                "One session sees what belongs to another",
                "What was planted in one session came back in another. Keep state by session, not in the process.",
                &[(Cwe, "CWE-488"), (Owasp, "MCP10:2025 Context Injection & Over-Sharing")],
            ),
            Kind::Race => about(
                "Concurrent calls disturb each other",
                "No order of the calls, one after another, explains the answers. Guard what the calls share.",
                &[(Cwe, "CWE-362")],
            ),
            Kind::Injection => about(
                "An input makes the server do something",
                "Proven by its effect: a marker was executed, a file outside the declared scope was opened, or an address \
                 was reached, because an argument said so.",
                &[(Cwe, "CWE-74"), (Owasp, "MCP05:2025 Command Injection & Execution")],
            ),
            Kind::SecretLeak => about(
                "A secret comes out",
                "A secret that the server was given appears in a reply, a log line or in bytes that leave the machine.",
                &[(Cwe, "CWE-200"), (Owasp, "MCP01:2025 Token Mismanagement & Secret Exposure")],
            ),
            Kind::UndeclaredBehaviour => about(
                "The server does what it does not say",
                "What was observed contradicts what a tool declares of itself. Mend the tool or its annotations.",
                &[(Cwe, "CWE-912"), (Owasp, "MCP03:2025 Tool Poisoning")],
            ),
            Kind::ResourceGrowth => about(
                "What is taken is not given back",
                "Memory, open files or processes grow with the number of calls, and go on growing.",
                &[(Cwe, "CWE-401"), (Cwe, "CWE-770")],
            ),
            Kind::Conformance { .. } => about(
                "A rule of the specification is broken",
                "The rule is named; clients that rely on it will not work with this server.",
                &[(Spec, SPECIFICATION)],
            ),
            Kind::Drift => about(
                "The server is not what it was",
                "What the server declares or does differs from what was written down when it was last looked at, or from \
                 another server that it is held against.",
                &[(Owasp, "MCP03:2025 Tool Poisoning")],
            ),
        }
    }
}
