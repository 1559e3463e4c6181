//! A sole argument that is not a struct, as an object with one property.
//!
//! A derived struct would work, but only rustc knows whether the argument needs one, so every
//! argument struct would pay for it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::Error as Nothing;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::form::Form;

/// The name and the description of a sole argument.
pub trait Named {
    /// The name of the property.
    const NAME: &'static str;
    /// The description of the property, or an empty string.
    const DESCRIPTION: &'static str;

    /// Returns the cached form of the tool's sole argument.
    fn form() -> &'static Form;
}

/// An object with one property that holds the argument.
pub struct One<N, T> {
    pub(super) value: T,
    name: PhantomData<N>,
}

impl<'de, N: Named, T: DeserializeOwned> Deserialize<'de> for One<N, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("One", const { &[N::NAME] }, OneVisitor(PhantomData))
    }
}

struct OneVisitor<N, T>(PhantomData<(N, T)>);

impl<'de, N: Named, T: DeserializeOwned> Visitor<'de> for OneVisitor<N, T> {
    type Value = One<N, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the key `{}`", N::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut value = None;
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            if key != N::NAME {
                entries.next_value::<IgnoredAny>()?;
            } else if value.replace(entries.next_value()?).is_some() {
                return Err(A::Error::duplicate_field(N::NAME));
            }
        }
        let value = match value {
            Some(value) => value,
            None => absent().ok_or_else(|| A::Error::missing_field(N::NAME))?,
        };
        Ok(One { value, name: PhantomData })
    }
}

impl<N: Named + 'static, T: DeserializeOwned + JsonSchema> JsonSchema for One<N, T> {
    fn schema_name() -> Cow<'static, str> {
        N::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        object(N::NAME, N::DESCRIPTION, absent::<T>().is_none(), generator.subschema_for::<T>())
    }
}

fn object(name: &str, description: &str, is_required: bool, mut property: Schema) -> Schema {
    if !description.is_empty() {
        property.insert("description".to_owned(), description.into());
    }
    let required: &[&str] = if is_required { &[name] } else { &[] };
    let mut schema = json_schema!({ "type": "object", "properties": { name: property } });
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

/// Returns the value of an argument that is absent: `None` for an option, no value for any other
/// type.
fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = Nothing;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Nothing> {
        Err(Nothing::custom("absent"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Nothing> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
