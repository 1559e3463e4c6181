//! Bounds that only repeat the width of a type of numbers, which no author wrote and no model needs.

use serde_json::Value;

use super::walk;

/// Removes the bounds of types of 32 bits and more from a schema that a model reads. Bounds of narrower types stay, and so
/// does the minimum of an unsigned type.
///
/// The contract of a tool keeps all of them: a call validates them, and a comparison sees that a type became narrower.
///
/// ```
/// use serde_json::json;
///
/// let mut schema = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
/// toolkit_schema::width::remove(&mut schema);
/// assert_eq!(schema, json!({ "type": "integer", "minimum": 0 }));
/// ```
pub fn remove(schema: &mut Value) {
    if walk::is_tractable(schema) {
        remove_below(schema);
    }
}

fn remove_below(schema: &mut Value) {
    if let Value::Object(keywords) = schema {
        keywords.retain(|keyword, limit| !(matches!(&**keyword, "minimum" | "maximum") && is_width(limit)));
        walk::each_mut(keywords, |_, sub| remove_below(sub));
    }
}

/// Returns true if a limit is only that of a type. ±(2^53 - 1) are the bounds of an integer in JavaScript.
pub(crate) fn is_width(limit: &Value) -> bool {
    const SAFE: i64 = (1 << 53) - 1;
    const WIDTHS: [i64; 7] = [i32::MIN as i64, i32::MAX as i64, u32::MAX as i64, -SAFE, SAFE, i64::MIN, i64::MAX];
    match (limit.as_i64(), limit.as_f64()) {
        (Some(limit), _) => WIDTHS.contains(&limit),
        (None, Some(limit)) => limit.abs() == f64::from(f32::MAX) || limit == u64::MAX as f64,
        (None, None) => false,
    }
}
