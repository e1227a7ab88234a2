//! Puts names that the server chose into the text of a path or an expression, so that they can only be names there.

use crate::text::{Part, Text};
use std::fmt::Write;

/// A name after a dot becomes `['name']`, a name inside quotes is escaped; anywhere else it would be syntax.
pub(super) fn into_path(text: &Text) -> Result<String, String> {
    quoted(text, true)
}

pub(super) fn into_expression(text: &Text) -> Result<String, String> {
    quoted(text, false)
}

fn quoted(text: &Text, is_path: bool) -> Result<String, String> {
    let mut page = String::new();
    let mut open = None;
    for part in &text.parts {
        match part {
            Part::Literal(literal) => {
                open = quote_after(literal, open);
                page.push_str(literal);
            }
            Part::Foreign(name) if open.is_some() => page.push_str(&escaped(name)),
            Part::Foreign(name) if is_path && page.ends_with('.') && !page.ends_with("..") => {
                page.pop();
                let _ = write!(page, "['{}']", escaped(name));
            }
            Part::Foreign(_) if is_path => {
                return Err("a placeholder stands after a dot or in quotes, as in ['{{field}}']".into());
            }
            Part::Foreign(_) => return Err("a placeholder stands in quotes, as in input['{{field}}']".into()),
            Part::Placeholder(name) => return Err(format!("`{{{{{name}}}}}` cannot stand here")),
        }
    }
    Ok(page)
}

/// The quote that is open at the end of the text.
fn quote_after(literal: &str, mut open: Option<char>) -> Option<char> {
    let mut letters = literal.chars();
    while let Some(letter) = letters.next() {
        match (open, letter) {
            (Some(_), '\\') => {
                letters.next();
            }
            (Some(quote), letter) if letter == quote => open = None,
            (None, '\'' | '"') => open = Some(letter),
            _ => {}
        }
    }
    open
}

/// Codes instead of the characters themselves: both quotes and every control character are harmless so,
/// and paths and expressions read `\uXXXX` alike.
fn escaped(name: &str) -> String {
    let mut page = String::new();
    for letter in name.chars() {
        match letter {
            '\'' | '"' | '\\' | '\0'..='\u{1f}' => {
                let _ = write!(page, "\\u{:04x}", u32::from(letter));
            }
            _ => page.push(letter),
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(before: &str, name: &str, after: &str) -> Text {
        Text {
            parts: vec![
                Part::Literal(before.into()),
                Part::Foreign(name.into()),
                Part::Literal(after.into()),
            ],
        }
    }

    #[test]
    fn a_name_of_the_server_stays_a_name_in_a_path() {
        assert_eq!(into_path(&text("$.input.", "a']..*", ".b")).unwrap(), "$.input['a\\u0027]..*'].b");
        assert_eq!(into_path(&text("$.input['", "x\"\n", "']")).unwrap(), "$.input['x\\u0022\\u000a']");
        assert!(into_path(&text("$", ".response", "")).is_err());
        assert!(into_path(&text("$.input.a", "b", "")).is_err());
    }

    #[test]
    fn a_name_of_the_server_stays_text_in_an_expression() {
        assert_eq!(
            into_expression(&text("input['", "'] || true || ['", "'] == 1")).unwrap(),
            "input['\\u0027] || true || [\\u0027'] == 1"
        );
        assert!(into_expression(&text("input.", "x", " == 1")).is_err());
    }
}
