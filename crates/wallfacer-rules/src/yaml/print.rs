//! Prints a tree as YAML text that reads as the same tree.

use super::tree::{Data, Node};
use crate::text::Text;
use std::fmt::Write;

pub(crate) fn print(node: &Node) -> String {
    let mut page = String::new();
    block(node, 0, &mut page);
    page
}

fn block(node: &Node, indent: usize, page: &mut String) {
    let margin = "  ".repeat(indent);
    match &node.data {
        Data::List(items) if !items.is_empty() => {
            for item in items {
                page.push_str(&margin);
                page.push('-');
                below(item, indent, page);
            }
        }
        Data::Map(entries) if !entries.is_empty() => {
            for entry in entries {
                page.push_str(&margin);
                page.push_str(&key(&entry.key.text));
                page.push(':');
                below(&entry.value, indent, page);
            }
        }
        _ => {
            page.push_str(&margin);
            page.push_str(&scalar(node));
            page.push('\n');
        }
    }
}

fn below(node: &Node, indent: usize, page: &mut String) {
    let is_nested = match &node.data {
        Data::List(items) => !items.is_empty(),
        Data::Map(entries) => !entries.is_empty(),
        _ => false,
    };
    if is_nested {
        page.push('\n');
        block(node, indent + 1, page);
    } else {
        page.push(' ');
        page.push_str(&scalar(node));
        page.push('\n');
    }
}

fn scalar(node: &Node) -> String {
    match &node.data {
        Data::Null => "null".into(),
        Data::Bool(truth) => truth.to_string(),
        Data::Number(number) => number.to_string(),
        Data::Text(text) => quoted(&text.to_string()),
        Data::Unquoted(name) => format!("{{{{{name}}}}}"),
        Data::List(_) => "[]".into(),
        Data::Map(_) => "{}".into(),
    }
}

/// Keys of the language are words; quotes around them would only be noise.
fn key(text: &Text) -> String {
    let written = text.to_string();
    let is_word = written.starts_with(|first: char| first.is_ascii_lowercase())
        && written.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
        && !matches!(super::resolve(&written), Data::Null | Data::Bool(_) | Data::Number(_));
    if is_word { written } else { quoted(&written) }
}

fn quoted(text: &str) -> String {
    let mut page = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => page.push_str("\\\""),
            '\\' => page.push_str("\\\\"),
            '\n' => page.push_str("\\n"),
            '\t' => page.push_str("\\t"),
            // What YAML does not count as printable, and what an editor might change on its own.
            '\u{a0}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(page, "\\u{:04x}", u32::from(letter));
            }
            letter if wallfacer_text::acts(letter) => {
                let _ = write!(page, "\\U{:08x}", u32::from(letter));
            }
            _ => page.push(letter),
        }
    }
    page.push('"');
    page
}
