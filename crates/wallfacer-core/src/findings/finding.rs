//! A proven fault of a server, with all that is needed to believe it, weigh it and see it again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BugMark, FindingId, Kind, Origin, Reference, Repro};
use crate::plan::Subject;
use crate::target::{Severity, Shown};

/// The longest message; it is one sentence, however much of the server's own text it holds.
const MESSAGE_CHARS: usize = 400;

/// The label of evidence that names the variable whose secret was shown; without it nothing can show again.
pub const VARIABLE: &str = "variable";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "A finding of wallfacer"))]
pub struct Finding {
    /// The hash of what makes it this bug: server, kind, subject and cause.
    pub id: FindingId,
    pub kind: Kind,
    pub severity: Severity,
    /// The tool it is about; null where it is not about one.
    pub tool: Option<String>,
    pub subject: Subject,
    /// Where one cause shows in many tools: all of them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Every way in which it shows, where it shows in several or goes by other names too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sightings: Vec<Sighting>,
    /// The ids that it has where the same shows in more tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wider: Vec<FindingId>,
    /// By what it is known for the same bug in the reports of other parts of a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bug: Option<BugMark>,
    /// One sentence.
    pub message: String,
    /// More of it.
    #[serde(default)]
    pub details: String,
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    pub reproduced: Reproduced,
    pub repro: Repro,
    /// Of the run.
    pub seed: u64,
    /// What was started or reached, without secrets.
    #[serde(default, with = "stored_target")]
    #[cfg_attr(test, schemars(with = "Option<Shown>"))]
    pub target: Option<Shown>,
    /// The server that it was held against, where it was.
    #[serde(default, with = "stored_target", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<Shown>"))]
    pub other: Option<Shown>,
    /// Directories that the server itself says it keeps to: what is planted lies in and around them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<String>,
    #[serde(default)]
    pub server: ServerName,
    /// The protocol version that was spoken.
    #[serde(default)]
    pub protocol: Option<String>,
    #[serde(default)]
    pub references: Vec<Reference>,
    /// RFC 3339, in UTC, so that times sort as text.
    pub first_seen: String,
    /// RFC 3339, in UTC.
    pub last_seen: String,
    /// The command that shows it again, where more is needed than the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// Tells the user who recorded it that it is their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// What of its payload came from replies of the server, until the secrets are taken out of it.
    #[serde(skip)]
    pub learned: BTreeMap<String, Option<String>>,
}

/// A text that proves something, and what it is: the exit status, the end of stderr, a frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    pub label: String,
    pub text: String,
}

/// One way in which a bug shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sighting {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Which argument, which rule, in words; empty where the tool says it all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub way: String,
    /// The ids of a finding that is about this alone.
    pub ids: Vec<FindingId>,
}

/// Seen `k` times in `n` tries on fresh servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reproduced {
    pub k: u32,
    pub n: u32,
}

/// What the server calls itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServerName {
    pub name: Option<String>,
    pub version: Option<String>,
}

impl Finding {
    /// With nothing but what it cannot be without; the caller adds what else is known.
    pub fn new(origin: &Origin, kind: Kind, message: &str, repro: Repro) -> Finding {
        let subject = origin.subject().clone();
        Finding {
            id: origin.id(),
            severity: kind.default_severity(),
            kind,
            tool: subject.tool().map(str::to_owned),
            tools: repro
                .tool()
                .filter(|_| subject == Subject::Server)
                .map(str::to_owned)
                .into_iter()
                .collect(),
            subject,
            sightings: Vec::new(),
            wider: Vec::new(),
            bug: None,
            message: crate::wire::shortened(message, MESSAGE_CHARS),
            details: String::new(),
            evidence: Vec::new(),
            reproduced: Reproduced::default(),
            repro,
            seed: 0,
            target: None,
            other: None,
            stated: Vec::new(),
            server: ServerName::default(),
            protocol: None,
            references: Vec::new(),
            first_seen: String::new(),
            last_seen: String::new(),
            replay: None,
            mark: None,
            learned: BTreeMap::new(),
        }
    }

    /// The command that shows it again.
    pub fn replay_line(&self) -> String {
        self.replay.clone().unwrap_or_else(|| format!("wallfacer replay {}", self.id))
    }

    /// The variables of the user's environment that it shows with.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.evidence
            .iter()
            .filter(|evidence| evidence.label == VARIABLE)
            .map(|evidence| evidence.text.as_str())
    }

    /// Whether it goes by this id, among others: as a whole, or as one of the ways in which it shows.
    pub fn is_known_as(&self, id: &FindingId) -> bool {
        self.id == *id || self.wider.contains(id) || self.sightings.iter().any(|seen| seen.ids.contains(id))
    }

    /// Whether two findings are of one bug, told at different times: the one may stand for more than the other.
    pub fn is_same_as(&self, other: &Finding) -> bool {
        self.is_known_as(&other.id) || other.is_known_as(&self.id)
    }

    /// What it is about, for a person: the name of the tool or of another subject, or the server as a whole.
    pub fn place(&self) -> &str {
        self.subject.name().unwrap_or("the server")
    }
}

impl Reproduced {
    /// Seen in every try, and tried at least once. The rest is flaky and gates nothing.
    pub fn always(self) -> bool {
        self.n > 0 && self.k == self.n
    }
}

/// For serde: a target as it is shown, read back from a file.
pub(crate) mod stored_target {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::target::Shown;

    #[derive(Deserialize)]
    #[serde(remote = "Shown", default = "Shown::default")]
    struct Stored {
        command: Vec<String>,
        cwd: Option<String>,
        env: Vec<String>,
        env_only: Option<Vec<String>>,
        env_pass: Vec<String>,
        protocol: Option<String>,
        roots: Vec<String>,
        keep: Vec<String>,
        url: Option<String>,
        headers: Vec<String>,
    }

    #[derive(Deserialize)]
    struct Read(#[serde(with = "Stored")] Shown);

    pub fn serialize<S: Serializer>(target: &Option<Shown>, serializer: S) -> Result<S::Ok, S::Error> {
        target.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Shown>, D::Error> {
        Ok(Option::<Read>::deserialize(deserializer)?.map(|Read(shown)| shown))
    }
}

#[cfg(test)]
pub(super) mod examples {
    use super::*;
    use crate::findings::{Cause, ReferenceKind};
    use crate::plan::{Case, Intent};
    use serde_json::{Value, json};

    /// A crash of a tool, called with these arguments.
    pub fn crash(tool: &str, arguments: Value) -> Finding {
        let case = Case::tool(tool, arguments, Intent::Valid, 7);
        let cause = Cause::exit(Some(wallfacer_process::Status::Exited(1)), "");
        let origin = Origin::new(Some("demo"), &Kind::Crash, &case.subject, &cause);
        let message = format!("the server ends when `{tool}` is called");
        Finding::new(&origin, Kind::Crash, &message, Repro::new(&case, &case))
    }

    /// A finding with every field filled in.
    pub fn full() -> Finding {
        let text = |text: &str| text.to_owned();
        Finding {
            tools: vec![text("fetch"), text("search")],
            sightings: vec![Sighting {
                tool: Some(text("fetch")),
                way: text("`/q`"),
                ids: vec![FindingId::of(b"one")],
            }],
            wider: vec![FindingId::of(b"two")],
            bug: Some(BugMark { cause: text("no-crash"), tools: 2 }),
            details: text("It was called with a valid argument."),
            evidence: vec![Evidence { label: text("exit status"), text: text("exit code 1") }],
            reproduced: Reproduced { k: 3, n: 3 },
            seed: 42,
            target: Some(Shown {
                command: vec![text("node"), text("server.js")],
                cwd: Some(text("/project")),
                env: vec![text("MODE")],
                env_only: Some(vec![text("PATH")]),
                env_pass: vec![text("TOKEN")],
                protocol: Some(text("2025-06-18")),
                roots: vec![text("/data")],
                keep: vec![text("/home/ada/.config/app")],
                url: Some(text("http://localhost:8000/mcp")),
                headers: vec![text("Authorization")],
            }),
            other: Some(Shown {
                command: vec![text("node"), text("old.js")],
                cwd: Some(text("/project")),
                ..Shown::default()
            }),
            server: ServerName { name: Some(text("demo")), version: Some(text("1.0.0")) },
            protocol: Some(text("2025-11-25")),
            references: vec![Reference { kind: ReferenceKind::Cwe, text: text("CWE-248") }],
            first_seen: text("2026-01-02T03:04:05Z"),
            last_seen: text("2026-01-03T03:04:05Z"),
            replay: Some(text("wallfacer replay 0123456789abcdef --config other.toml")),
            mark: Some("0".repeat(64)),
            learned: BTreeMap::new(),
            ..crash("search", json!({ "q": "x" }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_finding_reads_back_as_it_was_written() {
        for finding in [examples::full(), examples::crash("a", json!({}))] {
            let text = serde_json::to_string(&finding).unwrap();
            assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding);
        }
    }

    #[test]
    fn a_finding_tells_what_a_reader_needs_to_see_it_again_elsewhere() {
        let stored = json!(examples::full());
        let told = [
            &stored["seed"],
            &stored["server"]["version"],
            &stored["protocol"],
            &stored["target"]["command"],
        ];
        assert_eq!(json!(told), json!([42, "1.0.0", "2025-11-25", ["node", "server.js"]]));
    }

    #[test]
    fn the_replay_line_names_the_finding() {
        let finding = examples::crash("a", json!({}));
        assert_eq!(finding.replay_line(), format!("wallfacer replay {}", finding.id));
        assert_eq!(examples::full().replay_line(), "wallfacer replay 0123456789abcdef --config other.toml");
    }

    #[test]
    fn a_message_is_one_line_that_steers_no_terminal() {
        let case = crate::plan::Case::tool("a", json!({}), crate::plan::Intent::Valid, 1);
        let origin = Origin::new(None, &Kind::Crash, &case.subject, &crate::findings::Cause::silence());
        let finding = Finding::new(&origin, Kind::Crash, "a\u{1b}[2J\nb", Repro::new(&case, &case));
        assert_eq!(finding.message, "a\\x1b[2J b");
    }

    #[test]
    fn only_what_was_seen_each_time_is_certain() {
        assert!(Reproduced { k: 3, n: 3 }.always());
        assert!(!Reproduced { k: 2, n: 3 }.always());
        assert!(!Reproduced::default().always());
    }
}
