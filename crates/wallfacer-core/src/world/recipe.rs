//! What the world of each life is made of, worked out once for a target.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use wallfacer_process::jail::{Canary, Jail, Network, Plant, canaries};
use wallfacer_process::sink::{Authority, Mode};
use wallfacer_process::{Rung, Spec};

use super::launcher::Launcher;
use super::scope::{DeclaredBy, places, scopes};
use super::standing::Standing;
use crate::target::{Command, Confine, Net, Reach, Sandbox, Target};

/// Where nothing says what the home directory is.
const NO_HOME: &str = "/nonexistent";

/// A recipe: [`World::start`] makes a life's world of it, each time the same.
#[derive(Debug, Clone)]
pub struct World {
    /// Decides the canaries, and which addresses names get.
    pub seed: u64,
    /// What else is to be found there, whether it is there outside or not.
    pub plants: BTreeMap<PathBuf, Plant>,
    /// Whether the sink answers or refuses.
    pub network: Mode,
    /// Ports of loopback where somebody answers, whatever is refused elsewhere.
    pub listeners: Vec<u16>,
    /// Whether every call into the system is seen. It costs a server that makes many of them about as much again.
    pub watch: bool,
    /// The best rung that is tried.
    pub best: Rung,
    pub(super) home: PathBuf,
    pub(super) sandbox: Sandbox,
    pub(super) launcher: Launcher,
    pub(super) remarks: Vec<String>,
    /// The server is no child of ours, or is not started by us at all.
    out_of_reach: bool,
    scopes: BTreeMap<PathBuf, DeclaredBy>,
    places: BTreeSet<PathBuf>,
    /// One for all lives; made when the first needs it.
    authority: Arc<OnceLock<Option<Arc<Authority>>>>,
}

impl World {
    /// `ambient` is the environment that the server may inherit from.
    pub fn new(target: &Target, ambient: &BTreeMap<OsString, OsString>) -> Self {
        let mut world = Self {
            seed: 0,
            plants: BTreeMap::new(),
            network: Mode::Answer,
            listeners: Vec::new(),
            watch: target.sandbox.required.observe,
            best: Rung::Overlay,
            home: home(target, ambient),
            sandbox: target.sandbox.clone(),
            launcher: Launcher::Nothing,
            remarks: Vec::new(),
            out_of_reach: false,
            scopes: BTreeMap::new(),
            places: BTreeSet::new(),
            authority: Arc::default(),
        };
        match target.reach.command() {
            Some(command) => world.read(command, &target.roots),
            None => world.leave("what runs already can be neither confined nor watched".to_owned()),
        }
        world
    }

    fn read(&mut self, command: &Command, roots: &[PathBuf]) {
        // Where we are ourselves, unless it is said; a directory that is gone names nothing.
        let here = std::env::current_dir().unwrap_or_default();
        let cwd = command.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
        self.scopes = scopes(command, &cwd, roots);
        self.places = places(command, &cwd);
        self.places.extend(roots.iter().cloned());
        self.launcher = Launcher::of(command, &cwd);
        if let Launcher::Container(name) = &self.launcher {
            let name = name.clone();
            self.leave(format!(
                "what `{name}` starts is out of reach: it can be neither confined nor watched"
            ));
        }
    }

    fn leave(&mut self, why: String) {
        self.out_of_reach = true;
        self.remarks.push(why);
    }

    /// The same without confinement, because the server does not start in it.
    pub fn without_walls(&self, why: String) -> Self {
        let mut world = self.clone();
        world.best = Rung::Unconfined;
        world.remarks.push(why);
        world
    }

    /// What stood in the way of confining and watching so far.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Directories that the server was told of.
    pub fn scopes(&self) -> &BTreeMap<PathBuf, DeclaredBy> {
        &self.scopes
    }

    /// What is planted in the home directory of a life.
    pub fn canaries(&self, standing: &Standing) -> Vec<Canary> {
        standing.home.as_ref().map(|home| canaries(home, self.seed)).unwrap_or_default()
    }

    /// Whether a server is to be confined at all.
    pub fn has_walls(&self) -> bool {
        self.sandbox.confine != Confine::Off && self.best != Rung::Unconfined && !self.out_of_reach
    }

    /// Whether every call into the system is to be seen, and can be.
    pub fn is_watched(&self) -> bool {
        self.watch && !self.out_of_reach
    }

    /// Whether the server may be run without confinement, should it not work with it.
    pub fn may_do_without(&self) -> bool {
        self.sandbox.confine == Confine::Auto && !self.sandbox.required.confine
    }

    pub(super) fn has_sink(&self) -> bool {
        matches!(self.sandbox.net, Net::Sink | Net::Allow(_))
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
            plants: self.plants.clone(),
            authority: authority.map(|authority| authority.pem().into()),
            network: match self.sandbox.net {
                Net::Sink | Net::Allow(_) => Network::Sink,
                Net::Deny => Network::Deny,
                Net::Host => Network::Host,
            },
            best: self.best,
            ..Jail::new(&self.home, self.seed)
        });
        spec
    }
}

/// The home directory of the user, so that what is really there stays hidden; else the one that the server is given.
fn home(target: &Target, ambient: &BTreeMap<OsString, OsString>) -> PathBuf {
    let ours = ambient.get(OsStr::new("HOME")).map(PathBuf::from);
    let given = match &target.reach {
        Reach::Command(command) | Reach::Both { command, .. } => {
            command.environment.set.get("HOME").map(PathBuf::from)
        }
        Reach::Url(_) => None,
    };
    let known = [ours, given].into_iter().flatten().find(|path| path.is_absolute());
    known.unwrap_or_else(|| NO_HOME.into())
}
