//! A set of JSON types. Integers and numbers with a fraction are told apart,
//! so that `integer` is a part of `number` and its complement can be asked for.

use crate::number;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Types = Types(0);
    pub(crate) const NULL: Types = Types(1);
    pub(crate) const BOOLEAN: Types = Types(2);
    pub(crate) const INTEGER: Types = Types(4);
    pub(crate) const FRACTION: Types = Types(8);
    pub(crate) const NUMBER: Types = Types(12);
    pub(crate) const STRING: Types = Types(16);
    pub(crate) const ARRAY: Types = Types(32);
    pub(crate) const OBJECT: Types = Types(64);
    pub(crate) const ANY: Types = Types(127);

    pub(crate) fn of_name(name: &str) -> Option<Types> {
        Some(match name {
            "null" => Types::NULL,
            "boolean" => Types::BOOLEAN,
            "integer" => Types::INTEGER,
            "number" => Types::NUMBER,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            _ => return None,
        })
    }

    pub(crate) fn of(value: &Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            Value::Number(n) if number::is_integer(n) => Types::INTEGER,
            Value::Number(_) => Types::FRACTION,
            Value::String(_) => Types::STRING,
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        }
    }

    pub(crate) fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(crate) fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub(crate) fn complement(self) -> Types {
        Types(!self.0 & Types::ANY.0)
    }

    pub(crate) fn meets(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The single types in here, the ones that hold more first: a field that may be null is rarely tested by null.
    pub(crate) fn each(self) -> impl Iterator<Item = Types> {
        [
            Types::STRING,
            Types::INTEGER,
            Types::FRACTION,
            Types::OBJECT,
            Types::ARRAY,
            Types::BOOLEAN,
            Types::NULL,
        ]
        .into_iter()
        .filter(move |single| self.meets(*single))
    }

    pub(crate) fn count(self) -> u64 {
        u64::from(self.0.count_ones())
    }

    /// As an author would write it.
    pub(crate) fn names(self) -> String {
        let mut names = Vec::new();
        for (single, name) in [
            (Types::STRING, "string"),
            (Types::OBJECT, "object"),
            (Types::ARRAY, "array"),
            (Types::BOOLEAN, "boolean"),
            (Types::NULL, "null"),
        ] {
            if self.meets(single) {
                names.push(name);
            }
        }
        if self.and(Types::NUMBER) == Types::NUMBER {
            names.push("number");
        } else if self.meets(Types::INTEGER) {
            names.push("integer");
        } else if self.meets(Types::FRACTION) {
            names.push("number with a fraction");
        }
        names.join(" or ")
    }
}

impl Default for Types {
    fn default() -> Self {
        Types::ANY
    }
}
