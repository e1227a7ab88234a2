//! What a user may set a severity for: a kind of finding, a rule, or a kind in one tool.

use wallfacer_rules::nearest;

use crate::kind::FINDING_KINDS;

/// What a severity is set for. The narrower one wins: tool, then rule, then kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SeverityKey {
    /// `hang`
    Kind(String),
    /// `rule:NAME`, a rule or a check.
    Rule(String),
    /// `tool:NAME.KIND`
    Tool { tool: String, kind: String },
}

impl SeverityKey {
    /// The key as meant, or what is wrong with it and what may help.
    pub(super) fn parse(text: &str) -> Result<SeverityKey, (String, Option<String>)> {
        if let Some(rule) = text.strip_prefix("rule:") {
            return match rule {
                "" => Err(("`rule:` is followed by no name".to_owned(), None)),
                rule => Ok(SeverityKey::Rule(rule.to_owned())),
            };
        }
        let Some(rest) = text.strip_prefix("tool:") else {
            return kind(text).map(SeverityKey::Kind);
        };
        // A tool's name may hold dots itself; a kind never does.
        match rest.rsplit_once('.') {
            Some((tool, kind_name)) if !tool.is_empty() => {
                Ok(SeverityKey::Tool { tool: tool.to_owned(), kind: kind(kind_name)? })
            }
            _ => Err((
                format!("`{text}` does not name a tool and a kind"),
                Some("write it as \"tool:NAME.KIND\", such as \"tool:slow_report.hang\"".to_owned()),
            )),
        }
    }
}

fn kind(name: &str) -> Result<String, (String, Option<String>)> {
    if FINDING_KINDS.contains(&name) {
        return Ok(name.to_owned());
    }
    let help = match nearest(name, FINDING_KINDS) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("use `rule:NAME`, `tool:NAME.KIND` or one of {}", FINDING_KINDS.join(", ")),
    };
    Err((format!("`{name}` is no kind of finding"), Some(help)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_ways_of_naming_are_told_apart() {
        let tool = |tool: &str, kind: &str| SeverityKey::Tool { tool: tool.into(), kind: kind.into() };
        assert_eq!(SeverityKey::parse("hang"), Ok(SeverityKey::Kind("hang".into())));
        assert_eq!(SeverityKey::parse("rule:auth.whoami"), Ok(SeverityKey::Rule("auth.whoami".into())));
        assert_eq!(SeverityKey::parse("tool:a.b.crash"), Ok(tool("a.b", "crash")));
        for wrong in ["hnag", "rule:", "tool:hang", "tool:.hang", "tool:a.hnag", ""] {
            assert!(SeverityKey::parse(wrong).is_err(), "{wrong}");
        }
    }
}
