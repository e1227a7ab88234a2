//! Reduces a failure to what makes it this bug and no other. Nothing of the payload, the seed or a time remains, so
//! that the same bug has the same cause in every run.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use wallfacer_process::Status;

use super::Given;
use super::stack::{self, Frame};
use super::wording;
use crate::wire::Faults;

/// The checks whose causes name the argument that a payload went into.
const INJECTION: &str = "no-injection";
const BLOW_UP: &str = "no-blow-up";
/// How the part of a cause begins that is about what is packed.
const PACKED: &str = "packed";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cause {
    what: What,
    server_wide: bool,
    /// Whether code failed on arguments that the schema forbids, because nothing had refused them. Not part of the id.
    #[serde(skip)]
    unchecked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Exit { status: String, frame: Option<Frame> },
    Error { code: i64, text: String },
    Thrown { code: i64, frame: Frame },
    Schema { path: String, keyword: String },
    Rule { name: String, part: Option<String> },
    Faults(Vec<String>),
    Silence,
}

impl Cause {
    /// The server ended so, and wrote this to stderr since it was asked. Without a status, the connection closed.
    pub fn exit(status: Option<Status>, stderr: &str) -> Cause {
        let status = match status {
            Some(Status::Exited(code)) => format!("exit {code}"),
            // Whether a core is dumped is a matter of the machine.
            Some(Status::Signalled { signal, .. }) => format!("signal {signal}"),
            Some(Status::Unknown) => "unknown".to_owned(),
            None => "closed".to_owned(),
        };
        Cause::from(What::Exit { status, frame: stack::top_frame(stderr) })
    }

    /// The server answered with an error, or a tool with a text that tells of one.
    pub fn error(code: i64, text: &str, given: &Given) -> Cause {
        Cause::from(match stack::top_frame(text) {
            Some(frame) => What::Thrown { code, frame },
            None => What::Error { code, text: wording::normalised(text, given) },
        })
    }

    /// A value does not fit its schema, at this place and by this keyword.
    pub fn schema(path: &str, keyword: &str) -> Cause {
        Cause::from(What::Schema { path: any_index(path).into_owned(), keyword: keyword.to_owned() })
    }

    /// A rule or check is broken; `part` tells apart what of it.
    pub fn rule(name: &str, part: Option<&str>) -> Cause {
        Cause::from(What::Rule { name: name.to_owned(), part: part.map(str::to_owned) })
    }

    /// Bytes were wrong in these ways.
    pub fn faults(faults: &Faults) -> Cause {
        Cause::from(What::Faults(faults.iter().map(|fault| format!("{fault:?}")).collect()))
    }

    /// Nothing came.
    pub fn silence() -> Cause {
        Cause::from(What::Silence)
    }

    /// Whether it names a place in the code or in the output, so that two failures with this cause are surely one bug.
    pub fn names_its_place(&self) -> bool {
        match &self.what {
            What::Exit { frame, .. } => frame.is_some(),
            What::Thrown { .. } => true,
            What::Schema { path, .. } => path.len() > 1,
            _ => false,
        }
    }

    /// The same as it was known before functions without a name were told apart; none where that changed nothing.
    pub fn former(&self) -> Option<Cause> {
        let what = match &self.what {
            What::Exit { status, frame } => {
                What::Exit { status: status.clone(), frame: Some(frame.as_ref()?.former()?) }
            }
            What::Thrown { code, frame } => What::Thrown { code: *code, frame: frame.former()? },
            _ => return None,
        };
        Some(Cause { what, ..self.clone() })
    }

    /// The same without the argument in which it showed.
    pub fn anywhere(&self) -> Cause {
        let anywhere = Cause { unchecked: false, ..self.clone() };
        let What::Rule { name, part: Some(part) } = &self.what else { return anywhere };
        let class = match name.as_str() {
            INJECTION => part.split(" at ").next().unwrap_or(part),
            BLOW_UP if part.starts_with(PACKED) => PACKED,
            BLOW_UP => "growth",
            _ => return anywhere,
        };
        let what = What::Rule { name: name.clone(), part: Some(class.to_owned()) };
        Cause { what, ..anywhere }
    }

    /// Whether it names the argument that a payload went into.
    pub fn is_of_payload(&self) -> bool {
        matches!(&self.what, What::Rule { name, .. } if matches!(name.as_str(), INJECTION | BLOW_UP))
    }

    /// The name of the rule or check and what of it is broken; empty for what is neither.
    pub fn label(&self) -> String {
        match &self.what {
            What::Rule { name, part: Some(part) } => format!("{name} {part}"),
            What::Rule { name, part: None } => name.clone(),
            _ => String::new(),
        }
    }

    /// The same cause, lying below the tools: wherever it shows, it is one bug of the server.
    pub fn server_wide(self) -> Cause {
        Cause { server_wide: true, ..self }
    }

    /// The same cause, for arguments that the schema forbids and that nothing refused before code used them.
    pub fn of_unchecked_arguments(self) -> Cause {
        Cause { unchecked: true, ..self }
    }

    /// Whether the cause is that arguments are not checked. Where the code then fails, and in which words, does not matter.
    pub fn is_of_unchecked_arguments(&self) -> bool {
        self.unchecked && !self.names_its_place()
    }

    pub fn is_server_wide(&self) -> bool {
        self.server_wide
    }
}

impl From<What> for Cause {
    fn from(what: What) -> Cause {
        Cause { what, server_wide: false, unchecked: false }
    }
}

/// `/items/3/name` and `$.items[3].name` with a star for the number.
fn any_index(path: &str) -> Cow<'_, str> {
    static INDEX: LazyLock<Regex> = LazyLock::new(|| wording::pattern(r"(?P<open>[/\[.])\d+"));
    // A match ends before the next separator, so neighbours are all found in one go.
    INDEX.replace_all(path, "${open}*")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Fault;

    #[test]
    fn the_place_in_a_list_is_no_part_of_a_cause() {
        assert_eq!(any_index("/items/3/4/name5"), "/items/*/*/name5");
        assert_eq!(any_index("$.items[31].name"), "$.items[*].name");
        assert_eq!(Cause::schema("/a/0", "type"), Cause::schema("/a/17", "type"));
    }

    #[test]
    fn the_same_faults_are_the_same_cause_in_any_order() {
        let faults = |list: [Fault; 2]| {
            let mut faults = Faults::default();
            list.into_iter().for_each(|fault| faults.add(fault));
            Cause::faults(&faults)
        };
        assert_eq!(faults([Fault::NoId, Fault::NotJson]), faults([Fault::NotJson, Fault::NoId]));
        assert_ne!(faults([Fault::NoId, Fault::NotJson]), faults([Fault::NoId, Fault::Batch]));
    }

    #[test]
    fn an_error_that_carries_a_trace_is_known_by_its_frame_not_by_its_words() {
        let said = |words: &str| {
            format!(
                "{words}\nTraceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\n{words}\n"
            )
        };
        let cause = |words| Cause::error(-32603, &said(words), &Given::default());
        assert_eq!(cause("KeyError: alpha"), cause("KeyError: beta"));
    }
}
