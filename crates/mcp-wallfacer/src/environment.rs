//! The one place that reads the environment.
#![allow(clippy::disallowed_methods, reason = "the command hands the environment to the libraries")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use wallfacer_core::target::{is_secret_name, secret_values};

/// A variable by its name, where it is set and is text.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// All that a server may inherit.
pub fn all() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

/// Values that must not come back in anything we write.
pub fn secrets() -> BTreeSet<String> {
    named_secrets().into_values().collect()
}

/// The same by the variables that hold them: those that are secret by their names or their make. A variable that holds
/// several has a number behind its name.
pub fn named_secrets() -> BTreeMap<String, String> {
    let texts = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let is_secret = |name: &str| is_secret_name(name) || name.starts_with("WALLFACER_REPLAY_");
    let mut secrets = BTreeMap::new();
    for (name, value) in texts {
        for (number, part) in secret_values(&name, &value).into_iter().enumerate() {
            secrets.insert(format!("{name}_{}", number + 1), part);
        }
        if is_secret(&name) {
            secrets.insert(name, value);
        }
    }
    secrets
}

/// Variables that hold secrets, whole.
pub fn secret_variables() -> BTreeMap<String, String> {
    let texts = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts.filter(|(name, value)| !secret_values(name, value).is_empty()).collect()
}

pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// Where a program keeps what is its own on this machine.
pub fn state_directory() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| home().map(|home| home.join(".local/state")))
}

/// Whether whoever started us wants a signal to be ignored; where that cannot be told, it is not.
pub fn ignores_signal(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    ignored & (1 << (signal - 1)) != 0
}
