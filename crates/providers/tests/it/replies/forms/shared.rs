//! Calls that share an index or have no id, and events after the last one.

use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::{Api, Reply};
use toolkit_providers::{anthropic, bedrock, gemini, openai};

fn read(api: Api, events: Vec<Value>) -> Reply {
    let mut stream = api.stream(&ExportedNames::default());
    for event in events {
        stream.push_event(event).unwrap();
    }
    stream.finish().unwrap()
}

#[test]
fn calls_with_one_index_stay_apart() {
    let anthropic = |id: &str, n: u32| {
        let start = json!({ "type": "tool_use", "id": id, "name": "f", "input": {} });
        let piece = json!({ "type": "input_json_delta", "partial_json": format!("{{\"n\": {n}}}") });
        [
            json!({ "type": "content_block_start", "index": 0, "content_block": start }),
            json!({ "type": "content_block_delta", "index": 0, "delta": piece }),
            json!({ "type": "content_block_stop", "index": 0 }),
        ]
    };
    let bedrock = |id: &str, n: u32| {
        let start = json!({ "toolUse": { "toolUseId": id, "name": "f" } });
        let piece = json!({ "toolUse": { "input": format!("{{\"n\": {n}}}") } });
        [
            json!({ "contentBlockStart": { "contentBlockIndex": 0, "start": start } }),
            json!({ "contentBlockDelta": { "contentBlockIndex": 0, "delta": piece } }),
            json!({ "contentBlockStop": { "contentBlockIndex": 0 } }),
        ]
    };
    let interactions = |id: &str, n: u32| {
        let step = json!({ "type": "function_call", "id": id, "name": "f", "arguments": { "n": n } });
        let (kind, stop) = ("step.start", json!({ "event_type": "step.stop", "index": 0 }));
        [json!({ "event_type": kind, "index": 0, "step": step }), stop, json!({})]
    };
    let responses = |id: &str, n: u32| {
        let item =
            json!({ "type": "function_call", "call_id": id, "id": format!("fc_{id}"), "name": "f", "arguments": "" });
        let (kind, arguments) = ("response.function_call_arguments.delta", format!("{{\"n\": {n}}}"));
        [
            json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
            json!({ "type": kind, "output_index": 0, "delta": arguments }),
            json!({}),
        ]
    };
    let start = json!({ "type": "message_start", "message": { "role": "assistant" } });
    let both = |write: &dyn Fn(&str, u32) -> [Value; 3]| write("call_a", 1).into_iter().chain(write("call_b", 2));
    let streams: [(Api, Vec<Value>); 4] = [
        (anthropic::MESSAGES, [start].into_iter().chain(both(&anthropic)).collect()),
        (bedrock::CONVERSE, both(&bedrock).collect()),
        (gemini::INTERACTIONS, both(&interactions).collect()),
        (openai::RESPONSES, both(&responses).collect()),
    ];
    for (api, events) in streams {
        let reply = read(api, events);
        let calls: Vec<String> = reply
            .calls()
            .iter()
            .map(|call| format!("{} {:?}", call.id, call.arguments.to_arguments().to_value().unwrap()))
            .collect();
        assert_eq!(calls.len(), 2, "{api}: {calls:?}");
        assert!(calls[0].starts_with("call_a") && calls[0].contains('1'), "{api}: {calls:?}");
        assert!(calls[1].starts_with("call_b") && calls[1].contains('2'), "{api}: {calls:?}");
    }
}

/// Returns the ids of two calls without one in a reply of Bedrock.
fn ids(n: u32, n_tokens: u32) -> Vec<String> {
    let call = json!({ "toolUse": { "name": "f", "input": { "n": n } } });
    let message = json!({ "role": "assistant", "content": [call, call] });
    let usage = json!({ "inputTokens": n_tokens, "outputTokens": 9, "totalTokens": n_tokens + 9 });
    let body = json!({ "output": { "message": message }, "stopReason": "tool_use", "usage": usage });
    let reply = bedrock::CONVERSE.read(body, &ExportedNames::default()).unwrap();
    reply.calls().iter().map(|call| call.id.clone()).collect()
}

#[test]
fn ids_of_calls_without_one_are_unique_in_a_conversation_and_the_same_after_a_restart() {
    let turns = [ids(1, 100), ids(1, 200), ids(2, 100)];
    let mut all: Vec<&String> = turns.iter().flatten().collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 6, "{turns:?}");
    // Another program, built by another compiler, reads the stored reply again.
    assert_eq!(ids(1, 100), ["NHo2Hoxl8", "qmHpzcYaT"]);
}

#[test]
fn what_follows_the_last_event_is_not_of_the_reply() {
    let chunk =
        |delta: Value, reason: Value| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    let function = json!({ "name": "f", "arguments": "{}" });
    let call = json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function", "function": function }] });
    let events = vec![
        chunk(json!({ "content": "Hi!" }), "stop".into()),
        "[DONE]".into(),
        chunk(call, "tool_calls".into()),
        json!("not a chunk"),
    ];
    let reply = read(openai::CHAT_COMPLETIONS, events);
    assert!(reply.calls().is_empty());
    assert_eq!(reply.text(), "Hi!");
}
