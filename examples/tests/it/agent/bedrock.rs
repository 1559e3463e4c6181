//! Converse of Amazon Bedrock, without a stream.

use serde_json::{Value, json};

use super::script::Turn;
use super::wire::{QUESTION, Wire};

pub(crate) const CONVERSE: Wire = Wire {
    api: "bedrock",
    path: "/model/model-1/converse",
    key: Some("AWS_BEARER_TOKEN_BEDROCK"),
    headers: &[("authorization", "Bearer key-of-the-test")],
    is_streamed: false,
    content_type: "application/json",
    messages: "messages",
    fields: || json!({}),
    take_tools: |request| {
        let config = request.as_object_mut().unwrap().shift_remove("toolConfig").unwrap();
        let specs = config["tools"].as_array().unwrap().iter().map(|tool| &tool["toolSpec"]);
        specs.map(|spec| (spec["name"].clone(), spec["inputSchema"]["json"].clone())).collect()
    },
    question: || json!({ "role": "user", "content": [{ "text": QUESTION }] }),
    echo: |turn| vec![message(turn)],
    results: |turn| {
        let results = turn.calls.iter().map(|call| {
            let (content, status) = match &call.result {
                Ok(object @ Value::Object(_)) => (json!({ "json": object }), "success"),
                Ok(value) => (json!({ "text": value.to_string() }), "success"),
                Err(message) => (json!({ "text": message }), "error"),
            };
            json!({ "toolResult": { "toolUseId": call.id, "content": [content], "status": status } })
        });
        vec![json!({ "role": "user", "content": results.collect::<Vec<_>>() })]
    },
    reply: |turn| {
        let stop_reason = if turn.calls.is_empty() { "end_turn" } else { "tool_use" };
        let usage = json!({ "inputTokens": 20, "outputTokens": 10, "totalTokens": 30 });
        json!({ "metrics": { "latencyMs": 1 }, "output": { "message": message(turn) }, "stopReason": stop_reason,
            "usage": usage })
        .to_string()
    },
    error: |message| json!({ "message": message }),
};

fn message(turn: &Turn) -> Value {
    let text = (!turn.text.is_empty()).then(|| json!({ "text": turn.text }));
    let calls = turn
        .calls
        .iter()
        .map(|call| json!({ "toolUse": { "toolUseId": call.id, "name": call.name, "input": call.arguments } }));
    json!({ "role": "assistant", "content": text.into_iter().chain(calls).collect::<Vec<_>>() })
}
