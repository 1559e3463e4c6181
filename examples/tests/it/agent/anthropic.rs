//! Anthropic Messages.

use serde_json::{Value, json};

use super::script::Turn;
use super::wire::{MODEL, QUESTION, Wire, halves, named_events};

pub(crate) const MESSAGES: Wire = Wire {
    api: "anthropic",
    path: "/v1/messages",
    key: Some("ANTHROPIC_API_KEY"),
    headers: &[("authorization", "Bearer key-of-the-test"), ("anthropic-version", "2026-10-21")],
    content_type: "text/event-stream",
    messages: "messages",
    fields: || json!({ "model": MODEL, "max_tokens": 8192, "stream": true }),
    take_tools: |request| {
        let tools = request.as_object_mut().unwrap().shift_remove("tools").unwrap();
        tools.as_array().unwrap().iter().map(|tool| (tool["name"].clone(), tool["input_schema"].clone())).collect()
    },
    question: || json!({ "role": "user", "content": QUESTION }),
    echo: |turn| vec![json!({ "role": "assistant", "content": content(turn) })],
    results,
    reply: |turn| reply(turn).into_bytes(),
    error: |message| json!({ "type": "error", "error": { "type": "rate_limit_error", "message": message } }),
};

fn content(turn: &Turn) -> Vec<Value> {
    let text = (!turn.text.is_empty()).then(|| json!({ "type": "text", "text": turn.text }));
    let call = turn
        .calls
        .iter()
        .map(|call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments }));
    text.into_iter().chain(call).collect()
}

fn results(turn: &Turn) -> Vec<Value> {
    let results = turn.calls.iter().map(|call| match &call.result {
        Ok(value) => json!({ "type": "tool_result", "tool_use_id": call.id, "content": value.to_string() }),
        Err(error) => json!({ "type": "tool_result", "tool_use_id": call.id, "is_error": true, "content": error }),
    });
    vec![json!({ "role": "user", "content": results.collect::<Vec<_>>() })]
}

fn reply(turn: &Turn) -> String {
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 20, "output_tokens": 1 } });
    let mut events = vec![json!({ "type": "message_start", "message": message }), json!({ "type": "ping" })];
    for (index, block) in content(turn).into_iter().enumerate() {
        let (start, kind, field, whole) = match block["type"].as_str() {
            Some("text") => (json!({ "type": "text", "text": "" }), "text_delta", "text", turn.text.to_owned()),
            _ => {
                let start = json!({ "type": "tool_use", "id": block["id"], "name": block["name"], "input": {} });
                (start, "input_json_delta", "partial_json", block["input"].to_string())
            }
        };
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        for part in halves(&whole) {
            events
                .push(json!({ "type": "content_block_delta", "index": index, "delta": { "type": kind, field: part } }));
        }
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let stop_reason = turn.stop_reason.unwrap_or(if turn.calls.is_empty() { "end_turn" } else { "tool_use" });
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop_reason, "stop_sequence": null },
        "usage": { "output_tokens": 10 } }));
    events.push(json!({ "type": "message_stop" }));
    named_events(events)
}
