//! Every key of `wallfacer.toml`, once: the loader, the JSON Schema and `docs/config.md` all follow this table.

/// One key and what may stand there.
#[derive(Debug)]
pub(super) struct Key {
    /// The table it stands in.
    pub section: &'static str,
    pub name: &'static str,
    pub shape: Shape,
    /// As it would be written; empty when there is none.
    pub default: &'static str,
    pub meaning: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Flag,
    /// A whole number between the two.
    Whole(i64, i64),
    Choice(&'static [&'static str]),
    Texts,
    /// A list of regular expressions.
    Patterns,
    TextTable,
    /// Any name, then a whole number between the two.
    WholeTable(i64, i64),
}

/// A day: no reply that late is of use, and sums of such times cannot overflow.
pub(super) const MAX_MILLISECONDS: i64 = 86_400_000;
/// Below this not even an `initialize` reply fits.
const MIN_LINE_BYTES: i64 = 1_024;
/// A line is held in memory as a whole.
const MAX_LINE_BYTES: i64 = 1 << 30;
const MILLISECONDS: Shape = Shape::Whole(1, MAX_MILLISECONDS);

pub(super) const KINDS: &[&str] = &["stdio", "http"];
pub(super) const PROTOCOLS: &[&str] =
    &["auto", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
pub(super) const TRANSPORTS: &[&str] = &["auto", "streamable-http", "sse"];
pub(super) const SANDBOXES: &[&str] = &["auto", "require", "off"];
pub(super) const SEVERITIES: &[&str] = &["low", "medium", "high", "critical"];

/// The tables a file may have. In `severity` and `packs` the user makes the names.
pub(super) const SECTIONS: &[(&str, &str)] = &[
    ("target", "What is started or reached, and how long it may take."),
    ("sandbox", "The world that a server we start lives in."),
    ("behave", "What is left out of what a server was seen to do."),
    ("output", "Where findings are kept."),
    (
        "severity",
        "Severity of findings: per kind (`hang`), per rule (`\"rule:NAME\"`), per tool (`\"tool:NAME.KIND\"`).",
    ),
    ("allow_destructive", "Tools that may be called although they look destructive."),
    ("destructive", "Which tools look destructive."),
    ("differential", "How two servers are compared."),
    ("rules", "Which rule files `check` and `ci` try besides the packs that fit."),
    ("isolation", "Whether sessions are apart."),
    ("packs", "`[packs.NAME]`: parameters of that rule pack; `--param` wins over them."),
];

pub(super) const KEYS: &[Key] = &[
    Key {
        section: "target",
        name: "kind",
        shape: Shape::Choice(KINDS),
        default: "",
        meaning: "The transport. May be left out: `url` means http, `command` alone means stdio.",
    },
    Key {
        section: "target",
        name: "command",
        shape: Shape::Text,
        default: "",
        meaning: "The program to start. With a slash in it, it is relative to this file; otherwise it is looked up in `PATH`. Together with `url` it is started, then reached over HTTP.",
    },
    Key {
        section: "target",
        name: "args",
        shape: Shape::Texts,
        default: "[]",
        meaning: "Its arguments, handed on as they are.",
    },
    Key {
        section: "target",
        name: "env",
        shape: Shape::TextTable,
        default: "{}",
        meaning: "Variables set for it, on top of those it inherits.",
    },
    Key {
        section: "target",
        name: "env_clear",
        shape: Shape::Flag,
        default: "false",
        meaning: "Inherit nothing but the variables in `env_pass`.",
    },
    Key {
        section: "target",
        name: "env_pass",
        shape: Shape::Texts,
        default: "[]",
        meaning: "Variables that are passed on with their real values. With `env_clear`, nothing else is inherited; without it, this exempts them from being replaced by look-alikes in the sandbox.",
    },
    Key {
        section: "target",
        name: "cwd",
        shape: Shape::Text,
        default: "\".\"",
        meaning: "The directory it is started in, relative to this file.",
    },
    Key {
        section: "target",
        name: "roots",
        shape: Shape::Texts,
        default: "[]",
        meaning: "Directories that the server is told of when it asks for roots, relative to this file. Access outside them counts as leaving the declared scope.",
    },
    Key {
        section: "target",
        name: "url",
        shape: Shape::Text,
        default: "",
        meaning: "The address of the server: http or https.",
    },
    Key {
        section: "target",
        name: "headers",
        shape: Shape::TextTable,
        default: "{}",
        meaning: "Headers sent with every request.",
    },
    Key {
        section: "target",
        name: "transport",
        shape: Shape::Choice(TRANSPORTS),
        default: "\"auto\"",
        meaning: "Which HTTP transport `url` speaks; `sse` is the one of 2024-11-05.",
    },
    Key {
        section: "target",
        name: "protocol",
        shape: Shape::Choice(PROTOCOLS),
        default: "\"auto\"",
        meaning: "The protocol version to speak.",
    },
    Key {
        section: "target",
        name: "timeout_ms",
        shape: MILLISECONDS,
        default: "5000",
        meaning: "How long one call may take.",
    },
    Key {
        section: "target",
        name: "startup_timeout_ms",
        shape: MILLISECONDS,
        default: "30000",
        meaning: "How long the server may take from its start to its first answer.",
    },
    Key {
        section: "target",
        name: "probe_timeout_ms",
        shape: MILLISECONDS,
        default: "5000",
        meaning: "Timeout of the request that detects the protocol era.",
    },
    Key {
        section: "target",
        name: "tool_timeouts_ms",
        shape: Shape::WholeTable(1, MAX_MILLISECONDS),
        default: "{}",
        meaning: "`NAME = MS`: a time of its own for one tool, instead of `timeout_ms`.",
    },
    Key {
        section: "target",
        name: "max_line_bytes",
        shape: Shape::Whole(MIN_LINE_BYTES, MAX_LINE_BYTES),
        default: "67108864",
        meaning: "The longest message that is read from the server.",
    },
    Key {
        section: "sandbox",
        name: "mode",
        shape: Shape::Choice(SANDBOXES),
        default: "\"auto\"",
        meaning: "Whether the server is confined: as far as the machine allows, or not tested without, or not at all.",
    },
    Key {
        section: "sandbox",
        name: "net",
        shape: Shape::Text,
        default: "\"sink\"",
        meaning: "What a confined server finds of the network: `sink` answers everything, `deny` has nothing but loopback, `host` is the real one, `allow=HOST:PORT,…` is the sink with these behind it.",
    },
    Key {
        section: "sandbox",
        name: "require",
        shape: Shape::Texts,
        default: "[]",
        meaning: "`observe`, `confine`: without these the server is not tested.",
    },
    Key {
        section: "sandbox",
        name: "keep",
        shape: Shape::Texts,
        default: "[]",
        meaning: "Paths of the home directory, or of another hidden place, that a confined server sees as they are: relative to this file, or from `~`. What it writes there does not reach the real ones. `--keep` adds to them.",
    },
    Key {
        section: "behave",
        name: "noise",
        shape: Shape::Texts,
        default: "[]",
        meaning: "Actions to ignore as noise of the runtime, each as `read`, `write`, `run` or `connect` and a glob.",
    },
    Key {
        section: "behave",
        name: "noise_files",
        shape: Shape::Texts,
        default: "[]",
        meaning: "Files of such lines, relative to this file; a line that starts with `#` is a comment.",
    },
    Key {
        section: "output",
        name: "corpus_dir",
        shape: Shape::Text,
        default: "\".wallfacer/corpus\"",
        meaning: "Where findings are written, relative to this file.",
    },
    Key {
        section: "output",
        name: "lock_timeout_ms",
        shape: MILLISECONDS,
        default: "30000",
        meaning: "Does nothing, and is read so that older files load: runs that write to the same corpus never wait for each other.",
    },
    Key {
        section: "allow_destructive",
        name: "tools",
        shape: Shape::Patterns,
        default: "[]",
        meaning: "Regular expressions on tool names. A tool that matches one is called like any other.",
    },
    Key {
        section: "destructive",
        name: "patterns",
        shape: Shape::Patterns,
        default: "[]",
        meaning: "Regular expressions on tool names. A tool that matches one is taken for destructive.",
    },
    Key {
        section: "destructive",
        name: "replace_defaults",
        shape: Shape::Flag,
        default: "false",
        meaning: "Use `patterns` alone, without the built-in list of destructive verbs.",
    },
    Key {
        section: "rules",
        name: "files",
        shape: Shape::Texts,
        default: "",
        meaning: "Rule files, relative to this file. Without it `invariants.yaml` and `wallfacer.rules.yaml` are tried, where they are in the working directory; `[]` means none.",
    },
    Key {
        section: "differential",
        name: "ignore",
        shape: Shape::Texts,
        default: "[]",
        meaning: "JSONPaths of results that may differ between two servers, such as `$..time`; `--ignore` adds to them.",
    },
    Key {
        section: "isolation",
        name: "shared",
        shape: Shape::Flag,
        default: "",
        meaning: "Whether all sessions see what one of them stores. Where it is left out, that is a finding if the server says that sessions are apart, else a note.",
    },
];

/// The names a section knows, in the order of the table.
pub(super) fn names(section: &str) -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(move |key| key.section == section).map(|key| key.name)
}

pub(super) fn key(section: &str, name: &str) -> &'static Key {
    KEYS.iter()
        .find(|key| key.section == section && key.name == name)
        .expect("the loader asks for keys of the table only")
}
