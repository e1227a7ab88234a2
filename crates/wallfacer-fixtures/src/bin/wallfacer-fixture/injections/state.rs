//! What a call changes, and what it costs.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::json;

use super::root;
use crate::answer::Answer;
use crate::scenes::{Call, Scene, Tool, failed, said};
use crate::tools;

/// A text that is longer is not looked at by the correct twin.
const LONGEST: usize = 1 << 20;

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "statement-that-writes" => {
            let about = "Answers a question about the pages.";
            let arguments = json!({"sql": {"type": "string"}});
            let mut tool = Tool::new("query_pages", about, arguments, &["sql"], |_| said("no pages"));
            tool.declared = tools::with(tool.declared, json!({"annotations": {"readOnlyHint": true}}));
            tool.except(|call| call.text("sql").contains("CREATE TABLE"), write)
        }
        "time-runs-away" => Tool::new(
            "trim_text",
            "Takes away white space at the end.",
            json!({"text": {"type": "string"}}),
            &["text"],
            |call| {
                let text = call.text("text");
                if text.len() > LONGEST { failed("too long") } else { said(text.trim_end()) }
            },
        )
        .except(|_| true, |call| said(&format!("{} places end in white space", places(call.text("text"))))),
        _ => return None,
    };
    Some(Scene::around(tool))
}

fn write(call: &Call) -> Answer {
    let file = OpenOptions::new().append(true).open(root().join("pages.db"));
    let written = file.and_then(|mut file| file.write_all(call.text("sql").as_bytes()));
    written.map_or_else(|error| failed(&error.to_string()), |()| said("done"))
}

/// Each run of white space is walked from each of its letters, as an expression that backtracks does.
fn places(text: &str) -> usize {
    let letters: Vec<char> = text.chars().collect();
    let ends = |start: &usize| letters[*start..].iter().take_while(|letter| letter.is_whitespace()).count();
    (0..letters.len()).filter(|start| *start + ends(start) == letters.len()).count()
}
