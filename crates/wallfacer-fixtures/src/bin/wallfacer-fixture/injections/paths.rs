//! Paths that may lead out of the directory that the server was given.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::root;
use crate::answer::Answer;
use crate::asking::in_root;
use crate::scenes::{Call, Scene, Tool, failed, said};
use crate::tools;

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "path-unchecked" | "path-without-scope" => reader().except(|_| true, read_any),
        "roots-ignored" => reader()
            .replies(|call| in_root(call, |root| read_below(&root.join(call.text("path")), root)))
            .except(
                |_| true,
                |call| in_root(call, |root| read_below(&root.join(call.text("path")), Path::new("/"))),
            )
            .waits(),
        "path-by-prefix" => reader().except(
            |_| true,
            |call| read_if(call, |path| path.to_string_lossy().starts_with(&*root().to_string_lossy())),
        ),
        "link-followed" => reader().except(
            |_| true,
            |call| {
                let plain = flat(&root().join(call.text("path")));
                if plain.starts_with(root()) { read(&plain) } else { failed("outside") }
            },
        ),
        "file-made-outside" => {
            let arguments = json!({"path": {"type": "string"}, "text": {"type": "string"}});
            Tool::new("save_page", "Saves a page.", arguments, &["path", "text"], |call| {
                let path = root().join(call.text("path"));
                let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
                let inside = folder.is_some_and(|folder| folder.starts_with(root()));
                // What is there already may be a link.
                if inside && !path.is_symlink() { write(&path, call) } else { failed("outside") }
            })
            .except(|_| true, |call| write(&root().join(call.text("path")), call))
        }
        _ => return None,
    };
    Some(Scene::around(tool))
}

/// A correct reader: what a path leads to in the end must lie below the root.
fn reader() -> Tool {
    let arguments = json!({"path": {"type": "string"}});
    Tool::new("read_page", "Reads a page.", arguments, &["path"], read_inside)
}

/// Reads what lies below a directory in the end.
fn read_below(path: &Path, directory: &Path) -> Value {
    match path.canonicalize() {
        Ok(real) if real.starts_with(directory) => fs::read(real).map_or_else(
            |error| tools::failed(&error.to_string()),
            |bytes| tools::said(&String::from_utf8_lossy(&bytes)),
        ),
        Ok(_) => tools::failed("outside"),
        Err(error) => tools::failed(&error.to_string()),
    }
}

/// Reads whatever it is told.
pub fn read_any(call: &Call) -> Answer {
    read(&root().join(call.text("path")))
}

pub fn read_inside(call: &Call) -> Answer {
    read_if(call, |path| path.starts_with(root()))
}

fn read_if(call: &Call, allowed: fn(&Path) -> bool) -> Answer {
    match root().join(call.text("path")).canonicalize() {
        Ok(real) if allowed(&real) => read(&real),
        Ok(_) => failed("outside"),
        Err(error) => failed(&error.to_string()),
    }
}

fn read(path: &Path) -> Answer {
    fs::read(path)
        .map_or_else(|error| failed(&error.to_string()), |bytes| said(&String::from_utf8_lossy(&bytes)))
}

fn write(path: &Path, call: &Call) -> Answer {
    fs::write(path, call.text("text")).map_or_else(|error| failed(&error.to_string()), |()| said("saved"))
}

/// Without `..`, as the text has it.
pub fn flat(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut flat, part| {
        match part {
            Component::ParentDir => drop(flat.pop()),
            part => flat.push(part),
        }
        flat
    })
}
