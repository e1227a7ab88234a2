//! A case is a small script, so that everything replays and minimises alike: a fuzzed call is a script of one
//! step; a sequence, a malformed frame, a race are scripts too.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::claim::Claim;
use super::frame::RawFrame;
use super::injection::Injection;
use super::measure::Measure;
use super::payload;

/// Steps to take on a fresh or a used server, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub subject: Subject,
    pub intent: Intent,
    /// What the server must have been asked before. Nothing is judged in it, and a server that was asked once is not asked
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prelude: Vec<Step>,
    pub steps: Vec<Step>,
    pub seed: u64,
    /// The rule that it is tried for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Box<Claim>>,
    /// What it is held against, beside what the server declares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Box<Measure>>,
}

/// What of the server a case is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Subject {
    Tool(String),
    Resource(String),
    Prompt(String),
    /// Completion for a prompt or a resource template.
    Completion(String),
    Server,
}

/// Why the case is tried; for calls also whether their arguments keep to the declared schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// It failed before.
    Stored,
    /// Valid: an example of the server's own, or the simplest arguments.
    Example,
    /// Valid, drawn at random.
    Valid,
    /// A rule wants to see what comes of it.
    Rule,
    /// Valid, at a limit of the schema that the text names.
    Boundary(String),
    /// Not valid, in one way: where, by which rule of the schema, and in words.
    Invalid { at: String, rule: String, what: String },
    /// Hostile, of the kind that the text names; valid where the constraints allow it.
    Adversarial { kind: String, valid: bool },
    /// A frame that is no proper request, in the way that the text names.
    Frame(String),
    /// A payload that is to have an effect, in a world where that can be seen.
    Injection(Box<Injection>),
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Send a request and await its answer.
    Call {
        method: String,
        /// Stored in a compact form, for some are huge.
        #[serde(with = "payload::compacted")]
        params: Map<String, Value>,
    },
    /// Send the same request so many times, one after another, and take stock of the process on the way.
    Many {
        times: u32,
        method: String,
        #[serde(with = "payload::compacted")]
        params: Map<String, Value>,
    },
    /// Send bytes as they are.
    Raw(RawFrame),
    /// Send the cheapest valid request of the era: whatever came before, it must be answered.
    Probe,
    /// Wait so many milliseconds, to see whether the server outlives what came before.
    Pause(u64),
    /// Close the server's input.
    CloseInput,
    /// Send a signal to the server's process.
    Signal(i32),
    /// Go on with a fresh server.
    Restart,
}

impl Case {
    /// A script of one call of a tool.
    pub fn tool(name: &str, arguments: Value, intent: Intent, seed: u64) -> Case {
        let params =
            Map::from_iter([("name".to_owned(), Value::from(name)), ("arguments".to_owned(), arguments)]);
        let step = Step::Call { method: "tools/call".to_owned(), params };
        let subject = Subject::Tool(name.to_owned());
        Case { subject, intent, prelude: Vec::new(), steps: vec![step], seed, claim: None, measure: None }
    }

    /// A case that is judged by what is said of a tool, and sends nothing.
    pub fn listing(tool: &str, measure: Measure, seed: u64) -> Case {
        let subject = Subject::Tool(tool.to_owned());
        let measure = Some(Box::new(measure));
        Case {
            subject,
            intent: Intent::Example,
            prelude: Vec::new(),
            steps: Vec::new(),
            seed,
            claim: None,
            measure,
        }
    }

    /// The one call that this case consists of, if it does.
    pub fn single_call(&self) -> Option<(&str, &Map<String, Value>)> {
        match &self.steps[..] {
            [Step::Call { method, params }] => Some((method, params)),
            _ => None,
        }
    }

    /// The tools that it calls, one after another, also those that come first.
    pub fn called_tools(&self) -> impl Iterator<Item = &str> {
        self.prelude.iter().chain(&self.steps).filter_map(Step::tool)
    }

    /// The one tool that this case is about, also where what it does is a matter of the whole server.
    pub fn tool_name(&self) -> Option<&str> {
        let mut called = self.steps.iter().filter_map(Step::tool);
        let only = called.next().filter(|first| called.all(|other| other == *first));
        self.subject.tool().or(only)
    }

    /// The arguments of the one tool call that this case consists of.
    pub fn arguments(&self) -> Option<&Value> {
        let (method, params) = self.single_call()?;
        (method == "tools/call").then(|| params.get("arguments")).flatten()
    }
}

impl Step {
    /// The tool that it calls, if it calls one.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Step::Call { method, params } | Step::Many { method, params, .. } if method == "tools/call" => {
                params.get("name")?.as_str()
            }
            _ => None,
        }
    }
}

impl Subject {
    /// The name for reports and folders; the server as a whole has none.
    pub fn name(&self) -> Option<&str> {
        match self {
            Subject::Tool(name)
            | Subject::Resource(name)
            | Subject::Prompt(name)
            | Subject::Completion(name) => Some(name),
            Subject::Server => None,
        }
    }

    /// What it is.
    pub fn word(&self) -> &'static str {
        match self {
            Subject::Tool(_) => "tool",
            Subject::Resource(_) => "resource",
            Subject::Prompt(_) => "prompt",
            Subject::Completion(_) => "completion",
            Subject::Server => "server",
        }
    }

    pub fn tool(&self) -> Option<&str> {
        match self {
            Subject::Tool(name) => Some(name),
            _ => None,
        }
    }
}

impl Intent {
    /// What is to be injected, where that is why.
    pub fn injection(&self) -> Option<&Injection> {
        match self {
            Intent::Injection(injection) => Some(injection),
            _ => None,
        }
    }

    /// Whether the arguments keep to the declared schema; none where there is no telling.
    pub fn is_valid(&self) -> Option<bool> {
        match self {
            Intent::Example | Intent::Valid | Intent::Boundary(_) => Some(true),
            Intent::Invalid { .. } => Some(false),
            Intent::Adversarial { valid, .. } => Some(*valid),
            Intent::Stored | Intent::Rule | Intent::Frame(_) | Intent::Injection(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_case_reads_back_as_it_was_written() {
        let mut case = Case::tool("search", json!({ "q": "x".repeat(100_000) }), Intent::Valid, 7);
        case.steps.push(Step::Raw(RawFrame::new(b"\xff{".to_vec(), None)));
        let (method, params) = ("ping".to_owned(), Map::new());
        case.steps.push(Step::Many { times: 400, method, params });
        case.steps.extend([Step::Probe, Step::Signal(15), Step::Restart, Step::CloseInput]);
        let text = serde_json::to_string(&case).unwrap();
        assert!(text.len() < 1_000, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
    }
}
