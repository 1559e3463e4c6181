//! The same tools with rust-mcp-sdk: from the `params` of a call to the bytes of its result, through its `tool_box!`.
//!
//! This is the code in the call handler of its examples, without the handler, which needs a running server and costs
//! one more boxed future. Results contain the data twice, as structured content and as text; only serde's checks are
//! made.

use rust_mcp_sdk::macros::mcp_tool;
use rust_mcp_sdk::schema::{CallToolRequestParams, CallToolResult, TextContent};
use rust_mcp_sdk::tool_box;
use serde::Serialize;
use serde_json::Value;

use crate::tools::{self, Add as AddArgs, Batch as BatchArgs, Search as SearchArgs};

// The variants of the box have the names of these types.
#[mcp_tool(name = "add", description = "Adds two integers.")]
type Add = AddArgs;

#[mcp_tool(name = "search", description = "Searches.")]
type Search = SearchArgs;

#[mcp_tool(name = "batch", description = "Bills customers.")]
type Batch = BatchArgs;

tool_box!(Tools, [Add, Search, Batch]);

pub(crate) fn call(params: &[u8]) -> Vec<u8> {
    let params: CallToolRequestParams = serde_json::from_slice(params).expect("valid");
    let result = match Tools::try_from(params).expect("it is one of them") {
        Tools::Add(Add { a, b }) => answer(tools::add(a, b)),
        Tools::Search(args) => answer(tools::search(args)),
        Tools::Batch(args) => answer(tools::batch(args)),
    };
    serde_json::to_vec(&result).expect("a result is JSON")
}

/// The library takes a tree for the structured content, and leaves the text to the tool.
fn answer(data: impl Serialize) -> CallToolResult {
    let text = serde_json::to_string(&data).expect("a result is JSON");
    let Value::Object(structured) = serde_json::to_value(data).expect("a result is JSON") else {
        panic!("a result is an object");
    };
    CallToolResult::text_content(vec![TextContent::from(text)]).with_structured_content(structured)
}
