//! The parts of which a small server is made: tools, each with what it answers and when it does something else.

use super::names::Names;
use crate::answer::Answer;
use crate::message::Failure;
use crate::outlet::Outlet;
use crate::request::Request;
use crate::session::lock;
use crate::tools::{self, integer};
use crate::validate::validate;
use crate::version::Version;
use serde_json::{Map, Value, json};
use std::any::Any;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

pub struct Scene {
    pub tools: Vec<Tool>,
    /// What is wrong with the resources and prompts; none where there are none.
    pub offers: Option<super::offers::Trouble>,
    /// Whether a frame is dealt with before the protocol sees it.
    pub frames: Option<fn(&Frame) -> bool>,
    /// What happens before each call of any tool.
    pub before_each: Option<fn(&World)>,
}

impl Scene {
    pub fn of(tools: Vec<Tool>) -> Scene {
        Scene { tools, offers: None, frames: None, before_each: None }
    }

    /// A tool between two others that are correct.
    pub fn around(tool: Tool) -> Scene {
        Scene::of(vec![count_words(), tool, average()])
    }
}

pub struct Tool {
    /// As `tools/list` shows it, before renaming.
    pub declared: Value,
    /// The same in a later version; none where it is the same.
    pub later: Option<Value>,
    pub entry: Entry,
    pub waits: bool,
    /// Answers, though it is in no list.
    pub unlisted: bool,
    answer: fn(&Call) -> Answer,
    exceptions: Vec<Exception>,
}

/// When a flawed tool does something else, and what. Its twin has none.
type Exception = (fn(&Call) -> bool, Box<dyn Fn(&Call) -> Answer + Send + Sync>);

/// How arguments are let in by a flawed tool; its twin is strict.
#[derive(Clone, Copy)]
pub enum Entry {
    Strict,
    /// Strict, and refuses by -32602 in every version.
    ByCode,
    /// One keyword of the schema is not looked at.
    Ignores(&'static str),
    /// A text that looks like a number is taken for one.
    Coerces,
    /// What is null is taken for left out.
    NullForAbsent,
    /// Nothing is looked at.
    Anything,
}

impl Tool {
    pub fn new(
        name: &str,
        about: &str,
        properties: Value,
        required: &[&str],
        answer: fn(&Call) -> Answer,
    ) -> Tool {
        let declared = tools::tool(name, about, properties, required);
        Tool {
            declared,
            later: None,
            entry: Entry::Strict,
            waits: false,
            unlisted: false,
            answer,
            exceptions: Vec::new(),
        }
    }

    pub fn except(
        mut self,
        when: fn(&Call) -> bool,
        then: impl Fn(&Call) -> Answer + Send + Sync + 'static,
    ) -> Tool {
        self.exceptions.push((when, Box::new(then)));
        self
    }

    /// The same tool with another answer.
    pub fn replies(self, answer: fn(&Call) -> Answer) -> Tool {
        Tool { answer, ..self }
    }

    /// What a flawed tool declares instead.
    pub fn declares_later(self, declared: Value) -> Tool {
        Tool { later: Some(declared), ..self }
    }

    /// Its schema says nothing of its arguments.
    pub fn undeclared(self) -> Tool {
        let declared = tools::with(self.declared, json!({"inputSchema": {"type": "object"}}));
        Tool { declared, entry: Entry::Anything, ..self }
    }

    pub fn entry(self, entry: Entry) -> Tool {
        Tool { entry, ..self }
    }

    /// With what it says of its own effects.
    pub fn annotated(self, annotations: Value) -> Tool {
        Tool { declared: tools::with(self.declared, json!({"annotations": annotations})), ..self }
    }

    /// Takes its time, so that it needs a thread of its own where the reader is shared.
    pub fn waits(self) -> Tool {
        Tool { waits: true, ..self }
    }

    pub fn returns(self, properties: Value) -> Tool {
        let required: Vec<&String> =
            properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
        let schema = json!({"type": "object", "properties": properties, "required": required,
            "additionalProperties": false});
        Tool { declared: tools::with(self.declared, json!({"outputSchema": schema})), ..self }
    }

    pub fn answer(&self, call: &Call, flawed: bool) -> Answer {
        let exception = self.exceptions.iter().find(|(when, _)| flawed && when(call));
        exception.map_or_else(|| (self.answer)(call), |(_, then)| then(call))
    }
}

impl Entry {
    /// The arguments as the tool takes them, or what is wrong with them.
    pub fn admit(self, schema: &Value, mut arguments: Value) -> Result<Value, String> {
        match self {
            Entry::Strict | Entry::ByCode => validate(schema, &arguments)?,
            Entry::Anything => {}
            Entry::Ignores(keyword) => validate(&without(schema, keyword), &arguments)?,
            Entry::NullForAbsent => {
                arguments
                    .as_object_mut()
                    .into_iter()
                    .for_each(|members| members.retain(|_, each| !each.is_null()));
                validate(schema, &arguments)?;
            }
            Entry::Coerces => {
                for argument in arguments.as_object_mut().into_iter().flat_map(Map::values_mut) {
                    if let Some(number) = argument.as_str().and_then(|text| text.parse::<i64>().ok()) {
                        *argument = number.into();
                    }
                }
                validate(schema, &arguments)?;
            }
        }
        Ok(arguments)
    }
}

/// The schema and all below it without one keyword.
fn without(schema: &Value, keyword: &str) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != keyword);
            kept.map(|(name, each)| (name.clone(), without(each, keyword))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// One call with valid arguments, under their names before renaming.
pub struct Call<'a> {
    pub arguments: Value,
    pub request: &'a Request,
    pub world: &'a World,
    pub names: &'a Names,
}

impl Call<'_> {
    /// A name of ours as clients see it.
    pub fn shown(&self, name: &str) -> String {
        self.names.shown(name)
    }

    pub fn text(&self, name: &str) -> &str {
        self.arguments[name].as_str().unwrap_or_default()
    }

    pub fn integer(&self, name: &str) -> i64 {
        integer(&self.arguments[name])
    }
}

/// One message as it came, and where an answer would go.
pub struct Frame<'a> {
    pub bytes: &'a [u8],
    pub parsed: &'a serde_json::Result<Value>,
    pub outlet: &'a dyn Outlet,
    pub world: &'a World,
}

/// What one process remembers from call to call.
#[derive(Default)]
pub struct World {
    /// How many calls have begun, the present one included.
    pub calls: AtomicU64,
    /// How many calls of tools that take their time are going on, the present one included.
    pub running: AtomicUsize,
    /// Whether a call has left things so that others fail.
    pub broken: AtomicBool,
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
    mute: AtomicBool,
    end: Mutex<Option<fn()>>,
}

impl World {
    /// Keeps something for good, until there are as many as the machine should bear; how many there are.
    pub fn keep(&self, thing: impl Any + Send, most: usize) -> usize {
        let mut kept = lock(&self.kept);
        if kept.len() < most {
            kept.push(Box::new(thing));
        }
        kept.len()
    }

    /// Keeps something, and lets the oldest go when there are more than this.
    pub fn keep_latest(&self, thing: impl Any + Send, most: usize) {
        let mut kept = lock(&self.kept);
        kept.push(Box::new(thing));
        if kept.len() > most {
            kept.remove(0);
        }
    }

    /// From now on nothing is answered any more.
    pub fn fall_silent(&self) {
        self.mute.store(true, Ordering::SeqCst);
    }

    pub fn is_silent(&self) -> bool {
        self.mute.load(Ordering::SeqCst)
    }

    /// When there is nothing more to read, this is what happens.
    pub fn ends_by(&self, end: fn()) {
        *lock(&self.end) = Some(end);
    }

    pub fn end(&self) {
        if let Some(end) = *lock(&self.end) {
            end();
        }
    }
}

pub fn said(text: &str) -> Answer {
    Answer::Result(tools::said(text))
}

/// A tool error.
pub fn failed(text: &str) -> Answer {
    Answer::Result(tools::failed(text))
}

/// Refused with -32602.
pub fn refused(text: &str) -> Answer {
    Answer::Refusal(Failure::params(text))
}

/// Text, and the same as structured content where the version has it.
pub fn structured(call: &Call, content: Value) -> Answer {
    let mut result = tools::said(&content.to_string());
    if call.request.client.version >= Version::June2025 {
        result["structuredContent"] = content;
    }
    Answer::Result(result)
}

pub fn count_words() -> Tool {
    Tool::new(
        "count_words",
        "Counts the words of a text.",
        json!({"text": {"type": "string"}}),
        &["text"],
        |call| said(&format!("{} words", call.text("text").split_whitespace().count())),
    )
}

fn average() -> Tool {
    let number = json!({"type": "number", "minimum": -1000, "maximum": 1000});
    let numbers = json!({"type": "array", "items": number, "minItems": 1, "maxItems": 20});
    let tool = Tool::new(
        "average_of",
        "Gives the mean of some numbers.",
        json!({"numbers": numbers}),
        &["numbers"],
        |call| {
            let numbers = call.arguments["numbers"].as_array().map(Vec::as_slice).unwrap_or_default();
            let sum: f64 = numbers.iter().filter_map(Value::as_f64).sum();
            structured(call, json!({"mean": sum / numbers.len().max(1) as f64}))
        },
    );
    tool.returns(json!({"mean": {"type": "number"}}))
}
