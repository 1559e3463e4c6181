//! Replies of Mistral's Conversations.

use serde_json::{Value, json};
use test_support::block_on;
use toolkit::catalog::Naming;
use toolkit::{Dispatcher, catalog, tool};
use toolkit_providers::Export;
use toolkit_providers::mistral::CONVERSATIONS;
use toolkit_providers::openai::{Options, tools};
use toolkit_providers::reply::{ReplyEvent, StopReason};

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![add].unwrap()).unwrap()
}

fn export() -> Export {
    tools(dispatcher().catalog(), Naming::default(), Options::chat_completions()).unwrap()
}

fn call(id: &str, status: Option<&str>) -> Value {
    let arguments = "{\"a\": 1, \"b\": 2}";
    let mut call = json!({ "object": "entry", "type": "function.call", "id": format!("fc_{id}"), "tool_call_id": id,
        "name": "add", "arguments": arguments });
    if let Some(status) = status {
        call["confirmation_status"] = status.into();
    }
    call
}

fn response(outputs: &[Value]) -> Value {
    let usage = json!({ "total_tokens": 9 });
    json!({ "object": "conversation.response", "conversation_id": "conv_1", "outputs": outputs, "usage": usage })
}

fn outputs() -> Vec<Value> {
    let thinking = json!({ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] });
    vec![
        json!({ "object": "entry", "type": "tool.execution", "id": "te_1", "name": "web_search", "arguments": "{}",
            "info": { "found": 2 } }),
        json!({ "object": "entry", "type": "message.output", "id": "msg_1", "role": "assistant", "model": "m",
            "content": [thinking, { "type": "text", "text": "Let me see." }] }),
        call("D681PevKs", None),
        call("E681PevKs", Some("allowed")),
    ]
}

#[test]
fn a_response_goes_back_as_it_came_and_its_calls_have_results() {
    let turn = block_on(CONVERSATIONS.respond(&dispatcher(), &export(), response(&outputs()))).unwrap();
    assert_eq!((turn.reply.text(), turn.reply.reasoning()), ("Let me see.", "Hm."));
    assert_eq!(turn.reply.provider_calls()[0].kind, "tool.execution");
    let result = |id: &str| json!({ "object": "entry", "type": "function.result", "tool_call_id": id, "result": "3" });
    assert_eq!(turn.reply.messages(), outputs());
    assert_eq!(turn.results.messages().unwrap(), [result("D681PevKs"), result("E681PevKs")]);
    assert_eq!(turn.reply.metadata()["conversation_id"], "conv_1");
}

#[test]
fn a_call_that_is_not_confirmed_does_not_run() {
    for status in ["pending", "denied", "a_new_status"] {
        let reply = CONVERSATIONS.read(response(&[call("D681PevKs", Some(status))]), &export().names).unwrap();
        assert!(reply.calls().is_empty() && reply.needs_results(), "{status}");
        let mut results = block_on(reply.run(&dispatcher()));
        assert!(results.messages().unwrap_err().to_string().contains("function.call"), "{status}");
        assert!(results.set_host_result("D681PevKs", json!({ "type": "function.result" })));
        assert_eq!(results.messages().unwrap().len(), 1);
    }
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole() {
    let event = |kind: &str, index: u64, id: &str, fields: Value| {
        let mut event = json!({ "type": kind, "output_index": index, "id": id });
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        event
    };
    let text = |text: &str| {
        event(
            "message.output.delta",
            1,
            "msg_1",
            json!({ "content": { "type": "text", "text": text }, "content_index": 1, "role": "assistant", "model": "m" }),
        )
    };
    let thinking = json!({ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] });
    let piece = |index: u64, id: &str, json: &str, status: Value| {
        event(
            "function.call.delta",
            index,
            &format!("fc_{id}"),
            json!({ "tool_call_id": id, "name": "add", "arguments": json, "confirmation_status": status }),
        )
    };
    let events = [
        json!({ "type": "conversation.response.started", "conversation_id": "conv_1" }),
        event("tool.execution.started", 0, "te_1", json!({ "name": "web_search", "arguments": "" })),
        event("tool.execution.delta", 0, "te_1", json!({ "name": "web_search", "arguments": "{}" })),
        event("tool.execution.done", 0, "te_1", json!({ "name": "web_search", "info": { "found": 2 } })),
        event("message.output.delta", 1, "msg_1", json!({ "content": thinking, "content_index": 0 })),
        text("Let me"),
        text(" see."),
        piece(2, "D681PevKs", "{\"a\": 1,", Value::Null),
        piece(2, "D681PevKs", " \"b\": 2}", Value::Null),
        // Servers that leave out the index have the same for all calls.
        piece(2, "E681PevKs", "{\"a\": 1, \"b\": 2}", "allowed".into()),
        json!({ "type": "conversation.response.done", "usage": { "total_tokens": 9 } }),
    ];
    let names = export().names;
    let expected = CONVERSATIONS.read(response(&outputs()), &names).unwrap();
    for n_events in 1..=events.len() {
        let mut stream = CONVERSATIONS.stream(&names);
        let mut shown = Vec::new();
        for event in &events[..n_events] {
            shown.extend(stream.push(format!("event: {}\ndata: {event}\n\n", event["type"]).as_bytes()).unwrap());
        }
        let reply = stream.finish().unwrap();
        if n_events < events.len() {
            assert_eq!(reply.stop_reason(), &StopReason::Truncated, "{n_events}");
            continue;
        }
        assert_eq!((reply.messages(), reply.calls()), (expected.messages(), expected.calls()));
        assert_eq!((reply.text(), reply.stop_reason()), ("Let me see.", &StopReason::ToolCalls));
        assert_eq!(reply.metadata()["usage"], json!({ "total_tokens": 9 }));
        assert!(shown.contains(&ReplyEvent::CallStarted { index: 1, name: "add".to_owned() }));
    }
}

#[test]
fn an_error_in_a_stream_runs_nothing() {
    let mut stream = CONVERSATIONS.stream(&export().names);
    stream.push_event(json!({ "type": "conversation.response.started", "conversation_id": "conv_1" })).unwrap();
    let mut call = call("D681PevKs", None);
    call["type"] = "function.call.delta".into();
    stream.push_event(call).unwrap();
    let error = json!({ "type": "conversation.response.error", "message": "Overloaded", "code": 3505 });
    stream.push_event(error).unwrap();
    let reply = stream.finish().unwrap();
    assert_eq!(reply.stop_reason(), &StopReason::Failed("Overloaded".to_owned()));
    assert!(!reply.stop_reason().runs_calls());
    let error = json!({ "object": "error", "message": "Unauthorized" });
    let error = CONVERSATIONS.stream(&export().names).push_event(error).unwrap_err().to_string();
    assert!(error.contains("Unauthorized"), "{error}");
    for event in [json!("text"), json!([]), json!({ "type": "message.output.delta", "content": [3] })] {
        let _ = CONVERSATIONS.stream(&export().names).push_event(event);
    }
}
