//! JSON literals in the metadata of tools.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use toolkit_schema::equality;

/// A JSON value in the metadata of a tool: the text of the author, or a parsed value.
///
/// Literals are equal if their values are equal.
#[doc(hidden)]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Literal {
    /// The text of the author, parsed on use. [`Catalog::check`](crate::Catalog::check) checks that it is JSON.
    Text(&'static str),
    /// A parsed value.
    Value(Value),
}

impl Literal {
    /// Returns the value.
    ///
    /// # Errors
    ///
    /// Returns an error if the text of the author is not JSON.
    pub fn parse(&self) -> Result<Value, serde_json::Error> {
        match self {
            Literal::Text(text) => serde_json::from_str(text),
            Literal::Value(value) => Ok(value.clone()),
        }
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Literal::Text(a), Literal::Text(b)) if a == b => true,
            _ => matches!((self.parse(), other.parse()), (Ok(a), Ok(b)) if equality::equal(&a, &b)),
        }
    }
}

impl Serialize for Literal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Literal::Text(_) => self.parse().unwrap_or_default().serialize(serializer),
            Literal::Value(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Literal::Value)
    }
}

impl JsonSchema for Literal {
    fn schema_name() -> Cow<'static, str> {
        "Literal".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}
