//! The one place that reads the environment.
#![allow(clippy::disallowed_methods, reason = "the command hands the environment to the libraries")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use wallfacer_core::target::is_secret_name;

/// A variable by its name, where it is set and is text.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// All that a server may inherit.
pub fn all() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().collect()
}

/// Values of variables whose names say that they are secret: they must not come back in anything we write.
pub fn secrets() -> BTreeSet<String> {
    let named = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let is_secret = |name: &str| is_secret_name(name) || name.starts_with("WALLFACER_REPLAY_");
    named.filter(|(name, _)| is_secret(name)).filter_map(|(_, value)| value.into_string().ok()).collect()
}

pub fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// Where a program keeps what is its own on this machine.
pub fn state_directory() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| home().map(|home| home.join(".local/state")))
}
