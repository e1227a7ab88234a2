//! The flags that name a server, and the [`Connector`] that they mean together with the configuration and the
//! environment.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use wallfacer_core::repository::Repository;
use wallfacer_core::session::RuleSet;
use wallfacer_core::target::{
    ByProject, CONFIG_NAME, Confine, FileConfig, Flags, Settings, Surroundings, Target, resolve,
};
use wallfacer_core::wire::Connector;
use wallfacer_core::world::shown_by_project;
use wallfacer_rules::Rules;

use super::units;
use crate::exit::{Exit, Failure, without_number};
use crate::{demo, environment, terminal};

/// Which server, and how to get at it.
#[derive(Debug, Default, Args)]
pub struct TargetArgs {
    /// The server's URL; with a command behind `--`, that is started first
    #[arg(long, help_heading = "Target")]
    url: Option<String>,
    /// A header for every request, as "NAME: VALUE"
    #[arg(long = "header", value_name = "NAME: VALUE", help_heading = "Target")]
    headers: Vec<String>,
    /// A server by its name in an MCP client's file (.mcp.json, .vscode/mcp.json, Claude Desktop, Cursor …)
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    server: Option<String>,
    /// The file that --server is looked up in, instead of those of MCP clients
    #[arg(long, value_name = "FILE", requires = "server", help_heading = "Target")]
    client_file: Option<PathBuf>,
    /// The flawed server that is built in
    #[arg(long, conflicts_with_all = ["url", "server", "command"], help_heading = "Target")]
    demo: bool,
    /// A variable for the server's environment
    #[arg(long = "env", value_name = "NAME=VALUE", help_heading = "Target")]
    env: Vec<String>,
    /// Start the server without our own environment
    #[arg(long, help_heading = "Target")]
    env_clear: bool,
    /// A variable that the server gets as it is: a confined one has look-alikes of other secrets, with --env-clear nothing else
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    env_pass: Vec<String>,
    /// The directory that the server is started in
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    cwd: Option<PathBuf>,
    /// A directory to name when the server asks for roots; it is then held to it
    #[arg(long = "root", value_name = "DIR", help_heading = "Target")]
    roots: Vec<PathBuf>,
    /// auto, or 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28
    #[arg(long, value_name = "VERSION", help_heading = "Target")]
    protocol: Option<String>,
    /// Over HTTP: auto, streamable-http or sse
    #[arg(long, help_heading = "Target")]
    transport: Option<String>,
    /// Confine the server: auto (as far as the machine allows), require, off [default: auto]
    #[arg(long, value_name = "MODE", help_heading = "Sandbox")]
    sandbox: Option<String>,
    /// The network of a confined server: sink (everything answers, nothing leaves), deny, host, allow=HOST:PORT,… [default: sink]
    #[arg(long, value_name = "NETWORK", help_heading = "Sandbox")]
    net: Option<String>,
    /// What must be had, or the server is not tested: observe, confine
    #[arg(long, value_name = "WHAT", help_heading = "Sandbox")]
    require: Vec<String>,
    /// A file or directory of the home that a confined server sees as it is; what it writes there is not kept
    #[arg(long, value_name = "PATH", help_heading = "Sandbox")]
    keep: Vec<PathBuf>,
    /// How long one request may take [default: 5s]
    #[arg(long, alias = "per-call-timeout", value_name = "TIME", value_parser = units::duration, help_heading = "Limits")]
    timeout: Option<Duration>,
    /// How long a call of one tool may take
    #[arg(long, value_name = "NAME=TIME", value_parser = units::tool_duration, help_heading = "Limits")]
    tool_timeout: Vec<(String, Duration)>,
    /// How long the server may take to start and answer [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = "Limits")]
    startup_timeout: Option<Duration>,
    /// How long the question for the protocol's era may stay unanswered [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = units::duration, help_heading = "Limits")]
    probe_timeout: Option<Duration>,
    /// The longest message that is read [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::size, help_heading = "Limits")]
    max_line: Option<usize>,
    /// The command that starts the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What the flags and files came to.
#[derive(Debug)]
pub struct Chosen {
    pub connector: Connector,
    pub settings: Settings,
    /// The file of the project that names the server, as a URI from the project's root.
    pub source: Option<String>,
}

impl TargetArgs {
    /// The server as meant, and what the configuration says besides.
    pub fn choose(&self, config: Option<&Path>) -> Result<Chosen, Failure> {
        let here = working_directory()?;
        let home = environment::home();
        let around =
            Surroundings { directory: &here, home: home.as_deref(), variable: &environment::variable };
        // What names a server on the command line needs no file; a broken one must not be in its way.
        let file = match (config, self.names_a_server()) {
            (None, true) => None,
            (config, _) => FileConfig::find(config, &around)?,
        };
        let mut resolved = resolve(&self.flags()?, file.as_ref(), &around)?;
        let source = resolved.file.as_ref().and_then(|file| around.project_uri(file));
        resolved.notes.iter().for_each(|note| terminal::note(note));
        resolved.target.from_environment.extend(environment::secrets());
        resolved.target.timeouts.per_tool.extend(self.tool_timeout.clone());
        if let Some(file) = &resolved.file {
            tell_given(&mut resolved.target, &around, &around.as_written(file));
        }
        // At once, and by every command: some have no report that could begin with it.
        if let Some(opened) = &resolved.target.sandbox.opened {
            terminal::note(&format!("sandbox: {opened}"));
        }
        // Findings go to one place, however the server was named.
        let file = file.or_else(|| FileConfig::find(None, &around).ok().flatten());
        let settings = file.map_or_else(|| Settings::new(&here), |file| file.settings);
        Ok(Chosen { connector: Connector::new(resolved.target, environment::all()), settings, source })
    }

    /// The server that a stored target names, got at from its own directory, with what the flags say besides.
    pub fn choose_stored(&self, stored: &Flags, config: Option<&Path>) -> Result<Chosen, Failure> {
        let here = stored.cwd.clone().map_or_else(working_directory, Ok)?;
        let home = environment::home();
        let around =
            Surroundings { directory: &here, home: home.as_deref(), variable: &environment::variable };
        let typed = self.flags()?;
        let flags = Flags {
            command: stored.command.clone(),
            url: stored.url.clone(),
            headers: [&stored.headers[..], &typed.headers].concat(),
            env: [&stored.env[..], &typed.env].concat(),
            cwd: typed.cwd.clone().or_else(|| stored.cwd.clone()),
            env_clear: typed.env_clear || stored.env_clear,
            env_pass: [&stored.env_pass[..], &typed.env_pass].concat(),
            protocol: typed.protocol.clone().or_else(|| stored.protocol.clone()),
            keep: [&stored.keep[..], &typed.keep].concat(),
            roots: if typed.roots.is_empty() { stored.roots.clone() } else { typed.roots.clone() },
            ..typed
        };
        let mut target = resolve(&flags, None, &around)?.target;
        target.from_environment.extend(environment::secrets());
        target.timeouts.per_tool.extend(self.tool_timeout.clone());
        // What is stored may once have been said by a file of the project.
        let names = |written: &[String], passed: &[String]| {
            let set = written.iter().map(|pair| pair.split('=').next().unwrap_or_default().to_owned());
            set.chain(passed.iter().cloned()).collect::<BTreeSet<String>>()
        };
        let variables = &names(&stored.env, &stored.env_pass) - &names(&self.env, &self.env_pass);
        target.by_project = Some(ByProject { variables, filled: BTreeSet::new() });
        let connector = Connector::new(target, environment::all());
        Ok(Chosen { connector, settings: settings(config)?, source: None })
    }

    /// A server of an MCP client's file beside the one that is meant, within the same limits.
    pub fn choose_client_server(&self, name: &str) -> Result<Chosen, Failure> {
        self.choose_beside(Flags { server: Some(name.to_owned()), ..Flags::default() }, None)
    }

    /// Another server beside the one that is meant, within the same limits.
    pub fn choose_other(
        &self,
        url: Option<String>,
        command: &[String],
        headers: &[String],
        config: Option<&Path>,
    ) -> Result<Chosen, Failure> {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let started = !command.is_empty();
        let env = if started { self.env.clone() } else { Vec::new() };
        let cwd = self.cwd.clone().filter(|_| started);
        let headers = headers.to_vec();
        let roots = self.roots.clone();
        self.choose_beside(Flags { url, command, headers, env, cwd, roots, ..Flags::default() }, config)
    }

    fn choose_beside(&self, named: Flags, config: Option<&Path>) -> Result<Chosen, Failure> {
        let here = working_directory()?;
        let home = environment::home();
        let around =
            Surroundings { directory: &here, home: home.as_deref(), variable: &environment::variable };
        let typed = self.flags()?;
        let flags = Flags {
            sandbox: typed.sandbox,
            net: typed.net,
            require: typed.require,
            keep: typed.keep,
            timeout: typed.timeout,
            startup_timeout: typed.startup_timeout,
            probe_timeout: typed.probe_timeout,
            max_line_bytes: typed.max_line_bytes,
            ..named
        };
        let mut target = resolve(&flags, None, &around)?.target;
        target.from_environment.extend(environment::secrets());
        target.timeouts.per_tool.extend(self.tool_timeout.clone());
        let connector = Connector::new(target, environment::all());
        Ok(Chosen { connector, settings: settings(config)?, source: None })
    }

    /// A server of an MCP client's file, with nothing said besides.
    pub fn of_client_server(name: &str) -> TargetArgs {
        TargetArgs { server: Some(name.to_owned()), ..TargetArgs::default() }
    }

    /// The same, without the sandbox.
    pub fn leave_sandbox(&mut self) {
        self.sandbox = Some("off".to_owned());
    }

    /// The rules that come with the demo, where it is the server.
    pub fn own_rules(&self) -> Result<Vec<RuleSet>, Failure> {
        if !self.demo {
            return Ok(Vec::new());
        }
        let rules = Rules::read("six-bugs", demo::INVARIANTS, &BTreeMap::new(), &|_| None)
            .map_err(|problems| super::pack::wrong(&problems))?;
        Ok(vec![RuleSet { name: "six-bugs".to_owned(), rules, own: true }])
    }

    /// Whether a server is named here, and not left to the configuration.
    pub fn names_a_server(&self) -> bool {
        self.demo || self.url.is_some() || self.server.is_some() || !self.command.is_empty()
    }

    /// The name in an MCP client's file, where that is how the server is named.
    pub fn client_server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    fn flags(&self) -> Result<Flags, Failure> {
        let command = if self.demo { demo_command()? } else { self.command.clone() };
        Ok(Flags {
            command,
            url: self.url.clone(),
            headers: self.headers.clone(),
            server: self.server.clone(),
            client_file: self.client_file.clone(),
            env: self.env.clone(),
            env_clear: self.env_clear,
            env_pass: self.env_pass.clone(),
            cwd: self.cwd.clone(),
            roots: self.roots.clone(),
            protocol: self.protocol.clone(),
            transport: self.transport.clone(),
            sandbox: self.sandbox.clone(),
            net: self.net.clone(),
            require: self.require.clone(),
            keep: self.keep.clone(),
            timeout: self.timeout,
            startup_timeout: self.startup_timeout,
            probe_timeout: self.probe_timeout,
            max_line_bytes: self.max_line,
        })
    }
}

/// Has the report begin with the secrets of our own that a file of the project gives to its server, and with what it shows
/// of the home directory.
fn tell_given(target: &mut Target, around: &Surroundings<'_>, file: &Path) {
    let Some(by) = &target.by_project else { return };
    let passed = |name: &String| {
        let command = target.reach.command();
        by.variables.contains(name) && command.is_some_and(|command| command.environment.pass.contains(name))
    };
    let given: Vec<String> = environment::secret_variables()
        .into_iter()
        .filter(|(name, value)| passed(name) || by.filled.contains(value))
        .map(|(name, _)| name)
        .collect();
    // Without a sandbox it sees everything, and that is told.
    let home = around.home.filter(|_| target.sandbox.confine != Confine::Off);
    let shown = home.map(|home| shown_by_project(target, around.directory, home)).unwrap_or_default();
    let mut shown: Vec<String> = shown.iter().map(|path| path.display().to_string()).collect();
    let more = shown.len().saturating_sub(MOST_SHOWN);
    shown.truncate(MOST_SHOWN);
    shown.extend((more > 0).then(|| format!("{more} more")));
    for (what, named) in [("gets the real", given), ("sees", shown)] {
        if !named.is_empty() {
            let told = format!("the server {what} {}, by {}", named.join(", "), file.display());
            let opened = target.sandbox.opened.take().map(|opened| format!("{opened}; ")).unwrap_or_default();
            target.sandbox.opened = Some(opened + &told);
        }
    }
}

/// Places of the home directory that are named in one line.
const MOST_SHOWN: usize = 5;

/// The repository around the working directory, for files that are kept in it.
pub fn repository() -> Result<Repository, Failure> {
    working_directory().map(|here| Repository::around(&here))
}

/// What the configuration says beyond the target.
pub fn settings(config: Option<&Path>) -> Result<Settings, Failure> {
    let file = file(config)?.map(|file| file.settings);
    file.map_or_else(|| working_directory().map(|here| Settings::new(&here)), Ok)
}

/// Where the configuration is, or would be looked for first.
pub fn config_path(config: Option<&Path>) -> Result<PathBuf, Failure> {
    let file = file(config)?.map(|file| file.path);
    file.map_or_else(|| working_directory().map(|here| here.join(CONFIG_NAME)), Ok)
}

fn file(config: Option<&Path>) -> Result<Option<FileConfig>, Failure> {
    let here = working_directory()?;
    let home = environment::home();
    let around = Surroundings { directory: &here, home: home.as_deref(), variable: &environment::variable };
    Ok(FileConfig::find(config, &around)?)
}

pub fn working_directory() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| Failure {
        exit: Exit::Usage,
        message: format!("cannot tell the working directory: {}", without_number(&error.to_string())),
    })
}

/// The demo server is this very program, told to be one.
fn demo_command() -> Result<Vec<OsString>, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure {
        exit: Exit::OurFault,
        message: format!("cannot find wallfacer's own program to start the demo server: {error}"),
    })?;
    Ok(vec![program.into(), "demo-server".into()])
}
