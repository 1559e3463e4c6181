//! Serialization of `tools/call`.

use std::sync::Arc;

use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools, RoutedBackend, Routes};
use toolkit::call::BoxFuture;
use toolkit::mcp::{CallParams, ERROR_KEY, write_error, write_result};
use toolkit::tool::{BackendKind, ToolBackend};

use super::results::CALLS;
use super::*;

fn official(revision: Revision) -> Option<jsonschema::Validator> {
    let schema = shared_json(&format!("spec/mcp/{}.schema.json", revision.as_str()))?;
    let result = json!({ "$schema": schema["$schema"], "$ref": "#/$defs/CallToolResult", "$defs": schema["$defs"] });
    Some(jsonschema::validator_for(&result).unwrap())
}

#[test]
fn every_result_matches_the_official_schema_and_contains_the_data_twice() {
    let dispatcher = Dispatcher::new(everything()).unwrap();
    for revision in REVISIONS {
        let Some(official) = official(revision) else { return };
        for (name, arguments) in CALLS {
            let params = format!(r#"{{"_meta":{{"progressToken":1}},"name":"{name}","arguments":{arguments}}}"#);
            let params = CallParams::parse(params.as_bytes()).unwrap();
            assert_eq!(params.meta(), Some(r#"{"progressToken":1}"#));
            let tool = dispatcher.catalog().get(params.name()).unwrap();
            let result = dispatcher.call_sync_with(&held(), params.name(), params.arguments()).unwrap();
            let written: Value = serde_json::from_slice(&write_result(tool, &result, revision)).unwrap();
            assert_fits(&official, &written);
            assert_eq!(written["structuredContent"], wrap_result(tool, revision, result.value()), "{name}");
            assert_eq!(written["content"], json!(result.content()), "{name}");
            assert_eq!(written["isError"], false);
            ran(1);
        }
    }
}

/// Says what it is told, and nothing else.
#[tool]
fn echo(text: String) -> Content {
    Content::text(text)
}

/// Says what it is told, as data.
#[tool]
fn repeat(text: String) -> String {
    text
}

/// Fails, and shows why.
#[tool]
fn fails() -> Result<(), ToolError> {
    Err(ToolError::failed("no \"luck\"").with_content([Content::image(b"x", "image/png")]))
}

#[test]
fn strings_are_transferred_unchanged() {
    let dispatcher = Dispatcher::new(catalog![echo, repeat].unwrap()).unwrap();
    for text in ["", "plain", "\"quoted\" \\ \n\t\u{0}\u{1f}\u{7f}", "línea 日本 🦀 \u{2028}", "{\"a\": 1}"] {
        for name in ["echo", "repeat"] {
            let tool = dispatcher.catalog().get(name).unwrap();
            let result = dispatcher.call_sync(name, json!({ "text": text })).unwrap();
            for revision in REVISIONS {
                let written: Value = serde_json::from_slice(&write_result(tool, &result, revision)).unwrap();
                assert_eq!(written["content"], json!([{ "type": "text", "text": text }]), "{name}");
                assert_eq!(written.get("structuredContent").is_some(), name == "repeat");
            }
        }
    }
}

/// Says what it is told, in a list of data.
#[tool]
fn repeat_in_list(text: String) -> Vec<String> {
    vec![text, "\"\\".to_owned()]
}

#[test]
fn text_content_of_data_is_its_json() {
    let dispatcher = Dispatcher::new(catalog![repeat_in_list].unwrap()).unwrap();
    let tool = dispatcher.catalog().get("repeat_in_list").unwrap();
    let odd = "\"quoted\" \\ \n\t\u{0}\u{7f} línea 日本 🦀";
    for text in (0..20).map(|n| "x".repeat(n)).chain((0..9).map(|n| "y".repeat(n) + odd)) {
        let result = dispatcher.call_sync("repeat_in_list", json!({ "text": text })).unwrap();
        let written: Value = serde_json::from_slice(&write_result(tool, &result, Revision::V2026_07_28)).unwrap();
        let data = json!([text, "\"\\"]);
        assert_eq!(written["structuredContent"], data);
        assert_eq!(written["content"][0]["text"], data.to_string());
    }
}

#[test]
fn a_failure_is_a_result_for_the_model() {
    let dispatcher = Dispatcher::new(catalog![fails, repeat].unwrap()).unwrap();
    for revision in REVISIONS {
        let Some(official) = official(revision) else { return };
        let failed = dispatcher.call_sync("fails", "{}").unwrap_err();
        let written: Value = serde_json::from_slice(&write_error(&failed, revision)).unwrap();
        assert_fits(&official, &written);
        assert_eq!(written["isError"], true);
        assert_eq!(written["content"][0]["text"], "fails: no \"luck\"");
        assert_eq!(written["content"][1]["type"], "image");
        let data = json!({ "kind": "failed", "retryable": false });
        assert_eq!(written["_meta"][ERROR_KEY], data);
        let refused = dispatcher.call_sync("repeat", r#"{"txet": 1}"#).unwrap_err();
        let written: Value = serde_json::from_slice(&write_error(&refused, revision)).unwrap();
        assert_fits(&official, &written);
        let text = written["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("/text is required") && text.contains("/txet is not an argument"), "{text}");
        let data = &written["_meta"][ERROR_KEY];
        assert_eq!((&data["kind"], &data["retryable"]), (&json!("invalid_arguments"), &json!(false)));
        let violations = data["violations"].as_array().unwrap();
        let pointers: Vec<&str> = violations.iter().map(|one| one["pointer"].as_str().unwrap()).collect();
        assert_eq!(pointers, ["/text", "/txet"]);
        ran(2);
    }
}

/// Runs a tool that returns nothing.
struct Nothing;

impl Backend for Nothing {
    fn name(&self) -> &str {
        "plugins"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Local
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async { Ok(OfferedTools::default()) })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Ok(BackendResponse::Nothing) })
    }
}

#[test]
fn the_data_of_an_error_is_bounded_and_contains_nothing_that_the_text_hides() {
    let properties: serde_json::Map<String, Value> = (0..100)
        .map(|n| {
            let values: Vec<String> = (0..500).map(|value| format!("value_{n}_{value}")).collect();
            (format!("p{n:02}"), json!({ "enum": values }))
        })
        .collect();
    let secret = json!({ "type": "integer", "writeOnly": true });
    let mut input = json!({ "type": "object", "properties": properties });
    input["properties"]["a_secret"] = secret;
    let tool = Tool::builder("choose").namespace("plugins").input(input).build().unwrap();
    let mut arguments: serde_json::Map<String, Value> =
        (0..100).map(|n| (format!("p{n:02}"), json!("x".repeat(500)))).collect();
    arguments.insert("a_secret".to_owned(), json!("hunter2"));
    let mut routes = Routes::default();
    let plugins = Arc::new(RoutedBackend::new(Nothing).unwrap());
    routes.add(tool.id().clone(), plugins, ToolBackend::local("choose").unwrap());
    let dispatcher = Dispatcher::builder(Catalog::new([tool]).unwrap()).routes(routes).build().unwrap();
    let error = pollster(dispatcher.call("plugins:choose", Value::Object(arguments))).unwrap_err();
    assert!(error.violations().len() > 90);
    let written: Value = serde_json::from_slice(&write_error(&error, Revision::V2026_07_28)).unwrap();
    let data = &written["_meta"][ERROR_KEY];
    assert_eq!(data["violations"].as_array().unwrap().len(), 20);
    assert!(data.to_string().len() < 20_000, "{}", data.to_string().len());
    assert!(!written.to_string().contains("hunter2"));

    let late = toolkit::ToolError::failed("later").retryable(std::time::Duration::from_millis(1_500));
    let written: Value = serde_json::from_slice(&write_error(&late, Revision::V2026_07_28)).unwrap();
    let data = json!({ "kind": "failed", "retryable": true, "retryAfterMs": 1_500 });
    assert_eq!(written["_meta"][ERROR_KEY], data);
}

fn pollster<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

#[test]
fn params_need_a_name_and_nothing_else() {
    let params = CallParams::parse(br#"{"name": "a\u0062", "task": {}, "_meta": null}"#).unwrap();
    assert_eq!((params.name(), params.meta()), ("ab", None));
    assert_eq!(params.arguments().to_value().unwrap(), json!({}));
    for params in ["{}", "[]", r#"{"name": 1}"#, r#"{"name": "a", "arguments": }"#, ""] {
        assert!(CallParams::parse(params.as_bytes()).is_err(), "{params}");
    }
}

#[test]
fn params_are_parsed_in_any_json_formatting() {
    let usual = r#"{"_meta":{"a":"}\"{]"},"name":"echo","arguments":{"text":"{[\\\"]}","more":[{},[]]}}"#;
    let spaced = " {\n\"name\"\t: \"echo\" , \"arguments\" : {\"text\":\"{[\\\\\\\"]}\",\"more\":[{},[]]} , \"_meta\" : {\"a\":\"}\\\"{]\"} } ";
    let unusual = usual.replacen("{", r#"{"task":{"name":"other"},"#, 1);
    for text in [usual, spaced, &unusual] {
        let whole: Value = serde_json::from_str(text).unwrap();
        let params = CallParams::parse(text.as_bytes()).unwrap();
        assert_eq!(params.name(), "echo", "{text}");
        assert_eq!(params.arguments().to_value().unwrap(), whole["arguments"], "{text}");
        assert_eq!(serde_json::from_str::<Value>(params.meta().unwrap()).unwrap(), whole["_meta"], "{text}");
    }
    // More levels than the stack of the fast path has bits.
    let deep = format!(r#"{{"name":"echo","arguments":{{"a":{}1{}}}}}"#, "[".repeat(100), "]".repeat(100));
    assert!(CallParams::parse(deep.as_bytes()).unwrap().arguments().to_value().is_ok());
}

#[test]
fn invalid_params_are_detected_where_they_are_parsed() {
    for text in [
        r#"{"name":"echo","arguments":{"text":"x"}"#,
        r#"{"name":"echo","arguments":{"text":"x"]}}"#,
        r#"{"name":"echo","arguments":{"text":"x}}"#,
        r#"{"name":"echo","arguments":{}} {}"#,
        r#"{"name":"echo","arguments":{},}"#,
        r#"{"name":"echo","name":"repeat"}"#,
        r#"{"name":"echo","arguments":{"text":"x"},"arguments":{}}"#,
        r#"{"name":"echo" "arguments":{}}"#,
        "{\"name\":\"ec\nho\"}",
    ] {
        assert!(CallParams::parse(text.as_bytes()).is_err(), "{text}");
    }
    let dispatcher = Dispatcher::new(catalog![echo].unwrap()).unwrap();
    for arguments in
        [r#"{"text":"x",}"#, r#"{"text" "x"}"#, r#"{"text":x}"#, r#"{"text":"x"}}{"#, "{\"text\":\"\u{1}\"}"]
    {
        let text = format!(r#"{{"name":"echo","arguments":{arguments}}}"#);
        if let Ok(params) = CallParams::parse(text.as_bytes()) {
            let error = dispatcher.call_sync(params.name(), params.arguments()).unwrap_err();
            assert_eq!(error.kind(), toolkit::call::ErrorKind::MalformedJson, "{text}");
        }
    }
}

#[test]
fn params_other_than_objects_are_rejected_without_repeating_them() {
    for params in [&br#"["echo", {"text": "x"}, null]"#[..], b" [\"echo\"]", b"null", b"7"] {
        let error = CallParams::parse(params).unwrap_err();
        assert_eq!(error.to_string(), "the params must be a JSON object");
    }
    let text = format!("\"{}\"", "x".repeat(100_000));
    assert_eq!(CallParams::parse(text.as_bytes()).unwrap_err().to_string(), "the params must be a JSON object");
    assert!(CallParams::parse(b"[1").unwrap_err().is_eof());
    assert_eq!(CallParams::parse(b"\n {\"name\": \"echo\"}").unwrap().name(), "echo");
}
