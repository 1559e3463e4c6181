//! A sole argument of a user-defined type: the argument struct, or a single argument under its own
//! name.
//!
//! Traits cannot distinguish the two, and the macro sees only the name of the type. The schema can,
//! so the decision is made once for each tool, when the schema is first built.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, Ordering};

use schemars::JsonSchema;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;

use super::one::{Named, One};
use toolkit_schema::{generate, root};

/// The cached form of a tool's sole argument.
pub struct Form(AtomicU8);

const UNDECIDED: u8 = 0;
const STRUCT: u8 = 1;
const NAMED: u8 = 2;

impl Form {
    /// Creates the form of a tool whose schema has not been built yet.
    #[must_use]
    pub const fn undecided() -> Self {
        Self(AtomicU8::new(UNDECIDED))
    }

    /// Returns true if the argument is passed under its own name.
    #[inline]
    fn is_named<N: Named, T: JsonSchema>(&self) -> bool {
        // A race is harmless: the decision depends on the type alone.
        match self.0.load(Ordering::Relaxed) {
            UNDECIDED => decide::<N, T>().is_none(),
            form => form == NAMED,
        }
    }

    fn decide(&self, schema: Value) -> Option<Value> {
        let is_struct = root::declares_properties(&schema);
        self.0.store(if is_struct { STRUCT } else { NAMED }, Ordering::Relaxed);
        is_struct.then_some(schema)
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Form").field(&self.0).finish()
    }
}

/// Builds the input schema of a tool with a sole argument.
pub fn schema<N: Named + 'static, T: DeserializeOwned + JsonSchema>() -> Value {
    decide::<N, T>().unwrap_or_else(generate::input::<One<N, T>>)
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
        let value = match N::form().is_named::<N, T>() {
            true => One::<N, T>::deserialize(deserializer)?.value,
            false => T::deserialize(deserializer)?,
        };
        Ok(Self { value, name: PhantomData })
    }
}
