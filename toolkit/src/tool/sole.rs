//! The only argument of a tool: the argument struct, or a value under its own name.
//!
//! Traits cannot distinguish the two, and the macro sees only the name of the type. The schema can, so the decision is
//! made once for each tool, when the schema is first built.

use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::Value;

use toolkit_schema::plan::SoleProperty;
use toolkit_schema::root;

/// The only argument of a tool.
#[derive(Debug)]
pub struct Sole {
    property: SoleProperty,
    description: &'static str,
    form: AtomicU8,
}

/// The schema has not been built.
const UNDECIDED: u8 = 0;
const STRUCT: u8 = 1;
const NAMED: u8 = 2;

impl Sole {
    /// Creates an argument from the name and the description of the parameter.
    #[must_use]
    pub const fn new(name: &'static str, description: &'static str, may_be_struct: bool) -> Self {
        let form = AtomicU8::new(if may_be_struct { UNDECIDED } else { NAMED });
        Self { property: SoleProperty::new(name), description, form }
    }

    /// Returns the property that contains the argument, unless the argument is the argument struct. `input` builds the
    /// schema, and is called if that has not happened.
    #[inline]
    pub(crate) fn property(&'static self, input: fn() -> Value) -> Option<&'static SoleProperty> {
        // A race is harmless: the decision depends on the type alone.
        match self.form.load(Ordering::Relaxed) {
            STRUCT => None,
            NAMED => Some(&self.property),
            _ => self.decided(input),
        }
    }

    #[cold]
    fn decided(&'static self, input: fn() -> Value) -> Option<&'static SoleProperty> {
        input();
        (self.form.load(Ordering::Relaxed) == NAMED).then_some(&self.property)
    }

    /// Returns the schema of the arguments, from functions that build the schema of the type and that of an object with
    /// the argument under a name and with a description.
    pub fn input(&self, ty: fn() -> Value, object: fn(&str, &str) -> Value) -> Value {
        if self.form.load(Ordering::Relaxed) != NAMED {
            let schema = ty();
            if root::declares_properties(&schema) {
                self.form.store(STRUCT, Ordering::Relaxed);
                return schema;
            }
            self.form.store(NAMED, Ordering::Relaxed);
        }
        object(self.property.name(), self.description)
    }
}
