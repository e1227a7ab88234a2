//! A command in, what starts the server behind it out: some programs download a package and run it.
//!
//! In the sandbox there is no network to download from. So what a launcher needs is fetched before, outside, without
//! running any of it, and the launcher is told to make do with what it has.

use std::ffi::OsString;
use std::path::Path;

use crate::target::Command;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Launcher {
    /// The program is the server, or an interpreter of it.
    Nothing,
    Npx {
        packages: Vec<String>,
    },
    Uvx {
        package: String,
    },
    UvRun,
    /// Downloads, and has no way to do so without running what it gets.
    Other(String),
    /// Starts a container: the server is then nobody's child of ours.
    Container(String),
}

impl Launcher {
    pub(super) fn of(command: &Command) -> Self {
        let program =
            Path::new(&command.program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let words: Vec<&str> = command.args.iter().filter_map(|word| word.to_str()).collect();
        match (program, words.first().copied().unwrap_or_default()) {
            ("npx", _) => npx(&words).map_or(Self::Nothing, |packages| Self::Npx { packages }),
            ("uvx", _) => uvx(&words),
            ("uv", "tool") if words.get(1) == Some(&"run") => uvx(&words[2..]),
            ("uv", "run") => Self::UvRun,
            ("pipx", "run") | ("pnpm" | "yarn", "dlx") | ("npm", "exec" | "x") => {
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
            Self::Uvx { .. } | Self::UvRun => &[("UV_OFFLINE", "1")],
            Self::Nothing | Self::Other(_) | Self::Container(_) => &[],
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
            Self::Uvx { package } => {
                let words = ["tool", "run", "--no-build", "--from", package, "python", "-I", "-S", "-c", "0"];
                words.map(str::to_owned).to_vec()
            }
            Self::Nothing | Self::UvRun | Self::Other(_) | Self::Container(_) => return None,
        };
        Some(words.into_iter().map(OsString::from).collect())
    }

    /// The program that fetches, where it is another than the one that starts the server.
    pub(super) fn fetcher(&self) -> Option<&'static str> {
        matches!(self, Self::Uvx { .. }).then_some("uv")
    }
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

fn uvx(words: &[&str]) -> Launcher {
    let from = words.iter().position(|word| *word == "--from").and_then(|at| words.get(at + 1));
    let first = words.first().filter(|word| !word.starts_with('-'));
    match from.or(first) {
        Some(package) => Launcher::Uvx { package: (*package).to_owned() },
        // With other options in front it takes knowing all of them to find the package.
        None => Launcher::Other("uvx".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher(line: &str) -> Launcher {
        let mut words = line.split_whitespace();
        Launcher::of(&Command::new(words.next().unwrap(), words))
    }

    #[test]
    fn launchers_are_known_by_their_command_lines() {
        let npx =
            |names: &[&str]| Launcher::Npx { packages: names.iter().map(|&name| name.into()).collect() };
        assert_eq!(launcher("npx -y @scope/server@1.2 /data"), npx(&["@scope/server@1.2"]));
        assert_eq!(launcher("/usr/bin/npx --package=one -p two serve -p 80"), npx(&["one", "two"]));
        assert_eq!(launcher("npx -c something"), Launcher::Nothing);
        assert_eq!(launcher("uvx server --port 1"), Launcher::Uvx { package: "server".into() });
        assert_eq!(launcher("uvx --from pkg server"), Launcher::Uvx { package: "pkg".into() });
        assert_eq!(launcher("uv tool run server"), Launcher::Uvx { package: "server".into() });
        assert_eq!(launcher("uv run server.py"), Launcher::UvRun);
        assert_eq!(launcher("pipx run server"), Launcher::Other("pipx run".into()));
        assert_eq!(launcher("docker run -i image"), Launcher::Container("docker run".into()));
        assert_eq!(launcher("python3 -m server"), Launcher::Nothing);
    }

    #[test]
    fn what_is_fetched_is_not_run() {
        let words =
            |launcher: Launcher| launcher.fetching().unwrap().join(" ".as_ref()).into_string().unwrap();
        assert_eq!(words(launcher("npx -y pkg --flag")), "--yes --ignore-scripts --package=pkg node -e 0");
        assert_eq!(words(launcher("uvx pkg --flag")), "tool run --no-build --from pkg python -I -S -c 0");
        assert_eq!(launcher("pipx run pkg").fetching(), None);
    }
}
