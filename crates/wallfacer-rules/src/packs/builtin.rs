//! The texts of the built-in packs, by name.

macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../packs/", $name, ".yaml")))),*]
    };
}

pub(super) const TEXTS: &[(&str, &str)] = texts!["auth", "auth-flow", "authorization",];
