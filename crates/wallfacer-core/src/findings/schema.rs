//! What a stored finding looks like, as a JSON Schema for those who read the files with other tools.

use serde_json::{Map, Value, json};

use super::ReferenceKind;
use crate::kind::FINDING_KINDS;
use crate::target::Severity;

/// The JSON Schema of one finding.
pub fn finding_schema() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let optional = |description: &str| json!({ "type": ["string", "null"], "description": description });
    let properties = json!({
        "id": {
            "type": "string",
            "pattern": "^[0-9a-f]{16}$",
            "description": "The hash of what makes it this bug: server, kind, subject and cause.",
        },
        "kind": kind(),
        "severity": { "enum": Severity::ALL.map(Severity::as_str) },
        "tool": optional("The tool it is about; null where it is not about one."),
        "subject": subject(),
        "tools": words("Where one cause shows in many tools: all of them."),
        "message": text("One sentence."),
        "details": text("More of it."),
        "evidence": list(&["label", "text"], json!({
            "label": text("What the text is: the exit status, the end of stderr, a frame."),
            "text": text("The text itself."),
        })),
        "reproduced": object(&["k", "n"], json!({
            "k": { "type": "integer", "minimum": 0, "description": "How often it was seen." },
            "n": { "type": "integer", "minimum": 0, "description": "In how many tries on fresh servers." },
        })),
        "repro": repro(),
        "seed": { "type": "integer", "minimum": 0, "description": "Of the run." },
        "target": target("What was started or reached, without secrets."),
        "other": target("The server that it was held against, where it was."),
        "server": object(&[], json!({ "name": optional("As it calls itself."), "version": optional("As it says.") })),
        "protocol": optional("The protocol version that was spoken."),
        "references": list(&["kind", "text"], json!({
            "kind": { "enum": ReferenceKind::ALL },
            "text": text("The section, or the number."),
        })),
        "first_seen": text("RFC 3339, in UTC."),
        "last_seen": text("RFC 3339, in UTC."),
        "replay": text("The command that shows it again, where more is needed than the id."),
        "mark": text("Tells the user who recorded it that it is their own."),
    });
    let required = [
        "id",
        "kind",
        "severity",
        "tool",
        "subject",
        "message",
        "details",
        "evidence",
        "reproduced",
        "repro",
        "seed",
        "target",
        "server",
        "protocol",
        "references",
        "first_seen",
        "last_seen",
    ];
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A finding of wallfacer",
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

fn list(required: &[&str], properties: Value) -> Value {
    json!({ "type": "array", "items": object(required, properties) })
}

fn words(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

/// One form for each kind: its name, and what only it has.
fn kind() -> Value {
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer", "minimum": 0 });
    let own = |name: &str| match name {
        "hang" => vec![("ms", number())],
        "property_failure" => vec![("invariant", text())],
        "sequence_failure" => vec![("sequence", text()), ("step_index", number()), ("step_call", text())],
        "conformance" => vec![("rule", text())],
        _ => vec![],
    };
    let forms = FINDING_KINDS.map(|name| {
        let fields: Vec<(&str, Value)> =
            [("type", json!({ "const": name }))].into_iter().chain(own(name)).collect();
        let required: Vec<&str> = fields.iter().map(|(field, _)| *field).collect();
        let properties: Map<String, Value> =
            fields.iter().map(|(field, form)| ((*field).to_owned(), form.clone())).collect();
        object(&required, Value::Object(properties))
    });
    json!({ "oneOf": forms })
}

fn subject() -> Value {
    let named = ["tool", "resource", "prompt", "completion"]
        .map(|name| object(&[name], json!({ name: { "type": "string" } })));
    let server = json!({ "const": "server" });
    json!({ "oneOf": named.into_iter().chain([server]).collect::<Vec<_>>() })
}

fn repro() -> Value {
    let replayable = object(
        &["case", "original_bytes"],
        json!({
            "case": {
                "type": "object",
                "description": "What is replayed. Long repetitions stand as recipes, secrets as `<redacted:NAME>`.",
            },
            "original_bytes": {
                "type": "integer",
                "minimum": 0,
                "description": "The size of the payload before it was made smaller.",
            },
        }),
    );
    let not = object(&["reason"], json!({ "reason": { "type": "string" } }));
    let forms = [("replayable", replayable), ("not_replayable", not)]
        .map(|(name, form)| object(&[name], json!({ name: form })));
    json!({ "oneOf": forms })
}

fn target(description: &str) -> Value {
    json!({
        "type": ["object", "null"],
        "description": description,
        "additionalProperties": false,
        "properties": {
            "command": words("The program and its arguments."),
            "cwd": { "type": "string" },
            "env": words("The names of the variables that were set."),
            "env_only": words("The names of the variables of our own that it was given, where that was not all."),
            "env_pass": words("The names of the variables of our own that it was given as they are, beside all others."),
            "protocol": { "type": "string", "description": "The version that was asked for." },
            "roots": words("The directories that were named when the server asked for roots."),
            "keep": words("What it was shown of the home as it is."),
            "url": { "type": "string" },
            "headers": words("The names of the headers that were sent."),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::finding::examples::full;
    use crate::findings::{Kind, Repro};
    use crate::plan::Subject;
    use std::path::Path;

    #[test]
    fn the_json_schema_in_the_repository_is_the_one_we_make() {
        let made = serde_json::to_string_pretty(&finding_schema()).unwrap() + "\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/finding.schema.json");
        #[allow(clippy::disallowed_methods, reason = "the developer asks for the file to be written")]
        if std::env::var_os("WALLFACER_BLESS").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, made, "run this test once with WALLFACER_BLESS=1");
    }

    /// The few keywords that the schema uses; the case is left to its own format.
    fn fits(schema: &Value, value: &Value) -> bool {
        if let Some(wanted) = schema.get("const") {
            return wanted == value;
        }
        if let Some(Value::Array(known)) = schema.get("enum") {
            return known.contains(value);
        }
        if let Some(Value::Array(forms)) = schema.get("oneOf") {
            return forms.iter().filter(|form| fits(form, value)).count() == 1;
        }
        let types = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
        match value {
            Value::Null => types.contains(&json!("null")),
            Value::String(_) => types.contains(&json!("string")),
            Value::Number(_) => types.contains(&json!("integer")),
            Value::Bool(_) => types.contains(&json!("boolean")),
            Value::Array(items) => items.iter().all(|item| fits(&schema["items"], item)),
            Value::Object(members) => {
                let required = schema["required"].as_array().into_iter().flatten();
                let known = |key: &str| schema.get("properties").map(|known| known.get(key));
                required.filter_map(Value::as_str).all(|key| members.contains_key(key))
                    && members.iter().all(|(key, member)| match known(key) {
                        Some(Some(form)) => fits(form, member),
                        Some(None) => false,
                        None => true,
                    })
            }
        }
    }

    #[test]
    fn every_finding_that_we_write_fits_the_schema() {
        let schema = finding_schema();
        let mut findings: Vec<_> =
            Kind::examples().map(|kind| crate::findings::Finding { kind, ..full() }).into();
        findings[0].subject = Subject::Server;
        findings[1].repro = Repro::NotReplayable { reason: "x".to_owned() };
        (findings[2].target, findings[2].tool) = (None, None);
        findings[3].tools.clear();
        for finding in findings {
            let stored = json!(finding);
            for (key, value) in stored.as_object().unwrap() {
                assert!(fits(&schema["properties"][key], value), "{key}: {value}");
            }
            assert!(fits(&schema, &stored));
        }
        assert!(!fits(&schema, &json!({})));
        let written = json!(full());
        let known = schema["properties"].as_object().unwrap();
        assert!(
            known.keys().all(|key| written.get(key).is_some()),
            "the schema tells of nothing that is not there"
        );
    }
}
