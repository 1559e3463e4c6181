//! The size of a schema.

use serde_json::Value;

use crate::error::{SchemaDiagnostic, SchemaErrorKind};
use crate::limits::MAX_DEPTH;

/// The maximum depth at which the validator is built on the caller's stack. Schemas written by people are below it.
const MAX_SHALLOW: usize = 24;

/// The size of a document, measured without descending deeper than the limit.
pub(super) struct Size {
    depth: usize,
    /// True if the document may name a schema by `$id` or an anchor.
    pub(super) has_names: bool,
}

impl Size {
    /// Returns true if the validator may be built on the caller's stack.
    pub(super) fn is_shallow(&self) -> bool {
        self.depth <= MAX_SHALLOW
    }

    /// Measures a document.
    ///
    /// # Errors
    ///
    /// Returns the defect of a document that is too deep.
    pub(super) fn measure(schema: &Value) -> Result<Self, SchemaDiagnostic> {
        let mut size = Self { depth: 0, has_names: false };
        let mut pending = vec![(schema, 0)];
        while let Some((value, depth)) = pending.pop() {
            size.depth = size.depth.max(depth);
            if depth > MAX_DEPTH {
                let message = format!("the schema is nested deeper than {} levels", MAX_DEPTH);
                return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
            }
            match value {
                Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Object(object) => {
                    let is_name = |name: &&str| object.get(*name).is_some_and(Value::is_string);
                    size.has_names |= ["$id", "$anchor", "$dynamicAnchor"].iter().any(is_name);
                    pending.extend(object.values().map(|value| (value, depth + 1)));
                }
                _ => {}
            }
        }
        Ok(size)
    }
}
