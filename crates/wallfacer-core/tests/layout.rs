//! The steps stand in the order of `lib.rs`, and each uses only steps before it.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn each_step_uses_only_earlier_steps() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let library = fs::read_to_string(source.join("lib.rs")).unwrap();
    let steps: Vec<&str> =
        library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert!(steps.len() > 5, "the steps are declared in lib.rs, each as `pub mod NAME;`");
    let mut forward = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        for file in files(&source, step) {
            let text = fs::read_to_string(&file).unwrap();
            for later in steps[index + 1..].iter().filter(|later| uses(&text, later)) {
                forward.push(format!("{} uses crate::{later}", file.display()));
            }
        }
    }
    assert!(forward.is_empty(), "imports that point forward:\n{}", forward.join("\n"));
}

fn uses(text: &str, step: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.filter_map(|line| line.split_once("crate::")).any(|(_, after)| {
        after.strip_prefix(step).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
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
