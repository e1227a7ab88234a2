//! What stands in the documents for a shell is typed into one. Small programs stand in for the servers that are named there,
//! a port of ours for the one at which a server listens, and a stored finding for the ids.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::docs::{blocks, documents, root};
use crate::site::{Listening, free_port};
use crate::world::{Outcome, SYSTEM_PATH, World, fixture, tested};

/// Lines that are not run here, by how they begin, and why.
const NOT_RUN: [(&str, &str); 10] = [
    ("cargo ", "downloads, or builds for minutes"),
    ("docker ", "needs Docker; scripts/image takes its steps"),
    ("scripts/packages ", "needs a release build"),
    ("npx --yes --package ", "needs the package that was made before"),
    ("uvx --from ", "needs the package that was made before"),
    ("wallfacer doctor --url https://", "would ask a machine that is not ours"),
    ("wallfacer differential --against https://", "would ask machines that are not ours"),
    ("wallfacer differential --against 'http:", "its server listens at a port of its own"),
    ("wallfacer torture --mode state-leak --url", "its server listens at a port of its own"),
    (
        "wallfacer doctor --url http://localhost:8000/sse",
        "needs a server of 2024; the tests of the network have one",
    ),
];
/// What a run may take here in place of minutes. `lock` records nothing that it has not seen to the end.
const BUDGET: &str = "2s";
const WITH_BUDGET: &str = "check|ci|fuzz|behave|torture|property|differential";
/// Documents at a time: most of the time is spent waiting.
const AT_ONCE: usize = 3;
/// Far fewer would mean that the lines are not found any more.
const FEWEST_RUNS: usize = 60;

/// A file of rules as short as one can be.
const RULES: &str = "version: 4\nfor_each_tool:\n  - name: \"answers.{{tool}}\"\n    apply:\n      fixed: {}\n      assert:\n        - { kind: not, assertion: { kind: equals, lhs: $.response.content, rhs: null } }\n";

/// The document whose server is not a stand-in but its own.
const WITH_ITS_OWN: &str = "examples/python_server/README.md";

/// A finding and a run that are stored, for what replays, shows and compares them.
struct Stored {
    world: World,
    id: String,
    run: String,
}

impl Stored {
    fn new() -> Stored {
        let world = World::new();
        world.run(&["fuzz", "--demo", "--include", "divide", "--iterations", "10"]);
        let listed = world.run(&["corpus", "list", "--format", "json"]).json();
        let id = listed["findings"][0]["id"].as_str().expect("the demo has a finding").to_owned();
        let run = world.run(&["report", "--list"]).stdout;
        let run = run.split_whitespace().next().expect("the run is kept").to_owned();
        for name in ["before.json", "after.json"] {
            world.run(&["report", "--format", "json", "-o", name]);
        }
        Stored { world, id, run }
    }

    /// Another directory with all of it, and with what the documents name.
    fn copy(&self, document: &Path) -> World {
        let world = World::new().with_program("wallfacer", &wrapper());
        for name in [".wallfacer", "before.json", "after.json"] {
            copy(&self.world.here().join(name), &world.here());
        }
        // With what shows that the finding is ours.
        copy(&self.world.root().join("home/."), &world.root().join("home"));
        for directory in ["server", "project", "dist", "old"] {
            fs::create_dir(world.here().join(directory)).unwrap();
        }
        for directory in [".config/app", ".local/share/man/man1", ".local/share/bash-completion/completions"]
        {
            fs::create_dir_all(world.root().join("home").join(directory)).unwrap();
        }
        if document == Path::new(WITH_ITS_OWN) {
            copy(&root().join("examples/python_server/."), &world.here());
            return world;
        }
        let world = ["npx", "node", "python", "python3", "some-mcp-server", "COMMAND"]
            .into_iter()
            .fold(world, |world, name| world.with_program(name, &stand_in()));
        let servers = r#"{ "mcpServers": { "github": { "command": "some-mcp-server" } } }"#;
        let target = "[target]\ncommand = \"some-mcp-server\"\n";
        world
            .with(".mcp.json", servers)
            .with("servers.json", servers)
            .with("wallfacer.toml", target)
            .with("ci/other.toml", target)
            .with("rules.yaml", RULES)
            .with("server.py", "# a stand-in is started for it\n")
    }

    /// A block as it is typed here.
    fn typed(&self, block: &[&str], port: u16) -> String {
        let text = block.join("\n").replace("\\\n", " ");
        let lines = text.lines().filter(|line| !NOT_RUN.iter().any(|(start, _)| line.starts_with(start)));
        let own = free_port().to_string();
        let line = |line: &str| {
            let line = match line.contains("--url") && line.contains(" -- ") {
                // It listens where it is told to: by its environment, for not every line has the port in the arguments.
                true => format!("PORT={own} {}", line.replace("8000", &own)),
                false => line.replace(":8000", &format!(":{port}")),
            };
            let line = line.replace("20260102", &self.run);
            let mut before = "";
            let words = line.split(' ').map(|word| match std::mem::replace(&mut before, word) {
                "--budget" => BUDGET,
                _ if is_id(word) => &self.id,
                _ => word,
            });
            words.collect::<Vec<_>>().join(" ")
        };
        lines.map(line).collect::<Vec<_>>().join("\n")
    }
}

fn is_id(word: &str) -> bool {
    word == "ID" || word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-R").args([from, to]).status().unwrap();
    assert!(done.success(), "{} is copied", from.display());
}

/// The command under test with little time, which writes down how each run ended and whether it printed anything.
fn wrapper() -> String {
    let tested = tested();
    format!(
        "case \"$1\" in\n\
         {WITH_BUDGET}) command=$1; shift\n\
         case \" $* \" in *\" --budget \"*) ;; *) set -- --budget {BUDGET} \"$@\";; esac\n\
         set -- \"$command\" \"$@\";;\n\
         init) rm -rf wallfacer.toml invariants.yaml .github;;\n\
         esac\n\
         '{}' \"$@\" > printed; code=$?\n\
         cat printed\n\
         echo \"$code $(wc -c < printed) $*\" >> ended\n\
         exit $code",
        tested.display()
    )
}

/// A correct server, over HTTP where it is told a port.
fn stand_in() -> String {
    let fixture = fixture();
    format!(
        "[ -n \"$PORT\" ] && exec '{fixture}' correct --http --port \"$PORT\"\n\
         exec '{fixture}' flaw note-taken-away --fixed"
    )
}

/// Types a block into a shell; every run of the command that did not end as the documents say it may.
fn run(world: &World, script: &str) -> (usize, Vec<String>) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).current_dir(world.here()).env_clear();
    command.env("HOME", world.root().join("home")).env("API_KEY", "key-0123456789").env("TOKEN", "token");
    command.env("PATH", format!("{}:{SYSTEM_PATH}", world.root().join("bin").display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = world.here().join("ended");
    let _of_an_earlier_block = fs::remove_file(&ended);
    let outcome = world.finish(command);
    let ended = fs::read_to_string(&ended).unwrap_or_default();
    let wrong = ended.lines().filter(|line| !is_documented(line));
    (ended.lines().count(), wrong.map(|line| told(line, &outcome)).collect())
}

/// 0 and 1 always; 3 where the report says what could not be tested.
fn is_documented(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (code, printed) = (words.next(), words.next());
    match code {
        Some("0" | "1") => true,
        Some("3") => printed != Some("0") || words.any(|word| matches!(word, "-o" | "require" | "--require")),
        _ => false,
    }
}

fn told(line: &str, outcome: &Outcome) -> String {
    format!("{line}\n{outcome}")
}

#[test]
fn every_command_line_in_the_documents_runs_and_ends_as_they_say() {
    let stored = Stored::new();
    let listening = Listening::start("correct");
    let mut seen = BTreeSet::new();
    let mut work: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    let mut not_run = BTreeSet::new();
    for (path, text) in documents() {
        for block in blocks(&text, "sh") {
            let starts = NOT_RUN.iter().map(|(start, _)| *start);
            not_run.extend(starts.filter(|start| block.iter().any(|line| line.starts_with(start))));
            // The pages of the kinds have one block in common.
            if seen.insert(block.concat()) {
                work.entry(path.clone()).or_default().push(stored.typed(&block, listening.port()));
            }
        }
    }
    assert_eq!(not_run.len(), NOT_RUN.len(), "what is not run stands in a document: {not_run:?}");
    let work: Vec<(PathBuf, Vec<String>)> = work.into_iter().collect();
    let (next, runs, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        while let Some((path, blocks)) = work.get(next.fetch_add(1, Ordering::SeqCst)) {
            let world = stored.copy(path);
            for block in blocks {
                let (count, failed) = run(&world, block);
                runs.fetch_add(count, Ordering::SeqCst);
                let failed = failed.into_iter().map(|line| format!("{}: {line}", path.display()));
                wrong.lock().unwrap().extend(failed);
            }
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(worker))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let runs = runs.into_inner();
    assert!(runs >= FEWEST_RUNS, "only {runs} command lines were run");
}
