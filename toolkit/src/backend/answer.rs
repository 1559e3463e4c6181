//! What a backend answers, in the form it has it.

use serde_json::{Map, Value};

/// What a backend answers, in the form it has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// A structured result.
    Value(Value),
    /// A structured result as JSON text.
    Json(Vec<u8>),
    /// A result of an MCP server (`CallToolResult`), as it came.
    Mcp(Map<String, Value>),
    /// No result: the tool promises none.
    Nothing,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Answer::Value(value)
    }
}
