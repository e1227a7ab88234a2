//! Tools that belong together: one creates what another reads and a third deletes; one opens what another closes.

use super::Suggestion;
use super::heuristics::suggestion;
use super::words::{has_any, has_phrase, words};
use crate::tool::ToolShape;
use std::collections::BTreeMap;

const CREATES: [&str; 4] = ["create", "add", "new", "insert"];
const READS: [&str; 4] = ["read", "get", "fetch", "show"];
const DELETES: [&str; 3] = ["delete", "remove", "destroy"];

/// Tools that are the same but for the verb, wherever it stands: `create_user`, `userGet`, `user_delete`.
pub(super) fn life_cycles(tools: &[ToolShape]) -> Vec<Suggestion> {
    let mut lives: BTreeMap<Vec<String>, [Option<&ToolShape>; 3]> = BTreeMap::new();
    for tool in tools {
        let name = words(tool.name());
        for (place, verbs) in [&CREATES[..], &READS[..], &DELETES[..]].into_iter().enumerate() {
            if let Some(thing) = thing(&name, verbs) {
                lives.entry(thing).or_default()[place].get_or_insert(tool);
            }
        }
    }
    lives.into_iter().filter_map(|(thing, life)| life_cycle(&thing, life)).collect()
}

/// What is left of a name that has exactly one of these verbs. Many of a thing are as good as one.
fn thing(name: &[String], verbs: &[&str]) -> Option<Vec<String>> {
    let rest: Vec<String> = name.iter().filter(|word| !verbs.contains(&word.as_str())).cloned().collect();
    let is_one_verb = rest.len() + 1 == name.len() && !rest.is_empty();
    is_one_verb.then(|| rest.into_iter().map(|word| word.trim_end_matches('s').to_owned()).collect())
}

fn life_cycle(thing: &[String], life: [Option<&ToolShape>; 3]) -> Option<Suggestion> {
    let [create, read, delete] = life;
    let (create, read, delete) = (create?, read?, delete?);
    let mut parameters =
        vec![("create_tool", create.name()), ("read_tool", read.name()), ("delete_tool", delete.name())];
    if let Some(field) = create.fields().find(|field| field.accepts("string")) {
        parameters.push(("create_field", field.name));
    }
    // The argument that reading and deleting share is what a thing is known by.
    let shared = read.fields().find(|field| delete.fields().any(|other| other.name == field.name));
    if let Some(field) = shared {
        parameters.push(("id_field", field.name));
    }
    let reason = format!(
        "`{}`, `{}` and `{}` create, read and delete a {}",
        create.name(),
        read.name(),
        delete.name(),
        thing.join(" ")
    );
    Some(suggestion("stateful", Some(create.name()), &parameters, reason))
}

/// The first tool that signs in and the first that signs out, with one that works only in between.
pub(super) fn sessions(tools: &[ToolShape]) -> Option<Suggestion> {
    let named = |phrases: &[&[&str]]| {
        let fits = |tool: &&ToolShape| {
            let name = words(tool.name());
            phrases.iter().any(|phrase| has_phrase(&name, phrase))
        };
        tools.iter().find(fits)
    };
    let login = named(&[&["login"], &["log", "in"], &["signin"], &["sign", "in"]])?;
    let logout = named(&[&["logout"], &["log", "out"], &["signout"], &["sign", "out"]])?;
    let is_protected = |tool: &&ToolShape| {
        let name = words(tool.name());
        has_any(&name, &["protected", "private"])
            || (has_any(&name, &["get"]) && has_any(&name, &["profile"]))
    };
    let mut parameters = vec![("login_tool", login.name()), ("logout_tool", logout.name())];
    if let Some(protected) = tools.iter().find(is_protected) {
        parameters.push(("protected_tool", protected.name()));
    }
    for (parameter, names) in
        [("user_field", ["user", "username", "email"]), ("password_field", ["password", "passwd", "secret"])]
    {
        let field = login.fields().find(|field| names.contains(&words(field.name).concat().as_str()));
        parameters.extend(field.map(|field| (parameter, field.name)));
    }
    let reason = format!("`{}` opens what `{}` closes", login.name(), logout.name());
    Some(suggestion("auth-flow", Some(login.name()), &parameters, reason))
}
