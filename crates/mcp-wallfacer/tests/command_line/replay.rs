//! A finding is tried again: what its user is told, and with which exit code.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::stored::{OLD_ID, fuzzed, twin, world_with_dice};
use crate::world::{World, assert_shown, fixture};

const SECRET: &str = "hunter22-is-secret";

#[test]
fn the_line_that_fuzzing_gives_shows_the_crash_again() {
    let world = World::new();
    let fuzz = ["fuzz", "--demo", "--include", "divide", "--iterations", "30", "--format", "json"];
    let found = world.run(&fuzz);
    assert_eq!(found.code, Some(1), "{found}");
    let id = found.json()["findings"][0]["id"].as_str().unwrap().to_owned();
    let path = format!(".wallfacer/corpus/divide/{id}.json");
    let mode = fs::metadata(world.here().join(&path)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let replayed = world.run(&["replay", &id, "--show-payload"]);
    assert_eq!(replayed.code, Some(1), "{replayed}");
    assert_shown("replay of the demo's crash", replayed);
    assert_eq!(world.run(&["replay", &id[..6]]).code, Some(1), "the first digits are enough");
    assert_eq!(world.run(&["replay", &path]).code, Some(1), "so is the file");
}

#[test]
fn a_mended_server_is_fixed_and_another_server_is_told_apart() {
    let (world, id) = fuzzed("crash-on-every-call", &[]);
    let server = fixture();
    let again = world.run(&["replay", &id]);
    assert_eq!(again.code, Some(1), "{again}");
    let fixed = world.run(&[&["replay", &id], &twin(&server, "crash-on-every-call")[..]].concat());
    assert_eq!(fixed.code, Some(0), "{fixed}");
    let other = world.run(&["replay", &id, "--", &server, "correct"]);
    assert_eq!(other.code, Some(3), "{other}");
    let json = world.run(&["replay", &id, "--format", "json", "--show-payload"]);
    assert_shown("replay of a crash", format!("{again}\n\n{fixed}\n\n{other}\n\n{json}"));
}

#[test]
fn a_frame_that_ends_the_server_is_sent_again_as_it_was() {
    let (world, id) = fuzzed("dies-on-unknown-method", &["--protocol-frames"]);
    let server = fixture();
    let again = world.run(&["replay", &id]);
    assert_eq!(again.code, Some(1), "{again}");
    let fixed = world.run(&[&["replay", &id], &twin(&server, "dies-on-unknown-method")[..]].concat());
    assert_eq!(fixed.code, Some(0), "{fixed}");
}

#[test]
fn every_kind_of_finding_is_seen_again_and_then_fixed() {
    let server = fixture();
    for flaw in ["hang-on-completion", "output-missing", "ignores-enum"] {
        let (world, id) = fuzzed(flaw, &[]);
        let again = world.run(&["replay", &id]);
        assert!(again.stdout.starts_with("STILL FAILS "), "{flaw}: {again}");
        let fixed = world.run(&[&["replay", &id], &twin(&server, flaw)[..]].concat());
        assert!(fixed.stdout.starts_with("FIXED: "), "{flaw}: {fixed}");
    }
}

#[test]
fn a_leaked_secret_is_seen_again_and_told_nowhere() {
    let variable = format!("WALLFACER_FIXTURE_TOKEN={SECRET}");
    let (world, id) = fuzzed("secret-in-result", &["--env", &variable]);
    let mut replay = world.command(&["replay", &id, "--show-payload"]);
    replay.env("WALLFACER_REPLAY_WALLFACER_FIXTURE_TOKEN", SECRET);
    let again = world.finish(replay);
    assert!(again.stdout.starts_with("STILL FAILS "), "{again}");
    assert!(!again.to_string().contains(SECRET), "{again}");
}

#[test]
fn a_huge_payload_is_stored_in_few_bytes_and_sent_in_full() {
    let (world, id) = fuzzed("crash-on-long-text", &[]);
    let stored = world.files().into_iter().find(|file| file.ends_with(&format!("{id}.json"))).unwrap();
    assert!(world.read(&stored).len() < 6_000, "{}", world.read(&stored));
    let again = world.run(&["replay", &id]);
    assert_eq!(again.code, Some(1), "{again}");
}

#[test]
fn a_server_that_is_gone_makes_a_finding_not_replayable() {
    let world = world_with_dice("roll", "{}");
    let gone = world.run(&["replay", OLD_ID, "--", "no-such-program"]);
    assert_eq!(gone.code, Some(3), "{gone}");
    let nowhere = world.run(&["replay", OLD_ID]);
    assert_eq!(nowhere.code, Some(3), "{nowhere}");
    assert_shown("replay without a server", format!("{gone}\n\n{nowhere}"));
}

#[test]
fn what_fails_only_now_and_then_is_flaky() {
    let world = world_with_dice("roll", "{}");
    let flaky = world.run(&["replay", OLD_ID, "--sandbox", "off", "--", "dice", "roll", "2"]);
    assert_eq!(flaky.code, Some(1), "{flaky}");
    assert_shown("replay of a flaky crash", flaky);
    let always = world.run(&["replay", OLD_ID, "--", "dice", "roll", "1"]);
    assert!(always.stdout.starts_with("STILL FAILS 3/3: "), "{always}");
}

#[test]
fn a_destructive_tool_is_not_called_unless_that_is_allowed() {
    let world = world_with_dice("wipe_all", "{}");
    let held = world.run(&["replay", OLD_ID, "--sandbox", "off", "--", "dice", "wipe_all", "1"]);
    assert_eq!(held.code, Some(3), "{held}");
    assert!(!world.files().contains("calls"), "nothing was called");
    assert_shown("replay of a destructive tool", &held);
    let minimized =
        world.run(&["corpus", "minimize", OLD_ID, "--sandbox", "off", "--", "dice", "wipe_all", "1"]);
    assert_eq!(minimized.code, Some(3), "{minimized}");
    assert!(!world.files().contains("calls"), "nothing was called");
    let world = world.with("wallfacer.toml", "[allow_destructive]\ntools = [\"wipe_all\"]\n");
    let allowed = world.run(&["replay", OLD_ID, "--sandbox", "off", "--", "dice", "wipe_all", "1"]);
    assert_eq!(allowed.code, Some(1), "{allowed}");
}

/// What comes of a replay at a terminal where somebody types this.
#[cfg(target_os = "linux")]
fn answered(world: &World, id: &str, typed: &str) -> crate::world::Outcome {
    let replay = format!("{} replay {id}", env!("CARGO_BIN_EXE_wallfacer"));
    fs::write(world.here().join("typed"), typed).unwrap();
    let mut terminal = std::process::Command::new("script");
    terminal.args(["-q", "-e", "-c", &replay, "/dev/null"]).current_dir(world.here()).env_clear();
    terminal.env("HOME", world.here()).env("PATH", crate::world::SYSTEM_PATH).env("SHELL", "/bin/sh");
    terminal.stdin(fs::File::open(world.here().join("typed")).unwrap());
    terminal.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    world.finish(terminal)
}

#[cfg(target_os = "linux")]
#[test]
fn who_is_asked_at_a_terminal_decides_whether_a_command_from_elsewhere_is_run() {
    let (world, id) = fuzzed("crash-on-every-call", &[]);
    let yes = answered(&world, &id, "y\n");
    assert_eq!(yes.code, Some(1), "{yes}");
    assert!(yes.stdout.contains("[y/N]") && yes.stdout.contains("STILL FAILS"), "{yes}");
    for typed in ["n\n", "\n"] {
        let no = answered(&world, &id, typed);
        assert_eq!(no.code, Some(3), "{no}");
        assert!(no.stdout.contains("[y/N]") && no.stdout.contains("NOT REPLAYABLE"), "{no}");
    }
}

#[test]
fn a_command_from_elsewhere_is_shown_and_not_run_unasked() {
    let (world, id) = fuzzed("crash-on-every-call", &[]);
    let mut elsewhere = world.command(&["replay", &id]);
    elsewhere.env("HOME", world.here());
    let asked = world.finish(elsewhere);
    assert_eq!(asked.code, Some(3), "{asked}");
    assert_shown("replay of a finding from elsewhere", asked);
    let mut trusted = world.command(&["replay", &id, "--trust"]);
    trusted.env("HOME", world.here());
    assert_eq!(world.finish(trusted).code, Some(1));
    // A command that was changed behind our back is no longer ours.
    let path = world.files().into_iter().find(|file| file.ends_with(&format!("{id}.json"))).unwrap();
    let changed = world.read(&path).replace("crash-on-every-call", "crash-on-nul");
    fs::write(world.here().join(&path), changed).unwrap();
    assert_eq!(world.run(&["replay", &id]).code, Some(3));
}

#[test]
fn a_secret_of_the_target_is_asked_for_by_name_and_told_nowhere() {
    let variable = format!("API_TOKEN={SECRET}");
    let (world, id) = fuzzed("crash-on-every-call", &["--env", &variable]);
    let missing = world.run(&["replay", &id]);
    assert_eq!(missing.code, Some(3), "{missing}");
    assert_shown("replay with a missing secret", &missing);
    let mut given = world.command(&["replay", &id, "--show-payload"]);
    given.env("WALLFACER_REPLAY_API_TOKEN", SECRET);
    let given = world.finish(given);
    assert_eq!(given.code, Some(1), "{given}");
    let shown = world.run(&["corpus", "show", &id]);
    for file in world.files() {
        assert!(!world.read(&file).contains(SECRET), "{file}");
    }
    for outcome in [missing, given, shown] {
        assert!(!outcome.to_string().contains(SECRET), "{outcome}");
    }
}

#[test]
fn a_secret_of_the_payload_is_asked_for_by_name_and_told_nowhere() {
    let world = world_with_dice("roll", r#"{"x-api-key":"<redacted>"}"#);
    let replay = ["replay", OLD_ID, "--show-payload", "--", "dice", "roll", "1"];
    let missing = world.run(&replay);
    assert_eq!(missing.code, Some(3), "{missing}");
    let mut given = world.command(&replay);
    given.env("WALLFACER_REPLAY_X_API_KEY", SECRET);
    let given = world.finish(given);
    assert_eq!(given.code, Some(1), "{given}");
    assert!(!given.to_string().contains(SECRET), "{given}");
    assert_shown("replay with a secret payload", format!("{missing}\n\n{given}"));
}

#[test]
fn a_finding_of_the_configured_server_needs_no_trust_and_no_flags() {
    let world = world_with_dice("roll", "{}")
        .with("wallfacer.toml", "[target]\ncommand = \"dice\"\nargs = [\"roll\", \"1\"]\n");
    assert_eq!(world.run(&["replay", OLD_ID]).code, Some(1));
}

#[test]
fn what_is_not_there_or_not_one_is_told() {
    let world = world_with_dice("roll", "{}")
        .with(".wallfacer/corpus/roll/0123000000000000.json", "{}")
        .with("other.json", "{");
    let outcomes = ["feed", "0123", "xyz", "other.json", "none.json", "0123000000000000"].map(|id| {
        let outcome = world.run(&["replay", id]);
        outcome.assert_fails(2);
        outcome.to_string()
    });
    assert_shown("replay of what is not there", outcomes.join("\n"));
}
