//! A model's reply in, tool results out.

use serde_json::Value;
use toolkit::Dispatcher;
use toolkit_providers::{Export, anthropic};

/// Returns the messages to append: the model's own message, and the results of its calls.
async fn answer(tools: &Dispatcher, export: &Export, reply: &str) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    Ok(anthropic::MESSAGES.respond(tools, export, reply).await?.messages()?)
}

/// Adds two integers.
#[toolkit::tool(namespace = "math", read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::new(toolkit::Catalog::linked()?)?;
    let export = anthropic::tools(dispatcher.catalog(), Default::default(), Default::default())?;

    // The body of a response to a request with `"tools": export.json`.
    let reply = r#"{"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "math_add", "input": {"a": 1, "b": 2}}]}"#;
    let messages = answer(&dispatcher, &export, reply).await?;

    assert_eq!(messages[0]["role"], "assistant");
    assert_eq!(messages[1]["content"][0]["content"], "3");
    Ok(())
}
