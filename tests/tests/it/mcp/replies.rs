//! Replies of models and MCP: calls reach the tools of other servers, and results become `CallToolResult`.

use serde_json::{Value, json};
use toolkit::catalog::Naming;
use toolkit::mcp::Revision;
use toolkit::{Dispatcher, catalog, tool};
use toolkit_backends::Backends;
use toolkit_mcp_client::{McpBackend, Program};
use toolkit_providers::anthropic::{MESSAGES, Options, tools};

/// Adds two numbers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn message(calls: &[&str]) -> Value {
    let calls = calls.iter().enumerate();
    let block = |(idx, name)| json!({ "type": "tool_use", "id": format!("toolu_{idx}"), "name": name, "input": { "a": 1, "b": 2 } });
    json!({ "content": calls.map(block).collect::<Vec<Value>>(), "stop_reason": "tool_use" })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_can_call_the_tools_of_a_program_and_of_another_server() {
    let backends = Backends::new();
    let program = Program::new(env!("CARGO_BIN_EXE_fixture_mcp"));
    backends.register(McpBackend::stdio("other", program)).unwrap();
    let collected = backends.collect(catalog![add].unwrap()).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    let export = tools(dispatcher.catalog(), Naming::default(), Options::default()).unwrap();

    let mut message =
        message(&["math_add", "other_test_multiple_content_types", "other_test_error_handling", "other_test_panic"]);
    for block in message["content"].as_array_mut().unwrap().iter_mut().skip(1) {
        block["input"] = json!({});
    }
    let turn = toolkit_providers::anthropic::MESSAGES.respond(&dispatcher, &export, &message).await.unwrap();
    let messages = turn.messages().unwrap();
    let content = |idx: usize| &messages[1]["content"][idx]["content"];
    assert_eq!(content(0), "3");
    let kinds: Vec<&Value> = content(1).as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "image", "text"]);
    assert_eq!(content(2), "This tool intentionally returns an error for testing");
    assert!(!content(3).to_string().contains("hunter2"), "{}", content(3));
}

#[test]
fn results_become_results_of_mcp() {
    let dispatcher = Dispatcher::new(catalog![add].unwrap()).unwrap();
    let names = tools(dispatcher.catalog(), Naming::default(), Options::default()).unwrap().names;
    let reply = MESSAGES.read(message(&["math_add", "math_sub"]), &names).unwrap();
    let results = reply.run_sync(&dispatcher, &toolkit::Context::new());
    let written = results.to_mcp(Revision::V2025_11_25);
    let read = |json: &[u8]| serde_json::from_slice::<Value>(json).unwrap();
    let (sum, unknown) = (read(&written[0]), read(&written[1]));
    assert_eq!((&sum["structuredContent"], &sum["isError"]), (&json!({ "result": 3 }), &json!(false)));
    assert_eq!(unknown["isError"], true);
}
