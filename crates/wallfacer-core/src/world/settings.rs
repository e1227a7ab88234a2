//! Reads the settings of package managers, without what is nobody else's business: passwords and tokens, and the
//! programs that a project would have run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use wallfacer_process::jail::Plant;

use crate::repository::{Repository, read_text};
use crate::target::is_secret_name;

/// Files by which a directory, or one above it, tells package managers what to do.
const OF_PROJECTS: [&str; 8] = [
    ".npmrc",
    "package.json",
    "pyproject.toml",
    "uv.toml",
    "uv.lock",
    ".python-version",
    ".python-versions",
    "pip.conf",
];
/// Those of them that say which Python is to be used.
const INTERPRETERS: [&str; 2] = [".python-version", ".python-versions"];
/// Those of them that say where packages come from, whatever is asked for.
const REGISTRIES: [&str; 2] = [".npmrc", "uv.toml"];
/// Settings that name a program to be run.
const PROGRAMS: [&str; 9] =
    ["script-shell", "shell", "git", "node-options", "node-gyp", "python", "editor", "viewer", "init-module"];
/// Settings are short. Only `uv.lock` can be long.
const MAX_LENGTH: u64 = 16 << 20;
/// No directory tree that people work in is deeper.
const MAX_PARENTS: usize = 64;
/// Directories of a project, and entries of each, that are looked at for parts of it; and how deep they lie at most.
const MAX_PARTS: usize = 500;
const MAX_ENTRIES: usize = 1_000;
const MAX_DEPTH: usize = 3;
/// Directories that hold what was installed or made.
const WITHOUT_PARTS: [&str; 4] = ["node_modules", "__pycache__", "target", "venv"];

/// What is shorter is a number, a version or a switch.
const SHORTEST_SECRET: usize = 6;

/// How variables that tell package managers something begin.
const OF_REGISTRIES: [&str; 4] = ["npm_config_", "pip_", "uv_", "pipx_"];

/// The settings that a directory and those above it hold, as they may be shown. The home directory is left out: it has
/// settings of the user.
pub(super) fn of_projects(directory: &Path, home: &Path) -> BTreeMap<PathBuf, Plant> {
    let files = files_of_projects(directory, home).filter(|file| is_own(file));
    files.filter_map(|file| Some((file.clone(), plant(shown(&file)?)))).collect()
}

fn files_of_projects<'a>(directory: &'a Path, home: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    let directories = directory
        .ancestors()
        .take(MAX_PARENTS)
        .filter(move |place| *place != home && *place != Path::new("/"));
    directories.flat_map(|place| OF_PROJECTS.iter().map(|name| place.join(name)))
}

/// Whether a file is what it seems to be: a link out of the project may lead to a key, and what is shown here can be sent
/// away.
fn is_own(file: &Path) -> bool {
    let is_link = file.symlink_metadata().is_ok_and(|data| data.is_symlink());
    !is_link || file.parent().is_some_and(|directory| Repository::around(directory).holds(file))
}

/// What lies over the files of a project that is seen as a whole: over those that may name an interpreter what of them may be
/// shown, and an empty file over those that nobody can read to the end, such as a pipe, or a link to a device. Links that lead out of it to files are
/// left as they are: these files are not there.
pub(super) fn over_projects(directory: &Path, home: &Path) -> BTreeMap<PathBuf, Plant> {
    let names_one =
        |file: &Path| file.file_name().is_some_and(|name| INTERPRETERS.iter().any(|own| name == *own));
    let is_there = |file: &Path| file.metadata().is_ok_and(|about| !about.is_dir());
    let is_endless = |file: &Path| is_there(file) && !file.is_file();
    let over = |file: &Path| match shown(file) {
        _ if !is_own(file) => is_endless(file).then(String::new),
        Some(text) => names_one(file).then_some(text),
        None => is_there(file).then(String::new),
    };
    files_of_projects(directory, home).filter_map(|file| Some((file.clone(), plant(over(&file)?)))).collect()
}

/// What the settings of a directory and those above it say about where packages come from.
pub(super) fn of_registries(directory: &Path, home: &Path) -> Vec<OsString> {
    let names_them =
        |file: &Path| file.file_name().is_some_and(|name| REGISTRIES.iter().any(|own| name == *own));
    let files = of_projects(directory, home).into_iter().filter(|(file, _)| names_them(file));
    let texts = files.filter_map(|(_, plant)| match plant {
        Plant::File { content, .. } => Some(String::from_utf8_lossy(&content).into_owned().into()),
        Plant::Directory | Plant::Symlink(_) => None,
    });
    texts.collect()
}

/// The files by which the parts of a project say what they need, however they are nested.
pub(super) fn of_parts(project: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut unvisited = VecDeque::from([(project.to_path_buf(), 0)]);
    let mut looked_at = 0;
    while let Some((place, depth)) = unvisited.pop_front().filter(|_| looked_at < MAX_PARTS) {
        looked_at += 1;
        found.push(place.join("pyproject.toml"));
        let entries = fs::read_dir(&place).into_iter().flatten().flatten().take(MAX_ENTRIES);
        let inner =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).filter(|entry| {
                let name = entry.file_name();
                !name.as_encoded_bytes().starts_with(b".")
                    && !WITHOUT_PARTS.iter().any(|other| name == **other)
            });
        if depth < MAX_DEPTH {
            unvisited.extend(inner.map(|entry| (entry.path(), depth + 1)));
        }
    }
    found
}

/// The settings of the user for uv and pip, as they may be shown.
pub(super) fn of_the_user(home: &Path, variables: &BTreeMap<OsString, OsString>) -> BTreeMap<PathBuf, Plant> {
    let path =
        |name: &str| variables.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
    let settings = path("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let named = [path("PIP_CONFIG_FILE"), path("UV_CONFIG_FILE")].into_iter().flatten();
    let usual = [settings.join("uv/uv.toml"), settings.join("pip/pip.conf"), home.join(".pip/pip.conf")];
    named.chain(usual).filter_map(|file| Some((file.clone(), plant(shown(&file)?)))).collect()
}

/// The settings of the user for npm, as they may be shown.
pub(super) fn of_npm(home: &Path, variables: &BTreeMap<OsString, OsString>) -> String {
    let named = variables.iter().find(|(name, _)| name.eq_ignore_ascii_case("npm_config_userconfig"));
    let named = named.map(|(_, file)| PathBuf::from(file)).filter(|file| file.is_absolute());
    let file = named.unwrap_or_else(|| home.join(".npmrc"));
    shown(&file).unwrap_or_default()
}

/// Whether a variable says how packages are reached: through which proxy, and from where.
pub(super) fn leads_to_packages(name: &str, value: &OsStr) -> bool {
    let name = name.to_ascii_lowercase();
    let is_address = value.to_string_lossy().contains("://");
    is_address && (name.ends_with("_proxy") || OF_REGISTRIES.iter().any(|prefix| name.starts_with(prefix)))
}

/// Whether a variable that a file of the project sets is of use to a package manager, and shows it nothing but itself: no
/// place of this machine, and nothing of our own environment.
pub(super) fn is_of_packages(name: &str, value: &str, filled: &BTreeSet<String>) -> bool {
    let name = name.to_ascii_lowercase();
    let is_known = name.ends_with("_proxy") || OF_REGISTRIES.iter().any(|prefix| name.starts_with(prefix));
    let is_address = value.contains("://") && !value.contains("file:");
    is_known && (is_address || !value.contains('/')) && !holds_one(value, filled)
}

/// Whether a text has something in it that was filled in from our own environment, and may be a secret by its length.
pub(super) fn holds_one(text: &str, filled: &BTreeSet<String>) -> bool {
    filled.iter().any(|value| value.len() >= SHORTEST_SECRET && text.contains(value.as_str()))
}

fn plant(text: String) -> Plant {
    Plant::File { content: text.into_bytes(), executable: false }
}

fn shown(file: &Path) -> Option<String> {
    let text = read_text(file, MAX_LENGTH).ok()?;
    Some(match file.file_name().and_then(OsStr::to_str).unwrap_or_default() {
        "package.json" | "uv.lock" => text,
        "pyproject.toml" => without_users(&text),
        // A version; or a program, by its path or by what lies there under that name.
        name if INTERPRETERS.contains(&name) => {
            lines(&text, |line| !line.contains('/') && !file.with_file_name(line.trim()).exists())
        }
        _ => without_secrets(&text),
    })
}

/// Lines whose key is a secret's go, unless the value only names a variable; so do those that name a program. Of
/// addresses the user and password go.
fn without_secrets(text: &str) -> String {
    let kept = lines(text, |line| {
        let Some((key, value)) = line.split_once('=') else { return true };
        let key = key.trim().trim_matches(['"', '\'']);
        let value = value.trim().trim_matches(['"', '\'']);
        let names_a_variable = value.starts_with("${") && value.ends_with('}');
        (names_a_variable || !is_secret_name(key)) && !PROGRAMS.contains(&key)
    });
    without_users(&kept)
}

fn lines(text: &str, is_kept: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| is_kept(line)).map(|line| format!("{line}\n")).collect()
}

/// A text whose addresses have lost what stands before the `@`.
fn without_users(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        kept.push_str(before);
        kept.push_str("://");
        let end = after.find(['/', '"', '\'', ' ', ',', '?', '#', '\n']).unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            Some(at) => &after[at + 1..],
            None => after,
        };
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_project_are_found_and_what_is_installed_is_none() {
        let project = tempfile::tempdir().unwrap();
        for place in ["packages/one", ".venv/lib", "node_modules/two", "a/b/c/d"] {
            fs::create_dir_all(project.path().join(place)).unwrap();
        }
        let found: Vec<_> = of_parts(project.path());
        let mut found: Vec<_> =
            found.iter().map(|path| path.strip_prefix(project.path()).unwrap().to_str().unwrap()).collect();
        found.sort_unstable();
        let wanted = ["a/b/c/", "a/b/", "a/", "packages/one/", "packages/", ""];
        assert_eq!(found, wanted.map(|place| format!("{place}pyproject.toml")));
    }

    #[test]
    fn where_packages_come_from_is_told_and_no_secret_and_no_program() {
        let npmrc = "registry=https://npm.example.org/\n//npm.example.org/:_authToken=npm_abc\n\
                     @own:registry=https://me:pw@own.example.org/x\n//own.example.org/:_authToken=${OWN_TOKEN}\n\
                     script-shell=/tmp/evil\n; a comment\n";
        let shown = "registry=https://npm.example.org/\n@own:registry=https://own.example.org/x\n\
                     //own.example.org/:_authToken=${OWN_TOKEN}\n; a comment\n";
        assert_eq!(without_secrets(npmrc), shown);
        let uv =
            "[[index]]\nname = \"own\"\nurl = \"https://me:p@w@own.example.org/simple\"\npassword = \"x\"\n";
        assert_eq!(
            without_secrets(uv),
            "[[index]]\nname = \"own\"\nurl = \"https://own.example.org/simple\"\n"
        );
    }

    #[test]
    fn proxies_and_registries_are_known_by_their_names() {
        let leads = |name: &str, value: &str| leads_to_packages(name, OsStr::new(value));
        assert!(leads("HTTPS_PROXY", "http://a:b@c") && leads("UV_INDEX_URL", "https://a:b@c/"));
        assert!(!leads("DATABASE_URL", "postgres://a:b@c/d") && !leads("npm_config__authtoken", "npm_abc"));
    }

    #[test]
    fn what_a_project_sets_for_package_managers_names_no_place_and_no_secret() {
        let filled = BTreeSet::from(["wJalrXUtnFEMI".to_owned(), "/home/ada".to_owned(), "3.12".to_owned()]);
        for (name, value, is) in [
            ("UV_INDEX_URL", "https://own.example.org/simple", true),
            ("npm_config_registry", "https://npm.example.org/", true),
            ("PIP_NO_INDEX", "1", true),
            ("UV_PYTHON", "3.12", true),
            ("HTTPS_PROXY", "http://proxy.example.org:3128", true),
            ("UV_INDEX_URL", "https://evil.example.org/wJalrXUtnFEMI", false),
            ("UV_CONFIG_FILE", "/home/ada/.ssh/id_rsa", false),
            ("PIP_FIND_LINKS", "file:///home/ada/.ssh", false),
            ("PYTHONPATH", "/root/.ssh", false),
            ("NOTE", "harmless", false),
        ] {
            assert_eq!(is_of_packages(name, value, &filled), is, "{name}={value}");
        }
    }

    #[test]
    fn a_setting_that_is_a_link_out_of_the_project_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(place.path().join("key"), "a key").unwrap();
        fs::write(project.join("shared"), "registry=x\n").unwrap();
        std::os::unix::fs::symlink("../key", project.join("uv.lock")).unwrap();
        std::os::unix::fs::symlink("shared", project.join(".npmrc")).unwrap();
        let found = of_projects(&project, Path::new("/nowhere"));
        assert_eq!(found.into_keys().collect::<Vec<_>>(), [project.join(".npmrc")]);
    }

    #[test]
    fn a_setting_that_nobody_can_read_to_the_end_is_not_read_and_has_nothing_in_it() {
        let project = tempfile::tempdir().unwrap();
        let [pipe, device, huge] = [".npmrc", "pip.conf", "uv.toml"].map(|name| project.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::create_dir(project.path().join(".git")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
        fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(of_projects(project.path(), Path::new("/nowhere")), BTreeMap::new());
        let over = over_projects(project.path(), Path::new("/nowhere"));
        assert_eq!(over, [&pipe, &device, &huge].map(|file| (file.clone(), plant(String::new()))).into());
    }

    #[test]
    fn settings_of_a_project_are_found_above_it_and_not_at_home() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        let deep = home.join("work/project/part");
        fs::create_dir_all(&deep).unwrap();
        for directory in [&home, &home.join("work/project")] {
            fs::write(directory.join(".npmrc"), "registry=x\n_auth=secret\n").unwrap();
        }
        let found = of_projects(&deep, &home);
        let wanted = Plant::File { content: b"registry=x\n".to_vec(), executable: false };
        assert_eq!(found, [(home.join("work/project/.npmrc"), wanted)].into());
    }
}
