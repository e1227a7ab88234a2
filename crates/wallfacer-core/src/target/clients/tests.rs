//! Which file a server is taken from, what its entry then means, and every message on the way.

use super::*;
use crate::target::{Endpoint, EndpointKind};
use std::path::Path;

/// A home directory with a repository in it, and whatever files a test puts there.
struct Machine {
    home: tempfile::TempDir,
    project: PathBuf,
}

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        for (path, text) in files {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.replace("[HOME]", &home.path().display().to_string())).unwrap();
        }
        Self { home, project }
    }

    fn find(&self, name: &str) -> Result<ClientServer, ClientError> {
        let variable = |name: &str| match name {
            "TOKEN" | "GITHUB_TOKEN" => Some("hunter2-from-outside".to_owned()),
            _ => None,
        };
        let around =
            Surroundings { directory: &self.project, home: Some(self.home.path()), variable: &variable };
        ClientFiles::read(&around).find(name)
    }

    fn command(&self, name: &str) -> crate::target::Command {
        self.find(name).unwrap().reach.command().unwrap().clone()
    }

    fn endpoint(&self, name: &str) -> Endpoint {
        self.find(name).unwrap().reach.endpoint().unwrap().clone()
    }
}

#[test]
fn a_server_of_the_project_is_started_there() {
    let machine = Machine::new(&[(
        "project/.mcp.json",
        r#"{"mcpServers": {"one": {"type": "stdio", "command": "./run", "args": ["-a"], "env": {"A": "b", "N": 1}}}}"#,
    )]);
    let command = machine.command("one");
    assert_eq!(command.program, machine.project.join("run"));
    assert_eq!(command.cwd.as_deref(), Some(machine.project.as_path()));
    assert_eq!(command.args, ["-a"]);
    assert_eq!(
        command.environment.set.into_iter().collect::<Vec<_>>(),
        [("A".to_owned(), "b".to_owned()), ("N".to_owned(), "1".to_owned())]
    );
}

#[test]
fn a_server_of_the_user_is_started_where_we_are() {
    let machine = Machine::new(&[(
        ".config/Claude/claude_desktop_config.json",
        r#"{"mcpServers": {"one": {"command": "npx"}}}"#,
    )]);
    let command = machine.command("one");
    assert_eq!((command.program.to_str(), command.cwd), (Some("npx"), None));
}

#[test]
fn placeholders_of_all_clients_are_filled() {
    let machine = Machine::new(&[(
        "project/.vscode/mcp.json",
        r#"{
            // VS Code writes comments
            "inputs": [{"id": "github-token", "type": "promptString"}],
            "servers": {"one": {
                "command": "x", "cwd": "${workspaceFolder}/sub",
                "args": ["${env:TOKEN}", "${TOKEN}", "${UNSET:-else}", "${input:github-token}",
                         "${workspaceFolderBasename}", "$HOME", "$$"],
            }},
        }"#,
    )]);
    let server = machine.find("one").unwrap();
    let command = server.reach.command().unwrap();
    let secret = "hunter2-from-outside";
    assert_eq!(command.args, [secret, secret, "else", secret, "project", "$HOME", "$$"]);
    assert_eq!(command.cwd, Some(machine.project.join("sub")));
    assert_eq!(server.from_environment.into_iter().collect::<Vec<_>>(), [secret]);
}

#[test]
fn the_kind_of_an_address_is_kept() {
    let machine = Machine::new(&[
        (
            "project/.mcp.json",
            r#"{"mcpServers": {
                "plain": {"url": "http://host/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
                "http": {"type": "http", "url": "http://host/mcp"},
                "streamable": {"type": "streamable-http", "url": "http://host/mcp"},
                "sse": {"type": "sse", "url": "http://host/sse"}}}"#,
        ),
        (
            ".codeium/windsurf/mcp_config.json",
            r#"{"mcpServers": {"windsurf": {"serverUrl": "http://host/sse"}}}"#,
        ),
    ]);
    assert_eq!(machine.endpoint("plain").kind, EndpointKind::Auto);
    assert_eq!(machine.endpoint("plain").headers[0].1, "Bearer hunter2-from-outside");
    assert_eq!(machine.endpoint("http").kind, EndpointKind::Auto);
    assert_eq!(machine.endpoint("streamable").kind, EndpointKind::Streamable);
    assert_eq!(machine.endpoint("sse").kind, EndpointKind::LegacySse);
    assert_eq!(machine.endpoint("windsurf").url, "http://host/sse");
}

#[test]
fn the_nearest_of_two_wins_and_the_other_is_mentioned() {
    let near = r#"{"mcpServers": {"one": {"command": "near"}}}"#;
    let far = r#"{"mcpServers": {"one": {"command": "far"}}}"#;
    let machine = Machine::new(&[("project/.cursor/mcp.json", near), (".cursor/mcp.json", far)]);
    let server = machine.find("one").unwrap();
    assert_eq!(server.reach.command().unwrap().program, "near");
    insta::assert_snapshot!(server.notes.join("\n"), @"`one` is taken from `.cursor/mcp.json`; the one in `~/.cursor/mcp.json` is not used");
}

#[test]
fn an_entry_for_this_project_comes_before_that_for_all() {
    let machine = Machine::new(&[(
        ".claude.json",
        r#"{"mcpServers": {"one": {"command": "all"}}, "numStartups": 5,
            "projects": {"[HOME]/project": {"mcpServers": {"one": {"command": "here"}}},
                         "[HOME]/other": {"mcpServers": {"two": {"command": "there"}}}}}"#,
    )]);
    assert_eq!(machine.command("one").program, "here");
    assert!(machine.find("two").is_err());
}

#[test]
fn a_broken_file_does_not_hide_the_others() {
    let machine = Machine::new(&[
        ("project/.mcp.json", "{\"mcpServers\": {"),
        (".cursor/mcp.json", r#"{"mcpServers": {"one": {"command": "x"}, "two": 5}}"#),
        ("project/.vscode/mcp.json", ""),
    ]);
    assert_eq!(machine.command("one").program, "x");
}

#[test]
fn a_file_that_is_cut_or_garbled_anywhere_does_not_stop_us() {
    let text = r#"{ /* ä */ "mcpServers": {"one": {"command": "x", "args": ["${A}", "ö"], }, }, // end
        "projects": {"/x": {}}}"#;
    for (at, _) in text.char_indices() {
        let (before, after) = text.split_at(at);
        for garbled in [before.to_owned(), format!("{before}\"${{{after}"), format!("{before}/*{after}")] {
            let machine = Machine::new(&[("project/.mcp.json", &garbled)]);
            match machine.find("one") {
                Ok(server) => assert_eq!(server.reach.command().unwrap().program, "x"),
                Err(error) => assert!(error.to_string().contains(".mcp.json"), "{error}"),
            }
        }
    }
}

#[test]
fn a_home_directory_that_is_the_project_is_looked_at_once() {
    let machine = Machine::new(&[(".cursor/mcp.json", r#"{"mcpServers": {"one": {"command": "x"}}}"#)]);
    let around =
        Surroundings { directory: machine.home.path(), home: Some(machine.home.path()), variable: &|_| None };
    let names = ClientFiles::read(&around).names();
    assert_eq!(names, [("one".to_owned(), Path::new(".cursor/mcp.json").to_owned())]);
}

#[test]
fn every_server_that_cannot_be_used_says_why() {
    let nothing = Machine::new(&[]);
    let some = Machine::new(&[
        (
            "project/.mcp.json",
            r#"{
  "mcpServers": {
    "github": {"command": "x"},
    "both": {"command": "x", "url": "http://host/"},
    "neither": {"args": []},
    "shape": {
      "command": "x",
      "args": "-y server"
    },
    "unset": {"command": "x", "args": ["${env:NOT_SET}"]},
    "input": {"command": "x", "env": {"API_KEY": "${input:api-key}", "OTHER_KEY": "hunter2"}},
    "header": {"url": "http://host/", "headers": {"X Key": "hunter2"}},
    "address": {"url": "host/mcp"},
    "kind": {"type": "pigeon", "url": "http://host/"},
    "stdio": {"type": "stdio", "url": "http://host/"},
    "sse": {"type": "sse", "command": "x"},
    "number": 5
  }
}"#,
        ),
        (".cursor/mcp.json", "{\"mcpServers\": []}"),
        (".claude.json", "{}"),
    ]);
    let names = [
        "githb", "both", "neither", "shape", "unset", "input", "header", "address", "kind", "stdio", "sse",
        "number",
    ];
    let messages = std::iter::once(nothing.find("github").unwrap_err())
        .chain(names.into_iter().map(|name| some.find(name).unwrap_err()))
        .map(|error| error.to_string())
        .collect::<Vec<_>>()
        .join("\n\n");
    assert!(!messages.contains("hunter2"), "{messages}");
    insta::assert_snapshot!(messages);
}
