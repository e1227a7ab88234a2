//! What services answer in XML that are asked for an action in a form: `Action=ListShelves&Version=2020-01-01` is answered by
//! a `ListShelvesResponse` with a `ListShelvesResult` in it. The members are those that the server was seen to miss.

use serde_json::Value;

use super::asked::Asked;
use super::entity::{Things, is_list};
use super::shapes::{Shape, Type};

/// The longest name of an action.
const LONGEST: usize = 80;
/// Members that are named in each place, and how deep they stand in each other.
const MAX_NAMES: usize = 40;
const MAX_DEPTH: usize = 2;

/// The action that a request asks for in this way.
pub(super) fn action(asked: &Asked) -> Option<String> {
    let sent = asked.sent().filter(|_| asked.content_type.contains("form-urlencoded"))?;
    let is_name = |name: &&str| is_plain(name) && name.starts_with(|first: char| first.is_ascii_uppercase());
    let action = sent.get("Action")?.as_str().filter(is_name)?;
    sent.get("Version").map(|_| action.to_owned())
}

/// The answer to it.
pub(super) fn document(action: &str, shape: &Shape, things: &Things<'_>) -> String {
    let mut text = format!("<{action}Response><{action}Result>");
    members(&mut text, shape, things, 1);
    text.push_str(&format!(
        "</{action}Result><ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata></{action}Response>\n",
        things.mark.marker
    ));
    text
}

/// All members that are known to be missed. Nobody says whether one is a text or holds others, so each is both: who reads its
/// text finds some, and who looks for others in it finds them.
fn members(text: &mut String, shape: &Shape, things: &Things<'_>, depth: usize) {
    for (name, is) in shape.named.iter().filter(|(name, _)| is_plain(name)).take(MAX_NAMES) {
        let holds_several = is_list(name) || matches!(is, Some(Type::List));
        let (open, close) = if holds_several { ("<member>", "</member>") } else { ("", "") };
        text.push_str(&format!("<{name}>{open}{}", value(name, is.as_ref(), things)));
        if depth < MAX_DEPTH {
            members(text, shape, things, depth + 1);
        }
        text.push_str(&format!("{close}</{name}>"));
    }
}

fn value(name: &str, is: Option<&Type>, things: &Things<'_>) -> String {
    match is.map_or_else(|| things.value(name, 1), |is| things.of_type(name, is)) {
        Value::String(text) => text.replace(['<', '>', '&'], " "),
        value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
        _ => "example".to_owned(),
    }
}

fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::super::{Mark, Shapes};
    use super::*;
    use crate::sink::answer::Hint;

    fn asked(body: &str) -> Asked {
        Asked {
            body: body.into(),
            content_type: "application/x-www-form-urlencoded".to_owned(),
            ..Asked::new("POST", Some("shelves.example"), "/")
        }
    }

    #[test]
    fn an_action_is_answered_by_its_result_with_what_was_missed() {
        let asked = asked("Action=ListShelves&Version=2020-01-01");
        let action = action(&asked).unwrap();
        let shapes = Shapes::default();
        let hints = ["Shelves", "ShelfName"].map(|name| Hint::Named(name.to_owned(), None));
        shapes.learn("POST", "shelves.example", "/", &hints);
        let things = Things::of(&asked, Mark { marker: "m" });
        let text = document(&action, &shapes.of(&asked), &things);
        assert!(text.starts_with("<ListShelvesResponse><ListShelvesResult>"), "{text}");
        assert!(text.contains("<Shelves><member>") && text.contains("</member></Shelves>"), "{text}");
        assert!(text.contains("<Shelves><member>example<ShelfName>"), "{text}");
    }

    #[test]
    fn other_forms_ask_for_no_action() {
        for body in ["Action=list&Version=1", "Action=List", "Version=1", "Action=<x>&Version=1", ""] {
            assert_eq!(action(&asked(body)), None, "{body}");
        }
    }
}
