//! Measures how complicated a value is. Each accepted step of shrinking costs less than the one before, which is why
//! shrinking ends.

use serde_json::Value;

/// Compared in this order: the number of parts, the length of all text, and how far from plain the parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    parts: usize,
    length: usize,
    weight: u128,
}

impl Cost {
    pub(super) fn of(value: &Value) -> Cost {
        let mut cost = Cost { parts: 0, length: 0, weight: 0 };
        cost.add(value);
        cost
    }

    fn add(&mut self, value: &Value) {
        self.parts += 1;
        match value {
            Value::Null => {}
            Value::Bool(value) => self.weight += 1 + u128::from(*value),
            Value::Number(number) => self.weight += 3 + weight_of_number(number.as_f64().unwrap_or(f64::MAX)),
            Value::String(text) => {
                self.weight += 4;
                self.add_text(text);
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(members) => {
                for (key, member) in members {
                    self.add_text(key);
                    self.add(member);
                }
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        self.length += text.len();
        self.weight += text.chars().map(|character| u128::from(weight_of_character(character))).sum::<u128>();
    }
}

fn weight_of_number(number: f64) -> u128 {
    let fraction = if number.fract() == 0.0 { 0 } else { 1 << 20 };
    (number.abs() as u128).saturating_mul(2).min(1 << 100) + u128::from(number.is_sign_negative()) + fraction
}

fn weight_of_character(character: char) -> u32 {
    match character {
        'a' => 0,
        'b'..='z' => 1,
        '0'..='9' | 'A'..='Z' => 2,
        ' '..='~' => 3,
        other => 4 + other as u32 / 0x80,
    }
}
