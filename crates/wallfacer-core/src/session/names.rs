//! Patterns of tool names as a user types them, and which name was meant where one fits nothing.

use globset::{Glob, GlobSet, GlobSetBuilder};
use wallfacer_rules::nearest;

/// Names that are listed where none is near what was typed.
const MOST_NAMED: usize = 10;

/// Globs on the names of tools.
#[derive(Debug, Clone)]
pub struct NamePatterns {
    typed: Vec<String>,
    each: Vec<GlobSet>,
}

/// A pattern that fits no tool of the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no tool matches `{pattern}`; {help}")]
pub struct NoSuchTool {
    pub pattern: String,
    help: String,
}

impl NamePatterns {
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Result<NamePatterns, globset::Error> {
        let mut names = NamePatterns { typed: Vec::new(), each: Vec::new() };
        for pattern in patterns {
            let pattern = pattern.as_ref();
            names.each.push(GlobSetBuilder::new().add(Glob::new(pattern)?).build()?);
            names.typed.push(pattern.to_owned());
        }
        Ok(names)
    }

    /// One tool by its name, whatever letters that has.
    pub fn exactly(tool: &str) -> Result<NamePatterns, globset::Error> {
        let names = NamePatterns::new([globset::escape(tool)])?;
        Ok(NamePatterns { typed: vec![tool.to_owned()], ..names })
    }

    pub fn is_match(&self, tool: &str) -> bool {
        self.each.iter().any(|pattern| pattern.is_match(tool))
    }

    /// Each pattern must fit one of the tools, where there are any: one that fits none is mistyped.
    pub fn check(&self, tools: &[&str]) -> Result<(), NoSuchTool> {
        let unfit = self.typed.iter().zip(&self.each);
        let mut unfit = unfit.filter(|(_, glob)| !tools.iter().any(|tool| glob.is_match(tool)));
        match unfit.next().filter(|_| !tools.is_empty()) {
            Some((pattern, _)) => Err(NoSuchTool { pattern: pattern.clone(), help: help(pattern, tools) }),
            None => Ok(()),
        }
    }
}

fn help(pattern: &str, tools: &[&str]) -> String {
    if let Some(meant) = nearest(pattern, tools.iter().copied()) {
        return format!("did you mean `{meant}`?");
    }
    let named: Vec<String> = tools.iter().take(MOST_NAMED).map(|tool| format!("`{tool}`")).collect();
    let more = match tools.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("the server has {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_fits_no_tool_names_the_nearest_one() {
        let tools = ["read_note", "keep_letter"];
        let told =
            |patterns: &[&str]| NamePatterns::new(patterns).unwrap().check(&tools).map_err(|e| e.to_string());
        assert_eq!(told(&["read_*", "keep_letter"]), Ok(()));
        assert_eq!(
            told(&["raed_note"]),
            Err("no tool matches `raed_note`; did you mean `read_note`?".to_owned())
        );
        let none = "no tool matches `get_user`; the server has `read_note`, `keep_letter`";
        assert_eq!(told(&["read_*", "get_user"]), Err(none.to_owned()));
        assert_eq!(NamePatterns::new(["x"]).unwrap().check(&[]), Ok(()), "there is nothing to choose from");
    }

    #[test]
    fn a_tool_by_its_name_is_no_pattern() {
        let names = NamePatterns::exactly("a*").unwrap();
        assert!(names.is_match("a*") && !names.is_match("ab"));
        assert!(names.check(&["ab"]).unwrap_err().to_string().starts_with("no tool matches `a*`"));
    }
}
