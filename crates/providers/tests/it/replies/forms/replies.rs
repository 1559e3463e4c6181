//! The reply of each API.

use serde_json::{Value, json};
use toolkit_providers::{anthropic, bedrock, cohere, gemini, mistral, ollama, openai};

use super::Recorded;

/// The arguments of both calls, as the model writes them.
const ARGUMENTS: [&str; 2] = [r#"{"n":4}"#, r#"{"n":7}"#];
const IDS: [&str; 2] = ["D681PevKs", "E681PevKs"];
const NAMES: [&str; 2] = ["double", "negate"];

/// The fragments in which arguments arrive.
fn halves(arguments: &str) -> [&str; 2] {
    let (first, second) = arguments.split_at(4);
    [first, second]
}

fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap()
}

pub(super) fn all() -> Vec<Recorded> {
    vec![
        anthropic(),
        bedrock(),
        chat("chat", openai::CHAT_COMPLETIONS),
        chat("mistral", mistral::CHAT),
        openrouter(),
        cohere(),
        conversations(),
        gemini(),
        interactions(),
        ollama(),
        responses("responses", true),
        // Some gateways leave the items out of the last event.
        responses("responses of a gateway", false),
    ]
}

fn anthropic() -> Recorded {
    let call =
        |idx: usize, input: Value| json!({ "type": "tool_use", "id": IDS[idx], "name": NAMES[idx], "input": input });
    let message = |content: Value, stop: Value, usage: Value| {
        json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage })
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let content = json!([text("I calculate."), call(0, parsed(ARGUMENTS[0])), call(1, parsed(ARGUMENTS[1]))]);
    let start =
        |index: usize, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: usize, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let stop = |index: usize| json!({ "type": "content_block_stop", "index": index });
    let mut events = vec![
        json!({ "type": "message_start",
            "message": message(json!([]), Value::Null, json!({ "input_tokens": 3, "output_tokens": 1 })) }),
        start(0, text("")),
        delta(0, json!({ "type": "text_delta", "text": "I " })),
        delta(0, json!({ "type": "text_delta", "text": "calculate." })),
        stop(0),
    ];
    for (idx, arguments) in ARGUMENTS.into_iter().enumerate() {
        events.push(start(idx + 1, call(idx, json!({}))));
        let piece = |json: &str| delta(idx + 1, json!({ "type": "input_json_delta", "partial_json": json }));
        events.extend(halves(arguments).map(piece));
        events.push(stop(idx + 1));
    }
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null },
        "usage": { "output_tokens": 9 } }));
    events.push(json!({ "type": "message_stop" }));
    let body = message(content, "tool_use".into(), json!({ "input_tokens": 3, "output_tokens": 9 }));
    Recorded { name: "anthropic", api: anthropic::MESSAGES, body, events, is_done: false }
}

fn bedrock() -> Recorded {
    let call = |idx: usize| json!({ "toolUse": { "toolUseId": IDS[idx], "name": NAMES[idx], "input": parsed(ARGUMENTS[idx]) } });
    let delta =
        |index: usize, delta: Value| json!({ "contentBlockDelta": { "contentBlockIndex": index, "delta": delta } });
    let stop = |index: usize| json!({ "contentBlockStop": { "contentBlockIndex": index } });
    let mut events = vec![
        json!({ "messageStart": { "role": "assistant" } }),
        delta(0, json!({ "text": "I " })),
        delta(0, json!({ "text": "calculate." })),
        stop(0),
    ];
    for (idx, arguments) in ARGUMENTS.into_iter().enumerate() {
        let start = json!({ "toolUse": { "toolUseId": IDS[idx], "name": NAMES[idx] } });
        events.push(json!({ "contentBlockStart": { "contentBlockIndex": idx + 1, "start": start } }));
        events.extend(halves(arguments).map(|json| delta(idx + 1, json!({ "toolUse": { "input": json } }))));
        events.push(stop(idx + 1));
    }
    events.push(json!({ "messageStop": { "stopReason": "tool_use" } }));
    events.push(
        json!({ "metadata": { "usage": { "inputTokens": 3, "outputTokens": 6 }, "metrics": { "latencyMs": 3 } } }),
    );
    let content = json!([{ "text": "I calculate." }, call(0), call(1)]);
    let body = json!({ "output": { "message": { "role": "assistant", "content": content } }, "stopReason": "tool_use",
        "usage": { "inputTokens": 3, "outputTokens": 6 }, "metrics": { "latencyMs": 3 } });
    Recorded { name: "bedrock", api: bedrock::CONVERSE, body, events, is_done: false }
}

fn function(idx: usize, arguments: &str) -> Value {
    let function = json!({ "name": NAMES[idx], "arguments": arguments });
    json!({ "id": IDS[idx], "type": "function", "function": function })
}

/// A completion of OpenAI, of Mistral, of xAI and of most other servers.
fn chat(name: &'static str, api: toolkit_providers::reply::Api) -> Recorded {
    let completion = |kind: &str, choice: Value| {
        json!({ "id": "c1", "object": kind, "created": 1, "model": "gpt", "system_fingerprint": "fp_1",
            "choices": [choice] })
    };
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason });
        completion("chat.completion.chunk", choice)
    };
    let mut events = vec![
        chunk(json!({ "role": "assistant", "content": "", "refusal": null }), Value::Null),
        chunk(json!({ "content": "I " }), Value::Null),
        chunk(json!({ "content": "calculate." }), Value::Null),
    ];
    for (idx, arguments) in ARGUMENTS.into_iter().enumerate() {
        let mut start = function(idx, "");
        start["index"] = idx.into();
        events.push(chunk(json!({ "tool_calls": [start] }), Value::Null));
        events.extend(halves(arguments).map(|json| {
            let piece = json!({ "index": idx, "function": { "arguments": json } });
            chunk(json!({ "tool_calls": [piece] }), Value::Null)
        }));
    }
    events.push(chunk(json!({}), "tool_calls".into()));
    events
        .push(json!({ "id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": { "prompt_tokens": 3, "completion_tokens": 6 } }));
    let message = json!({ "role": "assistant", "content": "I calculate.", "refusal": null,
        "tool_calls": [function(0, ARGUMENTS[0]), function(1, ARGUMENTS[1])] });
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": "tool_calls" });
    let mut body = completion("chat.completion", choice);
    body["usage"] = json!({ "prompt_tokens": 3, "completion_tokens": 6 });
    Recorded { name, api, body, events, is_done: true }
}

/// A completion of OpenRouter, whose calls arrive whole beside its own fields.
fn openrouter() -> Recorded {
    let mut recorded = chat("openrouter", openai::CHAT_COMPLETIONS);
    recorded.events.drain(3..9);
    for (idx, arguments) in ARGUMENTS.into_iter().enumerate() {
        let mut call = function(idx, arguments);
        call["index"] = idx.into();
        let delta = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": null, "native_finish_reason": null });
        let chunk = json!({ "id": "c1", "provider": "x", "object": "chat.completion.chunk", "choices": [choice] });
        recorded.events.insert(3 + idx, chunk);
    }
    recorded.body["provider"] = "x".into();
    recorded
}

fn cohere() -> Recorded {
    let message = |kind: &str, index: usize, message: Value| json!({ "type": kind, "index": index, "delta": { "message": message } });
    let content = |kind: &str, index: usize, content: Value| message(kind, index, json!({ "content": content }));
    let mut events = vec![
        json!({ "id": "c1", "type": "message-start", "delta": { "message": { "role": "assistant" } } }),
        content("content-start", 0, json!({ "type": "thinking", "thinking": "" })),
        content("content-delta", 0, json!({ "thinking": "Hm." })),
        json!({ "type": "content-end", "index": 0 }),
        content("content-start", 1, json!({ "type": "text", "text": "" })),
        content("content-delta", 1, json!({ "text": "I " })),
        content("content-delta", 1, json!({ "text": "calculate." })),
        json!({ "type": "content-end", "index": 1 }),
    ];
    for (idx, arguments) in ARGUMENTS.into_iter().enumerate() {
        events.push(message("tool-call-start", idx, json!({ "tool_calls": function(idx, "") })));
        let piece = |json: &str| json!({ "tool_calls": { "function": { "arguments": json } } });
        events.extend(halves(arguments).map(|json| message("tool-call-delta", idx, piece(json))));
        events.push(json!({ "type": "tool-call-end", "index": idx }));
    }
    let usage = json!({ "tokens": { "output_tokens": 9 } });
    events.push(json!({ "type": "message-end", "delta": { "finish_reason": "TOOL_CALL", "usage": usage } }));
    let parts = json!([{ "type": "thinking", "thinking": "Hm." }, { "type": "text", "text": "I calculate." }]);
    let calls = json!([function(0, ARGUMENTS[0]), function(1, ARGUMENTS[1])]);
    let body = json!({ "id": "c1", "finish_reason": "TOOL_CALL", "usage": usage,
        "message": { "role": "assistant", "content": parts, "tool_calls": calls } });
    Recorded { name: "cohere", api: cohere::CHAT, body, events, is_done: false }
}

fn conversations() -> Recorded {
    let call = |kind: &str, idx: usize, arguments: &str| {
        json!({ "type": kind, "id": format!("fc_{idx}"), "tool_call_id": IDS[idx], "name": NAMES[idx],
            "arguments": arguments, "created_at": "2026-11-23T00:00:00Z" })
    };
    let text = |text: &str| {
        json!({ "type": "message.output.delta", "output_index": 0, "content_index": 0, "id": "msg_1", "model": "m",
            "role": "assistant", "content": text })
    };
    let mut events = vec![
        json!({ "type": "conversation.response.started", "conversation_id": "conv_1" }),
        text("I "),
        text("calculate."),
    ];
    for (idx, arguments) in ARGUMENTS.into_iter().enumerate() {
        events.extend(halves(arguments).map(|json| {
            let mut event = call("function.call.delta", idx, json);
            event["output_index"] = (idx + 1).into();
            event
        }));
    }
    events
        .push(json!({ "type": "conversation.response.done", "usage": { "prompt_tokens": 3, "completion_tokens": 6 } }));
    let message = json!({ "object": "entry", "type": "message.output", "id": "msg_1", "role": "assistant", "model": "m",
        "content": "I calculate." });
    let calls = [0, 1].map(|idx| call("function.call", idx, ARGUMENTS[idx]));
    let body = json!({ "object": "conversation.response", "conversation_id": "conv_1", "usage": { "prompt_tokens": 3, "completion_tokens": 6 },
        "outputs": [message, calls[0], calls[1]] });
    Recorded { name: "conversations", api: mistral::CONVERSATIONS, body, events, is_done: false }
}

fn gemini() -> Recorded {
    let call =
        |idx: usize| json!({ "functionCall": { "id": IDS[idx], "name": NAMES[idx], "args": parsed(ARGUMENTS[idx]) } });
    let response = |parts: Value| {
        json!({ "candidates": [{ "index": 0, "content": { "role": "model", "parts": parts } }], "responseId": "r1",
            "modelVersion": "gemini", "usageMetadata": { "promptTokenCount": 3, "candidatesTokenCount": 6 } })
    };
    let stopped = |mut response: Value| {
        response["candidates"][0]["finishReason"] = "STOP".into();
        response
    };
    let events = vec![
        response(json!([{ "text": "I " }])),
        response(json!([{ "text": "calculate." }])),
        response(json!([call(0)])),
        response(json!([call(1)])),
        stopped(response(json!([{ "text": "" }]))),
    ];
    let body = stopped(response(json!([{ "text": "I calculate." }, call(0), call(1)])));
    Recorded { name: "gemini", api: gemini::GENERATE_CONTENT, body, events, is_done: false }
}

fn interactions() -> Recorded {
    let call = |idx: usize, arguments: Value| json!({ "type": "function_call", "id": IDS[idx], "name": NAMES[idx], "arguments": arguments });
    let interaction = |status: &str| json!({ "id": "int_1", "object": "interaction", "status": status });
    let start = |index: usize, step: Value| json!({ "event_type": "step.start", "index": index, "step": step });
    let delta = |index: usize, delta: Value| json!({ "event_type": "step.delta", "index": index, "delta": delta });
    let stop = |index: usize| json!({ "event_type": "step.stop", "index": index });
    let mut events = vec![
        json!({ "event_type": "interaction.created", "interaction": interaction("in_progress") }),
        start(0, json!({ "type": "model_output" })),
        delta(0, json!({ "type": "text", "text": "I " })),
        delta(0, json!({ "type": "text", "text": "calculate." })),
        stop(0),
    ];
    for (idx, arguments) in ARGUMENTS.into_iter().enumerate() {
        events.push(start(idx + 1, call(idx, json!({}))));
        let piece = |json: &str| delta(idx + 1, json!({ "type": "arguments_delta", "arguments": json }));
        events.extend(halves(arguments).map(piece));
        events.push(stop(idx + 1));
    }
    let mut body = interaction("requires_action");
    body["usage"] = json!({ "total_input_tokens": 3, "total_output_tokens": 6 });
    events.push(json!({ "event_type": "interaction.completed", "interaction": body }));
    let text = json!({ "type": "model_output", "content": [{ "type": "text", "text": "I calculate." }] });
    body["steps"] = json!([text, call(0, parsed(ARGUMENTS[0])), call(1, parsed(ARGUMENTS[1]))]);
    Recorded { name: "interactions", api: gemini::INTERACTIONS, body, events, is_done: true }
}

fn ollama() -> Recorded {
    let line = |message: Value, done: bool| json!({ "model": "qwen3", "created_at": "2026-11-23T00:00:00Z", "message": message, "done": done });
    let call = |idx: usize| {
        let function = json!({ "index": idx, "name": NAMES[idx], "arguments": parsed(ARGUMENTS[idx]) });
        json!({ "id": IDS[idx], "function": function })
    };
    let ended = |mut line: Value| {
        line["done_reason"] = "stop".into();
        line["eval_count"] = 9.into();
        line
    };
    let events = vec![
        line(json!({ "role": "assistant", "content": "I " }), false),
        line(json!({ "role": "assistant", "content": "calculate." }), false),
        line(json!({ "role": "assistant", "content": "", "tool_calls": [call(0)] }), false),
        line(json!({ "role": "assistant", "content": "", "tool_calls": [call(1)] }), false),
        ended(line(json!({ "role": "assistant", "content": "" }), true)),
    ];
    let message = json!({ "role": "assistant", "content": "I calculate.", "tool_calls": [call(0), call(1)] });
    Recorded { name: "ollama", api: ollama::CHAT, body: ended(line(message, true)), events, is_done: false }
}

fn responses(name: &'static str, is_repeated: bool) -> Recorded {
    let call = |idx: usize, arguments: &str, status: &str| {
        json!({ "type": "function_call", "id": format!("fc_{idx}"), "call_id": IDS[idx], "name": NAMES[idx],
            "arguments": arguments, "status": status })
    };
    let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
    let message = |content: Value, status: &str| json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": content });
    let response = |status: &str, output: Value| {
        json!({ "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt", "status": status, "error": null,
            "incomplete_details": null, "output": output })
    };
    let item = |kind: &str, index: usize, item: Value| json!({ "type": format!("response.output_item.{kind}"), "output_index": index, "item": item });
    let text = |kind: &str, field: &str, text: &str| {
        json!({ "type": format!("response.output_text.{kind}"), "item_id": "msg_1", "output_index": 0,
            "content_index": 0, field: text })
    };
    let items = [
        message(json!([part("I calculate.")]), "completed"),
        call(0, ARGUMENTS[0], "completed"),
        call(1, ARGUMENTS[1], "completed"),
    ];
    let mut events = vec![
        json!({ "type": "response.created", "response": response("in_progress", json!([])) }),
        json!({ "type": "response.in_progress", "response": response("in_progress", json!([])) }),
        item("added", 0, message(json!([]), "in_progress")),
        text("delta", "delta", "I "),
        text("delta", "delta", "calculate."),
        text("done", "text", "I calculate."),
        item("done", 0, items[0].clone()),
    ];
    for (idx, text) in ARGUMENTS.into_iter().enumerate() {
        let arguments = |kind: &str, field: &str, json: &str| {
            json!({ "type": format!("response.function_call_arguments.{kind}"), "item_id": format!("fc_{idx}"),
                "output_index": idx + 1, field: json })
        };
        events.push(item("added", idx + 1, call(idx, "", "in_progress")));
        events.extend(halves(text).map(|json| arguments("delta", "delta", json)));
        events.push(arguments("done", "arguments", text));
        events.push(item("done", idx + 1, items[idx + 1].clone()));
    }
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    let mut body = response("completed", json!(items));
    body["usage"] = json!({ "input_tokens": 3, "output_tokens": 6 });
    let mut last = body.clone();
    if !is_repeated {
        last["output"] = json!([]);
    }
    events.push(json!({ "type": "response.completed", "response": last }));
    Recorded { name, api: openai::RESPONSES, body, events, is_done: false }
}
