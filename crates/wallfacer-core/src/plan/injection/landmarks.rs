//! Plants the files around the declared directory that rules may name, with the texts that lead to them. Where no
//! directory is declared there is nothing to leave, and nothing is named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use wallfacer_process::jail::Plant;

use super::ground::{Scope, chosen, steps_up, text};
use crate::world::DeclaredBy;

/// What is planted for rules in the world of each life.
#[derive(Debug, Clone, Default)]
pub struct Landmarks {
    pub plants: BTreeMap<PathBuf, Plant>,
    /// By the names that rules have for them.
    pub names: Map<String, Value>,
}

impl Landmarks {
    pub fn new(scopes: &BTreeMap<PathBuf, DeclaredBy>, seed: u64) -> Landmarks {
        let declared = |path: &Path| {
            scopes.iter().any(|(scope, by)| *by != DeclaredBy::WorkingDirectory && path.starts_with(scope))
        };
        // What lies within another declared directory is not outside.
        let mut free =
            chosen(scopes, seed).into_iter().filter(|scope| scope.declared && !declared(scope.parent));
        free.next().map(|scope| Landmarks::around(&scope)).unwrap_or_default()
    }

    fn around(scope: &Scope<'_>) -> Landmarks {
        let mut landmarks = Landmarks::default();
        let name = scope.name("landmark");
        let secret = scope.token(&name);
        let path = scope.parent.join(format!("{name}.txt"));
        let link = scope.path.join(format!("{}.txt", scope.name("landmark link")));
        let outside = scope.parent.join(scope.name("landmark directory"));
        let relative = steps_up(&path);
        let encoded = relative.replace('.', "%2e").replace('/', "%2f");
        if let Some(own) = scope.path.file_name().and_then(|name| name.to_str()) {
            let sibling = scope.parent.join(format!("{own}_{name}")).join("secret.txt");
            landmarks.name("sibling", text(&sibling));
            landmarks.put(sibling, &secret);
        }
        for (name, value) in [
            ("path", text(&path)),
            ("relative", relative),
            ("encoded", encoded),
            ("link", text(&link)),
            ("outside", text(&outside)),
            ("secret", secret.clone()),
        ] {
            landmarks.name(name, value);
        }
        landmarks.plants.insert(link, Plant::Symlink(path.clone()));
        landmarks.plants.insert(outside, Plant::Directory);
        landmarks.put(path, &secret);
        landmarks
    }

    fn name(&mut self, name: &str, value: String) {
        self.names.insert(name.to_owned(), value.into());
    }

    fn put(&mut self, path: PathBuf, content: &str) {
        self.plants.insert(path, Plant::File { content: content.into(), executable: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn landmarks(scopes: &[(&str, DeclaredBy)]) -> Landmarks {
        let scopes = scopes.iter().map(|(path, by)| (PathBuf::from(path), *by)).collect();
        Landmarks::new(&scopes, 7)
    }

    #[test]
    fn every_name_leads_out_of_the_declared_place_to_something_that_is_planted() {
        let landmarks = landmarks(&[("/data/root", DeclaredBy::CommandLine)]);
        let named = |name: &str| PathBuf::from(landmarks.names[name].as_str().unwrap());
        for name in ["path", "outside", "sibling"] {
            assert!(landmarks.plants.contains_key(&named(name)), "{name}");
            assert!(!named(name).starts_with("/data/root"), "{name}");
        }
        assert!(named("link").starts_with("/data/root"));
        assert_eq!(landmarks.plants[&named("link")], Plant::Symlink(named("path")));
        assert!(landmarks.names["relative"].as_str().unwrap().ends_with(&*text(&named("path"))));
        assert!(!landmarks.names["encoded"].as_str().unwrap().contains(['.', '/']));
    }

    #[test]
    fn without_a_declared_place_nothing_is_planted() {
        let nowhere = [("/work", DeclaredBy::WorkingDirectory), ("/usr/lib", DeclaredBy::Environment)];
        assert!(landmarks(&nowhere).plants.is_empty());
        let both = [("/data/root", DeclaredBy::CommandLine), ("/data", DeclaredBy::CommandLine)];
        assert!(!landmarks(&both).names["path"].as_str().unwrap().starts_with("/data/"));
    }
}
