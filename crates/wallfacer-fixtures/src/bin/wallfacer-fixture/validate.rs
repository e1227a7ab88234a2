//! Finds the first thing wrong with a client's value by one of our own schemas.
//!
//! It knows the keywords that the schemas of this server use, and no others.

use serde_json::{Map, Value};

pub fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    check(schema, value, "")
}

/// The recursion follows our own schema, which is finite, not the value.
fn check(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    let shown = if path.is_empty() { "the arguments" } else { path };
    if let Some(expected) = schema["type"].as_str()
        && !has_type(value, expected)
    {
        return Err(format!("{shown} must be of type {expected}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{shown} must be one of {}", Value::from(allowed.clone())));
    }
    if let Some(forms) = schema["anyOf"].as_array()
        && !forms.iter().any(|form| check(form, value, path).is_ok())
    {
        return Err(format!("{shown} must have one of the forms that the schema names"));
    }
    match value {
        Value::String(text) => {
            let length = text.chars().count() as f64;
            within(schema, "minLength", "maxLength", length, &format!("the length of {shown}"))
        }
        Value::Number(number) => check_number(schema, number.as_f64().unwrap_or(f64::NAN), shown),
        Value::Array(items) => check_items(schema, items, path, shown),
        Value::Object(members) => check_members(schema, members, path, shown),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn has_type(value: &Value, expected: &str) -> bool {
    match expected {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "number" => value.is_number(),
        // JSON Schema counts 1.0 among the integers.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

fn within(schema: &Value, least: &str, most: &str, number: f64, shown: &str) -> Result<(), String> {
    match (schema[least].as_f64(), schema[most].as_f64()) {
        (Some(least), _) if number < least => Err(format!("{shown} must be at least {least}")),
        (_, Some(most)) if number > most => Err(format!("{shown} must be at most {most}")),
        _ => Ok(()),
    }
}

fn check_number(schema: &Value, number: f64, shown: &str) -> Result<(), String> {
    within(schema, "minimum", "maximum", number, shown)?;
    let bound = |keyword: &str| schema[keyword].as_f64();
    match (bound("exclusiveMinimum"), bound("exclusiveMaximum"), bound("multipleOf")) {
        (Some(least), _, _) if number <= least => Err(format!("{shown} must be above {least}")),
        (_, Some(most), _) if number >= most => Err(format!("{shown} must be below {most}")),
        (_, _, Some(factor)) if number % factor != 0.0 => {
            Err(format!("{shown} must be a multiple of {factor}"))
        }
        _ => Ok(()),
    }
}

fn check_items(schema: &Value, items: &[Value], path: &str, shown: &str) -> Result<(), String> {
    within(schema, "minItems", "maxItems", items.len() as f64, &format!("the length of {shown}"))?;
    match schema.get("items") {
        Some(each) => {
            (items.iter().enumerate()).try_for_each(|(at, item)| check(each, item, &format!("{path}[{at}]")))
        }
        None => Ok(()),
    }
}

fn check_members(
    schema: &Value,
    members: &Map<String, Value>,
    path: &str,
    shown: &str,
) -> Result<(), String> {
    let known = schema["properties"].as_object();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            return Err(format!("{shown}: `{name}` is required"));
        }
    }
    for (name, member) in members {
        match known.and_then(|known| known.get(name)) {
            Some(schema) => {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                check(schema, member, &path)?;
            }
            None if schema["additionalProperties"] == Value::Bool(false) => {
                return Err(format!("{shown}: `{name}` is not known"));
            }
            None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::validate;
    use serde_json::json;

    #[test]
    fn an_integer_may_be_written_with_a_point() {
        let schema = json!({"type": "integer"});
        assert_eq!(validate(&schema, &json!(2.0)), Ok(()));
        assert!(validate(&schema, &json!(2.5)).is_err());
    }

    #[test]
    fn the_first_fault_is_named_with_its_path() {
        let schema = json!({"type": "object", "properties": {"stops": {"type": "array",
            "items": {"type": "object", "properties": {"nights": {"type": "integer", "maximum": 30}}}}}});
        let value = json!({"stops": [{"nights": 1}, {"nights": 31}]});
        assert_eq!(validate(&schema, &value), Err("stops[1].nights must be at most 30".to_owned()));
    }
}
