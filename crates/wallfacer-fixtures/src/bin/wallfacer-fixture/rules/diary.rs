//! A server that writes down each call in a file, so that it is known afterwards which were made, and by whom.

use std::sync::atomic::Ordering;

use serde_json::json;

use crate::answer::Answer;
use crate::behaviours::deeds;
use crate::injections::root;
use crate::scenes::{Call, Scene, Tool, failed, structured};

pub fn scene(name: &str) -> Option<Scene> {
    (name == "diary").then(|| {
        let word = json!({"word": {"type": "string"}});
        let tool = |name, about, answer| Tool::new(name, about, word.clone(), &[], answer);
        Scene::of(vec![
            tool("note", "Takes a note.", |call| {
                enter("note", call);
                structured(call, json!({"word": call.text("word"), "number": number(call)}))
            }),
            tool("object", "Says no.", |call| {
                enter("object", call);
                failed("no")
            }),
            tool("collapse", "Ends the server.", |call| {
                enter("collapse", call);
                std::process::abort()
            }),
            tool("linger", "Never answers.", |call| {
                enter("linger", call);
                Answer::Never
            }),
            tool("delete_notes", "Takes all notes away.", |call| {
                enter("delete_notes", call);
                structured(call, json!({}))
            }),
        ])
    })
}

fn enter(tool: &str, call: &Call) {
    let line = format!("{} {} {tool} {}\n", std::process::id(), number(call), call.text("word"));
    deeds::append(&root().join("diary.txt").to_string_lossy(), &line);
}

fn number(call: &Call) -> u64 {
    call.world.calls.load(Ordering::SeqCst)
}
