//! Mistral's Conversations.

use serde_json::{Value, json};

use super::chat::take_tools;
use super::script::Turn;
use super::wire::{MODEL, QUESTION, Wire, halves, named_events};

pub(crate) const CONVERSATIONS: Wire = Wire {
    api: "mistral-conversations",
    path: "/v1/conversations",
    key: Some("MISTRAL_API_KEY"),
    headers: &[("authorization", "Bearer key-of-the-test")],
    content_type: "text/event-stream",
    messages: "inputs",
    fields: || json!({ "model": MODEL, "stream": true, "store": false }),
    take_tools,
    question: || json!({ "object": "entry", "type": "message.input", "role": "user", "content": QUESTION }),
    echo: |turn| {
        let text = (!turn.text.is_empty()).then(|| {
            json!({ "object": "entry", "type": "message.output", "id": "msg_1", "role": "assistant", "content": turn.text })
        });
        let calls = turn.calls.iter().map(|call| {
            let mut entry = piece("function.call", call.id, call.name, &call.arguments.to_string());
            entry["object"] = "entry".into();
            entry
        });
        text.into_iter().chain(calls).collect()
    },
    results: |turn| {
        let results = turn.calls.iter().map(|call| {
            json!({ "object": "entry", "type": "function.result", "tool_call_id": call.id, "result": call.text() })
        });
        results.collect()
    },
    reply: |turn| reply(turn).into_bytes(),
    error: |message| json!({ "object": "error", "message": message, "type": "rate_limited", "code": 1300 }),
};

fn piece(kind: &str, id: &str, name: &str, arguments: &str) -> Value {
    json!({ "type": kind, "id": format!("fc_{id}"), "tool_call_id": id, "name": name, "arguments": arguments })
}

fn reply(turn: &Turn) -> String {
    let mut all = vec![json!({ "type": "conversation.response.started", "conversation_id": "conv_1" })];
    if !turn.text.is_empty() {
        all.extend(halves(turn.text).map(|text| {
            json!({ "type": "message.output.delta", "output_index": 0, "content_index": 0, "id": "msg_1",
                "role": "assistant", "content": text })
        }));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        for part in halves(&call.arguments.to_string()) {
            let mut event = piece("function.call.delta", call.id, call.name, part);
            event["output_index"] = (index + 1).into();
            all.push(event);
        }
    }
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30 });
    all.push(json!({ "type": "conversation.response.done", "usage": usage }));
    named_events(all)
}
