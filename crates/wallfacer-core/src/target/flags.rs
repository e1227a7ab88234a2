//! What the command line says of the target, as typed and as meant.

use super::{
    Command, Confine, Endpoint, EndpointError, EndpointKind, Inherit, Net, Protocol, Required, SandboxWishes,
    Version, endpoint,
};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// As typed. What is empty or None was not given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// What follows `--`.
    pub command: Vec<OsString>,
    pub url: Option<String>,
    /// `NAME: VALUE`, with or without the space.
    pub headers: Vec<String>,
    /// The name of a server in an MCP client file.
    pub server: Option<String>,
    /// The file that it stands in, instead of the usual ones.
    pub client_file: Option<PathBuf>,
    /// `NAME=VALUE`
    pub env: Vec<String>,
    pub env_clear: bool,
    pub env_pass: Vec<String>,
    pub cwd: Option<PathBuf>,
    /// Directories to name when the server asks for roots.
    pub roots: Vec<PathBuf>,
    /// `auto` or a version.
    pub protocol: Option<String>,
    /// `auto`, `streamable-http` or `sse`.
    pub transport: Option<String>,
    /// `auto`, `require` or `off`.
    pub sandbox: Option<String>,
    /// `sink`, `deny`, `host` or `allow=HOST:PORT,…`.
    pub net: Option<String>,
    /// `observe`, `confine`, or both.
    pub require: Vec<String>,
    /// Paths that a confined server sees as they are.
    pub keep: Vec<PathBuf>,
    pub timeout: Option<Duration>,
    pub startup_timeout: Option<Duration>,
    pub probe_timeout: Option<Duration>,
    pub max_line_bytes: Option<usize>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    #[error("--env `{name}` has no value; write it as --env NAME=VALUE")]
    Variable { name: String },
    #[error("--header `{name}` has no value; write it as --header \"NAME: VALUE\"")]
    Header { name: String },
    #[error("--protocol `{given}` is not known; use auto or one of {}", Version::ALL.map(Version::as_str).join(", "))]
    Protocol { given: String },
    #[error("--transport `{given}` is not known; use auto, streamable-http or sse")]
    Transport { given: String },
    #[error("--sandbox `{given}` is not known; use auto, require or off")]
    Sandbox { given: String },
    #[error("--net `{given}` is not known; use sink, deny, host or allow=HOST:PORT,HOST:PORT")]
    Net { given: String },
    #[error("--require `{given}` is not known; use observe, confine or observe,confine")]
    Require { given: String },
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

impl Flags {
    pub(super) fn variables(&self) -> Result<Vec<(String, String)>, FlagError> {
        let pair = |text: &String| match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(FlagError::Variable { name: text.clone() }),
        };
        self.env.iter().map(pair).collect()
    }

    pub(super) fn headers(&self) -> Result<Vec<(String, String)>, FlagError> {
        let header = |text: &String| match text.split_once(':') {
            Some((name, value)) => Ok(endpoint::header(name, value)?),
            // Where the colon is forgotten, the first word is the name and the rest may be a secret.
            None => {
                Err(FlagError::Header { name: text.split([' ', '=']).next().unwrap_or_default().to_owned() })
            }
        };
        self.headers.iter().map(header).collect()
    }

    pub(super) fn protocol(&self) -> Result<Option<Protocol>, FlagError> {
        let parse =
            |given: &String| Protocol::parse(given).ok_or(FlagError::Protocol { given: given.clone() });
        self.protocol.as_ref().map(parse).transpose()
    }

    pub(super) fn kind(&self) -> Result<Option<EndpointKind>, FlagError> {
        let parse =
            |given: &String| EndpointKind::parse(given).ok_or(FlagError::Transport { given: given.clone() });
        self.transport.as_ref().map(parse).transpose()
    }

    pub(super) fn sandbox(&self) -> Result<SandboxWishes, FlagError> {
        let confine =
            |given: &String| Confine::parse(given).ok_or(FlagError::Sandbox { given: given.clone() });
        let net = |given: &String| Net::parse(given).ok_or(FlagError::Net { given: given.clone() });
        let required = self.require.iter().try_fold(Required::default(), |required, given| {
            Required::parse(given)
                .map(|more| required.or(more))
                .ok_or(FlagError::Require { given: given.clone() })
        });
        Ok(SandboxWishes {
            confine: self.sandbox.as_ref().map(confine).transpose()?,
            net: self.net.as_ref().map(net).transpose()?,
            required: required?,
            keep: self.keep.clone(),
        })
    }

    /// The program that follows `--`.
    pub(super) fn program(&self) -> Option<Command> {
        let (program, args) = self.command.split_first()?;
        Some(Command::new(program, args))
    }

    pub(super) fn endpoint(&self) -> Result<Option<Endpoint>, FlagError> {
        let make = |url: &String| Endpoint::new(url, vec![], EndpointKind::Auto);
        Ok(self.url.as_ref().map(make).transpose()?)
    }

    /// What is inherited, if the flags say so.
    pub(super) fn inherit(&self) -> Option<Inherit> {
        self.env_clear.then(|| Inherit::Only(self.env_pass.clone()))
    }

    /// The first flag given that means nothing without a command.
    pub(super) fn of_a_command(&self) -> Option<&'static str> {
        let given = [
            (!self.env.is_empty(), "--env"),
            (self.env_clear, "--env-clear"),
            (!self.env_pass.is_empty(), "--env-pass"),
            (self.cwd.is_some(), "--cwd"),
        ];
        given.into_iter().find_map(|(given, name)| given.then_some(name))
    }

    /// The first flag given that means nothing without an address.
    pub(super) fn of_a_url(&self) -> Option<&'static str> {
        let given = [(!self.headers.is_empty(), "--header"), (self.transport.is_some(), "--transport")];
        given.into_iter().find_map(|(given, name)| given.then_some(name))
    }
}
