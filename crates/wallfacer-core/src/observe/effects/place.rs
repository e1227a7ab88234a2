//! Tells where a path lies: among canaries, in the declared scope, at home and so on.

use std::path::{Path, PathBuf};

/// Files and sockets that hold secrets or power over the machine, beside the canaries. `*` stands for one name.
const SENSITIVE: [&str; 13] = [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d/*",
    "/etc/krb5.keytab",
    "/proc/1/environ",
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/user/*/keyring/*",
    "/run/user/*/gnupg/*",
    "/tmp/ssh-*/*",
];

/// Where what is written is not meant to last.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Where a path lies; the first that fits holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A file that we planted where no server has business.
    Canary,
    /// Holds secrets or power over the machine.
    Sensitive,
    /// Where the server's own program and its parts lie.
    Own,
    /// A directory that the command line, the environment or roots name.
    Scope,
    WorkingDirectory,
    Home,
    Temporary,
    System,
}

/// What is known of the world that a server lives in.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Full paths of what is planted.
    pub canaries: Vec<PathBuf>,
    pub own: Vec<PathBuf>,
    pub scopes: Vec<PathBuf>,
    pub working_directory: PathBuf,
    pub home: PathBuf,
}

impl Places {
    pub fn of(&self, path: &Path) -> Place {
        let within = |roots: &[PathBuf]| roots.iter().any(|root| is_within(path, root));
        if self.canaries.iter().any(|canary| canary == path) {
            Place::Canary
        } else if SENSITIVE.iter().any(|pattern| fits(path, pattern)) {
            Place::Sensitive
        } else if within(&self.own) {
            Place::Own
        } else if within(&self.scopes) {
            Place::Scope
        } else if is_within(path, &self.working_directory) {
            Place::WorkingDirectory
        } else if is_within(path, &self.home) {
            Place::Home
        } else if TEMPORARY.iter().any(|root| path.starts_with(root)) {
            Place::Temporary
        } else {
            Place::System
        }
    }

    /// The path as a person would write it, and the same on every machine: `~` for home, `.` for the working directory.
    pub fn shown(&self, path: &Path) -> String {
        let below = |root: &Path, sign: &str| {
            let rest = path.strip_prefix(root).ok().filter(|_| root.parent().is_some())?;
            Some(if rest.as_os_str().is_empty() { sign.into() } else { format!("{sign}/{}", rest.display()) })
        };
        below(&self.working_directory, ".")
            .or_else(|| below(&self.home, "~"))
            .unwrap_or_else(|| path.display().to_string())
    }
}

/// The root of everything is nobody's directory.
fn is_within(path: &Path, root: &Path) -> bool {
    root.parent().is_some() && path.starts_with(root)
}

fn fits(path: &Path, pattern: &str) -> bool {
    let Some(path) = path.to_str() else { return false };
    let (mut names, mut wanted) = (path.split('/'), pattern.split('/'));
    loop {
        match (names.next(), wanted.next()) {
            (None, None) => return true,
            (Some(name), Some(wanted)) => match wanted.strip_suffix('*') {
                Some(start) if name.starts_with(start) => {}
                None if name == wanted => {}
                _ => return false,
            },
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            canaries: vec!["/home/u/.netrc".into()],
            own: vec!["/srv/server".into()],
            scopes: vec!["/data".into()],
            working_directory: "/tmp/project".into(),
            home: "/home/u".into(),
        }
    }

    #[test]
    fn each_path_lies_in_the_narrowest_place() {
        for (path, place) in [
            ("/home/u/.netrc", Place::Canary),
            ("/home/u/.netrc2", Place::Home),
            ("/etc/shadow", Place::Sensitive),
            ("/run/user/1000/keyring/ssh", Place::Sensitive),
            ("/tmp/ssh-XYZ/agent.12", Place::Sensitive),
            ("/srv/server/index.js", Place::Own),
            ("/data/a/b", Place::Scope),
            ("/database", Place::System),
            ("/tmp/project/x", Place::WorkingDirectory),
            ("/tmp/other", Place::Temporary),
            ("/etc/hosts", Place::System),
        ] {
            assert_eq!(places().of(Path::new(path)), place, "{path}");
        }
    }

    #[test]
    fn a_server_that_is_started_in_the_root_does_not_own_the_machine() {
        let places = Places { working_directory: "/".into(), ..places() };
        assert_eq!(places.of(Path::new("/etc/hosts")), Place::System);
        assert_eq!(places.shown(Path::new("/etc/hosts")), "/etc/hosts");
    }

    #[test]
    fn paths_are_shown_without_what_differs_from_machine_to_machine() {
        for (path, shown) in
            [("/home/u/.netrc", "~/.netrc"), ("/tmp/project", "."), ("/tmp/project/a", "./a"), ("/a", "/a")]
        {
            assert_eq!(places().shown(Path::new(path)), shown);
        }
    }
}
