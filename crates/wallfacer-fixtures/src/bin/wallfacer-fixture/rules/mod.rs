//! Finds the server that breaks the rules which the table names for it; its twin keeps them. What a single answer shows
//! is played as it is written in a file.

mod answers;
mod diary;
mod files;
mod repeated;
mod secrets;
mod written;

use crate::scenes::Scene;

pub fn scene(name: &str) -> Option<Scene> {
    const SORTS: [fn(&str) -> Option<Scene>; 6] =
        [files::scene, secrets::scene, repeated::scene, answers::scene, diary::scene, written::scene];
    SORTS.iter().find_map(|sort| sort(name))
}

#[cfg(test)]
mod tests {
    use wallfacer_fixtures::rule_servers;

    #[test]
    fn every_server_of_the_table_is_there() {
        for row in rule_servers() {
            let found = super::scene(row.name).or_else(|| crate::behaviours::find(row.name));
            assert!(found.is_some(), "{}", row.name);
        }
    }
}
