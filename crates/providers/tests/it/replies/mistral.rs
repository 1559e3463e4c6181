//! Replies of Mistral.

use serde_json::{Value, json};
use test_support::block_on;
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Content, Context, Dispatcher, catalog, tool};
use toolkit_providers::openai::{Options, tools};
use toolkit_providers::reply::{Reply, ReplyEvent, StopReason};
use toolkit_providers::{mistral, openai};

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Draws a dot.
#[tool]
fn dot() -> Content {
    Content::image(b"\x89PNG", "image/png")
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![add, dot].unwrap()).unwrap()
}

fn names() -> ExportedNames {
    tools(dispatcher().catalog(), Naming::default(), Options::chat_completions()).unwrap().names
}

fn completion(message: Value, finish_reason: &str) -> Value {
    json!({ "id": "cmpl-1", "object": "chat.completion", "model": "mistral-small",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason }] })
}

fn results(reply: &Reply) -> Vec<Value> {
    reply.run_sync(&dispatcher(), &Context::new()).messages().unwrap()
}

fn chunk(delta: Value, finish_reason: Value) -> Value {
    json!({ "id": "cmpl-1", "object": "chat.completion.chunk", "model": "mistral-small",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish_reason }] })
}

#[test]
fn a_result_names_its_tool_and_images_are_notes() {
    let export = openai::tools(dispatcher().catalog(), Naming::default(), Options::chat_completions()).unwrap();
    let message = json!({ "role": "assistant", "content": "", "tool_calls": [
        { "id": "D681PevKs", "function": { "name": "add", "arguments": "{\"a\": 1, \"b\": 2}" } },
        { "id": "E681PevKs", "function": { "name": "dot", "arguments": {} } },
    ] });
    let turn = block_on(mistral::CHAT.respond(&dispatcher(), &export, completion(message, "tool_calls"))).unwrap();
    let messages = turn.messages().unwrap();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[0]["tool_calls"][1]["id"], "E681PevKs");
    assert_eq!(messages[1], json!({ "role": "tool", "tool_call_id": "D681PevKs", "name": "add", "content": "3" }));
    assert_eq!(messages[2]["content"], "[image, image/png, 6 bytes: not shown]");
}

#[test]
fn an_id_that_a_request_must_not_contain_is_replaced_everywhere() {
    for id in [json!("chatcmpl-tool-9f149c74c42f265b"), json!("null"), json!(null), json!("")] {
        let call = json!({ "id": id, "function": { "name": "add", "arguments": "{\"a\": 1, \"b\": 2}" } });
        let message = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
        let reply = mistral::CHAT.read(completion(message, "tool_calls"), &names()).unwrap();
        let id = &reply.calls()[0].id;
        assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        assert_eq!(reply.messages()[0]["tool_calls"][0]["id"], id.as_str());
        assert_eq!(results(&reply)[0]["tool_call_id"], id.as_str());
    }
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole_at_every_cut() {
    let call = |id: &str, a: i64| json!({ "id": id, "type": "function", "function": { "name": "add", "arguments": format!("{{\"a\": {a}, \"b\": 2}}") } });
    let thinking = |text: &str| json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": text }] }]);
    let events = [
        chunk(json!({ "role": "assistant", "content": thinking("Let me") }), Value::Null),
        chunk(json!({ "content": thinking(" see.") }), Value::Null),
        chunk(json!({ "content": "Ad" }), Value::Null),
        chunk(json!({ "content": "ding." }), Value::Null),
        // Two calls of one piece have no index.
        chunk(
            json!({ "content": "", "tool_calls": [call("D681PevKs", 1), call("E681PevKs", 3)] }),
            "tool_calls".into(),
        ),
    ];
    let mut sse: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    sse.push_str("data: [DONE]\n\n");
    let mut content = thinking("Let me see.");
    content.as_array_mut().unwrap().push(json!({ "type": "text", "text": "Adding." }));
    let whole =
        json!({ "role": "assistant", "content": content, "tool_calls": [call("D681PevKs", 1), call("E681PevKs", 3)] });
    let whole = mistral::CHAT.read(completion(whole, "tool_calls"), &names()).unwrap();
    assert_eq!((whole.text(), whole.reasoning()), ("Adding.", "Let me see."));
    for cut in 0..=sse.len() {
        let mut stream = mistral::CHAT.stream(&names());
        let (first, second) = sse.as_bytes().split_at(cut);
        let mut events = stream.push(first).unwrap();
        events.extend(stream.push(second).unwrap());
        assert!(events.contains(&ReplyEvent::Reasoning(" see.".to_owned())));
        let reply = stream.finish().unwrap();
        assert_eq!((reply.messages(), reply.metadata()), (whole.messages(), whole.metadata()), "{cut}");
        assert_eq!((reply.calls(), reply.stop_reason()), (whole.calls(), whole.stop_reason()));
    }
    let results = results(&whole);
    assert_eq!((&results[0]["content"], &results[1]["content"]), (&json!("3"), &json!("5")));
}

#[test]
fn a_later_fragment_may_have_an_empty_name() {
    let mut stream = mistral::CHAT.stream(&names());
    let pieces = [
        json!({ "id": "D681PevKs", "type": "function", "function": { "name": "add", "arguments": "" }, "index": 0 }),
        json!({ "type": "function", "function": { "name": "", "arguments": "{\"a\": 1, \"b\": 2}" }, "index": 0 }),
    ];
    for piece in pieces {
        stream.push_event(chunk(json!({ "tool_calls": [piece], "index": 0, "content": "" }), Value::Null)).unwrap();
    }
    stream.push_event(chunk(json!({ "index": 0, "content": "" }), "tool_calls".into())).unwrap();
    let reply = stream.finish().unwrap();
    assert_eq!(results(&reply)[0]["content"], "3");
    assert_eq!(reply.messages()[0].get("index"), None);
}

#[test]
fn the_limit_of_a_model_truncates_and_an_error_fails() {
    let message = json!({ "role": "assistant", "content": "So" });
    let stop = |reason: &str| {
        let reply = mistral::CHAT.read(completion(message.clone(), reason), &names()).unwrap();
        reply.stop_reason().clone()
    };
    assert_eq!(stop("model_length"), StopReason::Truncated);
    assert_eq!(stop("error"), StopReason::Failed("error".to_owned()));
    let error = json!({ "object": "error", "message": "Unauthorized", "type": "invalid_request_error" });
    assert_eq!(
        mistral::CHAT.read(&error, &names()).unwrap_err().to_string(),
        "not a reply of Mistral Chat Completions: the provider reports: Unauthorized"
    );
}
