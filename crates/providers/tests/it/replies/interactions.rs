//! Replies of Gemini's Interactions.

use serde_json::{Value, json};
use test_support::block_on;
use toolkit::catalog::Naming;
use toolkit::{Content, Dispatcher, Tool, ToolError, catalog, tool};
use toolkit_providers::Export;
use toolkit_providers::gemini::{INTERACTIONS, interaction_tools, read};
use toolkit_providers::reply::{ReplyEvent, StopReason};

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Draws a dot.
#[tool]
fn dot() -> Vec<Content> {
    vec![Content::text("a dot"), Content::image(b"\x89PNG", "image/png"), Content::text(" ")]
}

/// Fails.
#[tool]
fn fail() -> Result<String, ToolError> {
    Err(ToolError::failed("no file"))
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![add, dot, fail].unwrap()).unwrap()
}

fn export() -> Export {
    interaction_tools(dispatcher().catalog(), Naming::default()).unwrap()
}

fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({ "type": "function_call", "id": id, "name": name, "arguments": arguments })
}

fn steps() -> Vec<Value> {
    let annotation = json!({ "type": "url_citation", "url": "https://example.com" });
    vec![
        json!({ "type": "thought", "signature": "c2ln", "summary": [{ "type": "text", "text": "Hm." }] }),
        json!({ "type": "google_search_call", "id": "gs_1", "arguments": { "queries": ["x"] } }),
        json!({ "type": "model_output", "content": [
            { "type": "text", "text": "Let me see.", "annotations": [annotation] },
            { "type": "image", "mime_type": "image/png", "data": "iVBORw0KGgo=" },
        ] }),
        call("zggx", "add", json!({ "a": 1, "b": 2 })),
        call("zggy", "dot", json!({})),
        call("zggz", "fail", json!({})),
    ]
}

fn interaction(steps: &[Value]) -> Value {
    json!({ "id": "int_1", "status": "requires_action", "steps": steps, "usage": { "total_tokens": 9 } })
}

fn result(id: &str, name: &str, result: Value) -> Value {
    json!({ "type": "function_result", "call_id": id, "name": name, "result": result })
}

#[test]
fn an_interaction_goes_back_as_it_came_and_its_calls_have_results() {
    let turn = block_on(INTERACTIONS.respond(&dispatcher(), &export(), interaction(&steps()))).unwrap();
    assert_eq!((turn.reply.text(), turn.reply.reasoning()), ("Let me see.", "Hm."));
    assert_eq!(turn.reply.provider_calls()[0].kind, "google_search_call");
    assert_eq!(turn.reply.messages(), steps());
    let image = json!({ "type": "image", "mime_type": "image/png", "data": "iVBORw==" });
    let mut failed = result("zggz", "fail", "no file".into());
    failed["is_error"] = true.into();
    let expected = [
        result("zggx", "add", "3".into()),
        result("zggy", "dot", json!([{ "type": "text", "text": "a dot" }, image])),
        failed,
    ];
    let mut found = turn.results.messages().unwrap();
    found[1]["result"][1]["data"] = image["data"].clone();
    assert_eq!(found, expected);
    assert_eq!(turn.reply.metadata()["usage"]["total_tokens"], 9);
}

#[test]
fn the_input_of_the_request_does_not_go_back_and_its_calls_do_not_run_again() {
    let input = [
        json!({ "type": "user_input", "content": [{ "type": "text", "text": "Add." }] }),
        call("old", "add", json!({ "a": 1, "b": 2 })),
        result("old", "add", "3".into()),
    ];
    let steps = [&input[..], &steps()].concat();
    let reply = INTERACTIONS.read(interaction(&steps), &export().names).unwrap();
    assert_eq!(reply.messages(), self::steps());
    assert_eq!(reply.calls().len(), 3);
}

#[test]
fn an_error_of_a_step_runs_nothing() {
    let failed = json!({ "type": "model_output", "error": { "code": 8, "message": "Exhausted" } });
    let reply = INTERACTIONS.read(interaction(&[failed, steps()[3].clone()]), &export().names).unwrap();
    assert_eq!(reply.stop_reason(), &StopReason::Failed("Exhausted".to_owned()));
    assert_eq!(reply.messages().len(), 1);
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole_and_truncated_if_it_ends_early() {
    let steps = steps();
    let started = |index: usize, step: Value| json!({ "event_type": "step.start", "index": index, "step": step });
    let delta = |index: usize, delta: Value| json!({ "event_type": "step.delta", "index": index, "delta": delta });
    let stop = |index: usize| json!({ "event_type": "step.stop", "index": index });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let arguments = |json: &str| json!({ "type": "arguments_delta", "arguments": json });
    let annotations = steps[2]["content"][0]["annotations"].clone();
    let events = [
        json!({ "event_type": "interaction.created", "interaction": { "id": "int_1", "status": "in_progress" } }),
        json!({ "event_type": "interaction.status_update", "interaction_id": "int_1", "status": "in_progress" }),
        started(0, json!({ "type": "thought" })),
        delta(0, json!({ "type": "thought_summary", "content": text("H") })),
        delta(0, json!({ "type": "thought_summary", "content": text("m.") })),
        delta(0, json!({ "type": "thought_signature", "signature": "c2ln" })),
        stop(0),
        started(1, json!({ "type": "google_search_call", "id": "gs_1" })),
        delta(1, json!({ "type": "google_search_call", "arguments": { "queries": ["x"] } })),
        started(2, json!({ "type": "model_output" })),
        delta(2, text("Let me")),
        delta(2, text(" see.")),
        delta(2, json!({ "type": "text_annotation_delta", "annotations": annotations })),
        delta(2, steps[2]["content"][1].clone()),
        started(3, call("zggx", "add", json!({}))),
        delta(3, arguments("{\"a\":1,")),
        delta(3, arguments("\"b\":2}")),
        started(4, steps[4].clone()),
        started(5, steps[5].clone()),
        json!({ "event_type": "interaction.completed",
            "interaction": { "id": "int_1", "status": "requires_action", "usage": { "total_tokens": 9 } } }),
    ];
    let names = export().names;
    let expected = INTERACTIONS.read(interaction(&steps), &names).unwrap();
    for n_events in 1..=events.len() {
        let mut stream = INTERACTIONS.stream(&names);
        let mut shown = Vec::new();
        for event in &events[..n_events] {
            shown.extend(stream.push(format!("data: {event}\n\n").as_bytes()).unwrap());
        }
        let reply = stream.finish().unwrap();
        if n_events < events.len() {
            assert_eq!(reply.stop_reason(), &StopReason::Truncated, "{n_events}");
            continue;
        }
        assert_eq!((reply.messages(), reply.metadata()), (expected.messages(), expected.metadata()));
        assert_eq!((reply.calls(), reply.stop_reason()), (expected.calls(), &StopReason::ToolCalls));
        assert!(shown.contains(&ReplyEvent::Reasoning("m.".to_owned())));
        assert!(shown.contains(&ReplyEvent::CallStarted { index: 2, name: "fail".to_owned() }));
    }
}

#[test]
fn an_error_is_not_a_reply() {
    let names = export().names;
    let error = json!({ "error": { "code": 404, "message": "Not found", "status": "NOT_FOUND" } });
    let error = INTERACTIONS.read(error, &names).unwrap_err().to_string();
    assert_eq!(error, "not a reply of Gemini Interactions: the provider reports: Not found");
    for event in [json!("text"), json!([]), json!({ "event_type": "step.start", "step": 3 })] {
        let _ = INTERACTIONS.stream(&names).push_event(event);
    }
}

#[test]
fn a_tool_is_exported_as_a_function_and_read_again() {
    let input =
        json!({ "type": "object", "properties": { "n": { "type": "integer", "minimum": 1 } }, "required": ["n"] });
    let tool = Tool::builder("wait").description("Waits.").input(input).build().unwrap();
    let catalog = toolkit::Catalog::new([tool]).unwrap();
    let export = interaction_tools(&catalog, Naming::Name).unwrap();
    assert_eq!(export.json[0]["type"], "function");
    assert_eq!(export.json[0]["parameters"]["properties"]["n"], json!({ "type": "integer", "minimum": 1 }));
    let read = read(&export.json[0]).unwrap();
    assert_eq!((read.name(), read.description()), ("wait", "Waits."));
    assert_eq!(read.input().as_value()["properties"]["n"]["minimum"], 1);
}
