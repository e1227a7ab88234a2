//! Servers that take arguments which their own schema forbids.

use super::scene::{Entry, Scene, Tool, said};
use serde_json::json;

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "ignores-maximum" => choose_volume(Entry::Ignores("maximum")),
        "ignores-enum" => sort_item(Entry::Ignores("enum")),
        "ignores-required" => sort_item(Entry::Ignores("required")),
        "ignores-additional-properties" => choose_volume(Entry::Ignores("additionalProperties")),
        "coerces-numbers" => choose_volume(Entry::Coerces),
        "null-for-left-out" => choose_size(),
        _ => return None,
    })
}

fn choose_volume(entry: Entry) -> Scene {
    let arguments = json!({"level": {"type": "integer", "minimum": 0, "maximum": 100}});
    let tool =
        Tool::new("choose_volume", "Chooses how loud it is.", arguments, &["level"], |_| said("chosen"));
    Scene::around(tool.entry(entry))
}

fn choose_size() -> Scene {
    let arguments = json!({"level": {"type": "integer"}, "size": {"type": "integer"}});
    let about = "Chooses how loud it is, and how large.";
    let tool = Tool::new("choose_size", about, arguments, &["level"], |_| said("chosen"));
    Scene::around(tool.entry(Entry::NullForAbsent))
}

fn sort_item(entry: Entry) -> Scene {
    let arguments = json!({"item": {"type": "string", "enum": ["paper", "glass", "metal"]}});
    let about = "Tells into which bin something goes.";
    let tool = Tool::new("sort_item", about, arguments, &["item"], |_| said("the blue one"));
    Scene::around(tool.entry(entry))
}
