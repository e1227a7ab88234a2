//! Cuts a string of a rule file into literal text and `{{placeholders}}`. A string is cut once, when the file is read;
//! filling a placeholder puts a part in its place and never looks at the result again, so that no inserted value can
//! become a placeholder or syntax.

use std::fmt;

/// Placeholders with a dot that are filled while a rule runs; any other dotted name is ordinary text.
const DOTTED: [&str; 2] = ["steps", "canary"];
/// A longer name is none; so a text full of braces is still read in one go.
const MAX_NAME_BYTES: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Written by the author of the rules, or given as a parameter.
    Literal(String),
    /// Named by the server (a tool, a field): never syntax, wherever it is put.
    Foreign(String),
    Placeholder(String),
}

/// `{{steps.…` without its `}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unclosed(pub(crate) String);

impl Text {
    pub(crate) fn literal(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Literal(text.into())] }
    }

    /// `{{name}}` becomes a placeholder, `{{{{` the two braces themselves, anything else stays as it is.
    pub(crate) fn parse(raw: &str) -> Result<Self, Unclosed> {
        let mut text = Self::default();
        let mut rest = raw;
        while let Some(start) = rest.find("{{") {
            text.push_literal(&rest[..start]);
            let after = &rest[start + 2..];
            if let Some(escaped) = after.strip_prefix("{{") {
                text.push_literal("{{");
                rest = escaped;
                continue;
            }
            if let Some(inner) = placeholder(after) {
                text.parts.push(Part::Placeholder(inner.trim().to_owned()));
                rest = &after[inner.len() + 2..];
            } else if is_reference(after.trim_start()) {
                return Err(Unclosed(after.to_owned()));
            } else {
                // Only one brace is taken, for `{{{name}}` is a brace and a placeholder.
                text.push_literal("{");
                rest = &rest[start + 1..];
            }
        }
        text.push_literal(rest);
        Ok(text)
    }

    pub(crate) fn push_literal(&mut self, more: &str) {
        match self.parts.last_mut() {
            _ if more.is_empty() => {}
            Some(Part::Literal(literal)) => literal.push_str(more),
            _ => self.parts.push(Part::Literal(more.to_owned())),
        }
    }

    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Placeholder(name) => Some(name.as_str()),
            Part::Literal(_) | Part::Foreign(_) => None,
        })
    }

    /// The name, if the string is one placeholder and nothing else.
    pub(crate) fn whole(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Placeholder(name)] => Some(name),
            _ => None,
        }
    }

    /// The string itself, if nothing in it is left open.
    pub(crate) fn closed(&self) -> Option<String> {
        self.render(|foreign| foreign.to_owned())
    }

    /// The string with what the server named passed through `quote`, if nothing in it is left open.
    pub(crate) fn render(&self, quote: impl Fn(&str) -> String) -> Option<String> {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Literal(literal) => Some(literal.clone()),
                Part::Foreign(foreign) => Some(quote(foreign)),
                Part::Placeholder(_) => None,
            })
            .collect()
    }
}

/// As it would have to be written in a file.
impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut literal = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) | Part::Foreign(text) => literal.push_str(text),
                Part::Placeholder(name) => {
                    write!(formatter, "{}{{{{{name}}}}}", literal.replace("{{", "{{{{"))?;
                    literal.clear();
                }
            }
        }
        formatter.write_str(&literal.replace("{{", "{{{{"))
    }
}

/// What stands before `}}`, blanks included, if it is the name of a placeholder. `after` is what follows `{{`.
pub(crate) fn placeholder(after: &str) -> Option<&str> {
    let near = &after.as_bytes()[..after.len().min(MAX_NAME_BYTES)];
    let end = near.iter().position(|byte| matches!(byte, b'{' | b'}'))?;
    let inner = &after[..end];
    let is_name = is_word(inner.trim()) || is_reference(inner.trim());
    (is_name && after[end..].starts_with("}}")).then_some(inner)
}

/// Letters, digits and `_`.
pub(crate) fn is_word(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// `steps.` or `canary.` with anything behind it that holds no brace.
fn is_reference(name: &str) -> bool {
    let behind = |first: &&str| name.strip_prefix(*first).and_then(|rest| rest.strip_prefix('.'));
    DOTTED.iter().find_map(behind).is_some_and(|rest| !rest.is_empty() && !rest.contains(['{', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(raw: &str) -> Vec<Part> {
        Text::parse(raw).unwrap().parts
    }

    #[test]
    fn a_name_in_braces_is_a_placeholder() {
        assert_eq!(
            parts("a {{ x }}b"),
            [Part::Literal("a ".into()), Part::Placeholder("x".into()), Part::Literal("b".into())]
        );
        assert_eq!(parts("{{steps.a.response[0]}}"), [Part::Placeholder("steps.a.response[0]".into())]);
    }

    #[test]
    fn four_braces_are_two_literal_ones() {
        assert_eq!(parts("{{{{config}}"), [Part::Literal("{{config}}".into())]);
    }

    #[test]
    fn braces_around_anything_but_a_name_are_text() {
        for raw in ["{{7*7}}", "{{config.items()}}", "{{", "{ {x} }", "{{x", "{{}}"] {
            assert_eq!(parts(raw), [Part::Literal(raw.into())], "{raw}");
        }
    }

    #[test]
    fn a_step_reference_must_be_closed() {
        assert_eq!(Text::parse("hello {{steps.a"), Err(Unclosed("steps.a".into())));
    }

    #[test]
    fn what_the_server_named_is_never_a_placeholder() {
        let text = Text { parts: vec![Part::Foreign("{{steps.a.b}}".into())] };
        assert_eq!(text.placeholders().count(), 0);
        assert_eq!(Text::parse(&text.to_string()).unwrap().closed(), text.closed());
    }
}
