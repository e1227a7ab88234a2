//! The name of a flaw in, the small server out that has it. One file for each kind, one function for each flaw.

mod crash;
mod death;
mod destructive;
mod frames;
mod growth;
mod hang;
mod input;
mod internal;
mod learning;
mod names;
mod offers;
mod output;
mod refusal;
mod scene;
mod secret;
mod stage;
mod wire;

pub use stage::Stage;

use scene::Scene;

fn find(flaw: &str) -> Option<Scene> {
    const KINDS: [fn(&str) -> Option<Scene>; 13] = [
        crash::scene,
        hang::scene,
        wire::scene,
        internal::scene,
        refusal::scene,
        output::scene,
        input::scene,
        offers::scene,
        secret::scene,
        growth::scene,
        frames::scene,
        learning::scene,
        destructive::scene,
    ];
    KINDS.iter().find_map(|kind| kind(flaw))
}

#[cfg(test)]
mod tests {
    use super::find;
    use super::offers;
    use super::scene::Scene;
    use serde_json::Value;
    use std::collections::BTreeSet;
    use wallfacer_fixtures::{Renaming, flaws};

    /// What a careful client takes for a sign of destruction in a name.
    const VERBS: [&str; 48] = [
        "delete",
        "remove",
        "drop",
        "destroy",
        "erase",
        "wipe",
        "purge",
        "truncate",
        "clear",
        "reset",
        "kill",
        "terminate",
        "shutdown",
        "reboot",
        "uninstall",
        "revoke",
        "overwrite",
        "write",
        "send",
        "publish",
        "pay",
        "refund",
        "buy",
        "purchase",
        "deploy",
        "push",
        "exec",
        "execute",
        "run",
        "eval",
        "post",
        "email",
        "mail",
        "message",
        "notify",
        "order",
        "charge",
        "transfer",
        "release",
        "merge",
        "cancel",
        "stop",
        "restart",
        "move",
        "rename",
        "replace",
        "edit",
        "update",
    ];

    fn scenes() -> impl Iterator<Item = (&'static str, Scene)> {
        flaws().iter().map(|flaw| (flaw.name, find(flaw.name).expect(flaw.name)))
    }

    fn tool_names(scene: &Scene) -> BTreeSet<String> {
        let named = scene.tools.iter().filter_map(|tool| tool.declared["name"].as_str());
        named.map(str::to_owned).collect()
    }

    fn argument_names(schema: &Value, names: &mut BTreeSet<String>) {
        for (name, each) in schema["properties"].as_object().into_iter().flatten() {
            names.insert(name.clone());
            argument_names(each, names);
        }
        if let Some(items) = schema.get("items") {
            argument_names(items, names);
        }
    }

    #[test]
    fn every_flaw_of_the_table_has_its_server_with_a_few_tools() {
        for (flaw, scene) in scenes() {
            let names = tool_names(&scene);
            assert_eq!(names.len(), scene.tools.len(), "{flaw}");
            assert!((2..=4).contains(&names.len()), "{flaw}");
        }
    }

    #[test]
    fn every_finding_blames_something_that_is_there() {
        for flaw in flaws() {
            let mut names = tool_names(&find(flaw.name).expect(flaw.name));
            names.insert(offers::PROMPT.to_owned());
            let blamed = flaw.expected.iter().filter_map(|expect| expect.tool);
            assert!(blamed.into_iter().all(|name| names.contains(name)), "{}", flaw.name);
        }
    }

    #[test]
    fn every_name_can_be_renamed() {
        let renaming = Renaming::new(1);
        for (flaw, scene) in scenes() {
            let mut names = tool_names(&scene);
            scene.tools.iter().for_each(|tool| argument_names(&tool.declared["inputSchema"], &mut names));
            names.extend([offers::PROMPT, offers::TOPIC, offers::STYLE].map(str::to_owned));
            for word in names.iter().flat_map(|name| name.split('_')) {
                let known = renaming.apply(word) != word || flaw == "destructive-names";
                assert!(known, "{flaw}: `{word}` is not in the vocabulary");
            }
        }
    }

    #[test]
    fn only_the_tools_that_are_meant_to_sound_destructive_do() {
        for seed in 0..100 {
            let renaming = Renaming::new(seed);
            for (flaw, scene) in scenes() {
                let all = tool_names(&scene);
                let both = all.iter().flat_map(|name| [name.clone(), renaming.apply(name)]);
                let first_word = |name: &str| VERBS.iter().any(|verb| name.starts_with(verb));
                let any_word = |name: &str| name.split('_').any(|word| VERBS.contains(&word));
                let count = both.filter(|name| first_word(name) || any_word(name)).count();
                assert_eq!(count, if flaw == "destructive-names" { 6 } else { 0 }, "{flaw}, seed {seed}");
            }
        }
    }
}
