//! The result of a backend.

use serde_json::{Map, Value};

/// The result of a backend, in the form that the backend has.
///
/// A backend returns the form that it has received, and the dispatcher validates it against the output schema.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::backend::BackendResponse;
///
/// /// Reads the reply of a server without parsing it.
/// fn answer(status: u16, body: Vec<u8>) -> BackendResponse {
///     match status {
///         204 => BackendResponse::Nothing,
///         _ => BackendResponse::Json(body),
///     }
/// }
///
/// assert!(matches!(answer(204, vec![]), BackendResponse::Nothing));
/// assert!(matches!(answer(200, b"[1,2]".to_vec()), BackendResponse::Json(_)));
/// assert!(matches!(BackendResponse::from(json!([1, 2])), BackendResponse::Value(_)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BackendResponse {
    /// A structured result.
    Value(Value),
    /// A structured result as JSON text.
    Json(Vec<u8>),
    /// A result of an MCP server (`CallToolResult`), unchanged.
    Mcp(Map<String, Value>),
    /// No result, for a tool without an output schema.
    Nothing,
}

impl From<Value> for BackendResponse {
    fn from(value: Value) -> Self {
        BackendResponse::Value(value)
    }
}
