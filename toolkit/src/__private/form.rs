//! The form of a sole argument: the argument struct, or a single argument under its own name.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::Value;

use toolkit_schema::root;

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

    /// Returns true if the argument is passed under its own name, or `None` before the decision.
    #[inline]
    pub(super) fn is_named(&self) -> Option<bool> {
        // A race is harmless: the decision depends on the type alone.
        match self.0.load(Ordering::Relaxed) {
            UNDECIDED => None,
            form => Some(form == NAMED),
        }
    }

    /// Decides the form by the schema of the argument, and returns the schema if it is that of a struct.
    pub(super) fn decide(&self, schema: Value) -> Option<Value> {
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
