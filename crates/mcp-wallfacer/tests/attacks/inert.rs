//! A server whose every text acts where it is printed as it is: nothing of it does, whatever the command and the form.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use serde_json::Value;
use wallfacer_fixtures::{HOSTILE_TEXTS, acting, require};

use crate::lanes::each;
use crate::walls::server;
use crate::world::{Outcome, World, fixture};

/// One command, what of the hostile texts its report must show so that the test proves something, and the form of it.
struct Step {
    typed: &'static str,
    shows: &'static [&'static str],
    form: Form,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Text,
    Json,
    Sarif,
    /// Annotations: lines that are commands, and ours alone.
    Github,
    /// What is rendered: links, pictures and tags are ours alone.
    Markdown,
    Tags,
}

const fn text(typed: &'static str, shows: &'static [&'static str]) -> Step {
    Step { typed, shows, form: Form::Text }
}

const fn json(typed: &'static str, shows: &'static [&'static str]) -> Step {
    Step { typed, shows, form: Form::Json }
}

const fn of(form: Form, typed: &'static str) -> Step {
    Step { typed, shows: &["forged"], form }
}

const fn sarif(typed: &'static str) -> Step {
    Step { typed, shows: &["owned", "evil.test"], form: Form::Sarif }
}

/// Every command that shows what a server said. The later ones read what the earlier ones left on disk.
const STEPS: &[Step] = &[
    text("doctor -- hostile", &["owned", "add-mask::forged"]),
    json("doctor --format json -- hostile", &["owned", "forged"]),
    text("doctor -- hostile refuses", &["owned"]),
    text("doctor -- hostile babbles", &["forged"]),
    json("fuzz --dry-run --format json --iterations 3 -- hostile", &["owned"]),
    text("fuzz --dry-run --iterations 3 -- hostile", &["owned", "forged"]),
    text(
        "fuzz --iterations 3 --budget 120s --corpus-feedback --events events.jsonl -- hostile",
        &["owned", "forged"],
    ),
    json("fuzz --iterations 3 --budget 120s --format json -- hostile", &["owned", "forged"]),
    sarif("fuzz --iterations 3 --budget 120s --format sarif -- hostile"),
    text("fuzz --iterations 3 --budget 120s -o report.txt -- hostile", &[]),
    text("fuzz --iterations 3 --budget 120s --format json -o report.json -- hostile", &[]),
    text("fuzz --iterations 3 --budget 120s --format sarif -o report.sarif.json -- hostile", &[]),
    // What was stored of the last run is shown in every form that there is.
    text("report", &["forged"]),
    text("report --list", &[]),
    json("report --format json", &["forged"]),
    sarif("report --format sarif"),
    json("report --format gitlab", &["forged"]),
    text("report --format agent", &["forged"]),
    of(Form::Github, "report --format github"),
    of(Form::Markdown, "report --format markdown"),
    of(Form::Tags, "report --format html"),
    of(Form::Tags, "report --format junit"),
    // The same from the reports of two parts of a run.
    text("fuzz --shard 1/2 --iterations 3 --budget 120s --report json=part-1.json -- hostile", &[]),
    text("fuzz --shard 2/2 --iterations 3 --budget 120s --report json=part-2.json -- hostile", &[]),
    text("merge part-1.json part-2.json", &["forged"]),
    json("merge part-1.json part-2.json --format json", &["forged"]),
    sarif("merge part-1.json part-2.json --format sarif"),
    json("merge part-1.json part-2.json --format gitlab", &["forged"]),
    text("merge part-1.json part-2.json --format agent", &["forged"]),
    of(Form::Github, "merge part-1.json part-2.json --format github"),
    of(Form::Markdown, "merge part-1.json part-2.json --format markdown"),
    of(Form::Tags, "merge part-1.json part-2.json --format html"),
    of(Form::Tags, "merge part-1.json part-2.json --format junit"),
    // What these do ends by itself; with a budget that they need, none of them is stopped on a busy machine.
    text(
        "check --budget 120s --report json=check.json --report html=check.html -- hostile",
        &["owned", "forged"],
    ),
    text("torture --budget 120s -- hostile", &["owned"]),
    text("behave --calls 2 --budget 120s --out-dir kept --show-noise -- hostile", &["owned", "forged"]),
    json("behave --calls 2 --budget 120s --format json -- hostile", &["owned", "forged"]),
    text("lock --calls 2 -- hostile", &[]),
    text("lock --calls 2 --check -- hostile changed", &["owned", "forged"]),
    json("lock --calls 2 --check --format json -- hostile changed", &["owned", "forged"]),
    text("behave --calls 2 --budget 120s -- hostile changed", &["owned", "forged"]),
    text("differential --learn --iterations 3 -- hostile", &["owned", "forged"]),
    text("differential --iterations 3 --budget 120s -- hostile", &["forged"]),
    text("property --pack-all --budget 120s -- hostile", &["owned"]),
    // Each bug is told once, so not every name stands there.
    Step { shows: &["forged"], ..sarif("property --pack-all --budget 120s --format sarif -- hostile") },
    text("suggest -- hostile", &["owned"]),
    text("suggest --format toml -- hostile", &["owned"]),
    json("suggest --format json -- hostile", &["owned"]),
    text("suggest --write -- hostile", &["owned"]),
    text("coverage -- hostile", &["owned", "forged"]),
    json("coverage --format json -- hostile", &["owned", "forged"]),
    text("ci --iterations 2 --budget 120s --accept because -- hostile", &["owned"]),
    text("ci --iterations 2 --budget 120s -- hostile", &["owned"]),
    text("corpus list", &["owned", "forged"]),
    json("corpus list --format json", &["owned", "forged"]),
    text("corpus replay --all", &["owned", "forged"]),
    json("corpus replay --all --format json", &["owned", "forged"]),
    text("diff nothing .wallfacer/corpus", &["owned", "forged"]),
    json("diff nothing .wallfacer/corpus --format json", &["owned", "forged"]),
    text("pack list", &[]),
];

/// Was open: the progress line, `replay --show-payload`, `suggest`, `lock --check` and JSON documents let characters
/// through; lines could begin with `::`, and SARIF kept links.
#[test]
fn nothing_that_a_server_says_acts_in_any_output() {
    let world = World::new();
    fs::create_dir(world.here().join("nothing")).unwrap();
    let mut faults = Vec::new();
    for step in STEPS {
        let outcome = run(&world, step.typed);
        faults.extend(faults_of(step, &outcome));
    }
    let stored = world.files().into_iter().filter(|file| file.starts_with(".wallfacer/corpus/"));
    let ids = stored.map(|file| file.rsplit('/').next().unwrap().trim_end_matches(".json").to_owned());
    let shown = ids.flat_map(|id| {
        let typed = format!("corpus show {id}");
        [(format!("{typed} --format json"), Form::Json), (typed, Form::Text)]
    });
    let tried_again = one_of_each_kind(&world).into_iter().flat_map(|id| {
        let typed = format!("replay {id} --show-payload");
        let smaller = format!("corpus minimize {id} --budget 3s");
        [(format!("{typed} --format json"), Form::Json), (typed, Form::Text), (smaller, Form::Text)]
    });
    let found = Mutex::new(Vec::new());
    each(shown.chain(tried_again).collect::<Vec<_>>(), |(typed, form)| {
        let faults = faults_in(&typed, form, &run(&world, &typed));
        found.lock().unwrap().extend(faults);
    });
    faults.extend(found.into_inner().unwrap());
    let files = world.files();
    for wanted in [
        "events.jsonl",
        "report.txt",
        "report.sarif.json",
        "check.json",
        "check.html",
        "kept/trace.jsonl",
        "kept/manifest.json",
        "wallfacer.lock",
        "wallfacer-schemas.json",
        "wallfacer-baseline.toml",
        "wallfacer.toml",
    ] {
        assert!(files.contains(wanted), "{wanted} was not written: {files:?}");
    }
    assert!(files.iter().any(|file| file.starts_with(".wallfacer/inputs/")), "{files:?}");
    for file in &files {
        let text = world.read(file);
        faults.extend(acting(&text).into_iter().map(|fault| format!("the file {file}: {fault}")));
        if file.ends_with(".json") {
            faults.extend(serde_json::from_str::<Value>(&text).err().map(|error| format!("{file}: {error}")));
        }
        if file.ends_with(".jsonl") {
            let wrong = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).err());
            faults.extend(wrong.map(|error| format!("{file}: {error}")));
        }
    }
    let shown: Vec<&String> = faults.iter().take(30).collect();
    assert!(faults.is_empty(), "{} faults, the first: {shown:#?}", faults.len());
}

/// A server that does things by the names that act: files, programs and their arguments, hosts, requests, statements, sockets.
const DOES: &str = r#"import json, os, socket, struct, subprocess
def tried(act):
    try: act()
    except Exception: pass
def send(address, data, kind=socket.SOCK_STREAM, family=socket.AF_INET):
    peer = socket.socket(family, kind)
    peer.settimeout(2)
    peer.connect(address)
    peer.sendall(data)
    if kind == socket.SOCK_STREAM: peer.recv(4096)
start = b'user\0me\0\0'
start = struct.pack('>II', len(start) + 8, 0x30000) + start
for text in json.load(open('texts.json')):
    name, data = text.replace('/', '|').replace('\0', ''), text.encode()
    for place in ['.', '/tmp', os.path.expanduser('~')]:
        tried(lambda: open(os.path.join(place, name), 'w').write(text))
    tried(lambda: os.unlink('old-' + name))
    tried(lambda: os.symlink(name, 'link-' + name))
    tried(lambda: os.mkdir('made-' + name))
    tried(lambda: open('/etc/' + name))
    tried(lambda: subprocess.run(['/bin/true', text]))
    tried(lambda: subprocess.run(['/usr/bin/' + name]))
    tried(lambda: subprocess.run([name]))
    tried(lambda: send(('198.51.100.7', 80), b'GET /' + data + b' HTTP/1.1\r\nHost: ' + data + b'\r\nX-Said: ' + data + b'\r\n\r\n'))
    tried(lambda: send(('198.51.100.7', 81), data))
    question = struct.pack('>HHHHHH', 7, 256, 1, 0, 0, 0) + bytes([len(data[:60])]) + data[:60] + b'\4test\0\0\1\0\1'
    tried(lambda: send(('198.18.0.1', 53), question, socket.SOCK_DGRAM))
    statement = b'SELECT ' + data.replace(b'\0', b'') + b'\0'
    tried(lambda: send(('127.0.0.1', 5432), start + b'Q' + struct.pack('>I', len(statement) + 4) + statement))
    tried(lambda: send(('127.0.0.1', 6379), b'*2\r\n$3\r\nset\r\n$%d\r\n%s\r\n' % (len(data), data)))
    tried(lambda: send('/tmp/socket-' + name, b'x', family=socket.AF_UNIX))
    tried(lambda: send('\0' + text, b'x', family=socket.AF_UNIX))
"#;

/// Held: names that a server gives to what it does are shown as harmlessly as what it says.
#[test]
fn nothing_in_what_a_server_does_acts_in_any_output() {
    let texts: Vec<&str> = HOSTILE_TEXTS.iter().map(|(_, text)| *text).collect();
    let mut world = World::new().with("server.py", &server(DOES, true));
    world = world.with("texts.json", &serde_json::json!(texts).to_string());
    for text in &texts {
        world = world.with(&format!("old-{}", text.replace('/', "|")), "");
    }
    let behave = "behave --calls 2 --budget 120s --show-noise --events events.jsonl --out-dir kept";
    let steps = [
        text(behave, &["owned", "forged"]),
        json("behave --calls 2 --budget 120s --format json", &["owned", "forged"]),
        text("lock --calls 1", &[]),
        json("lock --calls 1 --check --format json", &[]),
        text("check --budget 15s", &["go"]),
        text("report", &["go"]),
        json("report --format json", &["go"]),
        Step { shows: &["go"], ..sarif("report --format sarif") },
        json("report --format gitlab", &[]),
        text("report --format agent", &["go"]),
        Step { shows: &["go"], ..of(Form::Github, "report --format github") },
        Step { shows: &["go"], ..of(Form::Markdown, "report --format markdown") },
        Step { shows: &["go"], ..of(Form::Tags, "report --format html") },
        Step { shows: &["go"], ..of(Form::Tags, "report --format junit") },
        text("corpus list", &[]),
    ];
    let mut faults = Vec::new();
    for step in steps {
        let mut words: Vec<&str> = step.typed.split(' ').collect();
        if !matches!(words[0], "report" | "corpus") {
            words.extend(["--", "/usr/bin/python3", "server.py"]);
        }
        faults.extend(faults_of(&step, &world.run(&words)));
    }
    for file in world.files().iter().filter(|file| file.contains("kept/") || file.contains(".wallfacer/")) {
        faults.extend(acting(&world.read(file)).into_iter().map(|fault| format!("the file {file}: {fault}")));
    }
    for file in ["events.jsonl", "wallfacer.lock"] {
        faults.extend(acting(&world.read(file)).into_iter().map(|fault| format!("the file {file}: {fault}")));
    }
    let shown: Vec<&String> = faults.iter().take(30).collect();
    assert!(faults.is_empty(), "{} faults, the first: {shown:#?}", faults.len());
}

/// Held before, and does now that documents are escaped.
#[test]
fn a_document_says_exactly_what_the_server_said() {
    let document = run(&World::new(), "doctor --format json -- hostile").json();
    let tools = document["catalogue"]["tools"]["entries"].as_array().unwrap();
    for (number, (what, text)) in HOSTILE_TEXTS.iter().enumerate() {
        assert_eq!(tools[number]["title"], *text, "{what}");
        assert_eq!(tools[number]["name"], format!("{text}{number}"), "{what}");
    }
}

/// Held.
#[test]
fn names_of_tools_are_harmless_as_names_of_files() {
    let world = World::new();
    run(&world, "fuzz --iterations 3 --budget 120s --corpus-feedback -- hostile");
    let files = world.files();
    assert!(files.iter().filter(|file| file.starts_with(".wallfacer/")).count() > 10, "{files:?}");
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-~/".contains(letter);
    let odd: Vec<&String> =
        files.iter().filter(|file| !file.chars().all(plain) || file.contains("..")).collect();
    assert_eq!(odd, [""; 0]);
}

/// Was open: the line on a terminal that tells what goes on had the names of tools as they are.
#[test]
fn nothing_that_a_server_says_acts_on_a_terminal() {
    let found = Command::new("script").arg("--version").output().ok().filter(|done| done.status.success());
    if require("script (util-linux)", found).is_none() {
        return;
    }
    for (typed, shows) in [
        ("fuzz --iterations 3 --budget 120s -- hostile", &["crash in ", "owned", "FAILED"][..]),
        ("coverage -- hostile", &["owned", "forged"]),
        ("check --budget 10s -- hostile", &["owned"]),
    ] {
        let shown = on_a_terminal(typed);
        assert!(shows.iter().all(|wanted| shown.contains(wanted)), "{typed}: {shown}");
        assert_eq!(acting(&shown), [""; 0], "{typed}");
    }
}

/// What a command writes to a terminal, without what is ours: what moves the line and what colours the report.
fn on_a_terminal(typed: &str) -> String {
    let world = World::new();
    let words = words(typed);
    let plain = world.command(&words);
    let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_str().unwrap());
    let line: Vec<String> = [plain.get_program()].into_iter().chain(plain.get_args()).map(quoted).collect();
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line.join(" "), "/dev/null"]).current_dir(world.here()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let shown = world.finish(command).stdout;
    let ours = [
        "\r",
        "\u{1b}[2K",
        "\u{1b}[1A",
        "\u{1b}[1B",
        "\u{1b}[0m",
        "\u{1b}[1m",
        "\u{1b}[2m",
        "\u{1b}[1;31m",
        "\u{1b}[1;32m",
        "\u{1b}[1;33m",
    ];
    ours.iter().fold(shown, |shown, sequence| shown.replace(sequence, ""))
}

/// Was open for one text direction mark (U+061C). An HTTP answer may hold anything: a status with words of its own, a header,
/// a body that is no message.
#[test]
fn nothing_that_stands_in_an_http_answer_acts() {
    let hostile: String = HOSTILE_TEXTS.iter().map(|(_, text)| format!("{text}\n")).collect();
    let shown_in_a_line: String = hostile.chars().filter(|letter| !"\r\n\0".contains(*letter)).collect();
    let json = serde_json::json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": hostile}});
    let answers = [
        format!("HTTP/1.1 500 {shown_in_a_line}\r\nx-words: {shown_in_a_line}\r\ncontent-type: text/plain"),
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: text/html\r\nwww-authenticate: Basic".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream".to_owned(),
        format!("HTTP/1.1 200 OK\r\ncontent-type: {shown_in_a_line}"),
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1/{shown_in_a_line}"),
        "HTTP/1.1 200 OK\r\ncontent-type: application/json".to_owned(),
    ];
    let mut shown = String::new();
    for (number, head) in answers.into_iter().enumerate() {
        let body = if number == 5 { json.to_string() } else { format!("data: {hostile}") };
        let answer = format!("{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        let url = always(answer);
        for command in ["doctor", "fuzz --iterations 3 --budget 5s", "doctor --format json"] {
            let typed = format!("{command} --startup-timeout 5s --url {url}");
            let outcome = run(&World::new(), &typed);
            assert!(matches!(outcome.code, Some(1 | 3)), "{outcome}");
            assert_eq!(faults_in(&typed, Form::Text, &outcome), [""; 0], "answer {number}: {outcome}");
            shown.push_str(&outcome.stderr);
        }
    }
    assert!(shown.contains("owned") && shown.contains("forged"), "nothing of the answers is in {shown}");
}

/// The address of somebody who gives one answer to whatever is asked. They end with the test.
fn always(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || {
                let mut stream = stream;
                // Enough of the question; whoever asks more is answered all the same.
                let _heard = stream.read(&mut [0; 1 << 16]);
                let _told = stream.write_all(answer.as_bytes());
            });
        }
    });
    format!("http://{address}/mcp")
}

fn words(typed: &str) -> Vec<String> {
    let (before, server) =
        typed.split_once(" -- ").map_or((typed, None), |(before, server)| (before, Some(server)));
    let mut words: Vec<String> = before.split(' ').map(str::to_owned).collect();
    if let Some(server) = server {
        words.extend(["--".to_owned(), fixture()]);
        words.extend(server.split(' ').map(str::to_owned));
    }
    words
}

fn run(world: &World, typed: &str) -> Outcome {
    world.run(&words(typed))
}

fn faults_of(step: &Step, outcome: &Outcome) -> Vec<String> {
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    for wanted in step.shows {
        assert!(said.contains(wanted), "{}: nothing of the server's is in {outcome}", step.typed);
    }
    assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{outcome}");
    faults_in(step.typed, step.form, outcome)
}

fn faults_in(typed: &str, form: Form, outcome: &Outcome) -> Vec<String> {
    let shown = match form {
        Form::Github => without_annotations(&outcome.stdout),
        _ => outcome.stdout.clone(),
    };
    let streams = [("stdout", &shown), ("stderr", &outcome.stderr)];
    let of_stream = |(name, text): (&str, &String)| {
        let name = name.to_owned();
        acting(text).into_iter().map(move |fault| format!("{name}: {fault}"))
    };
    let mut faults: Vec<String> = streams.into_iter().flat_map(of_stream).collect();
    match serde_json::from_str::<Value>(&outcome.stdout) {
        Ok(document) if form == Form::Sarif => rendered(&document, &mut faults),
        _ if matches!(form, Form::Markdown | Form::Tags) => {
            let links = (form == Form::Markdown).then_some("](http://evil");
            let tags = ["<img src=//evil", "src=\"//evil", "href=\"http://evil"];
            let found = links.into_iter().chain(tags).filter(|mark| outcome.stdout.contains(mark));
            faults.extend(found.map(|mark| format!("{mark} is rendered")));
        }
        Err(error) if matches!(form, Form::Json | Form::Sarif) => faults.push(error.to_string()),
        _ => {}
    }
    faults.into_iter().map(|fault| format!("{typed}: {fault}")).collect()
}

/// The lines without the beginnings of those that are annotations of ours; nothing else may be a command.
fn without_annotations(text: &str) -> String {
    let ours = ["::error title=", "::warning title=", "::notice title="];
    let without = |line: &str| {
        let rest =
            ours.iter().find_map(|ours| line.strip_prefix(ours)).and_then(|rest| rest.split_once("::"));
        rest.map_or_else(|| line.to_owned(), |(title, text)| format!("{title}\n {text}"))
    };
    text.lines().map(|line| without(line) + "\n").collect()
}

/// What of a SARIF document would be a link, a picture or a tag where its texts are rendered as Markdown.
fn rendered(value: &Value, faults: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let acts = ["](", "][", "<img"].iter().filter(|mark| text.contains(**mark));
            faults.extend(acts.map(|mark| format!("{mark} in {text:?}")));
        }
        Value::Array(items) => items.iter().for_each(|item| rendered(item, faults)),
        Value::Object(members) => members.values().for_each(|member| rendered(member, faults)),
        _ => {}
    }
}

/// A stored finding of each kind.
fn one_of_each_kind(world: &World) -> Vec<String> {
    let document = run(world, "corpus list --format json").json();
    let mut kinds = std::collections::BTreeMap::new();
    for finding in document["findings"].as_array().unwrap() {
        let kind = finding["kind"]["type"].as_str().unwrap().to_owned();
        kinds.insert(kind, finding["id"].as_str().unwrap().to_owned());
    }
    assert!(kinds.len() > 3, "{kinds:?}");
    kinds.into_values().collect()
}
