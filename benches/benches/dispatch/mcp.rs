//! `toolkit` doing what an MCP server does with a call: from its `params` to the bytes of its result.

use serde_json::Value;
use toolkit::Dispatcher;
use toolkit::adapter::mcp::{CallParams, Revision, write_result};

/// The data twice, as text and as a structure, in the fields that the other libraries write.
pub(crate) async fn call(dispatcher: &Dispatcher, params: &[u8]) -> Vec<u8> {
    let params = CallParams::parse(params).expect("valid");
    let result = dispatcher.call(params.name(), params.arguments()).await.expect("it succeeds");
    let tool = dispatcher.catalog().get(params.name()).expect("it is there");
    write_result(tool, &result, Revision::V2026_07_28)
}

/// The `params` of a call, as 2026-07-28 wants them: with a `_meta`, without which rust-mcp-sdk refuses them.
pub(crate) fn params(name: &str, arguments: &[u8]) -> Vec<u8> {
    let arguments = str::from_utf8(arguments).expect("JSON is text");
    let meta =
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    format!(r#"{{"_meta":{meta},"name":"{name}","arguments":{arguments}}}"#).into_bytes()
}

/// Whether a result is a success with this data in both forms.
pub(crate) fn says(result: &[u8], expected: &Value) -> bool {
    let result: Value = serde_json::from_slice(result).expect("valid");
    let text = result["content"][0]["text"].as_str().expect("it has a text");
    let text: Value = serde_json::from_str(text).expect("its text is JSON");
    result["isError"] != true && result["structuredContent"] == *expected && text == *expected
}
