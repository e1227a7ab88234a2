//! Reads from the code of a server which members it expects in the answers of services: where its errors name none, its own
//! code does. Only names are taken, within bounds, and no link is followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use wallfacer_process::sink::Type;

/// Names that are taken.
const MAX_NAMES: usize = 48;
const MAX_FILES: usize = 300;
/// The largest file that is read for all that it expects; larger ones are bundles of many libraries.
const MAX_FILE: u64 = 1 << 20;
/// The largest in which one thing is looked for.
const MAX_BUNDLE: u64 = 8 << 20;
const MAX_BYTES: u64 = 16 << 20;
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

/// How states are called in which something that was waited for is done.
const DONE: [&str; 9] =
    ["complete", "completed", "succeeded", "success", "done", "finished", "ready", "processed", "ok"];

/// A member that is read from answers, with its type where the code shows it.
pub type Expected = (String, Option<Type>);

/// How often a member is read, and as what.
#[derive(Debug, Default)]
struct Read {
    times: usize,
    lists: usize,
    objects: usize,
}

/// Members that the code behind this command reads from answers, the most frequent first.
pub fn expected_members(command: &[String]) -> Vec<Expected> {
    let mut counts: BTreeMap<String, Read> = BTreeMap::new();
    let mut states: BTreeMap<String, Value> = BTreeMap::new();
    for text in packages(command).iter().flat_map(|root| texts(root, MAX_FILE)) {
        read_names(&text, &mut counts);
        read_states(&text, &mut states);
    }
    let mut names: Vec<(String, Read)> = counts.into_iter().collect();
    names.sort_by(|(one, many), (other, more)| more.times.cmp(&many.times).then_with(|| one.cmp(other)));
    let names = names.into_iter().map(|(name, read)| {
        let is = match (read.lists, read.objects) {
            (0, 0) => None,
            (lists, objects) if lists >= objects => Some(Type::List),
            _ => Some(Type::Object),
        };
        (name, is)
    });
    let states = states.into_iter().map(|(name, value)| (name, Some(Type::Is(value))));
    names.take(MAX_NAMES).chain(states).collect()
}

/// Members of which the code behind this command asks this (`fullName` in `one.fullName.split`), the most frequent first:
/// where a server asked it of nothing, one of them was missing.
pub fn members_asked_for(command: &[String], wanted: &str) -> Vec<String> {
    if wanted.is_empty() || !wanted.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Vec::new();
    }
    let name = r"[A-Za-z_$][\w$]{1,40}";
    let asked = format!(r#"(?:\.({name})|\[["']({name})["']\]|\.get\(["']({name})["']\))\??\.{wanted}\b"#);
    let Ok(asked) = Regex::new(&asked) else { return Vec::new() };
    let mut counts: BTreeMap<String, Read> = BTreeMap::new();
    for text in packages(command).iter().flat_map(|root| texts(root, MAX_BUNDLE)) {
        for found in asked.captures_iter(&text) {
            let name = (1..=3).find_map(|group| found.get(group)).map_or("", |name| name.as_str());
            count(name, None, &mut counts);
        }
    }
    let mut names: Vec<(String, Read)> = counts.into_iter().collect();
    names.sort_by(|(one, many), (other, more)| more.times.cmp(&many.times).then_with(|| one.cmp(other)));
    names.into_iter().map(|(name, _)| name).take(MAX_NAMES / 2).collect()
}

/// The directories with the code that a command line starts: of the files in it, and of the module behind `-m`.
fn packages(command: &[String]) -> BTreeSet<PathBuf> {
    let files = command.iter().filter_map(|word| package_of(Path::new(word)));
    let modules = command.windows(2).filter(|pair| pair[0] == "-m");
    let interpreter = command.first().map(Path::new);
    let modules = modules.filter_map(|pair| module_of(interpreter?, pair[1].split('.').next()?));
    files.chain(modules).collect()
}

/// The directory with the code that a file of a command line belongs to.
fn package_of(file: &Path) -> Option<PathBuf> {
    let is_file = fs::metadata(file).is_ok_and(|about| about.is_file() && about.len() <= MAX_BUNDLE);
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
    module_of(script, &STARTS.captures(&text)?[1])
}

/// The module of this name in the environment that a program belongs to.
fn module_of(program: &Path, module: &str) -> Option<PathBuf> {
    let libraries = fs::read_dir(program.parent()?.parent()?.join("lib")).ok()?.flatten();
    let mut places = libraries.map(|library| library.path().join("site-packages").join(module));
    places.find(|place| place.is_dir())
}

fn texts(root: &Path, largest: u64) -> Vec<String> {
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
                || size > largest
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

fn read_names(text: &str, counts: &mut BTreeMap<String, Read>) {
    const ANSWER: &str = r"(?:response|resp|res|data|json|body|result|reply|payload)";
    static TAKEN_APART: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(r"(?:const|let|var)\s*\{{([^{{}}]{{1,300}})\}}\s*=\s*(?:await\s+|yield\s+)?[\w$.?()]{{0,60}}\b{ANSWER}\b"))
            .expect("a fixed pattern")
    });
    static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(
            r"\b{ANSWER}(?:\.data|\.body)?\??\.([A-Za-z_$][\w$]{{1,40}})(?:\??\.([A-Za-z_$][\w$]*)(?:\??\.([A-Za-z_$][\w$]*))?|[^\w$(]|$)"
        ))
        .expect("a fixed pattern")
    });
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!(r#"\b{ANSWER}(?:\.json\(\))?(?:\[|\.get\()\s*["']([A-Za-z_]\w{{1,40}})["']\s*(,\s*\[|,\s*\{{|\]\s*\[\s*["']|\]\s*\[\s*\d)?"#))
            .expect("a fixed pattern")
    });
    // Lists and objects are read from whatever holds a part of an answer.
    static LIST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[\w$)\]]\??\.([A-Za-z_$][\w$]{1,40})\??\.(?:map|forEach|flatMap|filter|reduce|some|every)\(|[\w$)\]]\??\.([A-Za-z_$][\w$]{1,40})(?:\?\.)?\[0\]")
            .expect("a fixed pattern")
    });
    static DEFAULT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\.get\(\s*["']([A-Za-z_]\w{1,40})["']\s*,\s*([\[{])"#).expect("a fixed pattern")
    });
    for found in TAKEN_APART.captures_iter(text) {
        for name in found[1].split(',') {
            count(name.split([':', '=']).next().unwrap_or_default().trim(), None, counts);
        }
    }
    for found in MEMBER.captures_iter(text) {
        let names: Vec<&str> =
            (1..=3).filter_map(|group| found.get(group)).map(|name| name.as_str()).collect();
        let is_called = found.get(0).is_some_and(|all| text[all.end()..].starts_with('('));
        for (place, name) in names.iter().enumerate() {
            let next = names.get(place + 1);
            // What is called, or what a list or a text has of its own, is no member of an answer.
            let is_own = place > 0 && holds(name) != Some(Type::Object);
            if is_own || is_called && place > 0 && next.is_none() {
                break;
            }
            count(name, next.and_then(|next| holds(next)), counts);
        }
    }
    for found in LIST.captures_iter(text) {
        let name = found.get(1).or_else(|| found.get(2)).map_or("", |name| name.as_str());
        count(name, Some(Type::List), counts);
    }
    for found in DEFAULT.captures_iter(text) {
        count(&found[1], Some(if &found[2] == "[" { Type::List } else { Type::Object }), counts);
    }
    for found in KEY.captures_iter(text) {
        let is = found.get(2).and_then(|of| of.as_str().chars().last()).map(|last| match last {
            '{' | '"' | '\'' => Type::Object,
            _ => Type::List,
        });
        count(&found[1], is, counts);
    }
}

/// What a value is of which this is asked.
fn holds(member: &str) -> Option<Type> {
    match member {
        "map" | "forEach" | "filter" | "reduce" | "some" | "every" | "flatMap" | "find" | "sort" => {
            Some(Type::List)
        }
        // A text has these too.
        member if member.starts_with("to") || MEMBERS_OF_ALL.contains(&member) => None,
        _ => Some(Type::Object),
    }
}

/// What texts have as well as lists, and so tells neither.
const MEMBERS_OF_ALL: [&str; 14] = [
    "concat",
    "endsWith",
    "includes",
    "indexOf",
    "length",
    "match",
    "padEnd",
    "padStart",
    "replace",
    "slice",
    "split",
    "startsWith",
    "substring",
    "trim",
];

fn count(name: &str, is: Option<Type>, counts: &mut BTreeMap<String, Read>) {
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // A member that tells of a failure would be taken for one.
    let tells = ["error", "fail", "fault", "exception"].iter().any(|word| name.to_lowercase().contains(word));
    if !letters || tells || name.len() < 2 || name.len() > 40 || OWN.contains(&name) {
        return;
    }
    let read = counts.entry(name.to_owned()).or_default();
    read.times += 1;
    match is {
        Some(Type::List) => read.lists += 1,
        Some(_) => read.objects += 1,
        None => {}
    }
}

/// What a state or a code must be for a program to go on: what its code compares it with.
fn read_states(text: &str, states: &mut BTreeMap<String, Value>) {
    static COMPARED: LazyLock<Regex> = LazyLock::new(|| {
        let name = "status|state|stat|code|err_?code|error_code|errno|ret|ret_?code|result_?code|success|ok";
        let quoted = r#""[\w-]{1,20}"|'[\w-]{1,20}'|`[\w-]{1,20}`"#;
        Regex::new(&format!(
            r#"\b({name})(?:["']\]|["'][^\n()]{{0,20}}\))?\s*(===?|!==?)\s*({quoted}|\d{{1,8}}\b|true\b|True\b)"#
        ))
        .expect("a fixed pattern")
    });
    for found in COMPARED.captures_iter(text) {
        let literal = found[3].trim_matches(['"', '\'', '`']);
        let is_text = literal.len() < found[3].len();
        let done = is_text && DONE.contains(&literal.to_lowercase().as_str());
        // Who goes on only where it is this throws where it is not. A number of three digits is a status of HTTP.
        let demanded = found[2].starts_with('!') && (is_text || literal.len() != 3);
        let value = match literal {
            _ if is_text => Value::from(literal),
            "true" | "True" => Value::from(true),
            number => number.parse::<u64>().map_or(Value::Null, Value::from),
        };
        let tells =
            ["error", "fail", "pending", "running"].iter().any(|word| literal.to_lowercase().contains(word));
        if (done || demanded) && !tells && !value.is_null() {
            states.entry(found[1].to_owned()).or_insert(value);
        }
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
            "const { fine, errorText, shelfObj: shelf } = response.data;\nreturn data.lampList.map(f);\n\
             const safe = response.extra.is_safe;\nconst from = way.steps[0].from;\nwhile (job.status !== 'finished') await nap();",
        );
        let start = write("build/index.js", "run();");
        let expected = [
            ("lampList".to_owned(), Some(Type::List)),
            ("extra".to_owned(), Some(Type::Object)),
            ("fine".to_owned(), None),
            ("is_safe".to_owned(), None),
            ("shelfObj".to_owned(), None),
            ("steps".to_owned(), Some(Type::List)),
            ("status".to_owned(), Some(Type::Is("finished".into()))),
        ];
        assert_eq!(expected_members(&["node".into(), start]), expected);
    }

    #[test]
    fn what_an_answer_must_say_is_read_from_what_it_is_compared_with() {
        let read = |text: &str| {
            let mut states = BTreeMap::new();
            read_states(text, &mut states);
            states.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(read("if (data.status !== \"1\") { throw x; }"), ["status=\"1\""]);
        assert_eq!(
            read("if data['code'] != 0:\n    raise X\nif answer.get('ok') != True:"),
            ["code=0", "ok=true"]
        );
        assert_eq!(read("while (job.state === 'done') {}"), ["state=\"done\""]);
        for other in
            ["if (response.status !== 200) {}", "if (x.status === 'open') {}", "if (x.state !== 'failed') {}"]
        {
            assert!(read(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn what_something_is_asked_of_is_found() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("package.json"), "{}").unwrap();
        let start = place.path().join("index.js");
        let code = "rows.map((row) => row.fullName.split('_')); a['second name'].split(','); b['other']?.split(',');\n\
                    x.fullName.split(' '); y.plain.trim(); z.more.splitter();";
        fs::write(&start, code).unwrap();
        let command = ["node".to_owned(), start.to_str().unwrap().to_owned()];
        assert_eq!(members_asked_for(&command, "split"), ["fullName", "other"]);
        assert_eq!(members_asked_for(&command, "spl.t"), Vec::<String>::new());
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
        let expected = [("label".to_owned(), None), ("lamps".to_owned(), None)];
        assert_eq!(expected_members(&[script.to_str().unwrap().to_owned()]), expected);
        let python = place.path().join("bin/python").to_str().unwrap().to_owned();
        assert_eq!(expected_members(&[python, "-m".into(), "shop.main".into()]), expected);
        assert!(expected_members(&["shop".into(), "/nowhere/x.js".into()]).is_empty());
    }
}
