//! A server with tools that one should not call where nothing holds it back: they leave a mark.

use super::scene::{Scene, Tool, count_words, said};
use serde_json::{Value, json};
use std::env;
use std::fs;

pub fn scene(flaw: &str) -> Option<Scene> {
    let text = json!({"type": "string", "maxLength": 200});
    (flaw == "destructive-names").then(|| {
        Scene::of(vec![
            count_words(),
            marking("delete_all", "Clears the list.", json!({}), &[]),
            marking("sendEmail", "Mails a text.", json!({"to": text, "body": text}), &["to", "body"]),
            marking(
                "wipe",
                "Formats a disk.",
                json!({"disk": {"type": "string", "enum": ["a", "b"]}}),
                &["disk"],
            ),
        ])
    })
}

fn marking(name: &str, about: &str, arguments: Value, required: &[&str]) -> Tool {
    Tool::new(name, about, arguments, required, |_| said("done")).except(
        |_| true,
        |_| {
            mark();
            said("done")
        },
    )
}

#[allow(clippy::disallowed_methods, reason = "the test names the file in the environment")]
fn mark() {
    if let Some(marker) = env::var_os("WALLFACER_FIXTURE_MARKER") {
        // A place where nothing can be written stays without a mark, which is what it is for.
        let _ = fs::write(marker, b"called");
    }
}
