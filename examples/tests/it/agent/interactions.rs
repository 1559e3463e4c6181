//! Gemini's Interactions.

use serde_json::{Value, json};

use super::script::Turn;
use super::wire::{KEY, MODEL, QUESTION, Wire, events, halves};

pub(crate) const INTERACTIONS: Wire = Wire {
    api: "gemini-interactions",
    path: "/v1/interactions",
    key: Some("GEMINI_API_KEY"),
    headers: &[("x-goog-api-key", KEY)],
    content_type: "text/event-stream",
    messages: "input",
    fields: || json!({ "model": MODEL, "stream": true, "store": false }),
    take_tools: |request| {
        let tools = request.as_object_mut().unwrap().shift_remove("tools").unwrap();
        let functions = tools.as_array().unwrap().iter().filter(|tool| tool["type"] == "function");
        functions.map(|tool| (tool["name"].clone(), tool["parameters"].clone())).collect()
    },
    question: || json!({ "type": "user_input", "content": [{ "type": "text", "text": QUESTION }] }),
    echo: |turn| {
        let content = json!([{ "type": "text", "text": turn.text }]);
        let text = (!turn.text.is_empty()).then(|| json!({ "type": "model_output", "content": content }));
        let calls = turn.calls.iter().map(|call| function_call(call.id, call.name, call.arguments.clone()));
        text.into_iter().chain(calls).collect()
    },
    results: |turn| {
        let results = turn.calls.iter().map(|call| {
            let mut step = json!({ "type": "function_result", "call_id": call.id, "name": call.name });
            match &call.result {
                Ok(value) => step["result"] = if value.is_object() { value.clone() } else { value.to_string().into() },
                Err(message) => {
                    step["result"] = message.as_str().into();
                    step["is_error"] = true.into();
                }
            }
            step
        });
        results.collect()
    },
    reply: |turn| reply(turn).into_bytes(),
    error: |message| json!({ "error": { "code": 429, "message": message, "status": "RESOURCE_EXHAUSTED" } }),
};

fn function_call(id: &str, name: &str, arguments: Value) -> Value {
    json!({ "type": "function_call", "id": id, "name": name, "arguments": arguments })
}

fn reply(turn: &Turn) -> String {
    let event = |kind: &str, index: usize, field: &str, value: Value| json!({ "event_type": kind, "index": index, field: value });
    let created = json!({ "id": "int_1", "status": "in_progress" });
    let mut all = vec![json!({ "event_type": "interaction.created", "interaction": created })];
    if !turn.text.is_empty() {
        all.push(event("step.start", 0, "step", json!({ "type": "model_output" })));
        let text = |text: &str| event("step.delta", 0, "delta", json!({ "type": "text", "text": text }));
        all.extend(halves(turn.text).map(text));
    }
    for (index, call) in (1..).zip(&turn.calls) {
        all.push(event("step.start", index, "step", function_call(call.id, call.name, json!({}))));
        for part in halves(&call.arguments.to_string()) {
            let delta = json!({ "type": "arguments_delta", "arguments": part });
            all.push(event("step.delta", index, "delta", delta));
        }
        all.push(json!({ "event_type": "step.stop", "index": index }));
    }
    let status = turn.stop_reason.unwrap_or(if turn.calls.is_empty() { "completed" } else { "requires_action" });
    let usage = json!({ "total_input_tokens": 20, "total_output_tokens": 10, "total_tokens": 30 });
    let interaction = json!({ "id": "int_1", "status": status, "usage": usage });
    all.push(json!({ "event_type": "interaction.completed", "interaction": interaction }));
    events(all)
}
