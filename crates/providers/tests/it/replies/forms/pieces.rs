//! Events whose piece of the reply is empty: no text, no arguments, no part.

use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::{Api, InvalidReply, Reply, ReplyEvent};

use super::{dispatcher, replies};

/// Returns events of an API without content. Those with an index are about the block `index`.
pub(in crate::replies) fn empty_events(name: &str, index: &Value) -> Vec<Value> {
    let text = json!({ "type": "text", "text": "" });
    match name {
        "anthropic" => {
            let deltas = json!([null, {}, { "type": "text_delta", "text": "" }, { "type": "text_delta" },
                { "type": "thinking_delta", "thinking": "" }, { "type": "input_json_delta", "partial_json": "" },
                { "type": "signature_delta", "signature": "" }, { "type": "citations_delta", "citation": null }]);
            let delta = |delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
            let start = |block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
            let end = |delta: Value| json!({ "type": "message_delta", "delta": delta, "usage": {} });
            let others = [start(json!(null)), start(json!({})), json!({ "type": "ping" }), end(json!(null))];
            list(deltas).map(delta).chain(others).chain([end(json!({ "stop_reason": null }))]).collect()
        }
        "bedrock" => {
            let deltas = json!([null, {}, { "text": "" }, { "toolUse": {} }, { "toolUse": { "input": "" } },
                { "reasoningContent": {} }, { "reasoningContent": { "text": "" } }, { "citation": null },
                { "reasoningContent": { "signature": "" } }, { "toolResult": [] }, { "image": {} }]);
            let event =
                |kind: &str, field: &str, value: Value| json!({ kind: { "contentBlockIndex": index, field: value } });
            let deltas = list(deltas).map(|delta| event("contentBlockDelta", "delta", delta));
            let start = event("contentBlockStart", "start", json!({}));
            deltas.chain([start, json!({ "metadata": {} }), json!({ "messageStart": {} })]).collect()
        }
        "chat" | "mistral" | "openrouter" => {
            let calls = [json!([]), json!([{}]), json!([{ "index": index, "function": { "arguments": "" } }])];
            let deltas = json!([null, {}, { "content": "" }, { "content": null }, { "content": [] }, { "content": [text] },
                { "reasoning_content": "" }, { "reasoning": "" }, { "refusal": "" }, { "role": "" }, { "audio": {} },
                { "reasoning_details": [] }, { "content": [{}] }, { "tool_calls": null }]);
            let choices = list(deltas).chain(calls.map(|calls| json!({ "tool_calls": calls })));
            let choices = choices.map(|delta| json!([{ "index": 0, "delta": delta, "finish_reason": null }]));
            choices.chain([json!([]), json!([{}]), json!(null)]).map(|choices| json!({ "choices": choices })).collect()
        }
        "cohere" => {
            let contents = json!([null, {}, { "type": "text", "text": "" }, { "text": "" }, { "thinking": "" }]);
            let event =
                |kind: &str, message: Value| json!({ "type": kind, "index": index, "delta": { "message": message } });
            let contents = list(contents).map(|content| event("content-delta", json!({ "content": content })));
            let calls = [json!(null), json!({}), json!({ "function": {} }), json!({ "function": { "arguments": "" } })];
            let calls = calls.map(|call| event("tool-call-delta", json!({ "tool_calls": call })));
            let plan = event("tool-plan-delta", json!({ "tool_plan": "" }));
            contents.chain(calls).chain([plan, event("citation-start", json!({}))]).collect()
        }
        "conversations" => {
            let contents = [json!(""), json!([]), json!([text]), json!(null), text];
            let event =
                |content: Value| json!({ "type": "message.output.delta", "output_index": index, "content": content });
            let call = json!({ "type": "function.call.delta", "output_index": index, "arguments": "" });
            contents.map(event).into_iter().chain([call]).collect()
        }
        "gemini" => {
            let parts = json!([[], [{}], [null], [{ "text": "" }], [{ "text": "", "thought": true }], [{ "text": null }],
                [{ "functionCall": null }], [{ "functionCall": {} }]]);
            let candidates = list(parts).map(|parts| json!([{ "index": 0, "content": { "parts": parts } }]));
            let others = json!([[], null, [{}], [{ "content": null }], [{ "content": {} }]]);
            candidates.chain(list(others)).map(|candidates| json!({ "candidates": candidates })).collect()
        }
        "interactions" => {
            let deltas = json!([null, {}, text, { "type": "text" }, { "type": "arguments_delta", "arguments": "" },
                { "type": "thought_summary", "content": null }, { "type": "thought_summary", "content": text },
                { "type": "thought_signature", "signature": "" }, { "type": "text_annotation_delta", "annotations": [] }]);
            let event =
                |kind: &str, field: &str, value: Value| json!({ "event_type": kind, "index": index, field: value });
            let deltas = list(deltas).map(|delta| event("step.delta", "delta", delta));
            deltas.chain([event("step.start", "step", json!({})), event("step.start", "step", json!(null))]).collect()
        }
        "ollama" => {
            let messages = json!([null, {}, { "content": "" }, { "role": "assistant", "content": "" }, { "thinking": "" },
                { "tool_calls": [] }, { "tool_calls": null }, { "tool_calls": [{}] }, { "tool_calls": [null] }]);
            list(messages).map(|message| json!({ "message": message, "done": false })).collect()
        }
        _ => {
            let kinds =
                ["output_text", "refusal", "reasoning_summary_text", "reasoning_text", "function_call_arguments"];
            let event = |kind: String| json!({ "type": kind, "output_index": index, "delta": "" });
            let deltas = kinds.map(|kind| event(format!("response.{kind}.delta")));
            let item = |kind: &str, item: Value| json!({ "type": kind, "output_index": index, "item": item });
            let added = |value: Value| item("response.output_item.added", value);
            let in_progress = json!({ "type": "response.in_progress", "response": {} });
            let ended = json!({ "type": "response.output_item.done", "output_index": index, "item": {} });
            deltas.into_iter().chain([added(json!({})), added(json!(null)), in_progress, ended]).collect()
        }
    }
}

fn list(values: Value) -> impl Iterator<Item = Value> {
    let Value::Array(values) = values else { unreachable!("it is a list") };
    values.into_iter()
}

/// Returns what a stream shows, and all parts of its reply.
pub(in crate::replies) fn shown(
    api: Api,
    events: &[Value],
    names: &ExportedNames,
) -> Result<(Vec<ReplyEvent>, Value), InvalidReply> {
    let mut stream = api.stream(names);
    let mut shown = Vec::new();
    for event in events {
        shown.extend(stream.push_event(event.clone())?);
    }
    let reply = stream.finish()?;
    Ok((shown, parts(&reply)))
}

fn parts(reply: &Reply) -> Value {
    json!({ "messages": reply.messages(), "metadata": reply.metadata(), "text": reply.text(),
        "reasoning": reply.reasoning(), "stop": reply.stop_reason().to_string(), "calls": format!("{:?}", reply.calls()),
        "provider_calls": format!("{:?}", reply.provider_calls()) })
}

#[test]
fn an_empty_piece_changes_nothing_at_any_place_of_any_stream() {
    let (_, names) = dispatcher();
    let mut changes = Vec::new();
    for recorded in replies::all() {
        let expected = shown(recorded.api, &recorded.events, &names).unwrap();
        let indexes = [json!(null), json!(0), json!(1), json!(2), json!(9)];
        let mut distinct: Vec<Value> = Vec::new();
        for empty in indexes.iter().flat_map(|index| empty_events(recorded.name, index)) {
            // Some events have no index.
            if !distinct.contains(&empty) {
                distinct.push(empty);
            }
        }
        for empty in distinct {
            for place in 0..=recorded.events.len() {
                let mut events = recorded.events.clone();
                events.insert(place, empty.clone());
                let found = shown(recorded.api, &events, &names);
                // A stream that ends here is the same, too.
                let (cut, cut_after) = (&recorded.events[..place], &events[..=place]);
                let is_same =
                    place == 0 || shown(recorded.api, cut, &names).ok() == shown(recorded.api, cut_after, &names).ok();
                if !(is_same && found.as_ref().is_ok_and(|found| *found == expected)) {
                    changes.push(format!("{} {empty} at {place}", recorded.name));
                    break;
                }
            }
        }
    }
    assert!(changes.is_empty(), "{} change the reply:\n{}", changes.len(), changes.join("\n"));
}
