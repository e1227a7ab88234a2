//! Finds values with which calls about files are likely to work: the directories that the server was told of, files in them,
//! and the samples that were planted, by what the argument and its tool speak of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use wallfacer_text::lexicon::{Action, FieldKind, actions, words};

use super::field::Field;
use crate::catalogue::Tool;
use crate::world::{DeclaredBy, REPOSITORY, SAMPLES, sample};

/// Values for one argument.
const MAX_VALUES: usize = 8;
/// The part of a description that is read.
const MAX_DESCRIPTION: usize = 2_000;

/// Words that speak of a kind of file, each with its ending.
const ENDINGS: [(&str, &str); 53] = [
    ("xlsx", "xlsx"),
    ("xlsm", "xlsx"),
    ("excel", "xlsx"),
    ("workbook", "xlsx"),
    ("worksheet", "xlsx"),
    ("spreadsheet", "xlsx"),
    ("docx", "docx"),
    ("word", "docx"),
    ("pptx", "pptx"),
    ("powerpoint", "pptx"),
    ("presentation", "pptx"),
    ("pdf", "pdf"),
    ("csv", "csv"),
    ("tsv", "csv"),
    ("dataset", "csv"),
    ("dataframe", "csv"),
    ("json", "json"),
    ("png", "png"),
    ("image", "png"),
    ("images", "png"),
    ("photo", "png"),
    ("picture", "png"),
    ("sqlite", "db"),
    ("database", "db"),
    ("db", "db"),
    ("markdown", "md"),
    ("md", "md"),
    ("html", "html"),
    ("htm", "html"),
    ("python", "py"),
    ("py", "py"),
    ("javascript", "js"),
    ("js", "js"),
    ("typescript", "js"),
    ("xml", "xml"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("txt", "txt"),
    ("text", "txt"),
    ("svg", "svg"),
    ("jpg", "jpg"),
    ("jpeg", "jpg"),
    ("zip", "zip"),
    ("archive", "zip"),
    ("slides", "pptx"),
    ("audio", "wav"),
    ("wav", "wav"),
    ("sound", "wav"),
    ("recording", "wav"),
    ("log", "txt"),
    ("ast", "py"),
    ("symbol", "py"),
    ("symbols", "py"),
];
/// Of these, words that are used of much else.
const VAGUE: [&str; 11] =
    ["text", "word", "log", "image", "images", "json", "database", "db", "html", "archive", "recording"];
/// Texts that stand in the sample with this ending: what is replaced must be there.
const IN_TEXT: [&str; 3] = ["apples", "bread", "coffee"];
/// Words of places that something is written to.
const OUTPUTS: [&str; 9] =
    ["output", "out", "dest", "destination", "save", "export", "target", "new", "write"];
/// Words of tools and arguments that are about directories.
const DIRECTORIES: [&str; 7] = ["directory", "directories", "dir", "folder", "tree", "workspace", "root"];
const REPOSITORIES: [&str; 3] = ["git", "repo", "repository"];

/// What is there for calls about files.
#[derive(Debug, Clone, Default)]
pub struct Footholds {
    /// The narrowest directory that the server was told of.
    directory: PathBuf,
    /// A file of it that was there before.
    file: Option<PathBuf>,
    /// Whether it has the samples.
    samples: bool,
    /// What all tools of the server speak of.
    spoken: BTreeSet<String>,
    /// The words of its name.
    called: Vec<String>,
}

impl Footholds {
    /// None where the server was told of no directory.
    pub fn new(tools: &[Tool], scopes: &BTreeMap<PathBuf, DeclaredBy>, samples: bool) -> Option<Footholds> {
        let (directory, _) = scopes.iter().min_by_key(|(_, by)| **by)?;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for tool in tools {
            let said = format!("{} {}", tool.name, cut(tool.description.as_deref().unwrap_or_default()));
            let said: BTreeSet<String> = words(&said).into_iter().collect();
            said.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        }
        // What only some tools speak of says nothing of the others.
        let common = counts.into_iter().filter(|(_, count)| count * 3 >= tools.len());
        let spoken = common.map(|(word, _)| word).collect();
        let (directory, file, called) = (directory.clone(), first_file(directory), Vec::new());
        Some(Footholds { directory, file, samples, spoken, called })
    }

    /// Of a server with this name: one that is called after a kind of file works on such files.
    pub fn of_server(self, name: Option<&str>) -> Footholds {
        Footholds { called: name.map(|name| words(&cut(name))).unwrap_or_default(), ..self }
    }

    /// What to try for an argument, the likeliest first.
    pub fn of(&self, field: &Field, tool: &str, about: &str) -> Vec<Value> {
        let kind = FieldKind::of(&field.name, &field.description);
        if kind == Some(FieldKind::Sql) {
            return statements(&words(&format!("{tool} {}", cut(about))));
        }
        if field.is_text && is_text_to_find(&field.name) {
            let said = words(&format!("{tool} {}", cut(about)));
            let texts =
                [&said, &self.called].into_iter().find_map(|said| ending(said)).map_or(&IN_TEXT, in_sample);
            return texts.iter().filter(|_| self.samples).map(|text| Value::from(*text)).collect();
        }
        if !field.is_text
            || !matches!(kind, Some(FieldKind::Path | FieldKind::Directory | FieldKind::FileName))
        {
            return Vec::new();
        }
        let own: Vec<String> = words(&format!("{} {}", field.name, cut(&field.description)));
        let named = words(tool);
        let is = |said: &[String], list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
        let repository =
            is(&own, &REPOSITORIES) || is(&named, &REPOSITORIES) && kind == Some(FieldKind::Directory);
        // "Path to the repository" is the repository, "file within the repository" is not.
        let is_repository = is(&own, &REPOSITORIES) && !is(&own, &["file", "files", "relative"]);
        let directory = kind == Some(FieldKind::Directory)
            || is_repository
            || is(&own, &DIRECTORIES)
            || is(&named, &DIRECTORIES);
        let said = words(&cut(about));
        let spoken: Vec<String> = self.spoken.iter().cloned().collect();
        // What a tool's text speaks of in passing says less than what all tools speak of.
        let (clear, vague): (Vec<String>, Vec<String>) =
            said.into_iter().partition(|word| !VAGUE.contains(&word.as_str()));
        let names_files = ending(&named).is_some();
        let ending =
            [&own, &named, &self.called, &clear, &spoken, &vague].into_iter().find_map(|said| ending(said));
        // Who creates a chart wants a workbook that is there; who creates a workbook does not.
        let makes_files = actions(tool).contains(&Action::Creates)
            && (is(&named, &["file", "document", "note", "page", "directory", "folder"]) || names_files);
        let is_written = is(&words(&field.name), &OUTPUTS) || makes_files;
        let mut paths: Vec<PathBuf> = Vec::new();
        if directory || repository {
            let versioned = self.directory.join(".git").exists();
            let samples = self.samples.then(|| self.directory.join(SAMPLES));
            let planted =
                samples.as_ref().map(|samples| samples.join(REPOSITORY)).filter(|_| repository && !versioned);
            let new = samples.as_ref().unwrap_or(&self.directory).join("new");
            paths.extend(planted.into_iter().chain([self.directory.clone()]).chain(samples));
            // Who clones wants a place that is not there yet.
            if is(&named, &["clone"]) {
                paths.insert(0, new)
            } else if is_written {
                paths.push(new)
            }
        }
        if kind != Some(FieldKind::Directory) {
            let files = self.files(ending, is_written);
            if directory {
                paths.extend(files)
            } else {
                paths = files.into_iter().chain([self.directory.clone()]).chain(paths).collect()
            }
        }
        self.written(paths, kind == Some(FieldKind::FileName))
    }

    /// What to try for an argument whose refusal names these endings.
    pub fn with_endings(&self, field: &Field, refusal: &str) -> Vec<Value> {
        let kind = FieldKind::of(&field.name, &field.description);
        if !matches!(kind, Some(FieldKind::Path | FieldKind::FileName)) {
            return Vec::new();
        }
        let dotted = refusal.split(|letter: char| !letter.is_alphanumeric() && letter != '.');
        let dotted = dotted.filter_map(|word| {
            word.strip_prefix('.').or_else(|| word.rsplit_once('.').map(|(_, ending)| ending))
        });
        let ending =
            dotted.map(str::to_lowercase).find_map(|word| ENDINGS.iter().find(|(known, _)| *known == word));
        let Some((_, ending)) = ending else { return Vec::new() };
        self.written(self.files(Some(ending), false), kind == Some(FieldKind::FileName))
    }

    /// Files with this ending: one that is there, and one that is not there yet.
    fn files(&self, ending: Option<&'static str>, is_written: bool) -> Vec<PathBuf> {
        let samples = self.directory.join(SAMPLES);
        let fits = |file: &&PathBuf| {
            let own = file.extension().and_then(|own| own.to_str()).unwrap_or_default();
            ending.is_none_or(|ending| own == ending)
        };
        let known = |ending: &str| sample(ending).filter(|_| self.samples).map(|name| samples.join(name));
        let there = self.file.iter().filter(fits).cloned();
        let planted = match ending {
            Some(ending) => vec![known(ending)],
            None => vec![known("txt"), known("md")],
        };
        let place = if self.samples { &samples } else { &self.directory };
        let new = place.join(format!("new.{}", ending.unwrap_or("txt")));
        // What was there before is tried in any case.
        let there = there.chain(planted.into_iter().flatten()).chain(self.file.clone());
        match is_written {
            true => [new].into_iter().chain(there).collect(),
            false => there.chain([new]).collect(),
        }
    }

    /// As texts; each also as it is seen from the directory.
    fn written(&self, paths: Vec<PathBuf>, relative_first: bool) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        let mut keep = |path: &Path| {
            let value = path.to_str().filter(|text| !text.is_empty()).map(Value::from);
            values.extend(value.filter(|value| !values.contains(value)));
        };
        let relative =
            |path: &PathBuf| path.strip_prefix(&self.directory).map(Path::to_owned).unwrap_or_default();
        for path in &paths {
            if relative_first { keep(&relative(path)) } else { keep(path) }
        }
        for path in paths.iter().take(2) {
            if relative_first { keep(path) } else { keep(&relative(path)) }
        }
        values.truncate(MAX_VALUES);
        values
    }
}

fn in_sample(ending: &str) -> &'static [&'static str; 3] {
    match ending {
        "docx" => &["A short paragraph.", "Sample document", "The end."],
        "md" => &["A few files of every kind.", "Sample project", "Contents"],
        "py" => &["return a + b", "A small program.", "print(add(1, 2))"],
        "js" => &["return a + b;", "function add(a, b)", "module.exports"],
        "html" => &["A short page.", "<h1>Sample</h1>", "Sample"],
        "csv" => &["alpha", "beta", "gamma"],
        _ => &IN_TEXT,
    }
}

/// `old_text`, `oldString`, `find`: what an argument of this name holds is to be found in a file, and replaced.
fn is_text_to_find(name: &str) -> bool {
    const TEXTS: [&str; 7] = ["str", "string", "text", "content", "value", "line", "substring"];
    match &words(name).iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["find" | "anchor"] => true,
        ["old" | "find" | "original" | "anchor" | "target", text] => TEXTS.contains(text),
        ["text" | "string", "to", "find" | "replace"] => true,
        _ => false,
    }
}

/// A statement that changes something, for tools that speak of nothing else. It is made for itself, where nothing is kept.
fn statements(said: &[String]) -> Vec<Value> {
    const CHANGES: [&str; 6] = ["create", "insert", "update", "delete", "write", "modify"];
    let is = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    let changes = is(&CHANGES) && !is(&["select", "read"]);
    let statement = "CREATE TABLE IF NOT EXISTS sample_notes (id INTEGER PRIMARY KEY, title TEXT)";
    changes.then(|| Value::from(statement)).into_iter().collect()
}

/// The ending that the first of these words to speak of one means.
fn ending(said: &[String]) -> Option<&'static str> {
    // A word is mostly a word, and only in company a program.
    let is_meant = |word: &&String| *word != "word" || said.iter().any(|word| word.starts_with("document"));
    let mut meant = said.iter().filter(is_meant);
    meant.find_map(|word| ENDINGS.iter().find(|(known, _)| known == word)).map(|(_, ending)| *ending)
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_DESCRIPTION).collect()
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
    use crate::plan::field::fields;
    use serde_json::json;

    fn tried(tool: &str, description: &str, field: Value) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a.txt"), "").unwrap();
        let listed = json!({ "name": tool, "description": description,
            "inputSchema": { "type": "object", "properties": field } });
        let tool = Tool::read(listed.as_object().unwrap()).unwrap();
        let scopes = BTreeMap::from([
            (PathBuf::from("/"), DeclaredBy::WorkingDirectory),
            (place.path().to_owned(), DeclaredBy::CommandLine),
        ]);
        let footholds = Footholds::new(std::slice::from_ref(&tool), &scopes, true).unwrap();
        let field = fields(tool.input_schema().as_object().unwrap(), &tool.name, description).remove(0);
        let found = footholds.of(&field, &tool.name, description);
        let texts = found.iter().filter_map(Value::as_str);
        let inside = |text: &str| text.replace(place.path().to_str().unwrap(), "<here>");
        texts.map(inside).collect()
    }

    #[test]
    fn a_server_that_is_called_after_a_kind_of_file_works_on_such_files() {
        let scopes = BTreeMap::from([(PathBuf::from("/"), DeclaredBy::CommandLine)]);
        let listed = json!({ "name": "mark_line", "description": "Marks a line of text.",
            "inputSchema": { "type": "object", "properties": { "filename": { "type": "string" } } } });
        let tool = Tool::read(listed.as_object().unwrap()).unwrap();
        let field = fields(tool.input_schema().as_object().unwrap(), &tool.name, "").remove(0);
        let footholds = Footholds::new(std::slice::from_ref(&tool), &scopes, true).unwrap();
        let first =
            |footholds: &Footholds| footholds.of(&field, &tool.name, "Marks a line of text.")[0].clone();
        assert_eq!(first(&footholds), "samples/notes.txt");
        assert_eq!(first(&footholds.of_server(Some("Word Document Server"))), "samples/document.docx");
    }

    #[test]
    fn who_makes_something_within_a_file_gets_one_that_is_there() {
        let text = json!({ "type": "string" });
        let about = "Adds a chart to a workbook, with text beside it.";
        assert_eq!(tried("create_chart", about, json!({ "path": text }))[0], "<here>/samples/workbook.xlsx");
        assert_eq!(tried("create_workbook", "", json!({ "path": text }))[0], "<here>/samples/new.xlsx");
    }

    #[test]
    fn what_is_replaced_stands_in_a_file() {
        let text = json!({ "type": "string" });
        for name in ["old_text", "oldString", "find"] {
            assert_eq!(tried("edit", "", json!({ name: text }))[0], "apples", "{name}");
            assert_eq!(tried("edit_docx", "", json!({ name: text }))[0], "A short paragraph.");
        }
        assert!(tried("edit", "", json!({ "new_text": text })).is_empty());
    }

    #[test]
    fn a_path_to_the_repository_is_no_file_in_it() {
        let described = |text: &str| json!({ "path": { "type": "string", "description": text } });
        let whole = tried("repo_history", "", described("Path to the Git repository."));
        assert_eq!(whole[0], "<here>/samples/repository");
        let within = tried("repo_lines", "", described("Path of the file, relative to the repository."));
        assert_eq!(within[0], "<here>/a.txt");
        let cloned = tried("repo_clone", "", described("Local path of the repository."));
        assert_eq!(cloned[0], "<here>/samples/new");
    }

    #[test]
    fn an_argument_gets_a_file_of_the_kind_that_it_speaks_of() {
        let text = json!({ "type": "string" });
        assert_eq!(tried("read", "", json!({ "file_path": text }))[0], "<here>/a.txt");
        assert_eq!(tried("read_pdf", "", json!({ "file": text }))[0], "<here>/samples/document.pdf");
        assert_eq!(
            tried("t", "Reads an Excel workbook", json!({ "path": text }))[0],
            "<here>/samples/workbook.xlsx"
        );
        assert_eq!(tried("create_workbook", "", json!({ "filepath": text }))[0], "<here>/samples/new.xlsx");
        assert_eq!(tried("show", "", json!({ "repo_path": text }))[0], "<here>/samples/repository");
        assert_eq!(tried("list_directory", "", json!({ "path": text }))[0], "<here>");
        assert!(tried("say", "", json!({ "text": text })).is_empty());
        assert!(tried("write_query", "", json!({ "sql": text }))[0].starts_with("CREATE TABLE"));
        assert!(tried("read_query", "", json!({ "sql": text })).is_empty());
    }
}
