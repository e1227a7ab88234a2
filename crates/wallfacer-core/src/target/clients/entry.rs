//! One server of a client file, as its client would have it: checked and filled in, or what is wrong with it.

use super::places::Place;
use crate::target::expand::{self, Dollar};
use crate::target::secret;
use crate::target::surroundings::{joined, program};
use crate::target::{Command, Endpoint, EndpointKind, Environment, Reach, Surroundings, endpoint};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What clients write. They write more, each its own; that is theirs.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with a `command` or a `url`")]
pub(super) struct Entry {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Map<String, Value>,
    #[serde(rename = "envFile")]
    env_file: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
}

/// A server as meant, and what its user should know.
#[derive(Debug)]
pub(super) struct Meant {
    pub reach: Reach,
    pub from_environment: BTreeSet<String>,
    pub note: Option<String>,
}

/// A sentence, and the text in the file it is about.
#[derive(Debug)]
pub(super) struct Fault {
    pub message: String,
    pub about: Option<String>,
}

impl Entry {
    pub fn meant(self, place: &Place, around: &Surroundings<'_>) -> Result<Meant, Fault> {
        let mut filler = Filler { place, around, from_environment: BTreeSet::new() };
        let note = self.env_file.as_ref().map(|file| {
            format!("the variables in `{file}` (`envFile`) are not read; hand them over with --env")
        });
        let reach = match (self.kind.as_deref(), &self.command, &self.url) {
            (_, Some(_), Some(_)) => {
                return Err(Fault::plain("it has both a `command` and a `url`; keep one"));
            }
            (_, None, None) => return Err(Fault::plain("it has neither a `command` nor a `url`")),
            (None | Some("stdio"), Some(_), None) => Reach::Command(self.command(&mut filler)?),
            (Some(kind), None, Some(_)) => {
                let kind = transport(kind)?;
                Reach::Url(self.endpoint(kind, &mut filler)?)
            }
            (None, None, Some(_)) => Reach::Url(self.endpoint(EndpointKind::Auto, &mut filler)?),
            (Some(kind), Some(_), None) => {
                return Err(Fault::plain(format!(
                    "its type is `{kind}`, but it has a `command` instead of a `url`"
                )));
            }
        };
        Ok(Meant { reach, from_environment: filler.from_environment, note })
    }

    fn command(self, filler: &mut Filler<'_>) -> Result<Command, Fault> {
        let place = filler.place;
        let name = filler.fill(&self.command.unwrap_or_default())?;
        let args = self
            .args
            .iter()
            .map(|argument| filler.fill(argument).map(Into::into))
            .collect::<Result<_, _>>()?;
        let cwd = match &self.cwd {
            Some(cwd) => Some(joined(&place.workspace, filler.fill(cwd)?)),
            None => place.of_project.then(|| place.workspace.clone()),
        };
        let set = filler.fill_all(&self.env, "env")?.into_iter().collect();
        let from = cwd.as_ref().unwrap_or(&place.workspace);
        Ok(Command {
            program: program(from, &name).into(),
            args,
            cwd,
            environment: Environment { set, ..Environment::default() },
        })
    }

    fn endpoint(self, kind: EndpointKind, filler: &mut Filler<'_>) -> Result<Endpoint, Fault> {
        let url = filler.fill(&self.url.unwrap_or_default())?;
        let headers = filler.fill_all(&self.headers, "headers")?;
        let checked =
            headers.iter().map(|(name, value)| endpoint::header(name, value)).collect::<Result<_, _>>();
        let made = checked.and_then(|headers| Endpoint::new(&url, headers, kind));
        made.map_err(|error| Fault::plain(error.to_string()))
    }
}

impl Fault {
    fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), about: None }
    }
}

fn transport(kind: &str) -> Result<EndpointKind, Fault> {
    match kind {
        // VS Code tries the older transport too where the newer one is refused.
        "http" => Ok(EndpointKind::Auto),
        "streamable-http" | "streamableHttp" => Ok(EndpointKind::Streamable),
        "sse" => Ok(EndpointKind::LegacySse),
        "stdio" => Err(Fault::plain("its type is `stdio`, but it has a `url` instead of a `command`")),
        _ => Err(Fault::plain(format!("its type is `{kind}`; known are stdio, http and sse"))),
    }
}

/// Replaces the placeholders of all clients alike: no two of them mean different things by one.
struct Filler<'a> {
    place: &'a Place,
    around: &'a Surroundings<'a>,
    from_environment: BTreeSet<String>,
}

impl Filler<'_> {
    fn fill_all(&mut self, table: &Map<String, Value>, what: &str) -> Result<Vec<(String, String)>, Fault> {
        let filled = table.iter().map(|(name, value)| {
            let value = match value {
                Value::String(text) => self.fill(text)?,
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(Fault::plain(format!("`{what}.{name}` must be a string"))),
            };
            Ok((name.clone(), value))
        });
        filled.collect()
    }

    fn fill(&mut self, text: &str) -> Result<String, Fault> {
        expand::expand(text, Dollar::Literal, &mut |placeholder| self.look_up(placeholder)).map_err(
            |unfilled| Fault { message: unfilled.message, about: Some(text[unfilled.at].to_owned()) },
        )
    }

    fn look_up(&mut self, placeholder: &str) -> Result<String, String> {
        let workspace = &self.place.workspace;
        match placeholder {
            "workspaceFolder" => return Ok(workspace.display().to_string()),
            "workspaceFolderBasename" => {
                return Ok(workspace.file_name().unwrap_or_default().to_string_lossy().into_owned());
            }
            "userHome" => {
                let home = self.around.home.ok_or("the home directory is not known")?;
                return Ok(home.display().to_string());
            }
            "pathSeparator" | "/" => return Ok(std::path::MAIN_SEPARATOR.to_string()),
            _ => {}
        }
        let (name, value) = match placeholder.split_once(':') {
            Some(("input", id)) => self.input(id)?,
            Some(("env", name)) => expand::variable(name, self.around.variable)?,
            _ => expand::variable(placeholder, self.around.variable)?,
        };
        if secret::is_secret_variable(&name, &value) {
            self.from_environment.insert(value.clone());
        }
        Ok(value)
    }

    /// The client would ask its user; we take the answer from the environment.
    fn input(&self, id: &str) -> Result<(String, String), String> {
        let name: String = id
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
            .collect();
        match (self.around.variable)(&name) {
            Some(value) => Ok((name, value)),
            None => Err(format!(
                "the client asks for `{id}` at this place; set the environment variable `{name}`"
            )),
        }
    }
}
