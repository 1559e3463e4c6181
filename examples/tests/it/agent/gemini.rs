//! Gemini's `generateContent`.

use serde_json::{Value, json};

use super::script::Turn;
use super::wire::{KEY, MODEL, QUESTION, Wire, events, halves};

pub(crate) const GENERATE_CONTENT: Wire = Wire {
    api: "gemini",
    path: "/v1/models/model-1:streamGenerateContent?alt=sse",
    key: Some("GEMINI_API_KEY"),
    headers: &[("x-goog-api-key", KEY)],
    content_type: "text/event-stream",
    messages: "contents",
    fields: || json!({}),
    take_tools: |request| {
        let tools = request.as_object_mut().unwrap().shift_remove("tools").unwrap();
        let functions = tools[0]["functionDeclarations"].as_array().unwrap().iter();
        functions.map(|function| (function["name"].clone(), function["parametersJsonSchema"].clone())).collect()
    },
    question: || json!({ "role": "user", "parts": [{ "text": QUESTION }] }),
    echo: |turn| {
        let text = (!turn.text.is_empty()).then(|| json!({ "text": turn.text }));
        vec![json!({ "role": "model", "parts": text.into_iter().chain(calls(turn)).collect::<Vec<_>>() })]
    },
    results: |turn| {
        // Without ids, calls and results correspond by name and order.
        let parts = turn.calls.iter().map(|call| {
            let response = match &call.result {
                Ok(value) => json!({ "output": value }),
                Err(message) => json!({ "error": message }),
            };
            json!({ "functionResponse": { "name": call.name, "response": response } })
        });
        vec![json!({ "role": "user", "parts": parts.collect::<Vec<_>>() })]
    },
    reply: |turn| reply(turn).into_bytes(),
    error: |message| json!({ "error": { "code": 429, "message": message, "status": "RESOURCE_EXHAUSTED" } }),
};

/// The first of several calls has a signature.
fn calls(turn: &Turn) -> impl Iterator<Item = Value> {
    turn.calls.iter().enumerate().map(|(index, call)| {
        let mut part = json!({ "functionCall": { "name": call.name, "args": call.arguments } });
        if index == 0 {
            part["thoughtSignature"] = "EpwCCpkC".into();
        }
        part
    })
}

fn reply(turn: &Turn) -> String {
    let chunk = |parts: Vec<Value>| {
        json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }],
            "usageMetadata": { "promptTokenCount": 20, "totalTokenCount": 20 },
            "modelVersion": MODEL, "responseId": "response-1" })
    };
    let mut chunks = Vec::new();
    if !turn.text.is_empty() {
        chunks.extend(halves(turn.text).map(|text| chunk(vec![json!({ "text": text })])));
    }
    chunks.extend(calls(turn).map(|part| chunk(vec![part])));
    if chunks.is_empty() {
        chunks.push(chunk(Vec::new()));
    }
    if let Some(last) = chunks.last_mut() {
        last["candidates"][0]["finishReason"] = turn.stop_reason.unwrap_or("STOP").into();
        last["usageMetadata"] = json!({ "promptTokenCount": 20, "candidatesTokenCount": 10, "totalTokenCount": 30 });
    }
    events(chunks)
}
