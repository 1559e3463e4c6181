//! Conversion to the type of `rmcp`.

use rmcp::model::CallToolResult;
use toolkit::mcp::Revision;

use super::results::ToolResults;

/// Converts the results, in the order of the calls.
impl TryFrom<&ToolResults> for Vec<CallToolResult> {
    type Error = serde_json::Error;

    fn try_from(results: &ToolResults) -> Result<Self, Self::Error> {
        results.to_mcp(Revision::V2025_11_25).iter().map(|json| serde_json::from_slice(json)).collect()
    }
}
