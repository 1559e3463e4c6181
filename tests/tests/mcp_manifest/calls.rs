//! `tools/call` as bytes.

use toolkit::adapter::mcp::{CallParams, write_error, write_result};

use super::results::CALLS;
use super::*;

fn official(revision: Revision) -> Option<jsonschema::Validator> {
    let schema = shared_json(&format!("spec/mcp/{}.schema.json", revision.as_str()))?;
    let result = json!({ "$schema": schema["$schema"], "$ref": "#/$defs/CallToolResult", "$defs": schema["$defs"] });
    Some(jsonschema::validator_for(&result).unwrap())
}

#[test]
fn every_result_fits_the_official_result_and_holds_the_data_twice() {
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
fn texts_of_every_kind_arrive_as_they_are() {
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

#[test]
fn a_failure_is_a_result_that_the_model_reads() {
    let dispatcher = Dispatcher::new(catalog![fails, repeat].unwrap()).unwrap();
    for revision in REVISIONS {
        let Some(official) = official(revision) else { return };
        let failed = dispatcher.call_sync("fails", "{}").unwrap_err();
        let written: Value = serde_json::from_slice(&write_error(&failed, revision)).unwrap();
        assert_fits(&official, &written);
        assert_eq!(written["isError"], true);
        assert_eq!(written["content"][0]["text"], "fails: no \"luck\"");
        assert_eq!(written["content"][1]["type"], "image");
        let refused = dispatcher.call_sync("repeat", r#"{"txet": 1}"#).unwrap_err();
        let written: Value = serde_json::from_slice(&write_error(&refused, revision)).unwrap();
        assert_fits(&official, &written);
        let text = written["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("/text is required") && text.contains("/txet is not an argument"), "{text}");
        ran(2);
    }
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
fn params_that_are_no_object_are_refused_without_repeating_them() {
    for params in [&br#"["echo", {"text": "x"}, null]"#[..], b" [\"echo\"]", b"null", b"7"] {
        let error = CallParams::parse(params).unwrap_err();
        assert_eq!(error.to_string(), "the params are no JSON object");
    }
    let text = format!("\"{}\"", "x".repeat(100_000));
    assert_eq!(CallParams::parse(text.as_bytes()).unwrap_err().to_string(), "the params are no JSON object");
    assert!(CallParams::parse(b"[1").unwrap_err().is_eof());
    assert_eq!(CallParams::parse(b"\n {\"name\": \"echo\"}").unwrap().name(), "echo");
}
