//! A small server for notes with ten bugs, one of each common sort; its twin has none. It is for tests of how a whole run
//! tells them: each once.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde_json::json;

use super::death::python_trace;
use super::scene::{Call, Entry, Scene, Tool, failed, said, structured};
use crate::answer::Answer;
use crate::injections::root;

pub const NAME: &str = "ten-bugs";

/// What the flawed one writes to stdout before anything else.
pub const BANNER: &str = "notes server, version 1.2, is ready";

pub fn scene(name: &str) -> Option<Scene> {
    let tools = vec![
        set_mode(),
        follow_topic(),
        about_item("price_of", "Tells what an item costs."),
        about_item("weight_of", "Tells what an item weighs."),
        about_item("origin_of", "Tells where an item is from."),
        ping_host(),
        read_note(),
        list_notes(),
        describe_account(),
        choose_volume(),
        count_notes(),
    ];
    (name == NAME).then(|| Scene::of(tools))
}

fn one_of(name: &str, about: &str, field: &str, values: [&str; 3], answer: fn(&Call) -> Answer) -> Tool {
    Tool::new(name, about, json!({ field: { "type": "string", "enum": values } }), &[field], answer)
}

fn set_mode() -> Tool {
    let values = ["day", "night", "auto"];
    one_of("set_mode", "Sets how notes are shown.", "mode", values, |_| said("set"))
        .except(|call| call.text("mode") == "auto", |_| end())
}

#[allow(clippy::exit, reason = "the flaw is to end")]
fn end() -> Answer {
    std::process::exit(3)
}

fn follow_topic() -> Tool {
    let values = ["news", "sport", "weather"];
    one_of("follow_topic", "Follows a topic.", "topic", values, |_| said("followed"))
        .except(|call| call.text("topic") == "weather", |_| Answer::Never)
}

/// One fault below three tools.
fn about_item(name: &str, about: &str) -> Tool {
    one_of(name, about, "item", ["tea", "coffee", "milk"], |_| said("known")).except(
        |call| call.text("item") == "milk",
        |_| failed(&python_trace("call_tool", "look_up", 9, "KeyError: 'milk'")),
    )
}

fn text(field: &str) -> serde_json::Value {
    json!({ field: { "type": "string" } })
}

fn ping_host() -> Tool {
    Tool::new("ping_host", "Tells whether a host answers.", text("host"), &["host"], |call| {
        match call.text("host") {
            host if host.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '.') => {
                run(Command::new("echo").args(["--", host]))
            }
            _ => failed("this is no host"),
        }
    })
    .except(|_| true, |call| run(Command::new("sh").args(["-c", &format!("echo {}", call.text("host"))])))
}

fn run(command: &mut Command) -> Answer {
    match command.output() {
        Ok(done) => said(&String::from_utf8_lossy(&done.stdout)),
        Err(error) => failed(&error.to_string()),
    }
}

fn read_note() -> Tool {
    Tool::new("read_note", "Reads a note by its name.", text("name"), &["name"], |call| {
        match root().join(call.text("name")).canonicalize() {
            Ok(path) if path.starts_with(root()) => read(&path),
            _ => failed("there is no such note"),
        }
    })
    .except(|_| true, |call| read(&root().join(call.text("name"))))
}

fn read(path: &Path) -> Answer {
    match fs::read_to_string(path) {
        Ok(text) => said(&text),
        Err(_) => failed("there is no such note"),
    }
}

fn list_notes() -> Tool {
    Tool::new("list_notes", "Lists the notes.", json!({}), &[], |_| said("first.txt"))
        .annotated(json!({ "readOnlyHint": true }))
        .except(
            |_| true,
            |_| match fs::write(root().join("first.txt"), "seen\n") {
                Ok(()) => said("first.txt"),
                Err(error) => failed(&error.to_string()),
            },
        )
}

fn describe_account() -> Tool {
    let values = ["short", "long", "full"];
    one_of("describe_account", "Tells who is signed in.", "detail", values, |_| said("somebody"))
        .except(|call| call.text("detail") == "full", |_| said(&format!("signed in with {}", token())))
}

#[allow(clippy::disallowed_methods, reason = "the flaw is to read and show it")]
fn token() -> String {
    env::var("NOTES_API_TOKEN").unwrap_or_default()
}

fn choose_volume() -> Tool {
    let arguments = json!({
        "level": { "type": "integer", "minimum": 0, "maximum": 100 },
        "label": { "type": "string", "maxLength": 20 },
        "side": { "type": "string", "enum": ["left", "right"] },
    });
    Tool::new("choose_volume", "Chooses the volume.", arguments, &["level"], |_| said("chosen"))
        .entry(Entry::Anything)
}

fn count_notes() -> Tool {
    one_of("count_notes", "Counts notes.", "which", ["new", "old", "all"], |call| {
        structured(call, json!({ "count": 3 }))
    })
    .returns(json!({ "count": { "type": "integer" } }))
    .except(|call| call.text("which") == "all", |call| structured(call, json!({ "count": "three" })))
}
