//! A repository that somebody else wrote: what it says of itself, and what it claims that wallfacer stored.

use std::fs;

use serde_json::{Value, json};
use wallfacer_fixtures::{HOSTILE_TEXTS, acting};

use crate::agent::Agent;
use crate::world::{World, fixture};

/// Held: a stored command is run only by whoever stored it, or says so.
#[test]
fn a_stored_command_that_somebody_planted_is_not_run() {
    let world = World::new().with_program("trap", "touch \"$(dirname \"$0\")/ran\"; exec cat > /dev/null");
    let ran = world.root().join("bin/ran");
    let server = fixture();
    let fuzz = ["fuzz", "--iterations", "2", "--budget", "60s", "--", &server, "flaw", "crash-on-every-call"];
    assert_eq!(world.run(&fuzz).code, Some(1));
    let file = world.files().into_iter().find(|file| file.starts_with(".wallfacer/corpus/")).unwrap();
    let mut planted: Value = serde_json::from_str(&world.read(&file)).unwrap();
    let id = planted["id"].as_str().unwrap().to_owned();
    planted["target"]["command"] = json!(["trap"]);
    for other in [Value::Null, planted["target"].clone()] {
        planted["other"] = other;
        fs::write(world.here().join(&file), planted.to_string()).unwrap();
        let typed: [&[&str]; 6] = [
            &["replay", &id, "--sandbox", "off"],
            &["corpus", "replay", "--all", "--sandbox", "off"],
            &["corpus", "minimize", &id, "--sandbox", "off"],
            &["corpus", "show", &id],
            &["explain", &id],
            &["check", "--budget", "10s", "--sandbox", "off", "--", &server, "correct"],
        ];
        for words in typed {
            let outcome = world.run(words);
            assert!(!ran.exists(), "{outcome}");
            let is_tried = words.contains(&"replay") || words.contains(&"minimize");
            let said = format!("{}{}", outcome.stdout, outcome.stderr);
            assert!(!is_tried || said.contains("not recorded by you"), "{outcome}");
        }
        let mut agent = Agent::start(&world, &[]);
        let answer = agent.call("replay", json!({ "id": id }));
        assert!(answer.to_string().contains("not recorded by you"), "{answer}");
        agent.end();
    }
}

/// What a project's files say is told by `init`, and goes into the files that it writes.
#[test]
fn what_a_project_says_of_itself_acts_nowhere_when_a_configuration_is_made_of_it() {
    for (what, text) in HOSTILE_TEXTS {
        let client = json!({"mcpServers": {(text.to_string()): {"command": text, "args": [text]}}});
        let projects = [
            ("package.json", json!({"name": text, "bin": {(text.to_string()): text}}).to_string()),
            ("package.json", json!({"name": text, "main": text, "scripts": {"build": text}}).to_string()),
            (
                "pyproject.toml",
                format!("[project]\nname = {0}\n[project.scripts]\n{0} = \"a:b\"\n", json!(text)),
            ),
            ("Cargo.toml", format!("[package]\nname = \"a\"\n[[bin]]\nname = {}\n", json!(text))),
            ("go.mod", format!("module {text}\n")),
            ("pom.xml", format!("<artifactId>{text}</artifactId><version>{text}</version>")),
            ("composer.json", json!({ "bin": [text] }).to_string()),
            (".mcp.json", client.to_string()),
        ];
        for (name, project) in projects {
            let world = World::new().with(name, &project);
            let outcome = world.run(&["init", "--ci"]);
            assert_eq!(outcome.code, Some(0), "{what}: {outcome}");
            let said = format!("{}{}", outcome.stdout, outcome.stderr);
            assert_eq!(acting(&said), [""; 0], "{what}, {name}: {outcome}");
            let workflow = world.read(".github/workflows/wallfacer.yml");
            assert!(!workflow.contains("forged") && !workflow.contains("evil"), "{what}, {name}: {workflow}");
        }
    }
}
