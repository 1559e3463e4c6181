//! From what a model sends for a lowered schema to what the tool takes.

use serde_json::Value;

use crate::call::without_absent;
use toolkit_schema::Schema;

/// Takes out each null that stands for an argument that is absent: where the tool's own schema does not allow null, and
/// does not require the argument.
///
/// A dispatcher does the same to arguments that the schema refuses, unless its
/// [`Coercion`](crate::call::Coercion) is off.
///
/// ```
/// # use serde_json::json;
/// # use toolkit::adapter::restore;
/// # use toolkit::schema::Schema;
/// let schema = Schema::from_value(json!({
///     "type": "object",
///     "properties": { "unit": { "type": "string" }, "note": { "type": ["string", "null"] } },
/// }))?;
/// let sent = json!({ "unit": null, "note": null });
/// assert_eq!(restore(&schema, sent), json!({ "note": null }));
/// # Ok::<(), toolkit::schema::SchemaError>(())
/// ```
#[must_use]
pub fn restore(schema: &Schema, arguments: Value) -> Value {
    without_absent(schema, arguments)
}
