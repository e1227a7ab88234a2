//! The one table of behaviours: what a server does to the world, and what a watched run must say of it.

use crate::flaw::{Expect, Flaw};

/// Played by `wallfacer-fixture behaviour NAME [--fixed]`. Each keeps what it writes in its working directory.
pub fn behaviours() -> &'static [Flaw] {
    BEHAVIOURS
}

static BEHAVIOURS: &[Flaw] = &[
    behaviour(
        "leaky-notes",
        "Formats notes. Reads a key of the user and sends it away; the honest twin looks the same.",
        &[sent("format_note")],
    ),
    behaviour(
        "leaky-notes-encoded",
        "Sends a password of the user away in hexadecimal.",
        &[sent("format_note")],
    ),
    behaviour(
        "leaky-notes-in-part",
        "Sends the first bytes of a key of the user away.",
        &[sent("format_note")],
    ),
    behaviour(
        "named-after-keys",
        "Is called after keys, says that it formats notes, and reads a key that nobody asked for.",
        &[undeclared("ssh_note", HIGH)],
    ),
    behaviour(
        "named-after-passwords",
        "Is called after the file with the passwords of the machine, and tries to read it.",
        &[undeclared("shadow_note", HIGH)],
    ),
    behaviour(
        "reads-several-secrets",
        "Opens three secrets of the user: one finding that names them all.",
        &[undeclared("format_note", HIGH)],
    ),
    behaviour(
        "reads-settings-beside-it",
        "Opens a file with secrets in the directory where it was started.",
        &[undeclared("format_note", HIGH)],
    ),
    behaviour(
        "hides-in-a-log",
        "Says that it only reads, and overwrites a file that is called a log.",
        &[undeclared("list_notes", HIGH)],
    ),
    behaviour(
        "variable-sent-away",
        "Asks a service with the token in the variable GITHUB_TOKEN, and sends it to somebody else too.",
        &[sent("list_issues")],
    ),
    behaviour(
        "variable-sent-away-encoded",
        "Sends the first half of a token of its environment away in hexadecimal.",
        &[sent("list_issues")],
    ),
    behaviour(
        "reads-credentials",
        "Opens credentials of the user, and does nothing with them.",
        &[undeclared("format_note", HIGH)],
    ),
    behaviour("shows-secret", "Puts a secret of the user into its answer.", &[leak("format_note")]),
    behaviour("logs-secret", "Puts a secret of the user into a log message.", &[leak("format_note")]),
    behaviour(
        "reads-shadow",
        "Tries to read the passwords of the machine.",
        &[undeclared("format_note", HIGH)],
    ),
    behaviour(
        "reaches-docker",
        "Speaks to the socket of the container engine.",
        &[undeclared("format_note", HIGH)],
    ),
    behaviour(
        "reads-secret-at-start",
        "Opens a key of the user before anything is asked.",
        &[Expect { kind: "undeclared_behaviour", tool: None, severity: HIGH }],
    ),
    behaviour(
        "read-only-writes",
        "Says that it only reads, and writes a file.",
        &[undeclared("list_notes", HIGH)],
    ),
    behaviour(
        "read-only-removes",
        "Says that it only reads, and removes a file that was there.",
        &[undeclared("list_notes", HIGH)],
    ),
    behaviour(
        "read-only-runs-writer",
        "Says that it only reads, and starts a program that writes.",
        &[undeclared("list_notes", HIGH)],
    ),
    behaviour(
        "denies-to-modify",
        "Its description says that it does not modify anything, and it writes a file.",
        &[undeclared("list_notes", HIGH)],
    ),
    behaviour(
        "closed-world-connects",
        "Says that its world is closed, and connects to a host outside.",
        &[undeclared("count_notes", HIGH)],
    ),
    behaviour(
        "denies-network-connects",
        "Its description says that it is purely local, and it connects to a host outside.",
        &[undeclared("count_notes", HIGH)],
    ),
    behaviour(
        "idempotent-appends",
        "Says that a second call changes nothing more, and appends a line each time.",
        &[undeclared("tag_note", MEDIUM)],
    ),
    behaviour(
        "additive-removes",
        "Says that it destroys nothing, and removes a file that was there.",
        &[undeclared("file_note", HIGH)],
    ),
    behaviour(
        "additive-removes-branch",
        "Says that it destroys nothing, and removes a branch of a repository.",
        &[undeclared("file_note", HIGH)],
    ),
    behaviour(
        "login-shown-elsewhere",
        "Deals with npm, and shows its login to another host than the one that it is made for.",
        &[sent("publish_package")],
    ),
    // What is worth knowing, and no finding.
    behaviour("telemetry-at-start", "Tells a host outside that it was started.", &[]),
    behaviour("leaves-child", "Starts a program that goes on when the server has ended.", &[]),
    behaviour("seeks-other-application", "Tries to read the settings of another application.", &[]),
    behaviour("writes-outside", "Writes a file in the home directory.", &[]),
    behaviour("writes-beside-its-root", "Is told of a root, and writes beside it.", &[]),
    behaviour("listens", "Waits on a port for whoever comes.", &[]),
    behaviour("never-works", "Refuses every call.", &[]),
    behaviour("runs-program", "Starts a program that changes nothing.", &[]),
    behaviour(
        "settings-at-start",
        "Reads the settings beside it when it is started, and again in each call.",
        &[],
    ),
    behaviour("walks-through", "Looks through all files in the directory where it was started.", &[]),
    behaviour("read-only-with-log", "Only reads, and adds a line to its log.", &[]),
    behaviour(
        "counts-its-use",
        "Only reads, and counts in a file of its own how often it is used, whatever the tool.",
        &[],
    ),
    behaviour("makes-its-store", "Only reads, and makes the place for its notes when it is first used.", &[]),
    behaviour("lists-processes", "Has a program list what runs, which looks at more than it shows.", &[]),
    behaviour("client-of-its-file", "Deals with Kubernetes, and reads the file of its client.", &[]),
    behaviour("database-opened-for-both", "Only reads, from a file that it opens for writing too.", &[]),
    behaviour("read-only-with-scratch", "Only reads, and uses a temporary file that it removes again.", &[]),
    behaviour(
        "additive-commits",
        "Destroys nothing: it writes the message of a commit where git does, and removes it again.",
        &[],
    ),
    behaviour("additive-moves", "Destroys nothing: it moves a file.", &[]),
];

const CRITICAL: &str = "critical";
const HIGH: &str = "high";
const MEDIUM: &str = "medium";

const fn behaviour(name: &'static str, about: &'static str, expected: &'static [Expect]) -> Flaw {
    Flaw { name, about, expected, http: false, together: false }
}

const fn undeclared(tool: &'static str, severity: &'static str) -> Expect {
    Expect { kind: "undeclared_behaviour", tool: Some(tool), severity }
}

const fn leak(tool: &'static str) -> Expect {
    Expect { kind: "secret_leak", tool: Some(tool), severity: HIGH }
}

/// What is sent away weighs more than what is shown.
const fn sent(tool: &'static str) -> Expect {
    Expect { kind: "secret_leak", tool: Some(tool), severity: CRITICAL }
}
