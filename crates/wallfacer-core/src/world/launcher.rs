//! A command in, what starts the server behind it out: some programs download a package and run it.
//!
//! In the sandbox there is no network to download from. So what a launcher needs is fetched before, outside, without
//! running any of it, and the launcher is told to make do with what it has.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use super::pipx::pipx;
use super::uv::{Cut, cut};
use crate::target::Command;

/// What executes nothing, in the place of the server.
const NOTHING: [&str; 5] = ["python", "-I", "-S", "-c", "0"];
/// The line by which a script says that it names what it needs; it stands near the beginning.
const NAMES_ITS_NEEDS: &str = "# /// script";
const BEGINNING: u64 = 16 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Launcher {
    /// The program is the server, or an interpreter of it.
    Nothing,
    Npx {
        packages: Vec<String>,
    },
    /// uv, with the arguments that fetch what the server needs.
    Uv {
        fetching: Vec<String>,
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

impl Launcher {
    /// `cwd` is where the command is started.
    pub(super) fn of(command: &Command, cwd: &Path) -> Self {
        let program =
            Path::new(&command.program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let words: Vec<&str> = command.args.iter().filter_map(|word| word.to_str()).collect();
        match (program, words.first().copied().unwrap_or_default()) {
            ("npx", _) => npx(&words).map_or(Self::Nothing, |packages| Self::Npx { packages }),
            ("uvx", _) => uvx(&words),
            ("uv", "tool") if words.get(1) == Some(&"run") => uvx(&words[2..]),
            ("uv", "run") => uv_run(&words[1..], cwd),
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

    /// Variables that keep it from building anything while it fetches, where no argument does.
    pub(super) fn fetching_variables(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Pipx { .. } => &[("PIP_ONLY_BINARY", ":all:"), ("UV_NO_BUILD", "1")],
            _ => &[],
        }
    }

    /// The arguments with which the same program fetches what it needs and runs nothing of it: in place of the package
    /// an interpreter is executed that has nothing to do, and neither scripts of packages nor builds are allowed.
    pub(super) fn fetching(&self) -> Option<Vec<OsString>> {
        let words = match self {
            Self::Npx { packages } => {
                let named = packages.iter().map(|package| format!("--package={package}"));
                let flags = ["--yes", "--ignore-scripts"].map(str::to_owned);
                flags.into_iter().chain(named).chain(["node", "-e", "0"].map(str::to_owned)).collect()
            }
            Self::Uv { fetching } => fetching.clone(),
            Self::Pipx { options, package } => {
                let options: Vec<&str> = options.iter().map(String::as_str).collect();
                words(&[&["run"], &options, &["--spec", package], &NOTHING])
            }
            Self::Nothing | Self::Other(_) | Self::Container(_) => return None,
        };
        Some(words.into_iter().map(OsString::from).collect())
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

fn uvx(arguments: &[&str]) -> Launcher {
    let found = cut(arguments);
    match found.value("--from").or(found.run) {
        Some(package) => {
            let options = found.without("--from");
            let from = ["--from", package];
            Launcher::Uv { fetching: words(&[&["tool", "run", "--no-build"], &options, &from, &NOTHING]) }
        }
        None => Launcher::Other("uvx".to_owned()),
    }
}

/// A script may name what it needs itself; else it is what its project needs, and what the options add.
fn uv_run(arguments: &[&str], cwd: &Path) -> Launcher {
    let found = cut(arguments);
    let fetching = match found.run.filter(|run| names_its_needs(run, &found, cwd)) {
        Some(script) => {
            let place = found.value("--directory").map(|place| ["--directory", place]);
            let place = place.as_ref().map_or(&[][..], |place| &place[..]);
            words(&[&["sync", "--no-build"], place, &["--script", script]])
        }
        None => words(&[&["run", "--no-build"], &found.options, &NOTHING]),
    };
    Launcher::Uv { fetching }
}

fn names_its_needs(script: &str, found: &Cut<'_>, cwd: &Path) -> bool {
    let place = found.value("--directory").map_or_else(|| cwd.to_owned(), |place| cwd.join(place));
    let mut beginning = Vec::new();
    let file = std::fs::File::open(place.join(script)).ok().filter(|_| found.code || script.ends_with(".py"));
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

    #[test]
    fn what_is_fetched_is_not_run() {
        let words =
            |launcher: Launcher| launcher.fetching().unwrap().join(" ".as_ref()).into_string().unwrap();
        assert_eq!(words(launcher("npx -y pkg --flag")), "--yes --ignore-scripts --package=pkg node -e 0");
        for (line, fetching) in [
            ("uvx pkg --flag", "tool run --no-build --from pkg python -I -S -c 0"),
            ("uvx -p 3.12 --from a b", "tool run --no-build -p 3.12 --from a python -I -S -c 0"),
            ("uv run --with pkg pkg --flag", "run --no-build --with pkg python -I -S -c 0"),
            ("pipx run pkg==1.0 --flag", "run --spec pkg==1.0 python -I -S -c 0"),
            ("pipx run --python 3.12 --spec=pkg app -i", "run --python 3.12 --spec pkg python -I -S -c 0"),
        ] {
            assert_eq!(words(launcher(line)), fetching, "{line}");
        }
        assert_eq!(launcher("bunx pkg").fetching(), None);
    }

    #[test]
    fn a_script_that_names_what_it_needs_is_asked_for_that() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
        write("needs.py", "#!/usr/bin/env python3\n# /// script\n# dependencies = ['mcp']\n# ///\n");
        write("plain.py", "print()\n");
        let fetching = |line: &str| {
            let mut words = line.split_whitespace();
            let found = Launcher::of(&Command::new(words.next().unwrap(), words), place.path());
            found.fetching().unwrap().join(" ".as_ref()).into_string().unwrap()
        };
        assert_eq!(fetching("uv run needs.py --port 1"), "sync --no-build --script needs.py");
        assert_eq!(fetching("uv run plain.py"), "run --no-build python -I -S -c 0");
    }
}
