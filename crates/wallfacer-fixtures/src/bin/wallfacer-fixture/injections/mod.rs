//! Finds the small server that an injection works on, by its name. One file for each sort.

mod behind;
mod costs;
mod database;
mod network;
mod paths;
mod programs;
mod several;
mod state;

use std::path::PathBuf;

use crate::scenes::Scene;
pub use paths::flat;

pub fn scene(name: &str) -> Option<Scene> {
    const SORTS: [fn(&str) -> Option<Scene>; 8] = [
        programs::scene,
        paths::scene,
        network::scene,
        state::scene,
        costs::scene,
        database::scene,
        behind::scene,
        several::scene,
    ];
    SORTS.iter().find_map(|sort| sort(name))
}

/// The directory that the server was given, or where it was started.
pub fn root() -> PathBuf {
    let mut arguments = std::env::args_os().skip_while(|argument| argument != "--root");
    let given = arguments.nth(1).map(PathBuf::from);
    given.and_then(|given| given.canonicalize().ok()).unwrap_or_else(|| PathBuf::from("."))
}

#[cfg(test)]
mod tests {
    use wallfacer_fixtures::injections;

    #[test]
    fn every_injection_of_the_table_has_its_server_and_the_tools_that_are_blamed() {
        for injection in injections() {
            let scene = super::scene(injection.name).expect(injection.name);
            for expect in injection.expected.iter().filter(|expect| expect.tool.is_some()) {
                let named = |tool: &crate::scenes::Tool| tool.declared["name"].as_str() == expect.tool;
                assert!(scene.tools.iter().any(named), "{}", injection.name);
            }
        }
    }
}
