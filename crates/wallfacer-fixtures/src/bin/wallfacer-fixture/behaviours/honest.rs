//! Servers that do what may look wrong, and is not.

use super::claims::{file_note, list_notes};
use super::deeds::{self, STORE};
use crate::asking::in_root;
use crate::scenes::{Scene, Tool, failed, said};
use crate::tools;
use serde_json::{Value, json};
use std::path::Path;

pub fn scene(name: &str) -> Option<Scene> {
    let read_only = json!({"readOnlyHint": true});
    let about = "Lists the notes.";
    let tool = match name {
        "runs-program" => list_notes(about, read_only, |_| deeds::shell("exit 0")),
        "lists-processes" => list_notes(about, read_only, |_| deeds::shell("ps -e")),
        "leaves-child" => list_notes(about, json!({}), |_| deeds::leave_running("sleep", &["600"])),
        "seeks-other-application" => {
            list_notes(about, json!({}), |_| drop(deeds::secret(".config/other-application/settings.json")))
        }
        "writes-outside" => list_notes(about, json!({}), |_| deeds::write_at_home("fixture-state", "seen\n")),
        "writes-beside-its-root" => keep_note(),
        "listens" => list_notes(about, json!({}), |_| deeds::listen("127.0.0.1:4711")),
        "never-works" => return Some(Scene::of(vec![never_works()])),
        "read-only-with-log" => list_notes(about, read_only, |_| deeds::append("server.log", "listed\n")),
        "counts-its-use" => {
            let named = |name: &str| counted(name, read_only.clone());
            return Some(Scene::of(["list_notes", "show_note", "find_notes"].map(named).into()));
        }
        "makes-its-store" => list_notes(about, read_only, |_| {
            if !Path::new("store.index").exists() {
                deeds::write("store.index", "no notes yet\n");
            }
        }),
        "client-of-its-file" => list_clusters(),
        "database-opened-for-both" => list_notes(about, read_only, |_| drop(deeds::read_as_database(STORE))),
        "read-only-with-scratch" => list_notes(about, read_only, |_| {
            deeds::write("/tmp/wallfacer-fixture-scratch", "sorting\n");
            deeds::remove("/tmp/wallfacer-fixture-scratch");
        }),
        "additive-commits" => file_note(|_| {
            deeds::write(deeds::MESSAGE, "the next commit\n");
            deeds::remove(deeds::MESSAGE);
        }),
        "additive-moves" => file_note(|_| deeds::rename(STORE, "filed.txt")),
        _ => return None,
    };
    Some(Scene::around(tool))
}

/// Asks for roots, and keeps its note in the first of them.
fn keep_note() -> Tool {
    Tool::new("keep_note", "Keeps a note.", json!({}), &[], |call| in_root(call, kept_in))
        .except(|_| true, |call| in_root(call, |root| kept_in(root.parent().unwrap_or(root))))
        .waits()
}

fn kept_in(directory: &Path) -> Value {
    deeds::write(&directory.join("fixture-note").to_string_lossy(), "a note\n");
    tools::said("kept")
}

fn never_works() -> Tool {
    let tool = Tool::new("list_notes", "Lists the notes.", json!({}), &[], |_| said("no notes"));
    tool.except(|_| true, |_| failed("there is no database"))
}

/// One of several tools that all write down that they were used.
fn counted(name: &str, annotations: Value) -> Tool {
    let tool = Tool::new(name, "Shows notes.", json!({}), &[], |_| said("no notes"));
    tool.annotated(annotations).except(
        |_| true,
        |_| {
            deeds::append("usage.json", "{\"used\": 1}\n");
            said("no notes")
        },
    )
}

fn list_clusters() -> Tool {
    let about = "Lists the Kubernetes clusters that the user has access to.";
    let tool = Tool::new("list_clusters", about, json!({}), &[], |_| said("no clusters"));
    tool.except(
        |_| true,
        |_| said(&format!("{} clusters", deeds::secret(".kube/config").matches("- name:").count())),
    )
}
