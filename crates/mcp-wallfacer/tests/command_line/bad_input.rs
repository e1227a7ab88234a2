//! Every way to be wrong that needs no network: one sentence, the right exit code, and nothing written.

use crate::world::{Outcome, World, assert_shown, fixture};

/// Nothing is hoped for.
const IMPATIENT: [&str; 4] = ["--startup-timeout", "500ms", "--probe-timeout", "200ms"];
/// A shell must get to its first word, on a busy machine too.
const PATIENT: [&str; 4] = ["--startup-timeout", "3s", "--probe-timeout", "200ms"];

/// Runs `doctor`, holds the message against the stored one, and sees that nothing was written.
fn refused(name: &str, code: i32, world: &World, args: &[&str]) -> Outcome {
    let before = world.files();
    let outcome = world.run(&[&["doctor"], args].concat());
    outcome.assert_fails(code);
    assert_eq!(world.files(), before, "nothing is written");
    assert_shown(name, &outcome);
    outcome
}

fn shell(script: &str) -> [&str; 4] {
    ["--", "sh", "-c", script]
}

#[test]
fn nothing_at_all_shows_the_help() {
    let outcome = World::new().run::<&str>(&[]);
    outcome.assert_fails(2);
    assert_shown("nothing_at_all", &outcome);
}

#[test]
fn no_server_named() {
    refused("no_server_named", 2, &World::new(), &[]);
}

#[test]
fn no_server_named_where_the_project_lists_some() {
    let files =
        r#"{ "mcpServers": { "notes": { "command": "notes" }, "weather": { "command": "weather" } } }"#;
    let world = World::new().with(".mcp.json", files).with(".vscode/mcp.json", "{ \"servers\": [");
    refused("no_server_named_of_some", 2, &world, &[]);
}

#[test]
fn a_seed_that_is_no_number() {
    let outcome = World::new().run(&["check", "--demo", "--seed", "first"]);
    outcome.assert_fails(2);
    assert_shown("seed_of_letters", &outcome);
}

#[test]
fn a_program_that_is_not_in_the_path() {
    refused("program_not_in_path", 3, &World::new(), &["--", "no-such-program"]);
}

#[test]
fn a_path_that_does_not_exist() {
    refused("no_such_file", 3, &World::new(), &["--", "./no-such-server"]);
}

#[test]
fn a_file_that_is_not_executable() {
    refused("not_executable", 3, &World::new().with("server.py", "print()"), &["--", "./server.py"]);
}

#[test]
fn a_script_without_its_interpreter() {
    let world = World::new().with_program("server", "");
    std::fs::write(world.here().join("../bin/server"), "#!/no/such/interpreter\n").unwrap();
    refused("no_interpreter", 3, &world, &["--", "server"]);
}

#[test]
fn a_working_directory_that_does_not_exist() {
    refused("no_such_cwd", 3, &World::new(), &["--cwd", "elsewhere", "--", "sh"]);
}

#[test]
fn a_server_that_exits_at_once_shows_its_code_and_its_stderr() {
    let script = "echo 'Error: Cannot find module' >&2; echo 'at line 3' >&2; exit 7";
    refused("exits_at_once", 3, &World::new(), &shell(script));
}

#[test]
fn a_server_that_prints_and_exits_shows_what_it_printed() {
    refused("prints_and_exits", 3, &World::new(), &shell("echo 'usage: server --port N'"));
}

#[test]
fn a_server_that_is_killed_at_the_start_shows_the_signal() {
    refused("killed_at_start", 3, &World::new(), &["--", &fixture(), "dies-at-start"]);
}

#[test]
fn a_server_that_never_answers_costs_no_more_than_its_time() {
    let server = fixture();
    let args = [&IMPATIENT[..], &["--", &server, "never-answers"]].concat();
    refused("never_answers", 3, &World::new(), &args);
}

#[test]
fn a_server_that_prints_text_is_told_from_one_that_is_silent() {
    let args = [&PATIENT[..], &shell("echo Listening on port 80; while read -r line; do :; done")].concat();
    refused("prints_text", 3, &World::new(), &args);
}

#[test]
fn a_server_that_answers_with_text() {
    let args = [&PATIENT[..], &shell("while read -r line; do echo pong; done")].concat();
    refused("answers_with_text", 3, &World::new(), &args);
}

#[test]
fn a_program_that_sends_back_what_it_is_sent() {
    refused("sends_back", 3, &World::new(), &[&PATIENT[..], &["--", "cat"]].concat());
}

#[test]
fn a_server_that_sends_more_than_is_read() {
    refused("answer_too_long", 3, &World::new(), &["--max-line", "64", "--", &fixture(), "correct"]);
}

#[test]
fn a_server_of_an_unknown_version() {
    refused("unknown_version", 3, &World::new(), &["--", &fixture(), "wrong-version-in-initialize"]);
}

#[test]
fn a_server_that_does_not_speak_the_wanted_version() {
    let legacy = ["--protocol", "2026-07-28", "--", &fixture(), "legacy-only"];
    refused("not_the_modern_era", 3, &World::new(), &legacy);
    let modern = ["--protocol", "2025-03-26", "--", &fixture(), "modern-only"];
    refused("not_the_legacy_era", 3, &World::new(), &modern);
}

#[test]
fn what_a_server_prints_cannot_steer_the_terminal() {
    let script = r"printf '\033]0;owned\007\033[2J\n' >&2; printf '\033[31mred\n'; exit 1";
    let prints = refused("terminal_escapes", 3, &World::new(), &shell(script));
    let script = r#"while read -r line; do id=${line#*'"id":'}; id=${id%%[,\}]*}
        printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"\u001b[2Jx"}}'; done"#;
    let names = refused("terminal_escapes_in_version", 3, &World::new(), &shell(script));
    for outcome in [prints, names] {
        assert!(!outcome.stderr.chars().any(|letter| letter.is_control() && letter != '\n'), "{outcome}");
    }
}

#[test]
fn a_configuration_that_is_not_there() {
    refused("config_missing", 2, &World::new(), &["--config", "gone.toml"]);
}

#[test]
fn a_configuration_that_cannot_be_read() {
    // Permissions do not stop root, so that the file is a directory.
    let world = World::new().with("wallfacer.toml/inside", "");
    refused("config_unreadable", 2, &world, &[]);
}

#[test]
fn a_configuration_that_is_not_text() {
    let world = World::new();
    std::fs::write(world.here().join("wallfacer.toml"), b"\xff\xfe[target]").unwrap();
    refused("config_not_text", 2, &world, &[]);
}

#[test]
fn a_configuration_that_is_malformed_shows_the_place() {
    let world = World::new().with("wallfacer.toml", "[target]\nkind = \"stdio\"\ncommand = node\n");
    refused("config_malformed", 2, &world, &[]);
}

#[test]
fn an_unknown_key_shows_its_place_and_the_nearest_known_one() {
    let world = World::new().with("wallfacer.toml", "[target]\ncommand = \"node\"\ntimout_ms = 1\n");
    refused("config_unknown_key", 2, &world, &[]);
}

#[test]
fn a_variable_that_is_not_set() {
    let text =
        "[target]\nurl = \"http://localhost:1/\"\nheaders = { Authorization = \"Bearer ${NO_SUCH}\" }\n";
    refused("config_unset_variable", 2, &World::new().with("wallfacer.toml", text), &[]);
}

#[test]
fn a_configuration_without_a_server() {
    let world = World::new().with("wallfacer.toml", "[output]\ncorpus_dir = \"corpus\"\n");
    refused("config_without_target", 2, &world, &[]);
}

#[test]
fn an_unknown_server_name_lists_the_known_ones() {
    let world = World::new()
        .with(".mcp.json", r#"{"mcpServers": {"weather": {"command": "a"}, "news": {"command": "b"}}}"#)
        .with(".vscode/mcp.json", r#"{"servers": {"git": {"command": "c"}}}"#);
    refused("unknown_server", 2, &world, &["--server", "wether"]);
}

#[test]
fn a_server_name_without_any_client_file() {
    refused("no_client_file", 2, &World::new(), &["--server", "weather"]);
}

#[test]
fn a_client_file_that_is_malformed() {
    let world = World::new().with(".mcp.json", "{\"mcpServers\": {\"weather\": {\"command\": }}}");
    refused("client_file_malformed", 2, &world, &["--server", "weather"]);
}

#[test]
fn urls_that_are_none() {
    for (name, url) in [
        ("url_without_scheme", "localhost:8000/mcp"),
        ("url_of_another_scheme", "ftp://localhost/mcp"),
        ("url_without_host", "http:///mcp"),
        ("url_with_a_bad_port", "http://localhost:99999/"),
    ] {
        refused(name, 2, &World::new(), &["--url", url]);
    }
}

#[test]
fn headers_that_cannot_be_sent() {
    let url = ["--url", "http://localhost:1/"];
    for (name, header) in [
        ("header_without_colon", "Authorization Bearer hunter22"),
        ("header_with_a_bad_name", "X Who: me"),
        ("header_with_a_line_break", "X-Who: me\r\nX-Other: you"),
    ] {
        let outcome = refused(name, 2, &World::new(), &[&url[..], &["--header", header]].concat());
        assert!(!outcome.stderr.contains("hunter22"));
    }
}

#[test]
fn a_variable_without_a_value() {
    refused("env_without_value", 2, &World::new(), &["--env", "MODE", "--", "sh"]);
}

#[test]
fn words_that_a_flag_does_not_know() {
    for (name, flag) in [
        ("wrong_protocol", "--protocol=2025-01-01"),
        ("wrong_transport", "--transport=websocket"),
        ("wrong_format", "--format=yaml"),
        ("wrong_duration", "--timeout=5 parsecs"),
        ("negative_duration", "--startup-timeout=-1s"),
        ("no_duration", "--timeout=0"),
        ("endless_duration", "--probe-timeout=999999999999999999999h"),
        ("wrong_size", "--max-line=1TB"),
        ("endless_size", "--max-line=99999999999999999999GiB"),
    ] {
        refused(name, 2, &World::new(), &[flag, "--url", "http://localhost:1/"]);
    }
}

#[test]
fn flags_that_contradict_each_other() {
    let url = ["--url", "http://localhost:1/"];
    for (name, args) in [
        ("demo_and_url", &["--demo", "--url", "http://localhost:1/"][..]),
        ("demo_and_command", &["--demo", "--", "sh"]),
        ("server_and_url", &["--server", "weather", "--url", "http://localhost:1/"]),
        ("server_and_command", &["--server", "weather", "--", "sh"]),
        ("header_without_url", &["--header", "X-Who: me", "--", "sh", "-c", "a b"]),
        ("cwd_without_command", &[&url[..], &["--cwd", "."]].concat()),
    ] {
        refused(name, 2, &World::new(), args);
    }
}

#[test]
fn an_output_file_that_cannot_be_written_is_told_before_the_server_is_started() {
    let world = World::new();
    let server = ["--", "sh", "-c", "touch started"];
    refused("output_into_no_directory", 2, &world, &[&["-o", "reports/doctor.txt"], &server[..]].concat());
    refused("output_is_a_directory", 2, &world, &[&["-o", ".git"], &server[..]].concat());
    refused("events_into_no_directory", 2, &world, &[&["--events", "logs/a"], &server[..]].concat());
}

#[test]
fn a_working_directory_that_is_gone() {
    let world = World::new();
    // The shell enters it, takes it away, and becomes the command.
    let script = r#"mkdir gone && cd gone && rmdir ../gone && exec "$0" doctor --demo"#;
    let command = world.command(&[""]);
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", script]).arg(command.get_program()).current_dir(world.here());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let outcome = world.finish(shell);
    outcome.assert_fails(2);
    assert_eq!(outcome.stderr, "error: cannot tell the working directory: No such file or directory\n");
}

#[test]
fn words_that_are_no_command() {
    let world = World::new();
    for (name, args) in [
        ("unknown_command", &["docter"][..]),
        ("unknown_flag", &["doctor", "--demmo"]),
        ("command_without_dashes", &["doctor", "node", "server.js"]),
    ] {
        let outcome = world.run(args);
        outcome.assert_fails(2);
        assert_shown(name, &outcome);
    }
}
