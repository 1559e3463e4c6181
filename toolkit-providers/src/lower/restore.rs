//! Conversion of arguments for a lowered schema to arguments of the tool.

use serde_json::Value;

use toolkit::call::without_absent;
use toolkit_schema::Schema;

/// Removes each null that represents an absent argument: where the tool's own schema neither allows null nor requires
/// the argument.
///
/// A dispatcher does the same with arguments that do not match the schema, unless its
/// [`Coercion`](toolkit::call::Coercion) is off.
///
/// ```
/// # use serde_json::json;
/// # use toolkit_providers::restore;
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
