//! What makes two failures one bug. Its hash is the id: the same over payloads, seeds, time limits and releases.

use serde::Serialize;

use super::{Cause, FindingId, Kind};
use crate::plan::Subject;

/// Changes only when ids are meant to change.
const SCHEME: &str = "wallfacer origin 1";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Origin {
    scheme: &'static str,
    server: String,
    kind: &'static str,
    subject: Subject,
    cause: Cause,
}

impl Origin {
    /// A cause of the whole server belongs to no tool, wherever it was seen.
    pub fn new(server: Option<&str>, kind: &Kind, subject: &Subject, cause: &Cause) -> Origin {
        let subject = if cause.is_server_wide() { Subject::Server } else { subject.clone() };
        let server = server.unwrap_or_default().to_owned();
        Origin { scheme: SCHEME, server, kind: kind.name(), subject, cause: cause.clone() }
    }

    pub fn id(&self) -> FindingId {
        let text = serde_json::to_vec(self).expect("an origin is plain data");
        FindingId::of(&text)
    }

    /// The same of a broader cause.
    pub fn with_cause(&self, cause: &Cause) -> Origin {
        Origin { cause: cause.clone(), ..self.clone() }
    }

    /// The same, shown by the server as a whole.
    pub fn of_the_server(&self) -> Origin {
        Origin { subject: Subject::Server, ..self.clone() }
    }

    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    pub fn cause(&self) -> &Cause {
        &self.cause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Given;
    use crate::plan::{Case, Intent};
    use serde_json::json;
    use std::collections::BTreeSet;
    use wallfacer_process::Status;

    fn tool(name: &str) -> Subject {
        Subject::Tool(name.to_owned())
    }

    fn id(kind: &Kind, subject: &Subject, cause: &Cause) -> FindingId {
        Origin::new(Some("demo"), kind, subject, cause).id()
    }

    fn traceback(line: u32, said: &str) -> String {
        format!(
            "Traceback (most recent call last):\n  File \"/srv/{line}/app.py\", line {line}, in handle\n    \
             return table[x]\nKeyError: {said}\n"
        )
    }

    #[test]
    fn an_id_stays_the_same_from_release_to_release() {
        let cause = Cause::exit(Some(Status::Exited(1)), &traceback(3, "'x'"));
        assert_eq!(id(&Kind::Crash, &tool("search"), &cause).as_str(), "422b4771972418c2");
    }

    #[test]
    fn one_crash_has_one_id_whatever_the_payload_and_the_line() {
        let ids: BTreeSet<_> = [(3, "'a'"), (30, "'b'"), (31, "17")]
            .map(|(line, said)| Cause::exit(Some(Status::Exited(1)), &traceback(line, said)))
            .iter()
            .map(|cause| id(&Kind::Crash, &tool("search"), cause))
            .collect();
        assert_eq!(ids.len(), 1);
    }

    #[test]
    fn a_time_limit_is_no_part_of_an_id() {
        let hang = |ms| id(&Kind::Hang { ms }, &tool("slow"), &Cause::silence());
        assert_eq!(hang(5_000), hang(60_000));
    }

    #[test]
    fn one_refusal_has_one_id_whatever_it_repeats() {
        let ids: BTreeSet<_> =
            ["Europe/Nowhere", "../../etc/passwd", "xxxxxxxxxxxxxxxxxxx", "Ünïcode 🦀", "-17"]
                .iter()
                .map(|value| {
                    let case = Case::tool("now", json!({ "zone": value, "pad": [1] }), Intent::Valid, 1);
                    let said = format!("unknown zone {value} (attempt 3, see /var/log/{value})");
                    Cause::error(-32603, &said, &Given::of(&case))
                })
                .map(|cause| id(&Kind::InternalError, &tool("now"), &cause))
                .collect();
        assert_eq!(ids.len(), 1);
    }

    #[test]
    fn different_bugs_have_different_ids() {
        let given = Given::default();
        let causes = [
            Cause::exit(Some(Status::Exited(1)), ""),
            Cause::exit(Some(Status::Exited(2)), ""),
            Cause::exit(Some(Status::Signalled { signal: 11, core_dumped: false }), ""),
            Cause::exit(None, ""),
            Cause::exit(Some(Status::Exited(1)), &traceback(3, "'x'")),
            Cause::exit(Some(Status::Exited(1)), &traceback(3, "'x'").replace("handle", "parse")),
            Cause::exit(Some(Status::Exited(1)), &traceback(3, "'x'").replace("app.py", "web.py")),
            Cause::error(-32603, "division by zero", &given),
            Cause::error(-32603, "connection refused", &given),
            Cause::error(-32000, "division by zero", &given),
            Cause::schema("/items/3/name", "type"),
            Cause::schema("/items/3/name", "minLength"),
            Cause::schema("/items", "type"),
            Cause::rule("auth.whoami", None),
            Cause::rule("auth.whoami", Some("step 2")),
            Cause::rule("auth.whoareyou", None),
            Cause::silence(),
            Cause::silence().server_wide(),
        ];
        let ids: BTreeSet<_> =
            causes.iter().map(|cause| id(&Kind::InternalError, &tool("a"), cause)).collect();
        assert_eq!(ids.len(), causes.len());
        let kinds: BTreeSet<_> =
            Kind::examples().iter().map(|kind| id(kind, &tool("a"), &Cause::silence())).collect();
        assert_eq!(kinds.len(), 17);
    }

    #[test]
    fn a_tool_and_a_prompt_of_one_name_are_not_one() {
        let cause = Cause::silence();
        let subjects =
            [tool("a"), Subject::Prompt("a".into()), Subject::Resource("a".into()), Subject::Server];
        let ids: BTreeSet<_> = subjects.iter().map(|subject| id(&Kind::Crash, subject, &cause)).collect();
        assert_eq!(ids.len(), 4);
    }

    #[test]
    fn renaming_every_tool_changes_every_id_and_no_count() {
        let causes = [Cause::exit(Some(Status::Exited(1)), ""), Cause::silence(), Cause::rule("r", None)];
        let ids = |rename: fn(&str) -> String| -> BTreeSet<FindingId> {
            let tools = ["search", "fetch"].map(|name| tool(&rename(name)));
            let pairs = tools.iter().flat_map(|tool| causes.iter().map(move |cause| (tool, cause)));
            pairs.map(|(tool, cause)| id(&Kind::Crash, tool, cause)).collect()
        };
        let (before, after) = (ids(str::to_owned), ids(|name| format!("x_{name}")));
        assert_eq!((before.len(), after.len()), (6, 6));
        assert!(before.is_disjoint(&after));
    }
}
