//! What can go wrong on the way to a URL: closed ports, TLS, proxies, refusals, redirects.

use crate::site::{Listening, free_port, response, site};
use crate::tls::tls_proxy;
use crate::world::{Outcome, World, assert_shown, fixture};

const HTML: &str = "Content-Type: text/html\r\n";

fn failed(name: &str, args: &[&str]) -> Outcome {
    let world = World::new();
    let outcome = world.run(&[&["doctor"], args].concat());
    outcome.assert_fails(3);
    assert!(world.files().is_empty(), "nothing is written");
    assert_shown(name, &outcome);
    outcome
}

/// A server that gives this answer to everything.
fn answered(name: &str, answer: String) -> Outcome {
    let port = site(move |_| answer.clone());
    failed(name, &["--url", &format!("http://127.0.0.1:{port}/mcp")])
}

#[test]
fn a_closed_port() {
    failed("port_closed", &["--url", &format!("http://127.0.0.1:{}/mcp", free_port())]);
}

#[test]
fn a_port_that_another_server_holds() {
    let port = site(|_| response("200 OK", HTML, "another")).to_string();
    let (url, server) = (format!("http://127.0.0.1:{port}/mcp"), fixture());
    // In a sandbox the server has ports of its own.
    let outside = ["--sandbox", "off", "--url", &url, "--", &server, "correct", "--http", "--port", &port];
    failed("port_taken", &outside);
}

#[test]
fn a_started_server_that_listens_elsewhere() {
    let url = format!("http://127.0.0.1:{}/mcp", free_port());
    let server = fixture();
    failed(
        "listens_elsewhere",
        &["--url", &url, "--startup-timeout", "3s", "--", &server, "correct", "--http"],
    );
}

#[test]
fn a_started_server_that_exits_before_it_listens() {
    let url = format!("http://127.0.0.1:{}/mcp", free_port());
    failed("exits_before_listening", &["--url", &url, "--", &fixture(), "exits-at-start"]);
}

#[test]
fn tls_to_a_port_that_speaks_plain_http() {
    let port = site(|_| response("200 OK", "", ""));
    failed("tls_to_plain_http", &["--url", &format!("https://127.0.0.1:{port}/mcp")]);
}

#[test]
fn a_certificate_that_nobody_vouches_for() {
    let proxy = tls_proxy(free_port());
    failed("self_signed_certificate", &["--url", &format!("https://localhost:{}/mcp", proxy.port)]);
}

#[test]
fn a_certificate_for_another_name() {
    let proxy = tls_proxy(free_port());
    let world = World::new().with("ca.pem", &proxy.certificate);
    let mut command = world.command(&["doctor", "--url", &format!("https://127.0.0.1:{}/mcp", proxy.port)]);
    command.env("SSL_CERT_FILE", "ca.pem");
    let outcome = world.finish(command);
    outcome.assert_fails(3);
    assert_shown("certificate_for_another_name", &outcome);
}

#[test]
fn a_certificate_named_by_ssl_cert_file_is_trusted() {
    let server = Listening::start("correct");
    let proxy = tls_proxy(server.port());
    let world = World::new().with("ca.pem", &proxy.certificate);
    let url = format!("https://localhost:{}/mcp", proxy.port);
    let mut command = world.command(&["doctor", "--format", "json", "--url", &url]);
    command.env("SSL_CERT_FILE", "ca.pem");
    let outcome = world.finish(command);
    outcome.assert_succeeds();
    assert_eq!(outcome.json()["server"]["name"], "wallfacer-fixture");
    assert_eq!(outcome.json()["target"]["url"], url);
}

#[test]
fn a_proxy_that_answers_with_a_web_page() {
    let page = "<!doctype html><title>Sign in</title><p>Please sign in to continue.";
    answered("web_page", response("200 OK", HTML, page));
}

#[test]
fn a_proxy_that_does_not_reach_the_server() {
    let page = "<html><h1>502 Bad Gateway</h1><hr>nginx</html>";
    answered("bad_gateway", response("502 Bad Gateway", HTML, page));
}

#[test]
fn statuses_that_refuse() {
    let json = "Content-Type: application/json\r\n";
    for (name, status, body) in [
        ("unauthorized", "401 Unauthorized", r#"{"error":"invalid_token"}"#),
        ("forbidden", "403 Forbidden", r#"{"error":"host not allowed"}"#),
        ("not_found", "404 Not Found", r#"{"error":"no such page"}"#),
        ("teapot", "418 I'm a teapot", ""),
        ("server_error", "500 Internal Server Error", ""),
    ] {
        answered(name, response(status, json, body));
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let location = "Location: https://elsewhere.example/mcp\r\n";
    answered("redirect", response("307 Temporary Redirect", location, ""));
}

#[test]
fn json_that_is_no_answer() {
    let json = "Content-Type: application/json\r\n";
    answered("other_json", response("200 OK", json, r#"{"status":"ok"}"#));
    answered("empty_json", response("200 OK", json, ""));
}

#[test]
fn bytes_that_are_no_http() {
    answered("not_http", "SSH-2.0-OpenSSH_9.6\r\n".to_owned());
}

#[test]
fn an_old_stream_that_sends_us_elsewhere() {
    let event = "event: endpoint\ndata: http://elsewhere.example/\n\n";
    let port = site(move |_| response("200 OK", "Content-Type: text/event-stream\r\n", event));
    let url = format!("http://127.0.0.1:{port}/sse");
    failed("endpoint_elsewhere", &["--url", &url, "--transport", "sse"]);
}
