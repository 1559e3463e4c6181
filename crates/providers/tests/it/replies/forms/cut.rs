//! Replies that end early.

use serde_json::{Value, json};
use toolkit_providers::reply::StopReason;
use toolkit_providers::{anthropic, bedrock, cohere, gemini, mistral, ollama, openai};

use super::{dispatcher, outcome, replies, stream};

/// The number of events at the end of a stream that may be missing: those after the one that states the end.
fn n_after_end(name: &str) -> usize {
    match name {
        // The usage, and `[DONE]`.
        "chat" | "mistral" | "openrouter" => 2,
        "bedrock" | "interactions" => 1,
        _ => 0,
    }
}

#[test]
fn nothing_of_a_stream_runs_that_ended_before_its_terminator() {
    let (dispatcher, names) = dispatcher();
    for recorded in replies::all() {
        let frames = recorded.frames();
        for n_frames in 0..frames.len() - n_after_end(recorded.name) {
            let Some(cut) = outcome(stream(recorded.api, &frames[..n_frames], &names), &dispatcher) else { continue };
            assert_eq!(cut.stop, StopReason::Truncated, "{} after {n_frames}", recorded.name);
            assert!(cut.ran.iter().all(|ran| !ran), "{} after {n_frames}", recorded.name);
        }
    }
}

/// Beginnings of the JSON of arguments, one for each token in which they may end.
const BEGINNINGS: [&str; 16] = [
    "{",
    "{\"n",
    "{\"n\":",
    "{\"n\":-",
    "{\"n\":4",
    "{\"n\":4.",
    "{\"n\":4e",
    "{\"n\":4E-",
    "{\"n\":tr",
    "{\"n\":nul",
    "{\"n\":\"\\",
    "{\"n\":\"\\u00",
    "{\"n\":[1,",
    "{\"n\":{\"m\":1}",
    "{\"n\":4,",
    "\"{\\\"n\\\":4",
];

/// Returns a complete reply whose calls have these arguments, where an API has them as JSON text.
fn with_arguments(arguments: &[&str; 3]) -> Vec<(toolkit_providers::reply::Api, Value)> {
    let calls = |call: fn(usize, &str) -> Value| -> Vec<Value> {
        arguments.iter().enumerate().map(|(idx, json)| call(idx, json)).collect()
    };
    let functions = calls(
        |idx, json| json!({ "id": format!("D681PevK{idx}"), "type": "function", "function": { "name": "double", "arguments": json } }),
    );
    let message = json!({ "role": "assistant", "content": null, "tool_calls": functions });
    let completion = json!({ "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": message }] });
    vec![
        (openai::CHAT_COMPLETIONS, completion.clone()),
        (mistral::CHAT, completion),
        (
            cohere::CHAT,
            json!({ "id": "c1", "finish_reason": "TOOL_CALL",
            "message": { "role": "assistant", "tool_calls": functions } }),
        ),
        (ollama::CHAT, json!({ "done": true, "done_reason": "stop", "message": message })),
        (
            openai::RESPONSES,
            json!({ "status": "completed", "output": calls(|idx, json| json!({ "type": "function_call",
            "call_id": format!("c{idx}"), "name": "double", "arguments": json })) }),
        ),
        (
            mistral::CONVERSATIONS,
            json!({ "outputs": calls(|idx, json| json!({ "type": "function.call",
            "tool_call_id": format!("c{idx}"), "name": "double", "arguments": json })) }),
        ),
        (
            anthropic::MESSAGES,
            json!({ "stop_reason": "tool_use", "content": calls(|idx, json| json!({ "type": "tool_use",
            "id": format!("t{idx}"), "name": "double", "input": json })) }),
        ),
        (
            bedrock::CONVERSE,
            json!({ "stopReason": "tool_use", "output": { "message": { "role": "assistant",
            "content": calls(|idx, json| json!({ "toolUse": { "toolUseId": format!("t{idx}"), "name": "double",
                "input": json } })) } } }),
        ),
        (
            gemini::GENERATE_CONTENT,
            json!({ "candidates": [{ "finishReason": "STOP", "content": { "role": "model",
            "parts": calls(|idx, json| json!({ "functionCall": { "id": format!("g{idx}"), "name": "double",
                "args": json } })) } }] }),
        ),
        (
            gemini::INTERACTIONS,
            json!({ "status": "requires_action", "steps": calls(|idx, json| json!({
            "type": "function_call", "id": format!("i{idx}"), "name": "double", "arguments": json })) }),
        ),
    ]
}

#[test]
fn no_call_runs_beside_one_whose_arguments_end_early_whatever_its_place_and_the_reason_to_stop() {
    let (dispatcher, names) = dispatcher();
    for (place, beginning) in (0..3).flat_map(|place| BEGINNINGS.map(|beginning| (place, beginning))) {
        let mut arguments = [r#"{"n":1}"#; 3];
        arguments[place] = beginning;
        for (api, body) in with_arguments(&arguments) {
            let found = outcome(api.read(body, &names), &dispatcher).unwrap();
            assert_eq!(
                (found.stop, found.ran),
                (StopReason::Truncated, vec![false; 3]),
                "{api} {beginning} at {place}"
            );
        }
    }
}

#[test]
fn calls_run_beside_one_whose_arguments_are_no_json_but_complete() {
    let (dispatcher, names) = dispatcher();
    for malformed in
        ["{\"n\": nothing}", "{n: 4}", "{\"n\": 01}", "{\"n\": 4}}", "{\"n\": +4}", "{\"n\": \"5\" tall\"}"]
    {
        for (api, body) in with_arguments(&[r#"{"n":1}"#, malformed, r#"{"n":3}"#]) {
            let found = outcome(api.read(body, &names), &dispatcher).unwrap();
            assert_eq!((found.stop, found.ran), (StopReason::ToolCalls, vec![true, false, true]), "{api} {malformed}");
        }
    }
}

/// The host makes these calls, but their arguments end early as well.
#[test]
fn no_call_runs_beside_a_call_of_the_host_whose_arguments_end_early() {
    let (dispatcher, names) = dispatcher();
    let arguments = "{\"command\": \"rm -r /tmp/a";
    let own = json!({ "type": "tool_use", "id": "t1", "name": "double", "input": { "n": 1 } });
    let bash = json!({ "type": "tool_use", "id": "t2", "name": "bash", "input": arguments });
    let message = json!({ "stop_reason": "tool_use", "content": [own, bash] });
    let pending = json!({ "type": "function.call", "tool_call_id": "c2", "name": "double", "arguments": arguments,
        "confirmation_status": "pending" });
    let call = json!({ "type": "function.call", "tool_call_id": "c1", "name": "double", "arguments": "{\"n\":1}" });
    let response = json!({ "outputs": [call, pending] });
    for (api, body) in [(anthropic::MESSAGES, message), (mistral::CONVERSATIONS, response)] {
        let found = outcome(api.read(body, &names), &dispatcher).unwrap();
        assert_eq!((found.stop, found.ran), (StopReason::Truncated, vec![false]), "{api}");
    }
}

#[test]
fn no_call_runs_of_a_wrapper_of_several_calls_if_the_arguments_of_one_end_early() {
    let (dispatcher, names) = dispatcher();
    let uses = json!({ "tool_uses": [
        { "recipient_name": "functions.double", "parameters": "{\"n\": 1" },
        { "recipient_name": "functions.negate", "parameters": { "n": 2 } },
    ] });
    let call = json!({ "type": "function_call", "call_id": "c1", "name": "parallel", "arguments": uses.to_string() });
    let reply = openai::RESPONSES.read(json!({ "status": "completed", "output": [call] }), &names);
    let found = outcome(reply, &dispatcher).unwrap();
    assert_eq!((found.stop, found.ran), (StopReason::Truncated, vec![false, false]));
}

#[test]
fn a_line_of_a_stream_of_ollama_is_not_a_whole_reply() {
    let (dispatcher, names) = dispatcher();
    let call = json!({ "function": { "name": "double", "arguments": { "n": 1 } } });
    let line = json!({ "message": { "role": "assistant", "content": "", "tool_calls": [call] }, "done": false });
    let streamed = stream(ollama::CHAT, &[format!("{line}\n")], &names);
    for reply in [ollama::CHAT.read(line, &names), streamed] {
        let found = outcome(reply, &dispatcher).unwrap();
        assert_eq!((found.stop, found.ran), (StopReason::Truncated, vec![false]));
    }
}
