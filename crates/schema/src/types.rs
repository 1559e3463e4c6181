//! Sets of JSON types.

use std::fmt;

use serde_json::Value;

/// A set of JSON types, in which numbers with and without a fraction are distinct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Types(u8);

impl Types {
    /// No type.
    pub const NONE: Self = Self(0);
    /// `null`.
    pub const NULL: Self = Self(1);
    /// `true` and `false`.
    pub const BOOLEAN: Self = Self(2);
    /// Numbers without a fraction.
    pub const INTEGER: Self = Self(4);
    /// Numbers with a fraction.
    pub const FRACTION: Self = Self(8);
    /// All numbers.
    pub const NUMBER: Self = Self(4 | 8);
    /// Strings.
    pub const STRING: Self = Self(16);
    /// Arrays.
    pub const ARRAY: Self = Self(32);
    /// Objects.
    pub const OBJECT: Self = Self(64);
    /// All types.
    pub const ALL: Self = Self(127);

    /// Returns the types named by the value of `type`.
    pub fn named(names: &Value) -> Self {
        match names {
            Value::String(name) => Self::from_name(name),
            Value::Array(names) => {
                names.iter().filter_map(Value::as_str).map(Self::from_name).fold(Self::NONE, Self::or)
            }
            _ => Self::ALL,
        }
    }

    fn from_name(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }

    /// Returns the type of a value.
    pub fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() != 0.0) => Self::FRACTION,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Returns the types of either set.
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the types of both sets.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the types of this set that the other lacks.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns true if the set has no type.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if the other set has all types of this one.
    pub fn is_within(self, other: Self) -> bool {
        self.without(other).is_empty()
    }

    /// Returns true if the sets have a common type.
    pub fn meets(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    /// Returns the names of the types, `null` last. Numbers without a fraction are not listed beside all numbers.
    pub fn names(self) -> Vec<&'static str> {
        let names = [
            (Self::OBJECT, "object"),
            (Self::ARRAY, "array"),
            (Self::STRING, "string"),
            (Self::FRACTION, "number"),
            (if self.meets(Self::FRACTION) { Self::NONE } else { Self::INTEGER }, "integer"),
            (Self::BOOLEAN, "boolean"),
            (Self::NULL, "null"),
        ];
        names.into_iter().filter(|(one, _)| self.meets(*one)).map(|(_, name)| name).collect()
    }

    /// Iterates over the types of the set.
    pub fn each(self) -> impl Iterator<Item = Self> {
        (0..7).map(|bit| Self(1 << bit)).filter(move |one| self.meets(*one))
    }
}

/// Lists the types for a message: `string or null`.
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(" or "))
    }
}
