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
        "link-behind-an-address" => {
            let fields = json!({"url": {"type": "string"}});
            let about = "Reads a page by its address, file:///….";
            Tool::new("read_page", about, fields, &["url"], |call| match addressed(call).canonicalize() {
                Ok(real) if real.starts_with(root()) => read(&real),
                _ => failed("outside"),
            })
            .except(|call| addressed(call).starts_with(root()), |call| read(&addressed(call)))
        }
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
        "directory-listed-outside" => {
            let arguments = json!({"shelf": {"type": "string"}});
            Tool::new("show_shelf", "Lists what is on a shelf.", arguments, &["shelf"], |call| {
                list_if(&root().join(call.text("shelf")), |path| path.starts_with(root()))
            })
            .except(|_| true, |call| list_if(&root().join(call.text("shelf")), |_| true))
        }
        "file-named-by-title" => {
            let arguments = json!({"title": {"type": "string"}, "text": {"type": "string"}});
            Tool::new("save_note", "Keeps a note.", arguments, &["title", "text"], |call| {
                write(&root().join(format!("{}.md", slug(call.text("title")))), call)
            })
            .except(|_| true, |call| write(&root().join(format!("{}.md", call.text("title"))), call))
        }
        "ending-added-to-a-name" => {
            let arguments = json!({"name": {"type": "string"}});
            Tool::new("show_card", "Shows a card.", arguments, &["name"], |call| {
                read(&root().join(format!("{}.json", slug(call.text("name")))))
            })
            .except(|_| true, |call| read(&root().join(format!("{}.json", call.text("name")))))
        }
        "name-is-a-path" => {
            let arguments = json!({"key": {"type": "string"}});
            Tool::new("recall", "Recalls what was kept.", arguments, &["key"], |call| {
                read(&Path::new("cards").join(slug(call.text("key"))))
            })
            .except(|_| true, |call| read(&Path::new("cards").join(call.text("key"))))
        }
        "folder-made-outside" => {
            let arguments = json!({"label": {"type": "string"}});
            Tool::new("create_album", "Begins an album.", arguments, &["label"], |call| {
                make(&root().join(slug(call.text("label"))))
            })
            .except(|_| true, |call| make(&root().join(call.text("label"))))
        }
        "archive-leads-out" => {
            let arguments = json!({"path": {"type": "string"}});
            Tool::new("unpack_album", "Unpacks an archive.", arguments, &["path"], |call| {
                unpack(call, |name| {
                    Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
                })
            })
            .except(|_| true, |call| unpack(call, |_| true))
        }
        "scope-of-its-own" => {
            let by_text =
                |real: &Path, own: &Path| real.to_string_lossy().starts_with(&*own.to_string_lossy());
            reader()
                .replies(|call| read_in_own(call, |real, own| real.starts_with(own)))
                .except(|_| true, move |call| read_in_own(call, by_text))
        }
        "file-named-anywhere" => {
            let arguments = json!({"title": {"type": "string"}, "text": {"type": "string"}});
            Tool::new("save_note", "Keeps a note.", arguments, &["title", "text"], |call| {
                write(Path::new(&format!("{}.md", slug(call.text("title")))), call)
            })
            .except(|_| true, |call| write(Path::new(&format!("{}.md", call.text("title"))), call))
        }
        "steps-out-of-its-own" => {
            let arguments = json!({"topic": {"type": "string"}});
            Tool::new("show_guide", "Shows the guide to a topic.", arguments, &["topic"], |call| {
                let own = own(call.text("topic"));
                let steps = own.components().any(|part| part == Component::ParentDir);
                if steps { failed("there is no such guide") } else { show(&own) }
            })
            .except(|_| true, |call| show(&own(call.text("topic"))))
        }
        "file-stepped-out-of-its-own" => {
            let arguments = json!({"name": {"type": "string"}, "text": {"type": "string"}});
            Tool::new("save_note", "Keeps a note.", arguments, &["name", "text"], |call| {
                let steps =
                    Path::new(call.text("name")).components().any(|part| part == Component::ParentDir);
                if steps { failed("this is no name") } else { keep(call) }
            })
            .except(|_| true, keep)
        }
        "file-made-anywhere" => {
            let arguments = json!({"target": {"type": "string"}, "text": {"type": "string"}});
            Tool::new("save_shot", "Saves a picture.", arguments, &["target"], |call| {
                let name = Path::new(call.text("target"));
                let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
                if plain && name.components().count() == 1 { write(name, call) } else { failed("outside") }
            })
            .except(|_| true, |call| write(Path::new(call.text("target")), call))
        }
        "place-is-chosen" => {
            let arguments = json!({"folder": {"type": "string"}});
            let chosen = |call: &Call| list_if(&root().join(call.text("folder")), |_| true);
            Tool::new("set_workspace", "Chooses where to work.", arguments, &["folder"], chosen)
        }
        _ => return None,
    };
    Some(Scene::around(tool))
}

/// Makes the files of a zip archive that lies below the root, those whose names are allowed; what is packed is passed over.
fn unpack(call: &Call, allowed: fn(&str) -> bool) -> Answer {
    let archive = root().join(call.text("path")).canonicalize().ok().filter(|real| real.starts_with(root()));
    let Some(bytes) = archive.and_then(|real| fs::read(real).ok()) else {
        return failed("there is no such archive");
    };
    let number = |at: usize, length: usize| {
        let bytes = bytes.get(at..at + length).unwrap_or_default();
        bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    let (mut at, mut made) = (0, 0);
    while bytes.get(at..at + 4) == Some(b"PK\x03\x04") {
        let (size, length) = (number(at + 18, 4), number(at + 26, 2));
        let name =
            String::from_utf8_lossy(bytes.get(at + 30..at + 30 + length).unwrap_or_default()).into_owned();
        let content = bytes.get(at + 30 + length..at + 30 + length + size).unwrap_or_default();
        if allowed(&name) && fs::write(root().join(&name), content).is_ok() {
            made += 1;
        }
        at += 30 + length + size;
    }
    said(&format!("{made} files"))
}

/// Reads what lies where it was started, and says so where something else is asked for.
fn read_in_own(call: &Call, allowed: fn(&Path, &Path) -> bool) -> Answer {
    let own = std::env::current_dir().and_then(|own| own.canonicalize()).unwrap_or_default();
    match own.join(call.text("path")).canonicalize() {
        Ok(real) if allowed(&real, &own) => read(&real),
        Ok(real) => failed(&format!("{} is not in {}", real.display(), own.display())),
        Err(error) => failed(&error.to_string()),
    }
}

/// A name within the directory where it was started, whatever it begins with.
fn own(topic: &str) -> PathBuf {
    Path::new("./guides").join(topic.trim_start_matches('/'))
}

fn show(path: &Path) -> Answer {
    // The directory of the guides need not be there for a path through it to lead somewhere.
    let path = std::env::current_dir().map(|current| flat(&current.join(path))).unwrap_or_default();
    if path.is_dir() { list_if(&path, |_| true) } else { read(&path) }
}

fn list_if(path: &Path, allowed: impl Fn(&Path) -> bool) -> Answer {
    let Ok(real) = path.canonicalize() else { return failed("there is no such shelf") };
    if !allowed(&real) {
        return failed("outside");
    }
    let names = fs::read_dir(real).map(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect::<Vec<_>>().join("\n")
    });
    names.map_or_else(|error| failed(&error.to_string()), |names| said(&names))
}

fn make(path: &Path) -> Answer {
    fs::create_dir_all(path).map_or_else(|error| failed(&error.to_string()), |()| said("made"))
}

/// Letters and digits of a name, for a file.
fn slug(name: &str) -> String {
    let slug: String = name.chars().filter(|letter| letter.is_ascii_alphanumeric()).take(60).collect();
    if slug.is_empty() { "untitled".to_owned() } else { slug }
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

/// Keeps a note below a directory of its own, whatever its name begins with.
fn keep(call: &Call) -> Answer {
    let own = Path::new("notes");
    match fs::create_dir_all(own) {
        Ok(()) => write(&own.join(call.text("name").trim_start_matches('/')), call),
        Err(error) => failed(&error.to_string()),
    }
}

/// The file that an address names, without steps up.
fn addressed(call: &Call) -> PathBuf {
    flat(Path::new(call.text("url").strip_prefix("file://").unwrap_or_default()))
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
