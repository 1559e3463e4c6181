//! Replies of xAI, whose APIs over HTTP have the form of OpenAI's.

use serde_json::{Value, json};
use toolkit::catalog::Naming;
use toolkit::{Context, Dispatcher, catalog, tool};
use toolkit_providers::openai::{CHAT_COMPLETIONS, Options, RESPONSES, tools};
use toolkit_providers::reply::{Api, StopReason};

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

const ARGUMENTS: &str = r#"{"a":1,"b":2}"#;

/// Reads a reply whole and as a stream, and checks that both have the same messages and the result of their call.
fn check(api: Api, options: Options, whole: &Value, events: &[Value], result: &Value) {
    let dispatcher = Dispatcher::new(catalog![add].unwrap()).unwrap();
    let names = tools(dispatcher.catalog(), Naming::default(), options).unwrap().names;
    let mut stream = api.stream(&names);
    for event in events {
        stream.push(format!("data: {event}\n\n").as_bytes()).unwrap();
    }
    stream.push(b"data: [DONE]\n\n").unwrap();
    let replies = [api.read(whole, &names).unwrap(), stream.finish().unwrap()];
    assert_eq!(replies[0].messages(), replies[1].messages());
    for reply in replies {
        assert_eq!(reply.stop_reason(), &StopReason::ToolCalls);
        assert_eq!(reply.run_sync(&dispatcher, &Context::new()).messages().unwrap(), std::slice::from_ref(result));
    }
}

#[test]
fn a_response_has_encrypted_reasoning_and_a_call_that_arrives_as_a_whole() {
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "status": "completed", "encrypted_content": "c2VjcmV0",
        "summary": [{ "type": "summary_text", "text": "Adding." }] });
    let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "call_38950842", "name": "add",
        "arguments": ARGUMENTS, "status": "completed" });
    let whole = json!({ "id": "resp_1", "object": "response", "status": "completed", "incomplete_details": null,
        "model": "grok-4", "output": [reasoning, call], "store": true, "error": null });
    let item = |kind: &str, index: u64, item: &Value| json!({ "type": format!("response.output_item.{kind}"), "output_index": index, "item": item });
    let arguments = |kind: &str, field: &str| {
        json!({ "type": format!("response.function_call_arguments.{kind}"), "output_index": 1, "item_id": "fc_1",
            field: ARGUMENTS })
    };
    let events = [
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress", "output": [] } }),
        item("added", 0, &reasoning),
        item("done", 0, &reasoning),
        item("added", 1, &call),
        arguments("delta", "delta"),
        arguments("done", "arguments"),
        item("done", 1, &call),
        json!({ "type": "response.completed", "response": whole }),
    ];
    let result = json!({ "type": "function_call_output", "call_id": "call_38950842", "output": "3" });
    check(RESPONSES, Options::responses(), &whole, &events, &result);
}

#[test]
fn a_completion_has_a_call_that_arrives_as_a_whole() {
    let function = json!({ "name": "add", "arguments": ARGUMENTS });
    let call = json!({ "id": "call_38950842", "type": "function", "function": function });
    let choice = |message: Value| json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
    let message = json!({ "role": "assistant", "content": "I add.", "reasoning_content": "Hm.", "tool_calls": [call] });
    let whole = json!({ "id": "c1", "object": "chat.completion", "model": "grok-4", "choices": [choice(message)],
        "system_fingerprint": "fp_1", "citations": null });
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "c1", "object": "chat.completion.chunk", "model": "grok-4",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    let mut piece = call.clone();
    piece["index"] = 0.into();
    let events = [
        chunk(json!({ "role": "assistant", "reasoning_content": "Hm." }), Value::Null),
        chunk(json!({ "content": "I add." }), Value::Null),
        chunk(json!({ "tool_calls": [piece] }), Value::Null),
        chunk(json!({}), "tool_calls".into()),
        json!({ "id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": { "total_tokens": 9 } }),
    ];
    let result = json!({ "role": "tool", "tool_call_id": "call_38950842", "content": "3" });
    check(CHAT_COMPLETIONS, Options::chat_completions(), &whole, &events, &result);
}
