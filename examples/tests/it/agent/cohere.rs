//! The native API of Cohere.

use serde_json::{Value, json};

use super::chat::take_tools;
use super::script::Turn;
use super::wire::{MODEL, QUESTION, Wire, halves, named_events};

pub(crate) const CHAT: Wire = Wire {
    api: "cohere",
    path: "/v2/chat",
    key: Some("CO_API_KEY"),
    headers: &[("authorization", "Bearer key-of-the-test")],
    content_type: "text/event-stream",
    messages: "messages",
    fields: || json!({ "model": MODEL, "stream": true }),
    take_tools,
    question: || json!({ "role": "user", "content": QUESTION }),
    echo: |turn| {
        let mut message = json!({ "role": "assistant" });
        if !turn.text.is_empty() {
            message["content"] = json!([{ "type": "text", "text": turn.text }]);
        }
        if !turn.calls.is_empty() {
            let calls = turn.calls.iter().map(|call| (call, call.arguments.to_string()));
            message["tool_calls"] = calls.map(|(call, json)| tool_call(call.id, call.name, &json)).collect();
        }
        vec![message]
    },
    results: |turn| {
        let results = turn.calls.iter();
        results.map(|call| json!({ "role": "tool", "tool_call_id": call.id, "content": call.text() })).collect()
    },
    reply: |turn| reply(turn).into_bytes(),
    error: |message| json!({ "id": "e1", "message": message }),
};

fn tool_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

fn reply(turn: &Turn) -> String {
    let event = |kind: &str, index: usize, message: Value| json!({ "type": kind, "index": index, "delta": { "message": message } });
    let start = json!({ "role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": [] });
    let mut all = vec![json!({ "id": "c1", "type": "message-start", "delta": { "message": start } })];
    if !turn.text.is_empty() {
        all.push(event("content-start", 0, json!({ "content": { "type": "text", "text": "" } })));
        all.extend(halves(turn.text).map(|text| event("content-delta", 0, json!({ "content": { "text": text } }))));
        all.push(json!({ "type": "content-end", "index": 0 }));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        all.push(event("tool-call-start", index, json!({ "tool_calls": tool_call(call.id, call.name, "") })));
        for part in halves(&call.arguments.to_string()) {
            let piece = json!({ "tool_calls": { "function": { "arguments": part } } });
            all.push(event("tool-call-delta", index, piece));
        }
        all.push(json!({ "type": "tool-call-end", "index": index }));
    }
    let reason = turn.stop_reason.unwrap_or(if turn.calls.is_empty() { "COMPLETE" } else { "TOOL_CALL" });
    let usage = json!({ "tokens": { "input_tokens": 20, "output_tokens": 10 } });
    all.push(json!({ "type": "message-end", "delta": { "finish_reason": reason, "usage": usage } }));
    named_events(all)
}
