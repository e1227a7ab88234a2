//! Finds the directories that a command declares as its own, by its arguments, its environment or its roots.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::repository::{Repository, read_text};
use crate::target::{Command, Target};

/// Who said that a directory is the server's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeclaredBy {
    /// The client names it when it is asked for roots.
    Roots,
    CommandLine,
    Environment,
    /// A file of settings that the command line names.
    Configuration,
    /// The server said so itself.
    Server,
    WorkingDirectory,
}

/// The directories that a server was told of. To leave them is to leave its scope; one that was given none by its
/// command line, environment or roots has no scope to leave. `ambient` are the variables that it may inherit.
pub fn scopes(
    command: &Command,
    cwd: &Path,
    roots: &[PathBuf],
    ambient: &BTreeMap<OsString, OsString>,
) -> BTreeMap<PathBuf, DeclaredBy> {
    let mut scopes: BTreeMap<PathBuf, DeclaredBy> =
        roots.iter().filter_map(|root| directory(root)).map(|root| (root, DeclaredBy::Roots)).collect();
    let arguments = command.args.iter().flat_map(paths_in);
    let named = arguments.map(|path| (path, DeclaredBy::CommandLine));
    let variables = command.environment.set.iter().filter(|(name, _)| !is_of_the_machine(name));
    let values = variables.flat_map(|(_, value)| std::env::split_paths(value));
    let own = words_of(command);
    let inherited = ambient.iter().filter(|(name, _)| name.to_str().is_some_and(|name| is_own(name, &own)));
    let inherited = inherited.flat_map(|(_, value)| std::env::split_paths(value));
    let set = values.chain(inherited).filter(|path| path.is_absolute());
    let set = set.map(|path| (path, DeclaredBy::Environment));
    let settings = command.args.iter().flat_map(paths_in).flat_map(|path| read_settings(&cwd.join(path)));
    let settings = settings.map(|path| (path, DeclaredBy::Configuration));
    for (path, by) in named.chain(set).chain(settings) {
        if let Some(directory) = directory(&cwd.join(path)) {
            scopes.entry(directory).or_insert(by);
        }
    }
    scopes.entry(cwd.to_path_buf()).or_insert(DeclaredBy::WorkingDirectory);
    scopes
}

/// Variables that say where the programs of the machine, its caches and its users keep their things: they declare
/// nothing to any one server, even where somebody sets them for it.
const OF_THE_MACHINE: [&str; 34] = [
    "ANDROID_HOME",
    "ANDROID_NDK_HOME",
    "ANDROID_SDK_ROOT",
    "BUN_INSTALL",
    "CARGO_HOME",
    "CONDA_PREFIX",
    "DENO_DIR",
    "DOTNET_ROOT",
    "GOBIN",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "HOME",
    "INFOPATH",
    "JAVA_HOME",
    "MANPATH",
    "NODE_PATH",
    "NVM_DIR",
    "OLDPWD",
    "PATH",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PNPM_HOME",
    "PWD",
    "PYTHONHOME",
    "PYTHONPATH",
    "RUSTUP_HOME",
    "SHELL",
    "SSL_CERT_DIR",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USERPROFILE",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];
const MACHINE_BEGINNINGS: [&str; 8] =
    ["DYLD_", "LD_", "NPM_CONFIG_", "PIP_", "SDKMAN_", "UV_", "WALLFACER_", "XDG_"];

fn is_of_the_machine(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    OF_THE_MACHINE.contains(&name.as_str())
        || MACHINE_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name.ends_with("_CACHE")
        || name.ends_with("_CACHE_DIR")
}

/// Words that many packages and many variables have.
const COMMON: [&str; 24] = [
    "app", "build", "cache", "client", "code", "config", "data", "dist", "file", "files", "home", "index",
    "main", "modules", "node", "path", "project", "python", "root", "server", "stdio", "tool", "tools",
    "user",
];
/// Shorter words say nothing.
const MIN_WORD: usize = 4;

/// Parts of a path that name a program, from its end; those before say where the user keeps programs.
const NAMING_PARTS: usize = 3;

/// The words that a command is called by.
fn words_of(command: &Command) -> BTreeSet<String> {
    let texts = command.args.iter().chain([&command.program]).map(|word| word.to_string_lossy());
    let mut words = BTreeSet::new();
    for text in texts {
        for part in text.rsplit('/').take(NAMING_PARTS) {
            words.extend(part.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase));
        }
    }
    words.retain(|word| word.len() >= MIN_WORD && !COMMON.contains(&word.as_str()));
    words
}

/// Whether an inherited variable is called after the server: then it was set for it.
fn is_own(name: &str, words: &BTreeSet<String>) -> bool {
    let mut parts = name.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    !is_of_the_machine(name) && parts.any(|part| words.contains(&part))
}

/// Endings of files that hold settings, and how much of one is read.
const SETTINGS: [&str; 6] = ["cfg", "ini", "json", "toml", "yaml", "yml"];
const MAX_SETTINGS: u64 = 64 << 10;

/// The directories that a file of settings names as places to work in.
fn read_settings(path: &Path) -> BTreeSet<PathBuf> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !SETTINGS.contains(&ending) {
        return BTreeSet::new();
    }
    read_text(path, MAX_SETTINGS).map(|text| stated_directories(&text, "")).unwrap_or_default()
}

/// Directories that are read of one text, and the part of it that is looked at.
const MAX_STATED: usize = 16;
const MAX_TEXT: usize = 64 << 10;

/// The directories that a text says are where a server works: settings, or what the server itself answers, such as
/// "Allowed directories: /srv/data" or `"project_root": "/srv/project"`. What was sent is not what it says.
pub fn stated_directories(text: &str, sent: &str) -> BTreeSet<PathBuf> {
    static LEAD: LazyLock<Regex> = LazyLock::new(|| {
        let what = r"(?:allowed|base|current|notes?|project|repository|root|storage|vault|working|workspace)";
        let place =
            r"(?:director(?:y|ies)|dirs?|folders?|home|paths?|projects?|repository|roots?|vault|workspace)";
        let one = r#"["'`]?(/[^\s"'`,;:\]\)]{1,200})["'`]?"#;
        let between = r#"["'`]?\s*(?:is|are|set to|=|:|->)*\s*[\[(]?\s*(?:[-*]\s+)?"#;
        let words = format!(r"(?:{what}[ _-]{place}|{what}{place}|\broots?|\bworkspace|\bvault)");
        Regex::new(&format!(r"(?i){words}{between}{one}((?:\s*,?\s*(?:[-*]\s+)?{one})*)"))
            .expect("a constant")
    });
    let end =
        text.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_TEXT).last().unwrap_or_default();
    let text = if text.len() <= MAX_TEXT { text } else { &text[..end] };
    let lists = LEAD.captures_iter(text).filter(|found| is_stated(found, text)).flat_map(|found| {
        let list = format!("{} {}", &found[1], found.get(2).map_or("", |more| more.as_str()));
        places_of(&list)
    });
    let named = lists.filter(|path| !sent.contains(path.as_str()));
    named.take(MAX_STATED).map(PathBuf::from).collect()
}

/// Whether a path that was found is not the one that was refused, which comes first in "outside allowed directories: /a not in
/// /b".
fn is_stated(found: &regex::Captures<'_>, text: &str) -> bool {
    static IS_REFUSED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)^["'`]?\s*(?:(?:is|was|are)\s+)?(?:not\b|outside\b)"#).expect("a constant")
    });
    found.get(0).is_some_and(|whole| !IS_REFUSED.is_match(&text[whole.end()..]))
}

/// The directories that an answer says the server keeps to: those that are allowed, and those that a refusal says a path
/// is not in, or must be in. Where a server merely works is no limit. `~` is kept as it is: only its world knows that home.
pub fn confining_directories(answer: &str, sent: &str, refused: bool) -> BTreeSet<PathBuf> {
    static ALLOWED: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"accessible|allowed|confined|denied|escapes?|outside|permitted|restricted|sandbox(?:ed)?|traversal";
        Regex::new(&format!(r"(?i)\b(?:{words})\b")).expect("a constant")
    });
    static NOT_IN: LazyLock<Regex> = LazyLock::new(|| {
        let not = r"(?:not (?:with)?in|outside(?: of)?|escapes?|beyond)";
        Regex::new(&format!(r#"(?i)\b{not}(?: the)?(?: \w+){{0,3}}:?\s*["'`(]?({ONE_PLACE})"#))
            .expect("a constant")
    });
    static MUST_BE_IN: LazyLock<Regex> = LazyLock::new(|| {
        let must =
            r"\b(?:must|should|only|ha(?:s|ve) to)\b[^\n/~]{0,80}?\b(?:within|in|inside|under|below)\b";
        Regex::new(&format!(
            r#"(?i){must}[^\n/~]{{0,60}}?[\s:]["'`(\[]*({ONE_PLACE}(?:["'`]?,\s*["'`]?{ONE_PLACE})*)"#
        ))
        .expect("a constant")
    });
    let start: String = answer.chars().take(MAX_TEXT).collect();
    let mut found = BTreeSet::new();
    if refused {
        let stated = NOT_IN.captures_iter(&start).filter(|found| is_stated(found, &start));
        let wanted = MUST_BE_IN.captures_iter(&start);
        let lists = stated.chain(wanted).map(|found| found[1].to_owned());
        let named = lists.flat_map(|list| places_of(&list)).filter(|place| !sent.contains(place.as_str()));
        found.extend(named.map(PathBuf::from));
    }
    if ALLOWED.is_match(&start) {
        found.extend(stated_directories(&start, sent));
    }
    found.into_iter().take(MAX_STATED).collect()
}

/// A directory as servers write it: a whole path, or one that begins at the home directory.
const ONE_PLACE: &str = r#"(?:~(?:/[^\s"'`,;:\]\)]{0,200})?|/[^\s"'`,;:\]\)]{1,200})"#;

/// The directories of a list, without those that only show how a path is written.
fn places_of(list: &str) -> Vec<String> {
    static EACH: LazyLock<Regex> = LazyLock::new(|| Regex::new(ONE_PLACE).expect("a constant"));
    const FOR_EXAMPLE: [&str; 3] = ["/path", "/absolute", "/full"];
    let plain = |found: regex::Match<'_>| found.as_str().trim_end_matches(['/', '.']).to_owned();
    let is_real =
        |place: &String| !place.is_empty() && !FOR_EXAMPLE.iter().any(|example| place.starts_with(example));
    EACH.find_iter(list).map(plain).filter(is_real).collect()
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

/// What of the home directory a file of the project shows to its server by naming it, beyond the project itself: in its
/// arguments, variables and roots, or as the place of start.
pub fn shown_by_project(target: &Target, here: &Path, home: &Path) -> BTreeSet<PathBuf> {
    let command = target.reach.command().filter(|_| target.by_project.is_some());
    let (Some(command), Ok(home)) = (command, home.canonicalize()) else { return BTreeSet::new() };
    let cwd = command.cwd.as_ref().map_or_else(|| here.to_path_buf(), |cwd| here.join(cwd));
    let set = command.environment.set.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let project = Repository::around(here);
    let named = places(command, &cwd).into_iter().chain(named_by_variables(&set, &cwd, &home));
    let named = named.chain(target.roots.iter().cloned()).chain([cwd]).filter(|path| !project.holds(path));
    named.filter_map(|path| path.canonicalize().ok()).filter(|real| real.starts_with(&home)).collect()
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
        command.environment.set.insert("STORE".to_owned(), cache);
        let found = scopes(&command, &root.join("cwd"), &[root.join("open")], &BTreeMap::new());
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
    fn variables_of_the_machine_declare_nothing_and_inherited_ones_only_where_they_are_called_after_the_server()
     {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let at = |name: &str| {
            std::fs::create_dir_all(root.join(name)).unwrap();
            root.join(name).to_str().unwrap().to_owned()
        };
        let mut command = Command::new("npx", ["-y", "@scope/garden-mcp"]);
        for name in ["HOME", "PATH", "TMPDIR", "XDG_DATA_HOME", "ANDROID_HOME", "npm_config_cache"] {
            command.environment.set.insert(name.to_owned(), at("machine"));
        }
        let ambient = [("GARDEN_HOME", "garden"), ("PYENV_ROOT", "pyenv"), ("SCOPE_CACHE", "cache")];
        let ambient =
            ambient.map(|(name, directory)| (OsString::from(name), OsString::from(at(directory)))).into();
        let found = scopes(&command, Path::new("/"), &[], &ambient);
        let declared: Vec<_> = found.iter().filter(|(_, by)| **by != DeclaredBy::WorkingDirectory).collect();
        assert_eq!(declared, [(&root.join("garden"), &DeclaredBy::Environment)]);
    }

    #[test]
    fn a_file_of_settings_declares_the_directories_that_it_names_as_places_to_work_in() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("data")).unwrap();
        let settings = root.join("settings.json");
        std::fs::write(&settings, format!("{{\"project_root\": \"{}/data\"}}", root.display())).unwrap();
        let command = Command::new("serve", ["--config".into(), settings.into_os_string()]);
        let found = scopes(&command, &root, &[], &BTreeMap::new());
        assert_eq!(found[&root.join("data")], DeclaredBy::Configuration);
    }

    #[test]
    fn a_server_says_where_it_works_in_many_words_and_what_was_sent_is_not_what_it_says() {
        let stated = |text: &str, sent: &str| -> Vec<String> {
            stated_directories(text, sent).into_iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(stated("Allowed directories:\n/srv/a\n/srv/b", ""), ["/srv/a", "/srv/b"]);
        assert_eq!(stated("{\"projectPath\": \"/srv/p\", \"log\": \"/var/log/x\"}", ""), ["/srv/p"]);
        assert_eq!(stated("The working directory is /home/u/notes.", ""), ["/home/u/notes"]);
        assert_eq!(stated("workspace_root = \"/w\"", ""), ["/w"]);
        let refused = "path outside allowed directories: /etc/passwd not in /srv/a";
        assert!(stated(refused, "/etc/passwd").is_empty());
        assert!(stated("see /usr/share/doc and the root cause /x", "").is_empty());
    }

    #[test]
    fn a_refusal_says_what_a_path_is_not_in_and_to_work_somewhere_is_no_limit() {
        let confining = |text: &str, sent: &str, refused: bool| -> Vec<String> {
            let found = confining_directories(text, sent, refused);
            found.into_iter().map(|path| path.display().to_string()).collect()
        };
        let refusal = "Access denied: /etc/passwd is not in /srv/a";
        assert_eq!(confining(refusal, "/etc/passwd", true), ["/srv/a"]);
        assert_eq!(confining("Path is outside the project root: /srv/p", "../x", true), ["/srv/p"]);
        assert_eq!(confining("Allowed directories:\n/srv/a", "", false), ["/srv/a"]);
        assert!(confining("The working directory is /srv/a", "", false).is_empty());
        assert!(confining("no such file: /srv/a/x", "/srv/a/x", true).is_empty());
        // The answer writes the path in another way than the call did.
        let resolved = "Access denied - path outside allowed directories: /data/y not in /srv/a, /srv/b";
        assert_eq!(confining(resolved, "/home/link/y", true), ["/srv/a"]);
        for (told, wanted) in [
            ("Not allowed: notes. Must be within one of these directories: ~", &["~"][..]),
            ("Files should be in: \"/srv/a\", '~/b'", &["/srv/a", "~/b"]),
            ("only paths under the garden (/srv/a) can be read", &["/srv/a"]),
            ("the date must be in the form day/month", &[]),
            ("it must be in one place, such as /path/to/file", &[]),
            ("the answer must be in CSV/JSON", &[]),
        ] {
            assert_eq!(confining(told, "notes", true), wanted, "{told}");
            assert!(confining(told, "notes", false).is_empty(), "{told}");
        }
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
