//! Publishes what we write as JSON Schemas, for those who read the files with other tools. They are made from the types
//! by the tests alone, so that no field can be forgotten and the product carries nothing for it.

use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// The JSON Schema of what is written of a type, compared with the file of that name in the repository.
///
/// # Panics
/// When the file says something else. It is written anew where the developer asks for it.
pub fn published<T: JsonSchema>(file: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().with_transform(Exact).into_generator();
    let schema = generator.into_root_schema_for::<T>().to_value();
    let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(file);
    #[allow(clippy::disallowed_methods, reason = "the developer asks for the file to be written")]
    if std::env::var_os("WALLFACER_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, made, "run this test once with WALLFACER_BLESS=1");
    schema
}

/// Says of every object that it has no other members, and of every member that may be left out that it is not null.
#[derive(Debug, Clone)]
struct Exact;

impl Transform for Exact {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        // Of integers it tells their size in memory, which nobody else has to know.
        schema.remove("format");
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
        for (name, member) in members {
            let kind = member.get_mut("type").filter(|_| !required.contains(&json!(name)));
            if let Some(kind) = kind
                && let Some([only, Value::String(null)]) = kind.as_array().map(Vec::as_slice)
                && null == "null"
            {
                *kind = only.clone();
            }
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
}

mod tests {
    use super::*;
    use crate::findings::finding::examples::full;
    use crate::findings::{Finding, Kind, Repro};
    use crate::plan::Subject;

    #[test]
    fn every_finding_that_we_write_keeps_to_the_json_schema() {
        let published = published::<Finding>("finding.schema.json");
        let schema = jsonschema::validator_for(&published).unwrap();
        let mut findings: Vec<_> = Kind::examples().map(|kind| Finding { kind, ..full() }).into();
        findings[0].subject = Subject::Server;
        findings[1].repro = Repro::NotReplayable { reason: "x".to_owned() };
        (findings[2].target, findings[2].tool) = (None, None);
        findings[3].tools.clear();
        for finding in findings {
            let stored = json!(finding);
            let wrong: Vec<String> = schema.iter_errors(&stored).map(|error| error.to_string()).collect();
            assert_eq!(wrong, [""; 0]);
        }
        let changed = |name: &str, value: Value| {
            let mut stored = json!(full());
            stored[name] = value;
            stored
        };
        for wrong in [
            json!({}),
            changed("id", json!("x")),
            changed("kind", json!({ "type": "hang" })),
            changed("severity", json!("grave")),
            changed("subject", json!("tool")),
            changed("tools", json!(null)),
            changed("more", json!(1)),
        ] {
            assert!(!schema.is_valid(&wrong), "{wrong}");
        }
    }
}
