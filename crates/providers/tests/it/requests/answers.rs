//! Typed answers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::Api;
use toolkit_providers::request::Request;
use toolkit_providers::{anthropic, gemini, openai};

use super::catalog;

#[derive(Debug, PartialEq, JsonSchema, Deserialize)]
struct City {
    name: String,
    population: Option<u64>,
    #[serde(default)]
    rivers: Vec<String>,
}

fn lima() -> City {
    City { name: "Lima".to_owned(), population: None, rivers: Vec::new() }
}

fn message(text: &str) -> Value {
    let part = json!({ "type": "output_text", "text": text });
    json!({ "output": [{ "type": "message", "role": "assistant", "content": [part] }], "status": "completed" })
}

#[test]
fn nulls_of_strict_mode_are_absent_in_an_answer() {
    let body = message(r#"{"name": "Lima", "population": null, "rivers": null}"#);
    let reply = openai::RESPONSES.read(body, &ExportedNames::default()).unwrap();
    assert_eq!(reply.answer::<City>().unwrap(), Some(lima()));
}

#[test]
fn an_answer_that_is_no_object_is_sent_in_one() {
    let request = Request::new(openai::RESPONSES, "gpt").answer::<Vec<u32>>().build().unwrap();
    assert_eq!(request.body["text"]["format"]["schema"]["required"], json!(["answer"]));
    let reply = openai::RESPONSES.read(message(r#"{"answer": [1, 2]}"#), &ExportedNames::default()).unwrap();
    assert_eq!(reply.answer::<Vec<u32>>().unwrap(), Some(vec![1, 2]));
}

#[test]
fn an_answer_in_the_arguments_of_a_tool_is_read_for_every_api() {
    for api in Api::all() {
        let tools = api.export(&catalog()).unwrap();
        let request = Request::new(api, "model-1").tools(&tools).answer_by_tool::<City>().build().unwrap();
        let body = request.body.to_string();
        assert!(body.contains(r#""name":"answer""#) && body.contains(r#""name":"math_add""#), "{api}: {body}");
        // Without other tools, too.
        assert!(Request::new(api, "model-1").answer_by_tool::<City>().build().is_ok(), "{api}");
    }
    // Gemini's functions are in one group.
    let tools = gemini::GENERATE_CONTENT.export(&catalog()).unwrap();
    let request = Request::new(gemini::GENERATE_CONTENT, "gemini").tools(&tools).answer_by_tool::<City>();
    assert_eq!(request.build().unwrap().body["tools"].as_array().unwrap().len(), 1);

    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "answer", "input": { "name": "Lima" } });
    let body = json!({ "content": [call], "stop_reason": "tool_use" });
    let reply = anthropic::MESSAGES.read(body, &ExportedNames::default()).unwrap();
    assert_eq!(reply.answer::<City>().unwrap(), Some(lima()));
}

#[test]
fn a_reply_that_is_not_the_last_one_has_no_answer() {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "math_add", "input": {} });
    let text = json!({ "type": "text", "text": "not JSON" });
    for (content, reason, is_error) in [
        (json!([text, call]), "tool_use", false),
        (json!([text]), "max_tokens", false),
        (json!([text]), "refusal", false),
        (json!([text]), "end_turn", true),
    ] {
        let body = json!({ "content": content, "stop_reason": reason });
        let reply = anthropic::MESSAGES.read(body, &ExportedNames::default()).unwrap();
        assert_eq!(reply.answer::<City>().is_err(), is_error, "{reason}");
    }
}

#[test]
fn a_type_that_a_format_cannot_express_is_an_error_with_the_remedy() {
    type Map = BTreeMap<String, u32>;
    let error = Request::new(openai::RESPONSES, "gpt").answer::<Map>().build().unwrap_err();
    let message = error.to_string();
    assert!(message.contains("cannot be expressed") && message.ends_with("use `answer_by_tool`"), "{message}");
    assert!(Request::new(openai::RESPONSES, "gpt").answer_by_tool::<Map>().build().is_ok());
}
