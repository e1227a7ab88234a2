//! Packages that act while they are fetched, before there is a sandbox for their server: each is made here, and
//! installed from a file.
//!
//! What a launcher needs was once fetched outside, with all the rights of the user, and `--sandbox require` did not change
//! that.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use wallfacer_fixtures::require;

use crate::lanes::each;
use crate::ways::{Way, lower_rungs, ways, without_overlays};
use crate::world::{Outcome, World};

/// What a user has and nobody else is to have.
const DIARY: &str = "dear diary, the real one";
const TOKEN: &str = "tok-of-the-real-user";
const SOURCE: &str = "source that was never published";
/// What is left there has got out.
const OUTSIDE: &str = "outside";

/// A user with secrets, a project, and caches of their own.
struct Victim {
    world: World,
    way: Way,
}

impl Victim {
    fn new(way: Way) -> Self {
        let world = World::new().with("source.txt", SOURCE);
        let home = world.root().join("home");
        fs::create_dir(world.root().join(OUTSIDE)).unwrap();
        for cache in [".npm", ".cache/uv"] {
            fs::create_dir_all(home.join(cache)).unwrap();
            fs::write(home.join(cache).join("of-the-user"), "").unwrap();
        }
        fs::write(home.join("diary"), DIARY).unwrap();
        Self { world, way }
    }

    fn home(&self) -> PathBuf {
        self.world.root().join("home")
    }

    /// What a hostile package does wherever it comes to run, for the shell. What it finds it puts where it will stay.
    fn evil(&self) -> String {
        let (root, home) = (self.world.root().display(), self.home().display().to_string());
        format!(
            "touch {root}/{OUTSIDE}/ran {home}/ran {root}/here/ran {home}/.npm/ran {home}/.cache/uv/ran 2>/dev/null
             for cache in \"$npm_config_cache\" \"$UV_CACHE_DIR\" \"$PIPX_HOME\"; do if test -d \"$cache\"; then
             {{ echo ran; env; cat {home}/diary {root}/here/source.txt {home}/.npm/of-the-user {root}/here/uv.lock {root}/here/pip.conf; }} >> \"$cache/loot\" 2>&1; fi; done"
        )
    }

    /// A program that does all of this, and goes on as what it seems to be.
    fn trap(&self, path: &Path, then: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/sh\n{}\n{then}\n", self.evil())).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn doctor(&self, flags: &[&str], command: &[&str]) -> Outcome {
        // Without one, the project's own file names it.
        let behind: &[&str] = if command.is_empty() { &[] } else { &["--"] };
        let words = [&["doctor"], flags, behind, command].concat();
        let mut run = self.way.command(&self.world, &words);
        run.env("GITHUB_TOKEN", TOKEN).env("DATABASE_URL", format!("postgres://me:{TOKEN}@db/x"));
        self.world.finish(run)
    }

    /// Nothing got out, and nothing was to be had where it ran.
    fn is_unharmed(&self, outcome: &Outcome) {
        let left = files(&self.world.root().join(OUTSIDE));
        assert!(left.is_empty(), "{:?}: {left:?} outside\n{outcome}", self.way);
        for path in ["home/ran", "here/ran", "home/.npm/ran", "home/.cache/uv/ran"] {
            assert!(!self.world.root().join(path).exists(), "{:?}: {path} was written\n{outcome}", self.way);
        }
        let loot = self.loot();
        for secret in [DIARY, TOKEN, SOURCE] {
            assert!(!loot.contains(secret), "{:?}: {secret} in {loot}", self.way);
        }
    }

    /// What says that something was fetched, and when that was.
    fn stamp(&self) -> (PathBuf, SystemTime) {
        let fetched = self.home().join(".cache/wallfacer/fetched");
        let stores = fs::read_dir(&fetched).unwrap().map(|store| store.unwrap().path().join("fetched"));
        let [stamp] = &stores.collect::<Vec<_>>()[..] else { panic!("one store in {}", fetched.display()) };
        (stamp.clone(), fs::metadata(stamp).unwrap().modified().unwrap())
    }

    /// What it could put into the store.
    fn loot(&self) -> String {
        let fetched = files(&self.home().join(".cache/wallfacer"));
        let loot = fetched.iter().filter(|file| file.ends_with("loot"));
        loot.map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned()).collect()
    }
}

/// As everyone, with each network that goes nowhere, and both ways to ask for a sandbox.
fn victims(attack: impl Fn(&Victim, &[&str]) + Sync) {
    let flags = [["--net", "sink", "--sandbox", "auto"], ["--net", "deny", "--sandbox", "require"]];
    let all: Vec<_> = ways().into_iter().flat_map(|way| flags.map(|flags| (way, flags))).collect();
    each(all, |(way, flags)| attack(&Victim::new(way), &flags));
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path());
    let (directories, files): (Vec<_>, Vec<_>) =
        entries.partition(|path| path.is_dir() && !path.is_symlink());
    files.into_iter().chain(directories.iter().flat_map(|directory| self::files(directory))).collect()
}

/// Where a program of this machine is, if it is there.
#[allow(clippy::disallowed_methods, reason = "a test looks for the programs that it needs")]
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|place| place.join(name)).find(|file| file.is_file());
    require(name, found)
}

/// Packs an npm package of which `bin` says what programs it has; each is the server, and a trap.
fn pack(victim: &Victim, manifest: &str, programs: &[&str]) {
    let package = victim.world.root().join("pack/package");
    let server = format!("exec {} correct", victim.way.fixture(&victim.world));
    for name in programs {
        victim.trap(&package.join(name), &server);
    }
    fs::write(package.join("package.json"), manifest).unwrap();
    let packed = victim.world.here().join("pkg.tgz");
    let mut tar = Command::new("tar");
    let done = tar.arg("-czf").arg(packed).arg("-C").arg(package.parent().unwrap()).arg("package").status();
    assert!(done.unwrap().success());
    // Nobody is asked for anything.
    fs::write(victim.world.here().join(".npmrc"), "registry=http://127.0.0.1:9/\n").unwrap();
}

/// Was open: the fetch executed `node`, and the package's own came first.
#[test]
fn a_package_whose_bin_is_called_node_runs_nothing_outside() {
    let Some(_) = found("npx") else { return };
    victims(|victim, flags| {
        let bins = r#"{"pkg": "server", "node": "node", "sh": "node", "true": "node"}"#;
        let manifest = format!(r#"{{"name": "pkg", "version": "1.0.0", "bin": {bins}}}"#);
        pack(victim, &manifest, &["server", "node"]);
        let outcome = victim.doctor(flags, &["npx", "-y", "./pkg.tgz"]);
        victim.is_unharmed(&outcome);
        assert_eq!(victim.loot(), "", "nothing of it runs at all");
        assert_eq!(outcome.code, Some(0), "{outcome}");
    });
}

/// Held: scripts were not run before either.
#[test]
fn an_install_script_does_not_run() {
    let Some(_) = found("npx") else { return };
    victims(|victim, flags| {
        let scripts =
            r#"{"preinstall": "./trap", "install": "./trap", "postinstall": "./trap", "prepare": "./trap"}"#;
        let manifest =
            format!(r#"{{"name": "pkg", "version": "1.0.0", "bin": "./server", "scripts": {scripts}}}"#);
        pack(victim, &manifest, &["server", "trap"]);
        let outcome = victim.doctor(flags, &["npx", "-y", "./pkg.tgz"]);
        victim.is_unharmed(&outcome);
        assert_eq!(victim.loot(), "", "nothing of it runs at all");
        assert_eq!(outcome.code, Some(0), "{outcome}");
    });
}

/// Was open: the shell of the project was executed.
#[test]
fn a_projects_npmrc_that_names_a_shell_runs_nothing_outside() {
    let Some(_) = found("npx") else { return };
    victims(|victim, flags| {
        pack(victim, r#"{"name": "pkg", "version": "1.0.0", "bin": "./server"}"#, &["server"]);
        let shell = victim.world.here().join("evil-shell");
        victim.trap(&shell, "exec /bin/sh \"$@\"");
        let settings = format!("registry=http://127.0.0.1:9/\nscript-shell={0}\ngit={0}\n", shell.display());
        fs::write(victim.world.here().join(".npmrc"), settings).unwrap();
        let outcome = victim.doctor(flags, &["npx", "-y", "./pkg.tgz"]);
        victim.is_unharmed(&outcome);
        assert_eq!(victim.loot(), "", "nothing of it runs at all");
        assert_eq!(outcome.code, Some(0), "{outcome}");
    });
}

/// Makes a wheel `pkg` whose program is the fixture, with one more file in it.
fn wheel(victim: &Victim, name: &str, text: &str) {
    const MAKE: &str = "import sys, zipfile
name, text, place, server = sys.argv[1:]
about = 'pkg-1.0.dist-info/'
files = {
    'pkg.py': f'import os\\ndef main():\\n    os.execv({server!r}, [{server!r}, \"correct\"])\\n',
    name: text,
    about + 'METADATA': 'Metadata-Version: 2.1\\nName: pkg\\nVersion: 1.0\\n',
    about + 'WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
    about + 'entry_points.txt': '[console_scripts]\\npkg = pkg:main\\n',
}
files[about + 'RECORD'] = ''.join(f'{name},,\\n' for name in [*files, about + 'RECORD'])
with zipfile.ZipFile(place + '/pkg-1.0-py3-none-any.whl', 'w') as wheel:
    for name, text in files.items(): wheel.writestr(name, text)";
    let wheels = victim.world.here().join("wheels");
    fs::create_dir_all(&wheels).unwrap();
    let server = victim.way.fixture(&victim.world);
    let made =
        Command::new("/usr/bin/python3").args(["-c", MAKE, name, text]).arg(wheels).arg(server).status();
    assert!(made.unwrap().success());
}

/// What starts the trap from Python.
fn python_trap(victim: &Victim) -> String {
    let trap = victim.world.root().join("bin/trap");
    victim.trap(&trap, "");
    format!("import os; os.system({:?})\n", trap.to_str().unwrap())
}

/// uv and uvx, where the command finds them.
fn uv(victim: &Victim, uv: &Path) {
    for name in ["uv", "uvx"] {
        symlink(uv.with_file_name(name), victim.world.root().join("bin").join(name)).unwrap();
    }
}

const UVX: [&str; 5] = ["uvx", "--no-index", "--find-links", "wheels", "pkg"];

/// Was open. uv asks the Python of an environment about itself, and with that runs what the environment starts with. So this runs,
/// and the test shows it: where it harms nothing.
#[test]
fn a_wheel_with_a_pth_file_runs_nothing_outside() {
    let Some(program) = found("uv") else { return };
    victims(|victim, flags| {
        uv(victim, &program);
        wheel(victim, "pkg.pth", &python_trap(victim));
        let outcome = victim.doctor(flags, &UVX);
        victim.is_unharmed(&outcome);
        assert!(victim.loot().starts_with("ran\n"), "{:?}: {outcome}", victim.loot());
        assert_eq!(outcome.code, Some(0), "{outcome}");
    });
}

/// Was open: the Python of the project was executed.
#[test]
fn a_project_whose_environment_has_a_hostile_python_runs_nothing_outside() {
    let Some(program) = found("uv") else { return };
    victims(|victim, flags| {
        uv(victim, &program);
        wheel(victim, "harmless.txt", "");
        let here = victim.world.here();
        let project = "[project]\nname = \"app\"\nversion = \"1\"\ndependencies = [\"pkg\"]\n\
                       [tool.uv]\nno-index = true\nfind-links = [\"wheels\"]\n";
        fs::write(here.join("pyproject.toml"), project).unwrap();
        victim.trap(&here.join(".venv/bin/python"), "exec \"${0%/*}/real\" \"$@\"");
        symlink("/usr/bin/python3", here.join(".venv/bin/real")).unwrap();
        symlink("python", here.join(".venv/bin/python3")).unwrap();
        fs::write(here.join(".venv/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        let outcome = victim.doctor(flags, &["uv", "run", "pkg"]);
        victim.is_unharmed(&outcome);
        assert_eq!(victim.loot(), "", "nothing of it runs at all");
        assert_eq!(outcome.code, Some(0), "{outcome}");
    });
}

/// Was open, also long after that build: a file that says which version of Python is meant may name a program instead.
#[test]
fn a_project_whose_version_of_python_is_a_program_runs_nothing_outside() {
    let Some(program) = found("uv") else { return };
    let project = "[project]\nname = \"app\"\nversion = \"1\"\ndependencies = [\"pkg\"]\n\
                   [tool.uv]\nno-index = true\nfind-links = [\"wheels\"]\n";
    victims(|victim, flags| {
        uv(victim, &program);
        wheel(victim, "harmless.txt", "");
        let here = victim.world.here();
        fs::write(here.join("pyproject.toml"), project).unwrap();
        victim.trap(&here.join("evil/bin/python"), "exec /usr/bin/python3 \"$@\"");
        // By its path, and by the name of an environment that lies there.
        let named = if flags.contains(&"deny") { "evil" } else { "./evil/bin/python" };
        fs::write(here.join(".python-version"), format!("{named}\n")).unwrap();
        let outcome = victim.doctor(flags, &["uv", "run", "pkg"]);
        victim.is_unharmed(&outcome);
        assert_eq!(victim.loot(), "", "nothing of it runs at all");
    });
}

/// Was open, also long after that build: links in a project led to what lies outside of it, and where they led could be read
/// and sent away, whatever the user had typed.
#[test]
fn links_in_a_project_show_nothing_to_what_runs_while_it_is_fetched() {
    let Some(program) = found("uv") else { return };
    victims(|victim, flags| {
        uv(victim, &program);
        wheel(victim, "pkg.pth", &python_trap(victim));
        let here = victim.world.here();
        for (link, target) in
            [("uv.lock", "../home/diary"), ("pip.conf", "../home/diary"), ("more", "../home")]
        {
            symlink(target, here.join(link)).unwrap();
        }
        let outcome = victim.doctor(flags, &UVX);
        victim.is_unharmed(&outcome);
        assert!(victim.loot().starts_with("ran\n"), "{:?}: {outcome}", victim.loot());
        let command = ["uvx", "--no-index", "--find-links", "wheels", "--find-links", "more", "pkg"];
        victim.is_unharmed(&victim.doctor(flags, &command));
    });
}

/// Was open, also long after that build: a file of the project named what is the user's own, and it was there where packages
/// are fetched, with the machine's network.
#[test]
fn a_file_of_the_project_brings_nothing_of_the_user_to_where_packages_are_fetched() {
    let Some(program) = found("uv") else { return };
    victims(|victim, flags| {
        uv(victim, &program);
        wheel(victim, "pkg.pth", &python_trap(victim));
        let (here, home) = (victim.world.here(), victim.home().display().to_string());
        let write = |args: &str| {
            let env = format!(
                "LOOT = \"${{GITHUB_TOKEN}}\", PIP_CONFIG_FILE = \"{home}/diary\", PYTHONPATH = \"{home}\", PATH = \"{home}:${{PATH}}\""
            );
            let target = format!(
                "[target]\ncommand = \"uvx\"\nargs = [{args}\"pkg\"]\nenv = {{ {env} }}\nenv_pass = [\"DATABASE_URL\"]\n"
            );
            fs::write(here.join("wallfacer.toml"), target).unwrap();
        };
        let wheels = "\"--no-index\", \"--find-links\", \"wheels\", ";
        write(&format!("{wheels}\"--find-links\", \"{home}\", "));
        let outcome = victim.doctor(flags, &[]);
        victim.is_unharmed(&outcome);
        assert!(victim.loot().starts_with("ran\n"), "{:?}: {outcome}", victim.loot());
        let told = "the server gets the real DATABASE_URL, GITHUB_TOKEN, by ./wallfacer.toml";
        assert!(outcome.stderr.contains(told), "{outcome}");
        // Nor does it tell an index: nothing is asked of one then.
        write(&format!("{wheels}\"--extra-index-url\", \"http://127.0.0.1:9/${{GITHUB_TOKEN}}/\", "));
        let ran = victim.loot();
        let outcome = victim.doctor(flags, &[]);
        victim.is_unharmed(&outcome);
        assert_eq!(victim.loot(), ran, "nothing of it runs at all: {outcome}");
    });
}

/// Held, and not in the review. Where all of a project is to be seen, nothing of its packages runs.
#[test]
fn what_a_project_needs_does_not_run_where_the_project_is_seen() {
    let Some(program) = found("uv") else { return };
    victims(|victim, flags| {
        uv(victim, &program);
        wheel(victim, "pkg.pth", &python_trap(victim));
        let project = "[project]\nname = \"app\"\nversion = \"1\"\ndependencies = [\"pkg\"]\n\
                       [tool.uv]\nno-index = true\nfind-links = [\"wheels\"]\n";
        fs::write(victim.world.here().join("pyproject.toml"), project).unwrap();
        let outcome = victim.doctor(flags, &["uv", "run", "pkg"]);
        victim.is_unharmed(&outcome);
        assert_eq!(victim.loot(), "", "nothing of it runs at all");
        assert_eq!(outcome.code, Some(0), "{outcome}");
    });
}

/// Was open, also long after that build: packages that one project had fetched from a place of its own were those of the
/// same command elsewhere, for ever where the version was exact.
#[test]
fn what_is_fetched_from_elsewhere_is_for_that_project_alone() {
    let victim = Victim::new(ways()[0]);
    hostile_launcher(&victim);
    let settings = victim.world.here().join(".npmrc");
    fs::write(&settings, "registry=http://127.0.0.1:9/evil/\n").unwrap();
    victim.doctor(&[], &["npx", "-y", "pkg@1.2.3"]);
    fs::remove_file(&settings).unwrap();
    victim.doctor(&[], &["npx", "-y", "pkg@1.2.3"]);
    victim.doctor(&["--env", "npm_config_registry=http://127.0.0.1:9/evil/"], &["npx", "-y", "pkg@1.2.3"]);
    let stores = fs::read_dir(victim.home().join(".cache/wallfacer/fetched")).unwrap().count();
    assert_eq!(stores, 3);
}

/// Was open. pipx hands the work to uv if that is installed, so the `.pth` file runs, but confined, where it harms nothing.
#[test]
fn a_wheel_with_a_pth_file_runs_nothing_outside_with_pipx_either() {
    let (Some(program), Some(of_uv)) = (found("pipx"), found("uv")) else { return };
    victims(|victim, flags| {
        if !victim.way.reaches(&program) {
            return;
        }
        uv(victim, &of_uv);
        symlink(&program, victim.world.root().join("bin/pipx")).unwrap();
        wheel(victim, "pkg.pth", &python_trap(victim));
        let flags = [flags, &["--env", "UV_NO_INDEX=1"]].concat();
        let wheel = "./wheels/pkg-1.0-py3-none-any.whl";
        let outcome = victim.doctor(&flags, &["pipx", "run", "--spec", wheel, "pkg"]);
        victim.is_unharmed(&outcome);
        assert!(victim.loot().starts_with("ran\n"), "{:?}: {outcome}", victim.loot());
        assert_eq!(outcome.code, Some(0), "{outcome}");
    });
}

/// pipx with the pip that comes with Python, so that nobody is asked for another one.
const PIPX: [&str; 6] = ["pipx", "run", "--backend", "pip", "--skip-maintenance", "--spec"];

/// As every user who can execute pipx, without asking an index.
fn with_pip(what: &str, make: impl Fn(&Victim) + Sync) {
    let Some(program) = found("pipx") else { return };
    each(ways().into_iter().filter(|way| way.reaches(&program)), |way| {
        let victim = Victim::new(way);
        symlink(&program, victim.world.root().join("bin/pipx")).unwrap();
        make(&victim);
        let flags = ["--sandbox", "require", "--env", "PIP_NO_INDEX=1"];
        let outcome = victim.doctor(&flags, &[&PIPX[..], &[what, "pkg"]].concat());
        victim.is_unharmed(&outcome);
        assert!(victim.loot().starts_with("ran\n"), "{:?}: {outcome}", victim.loot());
        assert_eq!(outcome.code, Some(0), "{outcome}");
    });
}

/// Was open. The environment's Python is started to inspect it, which runs the `.pth` file, but confined, where it harms
/// nothing.
#[test]
fn a_wheel_with_a_pth_file_runs_nothing_outside_with_pip_either() {
    with_pip("./wheels/pkg-1.0-py3-none-any.whl", |victim| wheel(victim, "pkg.pth", &python_trap(victim)));
}

/// Was open. pip builds a package that is named by its path even if it is told to build nothing, so its code runs, but
/// confined, where it harms nothing.
#[test]
fn a_package_that_pip_builds_runs_nothing_outside() {
    with_pip("./source", |victim| {
        wheel(victim, "harmless.txt", "");
        let built = "pkg-1.0-py3-none-any.whl";
        let source = victim.world.here().join("source");
        fs::create_dir(&source).unwrap();
        fs::copy(victim.world.here().join("wheels").join(built), source.join(built)).unwrap();
        let project = "[project]\nname = \"pkg\"\nversion = \"1.0\"\n\
                       [build-system]\nrequires = []\nbuild-backend = \"builds\"\nbackend-path = [\".\"]\n";
        fs::write(source.join("pyproject.toml"), project).unwrap();
        let builds = format!(
            "{}import os, shutil\ndef build_wheel(place, settings=None, metadata=None):\n    \
             shutil.copy({built:?}, place)\n    return {built:?}\n",
            python_trap(victim)
        );
        fs::write(source.join("builds.py"), builds).unwrap();
    });
}

/// No attack: the price of a jail for fetching is paid once a day, and when something has changed.
#[test]
fn what_a_script_or_project_of_uv_needs_is_not_fetched_again_within_a_day_unless_it_changes() {
    let Some(program) = found("uv") else { return };
    let script = "# /// script\n# dependencies = [\"pkg\"]\n# ///\nimport pkg\npkg.main()\n";
    let project = "[project]\nname = \"app\"\nversion = \"1\"\ndependencies = [\"pkg\"]\n\
                   [tool.uv]\nno-index = true\n";
    each([("server.py", script, "server.py"), ("pyproject.toml", project, "pkg")], |(file, text, run)| {
        let victim = Victim::new(ways()[0]);
        uv(&victim, &program);
        wheel(&victim, "harmless.txt", "");
        let file = victim.world.here().join(file);
        fs::write(&file, text).unwrap();
        let fetch = || {
            let outcome = victim.doctor(
                &["--sandbox", "require"],
                &["uv", "run", "--no-index", "--find-links", "wheels", run],
            );
            assert_eq!(outcome.code, Some(0), "{outcome}");
            victim.stamp()
        };
        let at_first = fetch();
        let age = |age: u64| {
            let then = SystemTime::now() - Duration::from_secs(age);
            fs::File::options().write(true).open(&at_first.0).unwrap().set_modified(then).unwrap();
            victim.stamp()
        };
        let hours_old = age(20 * 3600);
        assert_eq!(fetch(), hours_old, "{run}: nothing has changed");
        let days_old = age(30 * 3600);
        assert_ne!(fetch(), days_old, "{run}: it is old");
        let hours_old = age(3600);
        fs::write(&file, format!("{text}\n")).unwrap();
        assert_ne!(fetch(), hours_old, "{run}: it has changed");
    });
}

/// The launcher itself stands for whatever comes to run while it fetches.
fn hostile_launcher(victim: &Victim) {
    let server = victim.way.fixture(&victim.world);
    let fetch = "mkdir -p \"$npm_config_cache\"";
    let script = format!(
        "case \"$*\" in *'-c :') {fetch}; {};; *) echo server >> \"$npm_config_cache/loot\"; exec {server} correct;; esac",
        victim.evil()
    );
    let npx = victim.world.root().join("bin/npx");
    fs::write(&npx, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&npx, fs::Permissions::from_mode(0o755)).unwrap();
}

/// New: that build fetched with other arguments, so that nothing hostile ran there. Seen to fail without the jail, with more
/// of the machine to be seen in it, and with the secret variables in it.
#[test]
fn what_runs_while_it_is_fetched_finds_no_secret_and_changes_nothing_but_its_own_store() {
    victims(|victim, flags| {
        hostile_launcher(victim);
        for version in ["pkg@1", "pkg@2"] {
            let outcome = victim.doctor(flags, &["npx", "-y", version]);
            victim.is_unharmed(&outcome);
            assert_eq!(outcome.code, Some(0), "{outcome}");
        }
        // Each has a store of its own, which its server cannot change.
        assert_eq!(victim.loot().matches("ran\n").count(), 2, "{}", victim.loot());
        assert!(!victim.loot().contains("server\n"), "{}", victim.loot());
        let own = [".npm/of-the-user", ".cache/uv/of-the-user"];
        assert!(own.iter().all(|file| victim.home().join(file).exists()));
    });
}

/// New: what a project says to package managers was not read by us before.
#[test]
fn settings_that_are_a_pipe_or_have_no_end_neither_stop_a_fetch_nor_feed_it() {
    let of_uv = found("uv");
    let kinds = ["pipe", "huge", "device"];
    let all = ways().into_iter().flat_map(|way| kinds.map(|kind| (way, kind)));
    each(all.collect::<Vec<_>>(), |(way, kind)| {
        let plant = |path: &Path| {
            let _earlier = fs::remove_file(path);
            match kind {
                "pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
                "huge" => fs::File::create(path).unwrap().set_len(1 << 40).unwrap(),
                _ => symlink("/dev/zero", path).unwrap(),
            }
        };
        let victim = Victim::new(way);
        hostile_launcher(&victim);
        let here = victim.world.here();
        for name in [".npmrc", "package.json", "uv.toml", "pip.conf", ".python-version", "server.py"] {
            plant(&here.join(name));
        }
        plant(&victim.home().join(".npmrc"));
        let outcome = victim.doctor(&["--sandbox", "require"], &["npx", "-y", "pkg"]);
        victim.is_unharmed(&outcome);
        assert_eq!(victim.loot().matches("ran\n").count(), 1, "{kind}: {outcome}");
        assert_eq!(outcome.code, Some(0), "{kind}: {outcome}");
        let Some(program) = &of_uv else { return };
        let victim = Victim::new(way);
        uv(&victim, program);
        wheel(&victim, "harmless.txt", "");
        let here = victim.world.here();
        let project = "[project]\nname = \"app\"\nversion = \"1\"\ndependencies = [\"pkg\"]\n";
        fs::write(here.join("pyproject.toml"), project).unwrap();
        ["uv.toml", ".python-version", "server.py"].iter().for_each(|name| plant(&here.join(name)));
        // What the server itself then does with them is its own affair, and has its limit.
        let flags = ["--sandbox", "require", "--startup-timeout", "5s"];
        let uv_run = ["uv", "run", "--no-index", "--find-links", "wheels"];
        for run in ["pkg", "server.py"] {
            let outcome = victim.doctor(&flags, &[&uv_run[..], &[run]].concat());
            let stores = fs::read_dir(victim.home().join(".cache/wallfacer/fetched")).unwrap();
            let mut filled = stores.map(|store| store.unwrap().path().join("fetched").exists());
            // Over a script that is a link to a device uv itself fails, or reads until its time is up; nothing more is asked.
            let told = kind == "device" && run == "server.py" && outcome.code == Some(3);
            assert!(told || filled.any(|filled| filled), "{kind}: {outcome}");
        }
    });
}

/// New, and no attack: what was named is given, because the user said so.
#[test]
fn a_secret_that_was_named_for_the_server_is_there_for_the_fetch() {
    let victim = Victim::new(ways()[0]);
    hostile_launcher(&victim);
    let outcome = victim.doctor(&["--env", "NPM_TOKEN=named-on-purpose"], &["npx", "-y", "pkg"]);
    victim.is_unharmed(&outcome);
    assert!(victim.loot().contains("NPM_TOKEN=named-on-purpose"), "{}", victim.loot());
}

/// Exit 3 held; that the report says so is new. Where nothing confines, nothing is fetched that must be confined; and where it need not be, the report says so.
#[test]
fn nothing_is_fetched_without_confinement_where_it_is_required() {
    let read_only = without_overlays().into_iter().map(|way| ("overlay", way));
    for (lacks, way) in lower_rungs().into_iter().chain(read_only) {
        let victim = Victim::new(way);
        hostile_launcher(&victim);
        let outcome = victim.doctor(&["--sandbox", "require"], &["npx", "-y", "pkg"]);
        if lacks.contains("landlock") {
            assert_eq!((outcome.code, victim.loot().as_str()), (Some(3), ""), "{outcome}");
            victim.is_unharmed(&outcome);
            let outcome = victim.doctor(&["--sandbox", "auto"], &["npx", "-y", "pkg"]);
            assert!(outcome.stdout.contains("was fetched without confinement"), "{outcome}");
        } else {
            victim.is_unharmed(&outcome);
            // What was fetched is there, and its server cannot change it.
            assert_eq!(
                (outcome.code, victim.loot().matches("ran\n").count()),
                (Some(0), 1),
                "{way:?}: {outcome}"
            );
            assert!(!victim.loot().contains("server\n"), "{way:?}: {outcome}");
        }
    }
}
