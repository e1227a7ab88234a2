//! What loads, what it then means, and every message a wrong file gets.

use super::keys::{KEYS, SECTIONS};
use super::*;
use crate::target::{Command, EndpointKind, Inherit, Version};
use std::fmt::Write as _;

fn parse(text: &str) -> Result<FileConfig, ConfigError> {
    let source = Source { path: CONFIG_NAME.into(), text: text.into() };
    let variable = |name: &str| match name {
        "TOKEN" => Some("hunter2-from-outside".to_owned()),
        "HOME" => Some("/home/ada".to_owned()),
        _ => None,
    };
    FileConfig::parse(&source, Path::new("/project/wallfacer.toml"), &variable)
}

fn command(config: &FileConfig) -> &Command {
    config.reach.as_ref().and_then(Reach::command).expect("the file names a command")
}

const EVERY_KEY: &str = r#"
[target]
kind = "http"
command = "./bin/server"
args = ["./data", "${HOME}/x", "cost: $5", "$${HOME}"]
env = { TOKEN = "${TOKEN}", MODE = "test" }
env_clear = true
env_pass = ["PATH"]
cwd = "sub/./dir"
roots = ["data"]
url = "http://localhost:8000/mcp"
headers = { Zebra = "1", Authorization = "Bearer ${TOKEN}" }
transport = "sse"
protocol = "2025-06-18"
timeout_ms = 1000
startup_timeout_ms = 2_000
probe_timeout_ms = 0xBB8
max_line_bytes = 4096

[target.tool_timeouts_ms]
slow_report = 60000

[sandbox]
mode = "require"
net = "allow=db.internal:5432"
require = ["observe"]
keep = ["~/.config/app", "data"]

[output]
corpus_dir = "found"
lock_timeout_ms = 1

[severity]
hang = "Medium"
"rule:auth.whoami" = "low"
"tool:slow_report.hang" = "low"

[allow_destructive]
tools = ["^logs_.*$"]

[behave]
noise = ["read /srv/models/**"]
noise_files = ["quiet.txt"]

[destructive]
patterns = ["^zap"]
replace_defaults = true

[differential]
ignore = ["$..time"]

[isolation]
shared = true

[rules]
files = ["rules/mine.yaml"]

[packs.auth]
whoami_tool = "me"
retries = 3
"#;

#[test]
fn every_key_is_read_and_means_what_it_says() {
    let config = parse(EVERY_KEY).unwrap();
    let command = command(&config);
    assert_eq!(command.program, "/project/bin/server");
    assert_eq!(command.args, ["./data", "/home/ada/x", "cost: $5", "${HOME}"]);
    assert_eq!(command.cwd.as_deref(), Some(Path::new("/project/sub/dir")));
    assert_eq!(command.environment.inherit, Inherit::Only(vec!["PATH".into()]));
    assert_eq!(command.environment.set["TOKEN"], "hunter2-from-outside");
    let endpoint = config.reach.as_ref().and_then(Reach::endpoint).unwrap();
    assert_eq!(endpoint.headers[0].0, "Zebra");
    assert_eq!(endpoint.headers[1], ("Authorization".into(), "Bearer hunter2-from-outside".into()));
    assert_eq!(endpoint.kind, EndpointKind::LegacySse);
    assert_eq!(config.roots, [Path::new("/project/data")]);
    assert_eq!(config.protocol, Protocol::Fixed(Version::V2025_06_18));
    assert_eq!(config.timeouts.call, Duration::from_secs(1));
    assert_eq!(config.timeouts.startup, Duration::from_secs(2));
    assert_eq!(config.timeouts.probe, Duration::from_secs(3));
    assert_eq!(config.timeouts.for_tool("slow_report"), Duration::from_secs(60));
    assert_eq!(config.bounds.line_bytes, 4096);
    assert_eq!(config.sandbox.confine, Some(Confine::Require));
    assert_eq!(config.sandbox.net, Net::parse("allow=db.internal:5432"));
    assert_eq!(config.sandbox.required, Required { observe: true, confine: false });
    assert_eq!(config.sandbox.keep, [Path::new("~/.config/app"), Path::new("/project/data")]);
    let settings = &config.settings;
    assert_eq!(settings.corpus_directory, Path::new("/project/found"));
    assert_eq!(settings.severity("hang", None, None), Some(Severity::Medium));
    assert_eq!(settings.noise, ["read /srv/models/**"]);
    assert_eq!(settings.noise_files, [Path::new("/project/quiet.txt")]);
    assert!(settings.destructive.allowed[0].is_match("logs_delete"));
    assert!(settings.destructive.patterns[0].is_match("zap_all"));
    assert!(settings.destructive.replace_defaults);
    assert_eq!(settings.ignore, [Pattern::parse("$..time").unwrap()]);
    assert_eq!(settings.packs["auth"]["retries"], "3");
    assert_eq!(settings.shared, Some(true));
    assert_eq!(settings.rule_files, Some(vec!["/project/rules/mine.yaml".into()]));
    assert_eq!(config.from_environment.into_iter().collect::<Vec<_>>(), ["hunter2-from-outside"]);
}

#[test]
fn the_example_above_holds_every_key_there_is() {
    let given: toml::Table = EVERY_KEY.parse().unwrap();
    let missing: Vec<_> =
        KEYS.iter().filter(|key| given[key.section].get(key.name).is_none()).map(|key| key.name).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(SECTIONS.iter().all(|(section, _)| given.contains_key(*section)));
}

/// A key that the loader forgot would take any value.
#[test]
fn every_key_refuses_a_value_of_another_type() {
    for key in KEYS {
        let wrong = format!("[{}]\n{} = 1979-05-27\n", key.section, key.name);
        let Err(ConfigError::Wrong(problems)) = parse(&wrong) else { panic!("`{}` took a date", key.name) };
        assert!(problems.iter().any(|problem| problem.message.contains("and is a date")), "{problems:?}");
    }
}

#[test]
fn an_empty_file_is_all_defaults() {
    let config = parse("").unwrap();
    assert_eq!(config.reach, None);
    assert_eq!(config.timeouts, Timeouts::default());
    assert_eq!(config.bounds, Bounds::default());
    assert_eq!(config.settings.corpus_directory, Path::new("/project/.wallfacer/corpus"));
}

#[test]
fn the_defaults_in_the_table_are_the_defaults_in_the_code() {
    let number =
        |name: &str| KEYS.iter().find(|key| key.name == name).unwrap().default.parse::<u64>().unwrap();
    let defaults = parse("").unwrap();
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap();
    assert_eq!(number("timeout_ms"), milliseconds(defaults.timeouts.call));
    assert_eq!(number("startup_timeout_ms"), milliseconds(defaults.timeouts.startup));
    assert_eq!(number("probe_timeout_ms"), milliseconds(defaults.timeouts.probe));
    assert_eq!(number("max_line_bytes"), defaults.bounds.line_bytes as u64);
}

#[test]
fn the_choices_in_the_table_are_those_in_the_code() {
    let versions: Vec<_> = std::iter::once("auto").chain(Version::ALL.map(Version::as_str)).collect();
    assert_eq!(keys::PROTOCOLS, versions);
    assert_eq!(keys::SEVERITIES, Severity::ALL.map(Severity::as_str));
    assert!(keys::TRANSPORTS.iter().all(|name| EndpointKind::parse(name).is_some()));
}

#[test]
fn a_command_without_a_slash_is_left_to_the_path() {
    let config =
        parse("[target]\nkind = \"stdio\"\ncommand = \"python3\"\nargs = [\"server.py\"]\n").unwrap();
    assert_eq!(command(&config).program, "python3");
    assert_eq!(command(&config).args, ["server.py"]);
    assert_eq!(command(&config).cwd.as_deref(), Some(Path::new("/project")));
}

#[test]
fn placeholders_in_comments_and_keys_are_left_alone() {
    let text = "# ${UNSET}\n[target]\ncommand = 'x'\nenv = { \"${UNSET}\" = 'y' } # ${\n";
    assert_eq!(command(&parse(text).unwrap()).environment.set["${UNSET}"], "y");
}

#[test]
fn every_wrong_file_is_told_what_and_where() {
    let wrong = [
        ("an unknown key", "[target]\ncomand = \"node\"\n"),
        ("an unknown key unlike any other", "[output]\ncolour = true\n"),
        ("an unknown table", "[targt]\ncommand = \"node\"\n"),
        ("a wrong type", "[target]\ncommand = \"node\"\nargs = \"server.js\"\ntimeout_ms = \"5s\"\n"),
        ("a wrong entry of a list", "[target]\ncommand = \"node\"\nargs = [\"-v\", 5]\n"),
        ("a table that is none", "target = \"node\"\n"),
        ("a choice that is none", "[target]\ncommand = \"node\"\nprotocol = \"2025-06-19\"\n"),
        ("a time of nothing", "[target]\ncommand = \"node\"\ntimeout_ms = 0\n"),
        (
            "a tool's time that is no number",
            "[target]\ncommand = \"node\"\n[target.tool_timeouts_ms]\nslow = true\n",
        ),
        ("an unset variable", "[target]\ncommand = \"node\"\nargs = [\"--key\", \"ä ${API_KEY}\"]\n"),
        ("an unfinished placeholder", "[target]\ncommand = \"${NODE\"\n"),
        ("a placeholder without a name", "[target]\ncommand = \"${}\"\n"),
        ("an unset variable behind an escape", "[target]\ncommand = \"\\u0024{API_KEY}\"\n"),
        ("a wrong pattern", "[destructive]\npatterns = [\"ok\", \"wipe(\"]\n"),
        ("a path that is none", "[differential]\nignore = [\"$..id\", \"$.a[?@.b]\", \"time\"]\n"),
        ("a wrong severity", "[severity]\nhang = \"severe\"\ncrsh = \"low\"\n\"tool:slow\" = \"low\"\n"),
        ("a pack parameter that is a list", "[packs.auth]\nwhoami_tool = [\"a\"]\n"),
        ("a bad address", "[target]\nurl = \"localhost:8000/mcp\"\n"),
        ("an address of another kind", "[target]\nurl = \"ftp://ada:hunter2@host/?key=hunter2\"\n"),
        ("a bad header", "[target]\nurl = \"http://host/\"\nheaders = { \"X Token\" = \"hunter2\" }\n"),
        (
            "a bad header value",
            "[target]\nurl = \"http://host/\"\nheaders = { Token = \"hunter2\\nX: y\" }\n",
        ),
        ("http without an address", "[target]\nkind = \"http\"\n"),
        ("stdio without a command", "[target]\nkind = \"stdio\"\nargs = []\n"),
        ("stdio with an address", "[target]\nkind = \"stdio\"\ncommand = \"node\"\nurl = \"http://host/\"\n"),
        ("an empty command", "[target]\ncommand = \" \"\n"),
        ("headers without an address", "[target]\ncommand = \"node\"\nheaders = {}\n"),
        ("a variable that cannot be", "[target]\ncommand = \"node\"\nenv = { \"A=B\" = \"c\" }\n"),
        ("what is no TOML, twice", "[target]\ncommand = node\nargs = [\n"),
        ("a kept path that is empty", "[sandbox]\nkeep = [\"~/.config/app\", \"\"]\n"),
        ("a kept path that is none", "[sandbox]\nkeep = \"~/.config/app\"\n"),
        ("a key given twice", "[target]\ncommand = \"node\"\ncommand = \"deno\"\n"),
        (
            "a secret on the same line",
            "[target]\nurl = 'http://h/'\nheaders = { Authorization = \"hunter2\", X = 1 }\n",
        ),
    ];
    let mut messages = String::new();
    for (what, text) in wrong {
        let error = parse(text).expect_err(what);
        writeln!(messages, "# {what}\n{error}\n").unwrap();
    }
    assert!(!messages.contains("hunter2"), "{messages}");
    insta::assert_snapshot!(messages);
}

#[test]
fn a_file_that_is_cut_or_garbled_anywhere_is_read_or_refused() {
    for (at, _) in EVERY_KEY.char_indices() {
        let (before, after) = EVERY_KEY.split_at(at);
        for text in [before.to_owned(), format!("{before}ä{after}"), format!("{before}\"${{{after}")] {
            if let Err(error) = parse(&text) {
                assert!(error.to_string().contains(" | "), "{error}");
            }
        }
    }
}

#[test]
fn the_nearest_file_up_to_the_repository_root_is_found() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("repository/a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let look = |directory: &Path| {
        let around = Surroundings { directory, home: None, variable: &|_| None };
        FileConfig::find(None, &around).unwrap().map(|config| config.path)
    };
    std::fs::write(root.path().join(CONFIG_NAME), "").unwrap();
    assert_eq!(look(&deep), None, "outside of a repository the parents are not looked at");
    std::fs::create_dir(root.path().join("repository/.git")).unwrap();
    assert_eq!(look(&deep), None, "above the repository nothing is looked at");
    let outer = root.path().join("repository").join(CONFIG_NAME);
    std::fs::write(&outer, "").unwrap();
    assert_eq!(look(&deep), Some(outer));
    let inner = deep.join(CONFIG_NAME);
    std::fs::write(&inner, "").unwrap();
    assert_eq!(look(&deep), Some(inner));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let around = Surroundings { directory: directory.path(), home: None, variable: &|_| None };
    std::fs::write(directory.path().join("binary.toml"), [0xff, 0xfe]).unwrap();
    let messages: Vec<_> = ["absent.toml", "binary.toml"]
        .map(|name| FileConfig::find(Some(Path::new(name)), &around).unwrap_err().to_string())
        .into();
    insta::assert_snapshot!(messages.join("\n"));
}

mod described {
    use super::*;

    /// Where the repository keeps what is made from the table of keys.
    fn kept(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
    }

    #[test]
    fn the_json_schema_in_the_repository_is_the_one_we_make() {
        let made = serde_json::to_string_pretty(&config_schema()).unwrap() + "\n";
        let path = kept("schemas/config.schema.json");
        #[allow(clippy::disallowed_methods, reason = "the developer asks for the file to be written")]
        if std::env::var_os("WALLFACER_BLESS").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, made, "run this test once with WALLFACER_BLESS=1");
    }

    #[test]
    fn the_page_about_the_configuration_holds_the_table_we_make() {
        let page = std::fs::read_to_string(kept("docs/config.md")).unwrap();
        assert!(page.contains(&config_reference()), "put this into docs/config.md:\n{}", config_reference());
    }

    #[test]
    fn the_example_agrees_with_the_json_schema() {
        let given: toml::Table = EVERY_KEY.to_lowercase().parse().unwrap();
        let schema = config_schema();
        for (section, keys) in &given {
            let known = &schema["properties"][section];
            for (key, value) in keys.as_table().unwrap() {
                let wanted = &known["properties"][key];
                let fits = match wanted["type"].as_str() {
                    Some("string") => value.is_str(),
                    Some("boolean") => value.is_bool(),
                    Some("integer") => value.is_integer(),
                    Some("array") => value.is_array(),
                    Some("object") => value.is_table(),
                    _ => wanted["enum"].is_array() || known["additionalProperties"].is_object(),
                };
                assert!(fits, "{section}.{key}");
            }
        }
    }
}
