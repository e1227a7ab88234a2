//! A program to start: what is run, where, and with which environment.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

/// Variables that begin like this are meant for us. They would tell a server who started it, so it gets only those that the
/// user names.
const OUR_OWN: &str = "WALLFACER_";

/// A program and everything it is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub program: OsString,
    pub args: Vec<OsString>,
    /// None is the directory we were started in.
    pub cwd: Option<PathBuf>,
    pub environment: Environment,
}

/// The whole environment of the program: what it inherits, then what is set on top.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    pub inherit: Inherit,
    /// Variables that are inherited as they are, even if they hold secrets and the program is confined.
    pub pass: BTreeSet<String>,
    pub set: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Inherit {
    #[default]
    All,
    /// These variables alone, where they are set.
    Only(Vec<String>),
}

impl Command {
    /// A program with its arguments, started here with our own environment.
    pub fn new<Word: Into<OsString>>(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = Word>,
    ) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            cwd: None,
            environment: Environment::default(),
        }
    }
}

impl Environment {
    /// Whether a variable comes from our own environment without being named anywhere.
    pub fn is_merely_inherited(&self, name: &str) -> bool {
        self.inherit == Inherit::All && !self.pass.contains(name) && !self.set.contains_key(name)
    }

    /// The variables the program starts with, given our own.
    pub fn resolve(
        &self,
        ours: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let mut whole: BTreeMap<_, _> = match &self.inherit {
            Inherit::All => {
                let is_given = |name: &OsString| {
                    let name = name.to_string_lossy();
                    !name.starts_with(OUR_OWN) || self.pass.contains(name.as_ref())
                };
                ours.into_iter().filter(|(name, _)| is_given(name)).collect()
            }
            Inherit::Only(names) => ours
                .into_iter()
                .filter(|(name, _)| names.iter().any(|wanted| name == wanted.as_str()))
                .collect(),
        };
        whole.extend(self.set.iter().map(|(name, value)| (name.into(), value.into())));
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Vec<(OsString, OsString)> {
        vec![("HOME".into(), "/home/ada".into()), ("TOKEN".into(), "ours".into())]
    }

    #[test]
    fn a_set_variable_wins_over_an_inherited_one() {
        let environment = Environment {
            inherit: Inherit::All,
            pass: BTreeSet::new(),
            set: BTreeMap::from([("TOKEN".to_owned(), "theirs".to_owned())]),
        };
        let whole = environment.resolve(ours());
        assert_eq!(whole[&OsString::from("TOKEN")], "theirs");
        assert_eq!(whole[&OsString::from("HOME")], "/home/ada");
    }

    #[test]
    fn variables_that_are_meant_for_us_are_not_inherited_unless_they_are_named() {
        let ours = ["WALLFACER_CONFIG", "WALLFACER_SHARDS"].map(|name| (name.into(), "x".into()));
        let mut environment = Environment::default();
        assert_eq!(environment.resolve(ours.clone()), BTreeMap::new());
        environment.pass.insert("WALLFACER_CONFIG".to_owned());
        assert_eq!(environment.resolve(ours), BTreeMap::from([("WALLFACER_CONFIG".into(), "x".into())]));
    }

    #[test]
    fn a_cleared_environment_keeps_only_the_listed_variables() {
        let environment = Environment {
            inherit: Inherit::Only(vec!["HOME".into(), "UNSET".into()]),
            ..Environment::default()
        };
        assert_eq!(environment.resolve(ours()), BTreeMap::from([("HOME".into(), "/home/ada".into())]));
    }
}
