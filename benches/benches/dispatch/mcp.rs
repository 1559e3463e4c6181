//! The work of an MCP server for a call, with `toolkit`: from its `params` to the bytes of its result.

use toolkit::Dispatcher;
use toolkit::mcp::{CallParams, Revision, write_result};

/// Writes the data twice, as text and as structured content, in the fields that the other libraries write.
pub(crate) async fn call(dispatcher: &Dispatcher, params: &[u8]) -> Vec<u8> {
    let params = CallParams::parse(params).expect("valid");
    let tool = dispatcher.prepared(params.name()).expect("it is there");
    let result = tool.call(params.arguments()).await.expect("it succeeds");
    write_result(tool.tool(), &result, Revision::V2026_07_28)
}

/// The `params` of a call in revision 2026-07-28: with a `_meta`, without which rust-mcp-sdk rejects them.
pub(crate) fn params(name: &str, arguments: &[u8]) -> Vec<u8> {
    let arguments = str::from_utf8(arguments).expect("JSON is text");
    let meta =
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    format!(r#"{{"_meta":{meta},"name":"{name}","arguments":{arguments}}}"#).into_bytes()
}
