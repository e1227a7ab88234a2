//! What the names and schemas of tools say about the packs that fit them.

use super::Suggestion;
use super::pairs;
use super::words::{has_any, has_phrase, words};
use crate::tool::{Field, ToolShape};

pub(super) fn all(tools: &[ToolShape]) -> Vec<Suggestion> {
    let mut found = everywhere(tools);
    found.extend(witnesses(tools));
    for tool in tools {
        let about_tool = [identity, paths, queries, commands, prompts, pages, quotas, roles];
        found.extend(about_tool.iter().filter_map(|heuristic| heuristic(tool)));
    }
    found.extend(pairs::life_cycles(tools));
    found.extend(pairs::sessions(tools));
    found
}

pub(super) fn suggestion(
    pack: &str,
    tool: Option<&str>,
    parameters: &[(&str, &str)],
    reason: impl Into<String>,
) -> Suggestion {
    Suggestion {
        pack: pack.to_owned(),
        tool: tool.map(str::to_owned),
        parameters: parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        reason: reason.into(),
    }
}

/// What needs no parameters.
fn everywhere(tools: &[ToolShape]) -> Vec<Suggestion> {
    let mut found = vec![suggestion("error-shape", None, &[], "every server answers with errors at times")];
    if tools.is_empty() {
        return found;
    }
    for (pack, reason) in [
        ("error-quality", "an agent has to act on the errors of every tool"),
        ("mcp-spec-conformance", "every answer has a form that the specification gives"),
        ("context-poisoning", "descriptions and answers go into a model's context"),
        ("tool-quality", "an agent chooses tools by their names, descriptions and schemas"),
    ] {
        found.push(suggestion(pack, None, &[], reason));
    }
    let is_annotated = |tool: &ToolShape| tool.definition()["annotations"].is_object();
    if let Some(tool) = tools.iter().find(|tool| is_annotated(tool)) {
        let reason = format!("the server annotates its tools, as in `{}`", tool.name());
        found.push(suggestion("tool-annotations", None, &[], reason.clone()));
        found.push(suggestion("effects", None, &[], reason));
    }
    if let Some(tool) = tools.iter().find(|tool| tool.hint("idempotentHint") == Some(true)) {
        let reason = format!("`{}` says that it is idempotent", tool.name());
        found.push(suggestion("idempotency", None, &[], reason));
    }
    if let Some(tool) = tools.iter().find(|tool| tool.hint("readOnlyHint") == Some(true)) {
        let reason = format!("`{}` says that it only reads", tool.name());
        found.push(suggestion("determinism", None, &[], reason));
    }
    found
}

/// Any tool with a text, and any with a list, can stand for all of them.
fn witnesses(tools: &[ToolShape]) -> Vec<Suggestion> {
    let text = witness(tools, "string");
    let list = witness(tools, "array");
    let mut found = Vec::new();
    if let Some((tool, field)) = text {
        let reason = format!("`{tool}` takes text in `{field}`");
        for pack in ["secrets-leakage", "unicode"] {
            let parameters = [("witness_tool", tool), ("witness_field", field)];
            found.push(suggestion(pack, Some(tool), &parameters, reason.clone()));
        }
    }
    let mut parameters = Vec::new();
    let mut reasons = Vec::new();
    if let Some((tool, field)) = text {
        parameters.extend([("string_witness_tool", tool), ("string_witness_field", field)]);
        reasons.push(format!("`{tool}` takes text in `{field}`"));
    }
    if let Some((tool, field)) = list {
        parameters.extend([("array_witness_tool", tool), ("array_witness_field", field)]);
        reasons.push(format!("`{tool}` takes a list in `{field}`"));
    }
    if let Some((tool, _)) = text.or(list) {
        found.push(suggestion("large-payload", Some(tool), &parameters, reasons.join(", and ")));
    }
    found
}

/// The first tool that takes a value of this type. One whose argument is not bound to a form says more.
fn witness<'t>(tools: &'t [ToolShape], kind: &str) -> Option<(&'t str, &'t str)> {
    let first = |is_free: bool| {
        tools.iter().find_map(|tool| {
            let mut fields = tool.fields();
            let field = fields.find(|field| field.accepts(kind) && (!is_free || is_unbound(field)))?;
            Some((tool.name(), field.name))
        })
    };
    first(true).or_else(|| first(false))
}

fn is_unbound(field: &Field<'_>) -> bool {
    ["enum", "const", "pattern", "format"].iter().all(|key| field.schema[*key].is_null())
}

/// The first argument that takes text and is called like one of these.
fn field_named<'t>(tool: &'t ToolShape, names: &[&[&str]]) -> Option<&'t str> {
    let is_named = |field: &Field<'_>| {
        let words = words(field.name);
        names.iter().any(|name| words.len() == name.len() && has_phrase(&words, name))
    };
    tool.fields().find(|field| takes_text(field) && is_named(field)).map(|field| field.name)
}

/// A schema that names no type allows text, too.
fn takes_text(field: &Field<'_>) -> bool {
    let names_type = ["type", "anyOf", "oneOf"].iter().any(|key| !field.schema[*key].is_null());
    field.accepts("string") || !names_type
}

fn text_field(tool: &ToolShape) -> Option<&str> {
    tool.fields().find(|field| field.accepts("string")).map(|field| field.name)
}

fn identity(tool: &ToolShape) -> Option<Suggestion> {
    let name = words(tool.name());
    let phrases: [&[&str]; 9] = [
        &["whoami"],
        &["who", "am", "i"],
        &["currentuser"],
        &["current", "user"],
        &["get", "user"],
        &["userinfo"],
        &["user", "info"],
        &["get", "me"],
        &["user", "me"],
    ];
    let is_me = name.len() == 1 && name[0] == "me";
    let fits = is_me || phrases.iter().any(|phrase| has_phrase(&name, phrase));
    // With arguments it is asked about somebody, without it tells who asks.
    let (parameter, what) = match tool.fields().next() {
        Some(_) if has_phrase(&name, &["get", "user"]) => ("get_user_tool", "shows a user"),
        _ => ("whoami_tool", "tells who is calling"),
    };
    let reason = || format!("`{}` {what}", tool.name());
    fits.then(|| suggestion("auth", Some(tool.name()), &[(parameter, tool.name())], reason()))
}

fn paths(tool: &ToolShape) -> Option<Suggestion> {
    let names: [&[&str]; 8] = [
        &["path"],
        &["file", "path"],
        &["filepath"],
        &["filename"],
        &["file", "name"],
        &["file"],
        &["directory"],
        &["dir"],
    ];
    let name = words(tool.name());
    let (field, reason) = match field_named(tool, &names) {
        Some(field) => (field, format!("`{}` takes a path in `{field}`", tool.name())),
        None => {
            let field = stored_by(tool, &name)?;
            (field, format!("`{}` may make a path of `{field}`", tool.name()))
        }
    };
    let mut parameters = vec![("path_field", field)];
    let writes = has_any(&name, &["write", "save", "create", "put", "edit", "append", "upload"]);
    // One that is named for neither may do either.
    let reads = has_any(&name, &["read", "get", "open", "load", "cat", "list", "search", "show", "view"]);
    if reads || !writes {
        parameters.push(("read_file_tool", tool.name()));
    }
    if writes || !reads {
        parameters.push(("write_file_tool", tool.name()));
    }
    Some(suggestion("path-traversal", Some(tool.name()), &parameters, reason))
}

/// The argument by which a tool finds what is commonly kept as a file, such as a note by its name.
fn stored_by<'t>(tool: &'t ToolShape, name: &[String]) -> Option<&'t str> {
    const KEPT: [&str; 18] = [
        "article",
        "attachment",
        "config",
        "doc",
        "document",
        "draft",
        "file",
        "image",
        "log",
        "memory",
        "note",
        "notebook",
        "page",
        "post",
        "recipe",
        "report",
        "snippet",
        "template",
    ];
    const TOUCHED: [&str; 14] = [
        "read", "get", "open", "load", "cat", "show", "view", "write", "save", "create", "edit", "append",
        "delete", "remove",
    ];
    if !has_any(name, &KEPT) || !has_any(name, &TOUCHED) {
        return None;
    }
    let kept = name.iter().find(|word| KEPT.contains(&word.as_str()))?;
    let own: [&[&str]; 3] = [&[kept, "name"], &[kept, "title"], &[kept]];
    field_named(tool, &[&["name"], &["title"], &["slug"], &["key"]]).or_else(|| field_named(tool, &own))
}

fn queries(tool: &ToolShape) -> Option<Suggestion> {
    let field = field_named(tool, &[&["query"], &["sql"], &["stmt"], &["statement"], &["sql", "query"]])?;
    let reason = format!("`{}` takes a query in `{field}`", tool.name());
    let parameters = [("query_tool", tool.name()), ("query_field", field)];
    Some(suggestion("injection-sql", Some(tool.name()), &parameters, reason))
}

fn commands(tool: &ToolShape) -> Option<Suggestion> {
    let field = field_named(tool, &[&["command"], &["cmd"], &["shell"], &["exec"]]);
    let is_named = has_any(&words(tool.name()), &["exec", "execute", "shell", "subprocess"]);
    let (field, reason) = match (field, is_named) {
        (Some(field), _) => (field, format!("`{}` takes a command in `{field}`", tool.name())),
        (None, true) => (text_field(tool)?, format!("`{}` is named for running things", tool.name())),
        (None, false) => {
            let field = handed_to_program(tool)?;
            (field, format!("`{}` may hand `{field}` to a program", tool.name()))
        }
    };
    let parameters = [("shell_tool", tool.name()), ("shell_field", field)];
    Some(suggestion("injection-shell", Some(tool.name()), &parameters, reason))
}

/// The argument that a tool named like a program of the command line is likely to hand to that program.
fn handed_to_program(tool: &ToolShape) -> Option<&str> {
    const PROGRAMS: [&str; 24] = [
        "adb",
        "convert",
        "curl",
        "dig",
        "docker",
        "ffmpeg",
        "git",
        "grep",
        "kubectl",
        "mtr",
        "netcat",
        "nmap",
        "nslookup",
        "openssl",
        "pandoc",
        "ping",
        "portscan",
        "rsync",
        "scp",
        "ssh",
        "tracepath",
        "traceroute",
        "wget",
        "whois",
    ];
    let aims: [&[&str]; 8] = [
        &["host"],
        &["hostname"],
        &["domain"],
        &["ip"],
        &["address"],
        &["target"],
        &["server"],
        &["ip", "address"],
    ];
    let is_program = has_any(&words(tool.name()), &PROGRAMS);
    is_program.then(|| field_named(tool, &aims).or_else(|| text_field(tool)))?
}

fn prompts(tool: &ToolShape) -> Option<Suggestion> {
    let field = field_named(tool, &[&["prompt"], &["messages"], &["chat"], &["completion"]]);
    let description = words_of_text(tool.description());
    let speaks_of_models = has_any(&description, &["llm", "llms", "completion", "completions"])
        || has_phrase(&description, &["language", "model"])
        || has_phrase(&description, &["language", "models"]);
    let (field, reason) = match field {
        Some(field) => (field, format!("`{}` takes a prompt in `{field}`", tool.name())),
        None if speaks_of_models => {
            (text_field(tool)?, format!("`{}` speaks of a language model", tool.name()))
        }
        None => return None,
    };
    let parameters = [("llm_tool", tool.name()), ("prompt_field", field)];
    Some(suggestion("prompt-injection", Some(tool.name()), &parameters, reason))
}

/// The beginning of a description: what a tool is, is said there.
fn words_of_text(text: &str) -> Vec<String> {
    const MAX_WORDS: usize = 1_000;
    text.split_whitespace().take(MAX_WORDS).flat_map(words).collect()
}

fn pages(tool: &ToolShape) -> Option<Suggestion> {
    let mut fields = tool.fields();
    let limit = fields.find(|field| {
        (field.accepts("integer") || field.accepts("number"))
            && matches!(words(field.name).join("_").as_str(), "limit" | "page_size" | "first")
    })?;
    let has_cursor = tool.fields().any(|field| has_any(&words(field.name), &["cursor"]));
    let parameters = [("paginate_tool", tool.name()), ("limit_field", limit.name)];
    let reason = format!("`{}` lists in pages, by a cursor and `{}`", tool.name(), limit.name);
    // Rules read where items lie, which only a declared output tells.
    let is_readable = tool.definition()["outputSchema"]["properties"]["items"].is_object();
    (has_cursor && is_readable).then(|| suggestion("pagination", Some(tool.name()), &parameters, reason))
}

fn quotas(tool: &ToolShape) -> Option<Suggestion> {
    let name = words(tool.name());
    let fits = has_any(&name, &["quota", "ratelimit"]) || has_phrase(&name, &["rate", "limit"]);
    let output = &tool.definition()["outputSchema"]["properties"];
    // Rules read these two members.
    let is_readable = output["limit"].is_object() && output["remaining"].is_object();
    let parameters = [("quota_tool", tool.name())];
    let reason = || format!("`{}` tells a quota", tool.name());
    (fits && is_readable).then(|| suggestion("rate-limit", Some(tool.name()), &parameters, reason()))
}

fn roles(tool: &ToolShape) -> Option<Suggestion> {
    let field = field_named(tool, &[&["role"], &["user", "role"]])?;
    let is_list = has_any(&words(tool.name()), &["list", "search", "get"]);
    let witness = if is_list { "list_resources_tool" } else { "admin_witness_tool" };
    let reason = format!("`{}` takes the role to act in, in `{field}`", tool.name());
    Some(suggestion(
        "authorization",
        Some(tool.name()),
        &[(witness, tool.name()), ("role_field", field)],
        reason,
    ))
}
