//! Tells what a server looked for in its world and did not find, so that its user knows what to give it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};

use wallfacer_process::Spec;
use wallfacer_process::sink::Kind as FlowKind;
use wallfacer_process::trace::{Address, Event, Kind, Outcome, Program, Transport};

use super::recipe::World;
use super::stand_in::{MAX_STAND_INS, can_be_stood_in_for, stand_ins};
use super::standing::Standing;
use super::traced::Traced;
use crate::target::Net;

/// What was sought last is nearest to the failure; of more than these the earlier are not looked at.
const MAX_LOOKED_AT: usize = 4_000;
/// Of each kind this many at most, so that none hides the others.
const MAX_OF_ONE_KIND: usize = 3;
/// What a reader takes in.
const MAX_LACKS: usize = 5;

/// These are made anew for each world, so that what is missing there tells nothing.
const OF_THE_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// The C library asks there for names before it asks anybody else, on every machine.
const NAME_CACHE: [&str; 2] = ["/run/nscd", "/var/run/nscd"];
/// The port of the resolver.
const DNS: u16 = 53;

/// As Linux numbers them.
const NOT_PERMITTED: i32 = 1;
const NO_SUCH_FILE: i32 = 2;
const NO_ACCESS: i32 = 13;
const NOT_A_DIRECTORY: i32 = 20;
const READ_ONLY: i32 = 30;
const IN_PROGRESS: i32 = 115;

/// What a start that was watched has told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sought {
    /// Whether every call into the system was seen; else a lack may be unknown.
    pub watched: bool,
    /// The most telling first.
    pub lacks: Vec<Lack>,
}

/// One thing that a server did not get.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// Is there outside, and is hidden.
    Hidden(PathBuf),
    /// The sandbox answered in its place, or refused.
    Host {
        host: String,
        port: u16,
    },
    /// It was asked for, and nobody knows the port that was meant.
    Name(String),
    /// A socket of another program, which is hidden.
    Socket(PathBuf),
    /// Can be read outside, with the rights of the user.
    Unreadable(PathBuf),
    Unwritable(PathBuf),
    /// A call into the system that was refused.
    Call(&'static str),
    /// It is in no directory of `PATH`.
    Program(String),
}

impl World {
    /// Reads off what a life that was started as `spec` says has lacked.
    pub fn sought(&self, spec: &Spec, standing: &Standing, traced: &Traced) -> Sought {
        let outside = Outside { home: &self.home, stand_in: standing.home.as_deref() };
        let mut lacks = self.contacts(traced);
        let events = || traced.events.iter().rev().take(MAX_LOOKED_AT);
        let mut seen = BTreeSet::new();
        lacks.extend(
            events().filter_map(|event| outside.lack(event)).filter(|lack| seen.insert(lack.clone())),
        );
        lacks.extend(programs(&path_of(spec), events()).into_keys().map(Lack::Program));
        Sought { watched: standing.observed.calls, lacks: most_telling(lacks, &self.home) }
    }

    /// Has somebody answer in the place of programs that were looked for in vain while a call was in flight. The names of
    /// those that are new.
    pub fn stand_in_for(&mut self, path: &OsStr, traced: &Traced) -> Vec<String> {
        let of_calls = traced.events.iter().rev().take(MAX_LOOKED_AT).filter(|event| event.call.is_some());
        let missing = programs(path, of_calls).into_iter();
        let is_new = |(name, place): &(String, PathBuf)| {
            can_be_stood_in_for(name) && !self.stand_ins.contains_key(place)
        };
        let room = MAX_STAND_INS.saturating_sub(self.stand_ins.len());
        let missing: BTreeMap<String, PathBuf> = missing.filter(is_new).take(room).collect();
        self.stand_ins.extend(stand_ins(&missing));
        missing.into_keys().collect()
    }

    /// Whom it wanted to reach, the last one first.
    fn contacts(&self, traced: &Traced) -> Vec<Lack> {
        if self.sandbox.net == Net::Host {
            return Vec::new();
        }
        let mut met = Vec::new();
        let mut names = Vec::new();
        for flow in traced.flows.iter().rev().filter(|flow| !flow.forwarded && !flow.planted) {
            match &flow.kind {
                FlowKind::Dns { question, .. } => names.push(question.trim_end_matches('.').to_owned()),
                FlowKind::Tcp | FlowKind::Udp => met.push((flow.name.clone(), flow.address)),
            }
        }
        let flowed: BTreeSet<SocketAddr> = traced.flows.iter().map(|flow| flow.address).collect();
        let failed = traced.events.iter().rev().chain(&traced.waiting).filter_map(refused_contact);
        met.extend(failed.filter(|address| !flowed.contains(address)).map(|address| (None, address)));
        names.extend(traced.events.iter().rev().flat_map(questions));
        let mut lacks = Vec::new();
        for (name, address) in met.into_iter().filter(|(_, address)| address.port() != DNS) {
            let host = name.unwrap_or_else(|| address.ip().to_canonical().to_string());
            names.retain(|asked| *asked != host);
            push_new(&mut lacks, Lack::Host { host, port: address.port() });
        }
        names.into_iter().for_each(|name| push_new(&mut lacks, Lack::Name(name)));
        lacks
    }
}

fn push_new(lacks: &mut Vec<Lack>, lack: Lack) {
    if lacks.len() < MAX_LACKS && !lacks.contains(&lack) {
        lacks.push(lack);
    }
}

/// An address that it did not get to.
fn refused_contact(event: &Event) -> Option<SocketAddr> {
    let Kind::Connect { address: Address::Inet(address), socket, .. } = &event.kind else { return None };
    let is_datagram = socket.is_some_and(|socket| socket.transport == Transport::Datagram);
    let failed = match event.outcome {
        Outcome::Failed(error) => error != IN_PROGRESS,
        Outcome::Refused(_) | Outcome::Unfinished => true,
        Outcome::Done(_) => false,
    };
    (failed && !is_datagram).then_some(*address)
}

/// The names that it asked a resolver for.
fn questions(event: &Event) -> Vec<String> {
    let Kind::Send { messages, .. } = &event.kind else { return Vec::new() };
    let asked = messages.iter().filter_map(|message| message.question.as_ref());
    asked.map(|question| question.name.trim_end_matches('.').to_owned()).collect()
}

/// The machine as it is without the sandbox.
struct Outside<'a> {
    home: &'a Path,
    /// Where the home of the server lies, if that is elsewhere.
    stand_in: Option<&'a Path>,
}

impl Outside<'_> {
    fn lack(&self, event: &Event) -> Option<Lack> {
        let error = match event.outcome {
            Outcome::Failed(error) | Outcome::Refused(error) => error,
            Outcome::Done(_) | Outcome::Unfinished => return None,
        };
        let (location, writes) = match &event.kind {
            // Its own tracer is refused to it only while it is watched.
            Kind::System { name } => {
                return (error == NOT_PERMITTED && *name != "ptrace").then_some(Lack::Call(name));
            }
            Kind::Open { location, access } => (location, access.write || access.create),
            Kind::Look { location } => (location, false),
            Kind::Execute(program) => (&program.location, false),
            Kind::Connect { address: Address::Unix(location), .. } => (location, false),
            Kind::MakeDirectory { location } => (location, true),
            Kind::Rename { to, .. } => (to, true),
            _ => return None,
        };
        let place = self.of(&location.path())?;
        match error {
            NO_SUCH_FILE | NOT_A_DIRECTORY if !writes => hidden(place),
            NO_ACCESS | NOT_PERMITTED if !writes => readable(&place).then_some(Lack::Unreadable(place)),
            NO_ACCESS | NOT_PERMITTED | READ_ONLY if writes => Some(Lack::Unwritable(place)),
            _ => None,
        }
    }

    /// The path outside of what the server has looked for.
    fn of(&self, path: &Path) -> Option<PathBuf> {
        let path = plain(path)?;
        let stand_in = self.stand_in.filter(|stand_in| *stand_in != self.home);
        let path = match stand_in.and_then(|stand_in| path.strip_prefix(stand_in).ok()) {
            Some(inside) => self.home.join(inside),
            None => path,
        };
        let is_noise = OF_THE_KERNEL.iter().chain(&NAME_CACHE).any(|place| path.starts_with(place));
        (!is_noise).then_some(path)
    }
}

fn hidden(place: PathBuf) -> Option<Lack> {
    // A link that leads nowhere is missing outside too.
    let found = fs::metadata(&place).ok()?;
    if found.is_file() || found.is_dir() { Some(Lack::Hidden(place)) } else { Some(Lack::Socket(place)) }
}

/// Whether the user may read it. Only what cannot make us wait is opened.
fn readable(place: &Path) -> bool {
    match fs::metadata(place) {
        Ok(found) if found.is_file() => File::open(place).is_ok(),
        Ok(found) if found.is_dir() => fs::read_dir(place).is_ok(),
        _ => false,
    }
}

/// Absolute, without `.` and `..`.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain.is_absolute().then_some(plain)
}

fn path_of(spec: &Spec) -> OsString {
    spec.env.get(OsStr::new("PATH")).cloned().unwrap_or_default()
}

/// Names that were looked for in every directory of `PATH`, and are in none, with the last place of each; and what was called by
/// its whole path where programs lie.
fn programs<'e>(path: &OsStr, events: impl Iterator<Item = &'e Event>) -> BTreeMap<String, PathBuf> {
    let directories: Vec<PathBuf> = std::env::split_paths(path).filter(|place| place.is_dir()).collect();
    let Some(last) = directories.last().cloned() else { return BTreeMap::new() };
    let mut missed: BTreeMap<OsString, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut called = BTreeMap::new();
    for event in events.filter(|event| event.outcome.was_missing()) {
        if let Kind::Execute(program) = &event.kind {
            called.extend(called_by_path(program));
        }
        let (Kind::Look { location } | Kind::Execute(Program { location, .. })) = &event.kind else {
            continue;
        };
        let place = location.path();
        if let (Some(directory), Some(name)) = (place.parent(), place.file_name())
            && directories.iter().any(|known| known == directory)
        {
            missed.entry(name.to_owned()).or_default().insert(directory.to_path_buf());
        }
    }
    let everywhere =
        missed.into_iter().filter(|(_, places)| directories.iter().all(|known| places.contains(known)));
    called.extend(everywhere.map(|(name, _)| (name.to_string_lossy().into_owned(), last.join(&name))));
    called
}

/// The name and the place of a program that was called by its whole path, in a directory for programs.
fn called_by_path(program: &Program) -> Option<(String, PathBuf)> {
    let place = program.location.path();
    let directory = place.parent()?;
    let is_for_programs = directory.file_name().is_some_and(|name| name == "bin" || name == "sbin");
    let by_path = program.arguments.first().is_some_and(|word| Path::new(word) == place);
    let name = place.file_name()?.to_string_lossy().into_owned();
    (is_for_programs && by_path && directory.is_dir()).then_some((name, place))
}

/// What lies in the home first, then in the order of the kinds; what came last before what came earlier.
fn most_telling(lacks: Vec<Lack>, home: &Path) -> Vec<Lack> {
    let places: Vec<PathBuf> = lacks.iter().filter_map(Lack::path).map(Path::to_path_buf).collect();
    // Who looks for a file often looks for its directories first; to see the file is enough.
    let leads_to_another = |path: &Path| places.iter().any(|other| other != path && other.starts_with(path));
    let mut kept: Vec<Lack> =
        lacks.into_iter().filter(|lack| !lack.path().is_some_and(leads_to_another)).collect();
    kept.sort_by_key(|lack| (!lack.path().is_some_and(|path| path.starts_with(home)), lack.rank()));
    let mut of_kind: BTreeMap<u8, usize> = BTreeMap::new();
    kept.retain(|lack| {
        let count = of_kind.entry(lack.rank()).or_default();
        *count += 1;
        *count <= MAX_OF_ONE_KIND
    });
    kept.truncate(MAX_LACKS);
    kept
}

impl Lack {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Hidden(path) | Self::Socket(path) | Self::Unreadable(path) | Self::Unwritable(path) => {
                Some(path)
            }
            Self::Host { .. } | Self::Name(_) | Self::Call(_) | Self::Program(_) => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Hidden(_) => 0,
            Self::Host { .. } => 1,
            Self::Name(_) => 2,
            Self::Socket(_) => 3,
            Self::Unreadable(_) => 4,
            Self::Unwritable(_) => 5,
            Self::Call(_) => 6,
            Self::Program(_) => 7,
        }
    }
}
