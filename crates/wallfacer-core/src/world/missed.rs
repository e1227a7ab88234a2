//! Reads off an error what a server missed in the answer of a service: which member, of which type, which kind of document.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use wallfacer_process::sink::{Form, Hint, Part, Type};

/// What of an error is read.
const MAX_TEXT: usize = 16 << 10;
/// Hints of one error.
const MAX_HINTS: usize = 64;
/// Brackets that are tried as the beginning of a list of issues.
const MAX_BRACKETS: usize = 8;
/// How deep unions stand in each other.
const MAX_UNIONS: usize = 4;
/// How deep a tree of faults is followed.
const MAX_BRANCHES: usize = 8;

/// Names that programs give to a whole answer.
const WHOLE: [&str; 12] =
    ["data", "response", "result", "json", "body", "res", "resp", "payload", "r", "d", "this", "answer"];

/// What is known after this error of the answer that the server expected. Nothing where the error says nothing of one.
pub fn missed(text: &str) -> Vec<Hint> {
    let text: String = text.chars().take(MAX_TEXT).collect();
    let mut hints = Vec::new();
    forms(&text, &mut hints);
    issues(&text, &mut hints);
    trees(&text, &mut hints);
    validators(&text, &mut hints);
    scripts(&text, &mut hints);
    typed(&text, &mut hints);
    hints.truncate(MAX_HINTS);
    hints
}

/// What an error says was asked of nothing (`Cannot read properties of undefined (reading 'split')`), and the type that has
/// it.
pub fn asked_of_nothing(text: &str) -> Option<(String, Type)> {
    static ASKED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"[Cc]annot read propert(?:y|ies) of (?:undefined|null) \(reading '(\w+)'\)|'NoneType' object has no attribute '(\w+)'",
        )
    });
    let text: String = text.chars().take(MAX_TEXT).collect();
    let found = ASKED.captures(&text)?;
    let asked = found.get(1).or_else(|| found.get(2))?.as_str().to_owned();
    let is = of_method(&asked).unwrap_or(Type::Object);
    Some((asked, is))
}

/// Documents of the wrong kind.
fn forms(text: &str, hints: &mut Vec<Hint>) {
    static FORMS: LazyLock<[(Regex, Form); 6]> = LazyLock::new(|| {
        [
            (r"(?i)unexpected token '?<|is not valid json|expecting value: line 1 column 1|invalid character '<'|expected value at line 1 column 1|invalid json response|failed to parse json", Form::Json),
            (r"(?i)not well-formed \(invalid token\): line 1|syntax error: line 1, column 0|start tag expected|non-whitespace before first tag|document is empty, line 1|no element found: line 1", Form::Atom),
            (r"(?i)feed not recogni[sz]ed|not a (?:valid )?(?:rss )?feed|unable to parse xml", Form::Rss),
            (r"(?i)cannot identify image|unsupported image (?:format|type)|unsupported image$", Form::Png),
            (r"(?i)invalid pdf|no /root object|pdf header|eof marker not found|not a pdf", Form::Pdf),
            (r"(?i)not a zip|end of central directory|badzipfile", Form::Zip),
        ]
        .map(|(signs, form)| (pattern(signs), form))
    });
    let found = FORMS.iter().find(|(signs, _)| signs.is_match(text));
    hints.extend(found.map(|(_, form)| Hint::Form(*form)));
}

/// Lists of issues as validators of JavaScript write them: a path and what was expected there.
fn issues(text: &str, hints: &mut Vec<Hint>) {
    for (start, _) in text.match_indices('[').take(MAX_BRACKETS) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let Some(Ok(Value::Array(issues))) = values.next() else { continue };
        if issues.iter().any(|issue| issue.get("path").is_some()) {
            issues.iter().for_each(|issue| one_issue(issue, &[], 0, hints));
            return;
        }
    }
}

fn one_issue(issue: &Value, before: &[Part], depth: usize, hints: &mut Vec<Hint>) {
    let own = issue.get("path").and_then(Value::as_array).into_iter().flatten();
    let own = own.map(|part| part.as_str().map_or(Part::Each, |name| Part::Member(name.to_owned())));
    let path: Vec<Part> = before.iter().cloned().chain(own).collect();
    let of = |name: &str| issue.get(name);
    let union = of("unionErrors").or_else(|| of("errors")).and_then(Value::as_array);
    if let Some(first) = union.and_then(|union| union.first()).filter(|_| depth < MAX_UNIONS) {
        let inner = first.get("issues").unwrap_or(first).as_array();
        // The older give paths from the beginning, the newer from where they are.
        let before = if first.get("issues").is_some() { &[][..] } else { &path[..] };
        inner.into_iter().flatten().for_each(|issue| one_issue(issue, before, depth + 1, hints));
        return;
    }
    let code = of("code").and_then(Value::as_str).unwrap_or_default();
    let options = of("options").or_else(|| of("values")).and_then(Value::as_array);
    let is = match (code, options.and_then(|options| options.first())) {
        (_, Some(option)) => Some(Type::Is(option.clone())),
        ("invalid_literal", _) => of("expected").map(|expected| Type::Is(expected.clone())),
        ("invalid_string" | "invalid_format", _) => {
            let format = of("validation").or_else(|| of("format")).and_then(Value::as_str);
            Some(Type::Is(Value::from(match format.unwrap_or_default() {
                "url" => "https://service.example/",
                "email" => "someone@example.com",
                "uuid" | "guid" => "123e4567-e89b-42d3-a456-426614174000",
                "date" => "2025-01-15",
                _ => "2025-01-15T12:00:00Z",
            })))
        }
        _ => of("expected").and_then(Value::as_str).and_then(by_name),
    };
    hints.extend(is.map(|is| Hint::At(path, is)));
}

/// The same faults as validators put them together by field, flat or as a tree.
fn trees(text: &str, hints: &mut Vec<Hint>) {
    for (start, _) in text.match_indices('{').take(MAX_BRACKETS) {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let Some(Ok(found)) = values.next() else { continue };
        if let Some(fields) = found.get("fieldErrors").and_then(Value::as_object) {
            for (name, faults) in fields {
                hints.extend(wanted_by(faults).map(|is| Hint::Named(name.clone(), Some(is))));
            }
            return;
        }
        if found.get("errors").is_some_and(Value::is_array) {
            branch(&found, &[], hints);
            return;
        }
    }
}

fn branch(tree: &Value, path: &[Part], hints: &mut Vec<Hint>) {
    let is = tree.get("errors").and_then(wanted_by).filter(|_| path.len() < MAX_BRANCHES);
    hints.extend(is.map(|is| Hint::At(path.to_vec(), is)));
    let members = tree.get("properties").and_then(Value::as_object).into_iter().flatten();
    let members = members.map(|(name, inner)| (Part::Member(name.clone()), inner));
    let elements = tree.get("items").and_then(Value::as_array).into_iter().flatten();
    let elements = elements.map(|inner| (Part::Each, inner));
    for (part, inner) in members.chain(elements).filter(|_| path.len() < MAX_BRANCHES) {
        let path: Vec<Part> = path.iter().cloned().chain([part]).collect();
        branch(inner, &path, hints);
    }
}

/// What the first of some sentences would have taken: `expected boolean, received undefined`, `expected "a"|"b"`.
fn wanted_by(faults: &Value) -> Option<Type> {
    static EXPECTED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"(?i)expected (?:one of )?(?:"([^"\n]{1,200})"|(\w+))|^(required)$"#));
    let said = faults.as_array()?.iter().filter_map(Value::as_str);
    said.filter_map(|said| EXPECTED.captures(said)).find_map(|found| match (found.get(1), found.get(2)) {
        (Some(literal), _) => Some(Type::Is(Value::from(literal.as_str()))),
        (_, Some(name)) => by_name(name.as_str()),
        _ => Some(Type::Text),
    })
}

/// What validators write as text: `items.0.name`, then what is wrong with it.
fn validators(text: &str, hints: &mut Vec<Hint>) {
    static PYDANTIC: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?m)^([A-Za-z_][\w.\-\[\]]*)\r?\n\s+([^\n]*?)\s*\[type=(\w+)"));
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"Input should be '([^']+)'"));
    static PLACED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?i)(?:expected (\w+), received \w+|required)[^\n"']{0,20}\s(?:at|→ at)\s+"?([\w.\[\]$]+)"?"#,
        )
    });
    static ON_NEXT_LINE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)expected (\w+), received \w+\s*\n\s*→ at ([\w.\[\]$]+)"));
    static CHOICE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?i)expected (?:one of )?"([^"\n]{1,200})"(?:\|[^\n]{0,500}?)?\s{1,9}(?:→ )?at ([\w.\[\]$]+)"#,
        )
    });
    // In a row: `rows.0.size: Invalid input: expected number, received undefined, kind: …`; nothing before the colon is the whole.
    static IN_A_ROW: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?:^|[\s,;(])([A-Za-z0-9_$][A-Za-z0-9_$.\[\]-]*)?: (?:Invalid \w+: expected (?:one of )?(?:"([^"\n]{1,200})"|'([^'\n]{1,200})'|(\w+))|Required(?:$|[,;\n]))"#,
        )
    });
    for found in IN_A_ROW.captures_iter(text) {
        let path = found.get(1).map(|path| parts(path.as_str())).unwrap_or_default();
        let literal = found.get(2).or_else(|| found.get(3)).map(|literal| Type::Is(literal.as_str().into()));
        let is = literal.or_else(|| by_name(found.get(4)?.as_str()));
        match (is, path.last()) {
            (Some(is), _) => hints.push(Hint::At(path, is)),
            (None, Some(Part::Member(name))) => hints.push(Hint::Named(name.clone(), None)),
            (None, _) => {}
        }
    }
    for found in PYDANTIC.captures_iter(text) {
        let path = parts(&found[1]);
        let is = match &found[3] {
            "missing" => None,
            "literal_error" | "enum" => {
                LITERAL.captures(&found[2]).map(|found| Type::Is(Value::from(&found[1])))
            }
            kind => by_name(kind.split('_').next().unwrap_or_default()),
        };
        match (is, path.last()) {
            (Some(is), _) => hints.push(Hint::At(path, is)),
            (None, Some(Part::Member(name))) => hints.push(Hint::Named(name.clone(), None)),
            (None, _) => {}
        }
    }
    for found in CHOICE.captures_iter(text) {
        hints.push(Hint::At(parts(&found[2]), Type::Is(Value::from(&found[1]))));
    }
    for found in PLACED.captures_iter(text).chain(ON_NEXT_LINE.captures_iter(text)) {
        let path = parts(&found[2]);
        match (found.get(1).and_then(|word| by_name(word.as_str())), path.last()) {
            (Some(is), _) => hints.push(Hint::At(path, is)),
            (None, Some(Part::Member(name))) => hints.push(Hint::Named(name.clone(), None)),
            (None, _) => {}
        }
    }
}

/// What the interpreters of scripts throw.
fn scripts(text: &str, hints: &mut Vec<Hint>) {
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"KeyError:? \(?['"]([^'"\n]{1,80})['"]|(?m:(?:rror|ailed)[^\n'"]{0,80}: ['"]([A-Za-z_]\w{0,79})['"]$)|missing field [`'"]([^`'"\n]{1,80})|required property ['"`]([^'"`\n]{1,80})|has no attribute '(\w+)'|[Mm]issing (?:key|member|property) ['"`]([^'"`\n]{1,80})"#,
        )
    });
    static METHOD: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"([\w$.?\[\]]+)\.(\w+) is not a function|([\w$.?\[\]]+) is not iterable"));
    static NOTHING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"[Cc]annot read propert(?:y|ies) of (?:undefined|null) \(reading '([^']+)'\)")
    });
    static DESTRUCTURED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"[Cc]annot destructure property '(\w+)' of '([^']+)'"));
    for found in KEY.captures_iter(text) {
        let name = (1..=6).find_map(|group| found.get(group)).map(|name| name.as_str().to_owned());
        hints.extend(name.map(|name| Hint::Named(name, None)));
    }
    for found in METHOD.captures_iter(text) {
        let (place, is) = match (found.get(1), found.get(2), found.get(3)) {
            (Some(place), Some(method), _) => (place.as_str(), of_method(method.as_str())),
            (_, _, Some(place)) => (place.as_str(), Some(Type::List)),
            _ => continue,
        };
        hints.extend(is.map(|is| Hint::At(within(place), is)));
    }
    for found in DESTRUCTURED.captures_iter(text) {
        hints.push(Hint::At(within(&found[2]), Type::Object));
        hints.push(Hint::Named(found[1].to_owned(), None));
    }
    for found in NOTHING.captures_iter(text) {
        // The name of what is missing is not said, only what was wanted of it.
        if of_method(&found[1]).is_none() && found[1].chars().any(char::is_alphabetic) {
            hints.push(Hint::Named(found[1].to_owned(), None));
        }
        hints.push(Hint::More);
    }
    for (sign, hint) in [
        ("string indices must be integers", Hint::At(Vec::new(), Type::List)),
        ("'str' object has no attribute", Hint::At(Vec::new(), Type::List)),
        ("list indices must be integers", Hint::At(vec![Part::Member("data".to_owned())], Type::Object)),
        ("'list' object has no attribute", Hint::At(vec![Part::Member("data".to_owned())], Type::Object)),
        ("'NoneType' object", Hint::More),
        ("list index out of range", Hint::More),
    ] {
        if text.contains(sign) {
            hints.push(hint);
        }
    }
}

/// What programs say that know the types of what they read.
fn typed(text: &str, hints: &mut Vec<Hint>) {
    static GO: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"cannot unmarshal \w+ into Go (?:struct field (\S+)|value) of type (\S+)"));
    static RUST: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"invalid type: [^\n]{1,60}?, expected (a sequence|a map|struct)"));
    for found in GO.captures_iter(text) {
        let is = match &found[2] {
            list if list.starts_with("[]") => Type::List,
            "string" => Type::Text,
            "bool" => Type::Flag,
            number
                if number.starts_with("int") || number.starts_with("uint") || number.starts_with("float") =>
            {
                Type::Number
            }
            _ => Type::Object,
        };
        // A field stands behind the name of its type.
        let path = found.get(1).and_then(|field| field.as_str().split_once('.')).map(|(_, path)| parts(path));
        hints.push(Hint::At(path.unwrap_or_default(), is));
    }
    for found in RUST.captures_iter(text) {
        let is = if &found[1] == "a sequence" { Type::List } else { Type::Object };
        hints.push(Hint::At(Vec::new(), is));
    }
}

/// The type that a method belongs to, where that is known.
fn of_method(method: &str) -> Option<Type> {
    match method {
        "map" | "forEach" | "filter" | "slice" | "join" | "reduce" | "find" | "some" | "every"
        | "flatMap" | "sort" | "length" | "push" | "flat" | "concat" | "reverse" | "findIndex" => {
            Some(Type::List)
        }
        "toFixed" | "toPrecision" => Some(Type::Number),
        "lower" | "upper" | "strip" | "startswith" | "endswith" | "encode" => Some(Type::Text),
        "items" | "keys" | "values" | "get" => Some(Type::Object),
        "toLowerCase" | "toUpperCase" | "split" | "trim" | "substring" | "replace" | "startsWith"
        | "endsWith" | "match" | "charAt" | "padStart" | "padEnd" | "localeCompare" => Some(Type::Text),
        _ => None,
    }
}

fn by_name(name: &str) -> Option<Type> {
    Some(match name.to_ascii_lowercase().as_str() {
        "array" | "list" | "tuple" | "set" | "sequence" => Type::List,
        "string" | "str" => Type::Text,
        "number" | "int" | "integer" | "float" | "bigint" | "decimal" => Type::Number,
        "boolean" | "bool" => Type::Flag,
        "object" | "record" | "dict" | "model" | "map" | "mapping" => Type::Object,
        "datetime" | "date" => Type::Is(Value::from("2025-01-15T12:00:00Z")),
        "url" | "uri" => Type::Is(Value::from("https://service.example/")),
        "null" => Type::Is(Value::Null),
        _ => return None,
    })
}

/// `response.data.items` as a place in the answer: what programs call the answer as a whole is no part of it.
fn within(place: &str) -> Vec<Part> {
    let place = place.replace(['?', '('], "");
    let parts = parts(&place);
    let whole = |part: &&Part| matches!(part, Part::Member(name) if WHOLE.contains(&name.as_str()));
    let skipped = parts.iter().take(parts.len()).take_while(whole).count();
    // A variable with another name holds a member of that name.
    parts[skipped..].to_vec()
}

/// `items[0].name` and `items.0.name`.
fn parts(path: &str) -> Vec<Part> {
    let parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty() && *part != "$");
    parts
        .map(|part| match part.parse::<usize>() {
            Ok(_) => Part::Each,
            Err(_) => Part::Member(part.to_owned()),
        })
        .collect()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant expression")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> Part {
        Part::Member(name.to_owned())
    }

    #[test]
    fn lists_of_issues_name_places_and_types() {
        let text = r#"Invalid input: [ {"code":"invalid_type","expected":"array","received":"object","path":[]},
            {"code":"invalid_type","expected":"number","received":"undefined","path":["items",0,"size"]},
            {"code":"invalid_enum_value","options":["open","closed"],"path":["state"]} ]"#;
        assert_eq!(
            missed(text),
            [
                Hint::At(Vec::new(), Type::List),
                Hint::At(vec![member("items"), Part::Each, member("size")], Type::Number),
                Hint::At(vec![member("state")], Type::Is("open".into())),
            ]
        );
    }

    #[test]
    fn faults_by_field_are_read_flat_and_as_a_tree() {
        let flat = r#"{"formErrors":[],"fieldErrors":{"is_safe":["Invalid input: expected boolean, received undefined"]}}"#;
        assert_eq!(missed(flat), [Hint::Named("is_safe".into(), Some(Type::Flag))]);
        let tree = r#"{"errors":[],"properties":{"rows":{"errors":[],"items":[{"errors":[],"properties":
            {"kind":{"errors":["Invalid option: expected one of \"bug\"|\"task\""]}}}]}}}"#;
        let place = vec![member("rows"), Part::Each, member("kind")];
        assert_eq!(missed(tree), [Hint::At(place, Type::Is("bug".into()))]);
    }

    #[test]
    fn texts_of_validators_do_too() {
        let text = "2 validation errors for Answer\nitems.0.owner\n  Input should be a valid string [type=string_type, x]\n\
                    choices\n  Field required [type=missing, input_value={}]";
        assert_eq!(
            missed(text),
            [
                Hint::At(vec![member("items"), Part::Each, member("owner")], Type::Text),
                Hint::Named("choices".into(), None),
            ]
        );
        let text = "Invalid answer: rows.0.size: Invalid input: expected number, received NaN, \
                    kind: Invalid option: expected one of \"bug\"|\"task\", owner: Invalid input: expected nonoptional, received undefined";
        assert_eq!(
            missed(text),
            [
                Hint::At(vec![member("rows"), Part::Each, member("size")], Type::Number),
                Hint::At(vec![member("kind")], Type::Is("bug".into())),
                Hint::Named("owner".into(), None),
            ]
        );
        let text = "Invalid answer: : Invalid input: expected array, received object";
        assert_eq!(missed(text), [Hint::At(Vec::new(), Type::List)]);
        let text = "Validation error: Expected array, received object at \"rows\"";
        assert_eq!(missed(text), [Hint::At(vec![member("rows")], Type::List)]);
        let text = "Invalid input: expected \"places\"\n  → at type";
        assert_eq!(missed(text), [Hint::At(vec![member("type")], Type::Is("places".into()))]);
    }

    #[test]
    fn errors_of_scripts_name_what_they_looked_for() {
        for (text, wanted) in [
            ("KeyError: 'results'", Hint::Named("results".into(), None)),
            // What is left of the same once only its text is told.
            ("Error executing tool count: 'Shelves'", Hint::Named("Shelves".into(), None)),
            ("Error: missing field `choices` at line 1", Hint::Named("choices".into(), None)),
            (
                "TypeError: response.data.rows.map is not a function",
                Hint::At(vec![member("rows")], Type::List),
            ),
            ("TypeError: data.map is not a function", Hint::At(Vec::new(), Type::List)),
            ("TypeError: hits is not iterable", Hint::At(vec![member("hits")], Type::List)),
            ("Cannot read properties of undefined (reading 'map')", Hint::More),
            (
                "json: cannot unmarshal object into Go struct field Answer.rows of type []main.Row",
                Hint::At(vec![member("rows")], Type::List),
            ),
            ("SyntaxError: Unexpected token '<', \"<!doctype\"... is not valid JSON", Hint::Form(Form::Json)),
            ("not well-formed (invalid token): line 1, column 1", Hint::Form(Form::Atom)),
        ] {
            assert_eq!(missed(text), [wanted], "{text}");
        }
    }

    #[test]
    fn other_errors_say_nothing_of_an_answer() {
        for text in ["`topic` is required", "division by zero", "permission denied", ""] {
            assert_eq!(missed(text), [], "{text}");
        }
    }
}
