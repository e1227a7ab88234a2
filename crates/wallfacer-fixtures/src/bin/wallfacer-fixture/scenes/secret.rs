//! Servers that show a secret of their environment, and one whose job is to show the environment.

use super::scene::{Call, Scene, Tool, failed, said};
use crate::answer::Answer;
use crate::session::Level;
use serde_json::json;
use std::env;

pub fn scene(flaw: &str) -> Option<Scene> {
    Some(match flaw {
        "secret-in-result" => describe_account(|_| said(&format!("signed in with {}", token()))),
        "secret-in-error" => {
            describe_account(|_| failed(&format!("401 for https://api.example?key={}", token())))
        }
        "secret-in-log" => describe_account(|call| {
            call.request.log(Level::INFO, &format!("using key {}", token()));
            said("an account in good standing")
        }),
        "environment-by-design" => print_environment(),
        _ => return None,
    })
}

#[allow(clippy::disallowed_methods, reason = "the flaw is to read and show it")]
fn token() -> String {
    env::var("WALLFACER_FIXTURE_TOKEN").unwrap_or_default()
}

fn describe_account(then: fn(&Call) -> Answer) -> Scene {
    let arguments = json!({"detail": {"type": "string", "enum": ["short", "full"]}});
    let tool = Tool::new("describe_account", "Tells who is signed in.", arguments, &["detail"], |_| {
        said("an account in good standing")
    });
    Scene::around(tool.except(|call| call.text("detail") == "full", then))
}

fn print_environment() -> Scene {
    let arguments = json!({"prefix": {"type": "string", "maxLength": 40}});
    let about = "Prints all environment variables of the server, for debugging.";
    let tool =
        Tool::new("print_environment", about, arguments, &[], |_| said("the environment is not shown"));
    Scene::around(tool.except(|_| true, environment))
}

#[allow(clippy::disallowed_methods, reason = "this is the job of the tool")]
fn environment(call: &Call) -> Answer {
    let shown = env::vars_os().map(|(name, value)| format!("{}={}", name.display(), value.display()));
    let wanted = shown.filter(|line| line.starts_with(call.text("prefix")));
    said(&wanted.collect::<Vec<_>>().join("\n"))
}
