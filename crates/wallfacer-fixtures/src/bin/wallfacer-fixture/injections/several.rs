//! Servers with more than one way in.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use serde_json::json;

use super::paths::{read_any, read_inside};
use super::programs::run;
use super::root;
use crate::answer::Answer;
use crate::scenes::{Call, Scene, Tool, count_words, failed, said};

/// Pages that were marked.
static MARKED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

pub fn scene(name: &str) -> Option<Scene> {
    Some(match name {
        "options-of-programs" => Scene::of(vec![
            prints("show_entry", "Shows an entry.", ["entry", "shelf"]),
            count_words(),
            prints("show_label", "Shows a label.", ["label", "shelf"]),
        ]),
        "tool-out-of-the-list" => Scene::of(vec![
            count_words(),
            Tool::new("show_label", "Shows a label.", json!({}), &[], |_| said("a label")),
            hidden(),
        ]),
        "path-once-marked" => Scene::of(vec![marks(), count_words(), reads()]),
        _ => return None,
    })
}

/// Hands two values to a program.
fn prints(name: &str, about: &str, [first, second]: [&'static str; 2]) -> Tool {
    let arguments = json!({ (first): {"type": "string"}, (second): {"type": "string"} });
    Tool::new(name, about, arguments, &[first, second], |call| {
        run(Command::new("printf").arg("--").args(values(call)))
    })
    .except(|_| true, |call| run(Command::new("printf").args(values(call))))
}

fn values(call: &Call) -> Vec<String> {
    let values = call.arguments.as_object().into_iter().flatten();
    values.filter_map(|(_, value)| Some(value.as_str()?.to_owned())).collect()
}

/// Is listed only where it may be called.
fn hidden() -> Tool {
    let only_reads = || std::env::args().any(|argument| argument == "--read-only");
    let mut tool =
        Tool::new("erase_label", "Takes a label away.", json!({}), &[], |_| {
            match std::env::args().any(|argument| argument == "--read-only") {
                true => failed("Unknown tool"),
                false => said("gone"),
            }
        })
        .except(|_| true, |_| said("gone"));
    tool.unlisted = only_reads();
    tool
}

/// Looks into a page, and remembers it.
fn marks() -> Tool {
    let arguments = json!({"path": {"type": "string"}});
    Tool::new("mark_page", "Marks a page.", arguments, &["path"], read_inside).except(
        |_| true,
        |call| {
            MARKED.lock().expect("nobody panics").insert(place(call));
            read_any(call)
        },
    )
}

/// Reads what lies inside, and what was marked.
fn reads() -> Tool {
    let arguments = json!({"path": {"type": "string"}});
    Tool::new("read_page", "Reads a page.", arguments, &["path"], read_inside).except(|_| true, read_marked)
}

fn read_marked(call: &Call) -> Answer {
    let is_marked = MARKED.lock().expect("nobody panics").contains(&place(call));
    if is_marked { read_any(call) } else { read_inside(call) }
}

fn place(call: &Call) -> PathBuf {
    root().join(call.text("path"))
}
