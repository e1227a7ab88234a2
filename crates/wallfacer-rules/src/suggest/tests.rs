use super::words::words;
use super::{Suggestion, suggest, toml};
use crate::packs::Shelf;
use crate::tool::ToolShape;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn tool(name: &str, properties: Value) -> ToolShape {
    ToolShape::new(json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } }))
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn of<'s>(found: &'s [Suggestion], pack: &str) -> Option<&'s Suggestion> {
    found.iter().find(|suggestion| suggestion.pack == pack)
}

fn parameter<'s>(found: &'s [Suggestion], pack: &str, name: &str) -> Option<&'s str> {
    of(found, pack)?.parameters.get(name).map(String::as_str)
}

#[test]
fn words_are_found_in_every_way_of_writing() {
    for name in ["create_user", "createUser", "create-user", "CreateUser", "create.user"] {
        assert_eq!(words(name), ["create", "user"], "{name}");
    }
    assert_eq!(words("getHTTPStatus2"), ["get", "http", "status2"]);
}

#[test]
fn without_tools_only_what_fits_every_server_is_suggested() {
    let found = suggest(&[]);
    assert_eq!(found.iter().map(|suggestion| suggestion.pack.as_str()).collect::<Vec<_>>(), ["error-shape"]);
}

#[test]
fn a_tool_that_tells_who_is_calling_suggests_auth() {
    for name in ["whoami", "getCurrentUser", "get_user", "user-info", "me", "get_me"] {
        let found = suggest(&[tool(name, json!({}))]);
        assert_eq!(parameter(&found, "auth", "whoami_tool"), Some(name));
    }
}

#[test]
fn a_tool_that_is_asked_about_a_user_is_not_the_one_that_tells_who_is_calling() {
    let found = suggest(&[tool("get_user", json!({ "id": text() }))]);
    assert_eq!(parameter(&found, "auth", "get_user_tool"), Some("get_user"));
    assert_eq!(parameter(&found, "auth", "whoami_tool"), None);
}

#[test]
fn me_within_other_words_is_nobody() {
    for name in ["time", "rename", "memory", "get_time", "documents", "method"] {
        assert_eq!(of(&suggest(&[tool(name, json!({}))]), "auth"), None, "{name}");
    }
}

#[test]
fn a_path_suggests_path_traversal_with_the_argument_it_is_in() {
    let found = suggest(&[tool("read_page", json!({ "filePath": text() }))]);
    assert_eq!(parameter(&found, "path-traversal", "read_file_tool"), Some("read_page"));
    assert_eq!(parameter(&found, "path-traversal", "path_field"), Some("filePath"));
    assert_eq!(parameter(&found, "path-traversal", "write_file_tool"), None);
}

#[test]
fn a_path_that_is_no_text_is_none() {
    let found = suggest(&[tool("draw", json!({ "path": { "type": "array" } }))]);
    assert_eq!(of(&found, "path-traversal"), None);
}

#[test]
fn queries_commands_and_prompts_suggest_their_packs() {
    let found = suggest(&[
        tool("query_db", json!({ "sql": text() })),
        tool("deploy", json!({ "cmd": text() })),
        tool("ask", json!({ "prompt": text() })),
    ]);
    assert_eq!(parameter(&found, "injection-sql", "query_field"), Some("sql"));
    assert_eq!(parameter(&found, "injection-shell", "shell_field"), Some("cmd"));
    assert_eq!(parameter(&found, "prompt-injection", "prompt_field"), Some("prompt"));
}

#[test]
fn a_name_that_is_about_running_suggests_the_shell_with_its_own_argument() {
    let found = suggest(&[tool("execScript", json!({ "count": { "type": "integer" }, "script": text() }))]);
    assert_eq!(parameter(&found, "injection-shell", "shell_field"), Some("script"));
    assert_eq!(of(&suggest(&[tool("executive_summary", json!({ "of": text() }))]), "injection-shell"), None);
}

#[test]
fn a_description_that_speaks_of_a_language_model_suggests_prompt_injection() {
    let describes = |description: &str| {
        suggest(&[ToolShape::new(json!({
            "name": "summarise",
            "description": description,
            "inputSchema": { "properties": { "text": text() } },
        }))])
    };
    let found = describes("Sends the text to a language model.");
    assert_eq!(parameter(&found, "prompt-injection", "prompt_field"), Some("text"));
    assert_eq!(of(&describes("Fulfillment of a task."), "prompt-injection"), None, "llm within a word");
}

#[test]
fn creating_reading_and_deleting_one_thing_suggests_stateful_in_every_order_of_words() {
    for [create, read, delete] in [
        ["record_create", "record_read", "record_delete"],
        ["create_user", "get_user", "delete_user"],
        ["createNote", "fetchNote", "removeNote"],
        ["create_entries", "get_entries", "delete_entries"],
    ] {
        let found = suggest(&[tool(create, json!({})), tool(read, json!({})), tool(delete, json!({}))]);
        assert_eq!(parameter(&found, "stateful", "create_tool"), Some(create));
        assert_eq!(parameter(&found, "stateful", "read_tool"), Some(read));
        assert_eq!(parameter(&found, "stateful", "delete_tool"), Some(delete));
    }
    let apart = ["create_user", "get_note", "delete_file"].map(|name| tool(name, json!({})));
    assert_eq!(of(&suggest(&apart), "stateful"), None);
}

#[test]
fn signing_in_and_out_suggests_auth_flow() {
    let tools =
        ["auth_login", "auth_logout", "get_profile"].map(|name| tool(name, json!({ "username": text() })));
    let found = suggest(&tools);
    assert_eq!(parameter(&found, "auth-flow", "login_tool"), Some("auth_login"));
    assert_eq!(parameter(&found, "auth-flow", "protected_tool"), Some("get_profile"));
    assert_eq!(parameter(&found, "auth-flow", "user_field"), Some("username"));
    assert_eq!(of(&suggest(&tools[..1]), "auth-flow"), None);
}

#[test]
fn annotations_suggest_the_packs_about_them() {
    let found = suggest(&[ToolShape::new(json!({
        "name": "list_users",
        "annotations": { "readOnlyHint": true, "idempotentHint": true },
    }))]);
    for pack in ["tool-annotations", "effects", "idempotency", "determinism"] {
        assert!(of(&found, pack).is_some(), "{pack}");
    }
    assert_eq!(of(&suggest(&[tool("list_users", json!({}))]), "tool-annotations"), None);
}

#[test]
fn witnesses_are_chosen_by_their_types_also_behind_a_tool_without_arguments() {
    let found = suggest(&[
        ToolShape::new(json!({ "name": "ping" })),
        tool("pick", json!({ "colour": { "type": "string", "enum": ["red"] } })),
        tool("add", json!({ "numbers": { "type": "array" }, "note": text() })),
    ]);
    assert_eq!(
        parameter(&found, "unicode", "witness_field"),
        Some("note"),
        "a free text is the better witness"
    );
    assert_eq!(parameter(&found, "large-payload", "array_witness_field"), Some("numbers"));
    assert_eq!(parameter(&found, "large-payload", "string_witness_field"), Some("note"));
}

#[test]
fn without_a_list_there_is_no_witness_for_lists() {
    let found = suggest(&[tool("echo", json!({ "text": text() }))]);
    assert_eq!(parameter(&found, "large-payload", "array_witness_tool"), None);
}

#[test]
fn a_hostile_name_stays_a_name_in_toml() {
    let name = "x\"\n[target]\ncommand = \"evil\"";
    let pasted = toml(&suggest(&[tool(name, json!({ "path": text() }))]));
    assert!(
        !pasted.lines().any(|line| line.starts_with("[target]") || line.starts_with("command")),
        "{pasted}"
    );
}

#[test]
fn every_suggestion_loads_with_its_parameters() {
    let tools = [
        tool("whoami", json!({ "role": text() })),
        tool("list_items", json!({ "limit": { "type": "integer" }, "cursor": text() })),
        tool("create_item", json!({ "name": text() })),
        tool("get_item", json!({ "id": text() })),
        tool("delete_item", json!({ "id": text() })),
        tool("login", json!({ "user": text(), "password": text() })),
        tool("logout", json!({})),
        tool("run", json!({ "cmd": text(), "sql": text(), "prompt": text(), "path": text() })),
    ];
    let found = suggest(&tools);
    assert!(found.len() > 12, "{found:#?}");
    for Suggestion { pack, parameters, .. } in found {
        let given: BTreeMap<_, _> =
            parameters.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
        let rules = Shelf::default().rules(&pack, &given).expect("it is a pack");
        rules.unwrap_or_else(|problems| panic!("{pack}: {problems}"));
    }
}

#[test]
fn a_tool_named_like_a_program_suggests_the_shell_with_what_it_aims_at() {
    let found = suggest(&[tool("ping_host", json!({ "count": { "type": "integer" }, "host": text() }))]);
    assert_eq!(parameter(&found, "injection-shell", "shell_tool"), Some("ping_host"));
    assert_eq!(parameter(&found, "injection-shell", "shell_field"), Some("host"));
    for (name, field) in [("shipping_cost", "host"), ("mapping", "target"), ("digest", "address")] {
        let found = suggest(&[tool(name, json!({ field: text() }))]);
        assert_eq!(of(&found, "injection-shell"), None, "{name}");
    }
}

#[test]
fn what_is_kept_under_a_name_may_be_a_file() {
    let found = suggest(&[tool("read_note", json!({ "name": text() }))]);
    assert_eq!(parameter(&found, "path-traversal", "read_file_tool"), Some("read_note"));
    assert_eq!(parameter(&found, "path-traversal", "path_field"), Some("name"));
    let found = suggest(&[tool("save_template", json!({ "template_name": text(), "body": text() }))]);
    assert_eq!(parameter(&found, "path-traversal", "write_file_tool"), Some("save_template"));
    assert_eq!(parameter(&found, "path-traversal", "path_field"), Some("template_name"));
    for (name, field) in [("greet", "name"), ("read_note", "id"), ("get_weather", "name")] {
        let found = suggest(&[tool(name, json!({ field: text() }))]);
        assert_eq!(of(&found, "path-traversal"), None, "{name}");
    }
}
