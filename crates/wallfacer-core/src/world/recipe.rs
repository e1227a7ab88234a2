//! What the world of each life is made of, worked out once for a target.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use wallfacer_process::jail::{
    Canary, Jail, Limits, Network, Plant, home_of_the_user, offers, project_canaries,
};
use wallfacer_process::sink::{Authority, Fault, Mode, Shapes};
use wallfacer_process::{Rung, Spec};

use super::access::Access;
use super::entrusted::{Entrusted, hosts};
use super::exposed::{exposed, named};
use super::fetch::{Fetching, ForFetching};
use super::launcher::Launcher;
use super::scope::{DeclaredBy, named_by_variables, places, scopes};
use super::standing::Standing;
use super::{trust, workspace};
use crate::target::{Command, Confine, Imitation, Net, Sandbox, Target, imitate, secret_values};

/// Where nothing says what the home directory is.
const NO_HOME: &str = "/nonexistent";

/// The most directories that are taken for scopes because the server says that it keeps to them: it can say anything.
const MAX_STATED: usize = 4;

/// Below this rung a server has all the rights of the user.
pub(super) const LAST_WITH_WALLS: Rung = Rung::Fence;

/// A recipe: [`World::start`] makes a life's world of it, each time the same.
#[derive(Debug, Clone)]
pub struct World {
    /// Decides the canaries, and which addresses names get.
    pub seed: u64,
    /// What else is to be found there, whether it is there outside or not.
    pub plants: BTreeMap<PathBuf, Plant>,
    /// Whether the sink answers or refuses.
    pub network: Mode,
    /// What is wrong with every answer of the sink, where something is to be.
    pub fault: Option<Fault>,
    /// What was learned of the answers that the server expects of others; one for all lives.
    pub shapes: Arc<Shapes>,
    /// Programs that answer in the place of those that the machine lacks.
    pub stand_ins: BTreeMap<PathBuf, Plant>,
    /// Lists of authorities that the server brought along, and trusts instead of those of the machine.
    pub(super) trusted: BTreeSet<PathBuf>,
    /// Ports of loopback where somebody answers, whatever is refused elsewhere.
    pub listeners: Vec<u16>,
    /// Whether every call into the system is seen. It costs a server that makes many of them about as much again.
    pub watch: bool,
    /// While it is watched: whether what it looks for in vain is seen too. For one short life, because it costs much.
    pub lookups: bool,
    /// What all that is written may take; none for what is usual.
    pub disk: Option<u64>,
    /// Whether a second process of each server may be had in the same world.
    pub second: bool,
    /// The best rung that is tried.
    pub best: Rung,
    pub(super) home: PathBuf,
    /// The same, or what its variables say that it is.
    home_of_server: PathBuf,
    pub(super) sandbox: Sandbox,
    pub(super) launcher: Launcher,
    pub(super) remarks: Vec<String>,
    pub(super) fetching: Fetching,
    /// The server is no child of ours, or is not started by us at all.
    out_of_reach: bool,
    scopes: BTreeMap<PathBuf, DeclaredBy>,
    places: BTreeSet<PathBuf>,
    /// Inherited variables that hold secrets, as they really are.
    secrets: BTreeMap<String, String>,
    /// Hosts that the environment of the server names.
    hosts: BTreeSet<String>,
    /// What the server sees as it is, wherever it lies.
    kept: BTreeSet<PathBuf>,
    pub(super) access: Access,
    /// One for all lives; made when the first needs it.
    authority: Arc<OnceLock<Option<Arc<Authority>>>>,
    /// Whether this machine has walls for some server; found out when one was not to be had.
    walls: Arc<OnceLock<bool>>,
}

impl World {
    /// `ambient` is the environment that the server may inherit from.
    pub fn new(target: &Target, ambient: &BTreeMap<OsString, OsString>) -> Self {
        let mut world = Self {
            seed: 0,
            plants: BTreeMap::new(),
            network: Mode::Answer,
            fault: None,
            shapes: Arc::default(),
            stand_ins: BTreeMap::new(),
            trusted: BTreeSet::new(),
            listeners: Vec::new(),
            watch: target.sandbox.required.observe,
            lookups: false,
            disk: None,
            second: false,
            best: Rung::Overlay,
            home: home(target, ambient),
            home_of_server: given_home(target).unwrap_or_else(|| home(target, ambient)),
            sandbox: target.sandbox.clone(),
            launcher: Launcher::Nothing,
            remarks: Vec::new(),
            fetching: Fetching::default(),
            out_of_reach: false,
            scopes: BTreeMap::new(),
            places: BTreeSet::new(),
            secrets: BTreeMap::new(),
            hosts: BTreeSet::new(),
            kept: BTreeSet::new(),
            access: Access::default(),
            authority: Arc::default(),
            walls: Arc::default(),
        };
        match target.reach.command() {
            Some(command) => {
                world.read(command, &target.roots, ambient);
                world.keep(command, ambient);
                world.secrets = inherited_secrets(command, ambient);
                world.fetching.by_project =
                    target.by_project.as_ref().map(|by| ForFetching::of(command, by, ambient));
                world.hosts = hosts(&command.environment.resolve(ambient.clone()));
            }
            None => world.leave("what runs already can be neither confined nor watched".to_owned()),
        }
        world
    }

    fn read(&mut self, command: &Command, roots: &[PathBuf], ambient: &BTreeMap<OsString, OsString>) {
        let cwd = self.cwd(command);
        self.scopes = scopes(command, &cwd, roots, ambient);
        self.places = places(command, &cwd);
        self.places.extend(roots.iter().cloned());
        self.launcher = Launcher::of(command, &cwd);
        let caches = ambient.get(OsStr::new("XDG_CACHE_HOME")).map(PathBuf::from);
        let caches = caches.filter(|path| path.is_absolute()).unwrap_or_else(|| self.home.join(".cache"));
        self.fetching = Fetching::of(&cwd, caches);
        if let Launcher::Container(name) = &self.launcher {
            let name = name.clone();
            self.leave(format!(
                "what `{name}` starts is out of reach: it can be neither confined nor watched"
            ));
        }
    }

    /// Where we are ourselves, unless it is said; a directory that is gone names nothing.
    fn cwd(&self, command: &Command) -> PathBuf {
        let here = std::env::current_dir().unwrap_or_default();
        command.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd))
    }

    /// Shows what somebody named on purpose, and tells what of it is better known.
    fn keep(&mut self, command: &Command, ambient: &BTreeMap<OsString, OsString>) {
        if !self.has_walls() {
            return;
        }
        let variables = command.environment.resolve(ambient.clone());
        let by_variables = named_by_variables(&variables, &self.cwd(command), &self.home);
        let mut kept: BTreeSet<PathBuf> =
            by_variables.iter().filter(|path| path.starts_with(&self.home)).cloned().collect();
        for path in self.sandbox.keep.clone() {
            if path.is_dir() || path.is_file() {
                kept.insert(path);
            } else {
                let told = format!("`{}` cannot be kept: it is not there", path.display());
                self.access.remarks.push(told);
            }
        }
        self.access.kept = kept.iter().map(|path| named(path, &self.home)).collect();
        let exposed = exposed(&kept, &self.home);
        self.access.remarks.extend(exposed.shortfall());
        self.access.readable_secrets = exposed.files;
        self.kept = kept;
        self.kept.extend(by_variables);
        // What is told to read a file reads that file, and not a canary in its place.
        self.kept.extend(self.places.iter().filter(|path| path.is_file()).cloned());
        if self.jail().keeps_home() {
            self.access.remarks.push("all of the home directory is kept: nothing in it is hidden".to_owned());
        }
    }

    fn jail(&self) -> Jail {
        Jail { kept: self.kept.iter().cloned().collect(), ..Jail::new(&self.home, self.seed) }
    }

    fn leave(&mut self, why: String) {
        self.out_of_reach = true;
        self.remarks.push(why);
    }

    /// What stood in the way of confining and watching so far.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Directories that the server was told of.
    pub fn scopes(&self) -> &BTreeMap<PathBuf, DeclaredBy> {
        &self.scopes
    }

    /// Takes a directory for one of those that the server was told of, because it says that it keeps to it. Whether that is
    /// new. One that is neither there nor below a place that servers make directories in is only a way of speaking.
    pub fn declare(&mut self, stated: &Path) -> bool {
        let directory = match stated.strip_prefix("~") {
            Ok(within) => self.home_of_server.join(within),
            Err(_) => stated.to_path_buf(),
        };
        let directory = directory.canonicalize().unwrap_or(directory);
        let may_be_there =
            directory.is_dir() || directory.starts_with(&self.home) || directory.starts_with("/tmp");
        let known = self.scopes.get(&directory).is_some_and(|by| *by <= DeclaredBy::Server);
        let declared = self.scopes.values().filter(|by| **by == DeclaredBy::Server).count();
        if known || declared >= MAX_STATED || !may_be_there || directory.parent().is_none() {
            return false;
        }
        // Only its own world gets more: what is hidden of the machine stays hidden, whatever the server says.
        self.scopes.insert(directory, DeclaredBy::Server);
        true
    }

    /// Directories that only the server itself says it keeps to.
    pub fn stated(&self) -> impl Iterator<Item = &Path> {
        let by_itself = self.scopes.iter().filter(|(_, by)| **by == DeclaredBy::Server);
        by_itself.map(|(directory, _)| directory.as_path())
    }

    /// What is planted in the home directory of a life.
    pub fn canaries(&self, standing: &Standing) -> Vec<Canary> {
        let Some(home) = &standing.home else { return Vec::new() };
        let there = |canary: Canary| match canary.path.strip_prefix(&self.home) {
            Ok(inside) => Canary { path: home.join(inside), ..canary },
            Err(_) => canary,
        };
        self.jail().canaries().into_iter().map(there).chain(self.project_canaries()).collect()
    }

    /// What is planted beside the code where the server is started and watched, unless something of the name is there.
    /// A home has its own.
    fn project_canaries(&self) -> Vec<Canary> {
        let directory = &self.fetching.cwd;
        let is_project = directory.is_absolute()
            && directory.parent().is_some()
            && !self.home.starts_with(directory)
            && self.has_walls();
        if !self.watch || !is_project {
            return Vec::new();
        }
        let absent = |canary: &Canary| canary.path.symlink_metadata().is_err();
        project_canaries(directory, self.seed).into_iter().filter(absent).collect()
    }

    /// The directory that samples are planted in: the narrowest that the server was told of, where it is confined.
    pub fn workspace(&self) -> Option<PathBuf> {
        let (directory, by) = self.scopes.iter().min_by_key(|(_, by)| **by)?;
        let is_own =
            directory.is_absolute() && directory.parent().is_some() && !self.home.starts_with(directory);
        let is_there = is_own && directory.is_dir() || *by == DeclaredBy::Server;
        (is_there && self.has_walls()).then(|| directory.clone())
    }

    /// What a confined server has in the place of inherited secrets, by the names of the variables. The seed decides them.
    pub fn imitations(&self) -> BTreeMap<String, Imitation> {
        let imitated = self
            .secrets
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), imitate(name, value, self.seed)?)));
        if self.has_walls() { imitated.collect() } else { BTreeMap::new() }
    }

    /// Every secret that the server may have from our own environment, real or not, with the name of its variable.
    pub fn inherited_secrets(&self) -> Entrusted {
        let named = |name: &String, values: Vec<String>| {
            values.into_iter().map(|value| (name.clone(), value)).collect::<Vec<_>>()
        };
        let real = self.secrets.iter().flat_map(|(name, value)| named(name, secret_values(name, value)));
        let imitations = self.imitations();
        let imitated = imitations.iter().flat_map(|(name, made)| named(name, made.tokens.clone()));
        Entrusted { secrets: real.chain(imitated).collect(), hosts: self.hosts.clone() }
    }

    /// What of the user's own a server in this standing can get at.
    pub(super) fn access(&self, standing: &Standing) -> Access {
        let opened = self.sandbox.opened.clone();
        match standing.is_confined() {
            true => {
                Access { opened, replaced: self.imitations().into_keys().collect(), ..self.access.clone() }
            }
            false => Access { opened, ..Access::default() },
        }
    }

    /// Whether a server is to be confined at all.
    pub fn has_walls(&self) -> bool {
        self.sandbox.confine != Confine::Off && self.best != Rung::Unconfined && !self.out_of_reach
    }

    /// Whether every call into the system is to be seen, and can be.
    pub fn is_watched(&self) -> bool {
        self.watch && !self.out_of_reach
    }

    pub(super) fn has_sink(&self) -> bool {
        matches!(self.sandbox.net, Net::Sink | Net::Allow(_))
    }

    /// Whether this machine can confine a server, should it fail for this one.
    pub(super) fn could_have_walls(&self) -> bool {
        let has_walls = || {
            let walls = offers().confinement.into_iter().filter(|offer| offer.what <= LAST_WITH_WALLS);
            walls.filter(|offer| offer.what >= self.best).any(|offer| offer.refused.is_none())
        };
        *self.walls.get_or_init(has_walls)
    }

    /// Signs what the sink says over TLS; none where no certificates can be made.
    pub(super) fn authority(&self) -> Option<Arc<Authority>> {
        self.authority.get_or_init(|| Authority::new().ok().map(Arc::new)).clone()
    }

    /// What is started, as the world wants it.
    pub(super) fn dress(&self, spec: &Spec) -> Spec {
        let mut spec = spec.clone();
        if !self.has_walls() {
            return spec;
        }
        if self.sandbox.net != Net::Host {
            let variables = self.launcher.variables().iter();
            spec.env.extend(variables.map(|(name, value)| (name.into(), value.into())));
        }
        let authority = if self.has_sink() { self.authority() } else { None };
        spec.jail = Some(Jail {
            writable: self.places.iter().cloned().collect(),
            plants: self
                .project_canaries()
                .into_iter()
                .map(|canary| (canary.path, Plant::File { content: canary.content, executable: false }))
                .chain(self.workspace().iter().flat_map(|directory| workspace::plants(directory)))
                .chain(self.stand_ins.clone())
                .chain(authority.iter().flat_map(|authority| trust::plants(&self.trusted, authority.pem())))
                .chain(self.plants.clone())
                .collect(),
            variables: self
                .imitations()
                .into_iter()
                .map(|(name, imitation)| (name.into(), imitation.value.into()))
                .collect(),
            authority: authority.map(|authority| authority.pem().into()),
            network: match self.sandbox.net {
                Net::Sink | Net::Allow(_) => Network::Sink,
                Net::Deny => Network::Deny,
                Net::Host => Network::Host,
            },
            second: self.second,
            best: self.best,
            limits: match self.disk {
                Some(disk_bytes) => Limits { disk_bytes, ..Limits::default() },
                None => Limits::default(),
            },
            ..self.jail()
        });
        self.fetching.supply(&self.launcher, &mut spec);
        spec
    }
}

/// The home directory of the user, so that what is really there stays hidden; else the one that the server is given.
fn home(target: &Target, ambient: &BTreeMap<OsString, OsString>) -> PathBuf {
    let ours = ambient.get(OsStr::new("HOME")).map(PathBuf::from);
    let known = ours.filter(|path| path.is_absolute()).or_else(|| given_home(target));
    known.or_else(home_of_the_user).unwrap_or_else(|| NO_HOME.into())
}

fn given_home(target: &Target) -> Option<PathBuf> {
    let given = target.reach.command()?.environment.set.get("HOME").map(PathBuf::from);
    given.filter(|path| path.is_absolute())
}

/// Variables that nobody named and that hold something to keep.
pub(super) fn inherited_secrets(
    command: &Command,
    ambient: &BTreeMap<OsString, OsString>,
) -> BTreeMap<String, String> {
    let texts = ambient.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    texts
        .filter(|(name, _)| command.environment.is_merely_inherited(name))
        .filter(|(name, value)| !secret_values(name, value).is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
