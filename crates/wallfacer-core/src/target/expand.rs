//! Replaces every `${…}` placeholder in a text.

use std::ops::Range;

/// What a placeholder stands for, as its file's rules have it.
pub(super) type Lookup<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

/// A placeholder that could not be replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfilled {
    /// Where in the text given, in bytes.
    pub at: Range<usize>,
    pub message: String,
}

/// Whether `$$` stands for one `$`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dollar {
    Escaped,
    Literal,
}

/// Replaces each `${NAME}` by what `lookup` gives for it. A bare `$` stays.
pub(super) fn expand(text: &str, dollar: Dollar, lookup: &mut Lookup<'_>) -> Result<String, Unfilled> {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    while let Some(offset) = text[done..].find('$') {
        let start = done + offset;
        out.push_str(&text[done..start]);
        let rest = &text[start + 1..];
        if dollar == Dollar::Escaped && rest.starts_with('$') {
            out.push('$');
            done = start + 2;
        } else if let Some(inside) = rest.strip_prefix('{') {
            let length = inside.find('}').ok_or_else(|| Unfilled {
                at: start..text.len(),
                message: "the placeholder is not closed by `}`".to_owned(),
            })?;
            let end = start + 2 + length + 1;
            let fill = |message| Unfilled { at: start..end, message };
            out.push_str(&lookup(&inside[..length]).map_err(fill)?);
            done = end;
        } else {
            out.push('$');
            done = start + 1;
        }
    }
    out.push_str(&text[done..]);
    Ok(out)
}

/// `NAME`, or `NAME:-what to use when it is unset or empty`.
pub(super) fn variable(
    placeholder: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<(String, String), String> {
    let (name, fallback) = match placeholder.split_once(":-") {
        Some((name, fallback)) => (name, Some(fallback)),
        None => (placeholder, None),
    };
    if name.is_empty() {
        return Err("the placeholder names no variable".to_owned());
    }
    let set = lookup(name).filter(|value| fallback.is_none() || !value.is_empty());
    match set.or_else(|| fallback.map(str::to_owned)) {
        Some(value) => Ok((name.to_owned(), value)),
        None => Err(format!("the environment variable `{name}` is not set")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, dollar: Dollar) -> Result<String, Unfilled> {
        let set = |name: &str| (name == "NAME").then(|| "value".to_owned());
        expand(text, dollar, &mut |inside| variable(inside, &set).map(|(_, value)| value))
    }

    #[test]
    fn placeholders_are_replaced_and_other_dollars_stay() {
        for (text, meant) in [
            ("", ""),
            ("a ${NAME} b ${NAME}", "a value b value"),
            ("cost $5, ^x$", "cost $5, ^x$"),
            ("$${NAME}", "${NAME}"),
            ("$$$$", "$$"),
            ("$", "$"),
            ("ä${NAME}ö", "ävalueö"),
            ("${UNSET:-else}", "else"),
            ("${NAME:-else}", "value"),
            ("${UNSET:-}", ""),
        ] {
            assert_eq!(filled(text, Dollar::Escaped).as_deref(), Ok(meant), "{text}");
        }
        assert_eq!(filled("$${NAME}", Dollar::Literal).as_deref(), Ok("$value"));
    }

    #[test]
    fn a_value_is_not_expanded_again() {
        let set = |_: &str| Some("${NAME}".to_owned());
        let once =
            expand("${NAME}", Dollar::Escaped, &mut |inside| variable(inside, &set).map(|(_, value)| value));
        assert_eq!(once.as_deref(), Ok("${NAME}"));
    }

    #[test]
    fn a_placeholder_that_cannot_be_filled_is_pointed_at() {
        for (text, at) in [("ä ${UNSET} b", 3..11), ("${}", 0..3), ("a${NAME", 1..7), ("${:-x}", 0..6)] {
            assert_eq!(filled(text, Dollar::Escaped).unwrap_err().at, at, "{text}");
        }
    }
}
