//! Gathers what the server did during one step from all that was seen of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use wallfacer_process::jail::{Change, Effect, Entry};
use wallfacer_process::sink::Flow;
use wallfacer_process::trace::{Event, Kind, Outcome};

use super::contact::{Contact, contacts};
use super::deeds::{Deed, deeds};
use super::noise::Noise;
use super::place::{Place, Places};
use crate::world::Traced;

/// Filtered deeds that are kept to be shown; all are counted.
const MAX_SHOWN_NOISE: usize = 2_000;

/// The flag with which a file is opened to be added to.
const APPEND: u64 = 0o2000;

/// What a server did to the world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    pub reads: BTreeSet<Touch>,
    /// Files of the user's home that it tried to read and that are not there; in the sandbox most are not.
    pub sought: BTreeSet<Touch>,
    /// Directories that were listed.
    pub lists: BTreeSet<Touch>,
    /// Directories with canaries in them that were listed, whether or not that is noise.
    pub walked: BTreeSet<PathBuf>,
    /// Files that are other than before, made ones among them.
    pub writes: BTreeSet<Touch>,
    /// Of those, the ones that were not there before.
    pub creates: BTreeSet<Touch>,
    /// Files that are gone, or as good as gone: nothing is left in them.
    pub deletes: BTreeSet<Touch>,
    /// Files that are somewhere else now.
    pub moves: BTreeSet<Touch>,
    /// Files that were opened to be written to; whether anything was written is not known.
    pub opened_to_write: BTreeSet<Touch>,
    /// Sockets in the file system that were spoken to.
    pub sockets: BTreeSet<Touch>,
    pub connects: BTreeSet<Contact>,
    /// Names that the resolver was asked for.
    pub names: BTreeSet<String>,
    pub programs: BTreeSet<Executed>,
    /// Addresses where the server waits to be spoken to.
    pub listens: BTreeSet<String>,
    /// Deeds that are noise.
    pub filtered: u64,
    /// The first of them, in words.
    pub noise: BTreeSet<String>,
    /// What was not kept, for there was too much of it.
    pub lost: u64,
}

/// A file that something was done to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Touch {
    pub path: PathBuf,
    pub place: Place,
}

/// A program that was executed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Executed {
    pub file: PathBuf,
    pub arguments: Vec<String>,
}

/// Whose doing is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// What the step's call made the server do.
    Call,
    /// What it did besides: at the start, between calls, or late for an earlier one.
    Background,
}

/// Gathers what was done in a step.
pub fn gather(traced: &Traced, whose: Whose, places: &Places, noise: &Noise) -> Effects {
    let is_ours = |call: Option<u64>| (call.is_some() && call == traced.call) == (whose == Whose::Call);
    let (ours, others): (Vec<&Event>, Vec<&Event>) =
        traced.events.iter().chain(&traced.waiting).partition(|event| is_ours(event.call));
    let flows: Vec<&Flow> = traced.flows.iter().filter(|flow| is_ours(flow.call)).collect();
    let mut gatherer = Gatherer { places, noise, effects: Effects::default() };
    gatherer.files(&ours, &others, traced, whose);
    gatherer.network(&ours, &flows);
    ours.iter().for_each(|event| gatherer.program(event));
    gatherer.effects.lost = traced.lost;
    gatherer.effects
}

struct Gatherer<'a> {
    places: &'a Places,
    noise: &'a Noise,
    effects: Effects,
}

impl Gatherer<'_> {
    fn files(&mut self, ours: &[&Event], others: &[&Event], traced: &Traced, whose: Whose) {
        // The last of what was done to each: what was made and removed again has not changed the world.
        let mut last: BTreeMap<PathBuf, Deed> = BTreeMap::new();
        let mut made = BTreeSet::new();
        let mut overwritten = BTreeSet::new();
        for event in ours {
            for (deed, path) in deeds(event) {
                if deed == Deed::Write && event.outcome.succeeded() && !only_adds(event) {
                    overwritten.insert(path.clone());
                }
                self.attempt(event, deed, &path);
                if !event.outcome.succeeded() && event.outcome != Outcome::Unfinished {
                    continue;
                }
                match deed {
                    Deed::Read => self.note_read(&path, |effects| &mut effects.reads),
                    Deed::List => {
                        if self.places.canaries.iter().any(|canary| canary.parent() == Some(&path)) {
                            self.effects.walked.insert(path.clone());
                        }
                        self.note_read(&path, |effects| &mut effects.lists);
                    }
                    Deed::Reach => self.note_read(&path, |effects| &mut effects.sockets),
                    Deed::Write | Deed::OpenToWrite => {
                        if !last.contains_key(&path) && may_make(event) {
                            made.insert(path.clone());
                        }
                        let opened = deed == Deed::OpenToWrite;
                        match last.get(&path) {
                            Some(Deed::Write) if opened => {}
                            _ => drop(last.insert(path, deed)),
                        }
                    }
                    Deed::Delete | Deed::Move => drop(last.insert(path, deed)),
                }
            }
        }
        let elsewhere: BTreeSet<PathBuf> = others
            .iter()
            .flat_map(|event| deeds(event))
            .filter(|(deed, _)| changes(*deed))
            .map(|(_, path)| path)
            .collect();
        let mut changed: BTreeMap<&Path, &Change> = BTreeMap::new();
        for change in &traced.changes {
            let ours = last.contains_key(&change.path)
                || !elsewhere.contains(&change.path) && (whose == Whose::Call) == traced.call.is_some();
            // The times of a directory change with what is in it.
            let told = change.effect != Effect::Touched
                && (change.entry != Entry::Directory || change.effect != Effect::Modified);
            if ours && told {
                changed.insert(&change.path, change);
            }
        }
        let is_log = |path: &Path| !overwritten.contains(path) && self.noise.is_append(path);
        let logs: BTreeSet<PathBuf> = last
            .keys()
            .map(PathBuf::as_path)
            .chain(changed.keys().copied())
            .filter(|path| is_log(path))
            .map(Path::to_owned)
            .collect();
        for (path, deed) in &last {
            match deed {
                Deed::Move if !made.contains(path) => self.note_write(path, |effects| &mut effects.moves),
                _ if changed.contains_key(path.as_path()) => {}
                Deed::Delete if !made.contains(path) => {
                    self.note_write(path, |effects| &mut effects.deletes);
                }
                Deed::Write | Deed::OpenToWrite if logs.contains(path) => self.filter("append", path),
                Deed::Write => self.note_write(path, |effects| &mut effects.writes),
                Deed::OpenToWrite => self.note_write(path, |effects| &mut effects.opened_to_write),
                _ => {}
            }
        }
        for (path, change) in changed {
            match change.effect {
                Effect::Deleted if last.get(path) == Some(&Deed::Move) => {}
                Effect::Deleted => self.note_write(path, |effects| &mut effects.deletes),
                Effect::Created | Effect::Modified | Effect::Touched if logs.contains(path) => {
                    self.filter("append", path);
                }
                Effect::Modified if change.bytes == 0 => {
                    self.note_write(path, |effects| &mut effects.deletes);
                }
                Effect::Created => {
                    self.note_write(path, |effects| &mut effects.writes);
                    self.note_write(path, |effects| &mut effects.creates);
                }
                Effect::Modified | Effect::Replaced | Effect::Touched => {
                    self.note_write(path, |effects| &mut effects.writes);
                }
            }
        }
    }

    /// To try is enough where secrets lie.
    fn attempt(&mut self, event: &Event, deed: Deed, path: &Path) {
        let failed = !event.outcome.succeeded();
        let in_home = || self.places.of(path) == Place::Home && !self.noise.is_read(path);
        if event.outcome.was_missing() && deed == Deed::Read && in_home() {
            let touch = self.touch(path);
            self.effects.sought.insert(touch);
        }
        if failed && matches!(deed, Deed::Read | Deed::Reach) && self.places.of(path) == Place::Sensitive {
            let touch = self.touch(path);
            match deed {
                Deed::Reach => self.effects.sockets.insert(touch),
                _ => self.effects.reads.insert(touch),
            };
        }
    }

    fn note_read(&mut self, path: &Path, list: fn(&mut Effects) -> &mut BTreeSet<Touch>) {
        let place = self.places.of(path);
        let secret = matches!(place, Place::Canary | Place::Sensitive);
        if !secret && (place == Place::Own || self.noise.is_read(path)) {
            return self.filter("read", path);
        }
        let touch = Touch { path: path.to_owned(), place };
        list(&mut self.effects).insert(touch);
    }

    fn note_write(&mut self, path: &Path, list: fn(&mut Effects) -> &mut BTreeSet<Touch>) {
        let place = self.places.of(path);
        let secret = matches!(place, Place::Canary | Place::Sensitive);
        if !secret && self.noise.is_write(path) {
            return self.filter("write", path);
        }
        list(&mut self.effects).insert(Touch { path: path.to_owned(), place });
    }

    fn network(&mut self, events: &[&Event], flows: &[&Flow]) {
        let (connects, names) = contacts(events, flows);
        for contact in connects {
            let address = contact.address.to_string();
            let noise = self.noise.is_contact(&contact.host, contact.port)
                || self.noise.is_contact(&address, contact.port);
            match noise {
                true => self.filter("connect", Path::new(&contact.place())),
                false => drop(self.effects.connects.insert(contact)),
            }
        }
        self.effects.names = names;
        let listening = events.iter().filter(|event| event.outcome.succeeded());
        self.effects.listens.extend(listening.filter_map(|event| match &event.kind {
            Kind::Listen { address: Some(wallfacer_process::trace::Address::Inet(address)), .. } => {
                Some(address.to_string())
            }
            _ => None,
        }));
    }

    fn program(&mut self, event: &Event) {
        let Kind::Execute(program) = &event.kind else { return };
        if !event.outcome.succeeded() {
            return;
        }
        let path = program.location.path();
        if self.noise.is_run(&path) {
            return self.filter("run", &path);
        }
        let arguments = program.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        self.effects.programs.insert(Executed { file: path, arguments });
    }

    fn touch(&self, path: &Path) -> Touch {
        Touch { path: path.to_owned(), place: self.places.of(path) }
    }

    fn filter(&mut self, verb: &str, path: &Path) {
        self.effects.filtered += 1;
        if self.effects.noise.len() < MAX_SHOWN_NOISE {
            self.effects.noise.insert(format!("{verb} {}", path.display()));
        }
    }
}

/// Whether an event can only add to what is there.
fn only_adds(event: &Event) -> bool {
    match &event.kind {
        Kind::Open { access, .. } => access.flags & APPEND != 0 && !access.truncate,
        Kind::MakeDirectory { .. } => true,
        _ => false,
    }
}

fn changes(deed: Deed) -> bool {
    matches!(deed, Deed::Write | Deed::OpenToWrite | Deed::Delete | Deed::Move)
}

/// Whether an event can make a file that was not there.
fn may_make(event: &Event) -> bool {
    match &event.kind {
        Kind::Open { access, .. } => access.create,
        Kind::Truncate { .. }
        | Kind::ChangeMode { .. }
        | Kind::ChangeOwner { .. }
        | Kind::ChangeAttribute { .. } => false,
        _ => true,
    }
}

impl Effects {
    /// Everything that was done here and there.
    pub fn add(&mut self, other: &Effects) {
        let touches: [fn(&mut Effects) -> &mut BTreeSet<Touch>; 9] = [
            |effects| &mut effects.reads,
            |effects| &mut effects.sought,
            |effects| &mut effects.lists,
            |effects| &mut effects.writes,
            |effects| &mut effects.creates,
            |effects| &mut effects.deletes,
            |effects| &mut effects.moves,
            |effects| &mut effects.opened_to_write,
            |effects| &mut effects.sockets,
        ];
        let mut copy = other.clone();
        for list in touches {
            list(self).append(list(&mut copy));
        }
        for contact in copy.connects {
            let same =
                |known: &&Contact| known.place() == contact.place() && known.datagrams == contact.datagrams;
            match self.connects.iter().find(same).cloned() {
                Some(known) => {
                    self.connects.remove(&known);
                    let (tls, sent) = (known.tls || contact.tls, known.sent.saturating_add(contact.sent));
                    self.connects.insert(Contact { tls, sent, ..known });
                }
                None => drop(self.connects.insert(contact)),
            }
        }
        self.walked.append(&mut copy.walked);
        self.names.append(&mut copy.names);
        self.programs.append(&mut copy.programs);
        self.listens.append(&mut copy.listens);
        self.filtered += copy.filtered;
        self.lost += copy.lost;
        let room = MAX_SHOWN_NOISE.saturating_sub(self.noise.len());
        self.noise.extend(copy.noise.into_iter().take(room));
    }

    /// The secrets that were touched: canaries, and what holds power over the machine.
    pub fn secrets(&self) -> impl Iterator<Item = &Touch> {
        let all =
            [&self.reads, &self.writes, &self.deletes, &self.moves, &self.opened_to_write, &self.sockets];
        all.into_iter().flatten().filter(|touch| matches!(touch.place, Place::Canary | Place::Sensitive))
    }

    /// Hosts that what is sent to leaves the machine for.
    pub fn outside(&self) -> impl Iterator<Item = &Contact> {
        self.connects.iter().filter(|contact| contact.is_outside())
    }

    /// Whether anything is left when noise is taken away.
    pub fn is_empty(&self) -> bool {
        let touches = [
            &self.reads,
            &self.sought,
            &self.lists,
            &self.writes,
            &self.deletes,
            &self.moves,
            &self.opened_to_write,
            &self.sockets,
        ];
        touches.iter().all(|list| list.is_empty())
            && self.connects.is_empty()
            && self.names.is_empty()
            && self.programs.is_empty()
            && self.listens.is_empty()
    }
}
