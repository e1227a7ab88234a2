//! A case is a small script, so that everything replays and minimises alike: a fuzzed call is a script of one
//! step; a sequence, a malformed frame, a race are scripts too.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wallfacer_schema::weight;

use super::claim::Claim;
use super::disturbance::{Disk, Disturbance, Trouble};
use super::frame::RawFrame;
use super::injection::Injection;
use super::measure::Measure;
use super::payload;
use super::schedule::Schedule;

/// Bytes of requests that are made at once, about: what large schemas have to be tried with comes a part at a time.
pub const HEAVY: usize = 8 << 20;

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
    /// Calls that are in flight together, each of which is harmless alone.
    Together,
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
    /// Send a request and go on at once. A row of these is in flight together: the next step of another sort waits until all
    /// of them are answered.
    Send {
        method: String,
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
    /// In what must come first: the place of a value of the last answer, which later calls name. Another server gives
    /// another value, and that is sent to it instead.
    Keep(Kept),
    /// Act as several clients, with calls in flight together.
    Rounds(Box<Schedule>),
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
    /// Something happens to the server in the middle of its work.
    Disturb(Box<Disturbance>),
}

/// A value that one call gives and another takes, such as the id of what was created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The key that it stood under.
    pub field: String,
    /// How many values stood under the same key before it.
    pub nth: usize,
    /// The argument of later calls that takes it.
    pub into: String,
    /// What it was when the case was made; where that argument has it, the value at hand is sent.
    pub value: Value,
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

    /// One script of several: their calls are in flight together.
    pub fn together<'a>(cases: impl IntoIterator<Item = &'a Case>, seed: u64) -> Case {
        let steps: Vec<Step> = cases.into_iter().flat_map(|case| case.steps.iter().map(Step::sent)).collect();
        let (subject, intent) = (subject(&steps), Intent::Together);
        Case { subject, intent, prelude: Vec::new(), steps, seed, claim: None, measure: None }
    }

    /// The same calls, one after another.
    pub fn one_by_one(&self) -> Case {
        Case { steps: self.steps.iter().map(Step::called).collect(), ..self.clone() }
    }

    /// About the one tool whose calls are in flight together, or about the server where there are several.
    pub fn about_what_is_sent(self) -> Case {
        Case { subject: subject(&self.steps), ..self }
    }

    /// The most calls that are in flight at the same time.
    pub fn in_flight(&self) -> usize {
        self.rows().map(<[Step]>::len).max().unwrap_or_default()
    }

    /// Whether calls are in flight together, so that what comes of it is a matter of luck.
    pub fn is_concurrent(&self) -> bool {
        self.in_flight() > 1
    }

    /// The steps, those as one that are in flight together.
    pub fn rows(&self) -> impl Iterator<Item = &[Step]> {
        rows(&self.steps)
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
        self.prelude.iter().chain(&self.steps).flat_map(Step::tools)
    }

    /// The one tool that this case is about, also where what it does is a matter of the whole server.
    pub fn tool_name(&self) -> Option<&str> {
        let mut called = self.steps.iter().filter_map(Step::tool);
        let only = called.next().filter(|first| called.all(|other| other == *first));
        self.subject.tool().or(only)
    }

    /// Whether something happens to the server in the middle of its work.
    pub fn is_disturbed(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Disturb(_)))
    }

    /// Whether it depends on the moment in which something happens to the server.
    pub fn is_a_matter_of_luck(&self) -> bool {
        let begins = |disturbance: &Disturbance| matches!(disturbance, Disturbance::Begin { .. });
        self.steps.iter().any(|step| matches!(step, Step::Disturb(disturbance) if begins(disturbance)))
    }

    /// Whether a service that the server asks never answers.
    pub fn has_silent_service(&self) -> bool {
        let silent = |disturbance: &Disturbance| *disturbance == Disturbance::Services(Trouble::Silent);
        self.steps.iter().any(|step| matches!(step, Step::Disturb(disturbance) if silent(disturbance)))
    }

    /// Whether the disk of the server is to be filled, so that it must be a small one.
    pub fn fills_disk(&self) -> bool {
        let fills = |disturbance: &Disturbance| *disturbance == Disturbance::Disk(Disk::Full);
        self.steps.iter().any(|step| matches!(step, Step::Disturb(disturbance) if fills(disturbance)))
    }

    /// Whether it takes several processes of a server over stdio.
    pub fn takes_processes(&self) -> bool {
        let beside = |step: &Step| {
            let Step::Disturb(disturbance) = step else { return false };
            matches!(**disturbance, Disturbance::Beside | Disturbance::BesideAsks { .. })
        };
        self.schedule().is_some_and(|schedule| schedule.clients() > 1) || self.steps.iter().any(beside)
    }

    /// What several clients do, where that is what this case consists of.
    pub fn schedule(&self) -> Option<&Schedule> {
        match &self.steps[..] {
            [Step::Rounds(schedule)] => Some(schedule),
            _ => None,
        }
    }

    /// About how many bytes its requests take.
    pub fn weight(&self) -> usize {
        let requests = self.prelude.iter().chain(&self.steps).filter_map(Step::request);
        requests.flat_map(|(_, params)| params.values()).map(weight).sum()
    }

    /// The arguments of the one tool call that this case consists of.
    pub fn arguments(&self) -> Option<&Value> {
        let (method, params) = self.single_call()?;
        (method == "tools/call").then(|| params.get("arguments")).flatten()
    }
}

/// Steps, those as one that are in flight together.
pub fn rows(steps: &[Step]) -> impl Iterator<Item = &[Step]> {
    let is_sent = |step: &Step| matches!(step, Step::Send { .. });
    steps.chunk_by(move |one, next| is_sent(one) && is_sent(next))
}

/// What calls in flight together are about: the one tool that they call, or the server.
fn subject(steps: &[Step]) -> Subject {
    let sent = || steps.iter().filter(|step| matches!(step, Step::Send { .. }));
    let first = sent().next().and_then(Step::tool);
    match first.filter(|first| sent().all(|step| step.tool() == Some(first))) {
        Some(tool) => Subject::Tool(tool.to_owned()),
        None => Subject::Server,
    }
}

impl Step {
    /// The request that it sends, if it is one.
    pub fn request(&self) -> Option<(&str, &Map<String, Value>)> {
        match self {
            Step::Call { method, params }
            | Step::Send { method, params }
            | Step::Many { method, params, .. } => Some((method, params)),
            Step::Disturb(disturbance) => {
                disturbance.request().map(|request| (request.method.as_str(), &request.params))
            }
            _ => None,
        }
    }

    /// The tool that it calls, if it calls one.
    pub fn tool(&self) -> Option<&str> {
        let (method, params) = self.request()?;
        params.get("name").filter(|_| method == "tools/call")?.as_str()
    }

    /// Whether the server is of no use to others afterwards.
    pub fn spoils(&self) -> bool {
        match self {
            Step::Disturb(disturbance) => disturbance.spoils(),
            _ => false,
        }
    }

    /// The same, without waiting for the answer.
    pub fn sent(&self) -> Step {
        match self.clone() {
            Step::Call { method, params } => Step::Send { method, params },
            other => other,
        }
    }

    /// The same, and its answer is waited for.
    pub fn called(&self) -> Step {
        match self.clone() {
            Step::Send { method, params } => Step::Call { method, params },
            other => other,
        }
    }

    /// The tools that it calls.
    pub fn tools(&self) -> Vec<&str> {
        match self {
            Step::Rounds(schedule) => schedule.asks().filter_map(|ask| ask.tool_name()).collect(),
            step => step.tool().into_iter().collect(),
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

    /// What leads out of a directory counts from now on, because the server said that it keeps to it.
    pub fn declare(&mut self, stated: &Path) {
        if let Intent::Injection(injection) = self {
            injection.declare(stated);
        }
    }

    /// Whether the arguments keep to the declared schema; none where there is no telling.
    pub fn is_valid(&self) -> Option<bool> {
        match self {
            Intent::Example | Intent::Valid | Intent::Boundary(_) => Some(true),
            Intent::Invalid { .. } => Some(false),
            Intent::Adversarial { valid, .. } => Some(*valid),
            Intent::Stored | Intent::Rule | Intent::Frame(_) | Intent::Injection(_) | Intent::Together => {
                None
            }
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
        case.steps.push(Step::Send { method: "ping".to_owned(), params: Map::new() });
        case.steps.extend([Step::Probe, Step::Signal(15), Step::Restart, Step::CloseInput]);
        case.steps.push(Step::Disturb(Box::new(Disturbance::Restart { killed: true })));
        let text = serde_json::to_string(&case).unwrap();
        assert!(text.len() < 1_000, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
    }

    #[test]
    fn calls_in_flight_together_are_one_row_and_about_their_one_tool() {
        let call = |tool: &str| Case::tool(tool, json!({}), Intent::Valid, 7);
        let mut case = Case::together([&call("add"), &call("add")], 7);
        assert_eq!((case.in_flight(), &case.subject), (2, &Subject::Tool("add".to_owned())));
        case.steps.insert(1, Step::Probe);
        assert_eq!((case.in_flight(), case.rows().count()), (1, 3));
        assert_eq!(Case::together([&call("add"), &call("take")], 7).subject, Subject::Server);
        assert!(!Case::together([&call("add"), &call("add")], 7).one_by_one().is_concurrent());
    }
}
