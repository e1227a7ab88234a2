//! Servers that keep something of each call, and two that keep no more than a bound.

use super::scene::{Call, Scene, Tool, said};
use crate::answer::Answer;
use crate::flaws::process;
use serde_json::json;
use std::env;
use std::fs::File;

const PIECE: usize = 64 << 10;
/// A gibibyte: more than any run needs to see the growth, less than a machine has.
const MOST_PIECES: usize = 16 << 10;
/// Few enough that the server still has some for its clients where a process may have 1,024.
const MOST_FILES: usize = 768;
/// They are small, and end by themselves after a while.
const MOST_CHILDREN: usize = 768;
const CACHED: usize = 64;
/// As garbage is left lying until there is enough of it: 24 KiB of each call, up to 40 MiB.
const GARBAGE: usize = 24 << 10;
const MOST_GARBAGE: usize = (40 << 20) / GARBAGE;

pub fn scene(flaw: &str) -> Option<Scene> {
    let then: fn(&Call) -> Answer = match flaw {
        "memory-growth" => |call| {
            call.world.keep(piece(PIECE), MOST_PIECES);
            thumbnail(call)
        },
        "file-growth" => |call| {
            if let Ok(file) = env::current_exe().and_then(File::open) {
                call.world.keep(file, MOST_FILES);
            }
            thumbnail(call)
        },
        "child-growth" => |call| {
            // One entry for each child, for the child itself cannot be kept.
            if call.world.keep((), MOST_CHILDREN) < MOST_CHILDREN {
                // Where no further process may be started, the growth has ended.
                let _ = process::leave_child();
            }
            thumbnail(call)
        },
        "bounded-cache" => |call| {
            call.world.keep_latest(piece(PIECE), CACHED);
            thumbnail(call)
        },
        "lazy-collector" => |call| {
            call.world.keep(piece(GARBAGE), MOST_GARBAGE);
            thumbnail(call)
        },
        _ => return None,
    };
    let arguments = json!({"width": {"type": "integer", "minimum": 1, "maximum": 64}});
    let tool = Tool::new("thumbnail", "Makes a small picture.", arguments, &["width"], thumbnail);
    Some(Scene::around(tool.except(|_| true, then)))
}

/// Not zero, so that the memory is truly used.
fn piece(bytes: usize) -> Vec<u8> {
    vec![1; bytes]
}

fn thumbnail(call: &Call) -> Answer {
    said(&format!("{} pixels", call.integer("width").pow(2)))
}
