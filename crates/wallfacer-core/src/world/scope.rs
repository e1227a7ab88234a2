//! Finds the directories that a command declares as its own, by its arguments, its environment or its roots.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::target::Command;

/// Who said that a directory is the server's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeclaredBy {
    /// The client names it when it is asked for roots.
    Roots,
    CommandLine,
    Environment,
    WorkingDirectory,
}

/// The directories that a server was told of. To leave them is to leave its scope; one that was given none by its
/// command line, environment or roots has no scope to leave.
pub fn scopes(command: &Command, cwd: &Path, roots: &[PathBuf]) -> BTreeMap<PathBuf, DeclaredBy> {
    let mut scopes: BTreeMap<PathBuf, DeclaredBy> =
        roots.iter().filter_map(|root| directory(root)).map(|root| (root, DeclaredBy::Roots)).collect();
    let arguments = command.args.iter().flat_map(paths_in);
    let named = arguments.map(|path| (path, DeclaredBy::CommandLine));
    let values = command.environment.set.values().flat_map(|value| std::env::split_paths(value));
    let set = values.filter(|path| path.is_absolute()).map(|path| (path, DeclaredBy::Environment));
    for (path, by) in named.chain(set) {
        if let Some(directory) = directory(&cwd.join(path)) {
            scopes.entry(directory).or_insert(by);
        }
    }
    scopes.entry(cwd.to_path_buf()).or_insert(DeclaredBy::WorkingDirectory);
    scopes
}

/// What must stay there for a server to find what it was told of: the scopes, and the places of files that it is to make.
pub(super) fn places(command: &Command, cwd: &Path) -> BTreeSet<PathBuf> {
    let arguments = command.args.iter().flat_map(paths_in);
    let values = command.environment.set.values().flat_map(|value| std::env::split_paths(value));
    let all = arguments.chain(values.filter(|path| path.is_absolute())).map(|path| cwd.join(path));
    let place = |path: PathBuf| match path.exists() {
        true => Some(path),
        false => path.parent().filter(|parent| parent.is_dir()).map(Path::to_path_buf),
    };
    all.filter(|path| path.components().count() > 1).filter_map(place).collect()
}

/// Endings of the names of variables that say where a file or directory of a server is.
const NAMING_A_PLACE: [&str; 10] =
    ["_CA", "_CERT", "_CERTS", "_CONFIG", "_CREDENTIALS", "_DATABASE", "_DB", "_DIR", "_FILE", "_PATH"];

/// Whole names of the same.
const NAMING_A_PLACE_BY_CUSTOM: [&str; 8] = [
    "BOTO_CONFIG",
    "KUBECONFIG",
    "NETRC",
    "NPM_CONFIG_USERCONFIG",
    "PGPASSFILE",
    "PGSERVICEFILE",
    "REQUESTS_CA_BUNDLE",
    "npm_config_userconfig",
];

/// Variables of the user's session, keys and agents, and lists that programs are loaded from: no server's own.
const OF_THE_USER: [&str; 13] = [
    "DBUS_",
    "DESKTOP_",
    "GNOME_",
    "GNUPG",
    "GPG",
    "HIST",
    "KDE_",
    "LD_",
    "NODE_PATH",
    "PASSWORD_STORE_",
    "SSH",
    "VSCODE_",
    "XDG_",
];

/// Parts of a home that hold the keys and settings of all programs: one variable does not show all of these.
const TOO_WIDE: [&str; 9] = [
    ".cache",
    ".config",
    ".gnupg",
    ".local",
    ".local/share",
    ".local/state",
    ".mozilla",
    ".password-store",
    ".ssh",
];

/// Where sockets, locks and other people's files lie.
const SHARED: [&str; 5] = ["/dev", "/proc", "/run", "/sys", "/var/run"];

/// Files and directories that the variables of a server name, and that are there: its settings, databases, credentials.
/// `home` is never shown as a whole this way, nor what lies above it.
pub(super) fn named_by_variables(
    variables: &BTreeMap<OsString, OsString>,
    cwd: &Path,
    home: &Path,
) -> BTreeSet<PathBuf> {
    let names_a_place = |name: &str| {
        let known = NAMING_A_PLACE_BY_CUSTOM.contains(&name)
            || NAMING_A_PLACE.iter().any(|ending| name.to_ascii_uppercase().ends_with(ending));
        known && !OF_THE_USER.iter().any(|beginning| name.starts_with(beginning))
    };
    let values = variables.iter().filter(|(name, _)| name.to_str().is_some_and(names_a_place));
    let paths = values
        .flat_map(|(_, value)| std::env::split_paths(value))
        .filter(|path| !path.as_os_str().is_empty());
    paths.map(|path| cwd.join(path)).filter(|path| may_be_shown(path, home)).collect()
}

/// Whether a place is a file or directory of its own, and not one that everything lies in.
fn may_be_shown(path: &Path, home: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
    let is_wide = real.components().count() <= 2
        || home.starts_with(&real)
        || real == Path::new("/var/tmp")
        || TOO_WIDE.iter().any(|part| real == home.join(part))
        || SHARED.iter().any(|shared| real.starts_with(shared));
    (real.is_dir() || real.is_file()) && !is_wide
}

fn directory(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    (real.is_dir() && real.parent().is_some()).then_some(real)
}

/// The parts of an argument that may be a path: all of it, or what follows `=` or `file://`.
fn paths_in(argument: &OsString) -> impl Iterator<Item = PathBuf> + use<'_> {
    let text = argument.to_str();
    let value = text.and_then(|text| text.split_once('=')).map(|(_, value)| value);
    let address = text.and_then(|text| text.strip_prefix("file://"));
    let whole = Some(argument.as_os_str()).filter(|word| !word.is_empty() && !is_option(word));
    whole.into_iter().chain([value, address].into_iter().flatten().map(OsStr::new)).map(PathBuf::from)
}

fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_declared_by_arguments_variables_roots_and_the_place_of_start() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for name in ["cwd", "data", "cache", "cwd/sub", "open"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::fs::write(root.join("cwd/server.js"), "").unwrap();
        let data = format!("--root={}", root.join("data").display());
        let mut command = Command::new("node", ["server.js", "sub", &data, "--verbose", "/no/such/place"]);
        let cache = root.join("cache").to_str().unwrap().to_owned();
        command.environment.set.insert("CACHE".to_owned(), cache);
        let found = scopes(&command, &root.join("cwd"), &[root.join("open")]);
        let wanted = [
            (root.join("cache"), DeclaredBy::Environment),
            (root.join("cwd"), DeclaredBy::WorkingDirectory),
            (root.join("cwd/sub"), DeclaredBy::CommandLine),
            (root.join("data"), DeclaredBy::CommandLine),
            (root.join("open"), DeclaredBy::Roots),
        ];
        assert_eq!(found, wanted.into());
    }

    #[test]
    fn variables_show_what_they_name_and_neither_keys_of_the_user_nor_the_whole_home() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for directory in [".kube", ".config/app", ".ssh", "work", ".gnupg"] {
            std::fs::create_dir_all(home.join(directory)).unwrap();
        }
        for file in [".kube/config", ".kube/other", "key.json", "work/settings.toml", ".ssh/id_rsa"] {
            std::fs::write(home.join(file), "x").unwrap();
        }
        let _socket = std::os::unix::net::UnixListener::bind(home.join("agent")).unwrap();
        let at = |name: &str| home.join(name).to_str().unwrap().to_owned();
        let shown = |name: &str, value: &str| {
            let variables = BTreeMap::from([(OsString::from(name), OsString::from(value))]);
            let found = named_by_variables(&variables, &home.join("work"), &home);
            found.into_iter().map(|path| path.strip_prefix(&home).unwrap().to_path_buf()).collect::<Vec<_>>()
        };
        let both = format!("{}:{}", at(".kube/config"), at(".kube/other"));
        for (name, value, wanted) in [
            ("KUBECONFIG", both.as_str(), &[".kube/config", ".kube/other"][..]),
            ("GOOGLE_APPLICATION_CREDENTIALS", &at("key.json"), &["key.json"]),
            ("APP_CONFIG", &at(".config/app"), &[".config/app"]),
            ("APP_CONFIG", "settings.toml", &["work/settings.toml"]),
            ("app_data_dir", &at("work"), &["work"]),
            ("APP_FILE", &at("no/such/file"), &[]),
            ("APP_DIR", home.to_str().unwrap(), &[]),
            ("APP_DIR", "/", &[]),
            ("APP_DIR", "/tmp", &[]),
            ("APP_DIR", &at(".ssh"), &[]),
            ("XDG_CONFIG_DIR", &at(".config/app"), &[]),
            ("GNUPGHOME_DIR", &at(".gnupg"), &[]),
            ("SSH_KEY_FILE", &at(".ssh/id_rsa"), &[]),
            ("APP_FILE", &at("agent"), &[]),
            ("EDITOR", &at("work"), &[]),
        ] {
            let wanted: Vec<PathBuf> = wanted.iter().map(PathBuf::from).collect();
            assert_eq!(shown(name, value), wanted, "{name}={value}");
        }
    }

    #[test]
    fn a_file_that_is_to_be_made_needs_the_directory_it_will_lie_in() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("new.db");
        let command = Command::new("server", ["--db", file.to_str().unwrap(), "/no/such/place/at/all"]);
        let found = places(&command, Path::new("/"));
        assert!(found.contains(place.path()), "{found:?}");
        assert!(!found.iter().any(|path| path.starts_with("/no")), "{found:?}");
    }
}
