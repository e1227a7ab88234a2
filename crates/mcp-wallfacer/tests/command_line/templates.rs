//! What workflows and templates give to a shell is typed into one, step by step: the workflow that `init` writes, the action, and
//! the templates for many machines. Small programs stand in for what installs, and the schedulers' variables are set.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::docs::root;
use crate::world::{Outcome, SYSTEM_PATH, World, fixture, tested};

/// One bug that shows in three tools, whichever part each of them belongs to.
const FLAW: &str = "crash-shared-by-three-tools";
/// Parts at a time: most of the time is spent waiting.
const AT_ONCE: usize = 4;

/// The commands under a key of a YAML file, as runners take them: beside it, in a block below it, or as a list.
fn commands(text: &str, key: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let bare = line.trim_start().trim_start_matches("- ");
        let Some(beside) = bare.strip_prefix(key).and_then(|rest| rest.strip_prefix(':')) else { continue };
        let below = deeper(&lines[place + 1..], line.len() - bare.len());
        match beside.trim() {
            "|" => found.push(below.join("\n")),
            "" => found.extend(items(&below)),
            command => found.push(command.to_owned()),
        }
    }
    found
}

/// The entries of a list, of which each may be a block.
fn items(lines: &[&str]) -> Vec<String> {
    let entries = lines.iter().enumerate().filter_map(|(place, line)| {
        let entry = line.trim_start().strip_prefix("- ")?;
        let block = || deeper(&lines[place + 1..], line.len() - line.trim_start().len()).join("\n");
        Some(if entry == "|" { block() } else { entry.to_owned() })
    });
    entries.collect()
}

/// The lines up to the first one that is not further in.
fn deeper<'a>(lines: &[&'a str], depth: usize) -> Vec<&'a str> {
    let is_deeper = |line: &&&str| line.trim().is_empty() || line.len() - line.trim_start().len() > depth;
    lines.iter().take_while(is_deeper).copied().collect()
}

/// A project that names its server, on a machine where installing is done in a moment.
fn machine(server: &str) -> World {
    let wallfacer = format!(
        "case \"$1\" in ci) shift; set -- ci --iterations 10 --timeout 1s \"$@\";; esac\nexec '{}' \"$@\"",
        tested().display()
    );
    // What is installed into a place of its own is called from there.
    let cargo =
        "[ \"$3\" = --root ] && mkdir -p \"$4/bin\" && ln -s \"$(command -v wallfacer)\" \"$4/bin/\"; exit 0";
    World::new()
        .with("package.json", r#"{"name": "weather", "bin": "server.js"}"#)
        .with("server.js", "")
        .with_program("wallfacer", &wallfacer)
        .with_program("cargo", cargo)
        .with_program("sudo", "exit 0")
        .with_program("npm", "exit 0")
        .with_program("node", server)
        .with_program("npx", server)
}

fn flawed() -> String {
    format!("exec '{}' flaw {FLAW}", fixture())
}

/// Types a script into a shell as runners do: the first command that fails ends it.
fn typed(world: &World, script: &str, variables: &[(&str, String)]) -> Outcome {
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).current_dir(world.here()).env_clear();
    command.env("HOME", world.root().join("home"));
    command.env("PATH", format!("{}:{SYSTEM_PATH}", world.root().join("bin").display()));
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    world.finish(command)
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn the_workflow_that_init_writes_works_as_it_is_written() {
    for (server, code, word) in [
        (flawed(), 1, "## FAILED · "),
        (format!("exec '{}' flaw {FLAW} --fixed", fixture()), 0, "## PASSED · "),
    ] {
        let world = machine(&server);
        world.run(&["init", "--ci"]).assert_succeeds();
        let workflow = world.read(".github/workflows/wallfacer.yml");
        let summary = world.here().join("summary.md").to_str().unwrap().to_owned();
        let steps = commands(&workflow, "run");
        assert!(steps.len() >= 4 && steps[0] == "npm install", "{steps:?}");
        for step in &steps {
            let outcome = typed(&world, step, &[("GITHUB_STEP_SUMMARY", summary.clone())]);
            let wanted = if step.starts_with("wallfacer ") { code } else { 0 };
            assert_eq!(outcome.code, Some(wanted), "{step}: {outcome}");
        }
        assert!(world.read("summary.md").starts_with(word), "{}", world.read("summary.md"));
        for file in commands(&workflow, "sarif_file") {
            assert!(world.read(&file).contains("\"2.1.0\""), "{file}");
        }
        // What is uploaded of a run that fails.
        let kept = world.files().iter().any(|file| file.starts_with(".wallfacer/corpus/"));
        assert!(workflow.contains("path: .wallfacer/corpus ") && (kept || code == 0), "{:?}", world.files());
    }
}

#[test]
fn the_action_takes_its_inputs_and_gives_its_outputs() {
    let action = read("action.yml");
    let server = fixture();
    let inputs =
        [("command", format!("'{server}' flaw \"{FLAW}\"")), ("args", "--workers 2 --seed '7'".to_owned())];
    let world = machine("exit 9");
    let outputs = world.here().join("outputs").to_str().unwrap().to_owned();
    let mut variables = vec![("GITHUB_OUTPUT", outputs)];
    for line in action.lines().map(str::trim).filter(|line| line.starts_with("WALLFACER_")) {
        let (name, value) = line.split_once(": ").unwrap();
        let input = value.trim_start_matches("${{ inputs.").trim_end_matches(" }}");
        let given = inputs.iter().find(|(name, _)| *name == input).map(|(_, text)| text.clone());
        let usual = action.split_once(&format!("  {input}:\n")).unwrap().1;
        let usual = usual.split_once("default: ").unwrap().1.lines().next().unwrap().trim_matches('"');
        variables.push((name, given.unwrap_or_else(|| usual.to_owned())));
    }
    assert_eq!(variables.len(), 6, "{variables:?}");
    let script = format!("bash '{}'", root().join("scripts/action").display());
    let outcome = typed(&world, &script, &variables);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(outcome.stdout.lines().any(|line| line.starts_with("::error ")), "{outcome}");
    let told = world.read("outputs");
    let (_, declared) = action.split_once("\noutputs:\n").unwrap();
    let declared: BTreeSet<&str> = deeper(&declared.lines().collect::<Vec<_>>(), 0)
        .iter()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':').filter(|name| !name.starts_with(' ')))
        .collect();
    let given: BTreeSet<&str> = told.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert_eq!(given, declared, "{told}");
    let verdict = told.lines().find_map(|line| line.strip_prefix("verdict=FAILED · "));
    assert!(verdict.is_some_and(|verdict| verdict.trim_end().ends_with(" calls")), "{told}");
    assert!(told.starts_with("exit-code=1\n"), "{told}");
    let json: serde_json::Value = serde_json::from_str(&world.read("wallfacer.json")).unwrap();
    assert_eq!(json["run"]["seed"], 7, "its arguments are taken as a shell takes them");
}

/// A template of `examples/many-machines`, for so many machines.
struct Template {
    file: &'static str,
    /// What stands before the number of machines.
    count: &'static str,
    /// Where its commands are; none where the file is a script.
    key: Option<&'static str>,
    /// What the scheduler says to one of them, counted from one.
    variables: fn(u32, u32) -> Vec<(&'static str, String)>,
}

const TEMPLATES: [Template; 4] = [
    Template {
        file: "github.yml",
        count: "--shard ${{ matrix.shard }}/",
        key: Some("run"),
        variables: |_, _| Vec::new(),
    },
    Template {
        file: "gitlab.yml",
        count: "parallel: ",
        key: Some("script"),
        variables: |index, count| {
            vec![("CI_NODE_INDEX", index.to_string()), ("CI_NODE_TOTAL", count.to_string())]
        },
    },
    Template {
        file: "kubernetes.yaml",
        count: "completions: ",
        key: Some("args"),
        variables: |index, _| vec![("JOB_COMPLETION_INDEX", (index - 1).to_string())],
    },
    Template {
        file: "slurm.sh",
        count: "--array=1-",
        key: None,
        variables: |index, count| {
            let numbers = [
                ("SLURM_ARRAY_TASK_ID", index),
                ("SLURM_ARRAY_TASK_MIN", 1),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ];
            numbers.map(|(name, value)| (name, value.to_string())).to_vec()
        },
    },
];

impl Template {
    fn text(&self) -> String {
        read(&format!("examples/many-machines/{}", self.file))
    }

    fn count(&self) -> u32 {
        let text = self.text();
        let (_, behind) = text.split_once(self.count).expect("it says how many machines there are");
        behind.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
    }

    /// Does the part of one machine; gives the report that it leaves, by name.
    fn part(&self, index: u32) -> (String, String) {
        let text = self.text();
        let world = machine(&flawed());
        world.run(&["init", "--skip-invariants"]).assert_succeeds();
        fs::create_dir(world.here().join("reports")).unwrap();
        let mut variables = (self.variables)(index, self.count());
        // What a file of the template sets itself.
        if let Some((_, behind)) = text.split_once("- name: WALLFACER_SHARDS\n") {
            let value = behind.trim().trim_start_matches("value: ").lines().next().unwrap().trim_matches('"');
            variables.push(("WALLFACER_SHARDS", value.to_owned()));
        }
        let steps = match self.key {
            Some(key) => [commands(&text, "before_script"), commands(&text, key)].concat(),
            // A batch script goes on behind a command that fails.
            None => vec![format!("set +e; set -- -- npx -y some-mcp-server\n{text}")],
        };
        // The rest is done where all is joined. A comment may say so too.
        let is_comment = |line: &str| line.trim_start().starts_with('#');
        let joins = |line: &str| !is_comment(line) && line.contains("wallfacer merge ");
        let steps = steps.iter().filter(|step| !step.lines().any(joins));
        for step in steps {
            let step =
                step.replace("${{ matrix.shard }}", &index.to_string()).replace("/reports/", "reports/");
            let outcome = typed(&world, &step, &variables);
            assert_eq!(outcome.code, Some(0), "{} {index}: {step}\n{outcome}", self.file);
        }
        let files = world.files();
        let is_report =
            |file: &&String| !file.starts_with('.') && file.ends_with(".json") && *file != "package.json";
        let report = files.iter().find(is_report);
        let report = report.unwrap_or_else(|| panic!("{} {index} leaves no report: {files:?}", self.file));
        (format!("{index}.json"), world.read(report))
    }

    /// Joins the parts as the template does, where it says how; gives the ids of what was found.
    fn joined(&self, parts: &[(String, String)]) -> BTreeSet<String> {
        let world = parts
            .iter()
            .fold(machine(&flawed()), |world, (name, text)| world.with(&format!("shards/{name}"), text));
        let text = self.text();
        let key = self.key.unwrap_or("run");
        typed(&world, &commands(&text, "before_script").join("\n"), &[]);
        for step in commands(&text, key).iter().filter(|step| step.contains("wallfacer merge ")) {
            let outcome = typed(&world, step, &[]);
            assert_eq!(outcome.code, Some(1), "{}: {step}\n{outcome}", self.file);
            assert!(world.files().iter().any(|file| file.starts_with("wallfacer")), "{outcome}");
        }
        ids(&world.run(&["merge", "shards", "--format", "json"]))
    }
}

fn ids(outcome: &Outcome) -> BTreeSet<String> {
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let document = outcome.json();
    let findings = document["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_templates_for_many_machines_come_to_what_one_machine_finds() {
    let work: Vec<(usize, u32)> = TEMPLATES
        .iter()
        .enumerate()
        .flat_map(|(which, template)| (1..=template.count()).map(move |index| (which, index)))
        .collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(vec![Vec::new(); TEMPLATES.len()]));
    let worker = || {
        while let Some((which, index)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            let part = TEMPLATES[*which].part(*index);
            done.lock().unwrap()[*which].push(part);
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(worker))));
    let whole = machine(&flawed());
    whole.run(&["init", "--skip-invariants"]).assert_succeeds();
    let whole = ids(&whole.run(&["ci", "--iterations", "10", "--timeout", "1s", "--format", "json"]));
    for (template, parts) in TEMPLATES.iter().zip(done.into_inner().unwrap()) {
        assert_eq!(template.joined(&parts), whole, "{}", template.file);
    }
}
