//! Replies and results as types of other crates.

use async_openai::types::chat::{ChatCompletionRequestMessage, CreateChatCompletionResponse};
use async_openai::types::responses::{InputItem, Response};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use toolkit::catalog::Naming;
use toolkit::{Dispatcher, catalog, tool};
use toolkit_providers::openai::{self, Options, tools};
use toolkit_providers::reply::ReplyBody;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

const ARGUMENTS: &str = r#"{"a": 1, "b": 2}"#;

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![add].unwrap()).unwrap()
}

#[tokio::test]
async fn a_response_of_async_openai_is_answered_with_its_input_items() {
    let dispatcher = dispatcher();
    let export = tools(dispatcher.catalog(), Naming::default(), Options::responses()).unwrap();
    let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add",
        "arguments": ARGUMENTS, "status": "completed" });
    let response: Response = serde_json::from_value(json!({
        "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt", "status": "completed",
        "output": [call], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
    }))
    .unwrap();
    let turn = openai::RESPONSES.respond(&dispatcher, &export, ReplyBody::try_from(&response).unwrap()).await.unwrap();
    let items: Vec<InputItem> = (&turn).try_into().unwrap();
    let items = serde_json::to_value(&items).unwrap();
    assert_eq!((&items[0]["call_id"], &items[1]["call_id"]), (&json!("call_1"), &json!("call_1")));
    assert_eq!(items[1]["output"], "3");
}

#[tokio::test]
async fn a_chat_completion_of_async_openai_is_answered_with_its_messages() {
    let dispatcher = dispatcher();
    let export = tools(dispatcher.catalog(), Naming::default(), Options::chat_completions()).unwrap();
    let call = json!({ "id": "call_1", "type": "function", "function": { "name": "add", "arguments": ARGUMENTS } });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let completion: CreateChatCompletionResponse = serde_json::from_value(json!({
        "id": "chat_1", "object": "chat.completion", "created": 1, "model": "gpt",
        "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": null }],
    }))
    .unwrap();
    let turn = openai::CHAT_COMPLETIONS
        .respond(&dispatcher, &export, ReplyBody::try_from(&completion).unwrap())
        .await
        .unwrap();
    let messages: Vec<ChatCompletionRequestMessage> = (&turn).try_into().unwrap();
    let messages: Value = serde_json::to_value(&messages).unwrap();
    assert_eq!(messages[0]["tool_calls"][0]["id"], "call_1");
    assert_eq!(messages[1], json!({ "role": "tool", "tool_call_id": "call_1", "content": "3" }));
}

#[tokio::test]
async fn results_are_those_of_the_official_mcp_sdk() {
    let dispatcher = dispatcher();
    let export = tools(dispatcher.catalog(), Naming::default(), Options::responses()).unwrap();
    let call = |name| json!({ "type": "function_call", "call_id": name, "name": name, "arguments": ARGUMENTS });
    let body = json!({ "status": "completed", "output": [call("add"), call("sub")] });
    let turn = openai::RESPONSES.respond(&dispatcher, &export, body).await.unwrap();
    let results: Vec<CallToolResult> = (&turn.results).try_into().unwrap();
    assert_eq!((&results[0].structured_content, results[0].is_error), (&Some(json!({ "result": 3 })), Some(false)));
    assert_eq!(results[1].is_error, Some(true));
}
