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
const SPELLINGS: [&str; 15] = [
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
fn rules(word: &str) -> String {
    RULES.replace("WORD", &serde_json::Value::from(word).to_string())
}

/// A world with the server, where there is a Python.
fn world() -> Option<World> {
    let mut python = Command::new("python3");
    python.env("PATH", crate::world::SYSTEM_PATH).arg("--version").stdout(Stdio::null());
    require("python3", python.status().ok().filter(|status| status.success()))?;
    Some(World::new().with("echo.py", ECHO))
}

fn run(world: &World, variables: &[(&str, &str)], args: &[&str]) -> Outcome {
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
fn assert_gone(world: &World, outcome: &Outcome, secret: &str) {
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

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn word(&mut self, letters: &str, least: usize) -> String {
        let length = least + self.below(24);
        (0..length).map(|_| char::from(letters.as_bytes()[self.below(letters.len())])).collect()
    }
}

const ALPHABETS: [&str; 4] = [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHJKLMNPQRSTUVWXYZ23456789",
    "0123456789abcdef",
    "aZ3-_.~+/=%&<;:@?#",
];

/// Forms of a report that are written beside the main one.
const FORMATS: [&str; 9] =
    ["human", "json", "sarif", "junit", "markdown", "github", "gitlab", "html", "agent"];

/// Commands and the forms of their reports, with all others beside them.
const COMMANDS: [(&str, &str); 8] = [
    ("doctor", "human"),
    ("doctor", "json"),
    ("torture", "human"),
    ("check", "human"),
    ("fuzz", "json"),
    ("property", "sarif"),
    ("property", "human"),
    ("behave", "json"),
];

/// The same for a secret of the other server in a comparison.
const COMPARISONS: [(&str, &str); 3] =
    [("differential", "human"), ("differential", "json"), ("differential", "sarif")];

/// Was open: hexadecimal, base64 with a name before it, other letter case, backwards, and every escape but JSON's.
///
/// A random secret in each place that can hold one, told by the server in a random way, and searched for in all that
/// runs of all kinds leave behind.
#[test]
fn a_random_secret_in_any_place_and_any_spelling_is_in_no_output() {
    let places = [
        "variable",
        "inherited",
        "flag",
        "word",
        "url",
        "config",
        "client",
        "rule",
        "parameter",
        "header",
        "against",
    ];
    each(places.into_iter().enumerate(), |(nth, place)| {
        let mut dice = Dice(20_261_117 + nth as u64);
        let Some(world) = world() else { return };
        let alphabet = ALPHABETS[dice.below(ALPHABETS.len())];
        let secret = match place {
            // By its form alone, only such a word is known as a secret.
            "word" => format!("ghp_{}", dice.word(ALPHABETS[1], 20)),
            "url" => dice.word(ALPHABETS[2], 12),
            _ => format!("s{}e", dice.word(alphabet, 8)),
        };
        let mut flags: Vec<String> = Vec::new();
        let mut words: Vec<String> = Vec::new();
        let mut variables: Vec<(String, String)> = Vec::new();
        let mut world =
            world.with("rules.yaml", &rules(if place == "rule" { &secret } else { "just-a-word" }));
        match place {
            "variable" => flags.extend(["--env".to_owned(), format!("API_TOKEN={secret}")]),
            "inherited" => variables.push(("OUR_API_TOKEN".to_owned(), secret.clone())),
            "flag" => words.extend(["--api-key".to_owned(), secret.clone()]),
            "word" => words.push(secret.clone()),
            "url" => words.push(format!("https://ada:{secret}@db.invalid/x")),
            "header" => {
                flags.extend(["--url", "http://127.0.0.1:8123/mcp", "--header"].map(str::to_owned));
                flags.push(format!("X-Api-Key: {secret}"));
                words.extend(["--http", "8123"].map(str::to_owned));
            }
            "against" => {
                let other = format!("python3 echo.py --api-key '{secret}'");
                flags.extend(["--against".to_owned(), other, "--iterations".to_owned(), "12".to_owned()]);
            }
            "config" => {
                let value = serde_json::Value::from(secret.as_str());
                let spelling = "${SPELLING}";
                world = world.with(
                    "wallfacer.toml",
                    &format!("[target]\ncommand = \"python3\"\nargs = [\"echo.py\"]\nenv = {{ API_TOKEN = {value}, SPELLING = \"{spelling}\" }}\n"),
                );
            }
            "client" => {
                let env = serde_json::json!({"API_TOKEN": secret, "SPELLING": "${SPELLING}"});
                let server = serde_json::json!({"command": "python3", "args": ["echo.py"], "env": env});
                let file = serde_json::json!({"mcpServers": {"echo": server}});
                world = world.with(".mcp.json", &file.to_string());
                flags.extend(["--server", "echo"].map(str::to_owned));
            }
            _ => {}
        }
        let parameter = ["--param".to_owned(), format!("word={secret}")];
        let parameter = if place == "parameter" { &parameter[..] } else { &[] };
        let mut is_told = false;
        let commands = if place == "against" { &COMPARISONS[..] } else { &COMMANDS };
        for (number, &(command, format)) in commands.iter().enumerate() {
            // Each has its turn, more than once.
            let spelling = SPELLINGS[(nth * COMMANDS.len() + number) % SPELLINGS.len()];
            let mut args: Vec<String> = vec![command.to_owned()];
            match command {
                "check" | "behave" | "torture" => args.extend(["--budget", "3s"].map(str::to_owned)),
                "fuzz" => args
                    .extend(["--iterations", "12", "--budget", "3s", "--corpus-feedback"].map(str::to_owned)),
                "property" => {
                    args.push("rules.yaml".to_owned());
                    args.extend_from_slice(parameter);
                }
                _ => {}
            }
            args.extend(["--format", format, "--events", "events"].map(str::to_owned));
            if number % 2 == 1 {
                args.extend(["-o", "report"].map(str::to_owned));
            }
            args.extend_from_slice(&flags);
            if command != "doctor" {
                let beside = FORMATS.map(|format| format!("--report={format}=report.{format}"));
                args.extend(beside);
            }
            if place != "config" && place != "client" {
                args.extend(["--env".to_owned(), format!("SPELLING={spelling}")]);
                args.extend(["--", "python3", "echo.py"].map(str::to_owned));
                args.extend_from_slice(&words);
            }
            let mut given: Vec<(&str, &str)> =
                variables.iter().map(|(name, value)| (&**name, &**value)).collect();
            given.push(("SPELLING", spelling));
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let outcome = run(&world, &given, &args);
            assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{place}, {spelling}: {outcome}");
            assert_gone(&world, &outcome, &secret);
            is_told |= outcome.stdout.contains("redacted");
        }
        assert!(is_told, "{place}: nothing shows that there was a secret");
        let written = world.files();
        let missing: Vec<&str> =
            FORMATS.into_iter().filter(|format| !written.contains(&format!("report.{format}"))).collect();
        assert_eq!(missing, [""; 0], "{place}");
        assert!(written.iter().any(|file| file.starts_with(".wallfacer/runs/")), "{place}: {written:?}");
        // What was kept is shown and tried once more.
        for typed in [
            "corpus list",
            "corpus list --format json",
            "corpus replay --all --format json --events again",
            "report",
            "report --format html",
            "report --format agent",
        ] {
            let mut given: Vec<(&str, &str)> =
                variables.iter().map(|(name, value)| (&**name, &**value)).collect();
            given.extend([("SPELLING", "plain"), ("WALLFACER_REPLAY_PASSWORD", &secret)]);
            let outcome = run(&world, &given, &typed.split(' ').collect::<Vec<_>>());
            assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{place}: {outcome}");
            assert_gone(&world, &outcome, &secret);
        }
    });
}
