//! Secrets that a server or a rule repeats: none of them is in anything that a run prints or keeps, whatever it is
//! written like.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use wallfacer_fixtures::require;

use crate::lanes::each;
use crate::processes::{hearing, send};
use crate::world::{Outcome, World};

/// Repeats all it is given.
const ECHO: &str = include_str!("echo.py");

/// Every way in which the server can write a word.
pub const SPELLINGS: [&str; 15] = [
    "plain",
    "upper",
    "lower",
    "hex",
    "HEX",
    "base64",
    "basic",
    "shifted",
    "percent",
    "all-percent",
    "unicode",
    "html",
    "reversed",
    "numbers",
    "wide",
];

/// What the test itself wrote, and may hold the secret.
const INPUTS: [&str; 6] =
    ["echo.py", "tokens.py", "rules.yaml", "wallfacer.toml", "packs/mine.yaml", ".mcp.json"];

const RULES: &str = "version: 4
metadata:
  parameters:
    word: { description: A word., type: string, default: WORD }
invariants:
  - name: login.refuses
    tool: login
    fixed: { password: \"{{word}}\", q: x }
    assert: [{ kind: equals, lhs: $.response.isError, rhs: true }]
";

/// With rules that hold this word.
pub fn rules(word: &str) -> String {
    RULES.replace("WORD", &serde_json::Value::from(word).to_string())
}

/// A world with the server, where there is a Python.
pub fn world() -> Option<World> {
    let mut python = Command::new("python3");
    python.env("PATH", crate::world::SYSTEM_PATH).arg("--version").stdout(Stdio::null());
    require("python3", python.status().ok().filter(|status| status.success()))?;
    Some(World::new().with("echo.py", ECHO))
}

pub fn run(world: &World, variables: &[(&str, &str)], args: &[&str]) -> Outcome {
    let mut command = world.command(args);
    command.envs(variables.iter().copied());
    world.finish(command)
}

/// How base64 writes some bytes that stand `before` bytes behind the beginning of a group, as far as it depends on them.
fn base64(secret: &[u8], before: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes = [&vec![0; before][..], secret].concat();
    let bit = |at: usize| (bytes[at / 8] >> (7 - at % 8)) & 1;
    let letter =
        |at: usize| LETTERS[(0..6).fold(0, |value, bit_of| value << 1 | bit(at * 6 + bit_of)) as usize];
    let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    (first..last).map(|at| char::from(letter(at))).collect()
}

/// The same, until the log of its events tells of a finding of this kind: then it is interrupted, and reports.
fn run_until_found(world: &World, args: &[&str], kind: &str) -> Outcome {
    let mut command = hearing(world.command(args));
    let child = command.spawn().unwrap();
    let process = child.id();
    let ended = thread::spawn(move || child.wait_with_output().unwrap());
    let is_found = || {
        let told = fs::read_to_string(world.here().join("events")).unwrap_or_default();
        told.lines().any(|line| line.contains("finding_made") && line.contains(&format!("\"{kind}\"")))
    };
    while !is_found() && !ended.is_finished() {
        thread::sleep(Duration::from_millis(20));
    }
    if !ended.is_finished() {
        send("INT", process);
    }
    Outcome::of(world, &command, ended.join().unwrap())
}

/// Every form of a secret that must not be seen, in small letters.
fn forms(secret: &str) -> Vec<String> {
    let each = |form: &dyn Fn(u8) -> String| secret.bytes().map(form).collect::<String>();
    let mut forms = vec![
        secret.to_owned(),
        secret.chars().rev().collect(),
        each(&|byte| format!("{byte:02x}")),
        each(&|byte| format!("%{byte:02x}")),
        each(&|byte| match byte.is_ascii_alphanumeric() || b"_.-~".contains(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02x}"),
        }),
        each(&|byte| format!("{byte}, ")).trim_end_matches(", ").to_owned(),
        each(&|byte| format!("{}\\x00", char::from(byte))),
        each(&|byte| format!("\\u{byte:04x}")),
        each(&|byte| format!("\\\\u{byte:04x}")),
        secret.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;"),
        serde_json::Value::from(secret).to_string().trim_matches('"').to_owned(),
    ];
    for before in 0..3 {
        let standard = base64(secret.as_bytes(), before);
        forms.push(standard.replace('+', "-").replace('/', "_"));
        forms.push(standard);
    }
    forms.into_iter().map(|form| form.to_lowercase()).collect()
}

/// Sees that a secret is in no stream and no file of a run.
pub fn assert_gone(world: &World, outcome: &Outcome, secret: &str) {
    let forms = forms(secret);
    let files = world.files().into_iter().filter(|file| !INPUTS.contains(&file.as_str()));
    let kept: Vec<(String, String)> =
        files.map(|file| (world.read(&file), file)).map(|(text, file)| (file, text)).collect();
    let streams = [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)];
    let streams = streams.map(|(name, text)| (name.to_owned(), text.clone()));
    for (place, text) in kept.into_iter().chain(streams) {
        let small = format!("{place}\n{text}").to_lowercase();
        for form in &forms {
            let near = small.find(form.as_str()).map(|at| {
                let letters: Vec<char> = small[..at].chars().rev().take(80).collect();
                letters.into_iter().rev().collect::<String>() + form
            });
            assert!(near.is_none(), "`{secret}` is told as `{form}` in {place}, after {near:?}\n{outcome}");
        }
    }
}

fn first_finding(outcome: &Outcome, kind: &str) -> serde_json::Value {
    let document = outcome.json();
    let mut findings = document["findings"].as_array().unwrap().iter();
    findings
        .find(|finding| finding["kind"]["type"] == kind)
        .unwrap_or_else(|| panic!("no {kind}: {outcome}"))
        .clone()
}

/// Was open: the rule's text and the call were stored with the password.
#[test]
fn a_password_in_a_rule_is_not_kept_and_a_replay_asks_for_it() {
    let Some(world) = world() else { return };
    let secret = "correct-horse-battery";
    let world = world.with("rules.yaml", &rules(secret));
    let args =
        ["property", "rules.yaml", "--format", "json", "--events", "events", "--", "python3", "echo.py"];
    let found = run(&world, &[], &args);
    assert_eq!(found.code, Some(1), "{found}");
    assert_gone(&world, &found, secret);
    let finding = first_finding(&found, "property_failure");
    let arguments = &finding["repro"]["replayable"]["case"]["steps"][0]["call"]["params"]["arguments"];
    assert_eq!(arguments["password"], "<redacted:PASSWORD>", "{found}");
    assert_eq!(arguments["q"], "x", "what is no secret stays");
    let id = finding["id"].as_str().unwrap();
    let again = run(&world, &[], &["replay", id, "--show-payload"]);
    assert_eq!(again.code, Some(3), "{again}");
    assert!(again.stdout.contains("NOT REPLAYABLE"), "{again}");
    assert!(again.stdout.contains("WALLFACER_REPLAY_PASSWORD"), "{again}");
    let variables = [("WALLFACER_REPLAY_PASSWORD", secret)];
    let again = run(&world, &variables, &["replay", id, "--show-payload", "--events", "again"]);
    assert!(again.stdout.contains("STILL FAILS"), "{again}");
    assert_gone(&world, &again, secret);
    let smaller = run(&world, &variables, &["corpus", "minimize", id, "--budget", "5s"]);
    assert_gone(&world, &smaller, secret);
    let again = run(&world, &variables, &["replay", id]);
    assert!(again.stdout.contains("STILL FAILS"), "it is asked for by the same name: {again}");
}

/// Was open: a parameter went the same way as a value that stands in the rule.
#[test]
fn a_secret_parameter_is_not_kept_however_it_is_given() {
    let secret = "kept-in-a-parameter-1";
    for (file, config, flags) in [
        ("rules.yaml", String::new(), vec!["rules.yaml", "--param", "word=kept-in-a-parameter-1"]),
        ("packs/mine.yaml", String::new(), vec!["--pack", "mine", "--param", "word=kept-in-a-parameter-1"]),
        ("packs/mine.yaml", format!("[packs.mine]\nword = \"{secret}\"\n"), vec!["--pack", "mine"]),
    ] {
        let Some(world) = world() else { return };
        let world = world.with(file, &rules("x")).with("wallfacer.toml", &config);
        for format in ["human", "sarif", "json"] {
            let args = [&["property"], &flags[..], &["--format", format, "--events", "events"]].concat();
            let found = run(&world, &[], &[&args[..], &["--", "python3", "echo.py"]].concat());
            assert_eq!(found.code, Some(1), "{found}");
            assert_gone(&world, &found, secret);
        }
        let shown = run(&world, &[], &["pack", "params", "mine"]);
        assert_gone(&world, &shown, secret);
    }
}

/// Was open: what a server returns as a token was stored as the argument of the next call.
#[test]
fn a_token_that_the_server_returned_is_not_kept() {
    let Some(world) = world() else { return };
    let token = "f00dcafe".repeat(4);
    let args = ["fuzz", "--iterations", "40", "--format", "json", "--events", "events", "--corpus-feedback"];
    let found = run(&world, &[], &[&args[..], &["--", "python3", "echo.py"]].concat());
    assert_gone(&world, &found, &token);
    let finding = first_finding(&found, "crash");
    let arguments = &finding["repro"]["replayable"]["case"]["steps"][0]["call"]["params"]["arguments"];
    assert_eq!(arguments["token"], "<redacted:TOKEN>", "{found}");
    let id = finding["id"].as_str().unwrap();
    let again = run(&world, &[], &["replay", id]);
    assert!(again.stdout.contains("WALLFACER_REPLAY_TOKEN"), "{again}");
    let again = run(&world, &[("WALLFACER_REPLAY_TOKEN", &token)], &["replay", id]);
    assert!(again.stdout.contains("STILL FAILS"), "{again}");
}

/// Was open: only fuzzing followed what a server had given; the other tests took it for a value of their own.
#[test]
fn a_token_that_the_server_returned_is_not_kept_by_any_other_test_either() {
    let rule = "version: 4
invariants:
  - name: note.is_empty
    tool: read_note
    input: schema_valid
    cases: 20
    assert: [{ kind: equals, lhs: $.response.isError, rhs: true }]
";
    let token = "f00dcafe".repeat(4);
    let tests: [(&[&str], Option<&str>); 7] = [
        (&["behave", "--budget", "120s", "--out-dir", "kept"], Some("undeclared_behaviour")),
        (&["torture", "--budget", "60s"], Some("crash")),
        (&["lock"], None),
        (&["check", "--budget", "200s"], Some("injection")),
        (&["differential", "--against", "python3 tokens.py other", "--iterations", "12"], None),
        (&["differential", "--learn", "--iterations", "12"], None),
        (&["property", "rules.yaml"], None),
    ];
    each(tests, |(test, kind)| {
        let Some(world) = world() else { return };
        let world = world.with("tokens.py", include_str!("tokens.py")).with("rules.yaml", rule);
        let formats: &[&str] = match test[0] {
            // What all formats are made of was redacted before: one is enough where a run takes its time.
            "check" | "lock" => &["json"],
            _ if test.contains(&"--learn") => &["human"],
            _ => &["json", "human", "sarif"],
        };
        for format in formats {
            let args = [test, &["--format", format, "--events", "events"]].concat();
            let variant = if test[0] == "torture" { "hasty" } else { "one" };
            let args = [&args[..], &["--", "python3", "tokens.py", variant]].concat();
            let found = match test[0] {
                "check" => run_until_found(&world, &args, "injection"),
                _ => run(&world, &[], &args),
            };
            assert!(matches!(found.code, Some(0 | 1)), "{found}");
            assert_gone(&world, &found, &token);
            assert!(
                !test.contains(&"kept") || world.read("kept/trace.jsonl").contains("/[redacted]"),
                "{found}"
            );
            if test[0] == "lock" {
                // What the file lacks is no difference to it.
                let compared = run(&world, &[], &["lock", "--check", "--", "python3", "tokens.py"]);
                assert_eq!(compared.code, Some(0), "{compared}");
            }
            let Some(kind) = kind.filter(|_| *format == "json") else { continue };
            let finding = first_finding(&found, kind);
            let sent = finding["repro"].to_string();
            assert!(sent.contains("<redacted:TOKEN>"), "{test:?} brings the token: {found}");
            let id = finding["id"].as_str().unwrap();
            let again = run(&world, &[], &["replay", id, "--show-payload"]);
            assert!(again.stdout.contains("WALLFACER_REPLAY_TOKEN"), "{test:?}: {again}");
            let variables = [("WALLFACER_REPLAY_TOKEN", token.as_str())];
            let again = run(&world, &variables, &["replay", id, "--show-payload", "--events", "again"]);
            assert!(again.stdout.contains("STILL FAILS"), "{test:?}: {again}");
            assert_gone(&world, &again, &token);
        }
    });
}

/// Was open: the calls of a sequence were stored with what earlier answers put into them.
#[test]
fn a_token_that_goes_through_a_sequence_is_not_kept_and_not_needed_again() {
    let Some(world) = world() else { return };
    let sequence = "version: 4
sequences:
  - name: session.is_one
    steps:
      - { call: session, with: {}, bind: opened }
      - { call: login, with: { password: \"{{steps.opened.response.content[0].text}}\" }, expect: error }
";
    let world = world.with("rules.yaml", sequence);
    let args =
        ["property", "rules.yaml", "--format", "json", "--events", "events", "--", "python3", "echo.py"];
    let found = run(&world, &[], &args);
    assert_eq!(found.code, Some(1), "{found}");
    assert_gone(&world, &found, &"f00dcafe".repeat(4));
    let finding = first_finding(&found, "sequence_failure");
    let again = run(&world, &[], &["replay", finding["id"].as_str().unwrap()]);
    assert!(again.stdout.contains("STILL FAILS"), "{again}");
}

/// Was open: a secret without a flag before it was in the event log and in the report, and a replay line repeated it.
#[test]
fn a_secret_among_the_arguments_is_not_told_and_a_replay_asks_for_it() {
    for (argument, secret, variable) in [
        ("sk-live-Zx9Kq2Lm4Np8Rt6V", "sk-live-Zx9Kq2Lm4Np8Rt6V", "WALLFACER_REPLAY_ARGUMENT"),
        ("9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015", "WALLFACER_REPLAY_ARGUMENT"),
        ("postgres://ada:pass-phrase-77@db.invalid/x", "pass-phrase-77", "WALLFACER_REPLAY_URL_PASSWORD"),
        ("host=db password=pass-phrase-77 user=ada", "pass-phrase-77", "WALLFACER_REPLAY_"),
    ] {
        let Some(world) = world() else { return };
        let world = world.with("rules.yaml", &rules("x-y-z-x-y-z"));
        for format in ["human", "sarif", "json"] {
            let args = ["property", "rules.yaml", "--format", format, "--events", "events", "-o", "report"];
            let found = run(&world, &[], &[&args[..], &["--", "python3", "echo.py", argument]].concat());
            assert_eq!(found.code, Some(1), "{found}");
            assert_gone(&world, &found, secret);
        }
        let report: serde_json::Value = serde_json::from_str(&world.read("report")).unwrap();
        let again = run(&world, &[], &["replay", report["findings"][0]["id"].as_str().unwrap()]);
        assert_eq!(again.code, Some(3), "{again}");
        assert!(again.stdout.contains(variable), "{again}");
    }
}

/// Was open, also long after that build: only the whole value of a variable was redacted, and not the word after `Bearer`, the
/// password in a URL, or the key in a JSON document.
#[test]
fn a_secret_within_a_variable_is_not_told() {
    let secret = "Zx9Kq2Lm4Np8Rt6V";
    each(
        [
            ("API_TOKEN", "Bearer SECRET"),
            ("DATABASE_URL", "postgres://ada:SECRET@db.invalid/x"),
            ("SERVICE_JSON", r#"{ "user": "ada", "client_secret": "SECRET" }"#),
            ("SETTINGS", "host=db password=SECRET user=ada"),
        ],
        |(name, form)| {
            let Some(world) = world() else { return };
            let variable = format!("{name}={}", form.replace("SECRET", secret));
            let within = format!("WITHIN={name}");
            let flags = ["--env", &variable, "--env", &within];
            for command in [
                &["doctor"][..],
                &["fuzz", "--iterations", "12", "--budget", "10s", "--format", "json", "--events", "events"],
            ] {
                let args = [command, &flags, &["--", "python3", "echo.py"]].concat();
                let outcome = run(&world, &[], &args);
                assert!(matches!(outcome.code, Some(0 | 1)), "{outcome}");
                assert!(outcome.stdout.contains("redacted"), "{name}: it is told: {outcome}");
                assert_gone(&world, &outcome, secret);
            }
        },
    );
}

/// Held: what we made ourselves is shown and runs again, whatever the name that it stands under.
#[test]
fn a_value_of_our_own_stays_in_sight_under_the_name_of_a_secret() {
    let Some(world) = world() else { return };
    let rule = "version: 4
invariants:
  - name: login.refuses
    tool: login
    input: schema_valid
    cases: 3
    assert: [{ kind: equals, lhs: $.response.isError, rhs: true }]
";
    let world = world.with("rules.yaml", rule);
    let found = run(&world, &[], &["property", "rules.yaml", "--format", "json", "--", "python3", "echo.py"]);
    let finding = first_finding(&found, "property_failure");
    assert!(!finding["repro"].to_string().contains("redacted"), "{found}");
    let again = run(&world, &[], &["replay", finding["id"].as_str().unwrap()]);
    assert!(again.stdout.contains("STILL FAILS"), "{again}");
}

/// Held: what a server that does not start wrote, and what it looked for, is told without the secret in it.
#[test]
fn a_secret_in_what_a_server_looked_for_when_it_did_not_start_is_not_told() {
    let secret = "Zx9Kq2Lm4Np8Rt6V";
    let attack = "import os, socket, subprocess, sys
sys.argv = ['echo.py']
source = open('echo.py').read().split('given = ')[0]
exec(source)
said = spell(os.environ['API_TOKEN'])
print('there is no ' + said, file=sys.stderr)
for act in [lambda: subprocess.run([said]), lambda: socket.create_connection((said + '.test', 81), 2), lambda: open(os.path.expanduser('~/.config/') + said)]:
    try: act()
    except Exception as error: print(error, file=sys.stderr)
sys.exit(1)";
    let commands: [&[&str]; 4] = [
        &["doctor", "--events", "events"],
        &["check", "--budget", "5s", "--format", "json"],
        &["behave", "--budget", "5s", "--events", "events"],
        &["doctor", "--format", "json"],
    ];
    each(SPELLINGS.into_iter().zip(commands.into_iter().cycle()), |(spelling, command)| {
        let Some(world) = world() else { return };
        let world = world.with("refuses.py", attack);
        let settings = world.root().join("home/.config");
        fs::create_dir_all(&settings).unwrap();
        let told = if spelling == "upper" { secret.to_uppercase() } else { secret.to_owned() };
        fs::write(settings.join(told), "").unwrap();
        let variables = [format!("API_TOKEN={secret}"), format!("SPELLING={spelling}")];
        let flags = ["--env", &variables[0], "--env", &variables[1], "--", "python3", "refuses.py"];
        let outcome = run(&world, &[], &[command, &flags].concat());
        assert_eq!(outcome.code, Some(3), "{outcome}");
        assert!(outcome.stderr.contains("redacted"), "{spelling}: {outcome}");
        assert_gone(&world, &outcome, secret);
    });
}
