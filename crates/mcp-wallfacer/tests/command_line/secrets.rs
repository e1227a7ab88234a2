//! A secret that we were given comes out nowhere, whatever the server does with it and whatever fails.

use crate::site::{Listening, free_port, response, site};
use crate::world::{Outcome, World, fixture};

/// Nothing else here holds this word.
const SECRET: &str = "hunter22-is-secret";

/// Runs `doctor` with a report and a log, and sees that the secret is in none of the four places.
fn tells_nothing(args: &[&str]) -> Outcome {
    let world = World::new();
    let mut outcome = None;
    for (format, output) in
        [("human", None), ("json", None), ("human", Some("report")), ("json", Some("report"))]
    {
        let output = output.map(|file| ["-o", file]).into_iter().flatten();
        let flags = ["doctor", "--events", "events", "--format", format].into_iter().chain(output);
        let args: Vec<&str> = flags.chain(args.iter().copied()).collect();
        let mut command = world.command(&args);
        command.env("OUR_API_TOKEN", SECRET);
        let seen = world.finish(command);
        assert!(!seen.stdout.contains(SECRET), "stdout: {}", seen.stdout);
        assert!(!seen.stderr.contains(SECRET), "stderr: {}", seen.stderr);
        for file in world.files() {
            assert!(!world.read(&file).contains(SECRET), "{file}: {}", world.read(&file));
        }
        outcome = Some(seen);
    }
    outcome.unwrap()
}

/// A site that repeats in its body whatever it was sent.
fn parrot(status: &'static str, content_type: &'static str) -> u16 {
    site(move |head| {
        let body = format!("you said: {}", head.lines().collect::<Vec<_>>().join(" / "));
        response(status, &format!("Content-Type: {content_type}\r\n"), &body)
    })
}

fn shell(script: &str) -> [&str; 4] {
    ["--", "sh", "-c", script]
}

#[test]
fn a_token_in_a_header_is_not_told_when_the_server_repeats_it() {
    let header = format!("Authorization: Bearer {SECRET}");
    for (status, content_type) in [
        ("401 Unauthorized", "text/plain"),
        ("500 Oops", "text/html"),
        ("200 OK", "text/html"),
        ("200 OK", "application/json"),
    ] {
        let url = format!("http://127.0.0.1:{}/mcp", parrot(status, content_type));
        let outcome = tells_nothing(&["--url", &url, "--header", &header]);
        assert_eq!(outcome.code, Some(3), "{outcome}");
        assert!(outcome.stderr.contains("[redacted]") || content_type == "application/json", "{outcome}");
    }
}

#[test]
fn a_token_in_a_header_is_not_told_when_all_is_well() {
    let server = Listening::start("correct");
    let outcome = tells_nothing(&["--url", &server.url, "--header", &format!("X-Api-Key: {SECRET}")]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
}

#[test]
fn user_and_password_in_a_url_are_not_told() {
    let port = parrot("401 Unauthorized", "text/plain");
    let outcome = tells_nothing(&["--url", &format!("http://ada:{SECRET}@127.0.0.1:{port}/mcp")]);
    assert!(outcome.stderr.contains("authorization: [redacted]"), "{outcome}");
    tells_nothing(&["--url", &format!("http://ada:{SECRET}@ho st/")]);
    tells_nothing(&["--url", &format!("ada:{SECRET}@localhost")]);
}

#[test]
fn a_password_that_the_server_decodes_is_not_told() {
    // Unlike the other secrets here, this one is not in our environment too.
    let password = "swordfish-42";
    let url = format!("http://ada:{password}@127.0.0.1:{}/mcp", free_port());
    let script = format!("echo 'login of ada:{password} failed' >&2; exit 1");
    let outcome = tells_nothing(&[&["--url", &url], &shell(&script)[..]].concat());
    assert!(outcome.stderr.contains("login of [redacted] failed"), "{outcome}");
    assert!(!outcome.stderr.contains(password), "{outcome}");
}

#[test]
fn a_token_in_the_query_of_a_url_is_not_told() {
    let port = parrot("404 Not Found", "text/plain");
    tells_nothing(&["--url", &format!("http://127.0.0.1:{port}/mcp?api_key={SECRET}")]);
}

#[test]
fn a_token_in_the_servers_environment_is_not_told_when_it_prints_it() {
    for script in [
        "echo \"bad token $API_TOKEN\" >&2; exit 1",
        "echo \"bad token $API_TOKEN\"; exit 1",
        "kill -SEGV $$",
        "while read -r line; do echo \"$API_TOKEN\"; done",
    ] {
        let variable = format!("API_TOKEN={SECRET}");
        let flags = ["--env", &variable, "--startup-timeout", "500ms", "--probe-timeout", "200ms"];
        let outcome = tells_nothing(&[&flags[..], &shell(script)].concat());
        assert_eq!(outcome.code, Some(3), "{outcome}");
    }
}

#[test]
fn a_token_in_our_own_environment_is_not_told_when_the_server_prints_it() {
    // A confined server would have a look-alike of it.
    let script = shell("echo \"token $OUR_API_TOKEN\" >&2; exit 1");
    let outcome = tells_nothing(&[&["--sandbox", "off"], &script[..]].concat());
    assert!(outcome.stderr.contains("token [redacted]"), "{outcome}");
}

#[test]
fn a_token_that_a_long_line_is_cut_in_is_not_told_in_part() {
    // The line is cut after 300 letters; here that is in the middle of the token.
    let script = format!("printf '%0290d' 0 >&2; echo {SECRET} >&2; exit 1");
    let outcome = tells_nothing(&shell(&script));
    assert!(!outcome.stderr.contains("hunter22"), "{outcome}");
}

#[test]
fn a_token_that_the_server_makes_its_name_is_not_told() {
    let script = r#"
        while read -r line; do case "$line" in
        *'"initialize"'*) id=${line#*'"id":'}; id=${id%%[,\}]*}
            info="{\"name\":\"$API_TOKEN\",\"version\":\"$API_TOKEN\"}"
            echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"instructions\":\"use $API_TOKEN\",\"serverInfo\":$info}}";;
        *'"id":'*) id=${line#*'"id":'}; id=${id%%[,\}]*}
            echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no $API_TOKEN\"}}";;
        esac; done"#;
    let variable = format!("API_TOKEN={SECRET}");
    let outcome = tells_nothing(&[&["--env", &variable], &shell(script)[..]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
}

#[test]
fn a_token_in_an_argument_is_not_told() {
    let server = fixture();
    tells_nothing(&["--", &server, "correct", "--api-key", SECRET]);
    tells_nothing(&["--", "no-such-program", "--token", SECRET]);
    tells_nothing(&["--", &server, "never-answers", &format!("--password={SECRET}")]);
}

#[test]
fn a_token_in_a_configuration_is_not_told_when_the_file_is_wrong() {
    let world = World::new().with(
        "wallfacer.toml",
        &format!("[target]\nurl = \"http://localhost:1/\"\nheaders = {{ Authorization = \"Bearer {SECRET}\", X = 3 }}\n"),
    );
    let outcome = world.run(&["doctor"]);
    outcome.assert_fails(2);
    assert!(!outcome.stderr.contains(SECRET), "{outcome}");
}
