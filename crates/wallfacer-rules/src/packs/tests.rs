use super::{Shelf, packs};
use crate::fixture::Expect;
use crate::offline::{FixtureResult, test_offline};
use crate::rules::Rules;
use std::collections::{BTreeMap, BTreeSet};

fn rules(name: &str) -> Rules {
    let rules = Shelf::default().rules(name, &BTreeMap::new()).expect("there is such a pack");
    rules.unwrap_or_else(|problems| panic!("{name}: {problems}"))
}

/// Every rule of a pack by its name, with what its fixtures expect of it.
fn expectations(rules: &Rules) -> BTreeMap<String, BTreeSet<&'static str>> {
    let words = |expected: &mut dyn Iterator<Item = Expect>| expected.map(Expect::name).collect();
    let mut library = rules.library.clone();
    let mut found = BTreeMap::new();
    for rule in &rules.rules {
        found.insert(rule.name.clone(), words(&mut rule.fixtures.iter().map(|fixture| fixture.expect)));
    }
    for block in &rules.blocks {
        let sample = block.sample(&mut library).expect("a sample can be made");
        found.insert(block.name.clone(), words(&mut sample.fixtures.iter().map(|fixture| fixture.expect)));
    }
    for sequence in &rules.sequences {
        found.insert(
            sequence.name.clone(),
            words(&mut sequence.fixtures.iter().map(|fixture| fixture.expect)),
        );
    }
    found
}

#[test]
fn every_pack_loads_without_a_warning_and_its_fixtures_hold() {
    let mut missed = Vec::new();
    for pack in packs() {
        let rules = rules(pack.name);
        assert_eq!(rules.warnings, [], "{}", pack.name);
        for outcome in test_offline(&rules) {
            if outcome.result != FixtureResult::Met {
                missed.push(format!(
                    "{}: {} / {}: {:?}",
                    pack.name, outcome.rule, outcome.fixture, outcome.result
                ));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_rule_has_a_fixture_that_passes_and_one_that_fails() {
    let mut lacking = Vec::new();
    for pack in packs() {
        for (rule, expected) in expectations(&rules(pack.name)) {
            if !expected.contains("pass") || !expected.contains("fail") {
                lacking.push(format!("{}: {rule} has only {expected:?}", pack.name));
            }
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

#[test]
fn every_file_among_the_packs_is_built_in_and_says_what_it_is_for() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("packs");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<_> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let names: Vec<_> = packs().iter().map(|pack| pack.name.to_owned()).collect();
    assert_eq!(names, files.into_iter().collect::<Vec<_>>());
    for pack in packs() {
        assert!(pack.about.ends_with('.') && pack.about.len() > 20, "{}: {}", pack.name, pack.about);
        assert!(pack.text.starts_with(&format!("# {}: ", pack.name)), "{} says what it is for", pack.name);
    }
}

/// What people have written into their configurations.
const NAMES_IN_USE: [(&str, &[&str]); 20] = [
    (
        "auth",
        &["admin_path_pattern", "bearer_witness_tool", "get_user_tool", "list_resources_tool", "whoami_tool"],
    ),
    ("auth-flow", &["login_tool", "logout_tool", "password", "protected_tool", "user"]),
    ("authorization", &["admin_path_pattern", "admin_witness_tool", "list_resources_tool", "role_field"]),
    ("context-poisoning", &[]),
    ("error-shape", &["error_witness_tool", "unknown_tool_name"]),
    ("idempotency", &[]),
    ("injection-shell", &["canary_pattern", "shell_field", "shell_tool"]),
    ("injection-sql", &["drop_table_pattern", "query_field", "query_tool"]),
    (
        "large-payload",
        &["array_witness_field", "array_witness_tool", "string_witness_field", "string_witness_tool"],
    ),
    ("mcp-spec-conformance", &[]),
    ("pagination", &["items_path", "next_cursor_path", "paginate_tool"]),
    ("path-traversal", &["read_file_tool", "sensitive_unix_pattern", "write_file_tool"]),
    ("prompt-injection", &["leakage_pattern", "llm_tool", "prompt_field"]),
    ("prompt-injection-v2", &["capitulation_pattern", "leakage_pattern", "llm_tool", "prompt_field"]),
    ("rate-limit", &["quota_tool"]),
    ("secrets-leakage", &["witness_field", "witness_tool"]),
    ("security", &[]),
    ("stateful", &["create_payload", "create_tool", "delete_tool", "read_tool"]),
    ("tool-annotations", &[]),
    ("unicode", &["witness_field", "witness_tool"]),
];

#[test]
fn packs_and_parameters_that_are_in_use_are_there() {
    let shelf = Shelf::default();
    for (pack, wanted) in NAMES_IN_USE {
        assert!(packs().iter().any(|known| known.name == pack), "{pack}");
        let declared: BTreeSet<String> =
            shelf.parameters(pack).into_iter().map(|parameter| parameter.name).collect();
        let missing: Vec<_> = wanted.iter().filter(|name| !declared.contains(**name)).collect();
        assert!(missing.is_empty(), "{pack}: {missing:?}");
    }
}

#[test]
fn security_takes_the_parameters_of_all_its_packs() {
    let shelf = Shelf::default();
    let names: Vec<_> = shelf.parameters("security").into_iter().map(|parameter| parameter.name).collect();
    for name in [
        "whoami_tool",
        "role_field",
        "read_file_tool",
        "query_tool",
        "shell_tool",
        "llm_tool",
        "witness_tool",
    ] {
        assert!(names.iter().any(|other| other == name), "{name}");
    }
    let typed = BTreeMap::from([("read_file_tool".to_owned(), "cat".to_owned())]);
    let given = shelf.given("security", &BTreeMap::new(), &typed);
    let rules = shelf.rules("security", &given).unwrap().unwrap();
    let dots = rules.rules.iter().find(|rule| rule.name == "path.dots").expect("it is taken over");
    assert_eq!(dots.tool, "cat");
}

#[test]
fn what_is_set_for_an_extended_pack_holds_and_the_nearest_wins() {
    let shelf = Shelf::default();
    let table = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let mut set = BTreeMap::from([("auth".to_owned(), table("whoami_tool", "me"))]);
    let given = |set: &BTreeMap<_, _>, typed: &BTreeMap<_, _>| {
        shelf
            .given("security", set, typed)
            .get("whoami_tool")
            .and_then(|value| value.as_str().map(str::to_owned))
    };
    assert_eq!(given(&set, &BTreeMap::new()).as_deref(), Some("me"));
    set.insert("security".to_owned(), table("whoami_tool", "self"));
    assert_eq!(given(&set, &BTreeMap::new()).as_deref(), Some("self"));
    assert_eq!(given(&set, &table("whoami_tool", "typed")).as_deref(), Some("typed"));
}

#[test]
fn a_pack_of_the_workspace_may_extend_the_built_in_one_of_its_name() {
    let own = "version: 4\nmetadata: { extends: [tool-quality] }\ninvariants: []\n";
    let shelf = Shelf::new(BTreeMap::from([("tool-quality".to_owned(), own.to_owned())]));
    let rules = shelf.rules("tool-quality", &BTreeMap::new()).unwrap().unwrap();
    assert!(rules.block_count() > 0);
}
