//! Finds the small server that shows a behaviour, by its name.

mod claims;
pub mod deeds;
mod honest;
mod secrets;

use crate::options::Part;
use crate::scenes::Scene;
use crate::scenes::{BANNER, TEN_BUGS};

pub fn find(name: &str) -> Option<Scene> {
    [secrets::scene, claims::scene, honest::scene].iter().find_map(|kind| kind(name))
}

/// What is done before anything is asked.
pub fn begin(part: &Part) {
    match part.flaw.as_str() {
        "reads-secret-at-start" if !part.fixed => drop(deeds::secret(".ssh/id_rsa")),
        name if name == TEN_BUGS && !part.fixed => say(BANNER),
        "telemetry-at-start" if !part.fixed => deeds::send("telemetry.example", b"started"),
        "settings-at-start" => drop(deeds::read(".env")),
        // What is removed or moved later must be there before.
        "read-only-removes" | "additive-removes" | "additive-moves" | "database-opened-for-both" => {
            deeds::write(deeds::STORE, "an old note\n");
        }
        _ => {}
    }
}

/// Where messages belong, and nothing else.
fn say(text: &str) {
    use std::io::Write as _;
    // Nobody is left to tell when standard output is closed.
    let _ = writeln!(std::io::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::find;
    use std::collections::BTreeSet;
    use wallfacer_fixtures::behaviours;

    #[test]
    fn every_behaviour_has_its_server_and_blames_a_tool_of_it() {
        for behaviour in behaviours() {
            let scene = find(behaviour.name).expect(behaviour.name);
            let names: BTreeSet<&str> =
                scene.tools.iter().filter_map(|tool| tool.declared["name"].as_str()).collect();
            let blamed = behaviour.expected.iter().filter_map(|expect| expect.tool);
            assert!(blamed.into_iter().all(|name| names.contains(name)), "{}", behaviour.name);
        }
    }
}
