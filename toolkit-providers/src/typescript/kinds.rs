//! The kinds of JSON values that a schema accepts.

use serde_json::{Map, Value};

/// A set of kinds of JSON values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const NUMBER: Self = Self(4);
    pub(super) const STRING: Self = Self(8);
    pub(super) const ARRAY: Self = Self(16);
    pub(super) const OBJECT: Self = Self(32);
    pub(super) const ALL: Self = Self(63);

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the kinds of the keyword `type`.
    pub(super) fn declared(keywords: &Map<String, Value>) -> Self {
        match keywords.get("type") {
            Some(Value::String(name)) => Self::named(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(Self::named).fold(Self::NONE, Self::or)
            }
            _ => Self::ALL,
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" | "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }

    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Returns the kinds whose structure the keywords declare, without regard to `type`.
    pub(super) fn structured(keywords: &Map<String, Value>) -> Self {
        let has = |names: &[&str]| {
            names.iter().any(|name| keywords.get(*name).is_some_and(|value| *value != true && *value != Value::Null))
        };
        let object = has(&["properties", "required", "additionalProperties", "patternProperties"]);
        let array = has(&["items", "prefixItems"]);
        let object = if object { Self::OBJECT } else { Self::NONE };
        object.or(if array { Self::ARRAY } else { Self::NONE })
    }
}

/// Returns the listed values of `enum` or `const`.
pub(super) fn listed(keywords: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (keywords.get("const"), keywords.get("enum")) {
        (Some(constant), _) => Some(vec![constant]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        (None, _) => None,
    }
}
