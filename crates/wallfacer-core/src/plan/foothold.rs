//! Finds values with which calls about files are likely to work: the directories that the server was told of, and files
//! in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::guard::words;
use super::lesson::Lesson;
use crate::catalogue::Tool;
use crate::world::DeclaredBy;

/// Words in the names of fields that want a directory, and of those that want a file.
const DIRECTORY: [&str; 10] =
    ["cwd", "dir", "directory", "folder", "path", "project", "repo", "repository", "root", "workspace"];
const FILE: [&str; 7] = ["file", "filename", "filepath", "files", "path", "paths", "source"];

/// What to try for each field of these tools whose name asks for a place: the narrowest scope, and a file in it.
pub fn footholds(tools: &[Tool], scopes: &BTreeMap<PathBuf, DeclaredBy>) -> Vec<Lesson> {
    let Some((directory, _)) = scopes.iter().min_by_key(|(_, by)| **by) else { return Vec::new() };
    let file = first_file(directory);
    let properties = |tool: &Tool| tool.input_schema.get("properties").and_then(Value::as_object).cloned();
    let fields: BTreeSet<String> = tools
        .iter()
        .filter_map(properties)
        .flat_map(|fields| fields.into_iter().map(|(name, _)| name))
        .collect();
    let mut lessons = Vec::new();
    for field in fields {
        let words = words(&field);
        let wants = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let file = file.as_ref().filter(|_| wants(&FILE));
        let directory = Some(directory).filter(|_| wants(&DIRECTORY));
        for path in [file, directory].into_iter().flatten().filter_map(|path| path.to_str()) {
            lessons.push(Lesson { field: field.clone(), value: Value::from(path) });
        }
    }
    lessons
}

/// The same one each time.
fn first_file(directory: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(directory).ok()?.flatten();
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    entries.map(|entry| entry.path()).filter(|path| path.is_file() && !hidden(path)).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;
    use serde_json::json;

    #[test]
    fn fields_that_ask_for_a_place_get_the_scope_and_a_file_of_it() {
        let place = tempfile::tempdir().unwrap();
        for name in ["b.txt", "a.txt", ".hidden"] {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let fields = json!({ "repoPath": {}, "source-file": {}, "max_dirt": {}, "text": {} });
        let listed = json!({ "name": "t", "inputSchema": { "type": "object", "properties": fields } });
        let tool = Tool::read(listed.as_object().unwrap()).unwrap();
        let scopes = BTreeMap::from([
            (PathBuf::from("/"), DeclaredBy::WorkingDirectory),
            (place.path().to_owned(), DeclaredBy::CommandLine),
        ]);
        let file = place.path().join("a.txt");
        let lesson = |field: &str, path: &Path| Lesson { field: field.into(), value: json!(path) };
        assert_eq!(
            footholds(&[tool], &scopes),
            [lesson("repoPath", &file), lesson("repoPath", place.path()), lesson("source-file", &file)]
        );
    }
}
