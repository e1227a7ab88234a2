//! Tells what is worth knowing in as few lines as it takes: what is true of many tools is told once, with all of them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::summary::Note;
use crate::wire::shortened;

/// Longer names and texts are cut.
const NAME: usize = 60;
const TEXT: usize = 400;
/// More tools than these are counted.
const MANY_TOOLS: usize = 8;

/// One thing that was done, such as a program that was run.
struct Deed {
    /// What stands before the things: "it ran".
    before: String,
    things: Vec<String>,
    after: String,
    tools: Vec<String>,
}

/// One line for each thing that is worth knowing, in the order in which they came.
pub fn noted(notes: &[Note]) -> Vec<String> {
    let mut deeds: Vec<Deed> = Vec::new();
    for Note { tool, text } in notes {
        let (before, things, after) = parts(text, tool.is_some());
        for thing in things {
            let same = |deed: &&mut Deed| {
                deed.before == before && deed.after == after && deed.things == [thing.clone()]
            };
            let tool = tool.clone().into_iter();
            match deeds.iter_mut().find(same) {
                Some(deed) if tool.len() > 0 => deed.tools.extend(tool),
                _ => {
                    let (before, after) = (before.clone(), after.clone());
                    deeds.push(Deed { before, things: vec![thing], after, tools: tool.collect() });
                }
            }
        }
    }
    together(deeds).iter().map(|deed| line(&launched(deed))).collect()
}

/// The programs that launchers start are told by name: which file each is given says nothing of the server.
fn launched(deed: &Deed) -> Deed {
    const RAN: &str = "at its start it ran ";
    static COMMAND: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"`([^` ]+)[^`]*`").expect("a fixed pattern"));
    let things = deed.things.iter().map(|thing| match thing.strip_prefix(RAN) {
        Some(commands) => {
            let names: BTreeSet<&str> =
                COMMAND.captures_iter(commands).filter_map(|found| Some(found.get(1)?.as_str())).collect();
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let more = commands.rsplit_once("` and ").map(|(_, more)| format!(" and {more}"));
            format!("{RAN}{}{}", names.join(", "), more.unwrap_or_default())
        }
        None => thing.clone(),
    });
    let (before, after, tools) = (deed.before.clone(), deed.after.clone(), deed.tools.clone());
    Deed { before, things: things.collect(), after, tools }
}

/// Things that the same tools did in the same way stand in one line.
fn together(deeds: Vec<Deed>) -> Vec<Deed> {
    let mut told: Vec<Deed> = Vec::new();
    for mut deed in deeds {
        deed.tools.dedup();
        let goes_with = |other: &&mut Deed| {
            !deed.tools.is_empty()
                && !deed.before.is_empty()
                && (&other.before, &other.after, &other.tools) == (&deed.before, &deed.after, &deed.tools)
        };
        match told.iter_mut().find(goes_with) {
            Some(other) => other.things.append(&mut deed.things),
            None => told.push(deed),
        }
    }
    told
}

fn line(deed: &Deed) -> String {
    let text = format!("{}{}{}", deed.before, deed.things.join(", "), deed.after);
    let tools: Vec<String> = deed.tools.iter().map(|tool| shortened(tool, NAME)).collect();
    match (tools.len(), shortened(&text, TEXT)) {
        (0, text) => text,
        (1..=MANY_TOOLS, text) => format!("{}: {text}", tools.join(", ")),
        (count, text) => format!("{} and {} other tools: {text}", tools[0], count - 1),
    }
}

/// A sentence about several things, taken apart. How much was sent differs from call to call, and is left out where it is told
/// of a tool.
fn parts(text: &str, of_tool: bool) -> (String, Vec<String>, String) {
    static LIST: LazyLock<Regex> = LazyLock::new(|| {
        let thing = r"`[^`]*`(?: over TLS)?(?: \(\d+ bytes sent\))?";
        Regex::new(&format!(r"^(it [a-z ]+ )({thing}(?:, {thing})*)((?:, [^`]*| and did not connect)?)$"))
            .expect("a fixed pattern")
    });
    static THING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(`[^`]*`(?: over TLS)?)(?: \(\d+ bytes sent\))?").expect("a fixed pattern")
    });
    match LIST.captures(text).filter(|_| of_tool) {
        Some(found) => {
            let things = THING.captures_iter(&found[2]).map(|thing| thing[1].to_owned()).collect();
            (found[1].to_owned(), things, found[3].to_owned())
        }
        None => (String::new(), vec![text.to_owned()], String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(tool: &str, text: &str) -> Note {
        Note { tool: Some(tool.to_owned()), text: text.to_owned() }
    }

    #[test]
    fn what_several_tools_did_is_told_once_for_each_thing() {
        let notes = [
            note("add", "it ran `git log`, `git status`"),
            note("add", "it reached `example.com:443` over TLS (12 bytes sent)"),
            note("show", "it ran `git log`, `git show`"),
            note("show", "it reached `example.com:443` over TLS (97 bytes sent)"),
            note("show", "it wrote `/a`, `/b`, outside its working directory and scope"),
        ];
        assert_eq!(
            noted(&notes),
            [
                "add, show: it ran `git log`",
                "add: it ran `git status`",
                "add, show: it reached `example.com:443` over TLS",
                "show: it ran `git show`",
                "show: it wrote `/a`, `/b`, outside its working directory and scope",
            ]
        );
    }

    #[test]
    fn what_launchers_start_is_told_by_name() {
        let text = "at its start it ran `bash /a/launch exec x`, `basename /b`, `bash /a/which` and 7 more";
        let note = Note { tool: None, text: text.to_owned() };
        assert_eq!(noted(&[note]), ["at its start it ran `basename`, `bash` and 7 more"]);
    }

    #[test]
    fn other_sentences_stay_as_they_are() {
        let whole = Note { tool: None, text: "at its start it reached `a:1` (5 bytes sent)".to_owned() };
        let more = note("add", "it ran `a`, `b` and 7 more");
        assert_eq!(
            noted(&[whole, more]),
            ["at its start it reached `a:1` (5 bytes sent)", "add: it ran `a`, `b` and 7 more"]
        );
    }
}
