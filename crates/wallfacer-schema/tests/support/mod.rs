//! Where test schemas come from, and the independent judge.
#![allow(dead_code, clippy::disallowed_methods)]

use serde_json::Value;
use std::{fs, path::Path, path::PathBuf};

/// One schema of the official suite with its instances.
pub struct Case {
    pub name: String,
    pub draft: String,
    pub schema: Value,
    pub tests: Vec<(Value, bool, String)>,
}

/// The official suite, where `JSON_SCHEMA_TEST_SUITE` says it is. Nothing without it, unless everything is required.
pub fn suite(draft: &str) -> Option<Vec<Case>> {
    let Some(root) = std::env::var_os("JSON_SCHEMA_TEST_SUITE").map(PathBuf::from) else {
        assert_ne!(
            std::env::var("WALLFACER_REQUIRE_ALL").as_deref(),
            Ok("1"),
            "JSON_SCHEMA_TEST_SUITE is not set, and all tests are required"
        );
        return None;
    };
    let folder = root.join("tests").join(draft);
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    Some(files.iter().flat_map(|file| cases(file, &folder, draft)).collect())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the suite's folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
}

fn cases(file: &Path, folder: &Path, draft: &str) -> Vec<Case> {
    let text = fs::read_to_string(file).expect("a readable file");
    let groups: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let short = file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let case = |group: Value| {
        let mut schema = group["schema"].clone();
        // Older drafts do not say in each schema which draft they are.
        if let Value::Object(keywords) = &mut schema
            && !keywords.contains_key("$schema")
            && let Some(uri) = uri_of(draft)
        {
            keywords.insert("$schema".to_owned(), uri.into());
        }
        let tests = group["tests"].as_array().expect("tests").iter();
        let test = |test: &Value| {
            let description = test["description"].as_str().unwrap_or("").to_owned();
            (test["data"].clone(), test["valid"] == true, description)
        };
        Case {
            name: format!("{short}: {}", group["description"].as_str().unwrap_or("")),
            draft: draft.to_owned(),
            schema,
            tests: tests.map(test).collect(),
        }
    };
    groups.into_iter().map(case).collect()
}

fn uri_of(draft: &str) -> Option<&'static str> {
    match draft {
        "draft4" => Some("http://json-schema.org/draft-04/schema#"),
        "draft6" => Some("http://json-schema.org/draft-06/schema#"),
        "draft7" => Some("http://json-schema.org/draft-07/schema#"),
        "draft2019-09" => Some("https://json-schema.org/draft/2019-09/schema"),
        _ => None,
    }
}

/// The judge that shares no code with us: formats asserted, nothing fetched.
pub fn judge(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::options().should_validate_formats(true).build(schema).map_err(|error| error.to_string())
}

/// One tool of a real server, as the server lists it.
pub struct Tool {
    pub name: String,
    pub schema: Value,
}

/// All recorded input and output schemas.
pub fn tools() -> Vec<Tool> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/servers");
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    let mut tools = Vec::new();
    for file in files {
        let server: Value =
            serde_json::from_str(&fs::read_to_string(&file).expect("a readable file")).expect("JSON");
        for tool in server["tools"].as_array().expect("tools") {
            for side in ["inputSchema", "outputSchema"] {
                if let Some(schema) = tool.get(side) {
                    let package = server["package"].as_str().unwrap_or("");
                    let name = format!("{package} {} {side}", tool["name"].as_str().unwrap_or(""));
                    tools.push(Tool { name, schema: schema.clone() });
                }
            }
        }
    }
    tools
}
