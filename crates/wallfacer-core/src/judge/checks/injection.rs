//! What was put into an argument must stay data. Judged by what the server did, as the kernel saw it; that a payload is
//! repeated in a reply proves nothing.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use serde_json::Value;
use wallfacer_process::jail::{Change, Effect, Entry};
use wallfacer_process::trace::{Address, Event, Kind as Deed, Program, Transport};

use super::deed::{line, paths};
use super::reply;
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Aim, Case, Escape, Injection, Purpose, Step, is_about_files, places, words};
use crate::run::{Recording, Taken};
use crate::target::Severity;
use crate::world::Traced;

mod hidden;

/// Deeds that are shown as evidence.
const MAX_SHOWN: usize = 5;

pub struct NoInjection;

impl Check for NoInjection {
    fn name(&self) -> &'static str {
        "no-injection"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let Some(injection) = case.intent.injection().filter(|injection| !injection.aim.is_measured()) else {
            return Verdict::Holds;
        };
        if !recording.steps.iter().any(|taken| taken.traced.is_some()) {
            return Verdict::Unknown("nobody watched what the server did".to_owned());
        }
        // Where nothing was declared there is nothing to leave: that is worth a note, and no more. To write anywhere is
        // worth a finding even then, unless files are what the tool is about; and so is a name that is taken for a path.
        if matches!(injection.aim, Aim::Reach { declared: false, .. })
            && !reads_by_name(injection, recording)
            && (case.tool_name().is_some_and(is_about_files) || !writes(injection, recording))
        {
            return Verdict::Holds;
        }
        match proof(case, injection, recording) {
            Some(proof) => Verdict::Broken(Box::new(self.charge(injection, proof))),
            None => Verdict::Holds,
        }
    }
}

impl NoInjection {
    fn charge(&self, injection: &Injection, proof: Vec<String>) -> Charge {
        let Injection { at, way, aim, .. } = injection;
        let (effect, weakness) = told(injection);
        let cause = Cause::rule(self.name(), Some(&format!("{} at {}", aim.class(), starred(at))));
        let message = match aim {
            Aim::Hidden { .. } => effect,
            _ => format!("through `{at}`, {effect}; it was given {way}"),
        };
        let mut charge = Charge::new(self.name(), Kind::Injection, cause, message);
        charge.way = format!("`{at}`, given {way}");
        charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: weakness.to_owned() }];
        charge.severity = match aim {
            Aim::Connect { meant: true, .. } | Aim::Hand { .. } => Some(Severity::Medium),
            Aim::Hidden { taken_away: true, .. } => Some(Severity::High),
            Aim::Hidden { .. } => Some(Severity::Low),
            // Who asks where to save something is told so; who asks for a name is not.
            Aim::Reach { declared: false, .. } if asks_for_a_path(at) => Some(Severity::Low),
            Aim::Reach { declared: false, .. } => Some(Severity::Medium),
            _ => None,
        };
        if matches!(aim, Aim::Connect { meant: true, .. }) {
            charge.details =
                "To fetch what it is told is this tool's job, so this weighs less; but addresses that only \
                              this machine or its network can reach should be refused."
                    .to_owned();
        }
        let label =
            if matches!(aim, Aim::Hidden { .. }) { "what it was answered" } else { "what the kernel saw" };
        charge.with(label, proof.join("\n"))
    }
}

/// The effect in words, and the number of the weakness.
fn told(Injection { aim, openly_first, by_name, .. }: &Injection) -> (String, &'static str) {
    match aim {
        Aim::Execute { .. } if *openly_first => {
            ("the server executes a program that it refuses to when asked openly".to_owned(), "CWE-184")
        }
        Aim::Execute { .. } => ("the server executes a program of the caller's choice".to_owned(), "CWE-78"),
        Aim::Pass { .. } => {
            ("a value becomes an option of a program that the server runs".to_owned(), "CWE-88")
        }
        Aim::Reach { escape: Escape::Relative, outside, .. } => {
            let text = format!(
                "steps up lead out of the server's own directory to {}, where a whole path does not",
                outside.display()
            );
            (text, "CWE-22")
        }
        Aim::Reach { escape: Escape::Address, outside, .. } => {
            let text =
                format!("a tool that fetches pages opens {}, a file of this machine", outside.display());
            (text, "CWE-73")
        }
        Aim::Reach { declared: false, outside, .. } if *by_name => {
            let text = format!("a name is taken for a path, and leads to {}", outside.display());
            (text, "CWE-22")
        }
        Aim::Reach { declared: false, outside, .. } => {
            let text = format!(
                "the server writes {}, wherever it is told, and was given no directory",
                outside.display()
            );
            (text, "CWE-73")
        }
        Aim::Reach { scope, outside, .. } => {
            let text = format!("the server leaves {} and reaches {}", scope.display(), outside.display());
            (text, "CWE-22")
        }
        Aim::Hand { .. } => {
            ("an address with any scheme is handed to another program, which opens it".to_owned(), "CWE-939")
        }
        Aim::Connect { .. } => ("the server connects to an inner address".to_owned(), "CWE-918"),
        Aim::Change { .. } => ("a tool that is only to read changes something".to_owned(), "CWE-89"),
        Aim::Hidden { tool, taken_away: true } => {
            (format!("`{tool}` still answers, though the settings took it out of the list"), "CWE-425")
        }
        Aim::Hidden { tool, .. } => (format!("`{tool}` answers, and is in no list"), "CWE-425"),
        Aim::Grow | Aim::Inflate => ("what a call takes grows".to_owned(), "CWE-400"),
    }
}

/// What shows that the aim was met; none where nothing does.
pub fn proof(case: &Case, injection: &Injection, recording: &Recording) -> Option<Vec<String>> {
    let shown = |taken: &Taken| match &taken.traced {
        Some(traced) => deeds(case, injection, taken, traced),
        None => Vec::new(),
    };
    let openly = usize::from(injection.openly_first);
    if recording.steps.iter().take(openly).any(|taken| !shown(taken).is_empty()) {
        return None;
    }
    if let Aim::Hidden { tool, .. } = &injection.aim {
        return hidden::answers(case, recording, tool).map(|line| vec![line]);
    }
    let mut lines: Vec<String> = recording.steps.iter().skip(openly).flat_map(shown).collect();
    if let Aim::Change { shows: Some(shown), .. } = &injection.aim {
        let later = recording.steps.iter().skip(1);
        let told = later.filter(|taken| says(taken, shown));
        lines.extend(
            told.map(|_| format!("a later call is answered with {shown}, which only the change brought in")),
        );
    }
    lines.truncate(MAX_SHOWN);
    (!lines.is_empty()).then_some(lines)
}

/// What one step shows.
fn deeds(case: &Case, injection: &Injection, taken: &Taken, traced: &Traced) -> Vec<String> {
    let own = || traced.events.iter().filter(|event| traced.call.is_some() && event.call == traced.call);
    let shown =
        |is: &dyn Fn(&Event) -> bool| own().filter(|event| is(event)).map(line).collect::<Vec<String>>();
    match &injection.aim {
        Aim::Execute { program } => shown(&|event| executes(event, program)),
        Aim::Pass { option, file } => shown(&|event| passes(event, option) || makes(event, file)),
        Aim::Reach { name, .. } if !names(case, name) => Vec::new(),
        Aim::Reach { outside, token, name, .. } => {
            let mut lines = shown(&|event| reaches(event, outside, name));
            let told = format!("the reply holds what stands in {}", outside.display());
            lines.extend(says(taken, token).then_some(told));
            lines
        }
        Aim::Hand { address } => shown(&|event| hands(event, address)),
        Aim::Connect { addresses, .. } => shown(&|event| connects(event, addresses)),
        Aim::Change { known, makes, .. } => {
            let other =
                traced.changes.iter().filter(|change| is_change(change) && !known.contains(&change.path));
            let changed = other.map(|change| format!("{:?}: {}", change.effect, change.path.display()));
            let made = shown(&|event| makes.as_ref().is_some_and(|file| self::makes(event, file)));
            changed.chain(made).collect()
        }
        Aim::Hidden { .. } | Aim::Grow | Aim::Inflate => Vec::new(),
    }
}

fn says(taken: &Taken, text: &str) -> bool {
    reply::message(taken).is_some_and(|message| contains(&message.bytes, text.as_bytes()))
}

fn executes(event: &Event, program: &str) -> bool {
    let Deed::Execute(executed) = &event.kind else { return false };
    let called = executed.arguments.first().map(|word| Path::new(word).file_name().unwrap_or_default());
    called.is_some_and(|name| name == program)
        || executed.location.path().file_name().is_some_and(|name| name == program)
}

/// Programs that look at the scheme themselves, or that only run more of the server's own code.
const LOOK_AT_SCHEMES: [&str; 12] =
    ["bash", "bun", "curl", "deno", "git", "java", "node", "perl", "python", "ruby", "sh", "wget"];

/// Whether a program got an address with our scheme as a word of its own.
fn hands(event: &Event, address: &str) -> bool {
    let Deed::Execute(Program { arguments, location, .. }) = &event.kind else { return false };
    let program = location.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let ours = |word: &std::ffi::OsString| word.to_string_lossy().starts_with(address);
    event.outcome.succeeded() && !LOOK_AT_SCHEMES.contains(&plain) && arguments.iter().skip(1).any(ours)
}

/// Whether a program got our text as an option: a word of its own, before any `--`, and not what an option before it takes.
fn passes(event: &Event, option: &str) -> bool {
    let Deed::Execute(Program { arguments, .. }) = &event.kind else { return false };
    let called = arguments.first().and_then(|word| Path::new(word).file_name());
    if called.is_some_and(|name| ONLY_PRINTS.iter().any(|prints| name == *prints)) {
        return false;
    }
    let Some(index) = arguments.iter().skip(1).position(|argument| argument == option).map(|index| index + 1)
    else {
        return false;
    };
    let before = &arguments[..index];
    let ended = before.iter().skip(1).any(|argument| argument == "--");
    let taken =
        before.last().filter(|_| index > 1).is_some_and(|last| takes_a_value(&last.to_string_lossy()));
    !ended && !taken
}

/// Programs that print what they are given, and do nothing else whatever their options.
const ONLY_PRINTS: [&str; 1] = ["echo"];

/// An option without a value of its own may take the next word for it, unless it is known to take none.
fn takes_a_value(word: &str) -> bool {
    let takes_none = word.starts_with("--no-") || SWITCHES.contains(&word);
    word.len() > 1 && word.starts_with('-') && !word.contains('=') && !takes_none
}

/// Options that take no value in any of the programs that are often run.
const SWITCHES: [&str; 32] = [
    "--all",
    "--bare",
    "--cached",
    "--decorate",
    "--delete",
    "--detach",
    "--files-with-matches",
    "--fixed-strings",
    "--force",
    "--global",
    "--graph",
    "--hard",
    "--hidden",
    "--ignore-case",
    "--interactive",
    "--json",
    "--line-number",
    "--list",
    "--name-only",
    "--name-status",
    "--numstat",
    "--oneline",
    "--porcelain",
    "--quiet",
    "--recursive",
    "--short",
    "--silent",
    "--staged",
    "--stat",
    "--tags",
    "--verbose",
    "--yes",
];

fn makes(event: &Event, file: &Path) -> bool {
    let Deed::Open { location, access } = &event.kind else { return false };
    event.outcome.succeeded() && access.create && location.path() == file
}

/// Whether a file or what lies below it is opened, made, changed or taken away; to look whether it is there is not enough.
fn reaches(event: &Event, outside: &Path, name: &str) -> bool {
    let opens = match &event.kind {
        Deed::Open { access, .. } => !access.place_only,
        Deed::Execute(_) | Deed::Connect { .. } | Deed::Bind { .. } => false,
        _ => true,
    };
    let there = |path: &PathBuf| path.starts_with(outside) || is_named_there(path, outside, name);
    opens && event.outcome.succeeded() && paths(&event.kind).iter().any(there)
}

/// Whether it lies beside the goal under its name and an ending more or less: some add one, or make a directory of it.
/// Where temporary files lie, the name of one proves nothing.
fn is_named_there(path: &Path, outside: &Path, name: &str) -> bool {
    let Some(parent) =
        outside.parent().filter(|parent| !TEMPORARY.iter().any(|place| Path::new(place) == *parent))
    else {
        return false;
    };
    let below = path.strip_prefix(parent).ok().and_then(|below| below.components().next());
    let is_named = |first: &str| {
        let more = first
            .strip_prefix(name)
            .map(|rest| rest.chars().next().is_none_or(|next| !next.is_alphanumeric()));
        more.unwrap_or(false)
    };
    below.is_some_and(|first| is_named(&first.as_os_str().to_string_lossy()))
}

/// Where programs put files for a moment, under any name.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Whether what was reached by a path that leads out was made or changed, rather than read.
fn writes(injection: &Injection, recording: &Recording) -> bool {
    let Aim::Reach { escape: Escape::Outside, outside, name, .. } = &injection.aim else { return false };
    let changes = |event: &Event| match &event.kind {
        Deed::Open { access, .. } => access.write,
        Deed::Execute(_) | Deed::Connect { .. } | Deed::Bind { .. } => false,
        _ => true,
    };
    let traced = recording.steps.iter().filter_map(|taken| taken.traced.as_ref());
    let own = traced.flat_map(|traced| {
        traced.events.iter().filter(|event| traced.call.is_some() && event.call == traced.call)
    });
    own.into_iter().any(|event| changes(event) && reaches(event, outside, name))
}

/// Whether what stands in a file came back for what is a name and no path.
fn reads_by_name(injection: &Injection, recording: &Recording) -> bool {
    let Aim::Reach { escape: Escape::Outside, token, .. } = &injection.aim else { return false };
    injection.by_name && recording.steps.iter().any(|taken| says(taken, token))
}

/// Whether a call of the case speaks of it.
fn names(case: &Case, name: &str) -> bool {
    let said = |step: &Step| match step {
        Step::Call { params, .. } => {
            places(&Value::Object(params.clone())).iter().any(|place| place.value.contains(name))
        }
        _ => false,
    };
    case.steps.iter().any(said)
}

fn connects(event: &Event, addresses: &[SocketAddr]) -> bool {
    let Deed::Connect { address: Address::Inet(address), socket, .. } = &event.kind else { return false };
    // To connect a datagram socket sends nothing; resolvers do so to find out about routes.
    let stream = socket.is_some_and(|socket| socket.transport == Transport::Stream);
    let plain = |address: &SocketAddr| (address.ip().to_canonical(), address.port());
    stream && addresses.iter().any(|wanted| plain(wanted) == plain(address) || is_loop(wanted, address))
}

/// All of 127.0.0.0/8 is this machine.
fn is_loop(wanted: &SocketAddr, address: &SocketAddr) -> bool {
    let loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
    loopback(wanted.ip()) && loopback(address.ip()) && wanted.port() == address.port()
}

/// Whether what was there is other than before; new files may be caches.
fn is_change(change: &Change) -> bool {
    let fleeting = ["/dev", "/proc", "/run"].iter().any(|place| change.path.starts_with(place));
    let kept = matches!(change.effect, Effect::Modified | Effect::Deleted | Effect::Replaced);
    let file = matches!(change.entry, Entry::File | Entry::Nothing);
    kept && file && !fleeting && !is_journal(&change.path)
}

/// What databases write beside themselves also when they only read.
fn is_journal(path: &Path) -> bool {
    let name = path.to_string_lossy();
    ["-shm", "-wal", "-journal", ".lock", ".log"].iter().any(|ending| name.ends_with(ending))
}

fn contains(bytes: &[u8], token: &[u8]) -> bool {
    !token.is_empty() && bytes.windows(token.len()).any(|window| window == token)
}

/// Whether an argument is there to say where something lies, by its name.
fn asks_for_a_path(at: &str) -> bool {
    let name =
        at.rsplit('/').find(|part| !part.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or_default();
    let said = words(name);
    let says = ["directory", "location", "output", "save", "target", "to"];
    Purpose::of(name).is_path() || said.iter().any(|word| says.contains(&word.as_str()))
}

/// The place in a list is no part of a cause.
fn starred(at: &str) -> String {
    let starred =
        at.split('/').map(|part| match !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => "*",
            false => part,
        });
    starred.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
