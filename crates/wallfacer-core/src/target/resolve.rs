//! Puts [`Flags`] and [`FileConfig`] together as one [`Target`]: flags win over files.

use super::flags::FlagError;
use super::surroundings::joined;
use super::{
    Bounds, ByProject, ClientError, ClientFiles, Command, Endpoint, FileConfig, Flags, Inherit, Reach,
    Sandbox, Surroundings, Target, Timeouts,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A target, and what its user should know of how it was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Resolved {
    pub target: Target,
    /// The file that names the server, where one does.
    pub file: Option<PathBuf>,
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error(
        "no server is named: write `-- COMMAND ARGS…`, `--url URL`, `--server NAME` or `--demo`, \
         or put a [target] into wallfacer.toml (`wallfacer init` writes one){known}"
    )]
    Nothing { known: String },
    #[error("--server and {other} both name a server; give one of them")]
    TwoServers { other: &'static str },
    #[error(
        "{flag} goes with a command to start, and the target is only reached at {url}; add `-- COMMAND` or leave it away"
    )]
    NeedsCommand { flag: &'static str, url: String },
    #[error(
        "{flag} goes with a URL, and the target is only started as `{command}`; add --url or leave it away"
    )]
    NeedsUrl { flag: &'static str, command: String },
    #[error("the root `{}` is not a directory; name one that is there", path.display())]
    NoRoot { path: PathBuf },
    #[error("cannot keep `{}`: no file or directory is there; name one that is", path.display())]
    NothingToKeep { path: PathBuf },
    #[error(transparent)]
    Flag(#[from] FlagError),
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// How the server is got at, and where that was learned.
struct Found {
    reach: Reach,
    file: Option<PathBuf>,
    from_environment: BTreeSet<String>,
    notes: Vec<String>,
}

/// The target as meant. What names a server on the command line takes the place of the file's server as a whole;
/// times, limits and the other flags then hold for whichever it is.
pub fn resolve(
    flags: &Flags,
    config: Option<&FileConfig>,
    around: &Surroundings<'_>,
) -> Result<Resolved, TargetError> {
    let Found { mut reach, file, from_environment, mut notes } = find(flags, config, around)?;
    let unset = flags.env_pass.iter().filter(|name| (around.variable)(name).is_none());
    notes.extend(
        unset.map(|name| format!("--env-pass {name}: there is no such variable, so the server gets none")),
    );
    let is_of_project = file.as_ref().is_some_and(|file| around.project_uri(file).is_some());
    let by_project = is_of_project.then(|| by_project(&reach, flags, &from_environment)).transpose()?;
    adjust(&mut reach, flags, around.directory)?;
    let protocol = flags.protocol()?.or(config.map(|config| config.protocol)).unwrap_or_default();
    let target = Target {
        reach,
        protocol,
        timeouts: timeouts(flags, config),
        bounds: bounds(flags, config),
        sandbox: sandbox(flags, config, around)?,
        roots: roots(flags, config, around.directory)?,
        from_environment,
        by_project,
    };
    check_company(flags, &target)?;
    Ok(Resolved { target, file, notes })
}

fn find(flags: &Flags, config: Option<&FileConfig>, around: &Surroundings<'_>) -> Result<Found, TargetError> {
    if let Some(name) = &flags.server {
        let other = if flags.url.is_some() { Some("--url") } else { flags.program().map(|_| "`-- COMMAND`") };
        if let Some(other) = other {
            return Err(TargetError::TwoServers { other });
        }
        // Only now, for these files can be large.
        let files = match &flags.client_file {
            Some(file) => ClientFiles::of(file, around),
            None => ClientFiles::read(around),
        };
        let server = files.find(name)?;
        return Ok(Found {
            reach: server.reach,
            file: Some(server.file),
            from_environment: server.from_environment,
            notes: server.notes,
        });
    }
    let typed = match (flags.program(), flags.endpoint()?) {
        (Some(command), Some(endpoint)) => Some(Reach::Both { command, endpoint }),
        (Some(command), None) => Some(Reach::Command(command)),
        (None, Some(endpoint)) => Some(Reach::Url(endpoint)),
        (None, None) => None,
    };
    let written = || {
        let config = config?;
        Some((config.reach.clone()?, Some(config.path.clone()), config.from_environment.clone()))
    };
    let (reach, file, from_environment) =
        typed.map(|reach| (reach, None, BTreeSet::new())).or_else(written).ok_or_else(|| nothing(around))?;
    Ok(Found { reach, file, from_environment, notes: vec![] })
}

/// Names the servers that the project's client files list, which may be what was meant.
fn nothing(around: &Surroundings<'_>) -> TargetError {
    let known = match ClientFiles::read(around).told_of_project() {
        Some(files) => format!("\n--server NAME takes one of these, `check --all` takes them all:{files}"),
        None => String::new(),
    };
    TargetError::Nothing { known }
}

/// What a file says of a server and nobody typed.
fn by_project(reach: &Reach, flags: &Flags, filled: &BTreeSet<String>) -> Result<ByProject, TargetError> {
    let typed = flags.variables()?;
    let environment = reach.command().map(|command| command.environment.clone()).unwrap_or_default();
    let inherited = match environment.inherit {
        Inherit::All => Vec::new(),
        Inherit::Only(names) => names,
    };
    let named = environment.set.into_keys().chain(environment.pass).chain(inherited);
    let is_typed =
        |name: &String| typed.iter().any(|(other, _)| other == name) || flags.env_pass.contains(name);
    Ok(ByProject { variables: named.filter(|name| !is_typed(name)).collect(), filled: filled.clone() })
}

/// Puts on top what the flags say about the server without naming it.
fn adjust(reach: &mut Reach, flags: &Flags, directory: &Path) -> Result<(), TargetError> {
    let (command, endpoint) = match reach {
        Reach::Command(command) => (Some(command), None),
        Reach::Url(endpoint) => (None, Some(endpoint)),
        Reach::Both { command, endpoint } => (Some(command), Some(endpoint)),
    };
    if let Some(command) = command {
        adjust_command(command, flags, directory)?;
    }
    if let Some(endpoint) = endpoint {
        adjust_endpoint(endpoint, flags)?;
    }
    Ok(())
}

fn adjust_command(command: &mut Command, flags: &Flags, directory: &Path) -> Result<(), FlagError> {
    if let Some(cwd) = &flags.cwd {
        // The path of the program was typed here, not in the directory it will be started in.
        if Path::new(&command.program).components().count() > 1 {
            command.program = joined(directory, &command.program).into();
        }
        command.cwd = Some(joined(directory, cwd));
    }
    if let Some(inherit) = flags.inherit() {
        command.environment.inherit = inherit;
    } else if let Inherit::Only(names) = &mut command.environment.inherit {
        names.extend(flags.env_pass.iter().cloned());
    }
    command.environment.pass.extend(flags.env_pass.iter().cloned());
    command.environment.set.extend(flags.variables()?);
    Ok(())
}

fn adjust_endpoint(endpoint: &mut Endpoint, flags: &Flags) -> Result<(), FlagError> {
    let headers = flags.headers()?;
    let replaced = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    endpoint.headers.retain(|(name, _)| !replaced(name));
    endpoint.headers.extend(headers);
    if let Some(kind) = flags.kind()? {
        endpoint.kind = kind;
    }
    Ok(())
}

fn timeouts(flags: &Flags, config: Option<&FileConfig>) -> Timeouts {
    let written = config.map(|config| config.timeouts.clone()).unwrap_or_default();
    Timeouts {
        startup: flags.startup_timeout.unwrap_or(written.startup),
        probe: flags.probe_timeout.unwrap_or(written.probe),
        call: flags.timeout.unwrap_or(written.call),
        per_tool: written.per_tool,
    }
}

fn bounds(flags: &Flags, config: Option<&FileConfig>) -> Bounds {
    let written = config.map(|config| config.bounds.clone()).unwrap_or_default();
    Bounds { line_bytes: flags.max_line_bytes.unwrap_or(written.line_bytes), ..written }
}

/// What the flags wish for, then what the file does. What the flags keep must be there: who types it means it.
fn sandbox(
    flags: &Flags,
    config: Option<&FileConfig>,
    around: &Surroundings<'_>,
) -> Result<Sandbox, TargetError> {
    let mut typed = flags.sandbox()?;
    typed.keep = typed.keep.iter().map(|path| around.whole(path)).collect();
    let is_there = |path: &&PathBuf| path.is_dir() || path.is_file();
    if let Some(path) = typed.keep.iter().find(|path| !is_there(path)) {
        return Err(TargetError::NothingToKeep { path: path.clone() });
    }
    let mut written = config.map(|config| config.sandbox.clone()).unwrap_or_default();
    written.keep = written.keep.iter().map(|path| around.whole(path)).collect();
    let opened = written.beyond(&typed);
    let file = config.map(|config| around.as_written(&config.path)).unwrap_or_default();
    let opened = (!opened.is_empty()).then(|| format!("{}, by {}", opened.join(", "), file.display()));
    Ok(Sandbox { opened, ..typed.over(written) })
}

/// Those of the flags; else those of the file, where its server is meant.
fn roots(flags: &Flags, config: Option<&FileConfig>, here: &Path) -> Result<Vec<PathBuf>, TargetError> {
    let named = flags.server.is_some() || flags.url.is_some() || !flags.command.is_empty();
    let written = config.filter(|_| !named).map(|config| config.roots.clone()).unwrap_or_default();
    let typed: Vec<PathBuf> = flags.roots.iter().map(|root| joined(here, root)).collect();
    let roots = if typed.is_empty() { written } else { typed };
    match roots.iter().find(|root| !root.is_dir()) {
        Some(path) => Err(TargetError::NoRoot { path: path.clone() }),
        None => Ok(roots),
    }
}

/// A flag that would do nothing is a misunderstanding.
fn check_company(flags: &Flags, target: &Target) -> Result<(), TargetError> {
    let shown = || target.shown().to_string();
    match (&target.reach, flags.of_a_command(), flags.of_a_url()) {
        (Reach::Url(_), Some(flag), _) => Err(TargetError::NeedsCommand { flag, url: shown() }),
        (Reach::Command(_), _, Some(flag)) => Err(TargetError::NeedsUrl { flag, command: shown() }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{EndpointKind, Inherit, Protocol, Source, Version};
    use std::time::Duration;

    const DIRECTORY: &str = "/srv/here";

    fn typed(command: &[&str]) -> Flags {
        Flags { command: command.iter().map(Into::into).collect(), ..Flags::default() }
    }

    fn at(url: &str) -> Flags {
        Flags { url: Some(url.into()), ..Flags::default() }
    }

    fn resolved(flags: &Flags, config: &str) -> Result<Target, TargetError> {
        let around = Surroundings { directory: Path::new(DIRECTORY), home: None, variable: &|_| None };
        let source = Source { path: "wallfacer.toml".into(), text: config.into() };
        let config =
            FileConfig::parse(&source, Path::new("/project/wallfacer.toml"), around.variable).unwrap();
        resolve(flags, Some(&config), &around).map(|resolved| resolved.target)
    }

    const WITH_COMMAND: &str = "[target]\ncommand = './run'\nenv = { A = '1', B = '2' }\ntimeout_ms = 7000\n";
    const WITH_URL: &str = "[target]\nurl = 'http://host/mcp'\nheaders = { X-Who = 'file', X-Two = '2' }\n";

    #[test]
    fn a_typed_command_takes_the_place_of_the_written_one_and_the_times_stay() {
        let target = resolved(&typed(&["node", "server.js"]), WITH_COMMAND).unwrap();
        assert_eq!(target.reach, Reach::Command(Command::new("node", ["server.js"])));
        assert_eq!(target.timeouts.call, Duration::from_secs(7));
    }

    #[test]
    fn command_and_url_together_are_started_then_reached() {
        let flags = Flags { url: Some("http://localhost:1/mcp".into()), ..typed(&["node"]) };
        let Reach::Both { command, endpoint } = resolved(&flags, "").unwrap().reach else {
            panic!("not both")
        };
        assert_eq!(
            (command.program.to_str(), endpoint.url.as_str()),
            (Some("node"), "http://localhost:1/mcp")
        );
    }

    #[test]
    fn flags_that_name_no_server_add_to_the_written_one() {
        let flags = Flags {
            env: vec!["B=3".into(), "C=a=b".into()],
            cwd: Some("sub".into()),
            protocol: Some("2025-06-18".into()),
            timeout: Some(Duration::from_secs(1)),
            max_line_bytes: Some(2048),
            env_clear: true,
            ..Flags::default()
        };
        let target = resolved(&flags, WITH_COMMAND).unwrap();
        let command = target.reach.command().unwrap();
        let set: Vec<_> =
            command.environment.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(set, ["A=1", "B=3", "C=a=b"]);
        assert_eq!(command.environment.inherit, Inherit::Only(vec![]));
        assert_eq!(command.cwd.as_deref(), Some(Path::new("/srv/here/sub")));
        assert_eq!(command.program, "/project/run");
        assert_eq!(target.protocol, Protocol::Fixed(Version::V2025_06_18));
        assert_eq!(target.timeouts.call, Duration::from_secs(1));
        assert_eq!(target.bounds.line_bytes, 2048);
    }

    #[test]
    fn a_typed_header_takes_the_place_of_the_written_one() {
        let flags = Flags {
            headers: vec!["x-who:flag".into(), "X-Three: a:b".into()],
            transport: Some("sse".into()),
            ..Flags::default()
        };
        let target = resolved(&flags, WITH_URL).unwrap();
        let endpoint = target.reach.endpoint().unwrap();
        let headers: Vec<_> =
            endpoint.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(headers, ["X-Two=2", "x-who=flag", "X-Three=a:b"]);
        assert_eq!(endpoint.kind, EndpointKind::LegacySse);
    }

    #[test]
    fn a_server_of_a_client_file_keeps_the_times_of_the_configuration() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(".mcp.json"), r#"{"mcpServers": {"one": {"command": "x"}}}"#)
            .unwrap();
        std::fs::write(directory.path().join("wallfacer.toml"), WITH_COMMAND).unwrap();
        let around = Surroundings { directory: directory.path(), home: None, variable: &|_| None };
        let config = FileConfig::find(None, &around).unwrap();
        let flags = Flags { server: Some("one".into()), ..Flags::default() };
        let resolved = resolve(&flags, config.as_ref(), &around).unwrap();
        assert_eq!(resolved.target.reach.command().unwrap().program, "x");
        assert_eq!(resolved.target.timeouts.call, Duration::from_secs(7));
    }

    #[test]
    fn a_program_typed_as_a_path_is_meant_from_here_and_not_from_its_new_directory() {
        let flags = Flags { cwd: Some("sub".into()), ..typed(&["./run"]) };
        let target = resolved(&flags, "").unwrap();
        assert_eq!(target.reach.command().unwrap().program, "/srv/here/run");
        let flags = Flags { cwd: Some("sub".into()), ..typed(&["node"]) };
        assert_eq!(resolved(&flags, "").unwrap().reach.command().unwrap().program, "node");
    }

    #[test]
    fn roots_are_typed_or_go_with_the_server_of_the_file() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().to_owned();
        let written = format!("[target]\ncommand = 'x'\nroots = ['{}']\n", root.display());
        assert_eq!(resolved(&Flags::default(), &written).unwrap().roots, std::slice::from_ref(&root));
        assert_eq!(resolved(&typed(&["node"]), &written).unwrap().roots, [""; 0].map(PathBuf::from));
        let flags = Flags { roots: vec![root.clone()], ..typed(&["node"]) };
        assert_eq!(resolved(&flags, "").unwrap().roots, [root]);
    }

    #[test]
    fn every_contradiction_is_one_clear_sentence() {
        let server = || Flags { server: Some("github".into()), ..Flags::default() };
        let url = "http://host/mcp?key=hunter2";
        let header = |text: &str| Flags { headers: vec![text.into()], ..at("http://host/") };
        let wrong = [
            (Flags::default(), ""),
            (Flags { url: Some(url.into()), ..server() }, ""),
            (Flags { command: typed(&["node"]).command, ..server() }, ""),
            (Flags { env: vec!["A=1".into()], ..at(url) }, ""),
            (Flags { cwd: Some("sub".into()), ..Flags::default() }, WITH_URL),
            (Flags { headers: vec!["A: b".into()], ..typed(&["node", "--token", "hunter2"]) }, ""),
            (Flags { transport: Some("sse".into()), ..Flags::default() }, WITH_COMMAND),
            (Flags { env: vec!["TOKEN".into()], ..typed(&["node"]) }, ""),
            (Flags { env: vec!["=x".into()], ..typed(&["node"]) }, ""),
            (header("Authorization hunter2"), ""),
            (header("Bad Name: hunter2"), ""),
            (header("Authorization: hunter2\nX: y"), ""),
            (Flags { protocol: Some("2025".into()), ..typed(&["node"]) }, ""),
            (Flags { transport: Some("http".into()), ..at("http://host/") }, ""),
            (at("localhost:8000"), ""),
            (at("ftp://ada:hunter2@host/"), ""),
            (at("http://host:port/"), ""),
            (Flags { roots: vec!["no-such-place".into()], ..typed(&["node"]) }, ""),
        ];
        let messages: Vec<_> = wrong
            .into_iter()
            .map(|(flags, config)| resolved(&flags, config).unwrap_err().to_string())
            .collect();
        let messages = messages.join("\n");
        assert!(!messages.contains("hunter2"), "{messages}");
        insta::assert_snapshot!(messages);
    }
}
