//! `init`, and then `doctor` with what it wrote. Runtimes are stood in for, so that none has to be there.

use crate::world::{Outcome, World, assert_shown, fixture};

/// Checks how it is called, then is the fixture.
fn runtime(expected: &str) -> String {
    format!(
        r#"test "$*" = '{expected}' || {{ echo "called with $*" >&2; exit 9; }}; exec '{}' correct"#,
        fixture()
    )
}

/// Runs init, then doctor on what it wrote.
fn initialised(name: &str, world: &World, flags: &[&str]) -> Outcome {
    let outcome = world.run(&[&["init"], flags].concat());
    outcome.assert_succeeds();
    assert_shown(&format!("init_{name}"), &outcome);
    let seen = world.run(&["doctor", "--format", "json"]);
    seen.assert_succeeds();
    assert_eq!(seen.json()["server"]["name"], "wallfacer-fixture");
    outcome
}

#[test]
fn a_node_project() {
    let world = World::new()
        .with("package.json", r#"{"name": "weather", "bin": {"weather": "dist/index.js"}}"#)
        .with("dist/index.js", "")
        .with_program("node", &runtime("dist/index.js"));
    initialised("node", &world, &["--ci"]);
    let files: Vec<_> = world.files().into_iter().collect();
    let expected = [
        ".github/workflows/wallfacer.yml",
        ".gitignore",
        "dist/index.js",
        "invariants.yaml",
        "package.json",
        "wallfacer.toml",
    ];
    assert_eq!(files, expected);
}

#[test]
fn a_python_project() {
    let world = World::new()
        .with(
            "pyproject.toml",
            "[project]\nname = \"weather\"\nversion = \"1\"\nscripts = { weather = \"weather:main\" }\n",
        )
        .with_program("weather", &runtime(""));
    initialised("python", &world, &[]);
}

#[test]
fn a_python_project_with_uv() {
    let world = World::new()
        .with("pyproject.toml", "[project]\nname = \"weather\"\nversion = \"1\"\n")
        .with("uv.lock", "")
        .with_program("uv", &runtime("run python3 -m weather"));
    initialised("uv", &world, &["--skip-invariants"]);
    assert!(!world.files().contains("invariants.yaml"));
}

#[test]
fn a_rust_project() {
    let world = World::new()
        .with("Cargo.toml", "[package]\nname = \"weather\"\nversion = \"1.0.0\"\n")
        .with_program("cargo", &runtime("run --quiet"));
    initialised("rust", &world, &["--stdio"]);
}

#[test]
fn a_project_with_a_client_file() {
    let entry = serde_json::json!({"mcpServers": {"mine": {"command": fixture(), "args": ["correct"]}}});
    initialised("client_file", &World::new().with(".mcp.json", &entry.to_string()), &[]);
}

#[test]
fn a_directory_that_tells_nothing() {
    let world = World::new();
    let outcome = world.run(&["init"]);
    outcome.assert_succeeds();
    assert_shown("init_nothing_known", &outcome);
    // What it wrote loads; that there is no such server is the server's trouble.
    assert_eq!(world.run(&["doctor"]).code, Some(3));
}

#[test]
fn a_server_over_http() {
    let world = World::new();
    let outcome = world.run(&["init", "--http"]);
    outcome.assert_succeeds();
    assert_shown("init_http", &outcome);
    // What it wrote loads; whether a server listens there is the machine's business.
    assert_ne!(world.run(&["doctor"]).code, Some(2));
}

#[test]
fn nothing_is_ever_overwritten() {
    for (name, file) in [
        ("init_over_config", "wallfacer.toml"),
        ("init_over_rules", "invariants.yaml"),
        ("init_over_workflow", ".github/workflows/wallfacer.yml"),
    ] {
        let world = World::new().with(file, "mine");
        let before = world.files();
        let outcome = world.run(&["init", "--ci"]);
        outcome.assert_fails(2);
        assert_eq!((world.files(), world.read(file).as_str()), (before, "mine"));
        assert_shown(name, &outcome);
    }
}

#[test]
fn a_second_init_changes_nothing() {
    let world = World::new();
    world.run(&["init", "--ci"]).assert_succeeds();
    let texts = || world.files().into_iter().map(|file| world.read(&file)).collect::<Vec<_>>();
    let before = texts();
    let outcome = world.run(&["init", "--ci"]);
    outcome.assert_fails(2);
    assert_eq!(texts(), before);
    assert_shown("init_twice", &outcome);
}

#[test]
fn two_kinds_at_once_are_refused() {
    let outcome = World::new().run(&["init", "--http", "--stdio"]);
    outcome.assert_fails(2);
    assert_shown("init_http_and_stdio", &outcome);
}
