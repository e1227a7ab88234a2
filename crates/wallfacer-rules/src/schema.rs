//! Tells what is wrong with a value by a JSON Schema. The only place that knows the validator.

use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Schema(jsonschema::Validator);

impl Schema {
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let mut options = jsonschema::options();
        // In 2020-12 a format is a mere remark unless asked for; a rule that names one means it.
        options = options.should_validate_formats(true);
        options.build(schema).map(Self).map_err(|error| error.to_string())
    }

    /// Where the value fails first, and why.
    pub(crate) fn violation(&self, value: &Value) -> Option<(String, String)> {
        let error = self.0.validate(value).err()?;
        Some((error.instance_path().to_string(), error.to_string()))
    }
}
