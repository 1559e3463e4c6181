//! OpenAI Responses.

use serde_json::{Value, json};

use super::script::Turn;
use super::wire::{MODEL, QUESTION, Wire, halves, named_events};

pub(crate) const RESPONSES: Wire = Wire {
    api: "openai",
    path: "/v1/responses",
    key: Some("OPENAI_API_KEY"),
    headers: &[("authorization", "Bearer key-of-the-test")],
    content_type: "text/event-stream",
    messages: "input",
    fields: || json!({ "model": MODEL, "stream": true }),
    take_tools: |request| {
        let tools = request.as_object_mut().unwrap().shift_remove("tools").unwrap();
        let tools = tools.as_array().unwrap().iter().filter(|tool| tool["type"] == "function");
        tools.map(|tool| (tool["name"].clone(), tool["parameters"].clone())).collect()
    },
    question: || json!({ "role": "user", "content": QUESTION }),
    echo: items,
    results: |turn| {
        let results = turn
            .calls
            .iter()
            .map(|call| json!({ "type": "function_call_output", "call_id": call.id, "output": call.text() }));
        results.collect()
    },
    reply: |turn| reply(turn).into_bytes(),
    error: |message| json!({ "error": { "message": message, "type": "requests", "code": "rate_limit" } }),
};

fn items(turn: &Turn) -> Vec<Value> {
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA" });
    let text = (!turn.text.is_empty()).then(|| {
        let part = json!({ "type": "output_text", "text": turn.text, "annotations": [] });
        json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part] })
    });
    let calls = turn.calls.iter().map(|call| {
        json!({ "type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id, "name": call.name,
            "arguments": call.arguments.to_string(), "status": "completed" })
    });
    [reasoning].into_iter().chain(text).chain(calls).collect()
}

fn reply(turn: &Turn) -> String {
    let response = |status: &str, output: Vec<Value>| {
        json!({ "id": "resp_1", "object": "response", "status": status, "model": MODEL, "output": output,
            "usage": (status == "completed").then(|| json!({ "input_tokens": 20, "output_tokens": 10,
                "total_tokens": 30 })) })
    };
    let mut events = vec![
        json!({ "type": "response.created", "response": response("in_progress", Vec::new()) }),
        json!({ "type": "response.in_progress", "response": response("in_progress", Vec::new()) }),
    ];
    for (index, item) in items(turn).into_iter().enumerate() {
        let (mut added, id) = (item.clone(), item["id"].clone());
        let (kind, field, whole) = match item["type"].as_str() {
            Some("message") => {
                added["content"] = json!([]);
                ("output_text", "text", turn.text.to_owned())
            }
            Some("function_call") => {
                added["arguments"] = "".into();
                ("function_call_arguments", "arguments", item["arguments"].as_str().unwrap().to_owned())
            }
            _ => ("", "", String::new()),
        };
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": added }));
        if !kind.is_empty() {
            for part in halves(&whole) {
                events.push(json!({ "type": format!("response.{kind}.delta"), "output_index": index, "item_id": id,
                    "delta": part }));
            }
            events.push(json!({ "type": format!("response.{kind}.done"), "output_index": index, "item_id": id,
                field: whole }));
        }
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": response("completed", items(turn)) }));
    named_events(events)
}
