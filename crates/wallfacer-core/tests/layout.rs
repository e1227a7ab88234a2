//! The steps stand in the order of `lib.rs`, the parts of a session in that of its `mod.rs`, and each uses only those before
//! it.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn each_step_uses_only_earlier_steps() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    look_for_forward_imports(&source, "lib.rs", "pub mod ", "crate::");
}

#[test]
fn each_part_of_a_session_uses_only_earlier_parts() {
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session");
    look_for_forward_imports(&session, "mod.rs", "mod ", "crate::session::");
}

/// The parts are declared in one file, in their order; none uses a later one.
fn look_for_forward_imports(folder: &Path, list: &str, keyword: &str, prefix: &str) {
    let declared = fs::read_to_string(folder.join(list)).unwrap();
    let parts: Vec<&str> =
        declared.lines().filter_map(|line| line.strip_prefix(keyword)?.strip_suffix(';')).collect();
    assert!(parts.len() > 5, "the parts are declared in {list}, each as `{keyword}NAME;`");
    let mut forward = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        for file in files(folder, part) {
            let text = fs::read_to_string(&file).unwrap();
            for later in parts[index + 1..].iter().filter(|later| uses(&text, prefix, later)) {
                forward.push(format!("{} uses {prefix}{later}", file.display()));
            }
        }
    }
    assert!(forward.is_empty(), "imports that point forward:\n{}", forward.join("\n"));
}

fn uses(text: &str, prefix: &str, part: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.filter_map(|line| line.split_once(prefix)).any(|(_, after)| {
        after.strip_prefix(part).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

/// The files of a step: its own, and all below its folder.
fn files(source: &Path, step: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![source.join(step)];
    if let file @ Some(_) = Some(source.join(format!("{step}.rs"))).filter(|file| file.exists()) {
        found.extend(file);
    }
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
                false => {}
            }
        }
    }
    assert!(!found.is_empty(), "{step} has no file");
    found
}
