//! The result of an MCP server, which keeps what its values do not.

use serde_json::{Map, Value};

use toolkit_schema::child;
use toolkit_schema::digits::Digits;

/// The unchanged result of an MCP server, with the digits that its values do not keep.
#[derive(Clone, Default)]
pub(crate) struct McpResult {
    pub(crate) fields: Map<String, Value>,
    pub(crate) digits: Digits,
}

impl McpResult {
    /// Writes a field, or a value that was made from it, with the digits of its numbers.
    pub(crate) fn write(&self, key: &str, value: &Value, out: &mut Vec<u8>) {
        self.digits.write(value, &child("", key), out);
    }
}

impl From<Map<String, Value>> for McpResult {
    fn from(fields: Map<String, Value>) -> Self {
        Self { fields, digits: Digits::default() }
    }
}
