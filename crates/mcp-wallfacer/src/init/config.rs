//! Writes the text of a first `wallfacer.toml` for a server.

use super::project::{Server, Setup};
use std::ffi::OsStr;
use std::fmt::Write as _;
use toml::Value;
use wallfacer_core::target::{Command, Endpoint, EndpointKind};

/// A first `cargo run`, `go run` and the like compiles before it starts.
const COMPILING_MS: i64 = 300_000;

const OPENING: &str = concat!(
    "#:schema ",
    env!("CARGO_PKG_REPOSITORY"),
    "/raw/main/schemas/config.schema.json
# Every key: ",
    env!("CARGO_PKG_REPOSITORY"),
    "/blob/main/docs/config.md
# In strings, ${NAME} is the environment variable NAME and $$ is a plain $.

[target]
"
);

const CLOSING: &str = "timeout_ms = 5000

# [target.tool_timeouts_ms]
# slow_tool = 60000

[output]
corpus_dir = \".wallfacer/corpus\"

# Tools that look destructive are not called where their effects could leave the sandbox, unless they match here.
[allow_destructive]
tools = []

# [severity]
# hang = \"medium\"
# \"tool:slow_tool.hang\" = \"low\"
";

pub(super) fn text(server: &Server) -> String {
    let mut text = String::from(OPENING);
    if let Some(command) = server.reach.command() {
        write_command(&mut text, command);
    }
    if let Some(endpoint) = server.reach.endpoint() {
        write_endpoint(&mut text, endpoint);
    }
    if matches!(server.setup, Setup::Cargo | Setup::Go | Setup::Gradle | Setup::DotNet) {
        line(&mut text, "startup_timeout_ms", Value::Integer(COMPILING_MS));
    }
    text + CLOSING
}

fn write_command(text: &mut String, command: &Command) {
    line(text, "kind", Value::from("stdio"));
    line(text, "command", string(&command.program));
    line(text, "args", Value::Array(command.args.iter().map(|argument| string(argument)).collect()));
    if let Some(cwd) = &command.cwd {
        line(text, "cwd", string(cwd.as_os_str()));
    }
    let set = &command.environment.set;
    let variables: Vec<_> =
        set.iter().map(|(name, value)| (name.clone(), string(OsStr::new(value)))).collect();
    table(text, "env", variables);
}

fn write_endpoint(text: &mut String, endpoint: &Endpoint) {
    line(text, "kind", Value::from("http"));
    line(text, "url", string(OsStr::new(&endpoint.url)));
    if endpoint.kind == EndpointKind::LegacySse {
        line(text, "transport", Value::from("sse"));
    }
    let headers = &endpoint.headers;
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| (name.clone(), string(OsStr::new(value)))).collect();
    if headers.is_empty() {
        text.push_str("# headers = { Authorization = \"Bearer ${API_TOKEN}\" }\n");
    }
    table(text, "headers", headers);
}

fn table(text: &mut String, name: &str, entries: Vec<(String, Value)>) {
    if !entries.is_empty() {
        line(text, name, Value::Table(entries.into_iter().collect()));
    }
}

fn line(text: &mut String, name: &str, value: Value) {
    writeln!(text, "{name} = {value}").expect("a string takes all text");
}

/// Two dollars would be read as one.
fn string(text: &OsStr) -> Value {
    Value::String(text.to_string_lossy().replace("$$", "$$$$"))
}
