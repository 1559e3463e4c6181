//! The names by which serde reads the fields of an argument struct, aliases among them.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use crate::schema::alias::{self, with_aliases};
use crate::schema::plan::Plan;

/// Adds the aliases of the fields of `T` to its schema, which schemars leaves out.
pub(super) fn with_field_aliases<T: DeserializeOwned>(schema: Value) -> Value {
    let Some(fields) = fields::<T>() else {
        return schema;
    };
    let fits = |arguments: &Value| Plan::anything().decode::<T>(arguments.to_string().as_bytes()).is_ok();
    let found = alias::find(&schema, fields, &fits);
    let found: Vec<(&str, &[&str])> = found.iter().map(|(name, aliases)| (*name, &aliases[..])).collect();
    with_aliases(schema, &found)
}

/// The list that a derived `Deserialize` gives to a deserializer, if `T` is a struct that has one.
fn fields<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    T::deserialize(Asked).err()?.0
}

/// A deserializer that has nothing, and notes the fields that it was asked for.
struct Asked;

#[derive(Debug)]
struct Answer(Option<&'static [&'static str]>);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no value")
    }
}

impl std::error::Error for Answer {}

impl Error for Answer {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(None)
    }
}

impl<'de> Deserializer<'de> for Asked {
    type Error = Answer;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Answer> {
        Err(Answer(None))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Answer> {
        Err(Answer(Some(fields)))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Answer> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}
