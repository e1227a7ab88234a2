//! Finds the small server that has a flaw, by the flaw's name. One file for each kind, one function for each flaw.

mod changes;
mod company;
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
mod reach;
mod refusal;
mod scene;
mod secret;
mod stage;
mod ten_bugs;
mod wire;

pub use scene::{Call, Entry, Scene, Tool, count_words, failed, refused, said, structured};
pub use stage::Stage;
pub use ten_bugs::{BANNER, NAME as TEN_BUGS};

fn find(flaw: &str) -> Option<Scene> {
    const KINDS: [fn(&str) -> Option<Scene>; 19] = [
        crash::scene,
        hang::scene,
        company::scene,
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
        reach::scene,
        destructive::scene,
        crate::injections::scene,
        changes::scene,
        crate::rules::scene,
        ten_bugs::scene,
    ];
    KINDS.iter().find_map(|kind| kind(flaw))
}

#[cfg(test)]
mod tests {
    use super::find;
    use super::offers;
    use super::scene::{Entry, Scene};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use wallfacer_fixtures::{Renaming, flaws};

    /// What a careful client takes for a sign of destruction in a name.
    const VERBS: &str = "delete remove drop destroy erase wipe purge clear reset kill shutdown overwrite write \
        send publish pay buy deploy push exec run eval post email mail notify order cancel stop move rename \
        replace edit update";

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
                let first_word = |name: &str| VERBS.split(' ').any(|verb| name.starts_with(verb));
                let any_word =
                    |name: &str| name.split('_').any(|word| VERBS.split(' ').any(|verb| verb == word));
                let count = both.filter(|name| first_word(name) || any_word(name)).count();
                assert_eq!(count, if flaw == "destructive-names" { 6 } else { 0 }, "{flaw}, seed {seed}");
            }
        }
    }

    /// Values of every type, at and beyond the bounds that the schemas have.
    fn samples() -> Vec<Value> {
        let texts = ["", "a", "5", "yard", "title", "red"].map(str::to_owned);
        let long = [40, 41, 60, 61, 200, 201, 5000, 5001].map(|length| "é".repeat(length));
        let numbers =
            [-1001.0, -100.0, -1.0, 0.0, 1.0, 1.5, 7.0, 8.0, 12.0, 13.0, 95.0, 100.0, 500.0, 501.0, 1e300];
        let filters = [
            json!({"field": "body", "limit": 501}),
            json!({"field": "body", "limit": 1}),
            json!({"limit": 1}),
        ];
        let mut samples = vec![Value::Null, json!(true), json!(3), json!({}), json!([]), json!([1, "a"])];
        samples.extend(texts.into_iter().chain(long).map(Value::from));
        samples.extend(numbers.map(Value::from));
        samples.extend(filters.map(|filter| json!([filter])));
        samples.extend([5, 6, 20, 21].map(|length| json!(vec!["x"; length])));
        samples.extend([5, 6, 20, 21].map(|length| json!(vec![0.5; length])));
        samples
    }

    #[test]
    fn each_argument_is_judged_as_json_schema_has_it() {
        for (flaw, tool) in
            scenes().flat_map(|(flaw, scene)| scene.tools.into_iter().map(move |tool| (flaw, tool)))
        {
            let mut schema = tool.declared["inputSchema"].clone();
            let names = schema["properties"].as_object().expect("properties").keys().cloned();
            let names: Vec<String> = names.chain(["unknown".to_owned()]).collect();
            // One argument at a time, without those that should stand beside it.
            schema["required"] = json!([]);
            let truth = jsonschema::validator_for(&schema).expect("a schema");
            for arguments in
                names.iter().flat_map(|name| samples().into_iter().map(move |each| json!({(name): each})))
            {
                let taken = Entry::Strict.admit(&schema, arguments.clone()).is_ok();
                assert_eq!(taken, truth.is_valid(&arguments), "{flaw}: {arguments}");
            }
        }
    }
}
