//! Cuts a value short enough for a sentence.

use serde_json::Value;

/// As much of a value as helps in one sentence; the whole of it stands in the finding.
const SHOWN_CHARS: usize = 80;
/// Members and items looked at before the text is cut anyway.
const SHOWN_ITEMS: usize = 16;

pub(crate) fn show(value: &Value) -> String {
    let text = page(value, 0);
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

fn page(value: &Value, depth: usize) -> String {
    let more = |all: usize| if all > SHOWN_ITEMS { ",…" } else { "" };
    match value {
        Value::String(text) => {
            let beginning: String = text.chars().take(SHOWN_CHARS + 1).collect();
            Value::String(beginning).to_string()
        }
        Value::Array(_) | Value::Object(_) if depth > 4 => "…".into(),
        Value::Array(items) => {
            let shown: Vec<_> = items.iter().take(SHOWN_ITEMS).map(|item| page(item, depth + 1)).collect();
            format!("[{}{}]", shown.join(","), more(items.len()))
        }
        Value::Object(members) => {
            let shown: Vec<_> = members
                .iter()
                .take(SHOWN_ITEMS)
                .map(|(name, value)| {
                    format!("{}:{}", page(&Value::from(name.as_str()), 0), page(value, depth + 1))
                })
                .collect();
            format!("{{{}{}}}", shown.join(","), more(members.len()))
        }
        simple => simple.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_large_value_is_shown_by_its_beginning() {
        let text = show(&json!({ "a": "x".repeat(1 << 20), "b": vec![1; 1 << 16] }));
        assert_eq!(text.chars().count(), SHOWN_CHARS + 1);
        assert!(text.starts_with("{\"a\":\"xxx"));
    }
}
