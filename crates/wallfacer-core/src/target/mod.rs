//! Resolves flags and files to one [`Target`]: how a server is started or reached, and within which limits. Nothing
//! here starts, connects or reads the environment; lookups are handed in.

mod clients;
mod command;
mod config;
mod endpoint;
mod expand;
mod flags;
mod imitation;
mod limits;
mod resolve;
mod sandbox;
mod secret;
mod settings;
mod severity;
mod shown;
mod source;
mod surroundings;
mod token;
mod version;

pub use clients::{ClientError, ClientFiles, ClientServer};
pub use command::{Command, Environment, Inherit};
pub use config::{CONFIG_NAME, ConfigError, FileConfig, config_reference, config_schema};
pub use endpoint::{Endpoint, EndpointError, EndpointKind};
pub use flags::{FlagError, Flags};
pub use imitation::{Imitation, imitate, secret_values};
pub use limits::{Bounds, Timeouts};
pub use resolve::{Resolved, TargetError, resolve};
pub use sandbox::{Confine, Net, Required, Sandbox, SandboxWishes, Upstream};
pub use secret::{REDACTED, is_long_enough, is_secret_name};
pub use settings::{Destructive, Settings};
pub use severity::SeverityKey;
pub use shown::{Shown, quoted_for_shell};
pub use source::{Problem, Source};
pub use surroundings::Surroundings;
pub use token::{TOKEN_BEGINNINGS, has_known_beginning, is_token, url_secrets};
pub use version::{Era, Protocol, Version};

pub use crate::severity::Severity;

use std::collections::BTreeSet;
use std::path::PathBuf;

/// A server as meant: nothing is left open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub reach: Reach,
    pub protocol: Protocol,
    pub timeouts: Timeouts,
    pub bounds: Bounds,
    pub sandbox: Sandbox,
    /// Directories that the server is told of when it asks for roots.
    pub roots: Vec<PathBuf>,
    /// Values that came from environment variables, to be kept out of everything we write.
    pub from_environment: BTreeSet<String>,
    /// What a file of the project says of the server, where one names it.
    pub by_project: Option<ByProject>,
}

/// What nobody typed: a file of the project says so, and its author is not always its user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByProject {
    /// Variables that it sets or passes on.
    pub variables: BTreeSet<String>,
    /// What it has filled in from our own environment.
    pub filled: BTreeSet<String>,
}

/// How the server is got at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Started by us, spoken to over its standard streams.
    Command(Command),
    /// Already running somewhere; a fresh server means a new session.
    Url(Endpoint),
    /// Started by us, spoken to over HTTP.
    Both { command: Command, endpoint: Endpoint },
}

impl Reach {
    pub fn command(&self) -> Option<&Command> {
        match self {
            Reach::Command(command) | Reach::Both { command, .. } => Some(command),
            Reach::Url(_) => None,
        }
    }

    pub fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Reach::Url(endpoint) | Reach::Both { endpoint, .. } => Some(endpoint),
            Reach::Command(_) => None,
        }
    }
}

impl Target {
    /// The target with every limit and wish at its default.
    pub fn new(reach: Reach) -> Self {
        Self {
            reach,
            protocol: Protocol::default(),
            timeouts: Timeouts::default(),
            bounds: Bounds::default(),
            sandbox: Sandbox::default(),
            roots: Vec::new(),
            from_environment: BTreeSet::new(),
            by_project: None,
        }
    }
}
