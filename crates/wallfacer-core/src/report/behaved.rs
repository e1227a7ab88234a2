//! What a watched server did, as a table for a person: one row for each tool, and what was left out as noise.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::look::{Look, Tone};
use crate::observe::{Behaviour, Effects};
use crate::wire::shortened;

/// Rows, and lines of noise, that are shown.
const MAX_ROWS: usize = 60;
const MAX_NOISE: usize = 400;
/// Width of the column of names, and things of one sort in a row.
const NAME: usize = 28;
const MAX_NAMED: usize = 3;

/// The table; with `noise`, also what was left out of it.
pub fn behaved(behaviour: &Behaviour, noise: bool, look: Look) -> String {
    let mut out = format!("\n{}\n", look.paint(Tone::Heading, "Watched"));
    let rows: Vec<(String, String, &Effects)> = rows(behaviour);
    let column = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(4);
    let head =
        format!("  {:column$} {:>6} {:>5} {:>7}  reached, ran, secrets", "what", "worked", "read", "written");
    let _infallible = writeln!(out, "{}", look.paint(Tone::Faint, &head));
    for (name, worked, effects) in rows.iter().take(MAX_ROWS) {
        let written: BTreeSet<_> =
            effects.writes.iter().chain(&effects.deletes).chain(&effects.moves).collect();
        let besides = besides(behaviour, effects);
        let besides = if besides.is_empty() { "-".to_owned() } else { besides.join("; ") };
        let before = column + 25;
        let lines = look.wrapped(&besides, before);
        let (read, written) = (effects.reads.len() + effects.lists.len(), written.len());
        let _infallible = writeln!(out, "  {name:column$} {worked:>6} {read:>5} {written:>7}  {}", lines[0]);
        for line in &lines[1..] {
            let _infallible = writeln!(out, "{:before$}{line}", "");
        }
    }
    if rows.len() > MAX_ROWS {
        let _infallible = writeln!(out, "  and {} more; --format json has all", rows.len() - MAX_ROWS);
    }
    let filtered = behaviour.filtered();
    let told = if noise { "" } else { "; --show-noise lists them" };
    let _infallible = writeln!(out, "  {filtered} accesses of the language runtime are not shown{told}");
    if noise {
        let all: BTreeSet<&String> = rows.iter().flat_map(|(_, _, effects)| &effects.noise).collect();
        for line in all.iter().take(MAX_NOISE) {
            let _infallible = writeln!(out, "    {}", shortened(line, look.width()));
        }
    }
    out
}

fn rows(behaviour: &Behaviour) -> Vec<(String, String, &Effects)> {
    let by_itself = [("(at its start)", &behaviour.startup), ("(in the background)", &behaviour.background)];
    let mut rows: Vec<(String, String, &Effects)> = by_itself
        .into_iter()
        .filter(|(_, effects)| !effects.is_empty())
        .map(|(name, effects)| (name.to_owned(), String::new(), effects))
        .collect();
    rows.extend(behaviour.by_name().into_iter().map(|(name, _, done)| {
        (shortened(&name, NAME), format!("{}/{}", done.completed, done.calls), &done.effects)
    }));
    rows
}

fn besides(behaviour: &Behaviour, effects: &Effects) -> Vec<String> {
    let hosts = few(effects.connects.iter().map(|contact| contact.place()));
    let programs = few(effects
        .programs
        .iter()
        .map(|ran| ran.file.file_name().unwrap_or(ran.file.as_os_str()).to_string_lossy().into_owned()));
    let secrets = few(effects.secrets().map(|touch| behaviour.places.shown(&touch.path)));
    let secrets = secrets.map(|secrets| format!("SECRETS {secrets}"));
    [hosts, programs, secrets].into_iter().flatten().collect()
}

/// The first few of some things.
fn few(things: impl Iterator<Item = String>) -> Option<String> {
    let things: BTreeSet<String> = things.map(|thing| shortened(&thing, 60)).collect();
    let more = things.len().saturating_sub(MAX_NAMED);
    let shown = things.into_iter().take(MAX_NAMED).collect::<Vec<_>>().join(", ");
    match more {
        _ if shown.is_empty() => None,
        0 => Some(shown),
        more => Some(format!("{shown} and {more} more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Done, Executed, Place, Places, Touch};
    use crate::plan::Subject;

    #[test]
    fn each_tool_has_a_row_and_noise_is_counted() {
        let mut effects = Effects { filtered: 12, ..Effects::default() };
        effects.noise.insert("read /usr/lib/x".to_owned());
        let touch = |path: &str, place| Touch { path: path.into(), place };
        effects.reads.insert(touch("/home/u/.netrc", Place::Canary));
        effects.writes.insert(touch("/work/a", Place::WorkingDirectory));
        effects.programs.insert(Executed { file: "/usr/bin/git".into(), arguments: Vec::new() });
        let places = Places { home: "/home/u".into(), ..Places::default() };
        let mut behaviour = Behaviour { places, ..Behaviour::default() };
        let idle = Done { calls: 4, completed: 4, effects: Effects::default() };
        let tool = |name: &str| Subject::Tool(name.to_owned());
        behaviour.done.insert(tool("sync"), Done { calls: 4, completed: 3, effects });
        behaviour.done.insert(tool("idle"), idle.clone());
        behaviour
            .done
            .insert(Subject::Prompt("idle".to_owned()), Done { calls: 1, completed: 0, ..idle.clone() });
        behaviour.done.insert(Subject::Prompt("greet".to_owned()), idle);
        insta::assert_snapshot!(behaved(&behaviour, true, Look::PLAIN));
    }
}
