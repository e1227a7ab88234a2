//! Plays the server that a file describes: its tools as they are listed, and the answers to one call after the other,
//! of which the last is given for ever.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use serde_json::Value;

use crate::answer::Answer;
use crate::message::Failure;
use crate::scenes::{Call, Entry, Scene, Tool, said};

/// # Panics
/// When the file is not there, or not what it should be.
pub fn scene(name: &str) -> Option<Scene> {
    (name == "as-written").then(|| {
        let mut arguments = std::env::args_os().skip_while(|argument| argument != "--script");
        let file = arguments.nth(1).map(PathBuf::from).expect("`--script` names a file");
        let text = std::fs::read_to_string(file).expect("the script can be read");
        let script: Value = serde_json::from_str(&text).expect("the script is JSON");
        let answers: Vec<Value> = script["answers"].as_array().cloned().unwrap_or_default();
        let tools = script["tools"].as_array().into_iter().flatten();
        Scene::of(tools.map(|declared| tool(declared.clone(), answers.clone())).collect())
    })
}

fn tool(mut declared: Value, answers: Vec<Value>) -> Tool {
    let unlisted = declared["unlisted"].take() == Value::Bool(true);
    if let Some(members) = declared.as_object_mut() {
        members.remove("unlisted");
    }
    let mut tool = Tool::new("", "", Value::Null, &[], |_| said(""));
    (tool.declared, tool.unlisted) = (declared, unlisted);
    tool.entry(Entry::Anything).except(|_| true, move |call| answer(call, &answers))
}

fn answer(call: &Call, answers: &[Value]) -> Answer {
    let number = call.world.calls.load(Ordering::SeqCst) as usize;
    let Some(answer) = answers.get(number - 1).or(answers.last()) else { return Answer::Never };
    match answer.get("error") {
        Some(error) => {
            let message = error["message"].as_str().unwrap_or_default();
            Answer::Refusal(Failure::new(error["code"].as_i64().unwrap_or_default(), message))
        }
        None => Answer::Result(answer.clone()),
    }
}
