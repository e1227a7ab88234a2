//! What is printed about the command itself: help, version, completions, manual pages.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::world::{World, assert_shown};

pub const COMMANDS: [&str; 22] = [
    "check",
    "ci",
    "behave",
    "lock",
    "doctor",
    "fuzz",
    "differential",
    "property",
    "torture",
    "suggest",
    "coverage",
    "replay",
    "corpus",
    "diff",
    "report",
    "merge",
    "explain",
    "mcp",
    "init",
    "pack",
    "completions",
    "man",
];

#[test]
fn every_command_has_a_help_text() {
    let world = World::new();
    let help = world.run(&["--help"]);
    help.assert_succeeds();
    assert_shown("help", &help);
    for command in COMMANDS {
        let help = world.run(&[command, "--help"]);
        help.assert_succeeds();
        assert_shown(&format!("help_{command}"), &help);
    }
}

#[test]
fn no_command_is_missing_from_the_tests_of_help() {
    let help = World::new().run(&["--help"]).stdout;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A line that is further in goes on with the text of the one above.
    let listed = listed.filter(|line| !line.starts_with("   "));
    let listed: Vec<_> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(listed, [&COMMANDS[..], &["help"]].concat());
}

#[test]
fn help_fits_a_terminal() {
    for command in COMMANDS {
        let help = World::new().run(&[command, "--help"]).stdout;
        let widest = help.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= 100, "{widest}");
    }
}

#[test]
fn the_version_is_one_line() {
    let outcome = World::new().run(&["--version"]);
    outcome.assert_succeeds();
    assert_eq!(outcome.stdout, format!("wallfacer {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_are_scripts_that_their_shells_can_read() {
    for shell in ["bash", "zsh", "fish"] {
        let outcome = World::new().run(&["completions", shell]);
        outcome.assert_succeeds();
        for word in ["doctor", "init", "startup-timeout"] {
            assert!(outcome.stdout.contains(word), "{shell} completes {word}");
        }
        let found = Command::new(shell).arg("-c").arg(":").output().ok();
        // Only bash is common enough to be asked for.
        let found = if shell == "bash" { wallfacer_fixtures::require("bash", found) } else { found };
        if found.is_some() {
            assert!(is_read_by(shell, &outcome.stdout), "{shell} can read it");
        }
    }
}

fn is_read_by(shell: &str, script: &str) -> bool {
    let mut child = Command::new(shell).args(["-n", "/dev/stdin"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    child.wait().unwrap().success()
}

#[test]
fn a_shell_that_nobody_knows() {
    let outcome = World::new().run(&["completions", "tcsh"]);
    outcome.assert_fails(2);
    assert_shown("completions_for_no_shell", &outcome);
}

#[test]
fn manual_pages_are_printed_and_written() {
    let world = World::new();
    let page = world.run(&["man"]);
    page.assert_succeeds();
    assert!(page.stdout.contains(".TH wallfacer 1"), "{page}");
    fs::create_dir(world.here().join("man1")).unwrap();
    world.run(&["man", "--dir", "man1"]).assert_succeeds();
    let pages: Vec<_> = world.files().into_iter().collect();
    let named = |command: &&str| format!("man1/wallfacer-{command}.1");
    let expected: Vec<_> = COMMANDS.iter().map(named).chain(["man1/wallfacer.1".to_owned()]).collect();
    // Commands of commands have pages too.
    let missing: Vec<_> = expected.iter().filter(|page| !pages.contains(page)).collect();
    assert_eq!(missing, [""; 0]);
    assert!(world.read("man1/wallfacer-doctor.1").contains("startup\\-timeout"));
}

#[test]
fn manual_pages_into_a_directory_that_does_not_exist() {
    let outcome = World::new().run(&["man", "--dir", "nowhere"]);
    outcome.assert_fails(2);
    assert_shown("man_into_no_directory", &outcome);
}

#[test]
fn every_command_in_the_page_on_targets_is_one() {
    let page = include_str!("../../../../docs/targets.md");
    let lines: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("wallfacer ")).collect();
    assert!(lines.len() >= 8, "the page has examples");
    for line in lines {
        let typed = line.split(" #").next().unwrap();
        let (flags, _command) = typed.split_once(" -- ").unwrap_or((typed, ""));
        // With --help at the end everything before it is read, and nothing is done.
        let asked = format!("exec {:?} {flags} --help", env!("CARGO_BIN_EXE_wallfacer"));
        let output = Command::new("sh").args(["-c", &asked]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
