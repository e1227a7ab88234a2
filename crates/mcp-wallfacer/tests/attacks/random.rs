//! A random secret in every place that can hold one: whatever a server writes it like, no command prints or keeps it.

use std::collections::BTreeSet;

use crate::lanes::each;
use crate::redaction::{SPELLINGS, assert_gone, rules, run, world};
use crate::world::World;

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
const COMMANDS: [(&str, &str); 15] = [
    ("doctor", "human"),
    ("doctor", "json"),
    ("torture", "human"),
    ("check", "human"),
    ("fuzz", "json"),
    ("property", "sarif"),
    ("property", "human"),
    ("behave", "json"),
    ("behave --show-noise --out-dir kept", "human"),
    ("lock --calls 1", "human"),
    ("suggest", "json"),
    ("coverage", "human"),
    ("fuzz --dry-run", "human"),
    ("ci", "human"),
    ("differential --learn", "human"),
];

/// Those that write all forms of a report at once.
const RUNS: [&str; 6] = ["torture", "check", "fuzz", "property", "behave", "ci"];

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
            // Each has its turn, with other commands in each place.
            let spelling = SPELLINGS[(nth * 8 + number) % SPELLINGS.len()];
            let mut args: Vec<String> = command.split(' ').map(str::to_owned).collect();
            match args[0].as_str() {
                "check" | "behave" | "torture" => args.extend(["--budget", "3s"].map(str::to_owned)),
                "ci" => args.extend(
                    ["--iterations", "3", "--budget", "3s", "--accept", "because"].map(str::to_owned),
                ),
                "differential" if place != "against" => {
                    args.extend(["--iterations", "3", "--budget", "5s"].map(str::to_owned));
                }
                "fuzz" if command != "fuzz" => {}
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
            if RUNS.contains(&command) || place == "against" {
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
        let id = stored_findings(&world).pop_first().unwrap_or_default();
        for typed in [
            "corpus list",
            "corpus list --format json",
            "corpus replay --all --format json --events again",
            &format!("corpus show {id}"),
            &format!("explain {id}"),
            &format!("replay {id} --trust --show-payload"),
            &format!("corpus minimize {id} --trust --budget 2s"),
            "diff .wallfacer/corpus .wallfacer/corpus",
            "merge report.json",
            "report",
            "report --format html",
            "report --format agent",
        ] {
            let mut given: Vec<(&str, &str)> =
                variables.iter().map(|(name, value)| (&**name, &**value)).collect();
            given.extend([("SPELLING", "plain"), ("WALLFACER_REPLAY_PASSWORD", &secret)]);
            let outcome = run(&world, &given, &typed.split(' ').collect::<Vec<_>>());
            assert!(matches!(outcome.code, Some(0..=3)), "{place}: {outcome}");
            assert_gone(&world, &outcome, &secret);
        }
    });
}

fn stored_findings(world: &World) -> BTreeSet<String> {
    let stored = world.files().into_iter().filter(|file| file.starts_with(".wallfacer/corpus/"));
    stored.map(|file| file.rsplit('/').next().unwrap().trim_end_matches(".json").to_owned()).collect()
}
