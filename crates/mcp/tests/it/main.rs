//! Tests of the public interface of `toolkit-mcp`.

mod fields;
mod json_text;
mod message;
mod meta;
mod param_headers;
mod rpc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit_mcp::RpcError;

/// Reads a JSON value as its text.
fn raw(json: &str) -> &RawValue {
    serde_json::from_str(json).expect("the text is JSON")
}

/// Returns the texts of JSON values.
fn texts<const N: usize>(values: [Option<&RawValue>; N]) -> [Option<&str>; N] {
    values.map(|value| value.map(RawValue::get))
}

/// Returns the code, the message and the data of an error.
fn error(error: &RpcError) -> (i64, String, Option<Value>) {
    let mut response: Value = serde_json::from_slice(&error.to_response(None)).expect("a response is JSON");
    assert_eq!(response["jsonrpc"], json!("2.0"));
    let code = response["error"]["code"].as_i64().expect("an error has a code");
    let message = response["error"]["message"].as_str().expect("an error has a message").to_owned();
    (code, message, response["error"].get_mut("data").map(Value::take))
}
