//! Identifiers, pointers, templates and expressions.

use crate::choices::Choices;

const TEMPLATES: [&str; 4] =
    ["/users/{id}", "https://example.com/{owner}/{repo}", "/search{?q,page}", "/files/{+path}"];
const POINTERS: [&str; 4] = ["/name", "/items/0", "/a~1b/c~0d", ""];
const EXPRESSIONS: [&str; 5] = ["^a+$", "[0-9]{3}", "foo|bar", "\\w+@\\w+", ".*"];

pub(super) fn uuid(choices: &mut Choices) -> String {
    let (high, low) = (choices.below(u64::MAX), choices.below(u64::MAX));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | (low >> 50),
        low & 0xffff_ffff_ffff
    )
}

pub(super) fn uri_template(choices: &mut Choices) -> String {
    TEMPLATES[choices.index(TEMPLATES.len())].to_owned()
}

pub(super) fn json_pointer(choices: &mut Choices) -> String {
    POINTERS[choices.index(POINTERS.len())].to_owned()
}

pub(super) fn relative_json_pointer(choices: &mut Choices) -> String {
    let levels = choices.below(4);
    if choices.one_in(3) { format!("{levels}#") } else { format!("{levels}{}", json_pointer(choices)) }
}

pub(super) fn regex(choices: &mut Choices) -> String {
    EXPRESSIONS[choices.index(EXPRESSIONS.len())].to_owned()
}

pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

pub(super) fn is_json_pointer(text: &str) -> bool {
    let escapes = text.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escapes
}

pub(super) fn is_relative_json_pointer(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (levels, rest) = text.split_at(end);
    let counted = levels == "0" || (!levels.is_empty() && !levels.starts_with('0'));
    counted && (rest == "#" || is_json_pointer(rest))
}

pub(super) fn is_uri_template(text: &str) -> bool {
    let mut rest = text;
    while let Some(open) = rest.find(['{', '}']) {
        let Some(inside) = rest[open..].strip_prefix('{') else { return false };
        let Some(close) = inside.find('}') else { return false };
        if !is_expression(&inside[..close]) {
            return false;
        }
        rest = &inside[close + 1..];
    }
    !text.contains([' ', '"', '<', '>', '\\', '^', '`']) && !text.contains(char::is_control)
}

fn is_expression(text: &str) -> bool {
    let names = text.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(text);
    names.split(',').all(|name| {
        let name = match name.split_once(':') {
            Some((name, length)) if is_prefix_length(length) => name,
            Some(_) => return false,
            None => name.strip_suffix('*').unwrap_or(name),
        };
        let part =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_%".contains(c));
        name.split('.').all(part)
    })
}

fn is_prefix_length(text: &str) -> bool {
    !text.starts_with(['0', '+']) && text.parse::<u16>().is_ok_and(|length| (1..10_000).contains(&length))
}
