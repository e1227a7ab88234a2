//! Paths that are looked at in the wrong way, in the wrong order, or not at all.

use std::fs;
use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::answer::Answer;
use crate::injections::{flat, root};
use crate::scenes::{Call, Scene, Tool, failed, said};

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "reads-relative" => reader(|call| match Path::new(call.text("path")).is_relative() {
            true => read(&root().join(call.text("path"))),
            false => checked(call),
        }),
        "reads-absolute" => reader(|call| {
            let path = Path::new(call.text("path"));
            let begins_like_root = call.text("path").starts_with(&*root().to_string_lossy());
            if path.is_absolute() && !begins_like_root { read(path) } else { checked(call) }
        }),
        "decodes-late" => reader(|call| match call.text("path").contains("..") {
            true => failed("outside"),
            false if call.text("path").contains('%') => read(&root().join(decoded(call.text("path")))),
            false => checked(call),
        }),
        "follows-links" => reader(|call| {
            let plain = flat(&root().join(call.text("path")));
            if plain.starts_with(root()) { read(&plain) } else { failed("outside") }
        }),
        "compares-beginnings" => reader(|call| match root().join(call.text("path")).canonicalize() {
            Ok(real) if real.to_string_lossy().starts_with(&*root().to_string_lossy()) => read(&real),
            _ => failed("outside"),
        }),
        "opens-first" => reader(|call| {
            let opened = fs::File::open(root().join(call.text("path")));
            let answer = checked(call);
            drop(opened);
            answer
        }),
        "asks-for-share" => reader(|call| {
            let host = call.text("path").strip_prefix("\\\\").and_then(|rest| rest.split('\\').next());
            if let Some(host) = host {
                let _looked_up = (host, 445).to_socket_addrs();
            }
            checked(call)
        }),
        "writes-anywhere" => writer(),
        "runs-unseen" => archive(),
        _ => return None,
    };
    Some(Scene::around(tool))
}

/// A reader that does this in place of looking where a path leads before it is opened.
fn reader(instead: fn(&Call) -> Answer) -> Tool {
    let path = json!({"path": {"type": "string"}});
    Tool::new("read_file", "Reads a file.", path, &["path"], checked).except(|_| true, instead)
}

fn writer() -> Tool {
    let arguments = json!({"path": {"type": "string"}, "content": {"type": "string"}});
    let tool = Tool::new("write_file", "Saves a file.", arguments, &["path", "content"], |call| {
        let path = root().join(call.text("path"));
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        let inside = folder.is_some_and(|folder| folder.starts_with(root()));
        if inside && !path.is_symlink() { write(&path, call) } else { failed("outside") }
    });
    tool.except(|_| true, |call| write(&root().join(call.text("path")), call))
}

/// Hands a name to another program, and shows nothing of what came of it.
fn archive() -> Tool {
    let name = json!({"name": {"type": "string"}});
    let tool = Tool::new("check_archive", "Looks whether an archive is whole.", name, &["name"], |call| {
        quietly(Command::new("echo").args(["--", call.text("name")]))
    });
    tool.except(
        |_| true,
        |call| quietly(Command::new("sh").args(["-c", &format!("echo {}", call.text("name"))])),
    )
}

fn quietly(command: &mut Command) -> Answer {
    let nothing = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    nothing.status().map_or_else(|error| failed(&error.to_string()), |_| said("checked"))
}

fn checked(call: &Call) -> Answer {
    match root().join(call.text("path")).canonicalize() {
        Ok(real) if real.starts_with(root()) => read(&real),
        _ => failed("there is no such file"),
    }
}

fn read(path: &Path) -> Answer {
    fs::read_to_string(path).map_or_else(|error| failed(&error.to_string()), |text| said(&text))
}

fn write(path: &Path, call: &Call) -> Answer {
    fs::write(path, call.text("content")).map_or_else(|error| failed(&error.to_string()), |()| said("saved"))
}

fn decoded(text: &str) -> PathBuf {
    text.replace("%2e", ".").replace("%2f", "/").into()
}
