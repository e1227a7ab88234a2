//! What is a tool's job, by its own words? What is asked of it is no injection, and what it deals with decides which
//! payloads come first.

use std::sync::LazyLock;

use regex::Regex;

use crate::catalogue::Tool;
use crate::plan::declared::Declared;
use wallfacer_text::lexicon::words;

/// Names of tools that run what they are given.
const RUNS: [&str; 8] = ["exec", "execute", "shell", "bash", "command", "terminal", "eval", "cmd"];
/// What tools say that they do with a command that they are given.
const STARTS: [&str; 10] =
    ["execute", "executes", "launch", "launches", "process", "run", "runs", "spawn", "start", "starts"];
/// Last words of arguments that are a command.
const COMMANDS: [&str; 3] = ["cmd", "command", "commands"];
/// Words of tools that fetch.
const FETCHES: [&str; 8] = ["fetch", "url", "download", "browse", "crawl", "scrape", "http", "web"];
/// Verbs of tools that leave files behind.
const WRITES: [&str; 22] = [
    "add",
    "append",
    "backup",
    "build",
    "capture",
    "copy",
    "create",
    "download",
    "dump",
    "edit",
    "export",
    "generate",
    "import",
    "make",
    "move",
    "record",
    "rename",
    "render",
    "save",
    "screenshot",
    "store",
    "write",
];
/// Words of tools that show what is in a directory.
const LISTS: [&str; 12] = [
    "browse",
    "contents",
    "directories",
    "directory",
    "dir",
    "entries",
    "folder",
    "folders",
    "glob",
    "list",
    "ls",
    "tree",
];
/// Verbs and nouns of tools that say where the others are to work.
const CHOOSES: [&str; 12] = [
    "activate",
    "change",
    "choose",
    "configure",
    "init",
    "initialize",
    "open",
    "register",
    "select",
    "set",
    "switch",
    "use",
];
const WORKPLACES: [&str; 12] = [
    "cwd",
    "directory",
    "dir",
    "folder",
    "project",
    "projects",
    "repo",
    "repository",
    "root",
    "roots",
    "vault",
    "workspace",
];
/// Words of tools that unpack archives.
const UNPACKS: [&str; 8] =
    ["archive", "archives", "decompress", "extract", "unpack", "unzip", "untar", "zip"];
/// Words of tools whose very job is files, wherever they lie.
const FILES: [&str; 10] =
    ["dir", "directory", "file", "files", "filesystem", "folder", "fs", "path", "paths", "disk"];

/// What a tool is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Job {
    /// To run what it is given.
    pub runs_programs: bool,
    /// To fetch what it is told.
    pub fetches: bool,
    /// To make or change something that may be a file.
    pub writes: bool,
    /// To show what is in a directory.
    pub lists: bool,
    /// To unpack an archive.
    pub unpacks: bool,
    /// To say in which directory the server is to work: to choose another one leaves none.
    pub chooses_place: bool,
    /// To read: it says that it changes nothing, or that it takes questions only.
    pub only_reads: bool,
}

impl Job {
    pub fn of(tool: &Tool) -> Job {
        let named = words(&tool.name);
        let description = tool.description.as_deref().unwrap_or_default();
        let described = words(description);
        let names = |list: &[&str]| named.iter().any(|word| list.contains(&word.as_str()));
        let says = |list: &[&str]| names(list) || described.iter().any(|word| list.contains(&word.as_str()));
        let declared = Declared::of(tool);
        Job {
            runs_programs: names(&RUNS) || takes_a_command(tool) && says(&STARTS),
            fetches: says(&FETCHES),
            writes: names(&WRITES) || described.first().is_some_and(|verb| WRITES.contains(&plain(verb))),
            lists: names(&LISTS) || described.first().is_some_and(|verb| LISTS.contains(&plain(verb))),
            unpacks: says(&UNPACKS),
            chooses_place: names(&CHOOSES) && names(&WORKPLACES) || CHOICE.is_match(description),
            only_reads: declared.read_only.is_some() || declared.only_asks.is_some(),
        }
    }
}

/// Whether an argument is a command, by its name.
fn takes_a_command(tool: &Tool) -> bool {
    let is_one = |name: &str| words(name).last().is_some_and(|word| COMMANDS.contains(&word.as_str()));
    tool.arguments().iter().any(|argument| is_one(argument.name))
}

/// Whether the name of a tool says that files are its job, wherever they lie.
pub fn is_about_files(name: &str) -> bool {
    words(name).iter().any(|word| FILES.contains(&word.as_str()))
}

/// A verb without the ending of the third person: `Saves` is as good as `Save`.
fn plain(verb: &str) -> &str {
    match verb.strip_suffix('s') {
        Some(plain) if plain.len() > 2 => plain,
        _ => verb,
    }
}

/// "Sets the working directory for all later calls."
static CHOICE: LazyLock<Regex> = LazyLock::new(|| {
    let verb = r"(?:sets?|selects?|chooses?|switch(?:es)?|changes?|activates?|configures?)";
    let place = r"(?:director(?:y|ies)|folder|project|workspace|repository|root|vault)";
    Regex::new(&format!(r"(?i)^\s*{verb} (?:the |a |an |which |to )?(?:\w+ ){{0,2}}{place}\b"))
        .expect("a constant")
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;
    use serde_json::json;

    fn job(name: &str, description: &str) -> Job {
        let listed = json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
        Job::of(&Tool::read(listed.as_object().unwrap()).unwrap())
    }

    #[test]
    fn a_tool_that_says_where_to_work_leaves_no_directory() {
        for (name, said) in [
            ("set_workspace", ""),
            ("openProject", ""),
            ("begin", "Sets the current working directory."),
            ("use-repo", ""),
        ] {
            assert!(job(name, said).chooses_place, "{name}");
        }
        for (name, said) in [("open_page", ""), ("read_project", ""), ("move", "Changes the name of a page.")]
        {
            assert!(!job(name, said).chooses_place, "{name}");
        }
    }

    #[test]
    fn what_leaves_files_behind_is_known_by_its_verb() {
        for (name, said) in
            [("save_shot", ""), ("exportPdf", ""), ("page", "Saves a page."), ("note", "Create a note")]
        {
            assert!(job(name, said).writes, "{name}");
        }
        assert!(!job("read_page", "Reads what was saved.").writes);
    }

    #[test]
    fn who_takes_a_command_and_starts_it_runs_programs() {
        let runs = |name: &str, said: &str, argument: &str| {
            let schema = json!({ "type": "object", "properties": { (argument): { "type": "string" } } });
            let listed = json!({ "name": name, "description": said, "inputSchema": schema });
            Job::of(&Tool::read(listed.as_object().unwrap()).unwrap()).runs_programs
        };
        assert!(runs("begin", "Starts a process.", "command"));
        assert!(runs("run_it", "", "shellCommand"));
        assert!(!runs("begin", "Starts a process.", "name"));
        assert!(!runs("explain", "Tells what a line means.", "command"));
    }

    #[test]
    fn only_who_says_so_reads_only() {
        assert!(!job("lock_page", "Makes a file read-only.").only_reads);
        assert!(job("ask", "Runs a read-only query.").only_reads);
        assert!(job("look", "Lists notes; does not modify anything.").only_reads);
    }
}
