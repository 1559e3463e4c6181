//! Arguments that HTTP headers repeat.

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use toolkit_mcp::{ParamHeader, decoded, encoded};

use crate::raw;

fn annotated(header: &str, kind: &str) -> Value {
    json!({ "type": kind, "x-mcp-header": header })
}

/// Returns the headers that the annotations of a schema declare, for these arguments.
fn headers(properties: Value, arguments: &str) -> Result<Vec<(String, String)>, String> {
    let params = ParamHeader::collect_from(&json!({ "type": "object", "properties": properties }))?;
    let headers = params.iter().filter_map(|param| param.of(raw(arguments)));
    Ok(headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect())
}

#[test]
fn an_annotated_argument_is_repeated_in_its_header() {
    let properties = json!({
        "city": annotated("City", "string"),
        "days": annotated("days", "integer"),
        "live": annotated("Live", "boolean"),
        "other": { "type": "string" },
        "place": { "type": "object", "properties": { "zip": annotated("Zip", "string") } },
    });
    let sent = |arguments: &str| headers(properties.clone(), arguments).unwrap();
    let pair = |name: &str, value: &str| (format!("mcp-param-{name}"), value.to_owned());
    assert_eq!(
        sent(r#"{"city": "R\u006fme", "days": 3, "live": false, "other": "x", "place": {"zip": "ö"}}"#),
        [pair("city", "Rome"), pair("days", "3"), pair("live", "false"), pair("zip", "=?base64?w7Y=?=")]
    );
    assert_eq!(
        sent(r#"{"c\u0069ty": "Rome", "days": null, "live": {}, "place": {"zip": []}}"#),
        [pair("city", "Rome")]
    );
    for without in ["{}", "[]", "1", r#"{"place": {}}"#, r#"{"place": "zip"}"#, r#"{"city": "\ud800"}"#] {
        assert_eq!(sent(without), [], "{without}");
    }
}

#[test]
fn a_schema_without_annotations_has_no_headers() {
    for schema in [json!({}), json!(true), json!({ "properties": { "x-mcp-header": { "type": "string" } } })] {
        assert!(ParamHeader::collect_from(&schema).unwrap().is_empty(), "{schema}");
    }
    // A property may have the name of the annotation, and any schema.
    let named = json!({ "properties": { "x-mcp-header": true, "a": annotated("a", "string") } });
    assert_eq!(ParamHeader::collect_from(&named).unwrap().len(), 1);
}

#[test]
fn an_invalid_annotation_is_an_error() {
    let of_type = "`x-mcp-header` of `a`: the type must be a string, an integer or a boolean that is never `null`; use a \
                   default value instead of an `Option`";
    let nested = "`x-mcp-header` must be in a schema that is nested only through `properties`";
    for (properties, message) in [
        (json!({ "a": annotated("", "string") }), "`x-mcp-header` of `a` is not a valid header name"),
        (json!({ "a": annotated("a b", "string") }), "`x-mcp-header` of `a` is not a valid header name"),
        (json!({ "a": { "type": "string", "x-mcp-header": 1 } }), "`x-mcp-header` of `a` is not a valid header name"),
        (
            json!({ "p": { "properties": { "a": annotated("ö", "string") } } }),
            "`x-mcp-header` of `p/a` is not a valid header name",
        ),
        (json!({ "a": annotated("a", "number") }), of_type),
        (json!({ "a": annotated("a", "object") }), of_type),
        (json!({ "a": { "type": ["string", "null"], "x-mcp-header": "a" } }), of_type),
        (json!({ "a": { "x-mcp-header": "a" } }), of_type),
        (json!({ "a": { "items": annotated("a", "string") } }), nested),
        (json!({ "a": { "anyOf": [{}, annotated("a", "string")] } }), nested),
        (json!({ "a": annotated("a", "string"), "b": { "items": [annotated("b", "string")] } }), nested),
        (
            json!({ "a": annotated("Same", "string"), "b": annotated("same", "integer") }),
            "two properties have the same header `mcp-param-same`",
        ),
    ] {
        assert_eq!(headers(properties.clone(), "{}"), Err(message.to_owned()), "{properties}");
    }
}

/// Compares a header with the argument `a` of this kind.
fn agrees(kind: &str, sent: Option<&[u8]>, arguments: Option<&str>) -> Result<(), String> {
    let schema = json!({ "properties": { "a": annotated("A", kind) } });
    let [param] = &ParamHeader::collect_from(&schema).unwrap()[..] else { panic!("one property is annotated") };
    let mut headers = HeaderMap::new();
    if let Some(sent) = sent {
        headers.insert("mcp-param-a", HeaderValue::from_bytes(sent).unwrap());
    }
    param.agrees(&headers, arguments.map(raw))
}

#[test]
fn a_header_equals_its_argument() {
    for (kind, sent, argument) in [
        ("string", "Rome", r#""R\u006fme""#),
        ("string", " Rome ", r#""Rome""#),
        ("string", "=?base64?w7Y=?=", r#""ö""#),
        ("string", "", "\"\""),
        ("boolean", "true", "true"),
        ("integer", "3", "3"),
        ("integer", "3", "3.0"),
        ("integer", "3e0", "3"),
    ] {
        let arguments = format!("{{\"a\": {argument}}}");
        assert_eq!(agrees(kind, Some(sent.as_bytes()), Some(&arguments)), Ok(()), "{sent} {argument}");
    }
    for (kind, sent, argument) in [
        ("string", "rome", r#""Rome""#),
        ("string", "3.0", "\"3\""),
        ("string", "3.0", "3"),
        ("boolean", "false", "true"),
        ("integer", "4", "3"),
        ("integer", "x", "3"),
        ("integer", "3", "\"x\""),
    ] {
        let arguments = format!("{{\"a\": {argument}}}");
        let error = Err("`mcp-param-a` does not match the argument".to_owned());
        assert_eq!(agrees(kind, Some(sent.as_bytes()), Some(&arguments)), error, "{sent} {argument}");
    }
}

#[test]
fn a_header_and_its_argument_are_both_present_or_both_absent() {
    let without = [None, Some("{}"), Some("{\"a\": null}"), Some("[]")];
    for arguments in without {
        assert_eq!(agrees("string", None, arguments), Ok(()), "{arguments:?}");
        let error = Err("`mcp-param-a` is present, but the argument is missing".to_owned());
        assert_eq!(agrees("string", Some(b"x"), arguments), error, "{arguments:?}");
    }
    let error = Err("`mcp-param-a` is missing, but the argument is present".to_owned());
    assert_eq!(agrees("string", None, Some("{\"a\": \"x\"}")), error);
    let error = Err("`mcp-param-a` cannot be decoded".to_owned());
    assert_eq!(agrees("string", Some(b"=?base64?!?="), Some("{\"a\": \"x\"}")), error);
}

#[test]
fn a_text_that_is_not_printable_ascii_is_wrapped() {
    for (text, value) in [
        ("", ""),
        ("a ~b", "a ~b"),
        ("=?base64?", "=?base64?"),
        ("?=", "?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        (" a", "=?base64?IGE=?="),
        ("a ", "=?base64?YSA=?="),
        ("a\tb", "=?base64?YQli?="),
        ("ö", "=?base64?w7Y=?="),
    ] {
        let header = encoded(text).unwrap();
        assert_eq!(header, value, "{text:?}");
        assert_eq!(decoded(&header).as_deref(), Some(text));
    }
}

#[test]
fn a_header_that_is_not_text_is_not_decoded() {
    for (value, text) in [
        (&b"\t a b "[..], Some("a b")),
        (b"=?base64?YQ==?=", Some("a")),
        (b"=?base64?YQ==", Some("=?base64?YQ==")),
        (b"=?base64?YQ?=", None),
        (b"=?base64?/w==?=", None),
        (b"\xff", None),
    ] {
        assert_eq!(decoded(&HeaderValue::from_bytes(value).unwrap()).as_deref(), text, "{value:?}");
    }
}
