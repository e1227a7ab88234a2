//! Shows suggestions: a table for people, TOML to paste, JSON for programs. Names come from the server: a line break in
//! one must not end a comment.

use super::Suggestion;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use wallfacer_text::{acts, shown};

/// For people: what fits and why, then what to paste and how to run it.
pub fn human(suggestions: &[Suggestion]) -> String {
    let width = suggestions.iter().map(|suggestion| suggestion.pack.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Suggestion { pack, reason, parameters, .. } in suggestions {
        line(&mut text, &format!("{pack:width$}  {}", shown(reason)));
        for (name, value) in parameters {
            line(&mut text, &format!("{:width$}    {name} = {}", "", shown(value)));
        }
    }
    let pasted = toml(suggestions);
    if !pasted.is_empty() {
        line(&mut text, "\nFor wallfacer.toml:\n");
        text.push_str(&pasted);
    }
    let packs: Vec<String> = by_pack(suggestions).keys().map(|pack| format!("--pack {pack}")).collect();
    if !packs.is_empty() {
        line(&mut text, &format!("\nThen, with the same server: wallfacer property {}", packs.join(" ")));
    }
    text
}

/// One table per pack that has parameters. A pack has one set of them, so further tools are told in comments.
pub fn toml(suggestions: &[Suggestion]) -> String {
    let mut text = String::new();
    for (pack, fitting) in by_pack(suggestions) {
        let mut fitting = fitting.into_iter().filter(|suggestion| !suggestion.parameters.is_empty());
        let Some(first) = fitting.next() else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        line(&mut text, &format!("# {}", shown(&first.reason)));
        line(&mut text, &format!("[packs.{pack}]"));
        let mut parameters = first.parameters.clone();
        // What another tool fits that the first does not, as one that writes beside one that reads, goes along.
        for other in fitting {
            let is_addition = other
                .parameters
                .iter()
                .all(|(name, value)| parameters.get(name).is_none_or(|known| known == value));
            if is_addition {
                parameters.extend(other.parameters.clone());
            } else {
                line(&mut text, &format!("# also fits: {}", shown(&other.reason)));
            }
        }
        for (name, value) in parameters {
            line(&mut text, &format!("{name} = {}", quoted(&value)));
        }
    }
    text
}

pub fn json(suggestions: &[Suggestion]) -> String {
    let entry = |suggestion: &Suggestion| {
        json!({
            "pack": suggestion.pack,
            "witness_tool": suggestion.tool,
            "param_overrides": suggestion.parameters,
            // The names of earlier versions.
            "tool": suggestion.tool,
            "parameters": suggestion.parameters,
            "reason": suggestion.reason,
        })
    };
    let entries: Vec<_> = suggestions.iter().map(entry).collect();
    wallfacer_text::json(&format!("{:#}\n", json!({ "suggestions": entries })))
}

fn by_pack(suggestions: &[Suggestion]) -> BTreeMap<&str, Vec<&Suggestion>> {
    let mut packs: BTreeMap<&str, Vec<&Suggestion>> = BTreeMap::new();
    for suggestion in suggestions {
        packs.entry(&suggestion.pack).or_default().push(suggestion);
    }
    packs
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// A basic string of TOML.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            // `${NAME}` in a configuration is replaced by the environment; `$$` is a dollar.
            '$' => text.push_str("$$"),
            // `##[` is a command of a CI system wherever it stands in a line.
            letter if acts(letter) || letter == '#' => {
                let _infallible = write!(text, "\\U{:08X}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}
