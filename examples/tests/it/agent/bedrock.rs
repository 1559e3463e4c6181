//! Converse of Amazon Bedrock, whose streams consist of binary frames.

use serde_json::{Value, json};

use super::script::Turn;
use super::wire::{QUESTION, Wire, halves};

pub(crate) const CONVERSE: Wire = Wire {
    api: "bedrock",
    path: "/model/model-1/converse-stream",
    key: Some("AWS_BEARER_TOKEN_BEDROCK"),
    headers: &[("authorization", "Bearer key-of-the-test")],
    content_type: "application/vnd.amazon.eventstream",
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
    reply,
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

fn reply(turn: &Turn) -> Vec<u8> {
    let mut events = vec![("messageStart", json!({ "role": "assistant" }))];
    let n_texts = usize::from(!turn.text.is_empty());
    if n_texts > 0 {
        for text in halves(turn.text) {
            events.push(("contentBlockDelta", json!({ "contentBlockIndex": 0, "delta": { "text": text } })));
        }
    }
    for (index, call) in turn.calls.iter().enumerate().map(|(nth, call)| (n_texts + nth, call)) {
        let start = json!({ "toolUse": { "toolUseId": call.id, "name": call.name } });
        events.push(("contentBlockStart", json!({ "contentBlockIndex": index, "start": start })));
        for piece in halves(&call.arguments.to_string()) {
            let delta = json!({ "toolUse": { "input": piece } });
            events.push(("contentBlockDelta", json!({ "contentBlockIndex": index, "delta": delta })));
        }
        events.push(("contentBlockStop", json!({ "contentBlockIndex": index })));
    }
    let reason = if turn.calls.is_empty() { "end_turn" } else { "tool_use" };
    events.push(("messageStop", json!({ "stopReason": reason })));
    let usage = json!({ "inputTokens": 20, "outputTokens": 10, "totalTokens": 30 });
    events.push(("metadata", json!({ "usage": usage, "metrics": { "latencyMs": 1 } })));
    events.into_iter().flat_map(|(kind, payload)| frame(kind, &payload.to_string())).collect()
}

/// Returns an event in a frame, whose checksums are zero.
fn frame(kind: &str, payload: &str) -> Vec<u8> {
    let name = ":event-type";
    let header =
        [&[u8::try_from(name.len()).unwrap()], name.as_bytes(), &[7, 0, u8::try_from(kind.len()).unwrap()]].concat();
    let headers = [&header, kind.as_bytes()].concat();
    let length = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    let lengths = [length(16 + headers.len() + payload.len()), length(headers.len())].concat();
    [&lengths, &[0; 4][..], &headers, payload.as_bytes(), &[0; 4]].concat()
}
