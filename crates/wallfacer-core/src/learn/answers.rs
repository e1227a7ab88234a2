//! Learns the form that all results of one tool have had so far, as structured content or as JSON in a text.

use serde_json::Value;

use super::file::Form;
use super::shape::Shape;
use crate::plan::Carrier;

/// Fewer answers than this show no habit.
const SIGHTINGS: u64 = 3;

/// One answer, as far as it is learned from.
#[derive(Debug, Clone, PartialEq)]
pub struct Sight(Option<(Carrier, Shape)>);

/// What the answers of one tool had in common so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    total: u64,
    structured: u64,
    texts: u64,
    shape: Shape,
}

/// The JSON of a result, and what carries it; none where it is prose, an image, or several things at once.
pub fn answer(result: &Value) -> Option<(Carrier, Value)> {
    if let Some(structured) = result.get("structuredContent") {
        return Some((Carrier::Structured, structured.clone()));
    }
    match result.get("content").and_then(Value::as_array).map(Vec::as_slice) {
        Some([block]) => {
            let text = block.get("text").and_then(Value::as_str)?;
            let value: Value = serde_json::from_str(text).ok()?;
            (value.is_object() || value.is_array()).then_some((Carrier::Text, value))
        }
        _ => None,
    }
}

impl Sight {
    pub fn of(result: &Value) -> Sight {
        Sight(answer(result).map(|(carrier, value)| (carrier, Shape::of(&value))))
    }
}

impl Answers {
    pub fn add(&mut self, Sight(sight): Sight) {
        self.total += 1;
        let Some((carrier, shape)) = sight else { return };
        match carrier {
            Carrier::Structured => self.structured += 1,
            Carrier::Text => self.texts += 1,
        }
        self.shape.merge(shape);
    }

    /// None where the answers are not all of one form, or too few.
    pub fn form(&self) -> Option<Form> {
        let carrier = match self.total {
            total if total < SIGHTINGS => return None,
            total if total == self.structured => Carrier::Structured,
            total if total == self.texts => Carrier::Text,
            _ => return None,
        };
        Some(Form { carrier, schema: self.shape.schema() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(text: &str) -> Value {
        json!({ "content": [{ "type": "text", "text": text }] })
    }

    fn form(results: &[Value]) -> Option<Form> {
        let mut answers = Answers::default();
        results.iter().for_each(|result| answers.add(Sight::of(result)));
        answers.form()
    }

    #[test]
    fn json_is_found_in_structured_content_and_in_a_text_of_its_own() {
        let both = json!({ "content": [{ "type": "text", "text": "[1]" }], "structuredContent": { "a": 1 } });
        assert_eq!(answer(&both), Some((Carrier::Structured, json!({ "a": 1 }))));
        assert_eq!(answer(&text("{\"a\": 1}")), Some((Carrier::Text, json!({ "a": 1 }))));
        for prose in ["12", "true", "\"x\"", "it is {} now", ""] {
            assert_eq!(answer(&text(prose)), None, "{prose}");
        }
        let two = json!({ "content": [{ "type": "text", "text": "{}" }, { "type": "text", "text": "{}" }] });
        assert_eq!(answer(&two), None);
    }

    #[test]
    fn only_what_every_answer_has_is_a_form() {
        let structured = json!({ "content": [], "structuredContent": { "a": true } });
        let always = form(&[structured.clone(), structured.clone(), structured.clone()]).unwrap();
        assert_eq!(always.carrier, Carrier::Structured);
        assert_eq!(form(&[structured.clone(), structured.clone()]), None);
        assert_eq!(form(&[structured.clone(), structured, text("{\"a\": true}")]), None);
        assert_eq!(form(&[text("[]"), text("[]"), text("none")]), None);
        assert_eq!(form(&[text("[]"), text("[]"), text("[]")]).unwrap().carrier, Carrier::Text);
    }
}
