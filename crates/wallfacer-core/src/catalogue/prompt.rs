//! A prompt as listed, with the arguments that it takes.

use serde_json::{Map, Value};

use super::entry::{Entry, optional_text, required_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub arguments: Vec<PromptArgument>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
}

impl Entry for Prompt {
    const METHOD: &'static str = "prompts/list";
    const KEY: &'static str = "prompts";

    fn read(object: &Map<String, Value>) -> Result<Prompt, String> {
        let arguments = match object.get("arguments") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(arguments)) => {
                arguments.iter().map(PromptArgument::read).collect::<Result<_, _>>()?
            }
            Some(_) => return Err("`arguments` is not an array".to_owned()),
        };
        Ok(Prompt {
            name: required_text(object, "name")?,
            title: optional_text(object, "title"),
            description: optional_text(object, "description"),
            arguments,
        })
    }
}

impl PromptArgument {
    fn read(value: &Value) -> Result<PromptArgument, String> {
        let object = value.as_object().ok_or("an argument is not an object")?;
        Ok(PromptArgument {
            name: required_text(object, "name")?,
            description: optional_text(object, "description"),
            required: object.get("required").and_then(Value::as_bool).unwrap_or(false),
        })
    }
}
