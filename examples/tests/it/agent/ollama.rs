//! The native API of Ollama.

use serde_json::{Value, json};

use super::chat::take_tools;
use super::script::Turn;
use super::wire::{MODEL, QUESTION, Wire, halves};

pub(crate) const CHAT: Wire = Wire {
    api: "ollama",
    path: "/api/chat",
    key: None,
    headers: &[],
    content_type: "application/x-ndjson",
    messages: "messages",
    fields: || json!({ "model": MODEL, "stream": true }),
    take_tools,
    question: || json!({ "role": "user", "content": QUESTION }),
    echo: |turn| {
        let mut message = json!({ "role": "assistant" });
        // An empty text is as good as none.
        if !turn.text.is_empty() {
            message["content"] = turn.text.into();
        }
        if !turn.calls.is_empty() {
            message["tool_calls"] = calls(turn);
        }
        vec![message]
    },
    // Without ids, calls and results correspond by their order.
    results: |turn| {
        let results = turn.calls.iter();
        results.map(|call| json!({ "role": "tool", "tool_name": call.name, "content": call.text() })).collect()
    },
    reply: |turn| reply(turn).into_bytes(),
    error: |message| json!({ "error": message }),
};

fn calls(turn: &Turn) -> Value {
    let function = turn.calls.iter().map(|call| json!({ "name": call.name, "arguments": call.arguments }));
    function.map(|function| json!({ "function": function })).collect()
}

fn reply(turn: &Turn) -> String {
    let chunk = |message: Value| {
        json!({ "model": MODEL, "created_at": "2026-11-23T00:00:00Z",
            "message": message, "done": false })
    };
    let mut chunks = Vec::new();
    if !turn.text.is_empty() {
        chunks.extend(halves(turn.text).map(|text| chunk(json!({ "role": "assistant", "content": text }))));
    }
    if !turn.calls.is_empty() {
        chunks.push(chunk(json!({ "role": "assistant", "content": "", "tool_calls": calls(turn) })));
    }
    let mut last = chunk(json!({ "role": "assistant", "content": "" }));
    let end = json!({ "done": true, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 10 });
    last.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
    chunks.push(last);
    chunks.into_iter().map(|chunk| format!("{chunk}\n")).collect()
}
