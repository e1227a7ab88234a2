//! Fetches what a launcher would download, in a jail of its own: with the machine's network, without secrets, and with
//! nothing that lasts but a [`Store`].

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use wallfacer_process::jail::{Jail, Limits, Network, Plant};
use wallfacer_process::{Confinement, Process, Rung, Spec, StartError, Status};

use super::launcher::{Launcher, Step};
use super::recipe::{World, inherited_secrets};
use super::settings::{self, holds_one};
use super::store::{Store, state_of};
use super::uv::PLACES;
use crate::repository::Repository;
use crate::target::{ByProject, Command, Confine, Inherit, secret_values};

/// How long a launcher may take to download what it needs.
const FETCH_PATIENCE: Duration = Duration::from_secs(180);
/// What of a launcher's own words goes into a remark.
const MAX_WORDS: usize = 160;
/// A package may be larger than what a server writes.
const MAX_FETCHED_FILE: u64 = 8 << 30;
/// Where names are looked up is often a link to a place that is hidden.
const RESOLVER: &str = "/etc/resolv.conf";

/// Said where a file of the project would have what is ours told to whoever packages come from.
const NOT_WITH_OUR_OWN: &str = "nothing was fetched beforehand: where it says what to fetch, a file of the project names a \
     place outside of it or a variable of your environment; type the command, if you mean that";

/// What is known of fetching for a target.
#[derive(Debug, Clone, Default)]
pub(super) struct Fetching {
    /// The user's directory for caches.
    caches: PathBuf,
    /// Where the command is started.
    pub(super) cwd: PathBuf,
    /// Where all that is needed lies, once it was fetched.
    store: Option<Store>,
    /// The settings of the user, without secrets.
    settings: BTreeMap<PathBuf, Plant>,
    /// Where uv keeps the Pythons that it has installed; none where there are none yet.
    pythons: Option<PathBuf>,
    /// What holds where a file of the project names the command.
    pub(super) by_project: Option<ForFetching>,
}

/// What a command that a file of the project names is fetched with. The file may name whatever our environment and our disk
/// hold, and a fetch can send it anywhere: so what is ours is not there, unless somebody typed it.
#[derive(Debug, Clone)]
pub(super) struct ForFetching {
    env: BTreeMap<OsString, OsString>,
    filled: BTreeSet<String>,
}

impl ForFetching {
    pub(super) fn of(command: &Command, by: &ByProject, ambient: &BTreeMap<OsString, OsString>) -> Self {
        let mut environment = command.environment.clone();
        let is_typed = |name: &String| !by.variables.contains(name);
        environment
            .set
            .retain(|name, value| is_typed(name) || settings::is_of_packages(name, value, &by.filled));
        environment.pass.retain(is_typed);
        if let Inherit::Only(names) = &mut environment.inherit {
            let is_secret = |name: &String| {
                let value = ambient.get(OsStr::new(name)).map(|value| value.to_string_lossy());
                value.is_some_and(|value| !secret_values(name, &value).is_empty())
            };
            names.retain(|name| is_typed(name) || !is_secret(name));
        }
        let mut env = environment.resolve(ambient.clone());
        let command = Command { environment, ..command.clone() };
        for name in inherited_secrets(&command, ambient).into_keys() {
            if !env.get(OsStr::new(&name)).is_some_and(|value| settings::leads_to_packages(&name, value)) {
                env.remove(OsStr::new(&name));
            }
        }
        Self { env, filled: by.filled.clone() }
    }
}

impl Fetching {
    pub(super) fn of(cwd: &Path, caches: PathBuf) -> Self {
        Self { caches, cwd: cwd.to_path_buf(), ..Self::default() }
    }

    /// Lets a server find what was fetched for it.
    pub(super) fn supply(&self, launcher: &Launcher, spec: &mut Spec) {
        let Some(store) = &self.store else { return };
        set(&mut spec.env, self.variables(launcher, store));
        if let Some(jail) = &mut spec.jail {
            jail.writable.push(store.path.clone());
            jail.plants.extend(self.settings.clone());
        }
    }

    /// Where launchers are to keep what they fetch, and look for it.
    fn variables(&self, launcher: &Launcher, store: &Store) -> Vec<(&'static str, OsString)> {
        let cache = store.cache();
        let of_npm = [
            ("npm_config_cache", cache.join("npm").into()),
            ("npm_config_userconfig", store.npm_settings().into()),
        ];
        let of_pipx = [("PIPX_HOME", cache.join("pipx").into()), ("PIP_CACHE_DIR", cache.join("pip").into())];
        // One that is there is not written to, and one of our own would hide it.
        let python = match self.pythons {
            Some(_) => ("UV_PYTHON_DOWNLOADS", "never".into()),
            None => ("UV_PYTHON_INSTALL_DIR", cache.join("python").into()),
        };
        let of_uv = [("UV_CACHE_DIR", cache.join("uv").into()), python];
        match launcher {
            Launcher::Npx { .. } => of_npm.into(),
            Launcher::Uv { .. } => of_uv.into(),
            Launcher::Pipx { .. } => of_uv.into_iter().chain(of_pipx).collect(),
            Launcher::Nothing | Launcher::Other(_) | Launcher::Container(_) => Vec::new(),
        }
    }
}

impl World {
    /// Fetches what the launcher would download, once. That it cannot be had is told and is no error: it may be there
    /// already. That it cannot be confined is one, where it must be.
    pub async fn fetch(&mut self, spec: &Spec) -> Result<(), String> {
        if !self.has_walls() || !self.sandbox.net.is_closed() {
            return Ok(());
        }
        if let Launcher::Other(name) = &self.launcher {
            let name = name.clone();
            self.remarks.push(format!(
                "`{name}` downloads and runs in one go, so nothing was fetched for it beforehand"
            ));
        }
        let steps = self.launcher.fetching(&self.fetching.cwd);
        if steps.is_empty() {
            return Ok(());
        }
        let of_project = self.fetching.by_project.clone();
        let spec = &match &of_project {
            Some(by) => Spec { env: by.env.clone(), ..spec.clone() },
            None => spec.clone(),
        };
        let store = self.store(spec, &steps);
        self.fetching.settings = settings::of_the_user(&self.home, &spec.env);
        self.fetching.pythons = pythons(&self.home, &spec.env);
        let state = self.state(&steps);
        let leaves = |by: &ForFetching| steps.iter().any(|step| self.leaves_the_project(step, &by.filled));
        if of_project.as_ref().is_some_and(leaves) {
            self.remarks.push(NOT_WITH_OUR_OWN.to_owned());
        } else if !store.is_fresh(&state, self.launcher.keeps()) {
            match self.fill(spec, &steps, &store).await {
                Ok(()) => {
                    if let Err(error) = store.mark(&state) {
                        self.remarks
                            .push(format!("what was fetched is fetched again the next time: {error}"));
                    }
                }
                Err(Failed::Unconfined(why)) => return Err(why),
                Err(Failed::Otherwise(why)) => {
                    self.remarks
                        .push(format!("what the launcher needs could not be fetched beforehand: {why}"));
                }
            }
        }
        self.fetching.store = Some(store).filter(Store::is_filled);
        Ok(())
    }

    /// One for each command, and for each place that its packages come from: what a project of others had fetched from
    /// elsewhere is for that project alone. Where it depends on the place of start, this is part of it.
    fn store(&self, spec: &Spec, steps: &[Step]) -> Store {
        let depends = steps.iter().any(|step| step.needs_project || !named(step).is_empty());
        let mut command: Vec<&OsStr> = vec![&spec.program];
        command.extend(steps.iter().flat_map(|step| step.args.iter().map(OsStr::new)));
        command.extend(depends.then_some(self.fetching.cwd.as_os_str()));
        let settings: Vec<OsString> =
            steps.iter().flat_map(|step| settings::of_registries(&step.place, &self.home)).collect();
        command.extend(settings.iter().map(OsString::as_os_str));
        for (name, value) in &spec.env {
            if settings::leads_to_packages(&name.to_string_lossy(), value) {
                command.extend([name.as_os_str(), value.as_os_str()]);
            }
        }
        Store::new(&self.fetching.caches, &command)
    }

    /// What decides about what is fetched, besides the command and time.
    fn state(&self, steps: &[Step]) -> String {
        let settings = steps.iter().flat_map(|step| settings::of_projects(&step.place, &self.home));
        let mut paths: BTreeSet<PathBuf> = settings.map(|(path, _)| path).collect();
        let named: BTreeSet<PathBuf> = steps.iter().flat_map(named).collect();
        // uv keeps the lock of a script beside it.
        paths.extend(
            named
                .iter()
                .map(|path| [path.as_os_str(), OsStr::new(".lock")].into_iter().collect::<OsString>().into()),
        );
        paths.extend(named);
        let projects = steps.iter().filter(|step| step.needs_project).map(|step| project_of(&step.place));
        paths.extend(projects.flat_map(|project| settings::of_parts(&project)));
        paths.extend(self.fetching.settings.keys().cloned());
        state_of(&paths)
    }

    async fn fill(&mut self, spec: &Spec, steps: &[Step], store: &Store) -> Result<(), Failed> {
        let npm = settings::of_npm(&self.home, &spec.env);
        let place = store.path.display();
        store.prepare(&npm).map_err(|error| Failed::Otherwise(format!("{place} cannot be made: {error}")))?;
        for step in steps {
            store.empty_environment();
            let confinement = run(&self.confine(spec, step, store)).await?;
            if confinement.is_confining() {
                continue;
            }
            let rung = confinement.rung;
            if self.must_be_confined() {
                return Err(Failed::Unconfined(format!(
                    "what the launcher needs is fetched behind {rung} only"
                )));
            }
            let remark = format!("what the launcher needs was fetched without confinement: {rung}");
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        Ok(())
    }

    /// A step as it is run: what it sees, and what it can write.
    fn confine(&self, spec: &Spec, step: &Step, store: &Store) -> Spec {
        let mut spec = Spec { args: step.args.iter().map(OsString::from).collect(), ..spec.clone() };
        if let Some(program) = self.launcher.fetcher() {
            spec.program = program.into();
        }
        // What nobody named is nobody's business here; but how packages are reached must be known.
        for name in self.imitations().into_keys() {
            if !spec.env.get(OsStr::new(&name)).is_some_and(|value| settings::leads_to_packages(&name, value))
            {
                spec.env.remove(OsStr::new(&name));
            }
        }
        set(&mut spec.env, self.fetching.variables(&self.launcher, store));
        set(
            &mut spec.env,
            self.launcher.fetching_variables().iter().map(|(name, value)| (*name, value.into())),
        );
        // Each life of the server would do it anew. It is done by a Python that may run code of the packages.
        if !step.needs_project {
            set(&mut spec.env, [("UV_COMPILE_BYTECODE", "1".into())]);
        }
        // Not that of the project: what lies there may be anything.
        set(&mut spec.env, [("UV_PROJECT_ENVIRONMENT", store.environment().into())]);
        spec.env.remove(OsStr::new("VIRTUAL_ENV"));
        let mut plants = self.fetching.settings.clone();
        let mut writable = Vec::new();
        plants.insert(self.fetching.cwd.clone(), Plant::Directory);
        if step.needs_project {
            writable.push(project_of(&step.place));
            plants.extend(settings::over_projects(&step.place, &self.home));
        } else {
            plants.insert(step.place.clone(), Plant::Directory);
            plants.extend(settings::of_projects(&step.place, &self.home));
        }
        let readable = self.named(step).into_iter().chain([store.path.clone(), RESOLVER.into()]);
        let readable = readable.chain(self.fetching.pythons.clone());
        spec.jail = Some(Jail {
            readable: readable.collect(),
            writable,
            lasting: vec![store.cache()],
            plants,
            network: Network::Host,
            limits: Limits { disk_bytes: MAX_FETCHED_FILE, ..Limits::default() },
            best: self.best,
            worst: if self.must_be_confined() { Rung::Fence } else { Rung::Unconfined },
            bare: true,
            ..Jail::new(&self.home, self.seed)
        });
        spec
    }

    /// Whether a step would work outside of the project, or tells what was filled in from our own environment. A directory
    /// is no secret.
    fn leaves_the_project(&self, step: &Step, filled: &BTreeSet<String>) -> bool {
        let filled = filled.iter().filter(|value| !Path::new(value).is_dir()).cloned().collect();
        !Repository::around(&self.fetching.cwd).holds(&step.place)
            || step.args.iter().any(|word| holds_one(word, &filled))
    }

    /// What the arguments of a step name and it may see. A link in a project that leads out of it does not say what it leads
    /// to; and a file of the project may name what lies in the project.
    fn named(&self, step: &Step) -> BTreeSet<PathBuf> {
        let project = Repository::around(&self.fetching.cwd);
        let may_be_seen = |path: &PathBuf| {
            project.check_directory(path).is_ok()
                && (self.fetching.by_project.is_none() || project.holds(path))
        };
        named(step).into_iter().filter(may_be_seen).collect()
    }

    fn must_be_confined(&self) -> bool {
        self.sandbox.required.confine || self.sandbox.confine == Confine::Require
    }
}

enum Failed {
    /// It must be confined, and cannot be.
    Unconfined(String),
    Otherwise(String),
}

/// Sets variables, whatever others of the same name in other letters say: npm reads those too.
fn set<'a>(env: &mut BTreeMap<OsString, OsString>, variables: impl IntoIterator<Item = (&'a str, OsString)>) {
    for (name, value) in variables {
        env.retain(|other, _| !other.eq_ignore_ascii_case(name));
        env.insert(name.into(), value);
    }
}

/// What the arguments of a step name that is there. Not the place it works in.
fn named(step: &Step) -> BTreeSet<PathBuf> {
    let places = step.args.iter().zip(step.args.iter().skip(1));
    let places: BTreeSet<&String> =
        places.filter(|(option, _)| PLACES.contains(&option.as_str())).map(|(_, place)| place).collect();
    let words =
        step.args.iter().skip_while(|word| !word.starts_with('-')).filter(|word| !places.contains(word));
    let parts = words.filter(|word| !PLACES.iter().any(|option| word.starts_with(option))).flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        let address =
            value.unwrap_or(word).rsplit_once("file:").map(|(_, path)| path.trim_start_matches("//"));
        [Some(word.as_str()), value, address].into_iter().flatten()
    });
    let paths =
        parts.filter(|part| !part.is_empty() && *part != NOT_A_NAME).map(|part| step.place.join(part));
    paths.filter(|path| path.exists()).collect()
}

/// The shell that does nothing is none of the command's own names.
const NOT_A_NAME: &str = "/bin/sh";

/// Where uv keeps the Pythons that it has installed, if there are some.
fn pythons(home: &Path, variables: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let path =
        |name: &str| variables.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = || path("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")).join("uv/python");
    let place = path("UV_PYTHON_INSTALL_DIR").unwrap_or_else(data);
    let is_python = |name: &OsStr| !name.as_encoded_bytes().starts_with(b".");
    let mut entries = std::fs::read_dir(&place).ok()?.flatten();
    entries.any(|entry| is_python(&entry.file_name())).then_some(place)
}

/// The directory that holds all of a project: the outermost with a lock, else the next with a project file.
fn project_of(place: &Path) -> PathBuf {
    let locked = place.ancestors().filter(|place| place.join("uv.lock").is_file()).last();
    let project = || place.ancestors().find(|place| place.join("pyproject.toml").is_file());
    locked.or_else(project).unwrap_or(place).to_path_buf()
}

/// Runs a program to its end. Gives what confined it.
async fn run(spec: &Spec) -> Result<Confinement, Failed> {
    let (process, mut stdio) = Process::start(spec).map_err(|error| match error {
        StartError::Confine { .. } => Failed::Unconfined(told(&error)),
        _ => Failed::Otherwise(told(&error)),
    })?;
    drop(stdio.stdin);
    let drained = async {
        let mut buffer = [0; 4096];
        while matches!(stdio.stdout.read(&mut buffer).await, Ok(count) if count > 0) {}
        process.exited().await
    };
    match tokio::time::timeout(FETCH_PATIENCE, drained).await {
        Ok(ending) if ending.status == Status::Exited(0) => Ok(process.confinement()),
        Ok(_) => {
            let stderr = process.stderr().tail;
            let said = String::from_utf8_lossy(&stderr);
            let last =
                said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed silently");
            Err(Failed::Otherwise(last.chars().take(MAX_WORDS).collect()))
        }
        Err(_) => Err(Failed::Otherwise(format!("it took longer than {}s", FETCH_PATIENCE.as_secs()))),
    }
}

fn told(error: &StartError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}
