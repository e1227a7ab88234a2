//! Reads from the code of a server which members it expects in the answers of services: where its errors name none, its own
//! code does. Only names are taken, within bounds, and no link is followed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// Names that are taken.
const MAX_NAMES: usize = 48;
const MAX_FILES: usize = 300;
/// The largest file that is read; larger ones are bundles of many libraries.
const MAX_FILE: u64 = 1 << 20;
const MAX_BYTES: u64 = 8 << 20;
const MAX_DEPTH: usize = 6;
/// Directories above a script in which its package is looked for.
const MAX_ABOVE: usize = 6;
/// What answers and lists have by themselves.
const OWN: [&str; 32] = [
    "append",
    "body",
    "catch",
    "content",
    "data",
    "entries",
    "filter",
    "find",
    "forEach",
    "headers",
    "items",
    "join",
    "json",
    "keys",
    "length",
    "map",
    "message",
    "ok",
    "pop",
    "push",
    "raise_for_status",
    "reduce",
    "slice",
    "some",
    "sort",
    "split",
    "status",
    "statusText",
    "status_code",
    "text",
    "then",
    "values",
];

/// Names of members that the code behind this command reads from answers, the most frequent first.
pub fn expected_members(command: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for text in command.iter().filter_map(|word| package_of(Path::new(word))).flat_map(|root| texts(&root)) {
        read_names(&text, &mut counts);
    }
    let mut names: Vec<(String, usize)> = counts.into_iter().collect();
    names.sort_by(|(one, many), (other, more)| more.cmp(many).then_with(|| one.cmp(other)));
    names.into_iter().take(MAX_NAMES).map(|(name, _)| name).collect()
}

/// The directory with the code that a file of a command line belongs to.
fn package_of(file: &Path) -> Option<PathBuf> {
    let is_file = fs::metadata(file).is_ok_and(|about| about.is_file() && about.len() <= MAX_FILE);
    if !file.is_absolute() || !is_file {
        return None;
    }
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("js" | "mjs" | "cjs" | "ts") => file
            .ancestors()
            .skip(1)
            .take(MAX_ABOVE)
            .find(|above| above.join("package.json").is_file())
            .map(Path::to_owned),
        Some("py") => file.parent().map(Path::to_owned),
        _ => installed_module(file),
    }
}

/// The module that a script of a virtual environment starts.
fn installed_module(script: &Path) -> Option<PathBuf> {
    static STARTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^from (\w+)[\w.]* import ").expect("a fixed pattern"));
    let text = fs::read_to_string(script).ok().filter(|text| text.starts_with("#!"))?;
    let module = STARTS.captures(&text)?[1].to_owned();
    let libraries = fs::read_dir(script.parent()?.parent()?.join("lib")).ok()?.flatten();
    let mut places = libraries.map(|library| library.path().join("site-packages").join(&module));
    places.find(|place| place.is_dir())
}

fn texts(root: &Path) -> Vec<String> {
    let mut open = vec![(root.to_owned(), 0)];
    let (mut texts, mut bytes) = (Vec::new(), 0);
    while let Some((directory, depth)) = open.pop() {
        let mut entries: Vec<_> =
            fs::read_dir(&directory).into_iter().flatten().flatten().take(MAX_FILES).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if kind.is_dir() && depth < MAX_DEPTH && !is_hidden && entry.file_name() != "node_modules" {
                open.push((path.clone(), depth + 1));
            }
            let is_code = path
                .extension()
                .is_some_and(|ending| ["js", "mjs", "cjs", "py"].iter().any(|code| ending == *code));
            let size = entry.metadata().map_or(u64::MAX, |about| about.len());
            if !kind.is_file()
                || !is_code
                || size > MAX_FILE
                || bytes + size > MAX_BYTES
                || texts.len() >= MAX_FILES
            {
                continue;
            }
            bytes += size;
            texts.extend(fs::read_to_string(&path).ok());
        }
    }
    texts
}

fn read_names(text: &str, counts: &mut BTreeMap<String, usize>) {
    const ANSWER: &str = r"(?:response|resp|res|data|json|body|result|reply|payload)";
    static TAKEN_APART: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(r"(?:const|let|var)\s*\{{([^{{}}]{{1,300}})\}}\s*=\s*(?:await\s+|yield\s+)?[\w$.?()]{{0,60}}\b{ANSWER}\b"))
            .expect("a fixed pattern")
    });
    static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(r"\b{ANSWER}(?:\.data|\.body)?\??\.([A-Za-z_$][\w$]{{1,40}})(?:[^\w$(]|$)"))
            .expect("a fixed pattern")
    });
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(r#"\b{ANSWER}(?:\.json\(\))?(?:\[|\.get\()\s*["']([A-Za-z_]\w{{1,40}})["']"#))
            .expect("a fixed pattern")
    });
    let apart = TAKEN_APART.captures_iter(text).flat_map(|found| {
        let names = found.get(1).map(|names| names.as_str()).unwrap_or_default();
        names
            .split(',')
            .map(|name| name.split([':', '=']).next().unwrap_or_default().trim())
            .collect::<Vec<_>>()
    });
    let named = MEMBER.captures_iter(text).chain(KEY.captures_iter(text));
    let named = named.filter_map(|found| Some(found.get(1)?.as_str()));
    let is_name = |name: &&str| {
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        // A member that tells of a failure would be taken for one.
        let tells =
            ["error", "fail", "fault", "exception"].iter().any(|word| name.to_lowercase().contains(word));
        letters && !tells && name.len() > 1 && name.len() <= 40 && !OWN.contains(name)
    };
    for name in apart.chain(named).filter(is_name) {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_code_of_the_package_and_of_no_other() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        write("package.json", "{}");
        write("node_modules/other/a.js", "const { foreign } = response.data;");
        write(
            "build/shop.js",
            "const { fine, errorText, shelfObj: shelf } = response.data;\nreturn data.lampList.map(f);",
        );
        let start = write("build/index.js", "run();");
        assert_eq!(expected_members(&["node".into(), start]), ["fine", "lampList", "shelfObj"]);
    }

    #[test]
    fn the_module_behind_a_script_is_found() {
        let place = tempfile::tempdir().unwrap();
        let module = place.path().join("lib/python3.11/site-packages/shop");
        fs::create_dir_all(&module).unwrap();
        fs::create_dir_all(place.path().join("bin")).unwrap();
        fs::write(
            module.join("api.py"),
            "for lamp in data[\"lamps\"]:\n    name = response.json().get('label')\n",
        )
        .unwrap();
        let script = place.path().join("bin/shop");
        fs::write(&script, "#!/usr/bin/python\nfrom shop.main import main\nmain()\n").unwrap();
        assert_eq!(expected_members(&[script.to_str().unwrap().to_owned()]), ["label", "lamps"]);
        assert!(expected_members(&["shop".into(), "/nowhere/x.js".into()]).is_empty());
    }
}
