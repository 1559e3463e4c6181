//! The result of a backend.

use serde_json::{Map, Value};

/// The result of a backend, in the form that the backend has.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// A structured result.
    Value(Value),
    /// A structured result as JSON text.
    Json(Vec<u8>),
    /// A result of an MCP server (`CallToolResult`), unchanged.
    Mcp(Map<String, Value>),
    /// No result, for a tool without an output schema.
    Nothing,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Answer::Value(value)
    }
}
