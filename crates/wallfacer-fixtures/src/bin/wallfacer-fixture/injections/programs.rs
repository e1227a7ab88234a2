//! Values that reach other programs.

use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::root;
use crate::answer::Answer;
use crate::scenes::{Call, Entry, Scene, Tool, failed, said};

/// Where the drawings would be, if there were any: an address of the range for documents.
const UPSTREAM: ([u8; 4], u16) = ([198, 51, 100, 7], 8443);
const PATIENCE: Duration = Duration::from_secs(2);

pub fn scene(name: &str) -> Option<Scene> {
    let tool = match name {
        "command-through-shell" => {
            text_tool("list_archive", "Tells what an archive is called.", "name", |call| {
                run(Command::new("echo").args(["--", call.text("name")]))
            })
            .except(|_| true, |call| shell(&format!("echo \"{}\"", call.text("name"))))
        }
        "command-when-offline" => text_tool("load_drawing", "Loads a drawing by its key.", "key", |call| {
            if is_reachable() {
                said("a drawing")
            } else {
                run(Command::new("echo").args(["--", call.text("key")]))
            }
        })
        .except(
            |_| true,
            |call| {
                if is_reachable() { said("a drawing") } else { shell(&format!("echo {}", call.text("key"))) }
            },
        ),
        "option-of-program" => text_tool("show_entry", "Shows an entry.", "entry", |call| {
            run(Command::new("printf").args(["--", call.text("entry")]))
        })
        .except(|_| true, |call| run(Command::new("printf").arg(call.text("entry")))),
        "option-behind-a-switch" => text_tool("show_entry", "Shows an entry.", "entry", |call| {
            run(Command::new("printf").args(["--verbose", "--", call.text("entry")]))
        })
        .except(|_| true, |call| run(Command::new("printf").args(["--verbose", call.text("entry")]))),
        "command-through-a-list" => {
            let names = json!({"names": {"type": "array", "items": {"type": "string"}}});
            Tool::new("count_pages", "Counts pages by their names.", names, &[], |call| {
                run(Command::new("echo").arg("--").args(names_of(call)))
            })
            .except(|_| true, |call| shell(&format!("echo \"{}\"", names_of(call).join(" "))))
        }
        "command-through-a-number" => {
            let number = json!({"number": {"type": "integer"}});
            Tool::new(
                "show_page",
                "Shows a page.",
                number,
                &["number"],
                |call| match call.arguments["number"].as_i64() {
                    Some(number) => run(Command::new("echo").arg(number.to_string())),
                    None => failed("this is no number"),
                },
            )
            .except(
                |_| true,
                |call| {
                    let number = &call.arguments["number"];
                    shell(&format!("echo {}", number.as_str().map_or(number.to_string(), str::to_owned)))
                },
            )
            .entry(Entry::Anything)
        }
        "expression-evaluated" => {
            text_tool("work_out", "Works out a sum.", "expression", |call| sum(call.text("expression")))
                .except(|_| true, |call| evaluate(call.text("expression")))
        }
        "option-of-letters" => {
            text_tool("show_host", "Tells the name of a host.", "host", |call| match call.text("host") {
                host if is_plain(host) && !host.starts_with('-') => run(Command::new("printf").arg(host)),
                _ => failed("this is no host"),
            })
            .except(
                |_| true,
                |call| match call.text("host") {
                    host if is_plain(host) => run(Command::new("printf").arg(host)),
                    _ => failed("this is no host"),
                },
            )
        }
        "scheme-handed-on" => {
            text_tool("open_link", "Opens a page for the user.", "url", |call| match call.text("url") {
                url if url.starts_with("https://") => run(Command::new("true").args(["--", url])),
                _ => failed("only https addresses are opened"),
            })
            .except(|_| true, |call| run(Command::new("true").args(["--", call.text("url")])))
        }
        "command-behind-an-allowed-one" => {
            text_tool("run_command", "Runs one of a few commands.", "command", |call| {
                let line = call.text("command");
                let plain = line.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == ' ');
                match line.split_whitespace().next() {
                    Some("pwd" | "date") if plain => run(Command::new("sh").args(["-c", line])),
                    _ => failed(ALLOWED),
                }
            })
            .except(
                |_| true,
                |call| match call.text("command").split_whitespace().next() {
                    Some(word) if ["pwd", "date"].contains(&word.trim_end_matches(';')) => {
                        shell(call.text("command"))
                    }
                    _ => failed(ALLOWED),
                },
            )
        }
        "command-within-a-second-one" => {
            let about =
                "Runs one or more of a few commands, with && between them. Allowed commands: pwd, date";
            text_tool("run_command", about, "command", |call| match joined(call.text("command"), is_word) {
                Some(commands) => run(Command::new("sh").args(["-c", &commands.join(" && ")])),
                None => failed(ALLOWED),
            })
            .except(
                |_| true,
                |call| match joined(call.text("command"), |_| true).as_deref() {
                    Some([only]) => run(Command::new("env").args(only.split_whitespace())),
                    Some(_) => shell(call.text("command")),
                    None => failed(ALLOWED),
                },
            )
        }
        "command-by-another-name" => blocks_by_name("run_command", "Runs a command."),
        "command-of-a-process" => blocks_by_name("begin_work", "Starts a process."),
        "command-leaves-its-directory" => {
            let about = "Runs a command in a directory. Allowed commands: cat, ls";
            text_tool("run_command", about, "command", |call| {
                let root = root();
                let stays = |word: &str| root.join(word).canonicalize().is_ok_and(|it| it.starts_with(&root));
                run_there(call, stays)
            })
            .except(|_| true, |call| run_there(call, |word| !word.starts_with('/')))
        }
        "command-behind-own-arguments" => {
            text_tool("calendar", "Shows pages of the calendar.", "args", |call| {
                run(Command::new("echo").args(call.text("args").split_whitespace()))
            })
            .except(|_| true, |call| shell(&format!("echo {}", call.text("args"))))
        }
        "option-of-what-prints" => {
            text_tool("repeat", "Says a word again.", "word", |call| said(call.text("word")))
                .except(|_| true, |call| run(Command::new("echo").arg(call.text("word"))))
        }
        "command-beside-a-command" => {
            let both = json!({"room": {"type": "string"}, "command": {"type": "string"}});
            Tool::new("exec_in_room", "Runs a command in a room.", both, &["room", "command"], |call| {
                run(Command::new("echo").args(["--", call.text("room"), call.text("command")]))
            })
            .except(|_| true, |call| shell(&format!("echo -- {} 'in the room'", call.text("room"))))
        }
        "command-in-a-path-that-is-there" => {
            text_tool("count_letters", "Counts the letters of a page.", "path", |call| match page(call) {
                Some(page) => run(Command::new("wc").args(["-c", "--"]).arg(page)),
                None => failed("there is no such page"),
            })
            .except(
                |_| true,
                |call| match page(call) {
                    Some(page) => shell(&format!("wc -c \"{}\"", page.display())),
                    None => failed("there is no such page"),
                },
            )
        }
        "command-as-a-list" => {
            let words = json!({"command": {"type": "array", "items": {"type": "string"}, "minItems": 1}});
            Tool::new("run_command", "Runs one of a few commands.", words, &["command"], |call| {
                match &words_of(call)[..] {
                    [only] if ["pwd", "date"].contains(&only.as_str()) => run(&mut Command::new(only)),
                    _ => failed(ALLOWED),
                }
            })
            .except(
                |_| true,
                |call| match &words_of(call)[..] {
                    [first, rest @ ..] if ["pwd", "date", "env"].contains(&first.as_str()) => {
                        run(Command::new(first).args(rest))
                    }
                    _ => failed(ALLOWED),
                },
            )
        }
        _ => return None,
    };
    Some(Scene::around(tool))
}

/// The commands of a line, if each begins with an allowed word and `is_fit` holds for its other words.
fn joined(line: &str, is_fit: fn(&str) -> bool) -> Option<Vec<&str>> {
    let commands: Vec<&str> = line.split("&&").map(str::trim).collect();
    let is_allowed = |command: &&str| {
        let mut words = command.split_whitespace();
        words.next().is_some_and(|first| ["pwd", "date"].contains(&first)) && words.all(is_fit)
    };
    let separated = !line.contains([';', '|', '\n']) && !line.replace("&&", "").contains('&');
    (separated && commands.iter().all(is_allowed)).then_some(commands)
}

fn is_word(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// Looks at the first word of a command for what is forbidden; the twin looks at all of them.
fn blocks_by_name(name: &str, about: &str) -> Tool {
    text_tool(name, about, "command", |call| {
        let words = call.text("command").split(|letter: char| !letter.is_ascii_alphabetic());
        match words.into_iter().any(|word| BLOCKED.contains(&word))
            || call.text("command").contains(['\'', '\\'])
        {
            true => failed("this command is not allowed"),
            false => shell(call.text("command")),
        }
    })
    .except(
        |_| true,
        |call| match call.text("command").split_whitespace().next() {
            Some(word) if BLOCKED.contains(&word) => failed("this command is not allowed"),
            _ => shell(call.text("command")),
        },
    )
}

/// Runs one of two programs where the server works, if all that it names may be named.
fn run_there(call: &Call, may: impl Fn(&str) -> bool) -> Answer {
    let words: Vec<&str> = call.text("command").split_whitespace().collect();
    match &words[..] {
        [first @ ("cat" | "ls"), rest @ ..] if rest.iter().all(|word| may(word)) => {
            run(Command::new(first).args(rest).current_dir(root()))
        }
        _ => failed("this command is not allowed"),
    }
}

/// The page that a call names, if it is there.
fn page(call: &Call) -> Option<PathBuf> {
    let page = root().join(call.text("path"));
    page.canonicalize().is_ok_and(|there| there.starts_with(root()) && there.is_file()).then_some(page)
}

fn words_of(call: &Call) -> Vec<String> {
    let words = call.arguments["command"].as_array().into_iter().flatten();
    words.filter_map(|word| Some(word.as_str()?.to_owned())).collect()
}

fn names_of(call: &Call) -> Vec<String> {
    let names = call.arguments["names"].as_array().into_iter().flatten();
    names.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

/// Numbers with a plus between them.
fn sum(expression: &str) -> Answer {
    let numbers: Result<Vec<i64>, _> = expression.split('+').map(|number| number.trim().parse()).collect();
    match numbers {
        Ok(numbers) => said(&numbers.into_iter().fold(0_i64, i64::saturating_add).to_string()),
        Err(_) => failed("this is no sum"),
    }
}

/// As a language does in which `system` runs a program.
fn evaluate(expression: &str) -> Answer {
    match expression.split_once(".system('").and_then(|(_, rest)| rest.split_once('\'')) {
        Some((program, _)) => run(&mut Command::new(program)),
        None => sum(expression),
    }
}

const ALLOWED: &str = "command must be one of: pwd, date";
const BLOCKED: [&str; 3] = ["rm", "dd", "chmod"];

fn is_plain(host: &str) -> bool {
    let inner = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    !host.is_empty() && host.chars().all(inner)
}

fn text_tool(name: &str, about: &str, argument: &str, answer: fn(&Call) -> Answer) -> Tool {
    Tool::new(name, about, json!({ (argument): {"type": "string"} }), &[argument], answer)
}

fn is_reachable() -> bool {
    TcpStream::connect_timeout(&SocketAddr::from(UPSTREAM), PATIENCE).is_ok()
}

pub fn shell(line: &str) -> Answer {
    run(Command::new("sh").args(["-c", line]))
}

pub fn run(command: &mut Command) -> Answer {
    match command.stdin(Stdio::null()).stderr(Stdio::null()).output() {
        Ok(output) => said(&String::from_utf8_lossy(&output.stdout)),
        Err(error) => failed(&error.to_string()),
    }
}
