//! The texts of the built-in packs, by name.

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../packs/", $name, ".yaml")))),*]
    };
}

pub(super) const TEXTS: &[(&str, &str)] = texts![
    "auth",
    "auth-flow",
    "authorization",
    "context-poisoning",
    "determinism",
    "effects",
    "error-quality",
    "error-shape",
    "idempotency",
    "injection-shell",
    "injection-sql",
    "large-payload",
    "mcp-spec-conformance",
    "pagination",
    "path-traversal",
    "prompt-injection",
    "prompt-injection-v2",
    "rate-limit",
    "secrets-leakage",
    "security",
    "stateful",
    "tool-annotations",
    "tool-quality",
    "unicode",
];
