//! Every message that a wrong file can cause is a snapshot: it names the place, what is wrong there, and what to do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use wallfacer_rules::Rules;

fn bad_files() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad"));
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn message(text: &str) -> String {
    let loader = |name: &str| {
        (name == "loop").then(|| "version: 2\nmetadata: { extends: [loop] }\ninvariants: []\n".to_owned())
    };
    match Rules::read("rules.yaml", text, &BTreeMap::new(), &loader) {
        Ok(_) => "it loaded".into(),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn every_wrong_file_is_told_what_and_where() {
    let files = bad_files();
    assert!(files.len() >= 30, "{} files", files.len());
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        insta::assert_snapshot!(name, message(&fs::read_to_string(&file).unwrap()));
    }
}

#[test]
fn a_file_that_is_too_long_is_refused_without_being_read() {
    let text = format!("version: 4\n# {}\n", "x".repeat(2 << 20));
    assert!(message(&text).contains("bytes long, and 1048576 are allowed"), "{}", message(&text));
}

#[test]
fn a_parameter_that_no_file_declares_is_named() {
    let given = BTreeMap::from([("witnes_tool".to_owned(), "x".into())]);
    let text = "version: 2\nmetadata: { parameters: { witness_tool: { default: echo } } }\ninvariants: []\n";
    let problems = Rules::read("rules.yaml", text, &given, &|_| None).unwrap_err().to_string();
    assert!(problems.contains("`witnes_tool` is not declared here"), "{problems}");
    assert!(problems.contains("did you mean `witness_tool`?"), "{problems}");
}
