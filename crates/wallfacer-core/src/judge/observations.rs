//! Words what is worth knowing of a server's [`Effects`] as what was seen, for none of it is wrong by itself.

use std::collections::BTreeSet;

use super::checks::{Business, Said};
use super::watched::Watched;
use crate::observe::{Contact, Effects, Executed, Place, Touch};
use crate::wire::shortened;

/// Things of one sort that are named; the rest is counted.
const MAX_NAMED: usize = 8;
/// Words of a command that are shown.
const MAX_WORDS: usize = 4;
/// Letters of a command line that are shown.
const MAX_COMMAND: usize = 80;

/// What was seen of a tool, or of the server by itself. `said` is all that they say of themselves, in small letters.
pub fn observations(effects: &Effects, said: &str, watched: &Watched) -> Vec<String> {
    let places = &watched.places;
    // What has no path, such as a pipe, lies nowhere.
    let outside =
        |touch: &&Touch| matches!(touch.place, Place::Home | Place::System) && touch.path.is_absolute();
    let own = |touch: &&Touch| touch.place == Place::Own;
    let secret = |touch: &&Touch| matches!(touch.place, Place::Canary | Place::Sensitive);
    let shown = |touches: Vec<&Touch>| -> BTreeSet<String> {
        touches.into_iter().map(|touch| quoted(&places.shown(&touch.path))).collect()
    };
    let said = Said { of_tool: said, in_all: said };
    let business = |touch: &&Touch| Business::of(&touch.path, &said, effects).is_some();
    let mut all = Vec::new();
    let mut tell = |before: &str, things: BTreeSet<String>, after: &str| {
        if !things.is_empty() {
            all.push(format!("{before} {}{after}", named(things)));
        }
    };
    tell("it reached", effects.connects.iter().map(contact).collect(), "");
    let asked = effects.names.iter().filter(|name| !effects.connects.iter().any(|met| met.host == **name));
    tell("it asked for the address of", asked.map(|name| quoted(name)).collect(), " and did not connect");
    tell("it ran", effects.programs.iter().map(command).collect(), "");
    let read = effects.reads.iter().filter(|touch| !secret(touch) && outside(touch));
    tell("it read", shown(read.collect()), ", outside its working directory and scope");
    let sought = effects.sought.iter().filter(|touch| !secret(touch));
    tell("it looked for", shown(sought.collect()), ", which is not there");
    let clients = effects.secrets().filter(business);
    tell("it read", shown(clients.collect()), ", as clients of that kind do");
    let written = effects.writes.iter().filter(|touch| !secret(touch) && outside(touch));
    tell("it wrote", shown(written.collect()), ", outside its working directory and scope");
    tell("it wrote", shown(effects.writes.iter().filter(own).collect()), ", beside its own program");
    let gone = effects.deletes.iter().filter(outside);
    tell("it removed", shown(gone.collect()), ", outside its working directory and scope");
    tell("it removed", shown(effects.deletes.iter().filter(own).collect()), ", beside its own program");
    let sockets = effects.sockets.iter().filter(|touch| !secret(touch));
    tell("it spoke to the socket", shown(sockets.collect()), "");
    tell("it listens on", effects.listens.iter().map(|address| quoted(address)).collect(), "");
    if effects.lost > 0 {
        all.push(format!("it did so much that {} deeds were not kept", effects.lost));
    }
    all
}

/// What outlived the server, if anything did.
pub fn left_running(commands: &BTreeSet<String>) -> Option<String> {
    let shown =
        commands.iter().map(|command| quoted(&shortened(command, MAX_COMMAND))).collect::<BTreeSet<_>>();
    (!shown.is_empty()).then(|| format!("when it had ended it left running {}", named(shown)))
}

fn contact(contact: &Contact) -> String {
    let tls = if contact.tls { " over TLS" } else { "" };
    let place = quoted(&contact.place());
    match contact.sent {
        0 => format!("{place}{tls}"),
        sent => format!("{place}{tls} ({sent} bytes sent)"),
    }
}

fn command(ran: &Executed) -> String {
    let words: Vec<&str> = ran.arguments.iter().skip(1).take(MAX_WORDS - 1).map(String::as_str).collect();
    let name = ran.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    quoted(&std::iter::once(name.as_str()).chain(words).collect::<Vec<_>>().join(" "))
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

fn named(things: BTreeSet<String>) -> String {
    let more = things.len().saturating_sub(MAX_NAMED);
    let shown: Vec<String> = things.into_iter().take(MAX_NAMED).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
