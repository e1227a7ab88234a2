//! A look at a server, as text for a person.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use wallfacer_process::jail::Offers;
use wallfacer_process::{Ended, Means, Platform, Status};

use super::look::{Look, Tone};
use crate::catalogue::{Annotations, Argument, Broken, Catalogue, End, Listing, Tool};
use crate::observe::Examination;
use crate::wire::{Remark, Server, Strays, shortened};

/// Widths at which server text is cut; the JSON document has all of it.
const NAME: usize = 60;
const LINE: usize = 100;
/// With what stands before it, prose fits the 80 columns of a terminal.
const PROSE: usize = 66;
/// The column in which values stand.
const KEY: usize = 10;
/// Entries of one list that are shown.
const MAX_SHOWN: usize = 200;

/// The whole examination.
pub fn examination(seen: &Examination, look: Look) -> String {
    laid_out(&plain(seen), look)
}

/// Puts lines that are too long into several, and gives headings and keys their colour.
fn laid_out(text: &str, look: Look) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let is_key =
            |key: &&str| key.ends_with(' ') && !key.trim_end().contains(' ') || key.trim().is_empty();
        let key = line.get(..KEY).filter(is_key).filter(|_| !line[KEY..].starts_with('('));
        let (first, indent, rest) = match key {
            Some(key) => (look.paint(Tone::Heading, key), KEY, &line[KEY..]),
            None if line.starts_with(|letter: char| letter.is_alphabetic()) => {
                let _infallible = writeln!(out, "{}", look.paint(Tone::Heading, line));
                continue;
            }
            None => {
                let rest = line.trim_start_matches(' ');
                let indent = line.len() - rest.len();
                (" ".repeat(indent), indent + 2, rest)
            }
        };
        for (number, part) in look.wrapped(rest, indent).iter().enumerate() {
            let before = if number == 0 { first.clone() } else { " ".repeat(indent) };
            let _infallible = writeln!(out, "{}", format!("{before}{part}").trim_end());
        }
    }
    out
}

fn plain(seen: &Examination) -> String {
    let mut out = String::new();
    if !seen.not_seen.is_empty() {
        let what = seen.not_seen.join(" and ");
        out += &format!("CUT SHORT by the time limit, not seen: {what}; --budget TIME gives it longer\n");
    }
    if let Some(warning) = seen.server.standing.access.warning() {
        out += &format!("{}\n", shortened(&warning, LINE));
    }
    identity(&mut out, seen);
    tools(&mut out, &seen.catalogue);
    others(&mut out, &seen.catalogue);
    remarks_section(&mut out, seen);
    out
}

fn identity(out: &mut String, seen: &Examination) {
    let server = &seen.server;
    let name =
        server.name.as_deref().map_or("a server without a name".to_owned(), |name| shortened(name, NAME));
    let version = server.version.as_deref().map(|version| shortened(version, NAME)).unwrap_or_default();
    row(out, "Server", format!("{name} {version}").trim_end());
    let protocol = format!("{} over {}", server.protocol, seen.transport);
    row(out, "Protocol", &protocol);
    row(out, "Started", &format!("in {}{}", time(server.startup), latency(seen)));
    row(out, "Claims", &claims(seen));
    if let Some(instructions) = &server.instructions {
        row(out, "Says", &format!("\"{}\"", shortened(instructions, PROSE)));
    }
    world(out, seen);
}

/// How this server was confined and watched, and what the machine would have offered.
fn world(out: &mut String, seen: &Examination) {
    let standing = &seen.server.standing;
    row(out, "Sandbox", &standing.to_string());
    for remark in standing.remarks.iter().chain(&standing.access.told()) {
        row(out, "", &shortened(remark, LINE));
    }
    row(out, "Watched", &standing.watched().join(", "));
    out.push_str(&machine(&seen.machine, &seen.offers));
}

/// What this machine has to confine and watch a server with, and how to have more.
pub fn machine(platform: &Platform, offers: &Offers) -> String {
    let mut rows = String::new();
    let out = &mut rows;
    row(out, "Machine", &format!("when the run ends, the server's {} is ended", platform.kind));
    let best = offers.confinement.iter().find(|offer| offer.refused.is_none());
    if let Some(best) = best {
        row(out, "", &format!("confines a server by {}", best.what));
    }
    let watching = &offers.observation;
    row(out, "", if watching.refused.is_none() { "watches what a server does" } else { "watches no server" });
    let refused = offers.confinement.iter().map(|offer| (&offer.refused, &offer.advice));
    let first = refused.chain([(&watching.refused, &watching.advice)]);
    for (why, advice) in first.filter_map(|(refused, advice)| Some((refused.as_ref()?, advice))) {
        row(out, "", &format!("refused: {}", shortened(why, LINE)));
        advice.iter().for_each(|advice| row(out, "", &format!("to have it: {advice}")));
    }
    rows
}

fn row(out: &mut String, key: &str, value: &str) {
    let _infallible = writeln!(out, "{key:<9} {value}");
}

fn latency(seen: &Examination) -> String {
    let mut sorted = seen.round_trips.clone();
    sorted.sort();
    match sorted.get(sorted.len() / 2) {
        Some(median) => format!(", answers in {} (median of {})", time(*median), sorted.len()),
        None if !seen.not_seen.is_empty() => String::new(),
        None => ", does not answer a plain question".to_owned(),
    }
}

fn claims(seen: &Examination) -> String {
    let claim = |(name, value): (&String, &Value)| {
        let name = shortened(name, NAME);
        let options: Vec<String> = value
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| **value == Value::Bool(true))
            .map(|(option, _)| shortened(option, NAME))
            .collect();
        if options.is_empty() { name } else { format!("{name} ({})", options.join(", ")) }
    };
    let claims: Vec<String> = seen.server.capabilities.iter().map(claim).collect();
    if claims.is_empty() { "nothing".to_owned() } else { claims.join(", ") }
}

fn tools(out: &mut String, catalogue: &Catalogue) {
    let listing = &catalogue.tools;
    heading(out, "Tools", listing);
    for tool in listing.entries.iter().take(MAX_SHOWN) {
        let _infallible = writeln!(out, "  {}{}", signature(tool), hints(&tool.annotations));
        if let Some(description) = &tool.description {
            let _infallible = writeln!(out, "      {}", shortened(description, PROSE));
        }
    }
    closing(out, listing);
}

fn signature(tool: &Tool) -> String {
    let argument = |argument: Argument<'_>| {
        let optional = if argument.required { "" } else { "?" };
        let kind = argument.kind.map(|kind| format!(": {}", shortened(kind, NAME))).unwrap_or_default();
        format!("{}{optional}{kind}", shortened(argument.name, NAME))
    };
    let arguments: Vec<String> = tool.arguments().into_iter().map(argument).collect();
    let output = if tool.output_schema().is_some() { " -> structured" } else { "" };
    format!("{}({}){output}", shortened(&tool.name, NAME), shortened(&arguments.join(", "), LINE))
}

fn hints(annotations: &Annotations) -> String {
    let hints = [
        (annotations.read_only_hint, "read-only", "writes"),
        (annotations.destructive_hint, "destructive", "not destructive"),
        (annotations.idempotent_hint, "idempotent", "not idempotent"),
        (annotations.open_world_hint, "open world", "closed world"),
    ];
    let said: Vec<&str> = hints
        .into_iter()
        .filter_map(|(hint, yes, no)| hint.map(|hint| if hint { yes } else { no }))
        .collect();
    if said.is_empty() { String::new() } else { format!("  [{}]", said.join(", ")) }
}

fn others(out: &mut String, catalogue: &Catalogue) {
    if catalogue.resources.end != End::NotClaimed {
        heading(out, "Resources", &catalogue.resources);
        for resource in catalogue.resources.entries.iter().take(MAX_SHOWN) {
            let kind = resource.mime_type.as_deref().map(|kind| format!("  [{}]", shortened(kind, NAME)));
            let _infallible =
                writeln!(out, "  {}{}", shortened(&resource.uri, LINE), kind.unwrap_or_default());
        }
        closing(out, &catalogue.resources);
        heading(out, "Resource templates", &catalogue.templates);
        for template in catalogue.templates.entries.iter().take(MAX_SHOWN) {
            let _infallible = writeln!(out, "  {}", shortened(&template.uri_template, LINE));
        }
        closing(out, &catalogue.templates);
    }
    if catalogue.prompts.end != End::NotClaimed {
        heading(out, "Prompts", &catalogue.prompts);
        for prompt in catalogue.prompts.entries.iter().take(MAX_SHOWN) {
            let arguments: Vec<String> = prompt
                .arguments
                .iter()
                .map(|argument| {
                    format!("{}{}", shortened(&argument.name, NAME), if argument.required { "" } else { "?" })
                })
                .collect();
            let name = shortened(&prompt.name, NAME);
            let _infallible = writeln!(out, "  {name}({})", shortened(&arguments.join(", "), LINE));
        }
        closing(out, &catalogue.prompts);
    }
}

fn heading<T>(out: &mut String, name: &str, listing: &Listing<T>) {
    let _infallible = writeln!(out, "\n{name} ({})", listing.entries.len());
}

/// What is left to say of a list: what was not shown, what is broken, and where it did not end well.
fn closing<T>(out: &mut String, listing: &Listing<T>) {
    if listing.entries.len() > MAX_SHOWN {
        let more = listing.entries.len() - MAX_SHOWN;
        let _infallible = writeln!(out, "  and {more} more; --format json shows all");
    }
    for Broken { index, name, why } in listing.broken.iter().take(MAX_SHOWN) {
        let name = name.as_deref().map(|name| format!(" `{}`", shortened(name, NAME))).unwrap_or_default();
        let _infallible = writeln!(out, "  broken: entry {}{name}: {}", index + 1, shortened(why, LINE));
    }
    let end = match &listing.end {
        End::Complete => return,
        End::NotClaimed => "the server claims none, and lists none".to_owned(),
        End::RepeatedCursor { cursor } => {
            format!("the list does not end: cursor `{}` came twice", shortened(cursor, NAME))
        }
        End::TooMany { more: true, .. } => {
            format!("the list was cut after {} pages: it does not seem to end", listing.pages)
        }
        End::TooMany { listed, .. } => format!("the list was cut: it has {listed} entries"),
        End::Failed { why } => shortened(why, LINE),
    };
    let _infallible = writeln!(out, "  {end}");
}

fn remarks_section(out: &mut String, seen: &Examination) {
    let lines = remarks(&seen.server, &seen.strays, seen.ended.as_ref());
    if lines.is_empty() {
        return;
    }
    out.push_str("\nRemarks\n");
    for line in lines {
        let _infallible = writeln!(out, "  - {line}");
    }
}

/// What is odd about a server that was only looked at.
pub fn remarks(server: &Server, strays: &Strays, ended: Option<&Ended>) -> Vec<String> {
    let mut lines: Vec<String> = server.remarks.iter().map(remark).collect();
    for (fault, count) in &strays.counts {
        lines.push(format!("it sent {fault} ({count}×)"));
    }
    if let Some(stray) = strays.examples.first() {
        lines.push(format!("the first of these: `{}`", crate::wire::sample(&stray.head)));
    }
    if let Some(ended) = ended {
        if ended.means == Means::Kill {
            lines
                .push("it had to be killed: it ends neither when its input closes nor on SIGTERM".to_owned());
        }
        if ended.keeper_killed {
            lines.push("the process that watches over it was killed, most likely by the server".to_owned());
        }
        for left in ended.left_behind.iter().flatten() {
            lines.push(format!("it left a process behind: {} ({})", shortened(&left.name, NAME), left.pid));
        }
    }
    lines
}

fn remark(remark: &Remark) -> String {
    match remark {
        Remark::SilentOnProbe => {
            "it ignores requests that it does not know, instead of refusing them".to_owned()
        }
        Remark::EndedOnProbe { ending } => {
            let how = match ending.map(|ending| ending.status) {
                Some(Status::Exited(code)) => format!("exited with code {code}"),
                Some(Status::Signalled { signal, .. }) => format!("was killed by signal {signal}"),
                Some(Status::Unknown) | None => "closed its output".to_owned(),
            };
            format!("it {how} on a request that it did not know (`server/discover`)")
        }
        Remark::AmbiguousProbe => {
            "it answers unknown requests with 404, as only servers of the modern era should".to_owned()
        }
    }
}

/// A time in the unit that a person would choose.
fn time(duration: Duration) -> String {
    let micros = duration.as_micros();
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{:.1} ms", micros as f64 / 1e3),
        10_000..10_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}
