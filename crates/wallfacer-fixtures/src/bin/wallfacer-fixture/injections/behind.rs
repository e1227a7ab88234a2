//! Ways in that are open only behind another call.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::costs::try_all;
use super::paths::{read_any, read_inside};
use super::programs::{run, shell};
use crate::scenes::{Scene, Tool, count_words, failed, said};

/// Whether the call was made that must come first.
static OPEN: AtomicBool = AtomicBool::new(false);

pub fn scene(name: &str) -> Option<Scene> {
    Some(match name {
        "path-behind-a-call" => behind(
            "open_shelf",
            "Opens a shelf.",
            Tool::new("read_page", "Reads a page.", json!({"path": {"type": "string"}}), &["path"], |call| {
                if is_open() { read_inside(call) } else { failed(NO_SHELF) }
            })
            .except(|_| is_open(), read_any),
        ),
        "command-behind-a-session" => behind(
            "start_session",
            "Begins to work.",
            Tool::new("show_log", "Shows a log.", json!({"log": {"type": "string"}}), &["log"], |call| {
                if is_open() {
                    run(Command::new("echo").args(["--", call.text("log")]))
                } else {
                    failed(NO_SESSION)
                }
            })
            .except(|_| is_open(), |call| shell(&format!("echo \"{}\"", call.text("log")))),
        ),
        "pattern-in-a-chosen-place" => {
            let arguments = json!({"pattern": {"type": "string"}});
            let search = Tool::new("search_pages", "Searches the pages.", arguments, &["pattern"], |_| {
                said("nothing")
            });
            Scene::of(vec![
                count_words(),
                search.except(|_| is_open(), |call| try_all(call.text("pattern"))),
                choose(),
            ])
        }
        "command-behind-a-folder" => Scene::of(vec![
            count_words(),
            Tool::new("show_log", "Shows a log.", json!({"log": {"type": "string"}}), &["log"], |call| {
                if is_open() {
                    run(Command::new("echo").args(["--", call.text("log")]))
                } else {
                    said(NO_FOLDER)
                }
            })
            .except(|_| is_open(), |call| shell(&format!("echo \"{}\"", call.text("log")))),
            choose(),
        ]),
        _ => return None,
    })
}

/// Takes a directory; what else it is given it refuses in words, and calls it a success.
fn choose() -> Tool {
    let arguments = json!({"path": {"type": "string"}});
    Tool::new("set_folder", "Chooses a folder.", arguments, &["path"], |call| {
        if Path::new(call.text("path")).is_dir() {
            OPEN.store(true, Ordering::SeqCst);
            said("done")
        } else {
            said("Error: it is not a directory")
        }
    })
}

/// Names the call that is missing, and calls it a success.
const NO_FOLDER: &str = "Error: no folder is set. Call set_folder first.";
/// Names the call that is missing.
const NO_SHELF: &str = "no shelf is open; call open_shelf first";
/// Only says what is missing.
const NO_SESSION: &str = "Session not initialised.";

/// What must come first refuses in words, and calls it a success.
fn behind(name: &str, about: &str, tool: Tool) -> Scene {
    let arguments = json!({"name": {"type": "string", "minLength": 1}, "shared": {"type": "boolean"}});
    let first = Tool::new(name, about, arguments, &["name"], |call| {
        if call.arguments["shared"].is_boolean() {
            OPEN.store(true, Ordering::SeqCst);
            said("done")
        } else {
            said("Error: it must be told whether it is shared")
        }
    });
    Scene::of(vec![count_words(), tool, first])
}

fn is_open() -> bool {
    OPEN.load(Ordering::SeqCst)
}
