//! OpenAI Chat Completions, and Mistral's.

use serde_json::{Value, json};

use super::script::Turn;
use super::wire::{MODEL, QUESTION, Wire, events, halves};

pub(crate) const CHAT_COMPLETIONS: Wire = Wire {
    api: "openai-chat",
    path: "/v1/chat/completions",
    key: Some("OPENAI_API_KEY"),
    headers: &[("authorization", "Bearer key-of-the-test")],
    content_type: "text/event-stream",
    messages: "messages",
    fields: || json!({ "model": MODEL, "stream": true, "stream_options": { "include_usage": true } }),
    take_tools,
    question: || json!({ "role": "user", "content": QUESTION }),
    echo,
    results: |turn| {
        let results = turn.calls.iter();
        results.map(|call| json!({ "role": "tool", "tool_call_id": call.id, "content": call.text() })).collect()
    },
    reply: |turn| reply(turn).into_bytes(),
    error: |message| json!({ "error": { "message": message, "type": "requests", "code": "rate_limit" } }),
};

pub(crate) const MISTRAL: Wire = Wire {
    api: "mistral",
    key: Some("MISTRAL_API_KEY"),
    fields: || json!({ "model": MODEL, "stream": true }),
    // A call may come without a type, and goes back with it; a text that is empty goes back as `null`, which Mistral accepts.
    results: |turn| {
        let results = turn
            .calls
            .iter()
            .map(|call| json!({ "role": "tool", "tool_call_id": call.id, "name": call.name, "content": call.text() }));
        results.collect()
    },
    reply: |turn| mistral_reply(turn).into_bytes(),
    error: |message| json!({ "object": "error", "message": message, "type": "rate_limited", "code": "1300" }),
    ..CHAT_COMPLETIONS
};

pub(crate) fn take_tools(request: &mut Value) -> Vec<(Value, Value)> {
    let tools = request.as_object_mut().unwrap().shift_remove("tools").unwrap();
    let functions = tools.as_array().unwrap().iter().filter(|tool| tool["type"] == "function");
    functions.map(|tool| (tool["function"]["name"].clone(), tool["function"]["parameters"].clone())).collect()
}

fn echo(turn: &Turn) -> Vec<Value> {
    let content = if turn.text.is_empty() { Value::Null } else { turn.text.into() };
    let mut message = json!({ "role": "assistant", "content": content });
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().map(|call| {
            let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
            json!({ "id": call.id, "type": "function", "function": function })
        });
        message["tool_calls"] = calls.collect();
    }
    vec![message]
}

fn chunk(delta: Value, finish_reason: Option<&str>) -> Value {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
    json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": MODEL, "choices": [choice] })
}

fn finish_reason(turn: &Turn) -> Option<&'static str> {
    turn.stop_reason.or(Some(if turn.calls.is_empty() { "stop" } else { "tool_calls" }))
}

fn usage() -> Value {
    json!({ "prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30 })
}

fn reply(turn: &Turn) -> String {
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": null }), None)];
    if !turn.text.is_empty() {
        chunks.extend(halves(turn.text).map(|text| chunk(json!({ "content": text }), None)));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let start = json!({ "index": index, "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": "" } });
        chunks.push(chunk(json!({ "tool_calls": [start] }), None));
        for part in halves(&call.arguments.to_string()) {
            let fragment = json!({ "index": index, "function": { "arguments": part } });
            chunks.push(chunk(json!({ "tool_calls": [fragment] }), None));
        }
    }
    chunks.push(chunk(json!({}), finish_reason(turn)));
    chunks.push(json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": usage() }));
    events(chunks) + "data: [DONE]\n\n"
}

/// Mistral sends each call as a whole.
fn mistral_reply(turn: &Turn) -> String {
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    if !turn.text.is_empty() {
        chunks.extend(halves(turn.text).map(|text| chunk(json!({ "content": text }), None)));
    }
    let calls: Vec<Value> = turn
        .calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            json!({ "id": call.id, "index": index,
            "function": { "name": call.name, "arguments": call.arguments.to_string() } })
        })
        .collect();
    let delta = if calls.is_empty() { json!({ "content": "" }) } else { json!({ "content": "", "tool_calls": calls }) };
    let mut last = chunk(delta, finish_reason(turn));
    last["usage"] = usage();
    chunks.push(last);
    events(chunks) + "data: [DONE]\n\n"
}
