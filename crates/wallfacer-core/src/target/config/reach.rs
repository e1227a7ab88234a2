//! Reads the `[target]` table: how the server is started or reached.

use super::reader::{At, Reader, Section};
use crate::target::surroundings::{joined, program};
use crate::target::{Command, Endpoint, EndpointKind, Environment, Inherit, Reach, endpoint};
use std::path::Path;

/// Keys that mean nothing without a command to start.
const OF_A_COMMAND: [&str; 5] = ["args", "env", "env_clear", "env_pass", "cwd"];
/// Keys that mean nothing without an address.
const OF_A_URL: [&str; 2] = ["headers", "transport"];

pub(super) fn read(reader: &Reader<'_>, target: &Section<'_>, directory: &Path) -> Option<Reach> {
    check_company(reader, target);
    match (command(reader, target, directory), endpoint(reader, target)) {
        (Some(command), Some(endpoint)) => Some(Reach::Both { command, endpoint }),
        (Some(command), None) => Some(Reach::Command(command)),
        (None, Some(endpoint)) => Some(Reach::Url(endpoint)),
        (None, None) => None,
    }
}

/// Keys that need one another are there together.
fn check_company(reader: &Reader<'_>, target: &Section<'_>) {
    let kind = target.choice("kind");
    let (command, url) = (target.span("command"), target.span("url"));
    let at_kind = target.span("kind").unwrap_or_default();
    match kind {
        Some("stdio") if command.is_none() => {
            reader.report_with_help(
                at_kind,
                "`kind = \"stdio\"` needs a `command` to start",
                "add `command = \"…\"`",
            );
        }
        Some("http") if url.is_none() => {
            reader.report_with_help(
                at_kind,
                "`kind = \"http\"` needs a `url` to reach",
                "add `url = \"http://…\"`",
            );
        }
        _ => {}
    }
    if let (Some("stdio"), Some(url)) = (kind, &url) {
        let help = "take `kind` away to start the command and reach it at this address";
        reader.report_with_help(url.clone(), "`url` does not go with `kind = \"stdio\"`", help);
    }
    let lonely = |names: &[&str], wanted: &str| {
        for (name, span) in names.iter().filter_map(|name| Some((name, target.span(name)?))) {
            reader.report(span, format!("`{name}` goes with `{wanted}`, and there is none"));
        }
    };
    if command.is_none() {
        lonely(&OF_A_COMMAND, "command");
    }
    if url.is_none() {
        lonely(&OF_A_URL, "url");
    }
}

fn command(reader: &Reader<'_>, target: &Section<'_>, directory: &Path) -> Option<Command> {
    // Everything is read even where the command itself is wrong, so that all mistakes are said at once.
    let args = target.texts("args").unwrap_or_default();
    let cwd = target.text("cwd");
    let environment = environment(reader, target);
    let At { value: name, span } = target.text("command")?;
    if name.trim().is_empty() {
        reader.report(span, "`command` is empty");
        return None;
    }
    Some(Command {
        program: program(directory, &name).into(),
        args: args.into_iter().map(|argument| argument.value.into()).collect(),
        cwd: Some(cwd.map_or(directory.to_owned(), |cwd| joined(directory, cwd.value))),
        environment,
    })
}

fn environment(reader: &Reader<'_>, target: &Section<'_>) -> Environment {
    let pass = target.texts("env_pass");
    let clear = target.flag("env_clear").unwrap_or(false);
    let set = target.text_table("env").unwrap_or_default();
    for (name, _) in set.iter().filter(|(name, _)| name.value.is_empty() || name.value.contains(['=', '\0']))
    {
        reader.report(name.span.clone(), format!("`{}` cannot be the name of a variable", name.value));
    }
    let passed: Vec<String> = pass.unwrap_or_default().into_iter().map(|name| name.value).collect();
    Environment {
        pass: passed.iter().cloned().collect(),
        inherit: if clear { Inherit::Only(passed) } else { Inherit::All },
        set: set.into_iter().map(|(name, value)| (name.value, value)).collect(),
    }
}

fn endpoint(reader: &Reader<'_>, target: &Section<'_>) -> Option<Endpoint> {
    let headers = headers(reader, target);
    let kind = target.choice("transport").and_then(EndpointKind::parse).unwrap_or_default();
    let url = target.text("url")?.value;
    // The key is the place, for the value may hold a password.
    let span = target.span("url").unwrap_or_default();
    Endpoint::new(&url, headers, kind).map_err(|error| reader.report(span, error.to_string())).ok()
}

fn headers(reader: &Reader<'_>, target: &Section<'_>) -> Vec<(String, String)> {
    let checked = target.text_table("headers").unwrap_or_default().into_iter().map(|(name, value)| {
        endpoint::header(&name.value, &value).map_err(|error| reader.report(name.span, error.to_string()))
    });
    checked.flatten().collect()
}
