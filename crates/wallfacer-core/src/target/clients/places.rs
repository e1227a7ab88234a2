//! Lists the files in which MCP clients keep their servers, nearest first.

use crate::target::Surroundings;
use std::path::{Path, PathBuf};

/// A file that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub path: PathBuf,
    /// What `${workspaceFolder}` stands for.
    pub workspace: PathBuf,
    /// Whether the file belongs to the project, so that its servers are started there.
    pub of_project: bool,
}

const IN_A_PROJECT: [&str; 4] =
    [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", "claude_desktop_config.json"];

/// Every system's places are looked at everywhere: only those of this one exist.
const UNDER_HOME: [&str; 9] = [
    ".claude.json",
    ".cursor/mcp.json",
    ".codeium/windsurf/mcp_config.json",
    ".config/Code/User/mcp.json",
    "Library/Application Support/Code/User/mcp.json",
    "AppData/Roaming/Code/User/mcp.json",
    ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
    "AppData/Roaming/Claude/claude_desktop_config.json",
];

pub(super) fn places(around: &Surroundings<'_>) -> Vec<Place> {
    let project = around.project_directories().into_iter().flat_map(|directory| {
        IN_A_PROJECT.iter().map(|name| Place {
            path: directory.join(name),
            workspace: directory.to_owned(),
            of_project: true,
        })
    });
    let home =
        around.home.into_iter().flat_map(|home| UNDER_HOME.iter().map(|name| of_home(home, name, around)));
    let mut places: Vec<Place> = Vec::new();
    for place in project.chain(home) {
        // Someone who works in the home directory itself meets the same file twice.
        if !places.iter().any(|known| known.path == place.path) {
            places.push(place);
        }
    }
    places
}

fn of_home(home: &Path, name: &str, around: &Surroundings<'_>) -> Place {
    Place { path: home.join(name), workspace: around.directory.to_owned(), of_project: false }
}
