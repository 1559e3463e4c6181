//! Incoming messages.

use serde_json::value::RawValue;
use toolkit_mcp::{CallRequest, Code, Malformed, Message};

use crate::error;

/// Describes a message: its kind, id, method or tool, and the values that it carries.
fn read(json: &str) -> String {
    let shown = |value: Option<&RawValue>| value.map_or("-", RawValue::get).to_owned();
    match Message::parse(json.as_bytes()) {
        Ok(Message::Request { id, method, params }) => format!("request {id} {method} {}", shown(params)),
        Ok(Message::Call { id, call }) => format!("call {id} {} {}", call.name, shown(call.arguments)),
        Ok(Message::Notification { method, params }) => format!("notification {method} {}", shown(params)),
        Ok(Message::Response { id, result, error }) => {
            format!("response {} {} {}", shown(id), shown(result), shown(error))
        }
        Err(Malformed { id, fault }) => {
            assert!(fault.is_bad_request);
            let (code, message, data) = error(&fault);
            assert_eq!(data, None);
            format!("error {} {code} {message}", shown(id))
        }
    }
}

#[test]
fn a_message_is_a_request_a_call_a_notification_or_a_response() {
    for (json, message) in [
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#, "request 1 ping -"),
        (r#" {"method": "p\u0069ng", "params": [1], "id": "a", "jsonrpc": "2.0"} "#, "request \"a\" ping [1]"),
        (r#"{"jsonrpc": "2.0", "id": -1, "method": "", "params": null, "more": 1}"#, "request -1  -"),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}"#,
            "call 1 add {\"a\": 1}",
        ),
        (r#"{"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "add"}}"#, "call \"b\" add -"),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a\u0064d"}}"#,
            r#"request 1 tools/call {"name": "a\u0064d"}"#,
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": []}}"#,
            r#"request 1 tools/call {"name": "add", "arguments": []}"#,
        ),
        (
            r#"{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "add"}}"#,
            "notification tools/call {\"name\": \"add\"}",
        ),
        (r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#, "notification notifications/initialized -"),
        (r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#, "response 1 {} -"),
        (r#"{"jsonrpc": "2.0", "id": 1, "result": null}"#, "response 1 null -"),
        (r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}"#, "response 1 - {\"code\": 1}"),
        (r#"{"jsonrpc": "2.0", "error": null}"#, "response - - null"),
    ] {
        assert_eq!(read(json), message, "{json}");
    }
}

#[test]
fn a_malformed_message_has_a_code_and_the_id_that_could_be_read() {
    let no_json = "the message is not JSON, or has a duplicate field";
    let neither = "the message has neither `method`, `result` nor `error`";
    for (json, id, code, message) in [
        ("", "-", Code::ParseError, "the message is not JSON"),
        ("pong", "-", Code::ParseError, "the message is not JSON"),
        ("[1", "-", Code::ParseError, "the message is not JSON"),
        ("{\"id\": 1", "-", Code::ParseError, no_json),
        ("{\"id\": 1, \"id\": 1}", "-", Code::InvalidRequest, no_json),
        ("[]", "-", Code::InvalidRequest, "batches are not supported; send one message at a time"),
        ("[{\"id\": 1}]", "-", Code::InvalidRequest, "batches are not supported; send one message at a time"),
        ("1", "-", Code::InvalidRequest, "the message must be a JSON object"),
        ("\"[\"", "-", Code::InvalidRequest, "the message must be a JSON object"),
        ("null", "-", Code::InvalidRequest, "the message must be a JSON object"),
        (r#"{"id": 1, "method": "ping"}"#, "1", Code::InvalidRequest, "`jsonrpc` must be \"2.0\""),
        (
            r#"{"jsonrpc": 2.0, "id": "a", "method": "ping"}"#,
            "\"a\"",
            Code::InvalidRequest,
            "`jsonrpc` must be \"2.0\"",
        ),
        (r#"{"jsonrpc": "1.0", "method": "ping"}"#, "-", Code::InvalidRequest, "`jsonrpc` must be \"2.0\""),
        (
            r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#,
            "-",
            Code::InvalidRequest,
            "`id` must be a string or an integer",
        ),
        (
            r#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#,
            "-",
            Code::InvalidRequest,
            "`id` must be a string or an integer",
        ),
        (r#"{"jsonrpc": "2.0", "id": 1}"#, "1", Code::InvalidRequest, neither),
        (r#"{"jsonrpc": "2.0"}"#, "-", Code::InvalidRequest, neither),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": 7}"#, "1", Code::InvalidRequest, "`method` must be a string"),
        (r#"{"jsonrpc": "2.0", "id": 1, "method": null}"#, "1", Code::InvalidRequest, "`method` must be a string"),
    ] {
        assert_eq!(read(json), format!("error {id} {} {message}", code as i32), "{json}");
    }
}

#[test]
fn only_requests_have_an_id_to_answer() {
    for (json, id) in [
        (r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#, Some("1")),
        (r#"{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "add"}}"#, Some("2")),
        (r#"{"jsonrpc": "2.0", "method": "ping"}"#, None),
        (r#"{"jsonrpc": "2.0", "id": 3, "result": {}}"#, None),
    ] {
        assert_eq!(Message::parse(json.as_bytes()).unwrap().id().map(RawValue::get), id, "{json}");
    }
}

#[test]
fn the_meta_of_a_call_is_an_object() {
    let error = serde_json::from_str::<CallRequest<'_>>(r#"{"name": "add", "_meta": []}"#).unwrap_err();
    assert_eq!(error.to_string(), "invalid type: sequence, expected an object at line 1 column 25");
}
