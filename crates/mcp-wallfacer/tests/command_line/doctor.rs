//! `doctor` on servers that work: what it prints, in which form, and where to.

use std::io::Read;

use crate::site::{Listening, free_port};
use crate::world::{World, assert_shown, fixture};

const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

fn shown(name: &str, args: &[&str]) {
    // What a machine confines differs from the next.
    let outcome = World::new().run(&[&["doctor", "--sandbox", "off"], args].concat());
    outcome.assert_succeeds();
    assert_shown(name, &outcome);
}

#[test]
fn the_demo_as_text_and_as_json() {
    shown("demo", &["--demo"]);
    let outcome = World::new().run(&["doctor", "--sandbox", "off", "--demo", "--format", "json"]);
    outcome.assert_succeeds();
    // Where the program lies is the machine's business.
    let program = env!("CARGO_BIN_EXE_wallfacer");
    assert_shown("demo_json", outcome.to_string().replace(program, "[WALLFACER]"));
}

#[test]
fn a_server_over_stdio_as_text_and_as_json() {
    let server = fixture();
    shown("stdio", &["--", &server, "correct"]);
    shown("stdio_json", &["--format", "json", "--", &server, "correct"]);
}

#[test]
fn a_server_that_is_started_and_reached_over_http() {
    let (server, port) = (fixture(), free_port().to_string());
    let url = format!("http://127.0.0.1:{port}/mcp");
    let args = ["--url", &url, "--", &server, "correct", "--http", "--port", &port];
    shown("http", &args);
    shown("http_json", &[&["--format", "json"], &args[..]].concat());
}

#[test]
fn a_server_that_runs_already() {
    let server = Listening::start("correct");
    let outcome = World::new().run(&["doctor", "--format", "json", "--url", &server.url]);
    outcome.assert_succeeds();
    let document = outcome.json();
    assert_eq!(document["server"]["transport"], "Streamable HTTP");
    assert_eq!(document["ended"], serde_json::Value::Null, "what we did not start we do not end");
}

#[test]
fn a_server_is_confined_as_far_as_the_machine_allows() {
    let server = fixture();
    let outcome = World::new().run(&["doctor", "--format", "json", "--", &server, "correct"]);
    outcome.assert_succeeds();
    let document = outcome.json();
    let rungs = document["machine"]["confines"].as_array().unwrap();
    let best = rungs.iter().find(|rung| rung["refused"].is_null()).unwrap()["rung"].as_str().unwrap();
    let held = document["sandbox"]["rung"].as_str().unwrap();
    assert!(held.starts_with(best), "{held}, and the machine has {best}");
}

#[test]
fn what_must_be_had_and_cannot_be_is_told_by_the_exit_code() {
    let running = Listening::start("correct");
    let world = World::new().with_program("docker", "touch started");
    let required: [&[&str]; 4] = [
        &["--require", "observe", "--url", &running.url],
        &["--sandbox", "require", "--url", &running.url],
        &["--require", "observe,confine", "--", "docker", "run", "-i", "image"],
        &["--require", "confine", "--sandbox", "off", "--", "docker"],
    ];
    let told = required.map(|args| {
        let outcome = world.run(&[&["doctor"], args].concat());
        outcome.assert_fails(3);
        outcome.to_string()
    });
    assert_shown("requirements", told.join("\n\n"));
    assert_eq!(world.files(), [].into(), "nothing was started");
    let unknown = world.run(&["doctor", "--net", "open", "--", "docker"]);
    unknown.assert_fails(2);
    assert_shown("unknown_network", unknown);
}

#[test]
fn every_version_can_be_asked_for() {
    for version in VERSIONS {
        let args = ["doctor", "--format", "json", "--protocol", version, "--", &fixture(), "correct"];
        let outcome = World::new().run(&args);
        outcome.assert_succeeds();
        let server = &outcome.json()["server"];
        let era = if version == "2026-07-28" { "modern" } else { "legacy" };
        assert_eq!((&server["protocol"], &server["era"]), (&version.into(), &era.into()));
    }
}

#[test]
fn the_old_transport_is_found_and_can_be_asked_for() {
    for transport in ["auto", "sse"] {
        let port = free_port().to_string();
        let url = format!("http://127.0.0.1:{port}/sse");
        let (flags, server) =
            (["doctor", "--format", "json", "--transport", transport, "--url", &url], fixture());
        let outcome = World::new()
            .run(&[&flags[..], &["--", &server, "correct", "--legacy-sse", "--port", &port]].concat());
        outcome.assert_succeeds();
        assert_eq!(outcome.json()["server"]["transport"], "HTTP+SSE", "{transport}");
    }
}

#[test]
fn a_server_of_a_client_file() {
    let entry = serde_json::json!({"mcpServers": {"mine": {"command": fixture(), "args": ["legacy-only"]}}});
    let world = World::new().with(".mcp.json", &entry.to_string());
    let outcome = world.run(&["doctor", "--format", "json", "--server", "mine"]);
    outcome.assert_succeeds();
    assert_eq!(outcome.json()["server"]["era"], "legacy");
}

#[test]
fn a_name_that_two_client_files_know_is_told() {
    let entry = |key: &str, mode: &str| {
        serde_json::json!({key: {"mine": {"command": fixture(), "args": [mode]}}}).to_string()
    };
    let world = World::new()
        .with(".mcp.json", &entry("mcpServers", "correct"))
        .with(".vscode/mcp.json", &entry("servers", "legacy-only"));
    let outcome = world.run(&["doctor", "--format", "json", "--server", "mine"]);
    assert_eq!(outcome.json()["server"]["era"], "modern");
    assert_shown("server_in_two_files", &outcome.stderr);
}

#[test]
fn a_server_of_the_configuration() {
    let config = |mode: &str| format!("[target]\ncommand = {:?}\nargs = [{mode:?}]\n", fixture());
    let world = World::new()
        .with("wallfacer.toml", &config("correct"))
        .with("below/other.toml", &config("legacy-only"));
    let era = |mut command: std::process::Command, below: bool| {
        if below {
            command.current_dir(world.here().join("below"));
        }
        let outcome = world.finish(command);
        outcome.assert_succeeds();
        outcome.json()["server"]["era"].as_str().unwrap().to_owned()
    };
    let asked = ["doctor", "--format", "json"];
    assert_eq!(era(world.command(&asked), false), "modern");
    assert_eq!(era(world.command(&asked), true), "modern", "it is found from below");
    let named = [&asked[..], &["--config", "below/other.toml"]].concat();
    assert_eq!(era(world.command(&named), false), "legacy");
    let mut by_variable = world.command(&asked);
    by_variable.env("WALLFACER_CONFIG", "below/other.toml");
    assert_eq!(era(by_variable, false), "legacy");
}

#[test]
fn a_broken_configuration_is_not_in_the_way_of_a_server_that_is_named() {
    let world = World::new().with("wallfacer.toml", "this is no TOML");
    world.run(&["doctor", "--", &fixture(), "correct"]).assert_succeeds();
}

#[test]
fn a_variable_that_is_to_be_passed_and_is_not_set_is_told() {
    let doctor =
        |world: &World| world.command(&["doctor", "--env-pass", "API_KEY", "--", &fixture(), "correct"]);
    let world = World::new();
    let told = world.finish(doctor(&world));
    assert_eq!(told.code, Some(0), "{told}");
    assert_eq!(told.stderr, "note: --env-pass API_KEY: there is no such variable, so the server gets none\n");
    let mut set = doctor(&world);
    set.env("API_KEY", "key-0123456789");
    world.finish(set).assert_succeeds();
}

#[test]
fn the_environment_of_a_server_can_be_set_and_cleared() {
    let script = format!(r#"test "$A/$B/$C" = 1//3 && exec '{}' correct; exit 9"#, fixture());
    let world = World::new();
    let mut command = world.command(&[
        "doctor",
        "--env",
        "A=1",
        "--env-clear",
        "--env-pass",
        "C",
        "--cwd",
        "..",
        "--",
        "/bin/sh",
        "-c",
        &script,
    ]);
    command.env("B", "2").env("C", "3");
    world.finish(command).assert_succeeds();
}

#[test]
fn events_are_logged_one_object_a_line() {
    let world = World::new();
    world.run(&["doctor", "--events", "events.jsonl", "--", &fixture(), "correct"]).assert_succeeds();
    let events = world.plain(&world.read("events.jsonl"));
    for line in events.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON");
    }
    assert_shown("events", events);
}

#[test]
fn the_log_tells_of_a_server_that_could_not_be_reached() {
    let world = World::new();
    let outcome = world.run(&["doctor", "--events", "events.jsonl", "--", &fixture(), "exits-at-start"]);
    outcome.assert_fails(3);
    assert!(world.read("events.jsonl").contains(r#""event":"connecting""#));
}

#[test]
fn the_report_goes_to_the_file_alone() {
    let world = World::new();
    let outcome =
        world.run(&["doctor", "-o", "report.json", "--format", "json", "--", &fixture(), "correct"]);
    outcome.assert_succeeds();
    assert_eq!(outcome.stdout, "");
    let document: serde_json::Value = serde_json::from_str(&world.read("report.json")).unwrap();
    assert_eq!(document["catalogue"]["tools"]["entries"].as_array().unwrap().len(), 12);
}

#[test]
fn the_servers_stderr_is_never_mixed_into_ours() {
    let script = format!("echo NOISE >&2; exec '{}' correct", fixture());
    let outcome = World::new().run(&["doctor", "--", "sh", "-c", &script]);
    outcome.assert_succeeds();
    assert!(!outcome.stdout.contains("NOISE\n"), "{outcome}");
}

#[test]
fn remarks_name_what_is_odd() {
    let remarks = |mode: &str| {
        let outcome = World::new().run(&["doctor", "--probe-timeout", "200ms", "--", &fixture(), mode]);
        outcome.assert_succeeds();
        let odd = |line: &&str| line.starts_with("  - ") || line.starts_with("  broken: ");
        outcome.stdout.lines().filter(odd).collect::<Vec<_>>().join("\n")
    };
    let modes = ["correct", "prints-banner", "broken-tool", "repeating-cursor", "never-answers-discover"];
    assert_shown("remarks", modes.map(|mode| format!("{mode}\n{}", remarks(mode))).join("\n\n"));
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    let world = World::new();
    let server = fixture();
    let doctor = ["doctor", "--format", "json", "--", &server, "correct"];
    for args in [&doctor[..], &["completions", "bash"], &["man"], &["doctor", "--help"], &["--version"]] {
        let mut child = world.command(args).spawn().unwrap();
        // Gone before the first word, so that there is nobody to write to.
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_report_that_cannot_be_written_is_told() {
    let world = World::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = world.command(&["doctor", "--demo"]);
    command.stdout(full);
    let outcome = world.finish(command);
    outcome.assert_fails(2);
    assert_shown("stdout_full", &outcome);
    let outcome = world.run(&["doctor", "--demo", "-o", "/dev/full"]);
    outcome.assert_fails(2);
    assert_shown("output_full", &outcome);
}

/// Runs a command on a terminal of its own, where somebody types this.
#[cfg(target_os = "linux")]
fn on_a_terminal(world: &World, command: &str, server: &str, typed: &str) -> Option<(String, Option<i32>)> {
    use std::io::Write;
    let script =
        ["/usr/bin/script", "/bin/script"].into_iter().find(|path| std::path::Path::new(path).exists());
    let script = wallfacer_fixtures::require("script (util-linux)", script)?;
    let line = format!("{} {command} -- sh -c '{server}'", env!("CARGO_BIN_EXE_wallfacer"));
    let plain = world.command(&["doctor"]);
    let mut command = std::process::Command::new(script);
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(world.here()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "dumb");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).unwrap();
    let mut shown = String::new();
    child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    drop(stdin);
    Some((world.plain(&shown), child.wait().unwrap().code()))
}

#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_a_server_runs_without_the_sandbox_only_after_a_yes() {
    let answers = [("\n", 3, false), ("n\n", 3, false), ("what\n", 3, false), ("y\n", 0, true)];
    let doctor = answers.map(|answer| ("doctor", answer));
    // Others ask as well.
    let others = ["check --budget 20s", "behave", "lock"].map(|command| (command, answers[0]));
    for (command, (typed, code, runs)) in doctor.into_iter().chain(others) {
        let world = World::new();
        let server = format!("test -e ~/.netrc && exit 7; touch outside; exec {} correct", fixture());
        let Some((shown, exit)) = on_a_terminal(&world, command, &server, typed) else { return };
        assert_eq!(exit, Some(code), "{typed:?}: {shown}");
        assert_eq!(world.here().join("outside").exists(), runs, "{typed:?}: {shown}");
        assert_eq!(shown.matches("[y/N]").count(), 1, "{typed:?}: {shown}");
        assert_eq!(shown.matches("error:").count(), 1, "{typed:?}: {shown}");
    }
}
