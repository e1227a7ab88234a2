//! Who runs the command, and what the machine offers them: an attack is tried in every way.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wallfacer_fixtures::{lacks, require, server};

use crate::world::{Outcome, World};

/// Every Linux has this user, who owns nothing.
const ORDINARY: u32 = 65534;

/// Directories that a sandbox hides, or shows empty.
const HIDDEN: [&str; 3] = ["/root", "/home", "/tmp"];

/// One way to run the command.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// Another user than the one who runs the tests.
    user: Option<u32>,
    /// What the machine is made to lack, as `wallfacer-lacks` takes it.
    lacks: Option<&'static str>,
}

/// As everyone that the tests can be: whoever runs them, and, when that is root, an ordinary user too.
pub fn ways() -> Vec<Way> {
    let ordinary = (is_root() && has_setpriv()).then_some(Way { user: Some(ORDINARY), lacks: None });
    [Way { user: None, lacks: None }].into_iter().chain(ordinary).collect()
}

/// The same on machines that have namespaces, and no overlays.
pub fn without_overlays() -> Vec<Way> {
    ways().into_iter().map(|way| Way { lacks: Some("overlay"), ..way }).collect()
}

/// The same on machines that lack user namespaces, and with them the first rungs of the sandbox: those that have
/// Landlock come first, then those that have not even that.
pub fn lower_rungs() -> Vec<(&'static str, Way)> {
    ["user-namespaces", "user-namespaces,landlock"]
        .into_iter()
        .flat_map(|lacks| ways().into_iter().map(move |way| (lacks, Way { lacks: Some(lacks), ..way })))
        .collect()
}

/// The same where the kernel's Landlock is too old to keep signals in.
pub fn with_old_landlock() -> Vec<Way> {
    ways().into_iter().map(|way| Way { lacks: Some("user-namespaces,new-landlock"), ..way }).collect()
}

impl Way {
    /// The command in a world, ready to be started. What the world holds so far is given to the user first.
    pub fn command<S: AsRef<OsStr>>(&self, world: &World, args: &[S]) -> Command {
        let plain = world.command(args);
        let mut words: Vec<OsString> = Vec::new();
        if let Some(user) = self.user {
            give(world.root(), user);
            words.push("setpriv".into());
            words.extend([format!("--reuid={user}").into(), format!("--regid={user}").into()]);
            words.extend(["--clear-groups", "--inh-caps=-all", "--bounding-set=-all"].map(Into::into));
        }
        if let Some(what) = self.lacks {
            words.extend([self.within_reach(world, &lacks()).into(), what.into()]);
        }
        words.push(self.within_reach(world, Path::new(plain.get_program())).into());
        words.extend(plain.get_args().map(OsStr::to_os_string));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(world.here()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, world: &World, args: &[S]) -> Outcome {
        world.finish(self.command(world, args))
    }

    /// The fixture server, where this user can execute it, and where a sandbox hides it from nobody.
    pub fn fixture(&self, world: &World) -> String {
        let program = server();
        let is_hidden = HIDDEN.iter().any(|place| program.starts_with(place));
        let program = if is_hidden { copied(world, &program) } else { self.within_reach(world, &program) };
        program.to_str().expect("the target directory is text").to_owned()
    }

    /// Whether this user can execute a script: its interpreter may lie in somebody's home.
    pub fn reaches(&self, script: &Path) -> bool {
        let text = fs::read_to_string(script).unwrap();
        let interpreter = text.lines().next().and_then(|line| line.strip_prefix("#!")).expect("a script");
        let interpreter = fs::canonicalize(interpreter.trim()).unwrap();
        self.user.is_none() || interpreter.ancestors().skip(1).all(is_open)
    }

    /// A program of the build, or a copy of it where the build lies in a directory that is closed to this user.
    fn within_reach(&self, world: &World, program: &Path) -> PathBuf {
        if self.user.is_none() || program.ancestors().skip(1).all(is_open) {
            return program.to_path_buf();
        }
        copied(world, program)
    }
}

/// A copy of a program among those of a world.
fn copied(world: &World, program: &Path) -> PathBuf {
    let copy = world.root().join("bin").join(program.file_name().expect("a program has a name"));
    if !copy.exists() {
        fs::copy(program, &copy).unwrap();
    }
    copy
}

/// Whether everyone may look into a directory.
fn is_open(directory: &Path) -> bool {
    fs::metadata(directory).is_ok_and(|data| data.permissions().mode() & 0o005 == 0o005)
}

/// Gives all of a world to a user.
fn give(path: &Path, user: u32) {
    let data = path.symlink_metadata().unwrap();
    if !data.is_symlink() {
        if data.uid() != user {
            chown(path, Some(user), Some(user)).unwrap();
        }
        if data.is_dir() {
            fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path(), user));
        }
    }
}

/// Whether the tests are run by root; else they are an ordinary user's already.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn has_setpriv() -> bool {
    let found = Command::new("setpriv").arg("--version").output().ok().filter(|done| done.status.success());
    require("setpriv (util-linux)", found).is_some()
}

#[test]
fn every_way_runs_the_command_as_its_user_and_on_its_rung() {
    for way in ways() {
        let world = World::new();
        let fixture = way.fixture(&world);
        let outcome = way.run(&world, &["doctor", "--format", "json", "--", &fixture, "correct"]);
        assert_eq!(outcome.code, Some(0), "{way:?}: {outcome}");
    }
    for way in without_overlays() {
        let world = World::new();
        let fixture = way.fixture(&world);
        let outcome = way.run(&world, &["doctor", "--", &fixture, "correct"]);
        assert!(outcome.stdout.contains("namespaces, read-only"), "{way:?}: {outcome}");
    }
    for (lacks, way) in lower_rungs() {
        let world = World::new();
        let fixture = way.fixture(&world);
        let outcome = way.run(&world, &["doctor", "--", &fixture, "correct"]);
        let wanted = if lacks.contains("landlock") { "another home, not confined" } else { "Landlock" };
        assert!(outcome.stdout.contains(wanted), "{way:?}: {outcome}");
    }
}
