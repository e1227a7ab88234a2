//! What init recognises, what it then writes, and that all of it loads.

use super::*;
use wallfacer_core::target::{FileConfig, Reach};

/// Paths and texts.
type Files<'a> = &'a [(&'a str, &'a str)];

/// A directory with files in it.
fn directory(files: Files<'_>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    directory
}

fn load(directory: &Path) -> FileConfig {
    let around = Surroundings { directory, home: None, variable: &|_| Some("from outside".to_owned()) };
    FileConfig::find(None, &around).unwrap().expect("init wrote a configuration")
}

/// The program and arguments that init finds, and what it says of them.
fn found(files: Files<'_>, args: &Args) -> (String, String) {
    let directory = directory(files);
    let report = run(args, directory.path()).unwrap();
    let config = load(directory.path());
    let shown = match config.reach.expect("the configuration names a server") {
        Reach::Command(command) => {
            let words = std::iter::once(&command.program).chain(&command.args);
            let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
            words.join(" ").replace(&directory.path().display().to_string(), "[DIRECTORY]")
        }
        Reach::Url(endpoint) => endpoint.url,
        Reach::Both { .. } => panic!("init never writes both"),
    };
    let name = directory.path().file_name().unwrap().to_string_lossy().to_lowercase();
    let image = name.trim_matches('.');
    (shown.replace(image, "[IMAGE]"), report.replace(image, "[IMAGE]"))
}

#[test]
fn every_kind_of_project_gets_the_command_that_starts_it() {
    let mut table = String::new();
    let stdio = Args::default();
    let http = Args { http: true, ..Args::default() };
    let only_stdio = Args { stdio: true, ..Args::default() };
    let client = r#"{"mcpServers": {
        "here": {"command": "./run", "args": ["${env:DATA}", "a\"b", "$$"], "env": {"TOKEN": "${TOKEN}"}},
        "there": {"type": "sse", "url": "http://localhost:9000/sse"}}}"#;
    let secret =
        r#"{"mcpServers": {"here": {"command": "x", "env": {"API_TOKEN": "hunter2-in-plain-text"}}}}"#;
    let projects: &[(&str, Files<'_>, &Args)] = &[
        ("nothing", &[], &stdio),
        ("nothing, http", &[], &http),
        ("package.json with a bin", &[("package.json", r#"{"bin": "./a.js"}"#), ("a.js", "")], &stdio),
        (
            "package.json with several bins",
            &[(
                "package.json",
                r#"{"name": "@me/two", "bin": {"one": "one.js", "two": "dist/two.js"}, "scripts": {"build": "tsc"}}"#,
            )],
            &stdio,
        ),
        ("package.json with a main in TypeScript", &[("package.json", r#"{"main": "src/a.ts"}"#)], &stdio),
        ("package.json with a start script", &[("package.json", r#"{"scripts": {"start": "x"}}"#)], &stdio),
        ("package.json with a file beside it", &[("package.json", "{}"), ("server.js", "")], &stdio),
        ("package.json that is broken, and Cargo.toml", &[("package.json", "{"), ("Cargo.toml", "")], &stdio),
        (
            "pyproject.toml with scripts",
            &[("pyproject.toml", "[project]\nname = 'b'\n[project.scripts]\na = 'm:a'\nb = 'm:b'\n")],
            &stdio,
        ),
        (
            "pyproject.toml with scripts and uv",
            &[("pyproject.toml", "[project]\nname = 'x'\n[project.scripts]\na = 'm:a'\n"), ("uv.lock", "")],
            &stdio,
        ),
        ("pyproject.toml without scripts", &[("pyproject.toml", "[project]\nname = 'my-server'\n")], &stdio),
        (
            "pyproject.toml with a virtual environment",
            &[("pyproject.toml", "[project]\nname = 'my-server'\n"), (".venv/bin/python", "")],
            &stdio,
        ),
        ("a Python file", &[("server.py", "")], &stdio),
        ("a Python file with a virtual environment", &[("main.py", ""), ("venv/bin/python", "")], &stdio),
        ("Cargo.toml", &[("Cargo.toml", "[package]\nname = 'x'\n")], &stdio),
        ("Cargo.toml with two bins", &[("Cargo.toml", "[[bin]]\nname = 'a'\n[[bin]]\nname = 'b'\n")], &stdio),
        ("go.mod", &[("go.mod", "module example.com/a/notes\n\ngo 1.24\n"), ("main.go", "")], &stdio),
        (
            "go.mod with a command",
            &[("go.mod", "module example.com/notes\n"), ("cmd/notes/main.go", "")],
            &stdio,
        ),
        (
            "pom.xml",
            &[(
                "pom.xml",
                "<project><parent><artifactId>p</artifactId><version>9</version></parent>\
                 <artifactId>notes</artifactId><version>1.2</version></project>",
            )],
            &stdio,
        ),
        ("build.gradle", &[("build.gradle.kts", ""), ("gradlew", "")], &stdio),
        ("composer.json", &[("composer.json", r#"{"bin": ["bin/notes"]}"#)], &stdio),
        ("a csproj", &[("Notes.csproj", "<Project/>")], &stdio),
        ("a Dockerfile", &[("Dockerfile", "FROM scratch\n"), ("x/y", "")], &stdio),
        ("a client file", &[(".mcp.json", client)], &stdio),
        ("a client file, http", &[(".mcp.json", client)], &http),
        (
            "a client file with an address, stdio",
            &[(".vscode/mcp.json", r#"{"servers": {"x": {"url": "http://h/"}}}"#)],
            &only_stdio,
        ),
        (
            "a client file with an address",
            &[(".vscode/mcp.json", r#"{"servers": {"x": {"url": "http://h/"}}}"#)],
            &stdio,
        ),
        ("a client file with a secret", &[(".mcp.json", secret)], &stdio),
    ];
    for (what, files, args) in projects {
        let (shown, text) = found(files, args);
        let said = text.lines().next().unwrap_or_default();
        writeln!(table, "# {what}\n{shown}\n{said}\n").unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn what_is_written_is_plain_to_read() {
    let directory = directory(&[("package.json", r#"{"bin": "a.js", "scripts": {"build": "tsc"}}"#)]);
    let report = run(&Args { ci: true, ..Args::default() }, directory.path()).unwrap();
    let mut text = report;
    for path in [CONFIG_NAME, RULES_NAME, WORKFLOW_NAME] {
        let written = std::fs::read_to_string(directory.path().join(path)).unwrap();
        writeln!(text, "\n=== {path}\n{written}").unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn each_project_is_installed_as_its_files_ask_for() {
    let (package, project) = ("{ \"main\": \"a.js\" }", "[project]\nname = 'x'\n");
    let projects: [Files<'_>; 10] = [
        &[("package.json", package)],
        &[("package.json", package), ("package-lock.json", "{}")],
        &[("package.json", package), ("pnpm-lock.yaml", "")],
        &[("package.json", package), ("yarn.lock", "")],
        &[("pyproject.toml", project)],
        &[("pyproject.toml", project), ("uv.lock", "")],
        &[("pyproject.toml", project), (".venv/bin/python", "")],
        &[("server.py", ""), ("requirements.txt", "mcp")],
        &[("server.py", ""), ("requirements.txt", "mcp"), ("venv/bin/python", "")],
        &[("server.py", "")],
    ];
    let mut told = String::new();
    for files in projects {
        let directory = directory(files);
        run(&Args { ci: true, ..Args::default() }, directory.path()).unwrap();
        let workflow = std::fs::read_to_string(directory.path().join(WORKFLOW_NAME)).unwrap();
        let (_, steps) = workflow.split_once("- uses: actions/checkout@v4\n").unwrap();
        let (steps, _) = steps.split_once("      - id: wallfacer\n").unwrap();
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        writeln!(told, "# {}\n{steps}", names.join(", ")).unwrap();
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_client_server_keeps_its_variables_as_variables() {
    let client = r#"{"mcpServers": {"x": {"command": "x", "env": {"TOKEN": "Bearer ${env:TOKEN}"}}}}"#;
    let directory = directory(&[(".mcp.json", client)]);
    run(&Args::default(), directory.path()).unwrap();
    let written = std::fs::read_to_string(directory.path().join(CONFIG_NAME)).unwrap();
    assert!(written.contains("${TOKEN}"), "{written}");
    let config = load(directory.path());
    assert_eq!(config.reach.unwrap().command().unwrap().environment.set["TOKEN"], "Bearer from outside");
}

#[test]
fn a_header_in_the_http_example_does_not_need_its_variable() {
    let directory = directory(&[]);
    run(&Args { http: true, ..Args::default() }, directory.path()).unwrap();
    let around = Surroundings { directory: directory.path(), home: None, variable: &|_| None };
    assert!(FileConfig::find(None, &around).unwrap().is_some());
}

#[test]
fn nothing_is_written_where_one_file_is_in_the_way() {
    let mut messages = String::new();
    let all = Args { ci: true, ..Args::default() };
    for there in [&[CONFIG_NAME][..], &[RULES_NAME], &[WORKFLOW_NAME], &[CONFIG_NAME, RULES_NAME]] {
        let files: Vec<_> = there.iter().map(|path| (*path, "mine")).collect();
        let directory = directory(&files);
        let error = run(&all, directory.path()).unwrap_err();
        writeln!(messages, "{error}").unwrap();
        for path in [CONFIG_NAME, RULES_NAME, WORKFLOW_NAME] {
            let text = std::fs::read_to_string(directory.path().join(path)).ok();
            let mine = there.contains(&path).then(|| "mine".to_owned());
            assert_eq!(text, mine, "{path}");
        }
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn rules_that_are_there_do_not_matter_when_none_are_wanted() {
    let directory = directory(&[(RULES_NAME, "mine")]);
    run(&Args { skip_invariants: true, ..Args::default() }, directory.path()).unwrap();
    let text = |name| std::fs::read_to_string(directory.path().join(name)).unwrap();
    assert_eq!(text(RULES_NAME), "mine");
    assert!(text(CONFIG_NAME).contains("[target]"));
}

#[test]
fn a_file_that_cannot_be_written_takes_the_others_with_it() {
    // A file where the workflow needs a directory.
    let directory = directory(&[(".github", "")]);
    let error = run(&Args { ci: true, ..Args::default() }, directory.path()).unwrap_err();
    assert!(matches!(error, InitError::Write { .. }), "{error}");
    assert!(!directory.path().join(CONFIG_NAME).exists());
    assert!(!directory.path().join(RULES_NAME).exists());
}

#[test]
fn what_runs_leave_is_kept_out_of_a_repository_once() {
    let directory = directory(&[(".gitignore", "target")]);
    run(&Args::default(), directory.path()).unwrap();
    let ignored = || std::fs::read_to_string(directory.path().join(".gitignore")).unwrap();
    assert_eq!(ignored(), "target\n/.wallfacer/\n");
    assert!(!ignore(directory.path()));
    assert_eq!(ignored(), "target\n/.wallfacer/\n");
}

#[test]
fn no_repository_gets_no_file_for_it() {
    let directory = directory(&[]);
    run(&Args::default(), directory.path()).unwrap();
    assert!(!directory.path().join(".gitignore").exists());
}
