//! Compiles a `pattern` into a [`Pattern`] that matches by ECMA-262 rules and writes strings that match.

mod ast;
mod class;
mod parse;
mod print;
mod write;

use crate::choices::Choices;
use ast::Ast;
use fancy_regex::Regex;

/// Steps back that the engine may take for one string; enough for real patterns, little for catastrophic ones.
const BACKTRACKS: usize = 20_000;
/// Size of a compiled expression, in bytes: `[\p{L} ]{1,100}` needs megabytes, but many such shall not fill memory.
const LARGE_ENGINE: usize = 8 << 20;
const SMALL_ENGINE: usize = 128 << 10;
/// So many expressions of a document may be large.
const LARGE_ENGINES: usize = 16;
/// And so many there may be in all.
const ENGINES: usize = 2_000;
/// What an engine may remember while it runs, in bytes.
const ENGINE_CACHE: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct Pattern {
    pub text: String,
    compiled: Result<(Ast, Regex), String>,
}

impl Pattern {
    /// `earlier` is the number of expressions that the document had before this one.
    pub(crate) fn parse(text: &str, earlier: usize) -> Pattern {
        let compiled = match earlier {
            0..LARGE_ENGINES => compile(text, LARGE_ENGINE),
            LARGE_ENGINES..ENGINES => compile(text, SMALL_ENGINE),
            _ => Err(format!("the document has more than {ENGINES} patterns")),
        };
        Pattern { text: text.to_owned(), compiled }
    }

    /// Why this pattern cannot be used, if so.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.compiled.as_ref().err().map(String::as_str)
    }

    /// Whether the pattern is found in the string; nothing when that cannot be told in bounded time.
    pub(crate) fn matches(&self, string: &str) -> Option<bool> {
        let (_, engine) = self.compiled.as_ref().ok()?;
        engine.is_match(string).ok()
    }

    /// A string made along the pattern, about `length` characters long. Look-around is not steered:
    /// the caller asks [`Pattern::matches`] and tries again.
    pub(crate) fn write(&self, choices: &mut Choices, length: usize) -> Option<String> {
        let (ast, _) = self.compiled.as_ref().ok()?;
        write::write(ast, choices, length)
    }

    /// The fewest characters that a match has, look-around aside.
    pub(crate) fn shortest(&self) -> usize {
        self.compiled.as_ref().map_or(0, |(ast, _)| ast.shortest())
    }

    /// Whether a valid string can be made longer at its end without touching what matches.
    pub(crate) fn is_open_at_end(&self) -> bool {
        self.compiled.as_ref().is_ok_and(|(ast, _)| !ast.has_end_anchor())
    }
}

/// Whether the text is an ECMA-262 regular expression; this is what `format: regex` asks.
pub(crate) fn is_regex(text: &str) -> bool {
    parse::parse(text).is_ok()
}

fn compile(text: &str, size: usize) -> Result<(Ast, Regex), String> {
    let ast = parse::parse(text)?;
    let engine = fancy_regex::RegexBuilder::new(&print::print(&ast))
        .backtrack_limit(BACKTRACKS)
        .delegate_size_limit(size)
        .delegate_dfa_size_limit(ENGINE_CACHE)
        .build()
        .map_err(|error| error.to_string())?;
    Ok((ast, engine))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, string: &str) -> bool {
        let pattern = Pattern::parse(pattern, 0);
        assert_eq!(pattern.fault(), None, "{}", pattern.text);
        pattern.matches(string).expect("decided")
    }

    #[test]
    fn classes_are_those_of_ecma_262() {
        assert!(!matches(r"^\d$", "\u{7c1}"));
        assert!(!matches(r"^\w$", "é"));
        assert!(matches(r"^\s$", "\u{feff}"));
        assert!(matches(r"^\S$", "é"));
        assert!(matches(r"^\cC$", "\u{3}"));
        assert!(matches(r"^\p{Letter}+$", "aé字"));
        assert!(matches(r"^[^\W\d_]$", "a"));
        assert!(matches("^[[&&]$", "&"));
        assert!(matches(r"^\uD83D\uDC32$", "🐲"));
        assert!(matches("^[^]$", "\n"));
    }

    #[test]
    fn the_end_is_the_very_end() {
        assert!(!matches("^abc$", "abc\n"));
        assert!(!matches("^.$", "\r"));
    }

    #[test]
    fn a_brace_that_repeats_nothing_is_itself() {
        assert!(matches("^{name}$", "{name}"));
        assert!(matches("^a{,2}$", "a{,2}"));
    }

    #[test]
    fn look_around_and_back_references_are_understood() {
        assert!(matches(r"^(?=.*\d)(?!.*x)[a-z0-9]{3,}$", "ab1"));
        assert!(!matches(r"^(?=.*\d)(?!.*x)[a-z0-9]{3,}$", "xb1"));
        assert!(matches(r"^(['\x22])a\1$", "'a'"));
        assert!(matches(r"^(?<q>a|b)\k<q>$", "bb"));
    }

    #[test]
    fn what_is_no_expression_has_a_fault() {
        for text in ["(", "a**", "[z-a]", r"\Z", "a{3,1}", "(?P<x>a)", "[", "\\"] {
            assert!(Pattern::parse(text, 0).fault().is_some(), "{text}");
        }
    }

    #[test]
    fn strings_written_along_a_pattern_match_it() {
        for text in [
            "^[a-z]{3,5}-\\d+$",
            "^(foo|bar)?$",
            "^\\S+@\\S+\\.[a-z]{2,}$",
            "^#([0-9a-fA-F]{3}){1,2}$",
            "^[^/]+/[^/]+$",
            "^(?<q>a|b)\\k<q>$",
            "\\bword\\b",
            "^[\\u4e00-\\u9fff]{2}$",
            "^$",
            "",
        ] {
            let pattern = Pattern::parse(text, 0);
            let mut choices = Choices::seeded(7);
            for length in 0..40 {
                let string = pattern.write(&mut choices, length).expect("a string");
                assert_eq!(pattern.matches(&string), Some(true), "{text}: {string:?}");
            }
        }
    }

    #[test]
    fn a_catastrophic_pattern_ends_undecided_or_decided_but_soon() {
        let pattern = Pattern::parse(r"^(?=a)(a+)+\1$", 0);
        let string = format!("{}b", "a".repeat(60));
        assert_ne!(pattern.matches(&string), Some(true));
    }

    #[test]
    fn an_expression_that_would_fill_memory_is_refused() {
        assert!(Pattern::parse("((a{1000}){1000}){1000}", 0).fault().is_some());
    }
}
