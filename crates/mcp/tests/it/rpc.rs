//! Outgoing messages.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolkit_mcp::{Code, RpcError, json_bytes, notification, request, response, with_meta};

use crate::{error, raw};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("a message is UTF-8")
}

#[test]
fn each_error_has_the_code_of_the_protocol() {
    for (code, number) in [
        (Code::ParseError, -32700),
        (Code::InvalidRequest, -32600),
        (Code::MethodNotFound, -32601),
        (Code::InvalidParams, -32602),
        (Code::Internal, -32603),
        (Code::ResourceNotFound, -32002),
        (Code::HeaderMismatch, -32020),
        (Code::MissingClientCapability, -32021),
        (Code::UnsupportedVersion, -32022),
    ] {
        assert_eq!(error(&RpcError::new(code, "no")), (number, "no".to_owned(), None));
        assert_eq!(error(&RpcError::bad_request(code, "no")), (number, "no".to_owned(), None));
    }
}

#[test]
fn an_error_has_the_id_of_the_request_and_its_data() {
    let plain = RpcError::new(Code::Internal, "say \"no\"");
    assert!(!plain.is_bad_request);
    let without_id = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"say \"no\""}}"#;
    assert_eq!(text(plain.to_response(None)), without_id);
    let with_id = r#"{"jsonrpc":"2.0","id":"a\u0062","error":{"code":-32603,"message":"say \"no\""}}"#;
    assert_eq!(text(plain.to_response(Some(raw(r#""a\u0062""#)))), with_id);
    let bad = RpcError::bad_request(Code::InvalidParams, "no").with_data(json!({"a": [1]}));
    assert!(bad.is_bad_request);
    let response: Value = serde_json::from_slice(&bad.to_response(Some(raw("7")))).unwrap();
    let error = json!({"code": -32602, "message": "no", "data": {"a": [1]}});
    assert_eq!(response, json!({"jsonrpc": "2.0", "id": 7, "error": error}));
}

#[test]
fn the_name_of_an_unknown_method_is_escaped_and_cut() {
    let unknown = RpcError::unknown_method("a\nb");
    assert!(!unknown.is_bad_request);
    assert_eq!(error(&unknown), (-32601, "unknown method `a\\nb`".to_owned(), None));
    let long = format!("unknown method `{}`", "ö".repeat(64));
    assert_eq!(error(&RpcError::unknown_method(&"ö".repeat(65))).1, long);
}

#[test]
fn the_fields_of_meta_come_first_and_are_joined() {
    for (meta, object, joined) in [
        ("", "{}", "{}"),
        ("", r#"{"a":1}"#, r#"{"a":1}"#),
        (r#""_meta":{"a":1},"#, "{}", r#"{"_meta":{"a":1}}"#),
        (r#""_meta":{"a":1},"#, r#"{"b":2}"#, r#"{"_meta":{"a":1},"b":2}"#),
        (r#""_meta":{"a":1},"#, r#"{"_meta":{"b":2},"c":3}"#, r#"{"_meta":{"a":1,"b":2},"c":3}"#),
        (r#""_meta":{"a":1},"#, r#"{"_meta":{}}"#, r#"{"_meta":{"a":1}}"#),
        (r#""_meta":{"a":1},"#, r#"{"_meta":null}"#, r#"{"_meta":{"a":1},"_meta":null}"#),
        (r#""ttlMs":5,"#, r#"{"_meta":{"b":2}}"#, r#"{"ttlMs":5,"_meta":{"b":2}}"#),
        (r#""ttlMs":5,"#, "", r#"{"ttlMs":5}"#),
    ] {
        assert_eq!(text(with_meta(meta.as_bytes(), object.as_bytes())), joined, "{meta} {object}");
        let whole = format!(r#"{{"jsonrpc":"2.0","id":"a","result":{joined}}}"#);
        assert_eq!(text(response(raw("\"a\""), meta.as_bytes(), object.as_bytes())), whole, "{meta} {object}");
    }
}

#[test]
fn requests_and_notifications_are_written_in_one_form() {
    let expected = r#"{"jsonrpc":"2.0","id":7,"method":"a\"b","params":{"a":1}}"#;
    assert_eq!(text(request(7, "a\"b", br#"{"a":1}"#)), expected);
    let expected = r#"{"jsonrpc":"2.0","method":"a\"b","params":{"a":1}}"#;
    assert_eq!(text(notification("a\"b", &json!({"a": 1}))), expected);
    assert_eq!(text(json_bytes(&json!([null, "a"]))), "[null,\"a\"]");
}

#[test]
#[should_panic(expected = "the value has string keys only")]
fn a_map_with_other_keys_is_not_json() {
    json_bytes(&HashMap::from([([1, 2], 3)]));
}
