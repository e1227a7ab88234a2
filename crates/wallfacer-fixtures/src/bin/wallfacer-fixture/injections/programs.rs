//! Values that reach other programs.

use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::answer::Answer;
use crate::scenes::{Call, Scene, Tool, failed, said};

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
        _ => return None,
    };
    Some(Scene::around(tool))
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
