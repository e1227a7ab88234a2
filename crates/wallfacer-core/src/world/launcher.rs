//! What a command really starts: some programs download a package and run it.
//!
//! In the sandbox there is no network to download from. So what a launcher needs is fetched before, in a jail of its own,
//! and the launcher is told to make do with what it has.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::pipx::pipx;
use super::uv::{Cut, cut};
use crate::repository::open_regular;
use crate::target::Command;

/// What is executed in the place of the server, and does nothing. By its path, so that no package can be it.
const NOTHING: [&str; 3] = ["/bin/sh", "-c", ":"];
/// The same for pipx, which executes nothing but what it has installed.
const NOTHING_OF_PIPX: [&str; 5] = ["python", "-I", "-S", "-c", "0"];
/// npm runs no scripts of packages, and takes no program from the settings of a project. It asks for packages alone.
const FETCHING_OF_NPM: [&str; 7] = [
    "--yes",
    "--ignore-scripts",
    "--script-shell=/bin/sh",
    "--git=git",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
];
/// The line by which a script says that it names what it needs; it stands near the beginning.
const NAMES_ITS_NEEDS: &str = "# /// script";
const BEGINNING: u64 = 16 << 10;
/// What was fetched is taken as it is for this long; registries let clients keep their answers as long.
const FRESH: Duration = Duration::from_secs(5 * 60);
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Options of uv that ask for something newer than what is there, or begin so.
const ASK_FOR_NEWER: [&str; 6] = ["--upgrade", "--refresh", "--reinstall", "--no-cache", "-U", "-P"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Launcher {
    /// The program is the server, or an interpreter of it.
    Nothing,
    Npx {
        packages: Vec<String>,
    },
    /// uv, with what fetches all that the server needs.
    Uv {
        fetching: Vec<Step>,
    },
    Pipx {
        /// Those that make the environment what it is, and name the place where it is kept.
        options: Vec<String>,
        package: String,
    },
    /// Downloads, and has no way to do so without running what it gets.
    Other(String),
    /// Starts a container: the server is then nobody's child of ours.
    Container(String),
}

/// One command that fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub args: Vec<String>,
    /// Where the launcher is told to work; the place of start, if it is told nothing.
    pub place: PathBuf,
    /// Whether all of the project must be seen. Else it is its settings, and what the arguments name.
    pub needs_project: bool,
}

impl Step {
    /// Whether uv takes what it has as long as it fits: what a script or a project needs, if nothing newer is asked for.
    fn keeps_what_fits(&self) -> bool {
        let is_newer = |word: &String| ASK_FOR_NEWER.iter().any(|option| word.starts_with(option));
        self.args.first().is_some_and(|verb| verb == "sync") && !self.args.iter().any(is_newer)
    }
}

impl Launcher {
    /// `cwd` is where the command is started.
    pub(super) fn of(command: &Command, cwd: &Path) -> Self {
        let program =
            Path::new(&command.program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let words: Vec<&str> = command.args.iter().filter_map(|word| word.to_str()).collect();
        match (program, words.first().copied().unwrap_or_default()) {
            ("npx", _) => npx(&words).map_or(Self::Nothing, |packages| Self::Npx { packages }),
            ("uvx", _) => uvx(&words, cwd),
            ("uv", _) => uv(&words, cwd),
            ("pipx", "run") => match pipx(&words[1..]) {
                Some((options, package)) => {
                    Self::Pipx { options: owned(&options), package: package.to_owned() }
                }
                None => Self::Other("pipx run".to_owned()),
            },
            ("pnpm" | "yarn", "dlx") | ("npm", "exec" | "x") => {
                Self::Other(format!("{program} {}", words[0]))
            }
            ("bunx", _) => Self::Other(program.to_owned()),
            ("docker" | "podman" | "nerdctl", "run" | "exec" | "start" | "compose") => {
                Self::Container(format!("{program} {}", words[0]))
            }
            _ => Self::Nothing,
        }
    }

    /// Variables that keep it from asking the network.
    pub(super) fn variables(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Npx { .. } => &[("npm_config_offline", "true"), ("npm_config_update_notifier", "false")],
            Self::Uv { .. } => &[("UV_OFFLINE", "1")],
            // Where uv is there, pipx leaves the work to it.
            Self::Pipx { .. } => &[("PIP_DISABLE_PIP_VERSION_CHECK", "1"), ("UV_OFFLINE", "1")],
            Self::Nothing | Self::Other(_) | Self::Container(_) => &[],
        }
    }

    /// Variables for a fetch: nothing is built, where no argument says so.
    pub(super) fn fetching_variables(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Pipx { .. } => {
                &[("PIP_ONLY_BINARY", ":all:"), ("UV_NO_BUILD", "1"), ("PIP_DISABLE_PIP_VERSION_CHECK", "1")]
            }
            _ => &[],
        }
    }

    /// What fetches all that is needed, with the same program, and is not to run any of it: in the place of the package a
    /// shell is executed that has nothing to do, and neither scripts of packages nor builds are allowed.
    pub(super) fn fetching(&self, cwd: &Path) -> Vec<Step> {
        let args = match self {
            Self::Npx { packages } => {
                let named = packages.iter().map(|package| format!("--package={package}"));
                owned(&FETCHING_OF_NPM).into_iter().chain(named).chain(owned(&["-c", ":"])).collect()
            }
            Self::Uv { fetching } => return fetching.clone(),
            Self::Pipx { options, package } => {
                let options: Vec<&str> = options.iter().map(String::as_str).collect();
                words(&[&["run"], &options, &["--spec", package], &NOTHING_OF_PIPX])
            }
            Self::Nothing | Self::Other(_) | Self::Container(_) => return Vec::new(),
        };
        vec![Step { args, place: cwd.to_path_buf(), needs_project: false }]
    }

    /// How long what was fetched is taken as it is, while nothing that decides about it changes.
    ///
    /// An exact version is the same for ever. uv itself keeps the environment of a script and the lock of a project as long
    /// as they fit, and looks for nothing newer unless it is told to; so a day is rather short.
    pub(super) fn keeps(&self) -> Duration {
        match self {
            Self::Npx { packages } if packages.iter().all(|package| is_exact(package)) => Duration::MAX,
            Self::Uv { fetching } if fetching.iter().all(Step::keeps_what_fits) => A_DAY,
            _ => FRESH,
        }
    }

    /// The program that fetches, where it is another than the one that starts the server.
    pub(super) fn fetcher(&self) -> Option<&'static str> {
        matches!(self, Self::Uv { .. }).then_some("uv")
    }
}

fn words(parts: &[&[&str]]) -> Vec<String> {
    owned(&parts.concat())
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The packages that `npx` is told to run; none where it is told to run a command of the shell.
fn npx(words: &[&str]) -> Option<Vec<String>> {
    let mut packages = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-p" | "--package" => packages.extend(rest.next().map(|package| (*package).to_owned())),
            "-c" | "--call" => return None,
            "--" => {}
            option if option.starts_with("--package=") => {
                packages.push(option["--package=".len()..].to_owned())
            }
            option if option.starts_with('-') => {}
            package if packages.is_empty() => return Some(vec![package.to_owned()]),
            _ => break,
        }
    }
    (!packages.is_empty()).then_some(packages)
}

/// Whether a package is asked for in one version, such as `pkg@1.2.3`.
fn is_exact(package: &str) -> bool {
    let version = package.rsplit_once('@').filter(|(name, _)| !name.is_empty()).map(|(_, version)| version);
    let numbers = version.map(|version| version.split('.').map(|number| number.parse::<u32>().is_ok()));
    numbers.is_some_and(|mut numbers| numbers.clone().count() == 3 && numbers.all(|is_number| is_number))
}

/// Options may stand before the word that says what uv is to do.
fn uv(words: &[&str], cwd: &Path) -> Launcher {
    let (options, rest) = words.split_at(cut(words).options.len());
    match rest {
        ["run", rest @ ..] => uv_run(&[options, rest].concat(), cwd),
        ["tool", "run", rest @ ..] => uvx(&[options, rest].concat(), cwd),
        _ => Launcher::Nothing,
    }
}

fn uvx(arguments: &[&str], cwd: &Path) -> Launcher {
    let found = cut(arguments);
    match found.value("--from").or(found.run) {
        Some(package) => {
            let options = found.without("--from");
            let from = ["--from", package];
            let args = words(&[&["tool", "run", "--no-build"], &options, &from, &NOTHING]);
            let step = Step { args, place: found.place(cwd), needs_project: false };
            Launcher::Uv { fetching: vec![step] }
        }
        None => Launcher::Other("uvx".to_owned()),
    }
}

/// A script may name what it needs itself; else it is what its project needs, and what the options add.
fn uv_run(arguments: &[&str], cwd: &Path) -> Launcher {
    let found = cut(arguments);
    let place = found.place(cwd);
    let step = |args: Vec<String>, needs_project| Step { args, place: place.clone(), needs_project };
    if let Some(script) = found.run.filter(|run| names_its_needs(run, &found, cwd)) {
        let args = words(&[&["sync", "--no-build"], &found.for_sync(), &["--script", script]]);
        return Launcher::Uv { fetching: vec![step(args, false)] };
    }
    let in_project = found.is_in_project(cwd);
    let sync = ["sync", "--no-build", "--no-install-project"];
    // Into an environment without anything in it, nothing of the project's can come to run.
    let run = if in_project { &["run", "--no-build", "--no-sync"][..] } else { &["run", "--no-build"] };
    let project = in_project.then(|| step(words(&[&sync, &found.for_sync()]), true));
    let added =
        (found.adds_packages() || !in_project).then(|| step(words(&[run, &found.options, &NOTHING]), false));
    Launcher::Uv { fetching: project.into_iter().chain(added).collect() }
}

fn names_its_needs(script: &str, found: &Cut<'_>, cwd: &Path) -> bool {
    let place = found.value("--directory").map_or_else(|| cwd.to_owned(), |place| cwd.join(place));
    let mut beginning = Vec::new();
    let file = open_regular(&place.join(script)).ok().filter(|_| found.code || script.ends_with(".py"));
    let read = file.map(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    let text = String::from_utf8_lossy(&beginning);
    read.is_some_and(|read| read.is_ok()) && text.lines().any(|line| line.trim_end() == NAMES_ITS_NEEDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher(line: &str) -> Launcher {
        let mut words = line.split_whitespace();
        Launcher::of(&Command::new(words.next().unwrap(), words), Path::new("/nowhere"))
    }

    #[test]
    fn launchers_are_known_by_their_command_lines() {
        let npx =
            |names: &[&str]| Launcher::Npx { packages: names.iter().map(|&name| name.into()).collect() };
        assert_eq!(launcher("npx -y @scope/server@1.2 /data"), npx(&["@scope/server@1.2"]));
        assert_eq!(launcher("/usr/bin/npx --package=one -p two serve -p 80"), npx(&["one", "two"]));
        assert_eq!(launcher("npx -c something"), Launcher::Nothing);
        for line in ["uvx --from pkg server", "uv tool run pkg", "uv run server.py"] {
            assert!(matches!(launcher(line), Launcher::Uv { .. }), "{line}");
        }
        let server = Launcher::Pipx { options: Vec::new(), package: "server".into() };
        assert_eq!(launcher("pipx run server"), server);
        assert_eq!(launcher("pipx run --no-cache server"), Launcher::Other("pipx run".into()));
        assert_eq!(launcher("docker run -i image"), Launcher::Container("docker run".into()));
        assert_eq!(launcher("python3 -m server"), Launcher::Nothing);
    }

    fn fetching(line: &str, place: &Path) -> Vec<String> {
        let mut words = line.split_whitespace();
        let found = Launcher::of(&Command::new(words.next().unwrap(), words), place);
        found.fetching(place).into_iter().map(|step| step.args.join(" ")).collect()
    }

    #[test]
    fn what_is_fetched_is_not_run() {
        let npx = format!("{} --package=pkg -c :", FETCHING_OF_NPM.join(" "));
        for (line, wanted) in [
            ("npx -y pkg --flag", npx.as_str()),
            ("uvx pkg --flag", "tool run --no-build --from pkg /bin/sh -c :"),
            ("uvx -p 3.12 --from a b", "tool run --no-build -p 3.12 --from a /bin/sh -c :"),
            ("uv --quiet tool run pkg", "tool run --no-build --quiet --from pkg /bin/sh -c :"),
            ("uv --directory /srv run s.py", "run --no-build --directory /srv /bin/sh -c :"),
            ("uv run --with pkg pkg --flag", "run --no-build --with pkg /bin/sh -c :"),
            ("pipx run pkg==1.0 --flag", "run --spec pkg==1.0 python -I -S -c 0"),
            ("pipx run --python 3.12 --spec=pkg app -i", "run --python 3.12 --spec pkg python -I -S -c 0"),
        ] {
            assert_eq!(fetching(line, Path::new("/nowhere")), [wanted], "{line}");
        }
        assert_eq!(fetching("bunx pkg", Path::new("/nowhere")), [""; 0]);
    }

    #[test]
    fn a_script_that_names_what_it_needs_is_asked_for_that() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
        write("needs.py", "#!/usr/bin/env python3\n# /// script\n# dependencies = ['mcp']\n# ///\n");
        write("plain.py", "print()\n");
        let of = |line: &str| fetching(line, place.path());
        assert_eq!(of("uv run needs.py --port 1"), ["sync --no-build --script needs.py"]);
        let from = "sync --no-build --no-index --find-links wheels --script needs.py";
        assert_eq!(of("uv run --no-index --find-links wheels needs.py"), [from]);
        assert_eq!(of("uv run plain.py"), ["run --no-build /bin/sh -c :"]);
    }

    #[test]
    fn what_a_project_needs_is_fetched_apart_from_what_the_options_add() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("part")).unwrap();
        std::fs::write(place.path().join("pyproject.toml"), "").unwrap();
        let of = |line: &str| fetching(line, &place.path().join("part"));
        let sync = "sync --no-build --no-install-project";
        assert_eq!(of("uv run --extra cli server.py"), [format!("{sync} --extra cli")]);
        let added = "run --no-build --no-sync -q --with pkg /bin/sh -c :".to_owned();
        assert_eq!(of("uv run -q --with pkg server.py"), [format!("{sync} -q"), added]);
        assert_eq!(of("uv run --no-project s.py"), ["run --no-build --no-project /bin/sh -c :"]);
    }

    #[test]
    fn what_a_script_or_a_project_needs_is_kept_for_a_day_unless_something_newer_is_asked_for() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("pyproject.toml"), "").unwrap();
        std::fs::write(place.path().join("needs.py"), "# /// script\n# ///\n").unwrap();
        for (line, keeps) in [
            ("uv run needs.py", A_DAY),
            ("uv run server.py", A_DAY),
            ("uv run --upgrade server.py", FRESH),
            ("uv run -Ppkg server.py", FRESH),
            ("uv run --refresh-package pkg server.py", FRESH),
            ("uv run --with pkg server.py", FRESH),
            ("uvx pkg", FRESH),
            ("npx pkg@1.2.3", Duration::MAX),
            ("npx pkg", FRESH),
        ] {
            let mut words = line.split_whitespace();
            let found = Launcher::of(&Command::new(words.next().unwrap(), words), place.path());
            assert_eq!(found.keeps(), keeps, "{line}");
        }
    }

    #[test]
    fn a_version_is_exact_or_can_be_another_tomorrow() {
        for (package, is) in [
            ("pkg@1.2.3", true),
            ("@own/pkg@1.2.3", true),
            ("pkg", false),
            ("@own/pkg", false),
            ("pkg@1", false),
        ] {
            assert_eq!(is_exact(package), is, "{package}");
        }
    }
}
