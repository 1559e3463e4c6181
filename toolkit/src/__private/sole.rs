//! A sole argument of a user-defined type: the argument struct, or a single argument under its own
//! name.
//!
//! Traits cannot distinguish the two, and the macro sees only the name of the type. The schema can,
//! so the decision is made once for each tool, when the schema is first built.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;

use super::one::{Named, One};
use toolkit_schema::generate;

/// Builds the input schema of a tool with a sole argument.
pub fn schema<N: Named + 'static, T: DeserializeOwned + JsonSchema>() -> Value {
    decide::<N, T>().unwrap_or_else(generate::input::<One<N, T>>)
}

/// Returns true if the argument is passed under its own name.
#[inline]
fn is_named<N: Named, T: JsonSchema>() -> bool {
    N::form().is_named().unwrap_or_else(|| decide::<N, T>().is_none())
}

/// Returns the schema of the argument struct, if `T` is one.
#[cold]
fn decide<N: Named, T: JsonSchema>() -> Option<Value> {
    N::form().decide(generate::input::<T>())
}

/// A sole argument, deserialized from either form.
pub struct Sole<N, T> {
    pub(super) value: T,
    name: PhantomData<N>,
}

impl<'de, N: Named, T: DeserializeOwned + JsonSchema> Deserialize<'de> for Sole<N, T> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = match is_named::<N, T>() {
            true => One::<N, T>::deserialize(deserializer)?.value,
            false => T::deserialize(deserializer)?,
        };
        Ok(Self { value, name: PhantomData })
    }
}
