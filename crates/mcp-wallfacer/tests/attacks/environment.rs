//! What of the user reaches a server: variables, and files of the home.

use std::fs;
use std::path::PathBuf;

use crate::lanes::each;
use crate::ways::{Way, lower_rungs, ways};
use crate::world::{Outcome, World};

/// A server that looks around when it is started, by the shell commands in `look`, and tells what it saw as its
/// instructions; what it tells is one line without quotes.
fn server(look: &str) -> String {
    format!(
        r#"seen=$({{ {look}
}} 2>&1 | tr '"\\\n' "'/ ")
while read -r line; do
  id=${{line#*'"id":'}}; id=${{id%%[,\}}]*}}
  case $line in
    *'"initialize"'*) result='{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"looks-around","version":"1"}},"instructions":"'$seen'"}}' ;;
    *'"tools/list"'*) result='{{"tools":[{{"name":"look","inputSchema":{{"type":"object"}}}}]}}' ;;
    *'"tools/call"'*) result='{{"content":[{{"type":"text","text":"'$seen'"}}]}}' ;;
    *'"notifications/'*) continue ;;
    *) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"error":{{"code":-32601,"message":"no"}}}}'; continue ;;
  esac
  printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"result":'"$result"'}}'
done
"#
    )
}

/// A world with a server that looks around.
fn world(look: &str) -> World {
    World::new().with("server.sh", &server(look))
}

fn home(world: &World) -> PathBuf {
    world.root().join("home")
}

fn put(world: &World, name: &str, text: &str) -> PathBuf {
    let path = home(world).join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// What the server saw, by `doctor`, with these variables and flags.
fn seen(way: &Way, world: &World, variables: &[(&str, &str)], flags: &[&str]) -> (String, Outcome) {
    let args = [&["doctor", "--format", "json"], flags, &["--", "sh", "server.sh"]].concat();
    let mut command = way.command(world, &args);
    command.envs(variables.iter().copied());
    let outcome = world.finish(command);
    assert_eq!(outcome.code, Some(0), "{way:?}: {outcome}");
    let told = outcome.json()["server"]["instructions"].as_str().unwrap().trim().to_owned();
    (told, outcome)
}

/// Was open: there was no way to show one file of the home, so servers that need one were run without the sandbox.
#[test]
fn what_is_kept_is_seen_and_can_be_written_and_does_not_change() {
    each(ways(), |way| {
        let world = world(
            "cat ~/.config/app/settings; echo changed > ~/.config/app/settings; cat ~/.config/app/settings; \
             cat ~/.config/app/new ~/.config/other/token ~/diary",
        );
        let settings = put(&world, ".config/app/settings", "the-settings");
        put(&world, ".config/other/token", "the-token");
        put(&world, "diary", "the-diary");
        let (told, outcome) = seen(&way, &world, &[], &["--keep", "../home/.config/app"]);
        assert!(told.starts_with("the-settings"), "{way:?}: {told}");
        assert!(told.contains("changed"), "{way:?}: {told}");
        assert!(!told.contains("the-token") && !told.contains("the-diary"), "{way:?}: {told}");
        assert_eq!(fs::read_to_string(settings).unwrap(), "the-settings", "{way:?}");
        let access = &outcome.json()["sandbox"]["access"];
        assert_eq!(access["kept"], serde_json::json!(["~/.config/app"]), "{way:?}: {outcome}");
        assert_eq!(access["readable_secrets"], serde_json::json!([]), "{way:?}: {outcome}");
    });
}

/// Was open: the same.
#[test]
fn a_kept_file_shows_nothing_beside_it_and_no_canary_lies_over_it() {
    each(ways(), |way| {
        let world = world("cat ~/.kube/config; ls -A ~/.kube ~/work; cat ~/work/a");
        put(&world, ".kube/config", "the-cluster");
        put(&world, ".kube/cache", "beside");
        put(&world, "work/a", "the-work");
        put(&world, "work/sibling", "beside-too");
        let flags = ["--keep", "~/.kube/config", "--keep", "~/work/a"];
        let (told, outcome) = seen(&way, &world, &[], &flags);
        assert!(told.contains("the-cluster") && told.contains("the-work"), "{way:?}: {told}");
        assert!(!told.contains("cache") && !told.contains("sibling"), "{way:?}: {told}");
        let access = &outcome.json()["sandbox"]["access"];
        assert_eq!(access["readable_secrets"], serde_json::json!(["~/.kube/config"]), "{way:?}: {outcome}");
    });
}

/// New, and no attack: `--keep` did not exist.
#[test]
fn all_of_the_home_can_be_kept_and_that_is_told() {
    each(ways(), |way| {
        let world = world("cat ~/.netrc ~/diary; rm ~/diary");
        put(&world, ".netrc", "the-netrc");
        let diary = put(&world, "diary", "the-diary");
        let (told, outcome) = seen(&way, &world, &[], &["--keep", "~"]);
        assert!(told.contains("the-netrc") && told.contains("the-diary"), "{way:?}: {told}");
        assert!(diary.exists(), "{way:?}");
        let told = outcome.json()["sandbox"]["access"].to_string();
        assert!(told.contains("all of the home directory is kept") && told.contains("~/.netrc"), "{told}");
    });
}

/// New: the same.
#[test]
fn a_lower_rung_shows_what_is_kept_and_nothing_else() {
    each(lower_rungs().into_iter().filter(|(lacks, _)| !lacks.contains("landlock")), |(lacks, way)| {
        let world = world("cat ~/.config/app/settings; cat ../home/diary");
        put(&world, ".config/app/settings", "the-settings");
        put(&world, "diary", "the-diary");
        let (told, _) = seen(&way, &world, &[], &["--keep", "~/.config/app"]);
        assert!(told.starts_with("the-settings"), "{lacks} {way:?}: {told}");
        assert!(!told.contains("the-diary"), "{lacks} {way:?}: {told}");
    });
}

/// Real keys, by the names and in the forms that people have them.
const KEYS: [(&str, &str); 6] = [
    ("AWS_ACCESS_KEY_ID", "AKIAQ3EGRTWVXAMBLEZZ"),
    ("AWS_SECRET_ACCESS_KEY", "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"),
    ("GITHUB_TOKEN", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("PLAIN_NAME", "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12"),
    ("DATABASE_URL", "postgres://ada:Hunter2Hunter2@db.internal:5432/app"),
    ("SERVICE_JSON", r#"{"user":"ada","client_secret":"GOCSPX-a1b2c3d4e5f6g7h8"}"#),
];

/// What of each key is the secret: none of it may be anywhere.
const SECRETS: [&str; 6] = [
    "AKIAQ3EGRTWVXAMBLEZZ",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzAMPLqKEY",
    "16C7e42F292c6912E7710c838347Ae178B4a",
    "Ab12Cd34Ef56Gh78Ij90Kl12",
    "Hunter2Hunter2",
    "a1b2c3d4e5f6g7h8",
];

/// Turns what a server sees into something that no redaction knows: each letter is followed by a bar.
const BARRED: &str = "env | sed 's/./&|/g'";

fn barred(text: &str) -> String {
    text.chars().flat_map(|letter| [letter, '|']).collect()
}

/// Was open: the whole environment of the user reached the server, cloud keys included.
#[test]
fn real_keys_of_the_environment_do_not_reach_a_confined_server() {
    let lower = lower_rungs().into_iter().filter(|(lacks, _)| !lacks.contains("landlock"));
    each(ways().into_iter().chain(lower.map(|(_, way)| way)), |way| {
        let world = world(BARRED);
        let (told, outcome) = seen(&way, &world, &KEYS, &[]);
        for (secret, (name, value)) in SECRETS.iter().zip(KEYS) {
            assert!(!told.contains(&barred(secret)), "{way:?}: {name} is in {told}");
            let held =
                told.split(&barred(&format!("{name}="))).nth(1).unwrap_or_else(|| panic!("{name}: {told}"));
            let held: String = held.chars().step_by(2).take(value.len()).collect();
            assert_eq!(held.len(), value.len(), "{way:?}: {name}");
            let sort = |letter: char| (letter.is_ascii_digit(), letter.is_lowercase(), letter.is_uppercase());
            assert!(held.chars().map(sort).eq(value.chars().map(sort)), "{way:?}: {name}: {held}");
            let beginning = ["AKIA", "ghp_", "sk-proj-", "postgres://ada:"];
            let kept = beginning
                .iter()
                .all(|beginning| !value.starts_with(beginning) || held.starts_with(beginning));
            assert!(kept, "{way:?}: {name}: {held}");
        }
        let mut replaced: Vec<_> = KEYS.map(|(name, _)| name).into();
        replaced.sort_unstable();
        let access = &outcome.json()["sandbox"]["access"];
        assert_eq!(access["replaced"], serde_json::json!(replaced), "{way:?}: {outcome}");
    });
}

/// No attack: what was named is given, because the user said so.
#[test]
fn a_key_that_is_named_reaches_the_server_as_it_is() {
    each(ways(), |way| {
        let world = world(BARRED);
        let flags = ["--env-pass", "GITHUB_TOKEN", "--env", "OTHER_TOKEN=ghp_named-by-somebody"];
        let (told, outcome) = seen(&way, &world, &KEYS, &flags);
        assert!(told.contains(&barred(KEYS[2].1)), "{way:?}: {told}");
        assert!(told.contains(&barred("OTHER_TOKEN=ghp_named-by-somebody")), "{way:?}: {told}");
        assert!(!told.contains(&barred(SECRETS[1])), "{way:?}: {told}");
        assert!(!outcome.json()["sandbox"]["access"].to_string().contains("GITHUB_TOKEN"), "{outcome}");
    });
}

/// No attack: there is nothing to hide it behind.
#[test]
fn a_server_that_is_not_confined_has_the_environment_as_it_is() {
    each(ways(), |way| {
        let world = world(BARRED);
        let (told, outcome) = seen(&way, &world, &KEYS, &["--sandbox", "off"]);
        assert!(told.contains(&barred(KEYS[1].1)), "{way:?}: {told}");
        assert_eq!(outcome.json()["sandbox"]["access"]["replaced"], serde_json::json!([]), "{outcome}");
    });
}

/// Was open: a leak of an inherited secret that was tried again without the variable was said to be fixed.
#[test]
fn a_leaked_look_alike_is_a_finding_that_replays_with_its_variable_and_not_without_and_no_real_key_is_kept() {
    each(ways(), |way| {
        let world = world("echo token $GITHUB_TOKEN");
        let args = [
            "fuzz",
            "--seed",
            "7",
            "--budget",
            "60s",
            "--iterations",
            "4",
            "--format",
            "json",
            "--",
            "sh",
            "server.sh",
        ];
        let mut command = way.command(&world, &args);
        command.envs(KEYS);
        let outcome = world.finish(command);
        assert_eq!(outcome.code, Some(1), "{way:?}: {outcome}");
        let report = outcome.json();
        let finding = report["findings"].as_array().unwrap().iter().find(|finding| {
            finding["kind"]["type"] == "secret_leak"
                && finding["message"].to_string().contains("`GITHUB_TOKEN`")
        });
        let finding = finding.unwrap_or_else(|| panic!("{way:?}: {outcome}"));
        assert_eq!(report["run"]["access"]["replaced"].as_array().unwrap().len(), KEYS.len(), "{outcome}");
        let id = finding["id"].as_str().unwrap();
        for name in world.files() {
            let kept = fs::read(world.here().join(&name)).unwrap();
            let kept = String::from_utf8_lossy(&kept);
            assert!(!SECRETS.iter().any(|secret| kept.contains(secret)), "{way:?}: {name}");
        }
        let mut command = way.command(&world, &["replay", id, "--trust"]);
        let outcome = world.finish({
            command.envs(KEYS);
            command
        });
        assert_eq!(outcome.code, Some(1), "{way:?}: {outcome}");
        assert!(outcome.stdout.starts_with("STILL FAILS"), "{way:?}: {outcome}");
        let outcome = way.run(&world, &["replay", id, "--trust"]);
        assert_eq!(outcome.code, Some(3), "{way:?}: {outcome}");
        assert!(outcome.stdout.starts_with("NOT REPLAYABLE"), "{way:?}: {outcome}");
        assert!(outcome.stdout.contains("set GITHUB_TOKEN"), "{way:?}: {outcome}");
    });
}

/// Was open the other way round: what a variable names below the home was hidden, so that servers did not start.
#[test]
fn files_that_variables_name_are_there_as_they_are_and_keys_of_the_user_are_not() {
    each(ways(), |way| {
        let world = world(
            "cat $KUBECONFIG $GOOGLE_APPLICATION_CREDENTIALS $APP_CONFIG/settings $RULES_FILE $MODEL_PATH; cat $GNUPGHOME/key $SSH_KEY_FILE $APP_DIR/diary",
        );
        let at = |name: &str, text: &str| put(&world, name, text).to_str().unwrap().to_owned();
        let cluster = at(".kube/config", "the-cluster");
        let key = at("keys/account.json", "the-account");
        at(".config/app/settings", "the-settings");
        let rules = at("lists/rules", "the-rules");
        let model = at("models/small", "the-model");
        let ring = at(".gnupg/key", "the-ring");
        let secret = at(".ssh/id_rsa", "the-key");
        let diary = at("diary", "the-diary");
        let above = |path: &str| path.rsplit_once('/').unwrap().0.to_owned();
        let settings = format!("{}/.config/app", above(&diary));
        let variables = [
            ("KUBECONFIG", cluster.as_str()),
            ("GOOGLE_APPLICATION_CREDENTIALS", &key),
            ("APP_CONFIG", &settings),
            ("RULES_FILE", &rules),
            ("MODEL_PATH", &model),
            ("GNUPGHOME", &above(&ring)),
            ("SSH_KEY_FILE", &secret),
            ("APP_DIR", &above(&diary)),
        ];
        let (told, outcome) = seen(&way, &world, &variables, &[]);
        for there in ["the-cluster", "the-account", "the-settings", "the-rules", "the-model"] {
            assert!(told.contains(there), "{way:?}: {there}: {told}");
        }
        for hidden in ["the-ring", "the-key", "the-diary"] {
            assert!(!told.contains(hidden), "{way:?}: {hidden}: {told}");
        }
        let readable = outcome.json()["sandbox"]["access"]["readable_secrets"].to_string();
        assert!(readable.contains("~/.kube/config"), "{way:?}: {outcome}");
        // The same where the home is the working directory.
        let home = home(&world);
        let script = fs::read_to_string(world.here().join("server.sh")).unwrap();
        put(&world, "server.sh", &script);
        let flags = ["--cwd", home.to_str().unwrap()];
        let (told, _) = seen(&way, &world, &variables, &flags);
        assert!(told.contains("the-cluster") && !told.contains("the-diary"), "{way:?}: {told}");
    });
}

/// Managers of toolchains: the variable that says where one lies, what of it is used, and what of it is not for show.
const MANAGERS: [(&str, &str, Option<&str>); 24] = [
    ("ASDF_DATA_DIR", "shims/node", None),
    ("BUN_INSTALL", "bin/bun", None),
    ("CARGO_HOME", "bin/cargo", Some("credentials.toml")),
    ("CONDA_PREFIX", "bin/python", None),
    ("DENO_DIR", "deps/a", None),
    ("FNM_DIR", "node-versions/v22/bin/node", None),
    ("GOPATH", "bin/server", Some("src/private.go")),
    ("GOROOT", "bin/go", None),
    ("HOMEBREW_PREFIX", "bin/node", None),
    ("JAVA_HOME", "bin/java", None),
    ("MISE_DATA_DIR", "installs/node/22/bin/node", None),
    ("NVM_DIR", "versions/node/v22/bin/node", None),
    ("NPM_CONFIG_PREFIX", "bin/server", Some("etc/npmrc")),
    ("PIPX_HOME", "venvs/server/bin/server", None),
    ("PNPM_HOME", "pnpm", None),
    ("PYENV_ROOT", "versions/3.13/bin/python", None),
    ("RUSTUP_HOME", "toolchains/stable/bin/cargo", None),
    ("SDKMAN_DIR", "candidates/java/current/bin/java", None),
    ("UV_CACHE_DIR", "archive-v0/a", None),
    ("UV_PYTHON_INSTALL_DIR", "cpython-3.13/bin/python", None),
    ("UV_TOOL_DIR", "server/bin/server", None),
    ("VIRTUAL_ENV", "bin/python", None),
    ("VOLTA_HOME", "bin/node", None),
    ("npm_config_cache", "_npx/a/node_modules/a/index.js", None),
];

/// The same below the home, where each lies if nothing is said.
const MANAGERS_AT_HOME: [&str; 12] = [
    ".asdf/shims/node",
    ".cargo/bin/cargo",
    ".config/nvm/versions/node/v22/bin/node",
    ".local/share/mise/installs/node/22/bin/node",
    ".local/share/uv/python/cpython-3.13/bin/python",
    ".linuxbrew/bin/node",
    ".nvm/versions/node/v22/bin/node",
    ".pyenv/versions/3.13/bin/python",
    ".rustup/toolchains/stable/bin/cargo",
    ".sdkman/candidates/java/current/bin/java",
    ".tool-versions",
    ".volta/bin/node",
];

/// No attack: a server that lacks its toolchain does not start.
#[test]
fn toolchains_are_there_wherever_they_lie_and_what_is_private_beside_them_is_not() {
    each(ways(), |way| {
        let mut look = String::new();
        for (name, used, private) in MANAGERS {
            look += &format!("cat ${name}/{used}\n");
            look += &private.map(|private| format!("cat ${name}/{private}\n")).unwrap_or_default();
        }
        look += &MANAGERS_AT_HOME.map(|place| format!("cat ~/{place}\n")).concat();
        let world = world(&look);
        for place in MANAGERS_AT_HOME {
            put(&world, place, &format!("home:{place};"));
        }
        let mut variables = Vec::new();
        for (name, used, private) in MANAGERS {
            put(&world, &format!("../tools/{name}/{used}"), &format!("used:{name};"));
            if let Some(private) = private {
                put(&world, &format!("../tools/{name}/{private}"), &format!("private:{name};"));
            }
            variables.push((name, world.root().join("tools").join(name).to_str().unwrap().to_owned()));
        }
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (told, _) = seen(&way, &world, &variables, &[]);
        for (name, _, private) in MANAGERS {
            assert!(told.contains(&format!("used:{name};")), "{way:?}: {name}: {told}");
            assert!(
                private.is_none() || !told.contains(&format!("private:{name};")),
                "{way:?}: {name}: {told}"
            );
        }
        for place in MANAGERS_AT_HOME {
            assert!(told.contains(&format!("home:{place};")), "{way:?}: {place}: {told}");
        }
    });
}

/// Was open, also long after that build: what a file of the project named of the home, in whatever way, was shown to its server,
/// and nobody was told.
#[test]
fn a_file_of_the_project_that_shows_something_of_the_home_is_told_in_the_first_line() {
    let named = [
        ("args = [\"server.sh\", \"${HOME}/.ssh\"]", ".ssh"),
        ("args = [\"server.sh\", \"--keys=${HOME}/.ssh/id_rsa\"]", ".ssh/id_rsa"),
        ("args = [\"server.sh\", \"link\"]", ".ssh"),
        ("args = [\"server.sh\"]\nenv = { SETTINGS = \"${HOME}/.ssh/id_rsa\" }", ".ssh/id_rsa"),
        ("args = [\"HERE/server.sh\"]\ncwd = \"${HOME}/.ssh\"", ".ssh"),
        ("args = [\"server.sh\"]\nroots = [\"${HOME}/.ssh\"]", ".ssh"),
    ];
    each(named, |(lines, shown)| {
        let world = world("cat ~/.ssh/id_rsa");
        put(&world, ".ssh/id_rsa", "the-key");
        std::os::unix::fs::symlink("../home/.ssh", world.here().join("link")).unwrap();
        let lines = lines.replace("HERE", world.here().to_str().unwrap());
        let world = world.with("wallfacer.toml", &format!("[target]\ncommand = \"sh\"\n{lines}\n"));
        let outcome = world.run(&["doctor"]);
        let told = format!("sandbox: the server sees [ROOT]/home/{shown}, by ./wallfacer.toml");
        assert_eq!(outcome.stdout.lines().next(), Some(told.as_str()), "{outcome}");
        assert!(outcome.stderr.contains(&told), "{outcome}");
    });
    let world = world("cat ~/.ssh/id_rsa; ls -A ~")
        .with("wallfacer.toml", "[target]\ncommand = \"sh\"\nargs = [\"server.sh\", \"data\"]\n");
    put(&world, ".ssh/id_rsa", "the-key");
    let outcome = world.run(&["doctor"]);
    assert!(!outcome.stdout.contains("the server sees") && outcome.stderr.is_empty(), "{outcome}");
    assert!(!outcome.stdout.contains("the-key"), "{outcome}");
}

/// Was open: a repository's own file switched the sandbox off, and the report did not say so.
#[test]
fn a_file_of_the_project_that_opens_the_sandbox_is_told_in_the_first_line() {
    let target = "[target]\ncommand = \"sh\"\nargs = [\"server.sh\"]\n[sandbox]\n";
    for (lines, told, flag) in [
        ("mode = \"off\"", "sandbox: off, by ./wallfacer.toml", ["--sandbox", "off"]),
        ("net = \"host\"", "sandbox: network the machine's own, by ./wallfacer.toml", ["--net", "host"]),
        ("keep = [\"~/work\"]", "sandbox: keeps [ROOT]/home/work, by ./wallfacer.toml", ["--keep", "~/work"]),
    ] {
        for way in ways() {
            let world = world("echo hello").with("wallfacer.toml", &format!("{target}{lines}\n"));
            put(&world, "work/a", "b");
            let fuzz = &["fuzz", "--runs", "1", "--budget", "5s"][..];
            let commands = [Some(&["doctor"][..]), (lines == "mode = \"off\"").then_some(fuzz)];
            for command in commands.into_iter().flatten() {
                let outcome = way.run(&world, command);
                assert_eq!(outcome.stdout.lines().next(), Some(told), "{way:?}: {outcome}");
                let outcome = way.run(&world, &[command, &flag].concat());
                assert!(!outcome.stdout.contains("by ./wallfacer.toml"), "{way:?}: {outcome}");
                assert!(!outcome.stdout.is_empty(), "{way:?}: {outcome}");
            }
            if lines == "mode = \"off\"" {
                let first_lines = [
                    ("human", told.to_owned()),
                    ("agent", told.to_owned()),
                    ("markdown", format!("`{told}`")),
                    ("github", format!("::warning title=wallfacer::{told}")),
                ];
                way.run(&world, fuzz);
                for (format, first) in first_lines {
                    let outcome = way.run(&world, &["report", "--format", format]);
                    assert_eq!(outcome.stdout.lines().next(), Some(first.as_str()), "{outcome}");
                }
                for format in ["json", "sarif", "junit", "gitlab", "html"] {
                    let outcome = way.run(&world, &["report", "--format", format]);
                    assert!(outcome.stdout.contains("off, by ./wallfacer.toml"), "{outcome}");
                }
            }
            // Some have no report.
            for command in [&["lock", "--calls", "1"][..], &["suggest"], &["coverage"]] {
                let outcome = way.run(&world, command);
                assert!(outcome.stderr.contains(told), "{outcome}");
            }
            let outcome = way.run(&world, &["doctor", "--format", "json"]);
            let opened = outcome.json()["sandbox"]["access"]["opened"].clone();
            assert_eq!(opened, told.strip_prefix("sandbox: ").unwrap(), "{way:?}: {outcome}");
        }
    }
}
