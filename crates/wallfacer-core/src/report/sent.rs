//! Tells in one line what a stored case sent. The short form of the case is read, never the payload itself.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::findings::Repro;
use crate::wire::shortened;

/// A longer one is cut; replay has all of it.
const MAX_CHARS: usize = 300;
/// Requests in a row that are all told.
const FEW: usize = 3;

/// The request that shows a fault; a few in a row, or the last of many. None where nothing can be sent again.
pub fn sent(repro: &Repro) -> Option<String> {
    let Repro::Replayable { case, .. } = repro else { return None };
    let steps = case.get("steps")?.as_array()?;
    let requests: Vec<String> = steps.iter().filter_map(request).collect();
    let last = requests.last()?;
    let before = case.get("prelude").and_then(Value::as_array).into_iter().flatten().filter_map(request);
    let before: Vec<String> = before.collect();
    let behind = match before.is_empty() {
        true => String::new(),
        false => format!(", after {}", shortened(&before.join(", "), MAX_CHARS)),
    };
    let at_once = steps.iter().filter(|step| step.get("send").is_some()).count();
    Some(match requests.len() {
        _ if at_once > 1 => {
            let sent = steps.iter().filter(|step| step.get("send").is_some()).find_map(request)?;
            format!("{at_once} requests at once, the first: {}{behind}", shortened(&sent, MAX_CHARS))
        }
        1 => format!("{}{behind}", shortened(last, MAX_CHARS)),
        many => match requests.join(", then ") {
            all if many <= FEW && all.chars().count() <= MAX_CHARS => {
                format!("{}{behind}", shortened(&all, MAX_CHARS))
            }
            _ => format!("{many} requests in a row, the last: {}{behind}", shortened(last, MAX_CHARS)),
        },
    })
}

fn request(step: &Value) -> Option<String> {
    if let Some(call) = step.get("call").or_else(|| step.get("send")) {
        let params = call.get("params")?;
        let method = call.get("method")?.as_str()?;
        return Some(match (params.get("name").and_then(Value::as_str), params.get("arguments")) {
            (Some(name), Some(arguments)) => format!("{method} {name} {}", readable(arguments)),
            _ => format!("{method} {}", readable(params)),
        });
    }
    if let Some(disturbance) = step.get("disturb") {
        let how = disturbance.as_object()?.values().find_map(|how| how.get("request"))?;
        return asked(how);
    }
    if let Some(schedule) = step.get("rounds") {
        return rounds(schedule);
    }
    let raw = step.get("raw")?;
    match (raw.get("text"), raw.get("base64")) {
        (Some(Value::String(text)), _) => Some(text.clone()),
        (Some(recipe), _) => Some(readable(recipe)),
        (None, Some(base64)) => Some(format!("bytes that are no text, in base64: {}", base64.as_str()?)),
        (None, None) => None,
    }
}

/// A value as JSON, with long texts of one piece as `"x" × 1000`: nobody reads a thousand letters.
fn readable(value: &Value) -> String {
    static REPEATED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\{"\$repeat":("(?:[^"\\]|\\.)*"),"times":(\d+)\}"#).expect("a fixed pattern")
    });
    REPEATED.replace_all(&value.to_string(), "$1 × $2").into_owned()
}

/// The calls of several clients, those at once in brackets.
fn rounds(schedule: &Value) -> Option<String> {
    let round = |round: &Value| {
        let asks = round.as_array()?;
        let called: Vec<String> = asks.iter().filter_map(asked).collect();
        Some(match &called[..] {
            [alone] => alone.clone(),
            [first, ..] => format!("at once [{first} … {} calls]", called.len()),
            [] => return None,
        })
    };
    let rounds = schedule.get("rounds")?.as_array()?;
    Some(rounds.iter().filter_map(round).collect::<Vec<_>>().join(", then "))
}

fn asked(ask: &Value) -> Option<String> {
    let params = ask.get("params")?;
    let name = params.get("name").and_then(Value::as_str).or(ask.get("method")?.as_str())?;
    Some(match params.get("arguments") {
        Some(arguments) => format!("{name} {}", readable(arguments)),
        None => name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Case, Intent, RawFrame, Step};
    use serde_json::json;

    fn shown(steps: Vec<Step>) -> Option<String> {
        let case = Case { steps, ..Case::tool("add", json!({ "a": 1 }), Intent::Valid, 0) };
        sent(&Repro::new(&case, &case))
    }

    #[test]
    fn a_call_a_frame_and_a_row_of_them_are_told_in_one_line() {
        let call = Case::tool("add", json!({ "a": "x".repeat(1_000) }), Intent::Valid, 0).steps.remove(0);
        let raw = |bytes: &[u8]| Step::Raw(RawFrame::new(bytes.to_vec(), None));
        let wanted = r#"tools/call add {"a":"x" × 1000}"#;
        assert_eq!(shown(vec![call.clone()]).unwrap(), wanted);
        assert_eq!(shown(vec![raw(b"{\x1b"), Step::Probe]).unwrap(), r"{\x1b");
        assert!(shown(vec![raw(b"\xff")]).unwrap().ends_with("base64: /w=="));
        assert_eq!(shown(vec![raw(b"{"), call.clone()]).unwrap(), format!("{{, then {wanted}"));
        assert_eq!(shown(vec![call; 4]).unwrap(), format!("4 requests in a row, the last: {wanted}"));
        assert_eq!(shown(vec![Step::Probe]), None);
    }

    #[test]
    fn what_must_come_first_is_told_behind_it() {
        let call = |name: &str| Case::tool(name, json!({ "a": 1 }), Intent::Valid, 0);
        let case = Case { prelude: call("open").steps, ..call("add") };
        let told = sent(&Repro::new(&case, &case)).unwrap();
        assert_eq!(told, r#"tools/call add {"a":1}, after tools/call open {"a":1}"#);
    }
}
