//! Reads from a reply which tools must be called first: "no project is set, call set_project first".

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use wallfacer_text::lexicon::{Action, does, words};

/// The part of a reply that is read.
const MAX_READ: usize = 2_000;
/// A longer answer to a call that succeeded is content, and speaks of other things.
const MAX_CONTENT: usize = 600;
/// Tools that are tried first for one that is not ready.
const MAX_HINTS: usize = 4;
/// Letters in which words of the same stem agree: "connected" and "connect", "initialised" and "initialize".
const STEM: usize = 5;
/// The text of a reply where it says that the server is not ready for the call; of one that succeeded only where it is
/// short.
pub fn unready(text: &str, completed: bool) -> Option<String> {
    static SAYS: LazyLock<Regex> = LazyLock::new(|| {
        let state = "set(?: up)?|selected|chosen|open(?:ed)?|loaded|initiali[sz]ed|connected|configured|started|\
                     logged in|authenticated|active|activated|ready|created|registered|indexed|running";
        let patterns = [
            r"\bfirst\b".to_owned(),
            r"\bbefore (?:you|it|this|that|us|call|any|run|search|read)".to_owned(),
            format!(r"\b(?:not|never) (?:yet )?(?:been )?(?:{state})\b"),
            format!(r"\bno (?:\w+ ){{1,4}}(?:is |are |was |has been )?(?:{state})\b"),
            r"\bno (?:active|current|open|selected|loaded)\b".to_owned(),
            r"\buninitiali[sz]ed\b".to_owned(),
        ];
        Regex::new(&format!("(?i){}", patterns.join("|"))).expect("a fixed pattern")
    });
    if completed && text.len() > MAX_CONTENT {
        return None;
    }
    let text: String = text.chars().take(MAX_READ).collect();
    SAYS.is_match(&text).then_some(text)
}

/// Tools that such a reply names, then those that prepare something it speaks of; not the one that it came from.
pub fn hints<'a>(text: &str, own: &str, tools: impl Iterator<Item = &'a str>) -> Vec<Hint<'a>> {
    let spoken: BTreeSet<String> = words(text).iter().map(|word| stem(word)).collect();
    let hint = |tool: &'a str| {
        let parts = words(tool);
        let prepares = does(tool, Action::Prepares).is_some();
        let shared = parts.iter().filter(|part| spoken.contains(&stem(part))).count();
        let named = is_named(text, tool);
        (named || prepares && shared > 0).then_some((Hint { tool, named }, shared))
    };
    let mut found: Vec<(Hint<'a>, usize)> = tools.filter(|tool| *tool != own).filter_map(hint).collect();
    found.sort_by_key(|(hint, shared)| (!hint.named, std::cmp::Reverse(*shared)));
    found.into_iter().take(MAX_HINTS).map(|(hint, _)| hint).collect()
}

/// A tool that may have to come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint<'a> {
    pub tool: &'a str,
    /// Whether its name stands in the reply.
    pub named: bool,
}

/// Whether a name stands in a text as a word of its own.
fn is_named(text: &str, name: &str) -> bool {
    let of_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    text.match_indices(name).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + name.len()..]);
        !before.ends_with(of_word) && !after.starts_with(of_word)
    })
}

fn stem(word: &str) -> String {
    word.to_lowercase().chars().take(STEM).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 5] =
        ["set_project_path", "search_code", "find_files", "startSession", "list_open_pages"];

    fn told(text: &str) -> Vec<&'static str> {
        let Some(text) = unready(text, false) else { return Vec::new() };
        hints(&text, "search_code", TOOLS.into_iter()).into_iter().map(|hint| hint.tool).collect()
    }

    #[test]
    fn a_tool_that_is_named_comes_before_one_that_is_meant() {
        let text = "Error: project path not set. Please use set_project_path to set a directory first.";
        assert_eq!(told(text), ["set_project_path"]);
        assert_eq!(told("No session is active."), ["startSession"]);
        assert_eq!(told("The session was not initialised; see list_open_pages")[0], "list_open_pages");
    }

    #[test]
    fn a_refusal_of_another_sort_asks_for_nothing() {
        for text in ["there is no such page", "path is outside the project", "`pattern` must be a string", ""]
        {
            assert!(told(text).is_empty(), "{text}");
        }
        assert!(told("the first argument of search_code is wrong").is_empty());
    }

    #[test]
    fn content_that_is_long_is_no_refusal() {
        let text = format!("call set_project_path first {}", "x".repeat(MAX_CONTENT));
        assert!(unready(&text, true).is_none());
        assert!(unready(&text, false).is_some());
    }
}
