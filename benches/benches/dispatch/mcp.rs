//! `toolkit` doing what an MCP server does with a call: from its `params` to the bytes of its result.
//!
//! The library has the call and its content, the host the envelope; these lines are the host's.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::Dispatcher;

/// What of the `params` a dispatcher needs; the rest is read over.
#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// The data twice, as text and as a structure, in the fields that the other libraries write.
pub(crate) async fn call(dispatcher: &Dispatcher, params: &[u8]) -> Vec<u8> {
    let Params { name, arguments } = serde_json::from_slice(params).expect("valid");
    let result = dispatcher.call(&name, arguments.get()).await.expect("it succeeds");
    let structured = result.json().expect("it promises a result");

    // All three results are objects, which both revisions of the protocol take as they are. The bytes are JSON already:
    // a serializer would read them again before it let them through.
    let mut bytes = Vec::with_capacity(2 * structured.len() + 128);
    bytes.extend_from_slice(br#"{"resultType":"complete","content":"#);
    serde_json::to_writer(&mut bytes, &result.content()).expect("content is JSON");
    bytes.extend_from_slice(br#","structuredContent":"#);
    bytes.extend_from_slice(structured);
    bytes.extend_from_slice(br#","isError":false}"#);
    bytes
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
