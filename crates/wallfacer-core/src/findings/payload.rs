//! Finds the parts of a stored case that are a payload, to be edited in place. The rest of a case is its grammar, in
//! which no secret stands.

use serde_json::{Map, Value};

/// A part of a stored case.
#[derive(Debug)]
pub enum Payload<'a> {
    /// Parameters of a call.
    Values(&'a mut Value),
    /// A raw frame, or the name of a subject, or what an intent is told by.
    Text(&'a mut String),
    /// A raw frame that is no text, in base64.
    Bytes(&'a mut String),
}

/// All payloads of a case.
pub fn payloads(case: &mut Value) -> Vec<Payload<'_>> {
    let Some(case) = case.as_object_mut() else { return vec![] };
    let mut found = Vec::new();
    for (key, part) in case {
        match (key.as_str(), part) {
            ("prelude" | "steps", Value::Array(steps)) => found.extend(steps.iter_mut().flat_map(step)),
            // Parameters of a rule stand in its text, the tool that it is about in its name.
            ("claim", Value::Object(claim)) => found.extend(
                claim
                    .iter_mut()
                    .filter(|(key, _)| ["rule", "written"].contains(&key.as_str()))
                    .filter_map(|(_, part)| text(part)),
            ),
            // `{"tool": NAME}`, `{"frame": HOW}`; a bare word is grammar.
            ("subject" | "intent" | "measure", named @ Value::Object(_)) => found.extend(texts(named)),
            _ => {}
        }
    }
    found
}

/// Whether the case is a sequence: its steps are those of the time that it was played, and are made anew from its rule.
pub fn is_played(case: &Value) -> bool {
    let written = case.pointer("/claim/written").and_then(Value::as_str).unwrap_or_default();
    written.lines().any(|line| line.starts_with("sequences:"))
}

/// Whether a text is one that we put into the server's world to find it again.
pub fn is_planted(text: &str) -> bool {
    let is_digit = |letter: &u8| matches!(letter, b'0'..=b'9' | b'a'..=b'f');
    // The whole form is compared, because somebody else's token may begin with the same letters. Older findings have
    // `wallfacer-`.
    [("deploy-", 32), ("wallfacer-canary-", 32), ("wallfacer-", 32), ("wfm", 13)].iter().any(
        |(beginning, digits)| {
            let digest = text.strip_prefix(beginning).and_then(|rest| rest.as_bytes().get(..*digits));
            digest.is_some_and(|digest| digest.iter().all(is_digit))
        },
    )
}

fn step(step: &mut Value) -> Vec<Payload<'_>> {
    let Some(step) = step.as_object_mut() else { return vec![] };
    let mut found = Vec::new();
    for (kind, content) in step {
        let Some(content) = content.as_object_mut() else { continue };
        if kind == "rounds" {
            found.extend(content.get_mut("rounds").into_iter().flat_map(asked));
            continue;
        }
        if kind == "disturb" {
            let requests = content.values_mut().filter_map(|how| how.get_mut("request"));
            found.extend(requests.filter_map(|request| request.get_mut("params")).map(Payload::Values));
            continue;
        }
        for (key, part) in content {
            match (kind.as_str(), key.as_str()) {
                ("call" | "many", "params") | ("raw", "text") if !part.is_string() => {
                    found.push(Payload::Values(part))
                }
                ("raw", "text") => found.extend(text(part)),
                ("raw", "base64") => {
                    if let Value::String(encoded) = part {
                        found.push(Payload::Bytes(encoded));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The parameters of the calls of several clients.
fn asked(rounds: &mut Value) -> Vec<Payload<'_>> {
    let rounds = rounds.as_array_mut().into_iter().flatten();
    let asks = rounds.filter_map(Value::as_array_mut).flatten();
    asks.filter_map(|ask| ask.get_mut("params")).map(Payload::Values).collect()
}

/// All texts in a value, but for its keys. The depth is that of a stored case, which is bounded.
fn texts(value: &mut Value) -> Vec<Payload<'_>> {
    match value {
        Value::Array(items) => items.iter_mut().flat_map(texts).collect(),
        Value::Object(members) => members.values_mut().flat_map(texts).collect(),
        single => text(single).into_iter().collect(),
    }
}

fn text(value: &mut Value) -> Option<Payload<'_>> {
    match value {
        Value::String(text) => Some(Payload::Text(text)),
        _ => None,
    }
}

/// Changes every text and every key in a value; `edit` is told the nearest key above a text. The depth is that of a
/// stored case, which is bounded.
pub fn edit_strings(value: &mut Value, edit: &mut impl FnMut(Option<&str>, &str) -> String) {
    edit_under(None, value, edit);
}

fn edit_under(under: Option<&str>, value: &mut Value, edit: &mut impl FnMut(Option<&str>, &str) -> String) {
    match value {
        Value::String(text) => *text = edit(under, text),
        Value::Array(items) => items.iter_mut().for_each(|item| edit_under(under, item, edit)),
        Value::Object(members) => {
            let edited = std::mem::take(members).into_iter().map(|(key, mut member)| {
                // The words of a recipe are no names.
                let name = if key.starts_with('$') { under } else { Some(key.as_str()) };
                edit_under(name, &mut member, edit);
                (edit(None, &key), member)
            });
            *members = edited.collect::<Map<String, Value>>();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Case, Intent, RawFrame, Step};
    use serde_json::json;

    #[test]
    fn payloads_are_told_from_the_grammar_of_a_case() {
        let mut case = Case::tool("search", json!({ "q": "hello" }), Intent::Frame("cut in half".into()), 1);
        case.steps.push(Step::Raw(RawFrame::new(b"text".to_vec(), Some("1"))));
        case.steps.push(Step::Raw(RawFrame::new(b"\xff".to_vec(), None)));
        case.steps.push(Step::Raw(RawFrame::new("x".repeat(500).into_bytes(), None)));
        case.steps.extend([Step::Probe, Step::Signal(9)]);
        let params = json!({ "token": "abc" }).as_object().cloned().unwrap();
        case.prelude.push(Step::Many { times: 2, method: "x".to_owned(), params });
        let mut stored = serde_json::to_value(&case).unwrap();
        let mut edit = |_: Option<&str>, text: &str| format!("({text})");
        for payload in payloads(&mut stored) {
            match payload {
                Payload::Values(value) => edit_strings(value, &mut edit),
                Payload::Text(text) | Payload::Bytes(text) => *text = edit(None, text),
            }
        }
        assert_eq!(
            stored,
            json!({
                "subject": { "tool": "(search)" },
                "intent": { "frame": "(cut in half)" },
                "prelude": [{ "many": { "times": 2, "method": "x", "params": { "(token)": "(abc)" } } }],
                "steps": [
                    { "call": { "method": "tools/call", "params": {
                        "(name)": "(search)", "(arguments)": { "(q)": "(hello)" },
                    } } },
                    { "raw": { "text": "(text)", "id": "1" } },
                    { "raw": { "base64": "(/w==)" } },
                    { "raw": { "text": { "($repeat)": "(x)", "(times)": 500 } } },
                    "probe",
                    { "signal": 9 },
                ],
                "seed": 1,
            })
        );
    }

    #[test]
    fn a_text_is_told_by_the_nearest_key_above_it() {
        let mut value = json!({ "token": ["a", { "$repeat": "b", "times": 300 }, { "x": "c" }] });
        let mut told = Vec::new();
        edit_strings(&mut value, &mut |under, text| {
            told.extend(under.map(|under| format!("{under}: {text}")));
            text.to_owned()
        });
        assert_eq!(told, ["token: a", "token: b", "x: c"]);
    }
}
