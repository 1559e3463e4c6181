//! For each reason to stop of the providers' own packages, calls run or do not. `tests/providers/replies.py` compares the
//! list with the packages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use test_support::replies::api;
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Context, Dispatcher, catalog, tool};
use toolkit_providers::anthropic::{Options, tools};
use toolkit_providers::reply::{Api, Reply, StopReason};

/// Counts how often it runs.
#[tool]
fn count(n: i64, runs: &Arc<AtomicUsize>) -> i64 {
    runs.fetch_add(1, Ordering::SeqCst);
    n
}

/// The arguments of the call, complete and cut.
const WHOLE: &str = r#"{"n": 1}"#;
const CUT: &str = r#"{"n": 1"#;

struct Counter {
    dispatcher: Dispatcher,
    names: ExportedNames,
    runs: Arc<AtomicUsize>,
}

impl Counter {
    fn new() -> Self {
        let runs = Arc::new(AtomicUsize::new(0));
        let catalog = catalog![count].unwrap();
        let names = tools(&catalog, Naming::default(), Options::default()).unwrap().names;
        let dispatcher = Dispatcher::builder(catalog).state(Arc::clone(&runs)).build().unwrap();
        Self { dispatcher, names, runs }
    }

    fn stream(&self, api: Api, events: Vec<Value>) -> Reply {
        let mut stream = api.stream(&self.names);
        for event in events {
            stream.push_event(event).unwrap();
        }
        stream.finish().unwrap()
    }

    /// Runs the calls of a reply twice, and returns the number of calls that ran, and the messages with the results.
    fn run(&self, reply: &Reply) -> (usize, String) {
        self.runs.store(0, Ordering::SeqCst);
        let results = [(); 2].map(|()| reply.run_sync(&self.dispatcher, &Context::new()));
        assert_eq!(results[0].len(), 1, "the call has a result");
        (self.runs.load(Ordering::SeqCst), json!(results[0].messages().unwrap()).to_string())
    }
}

/// The reasons of an API, with the kind of each.
fn reasons() -> Vec<(String, String, String)> {
    let table: Map<String, Value> =
        serde_json::from_str(include_str!("../../../../../tests/providers/stop_reasons.json")).unwrap();
    let of_api = |(api, entry): (&String, &Value)| -> Vec<(String, String, String)> {
        let reasons = entry["reasons"].as_object().unwrap().iter();
        reasons.map(|(reason, kind)| (api.clone(), reason.clone(), kind.as_str().unwrap().to_owned())).collect()
    };
    table.iter().flat_map(of_api).collect()
}

fn kind(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::ToolCalls => "runs",
        StopReason::Truncated => "truncated",
        StopReason::Paused => "paused",
        StopReason::Refused(_) => "refused",
        StopReason::Malformed(_) => "malformed",
        StopReason::Failed(_) => "failed",
        StopReason::Other(_) => "other",
        _ => "no call",
    }
}

/// Returns a response of Responses whose state is `reason`, which may have a detail: `incomplete/content_filter`.
fn with_status(mut response: Value, reason: &Value) -> Value {
    let (status, detail) = reason.as_str().and_then(|reason| reason.split_once('/')).unwrap_or_default();
    response["status"] = if status.is_empty() { reason.clone() } else { status.into() };
    if !detail.is_empty() {
        response["incomplete_details"] = json!({ "reason": detail });
    }
    response
}

fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| json!({}))
}

/// Returns a complete reply with one call.
fn complete(api: &str, reason: &Value, arguments: &str) -> Value {
    let function = json!({ "name": "count", "arguments": arguments });
    match api {
        "anthropic" => json!({ "stop_reason": reason,
            "content": [{ "type": "tool_use", "id": "t1", "name": "count", "input": parsed(arguments) }] }),
        "bedrock" => json!({ "stopReason": reason, "output": { "message": { "role": "assistant",
            "content": [{ "toolUse": { "toolUseId": "t1", "name": "count", "input": parsed(arguments) } }] } } }),
        "cohere" => json!({ "id": "c1", "finish_reason": reason, "message": { "role": "assistant",
            "tool_calls": [{ "id": "count_1", "type": "function", "function": function }] } }),
        "interactions" => json!({ "id": "i1", "status": reason, "steps": [{ "type": "function_call", "id": "t1",
            "name": "count", "arguments": parsed(arguments) }] }),
        "gemini" => json!({ "candidates": [{ "finishReason": reason, "content": { "role": "model",
            "parts": [{ "functionCall": { "name": "count", "args": parsed(arguments) } }] } }] }),
        "ollama" => json!({ "done": true, "done_reason": reason, "message": { "role": "assistant", "content": "",
            "tool_calls": [{ "function": { "name": "count", "arguments": parsed(arguments) } }] } }),
        "responses" => {
            let call = json!({ "type": "function_call", "call_id": "c1", "name": "count", "arguments": arguments });
            with_status(json!({ "output": [call] }), reason)
        }
        _ => json!({ "choices": [{ "index": 0, "finish_reason": reason, "message": { "role": "assistant",
            "content": null, "tool_calls": [{ "id": "D681PevKs", "type": "function", "function": function }] } }] }),
    }
}

/// Returns the events of a stream with one call. Each of the reasons has an event of its own.
fn events(api: &str, reasons: &[Value], arguments: &str) -> Vec<Value> {
    let function = json!({ "name": "count", "arguments": arguments });
    let first = match api {
        "anthropic" => vec![
            json!({ "type": "message_start", "message": { "content": [], "stop_reason": null } }),
            json!({ "type": "content_block_start", "index": 0,
                "content_block": { "type": "tool_use", "id": "t1", "name": "count", "input": {} } }),
            json!({ "type": "content_block_delta", "index": 0,
                "delta": { "type": "input_json_delta", "partial_json": arguments } }),
        ],
        "bedrock" => vec![
            json!({ "contentBlockStart": { "contentBlockIndex": 0,
                "start": { "toolUse": { "toolUseId": "t1", "name": "count" } } } }),
            json!({ "contentBlockDelta": { "contentBlockIndex": 0, "delta": { "toolUse": { "input": arguments } } } }),
        ],
        "cohere" => vec![
            json!({ "id": "c1", "type": "message-start", "delta": { "message": { "role": "assistant" } } }),
            json!({ "type": "tool-call-start", "index": 0, "delta": { "message": { "tool_calls": {
                "id": "count_1", "type": "function", "function": { "name": "count", "arguments": "" } } } } }),
            json!({ "type": "tool-call-delta", "index": 0,
                "delta": { "message": { "tool_calls": { "function": { "arguments": arguments } } } } }),
        ],
        "interactions" => vec![
            json!({ "event_type": "interaction.created", "interaction": { "id": "i1", "status": "in_progress" } }),
            json!({ "event_type": "step.start", "index": 0,
                "step": { "type": "function_call", "id": "t1", "name": "count", "arguments": {} } }),
            json!({ "event_type": "step.delta", "index": 0,
                "delta": { "type": "arguments_delta", "arguments": arguments } }),
        ],
        "gemini" | "ollama" => Vec::new(),
        "responses" => vec![
            json!({ "type": "response.created", "response": { "status": "in_progress", "output": [] } }),
            json!({ "type": "response.output_item.done", "output_index": 0,
                "item": { "type": "function_call", "call_id": "c1", "name": "count", "arguments": arguments } }),
        ],
        _ => vec![json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [
            { "index": 0, "id": "D681PevKs", "type": "function", "function": function }] } }] })],
    };
    let last = reasons.iter().enumerate().map(|(number, reason)| match api {
        "anthropic" => json!({ "type": "message_delta", "delta": { "stop_reason": reason } }),
        "bedrock" => json!({ "messageStop": { "stopReason": reason } }),
        "cohere" => json!({ "type": "message-end", "delta": { "finish_reason": reason } }),
        "interactions" => json!({ "event_type": "interaction.completed", "interaction": { "status": reason } }),
        "gemini" | "ollama" if number == 0 => complete(api, reason, arguments),
        "gemini" => json!({ "candidates": [{ "finishReason": reason, "content": { "parts": [] } }] }),
        "ollama" => json!({ "done": true, "done_reason": reason, "message": { "content": "" } }),
        "responses" => {
            let kind = match reason.as_str().unwrap_or_default().split('/').next() {
                Some(end @ ("failed" | "incomplete")) => format!("response.{end}"),
                _ => "response.completed".to_owned(),
            };
            json!({ "type": kind, "response": with_status(json!({ "output": [] }), reason) })
        }
        _ => json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }),
    });
    let mut events: Vec<Value> = first.into_iter().chain(last).collect();
    if api == "anthropic" {
        events.push(json!({ "type": "message_stop" }));
    }
    events
}

#[test]
fn each_reason_of_each_provider_runs_calls_or_not() {
    let counter = Counter::new();
    for (name, reason, expected) in reasons() {
        let api = api(&name).unwrap();
        let complete = api.read(complete(&name, &json!(reason), WHOLE), &counter.names).unwrap();
        let streamed = counter.stream(api, events(&name, &[json!(reason)], WHOLE));
        for (form, reply) in [("complete", complete), ("streamed", streamed)] {
            let (n_runs, _) = counter.run(&reply);
            assert_eq!(kind(reply.stop_reason()), expected, "{name} {reason} {form}");
            assert_eq!(n_runs, if expected == "runs" { 2 } else { 0 }, "{name} {reason} {form}");
        }
    }
}

#[test]
fn calls_of_compatible_servers_run_after_their_own_reasons() {
    let counter = Counter::new();
    let api = api("chat").unwrap();
    for reason in ["tool_call", "tool_use", "end_turn", "eos", "eos_token", "stop_sequence"] {
        let complete = api.read(complete("chat", &json!(reason), WHOLE), &counter.names).unwrap();
        // Some servers write "null" as text before the last event.
        let streamed = counter.stream(api, events("chat", &[json!("null"), json!(reason), json!("null")], WHOLE));
        for reply in [complete, streamed] {
            assert_eq!(counter.run(&reply).0, 2, "{reason}");
        }
    }
}

#[test]
fn no_call_runs_for_a_reason_that_is_unknown_or_no_text() {
    let counter = Counter::new();
    let names = ["anthropic", "bedrock", "chat", "cohere", "gemini", "interactions", "mistral", "ollama", "responses"];
    let unknown = [json!("a_new_reason"), json!("Stop"), json!("tool-use"), json!(7), json!(["stop"]), json!(false)];
    for (name, reason) in names.iter().flat_map(|name| unknown.iter().map(move |reason| (*name, reason))) {
        let api = api(name).unwrap();
        let complete = api.read(complete(name, reason, WHOLE), &counter.names).unwrap();
        let streamed = counter.stream(api, events(name, std::slice::from_ref(reason), WHOLE));
        for reply in [complete, streamed] {
            assert_eq!(counter.run(&reply).0, 0, "{name} {reason}");
            let stated = reason.as_str().map_or_else(|| reason.to_string(), str::to_owned);
            assert_eq!(reply.stop_reason(), &StopReason::Other(stated), "{name}");
        }
    }
}

#[test]
fn a_reply_that_states_no_reason_has_not_ended_where_the_reason_is_required() {
    let counter = Counter::new();
    for name in ["anthropic", "bedrock", "cohere", "gemini", "interactions"] {
        for reason in [json!(null), json!("")] {
            let api = api(name).unwrap();
            let complete = api.read(complete(name, &reason, WHOLE), &counter.names).unwrap();
            let streamed = counter.stream(api, events(name, &[reason], WHOLE));
            for reply in [complete, streamed] {
                assert_eq!((reply.stop_reason(), counter.run(&reply).0), (&StopReason::Truncated, 0), "{name}");
            }
        }
    }
}

/// The reasons after which the model must not repeat its call.
fn refusals() -> impl Iterator<Item = (String, String, String)> {
    reasons().into_iter().filter(|(_, _, kind)| matches!(kind.as_str(), "refused" | "other"))
}

#[test]
fn a_reply_that_is_refused_and_cut_is_refused_and_the_model_is_not_told_to_repeat_it() {
    let counter = Counter::new();
    for (name, reason, expected) in refusals() {
        let api = api(&name).unwrap();
        let mut replies = vec![counter.stream(api, events(&name, &[json!(reason)], CUT))];
        replies.push(api.read(complete(&name, &json!(reason), CUT), &counter.names).unwrap());
        // The connection ended after the reason.
        if name == "anthropic" {
            let mut events = events(&name, &[json!(reason)], CUT);
            events.pop();
            replies.push(counter.stream(api, events));
        }
        for reply in replies {
            let (n_runs, messages) = counter.run(&reply);
            assert_eq!((kind(reply.stop_reason()), n_runs), (&*expected, 0), "{name} {reason}");
            assert!(!messages.contains("repeat"), "{name} {reason}: {messages}");
        }
    }
}

#[test]
fn a_later_reason_does_not_replace_a_refusal() {
    let counter = Counter::new();
    for (name, reason, expected) in refusals() {
        let runs = reasons().into_iter().filter(|(api, _, kind)| *api == name && kind == "runs");
        for later in runs.map(|(_, later, _)| json!(later)).chain([json!(null), json!("")]) {
            let reply = counter.stream(api(&name).unwrap(), events(&name, &[json!(reason), later.clone()], WHOLE));
            let found = (kind(reply.stop_reason()), counter.run(&reply).0);
            assert_eq!(found, (&*expected, 0), "{name} {reason} before {later}");
        }
    }
}

#[test]
fn a_refusal_in_the_text_of_a_reply_runs_no_call() {
    let counter = Counter::new();
    let call = json!({ "type": "function_call", "call_id": "c1", "name": "count", "arguments": WHOLE });
    let refusal = json!({ "type": "refusal", "refusal": "I can't." });
    let message = json!({ "type": "message", "role": "assistant", "content": [refusal] });
    for status in ["completed", "incomplete", "failed", "in_progress"] {
        let body = json!({ "status": status, "output": [call, message] });
        let reply = api("responses").unwrap().read(body, &counter.names).unwrap();
        assert_eq!(reply.stop_reason(), &StopReason::Refused("I can't.".to_owned()), "{status}");
        assert_eq!(counter.run(&reply).0, 0);
    }
    for name in ["chat", "mistral"] {
        for (field, value) in [("refusal", json!("I can't.")), ("content", json!([refusal]))] {
            let mut body = complete(name, &json!("tool_calls"), WHOLE);
            body["choices"][0]["message"][field] = value;
            body["error"] = json!({ "message": "Stopped" });
            let reply = api(name).unwrap().read(body, &counter.names).unwrap();
            assert_eq!(reply.stop_reason(), &StopReason::Refused("I can't.".to_owned()), "{name}");
            assert_eq!(counter.run(&reply).0, 0);
        }
    }
    // A prompt that is blocked while the candidate is already there.
    let mut body = complete("gemini", &json!("STOP"), WHOLE);
    body["promptFeedback"] = json!({ "blockReason": "JAILBREAK" });
    let reply = api("gemini").unwrap().read(body, &counter.names).unwrap();
    assert_eq!((kind(reply.stop_reason()), counter.run(&reply).0), ("refused", 0));
}

#[test]
fn polling_a_response_runs_its_calls_only_when_it_is_complete() {
    let counter = Counter::new();
    for (status, n_runs) in [("queued", 0), ("in_progress", 0), ("in_progress", 0), ("completed", 2)] {
        let body = complete("responses", &json!(status), WHOLE);
        let reply = api("responses").unwrap().read(body, &counter.names).unwrap();
        assert_eq!(counter.run(&reply).0, n_runs, "{status}");
    }
}

#[test]
fn the_reason_of_a_reply_that_does_not_run_and_its_text_reach_the_host() {
    let with = |name: &str, reason: &str, pointer: &str, text: Value| {
        let mut body = complete(name, &json!(reason), WHOLE);
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[key] = text;
        (name.to_owned(), body)
    };
    let why = json!("Because.");
    let guardrail = json!({ "guardrail": { "actionReason": why } });
    let cases = [
        (with("anthropic", "refusal", "/stop_details", json!({ "explanation": why })), "refused: Because."),
        (with("anthropic", "tool_use", "/error", json!({ "message": why })), "an error of the provider: Because."),
        (with("bedrock", "guardrail_intervened", "/trace", guardrail), "refused: Because."),
        (with("chat", "content_filter", "/choices/0/message/refusal", why.clone()), "refused: Because."),
        (with("chat", "error", "/error", json!({ "message": why })), "an error of the provider: Because."),
        (with("gemini", "SAFETY", "/candidates/0/finishMessage", why.clone()), "refused: Because."),
        (
            with("gemini", "MALFORMED_FUNCTION_CALL", "/candidates/0/finishMessage", why.clone()),
            "a malformed call: Because.",
        ),
        (with("gemini", "OTHER", "/candidates/0/finishMessage", why.clone()), "Because."),
        (with("cohere", "ERROR", "/error", why.clone()), "an error of the provider: Because."),
        (with("interactions", "failed", "/error", json!({ "message": why })), "an error of the provider: Because."),
        (with("ollama", "stop", "/error", why.clone()), "an error of the provider: Because."),
        (with("responses", "failed", "/error", json!({ "message": why })), "an error of the provider: Because."),
        (with("responses", "failed", "/error", json!({ "code": "bio_policy", "message": why })), "refused: Because."),
    ];
    let counter = Counter::new();
    for ((name, body), expected) in cases {
        let reply = api(&name).unwrap().read(body, &counter.names).unwrap();
        assert_eq!((&*reply.stop_reason().to_string(), counter.run(&reply).0), (expected, 0), "{name}");
    }
}

#[test]
fn a_reply_of_another_api_is_no_reply_of_ollama() {
    let call = json!({ "id": "count_1", "type": "function", "function": { "name": "count", "arguments": WHOLE } });
    let message = json!({ "role": "assistant", "tool_calls": [call] });
    let body = json!({ "id": "c1", "finish_reason": "TOOL_CALL", "message": message });
    let error = api("ollama").unwrap().read(body, &ExportedNames::default()).unwrap_err();
    assert!(error.to_string().contains("`done`"), "{error}");
}
