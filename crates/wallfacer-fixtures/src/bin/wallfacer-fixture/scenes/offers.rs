//! Resources, a prompt, and the completion of its arguments; in some servers one of the three goes wrong.

use super::death;
use super::names::Names;
use super::scene::{Scene, Tool, said};
use crate::answer::Answer;
use crate::message::{self, Failure};
use crate::methods::only_page;
use crate::request::Request;
use serde_json::{Value, json};

pub const PROMPT: &str = "summary";
pub const TOPIC: &str = "topic";
pub const STYLE: &str = "style";
const INTERNAL_ERROR: i64 = -32603;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    UnknownUri,
    MissingArgument,
    Completion,
}

pub fn scene(flaw: &str) -> Option<Scene> {
    let trouble = match flaw {
        "crash-on-unknown-uri" => Trouble::UnknownUri,
        "internal-error-without-prompt-argument" => Trouble::MissingArgument,
        "hang-on-completion" => Trouble::Completion,
        "tool-and-prompt-of-one-name" => return Some(namesake()),
        _ => return None,
    };
    let arguments = json!({"page": {"type": "string", "enum": ["first", "last"]}});
    let tool = Tool::new("open_page", "Opens a page.", arguments, &["page"], |_| said("opened"));
    Some(Scene { offers: Some(trouble), ..Scene::around(tool) })
}

/// A tool with the name of the prompt. Both go wrong, each in a way of its own and in the same words.
fn namesake() -> Scene {
    let arguments = json!({"page": {"type": "string", "enum": ["first", "last"]}});
    let tool = Tool::new(PROMPT, "Sums up a page.", arguments, &["page"], |_| said("summed up"));
    let tool = tool.except(|call| call.text("page") == "last", |_| Answer::Refusal(without_argument()));
    Scene { offers: Some(Trouble::MissingArgument), ..Scene::around(tool) }
}

fn without_argument() -> Failure {
    Failure::new(INTERNAL_ERROR, "cannot read properties of undefined")
}

pub struct Offers<'a> {
    /// None where there is nothing on offer.
    pub trouble: Option<Trouble>,
    pub flawed: bool,
    pub names: &'a Names,
}

impl Offers<'_> {
    /// None: the method has nothing to do with resources and prompts.
    pub fn answer(&self, request: &Request) -> Option<Answer> {
        let list = |member: &str, all: Value| {
            let listed = if self.trouble.is_some() { all } else { json!([]) };
            only_page(request).map(|()| json!({(member): listed})).into()
        };
        Some(match request.method.as_str() {
            "resources/list" => list("resources", resources()),
            "resources/templates/list" => list("resourceTemplates", templates()),
            "resources/read" => self.read(request).unwrap_or_else(Answer::Refusal),
            "prompts/list" => list("prompts", self.prompts()),
            "prompts/get" => self.prompt(request).unwrap_or_else(Answer::Refusal),
            "completion/complete" => self.complete(request).unwrap_or_else(Answer::Refusal),
            _ => return None,
        })
    }

    fn goes_wrong(&self, trouble: Trouble) -> bool {
        self.flawed && self.trouble == Some(trouble)
    }

    fn read(&self, request: &Request) -> Result<Answer, Failure> {
        let uri = request.text("uri")?;
        let text = uri.strip_prefix("page://").filter(|_| self.trouble.is_some()).and_then(page);
        match text {
            Some(text) => {
                let content = json!({"uri": uri, "mimeType": "text/plain", "text": text});
                Ok(Answer::Result(json!({"contents": [content]})))
            }
            None if self.goes_wrong(Trouble::UnknownUri) => {
                death::python("read_resource", "find_page", 64, "KeyError: 'page'")
            }
            None => {
                let code = match request.client.version.is_modern() {
                    true => message::INVALID_PARAMS,
                    false => message::RESOURCE_NOT_FOUND,
                };
                Err(Failure::with_data(code, "there is no such resource", json!({"uri": uri})))
            }
        }
    }

    fn prompts(&self) -> Value {
        json!([{
            "name": self.names.shown(PROMPT),
            "description": "Has the model sum something up.",
            "arguments": [
                {"name": self.names.shown(TOPIC), "description": "what is summed up", "required": true},
                {"name": self.names.shown(STYLE), "description": "in which manner", "required": false},
            ],
        }])
    }

    fn is_prompt(&self, name: Option<&Value>) -> bool {
        self.trouble.is_some() && name.is_some_and(|name| *name == self.names.shown(PROMPT))
    }

    fn prompt(&self, request: &Request) -> Result<Answer, Failure> {
        let arguments = request.object("arguments")?;
        if !self.is_prompt(request.params.get("name")) {
            return Err(Failure::params("there is no such prompt"));
        }
        if arguments.values().any(|argument| !argument.is_string()) {
            return Err(Failure::params("arguments must be strings"));
        }
        match arguments.get(&self.names.shown(TOPIC)).and_then(Value::as_str) {
            Some(topic) => {
                let content = json!({"type": "text", "text": format!("Sum up: {topic}")});
                Ok(Answer::Result(json!({"messages": [{"role": "user", "content": content}]})))
            }
            None if self.goes_wrong(Trouble::MissingArgument) => Err(without_argument()),
            None => Err(Failure::params("a required argument is missing")),
        }
    }

    fn complete(&self, request: &Request) -> Result<Answer, Failure> {
        let (reference, argument) = (request.object("ref")?, request.object("argument")?);
        let (Some(Value::String(name)), Some(Value::String(begun))) =
            (argument.get("name"), argument.get("value"))
        else {
            return Err(Failure::params("`argument` needs `name` and `value`"));
        };
        let is_prompt = reference.get("type").is_some_and(|kind| kind == "ref/prompt")
            && self.is_prompt(reference.get("name"));
        let words: &[&str] = match is_prompt {
            true if *name == self.names.shown(STYLE) => &["brief", "formal", "friendly"],
            true if *name == self.names.shown(TOPIC) => &["weather", "work"],
            _ => return Err(Failure::params("there is nothing of this name to complete")),
        };
        if begun.is_empty() && self.goes_wrong(Trouble::Completion) {
            return Ok(Answer::Never);
        }
        let values: Vec<&&str> = words.iter().filter(|word| word.starts_with(begun)).collect();
        Ok(Answer::Result(json!({"completion": {"total": values.len(), "hasMore": false, "values": values}})))
    }
}

fn resources() -> Value {
    json!([
        {"uri": "page://first", "name": "first page", "mimeType": "text/plain"},
        {"uri": "page://last", "name": "last page", "mimeType": "text/plain"},
    ])
}

fn templates() -> Value {
    json!([{"uriTemplate": "page://{name}", "name": "any page", "mimeType": "text/plain"}])
}

fn page(name: &str) -> Option<&'static str> {
    match name {
        "first" => Some("It begins."),
        "last" => Some("It ends."),
        _ => None,
    }
}
