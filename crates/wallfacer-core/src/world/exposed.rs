//! Which of the files that a confined server sees as they are look like credentials? The report names them, because
//! whoever shows a directory to a server may not think of all that lies in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use wallfacer_process::jail::canaries;

use crate::target::is_secret_name;

/// Entries that are looked at in all; a larger directory is told by what was found until then.
const MAX_ENTRIES: usize = 20_000;
/// Directories within each other; keys do not lie deeper.
const MAX_DEPTH: usize = 8;
/// Files that are named; more tell nothing more.
const MAX_NAMED: usize = 12;

/// What begins like this, or ends like that, is a key or a store of keys.
const KEY_BEGINNINGS: [&str; 2] = ["id_", "private"];
const KEY_ENDINGS: [&str; 7] = ["pem", "key", "p12", "pfx", "kdbx", "keystore", "jks"];
/// In these `token` and `key` are words of a program, not what it keeps.
const CODE: [&str; 20] = [
    "c", "cpp", "css", "d", "go", "h", "html", "java", "js", "jsx", "md", "mjs", "py", "pyc", "rb", "rs",
    "so", "svg", "ts", "tsx",
];
/// Directories of packages and histories: large, and no place for keys.
const SKIPPED: [&str; 5] = ["node_modules", ".git", "site-packages", "target", "__pycache__"];

/// The files of what is kept that look like credentials, as a person would write them, and whether all was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Exposed {
    pub files: Vec<String>,
    pub more: usize,
    pub complete: bool,
}

pub(super) fn exposed(kept: &BTreeSet<PathBuf>, home: &Path) -> Exposed {
    let known: BTreeSet<PathBuf> = canaries(home, 0).into_iter().map(|canary| canary.path).collect();
    let mut found = BTreeSet::new();
    let mut waiting: Vec<(PathBuf, usize)> = kept.iter().map(|path| (path.clone(), 0)).collect();
    let mut looked_at = 0;
    while let Some((path, depth)) = waiting.pop() {
        looked_at += 1;
        if looked_at > MAX_ENTRIES {
            break;
        }
        // A link is looked through only where it was named itself: elsewhere it leads to what is not shown.
        let metadata = if depth == 0 { path.metadata() } else { path.symlink_metadata() };
        let Ok(metadata) = metadata else { continue };
        if metadata.is_file() && (known.contains(&path) || is_credential(&path)) {
            found.insert(path);
        } else if metadata.is_dir() && depth < MAX_DEPTH && (depth == 0 || !is_skipped(&path)) {
            let entries = path.read_dir().into_iter().flatten().take(MAX_ENTRIES);
            waiting.extend(entries.flatten().map(|entry| (entry.path(), depth + 1)));
        }
    }
    Exposed {
        more: found.len().saturating_sub(MAX_NAMED),
        files: found.iter().take(MAX_NAMED).map(|path| named(path, home)).collect(),
        complete: looked_at <= MAX_ENTRIES,
    }
}

impl Exposed {
    /// What the list of files leaves out, in words.
    pub fn shortfall(&self) -> Option<String> {
        let unfinished =
            "what is kept is too large for all of it to be looked through for secrets".to_owned();
        let more = format!("{} more files of what is kept look like secrets", self.more);
        if !self.complete { Some(unfinished) } else { (self.more > 0).then_some(more) }
    }
}

fn is_credential(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if CODE.contains(&ending.as_str()) || ending == "pub" {
        return false;
    }
    KEY_ENDINGS.contains(&ending.as_str())
        || KEY_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name == ".env"
        || name.starts_with(".env.")
        || is_secret_name(&name)
}

fn is_skipped(path: &Path) -> bool {
    path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped))
}

pub(super) fn named(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(inside) => format!("~/{}", inside.display()),
        Err(_) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(files: &[&str]) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for file in files {
            let path = home.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        home
    }

    #[test]
    fn files_that_hold_keys_are_named_and_sources_are_not() {
        let home = home(&[
            ".kube/config",
            "work/.env",
            "work/tls/server.key",
            "work/tls/id_ed25519.pub",
            "work/src/token.rs",
            "work/node_modules/a/secret.json",
            "work/client_secret.json",
        ]);
        let kept = [".kube", "work"].map(|name| home.path().join(name)).into();
        let found = exposed(&kept, home.path());
        let wanted = ["~/.kube/config", "~/work/.env", "~/work/client_secret.json", "~/work/tls/server.key"];
        assert_eq!(found.files, wanted);
        assert_eq!(found.shortfall(), None);
    }

    #[test]
    fn what_holds_no_secret_is_not_spoken_of() {
        let home = home(&[".config/app/settings.toml"]);
        let kept = [home.path().join(".config/app")].into();
        assert_eq!(exposed(&kept, home.path()), Exposed { complete: true, ..Exposed::default() });
    }

    #[test]
    fn of_a_directory_that_is_too_large_a_part_is_looked_at_and_that_is_told() {
        let home = home(&[]);
        let many = home.path().join("many");
        std::fs::create_dir(&many).unwrap();
        for number in 0..MAX_ENTRIES + 5 {
            std::fs::write(many.join(number.to_string()), "").unwrap();
        }
        assert!(exposed(&[many].into(), home.path()).shortfall().unwrap().contains("too large"));
    }
}
