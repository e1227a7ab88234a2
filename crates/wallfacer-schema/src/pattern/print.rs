//! Prints an [`Ast`] as text for the engine. Classes are written as plain ranges, so that the engine's own idea of `\d`
//! or nested brackets never matters.

use super::{ast::Ast, class::Class};
use std::fmt::Write;

pub(super) fn print(ast: &Ast) -> String {
    let mut text = String::new();
    put(ast, &mut text);
    text
}

fn put(ast: &Ast, text: &mut String) {
    match ast {
        Ast::Empty => text.push_str("(?:)"),
        Ast::Literal(character) => put_character(*character, text),
        Ast::Class(class) => put_class(class, text),
        Ast::Concat(parts) => parts.iter().for_each(|part| put(part, text)),
        Ast::Alternate(branches) => {
            text.push_str("(?:");
            for (index, branch) in branches.iter().enumerate() {
                if index > 0 {
                    text.push('|');
                }
                put(branch, text);
            }
            text.push(')');
        }
        Ast::Repeat { inner, min, max, greedy } => {
            wrap("(?:", inner, text);
            let lazy = if *greedy { "" } else { "?" };
            let _ = match (min, max) {
                (0, None) => write!(text, "*{lazy}"),
                (1, None) => write!(text, "+{lazy}"),
                (min, None) => write!(text, "{{{min},}}{lazy}"),
                (min, Some(max)) => write!(text, "{{{min},{max}}}{lazy}"),
            };
        }
        Ast::Capture { inner, .. } => wrap("(", inner, text),
        Ast::BackReference(number) => {
            let _ = write!(text, "(?:\\{number})");
        }
        Ast::Start => text.push_str("\\A"),
        Ast::End => text.push_str("\\z"),
        // The engine's own boundary knows letters of all scripts; that of ECMA-262 only ASCII.
        Ast::WordBoundary { negated: false } => {
            text.push_str(r"(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))");
        }
        Ast::WordBoundary { negated: true } => {
            text.push_str(r"(?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))");
        }
        Ast::Look { inner, ahead, negated } => {
            let opening = match (ahead, negated) {
                (true, false) => "(?=",
                (true, true) => "(?!",
                (false, false) => "(?<=",
                (false, true) => "(?<!",
            };
            wrap(opening, inner, text);
        }
    }
}

fn wrap(opening: &str, inner: &Ast, text: &mut String) {
    text.push_str(opening);
    put(inner, text);
    text.push(')');
}

fn put_class(class: &Class, text: &mut String) {
    if class.is_empty() {
        // Nothing matches the empty class, so say "not any character".
        text.push_str(r"[^\x{0}-\x{10FFFF}]");
        return;
    }
    text.push('[');
    for &(low, high) in class.ranges() {
        let _ = write!(text, "\\x{{{:X}}}-\\x{{{:X}}}", low as u32, high as u32);
    }
    text.push(']');
}

fn put_character(character: char, text: &mut String) {
    if character.is_ascii_alphanumeric() {
        text.push(character);
    } else {
        let _ = write!(text, "\\x{{{:X}}}", character as u32);
    }
}
