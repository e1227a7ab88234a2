//! Runs one MCP server: correct, or wrong in the one way that its mode names.

mod answer;
mod asking;
mod behaviours;
mod flaws;
mod greeting;
mod hostile;
mod http;
mod injections;
mod message;
mod methods;
mod options;
mod outlet;
mod prompts;
mod request;
mod resources;
mod rules;
mod scenes;
mod server;
mod session;
mod stdio;
mod tools;
mod validate;
mod version;

use flaws::{process, start};
use options::{Options, Transport};
use server::Server;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

const USAGE: &str = "usage: wallfacer-fixture MODE [--http | --legacy-sse] [--port N] [--era legacy|modern|both] [--delay MS]
       wallfacer-fixture flaw NAME [--fixed] [--rename SEED] [--http | --legacy-sse] [--port N] [--era legacy|modern|both]
       wallfacer-fixture behaviour NAME [--fixed] …
       wallfacer-fixture injection NAME [--fixed] [--root DIRECTORY]
       wallfacer-fixture change NAME [--fixed] …
       wallfacer-fixture rule NAME [--fixed] [--root DIRECTORY] [--script FILE] …
       wallfacer-fixture hostile [refuses | babbles | changed]";

fn main() -> ExitCode {
    if process::lingers(std::env::args().nth(1).as_deref()) {
        return ExitCode::SUCCESS;
    }
    if std::env::args().nth(1).as_deref() == Some("hostile") {
        return hostile::serve(std::env::args().nth(2).as_deref());
    }
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(fault) => return complain(&format!("{fault}\n{USAGE}")),
    };
    match serve(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string()),
    }
}

fn serve(options: Options) -> io::Result<()> {
    start::begin(&options.mode)?;
    options.part.iter().for_each(behaviours::begin);
    let transport = options.transport;
    let server = Arc::new(Server::new(options));
    match transport {
        Transport::Stdio => stdio::serve(&server),
        Transport::Http | Transport::LegacySse => http::serve(server),
    }
}

fn complain(fault: &str) -> ExitCode {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(io::stderr(), "wallfacer-fixture: {fault}");
    ExitCode::from(2)
}
