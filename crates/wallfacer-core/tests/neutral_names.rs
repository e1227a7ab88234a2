//! Nothing in `crates/` knows a published server that wallfacer is measured on: no package and no tool of the files below
//! `WALLFACER_BENCH` is named there, in tests neither.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wallfacer_fixtures::require;

/// What names published servers because it runs them, or holds what they declare.
const ABOUT_THEM: [&str; 3] = [
    "wallfacer-core/benches/calls.rs",
    "wallfacer-core/tests/real_servers.rs",
    "wallfacer-schema/tests/data/servers",
];
/// Names that are no server's own: a default of a pack that rule files have had since its first version, and a method of
/// the protocol.
const OF_NOBODY: [&str; 2] = ["read_file", "initialize"];
/// Files below `crates/`; there are fewer.
const MAX_FILES: usize = 20_000;

#[test]
fn no_package_and_no_tool_of_the_benchmarks_is_named() {
    let Some(bench) = require("WALLFACER_BENCH, the directory with pairs.json and controls.json", bench())
    else {
        return;
    };
    let names = names(&bench);
    assert!(names.len() > 10, "{names:?}");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for file in files(crates) {
        let shown = file.strip_prefix(crates).unwrap().display().to_string();
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let exempt = ABOUT_THEM.iter().any(|place| shown.starts_with(place));
        let named = names.iter().filter(|name| !exempt && has_word(&text, name));
        found.extend(named.map(|name| format!("{shown}: {name}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[allow(
    clippy::disallowed_methods,
    reason = "tests, not the product, are told by the environment where data lies"
)]
fn bench() -> Option<PathBuf> {
    env::var_os("WALLFACER_BENCH").map(PathBuf::from)
}

/// Packages, with and without their scope, and tools that are called by more than one word.
fn names(bench: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (file, list) in [("pairs.json", "pairs"), ("controls.json", "controls")] {
        let text = fs::read_to_string(bench.join(file)).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        for entry in document[list].as_array().unwrap() {
            let package = entry["package"].as_str().unwrap_or_default();
            let plain = package.rsplit('/').next().unwrap_or_default();
            names.extend(
                [package, plain].map(str::to_owned).into_iter().filter(|name| name.contains(['-', '/'])),
            );
            let place = entry["where"].as_str().unwrap_or_default();
            // What follows a dot or a brace is an argument, and those have common names.
            let tools = place.split_whitespace().filter_map(|word| word.split(['.', '{', '(', ')']).next());
            names.extend(tools.filter(|tool| tool.contains('_')).map(str::to_owned));
        }
    }
    names.retain(|name| !name.contains(' ') && !OF_NOBODY.contains(&name.as_str()));
    names
}

fn has_word(text: &str, word: &str) -> bool {
    let inner = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        !before.chars().next_back().is_some_and(inner) && !after.chars().next().is_some_and(inner)
    })
}

fn files(root: &Path) -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
        assert!(files.len() < MAX_FILES);
    }
    files
}
