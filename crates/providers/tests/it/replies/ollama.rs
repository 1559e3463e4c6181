//! Replies of Ollama.

use serde_json::{Value, json};
use test_support::block_on;
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Content, Context, Dispatcher, catalog, tool};
use toolkit_providers::ollama;
use toolkit_providers::openai::{Options, tools};
use toolkit_providers::reply::{Reply, ReplyEvent, StopReason};

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

fn results(reply: &Reply) -> Vec<Value> {
    reply.run_sync(&dispatcher(), &Context::new()).messages().unwrap()
}

fn line(message: Value, done: bool) -> Value {
    json!({ "model": "qwen3", "created_at": "2026-07-28T06:27:15Z", "message": message, "done": done })
}

fn call(a: i64) -> Value {
    json!({ "function": { "index": 0, "name": "add", "arguments": { "a": a, "b": 2 } } })
}

#[test]
fn a_result_names_its_tool_and_images_are_notes() {
    let export = tools(dispatcher().catalog(), Naming::default(), Options::chat_completions()).unwrap();
    let message = json!({ "role": "assistant", "content": "", "thinking": "Sum.", "tool_calls": [
        call(1),
        { "id": "call_1", "function": { "name": "dot", "arguments": {} } },
        { "function": { "name": "sub", "arguments": {} } },
    ] });
    let mut reply = line(message.clone(), true);
    reply["done_reason"] = "stop".into();
    let turn = block_on(ollama::CHAT.respond(&dispatcher(), &export, reply)).unwrap();
    assert_eq!(turn.reply.stop_reason(), &StopReason::ToolCalls);
    assert_eq!((turn.reply.reasoning(), &turn.reply.metadata()["done_reason"]), ("Sum.", &json!("stop")));
    let messages = turn.messages().unwrap();
    assert_eq!(messages[0], message);
    assert_eq!(messages[1], json!({ "role": "tool", "tool_name": "add", "content": "3" }));
    let note = "[image, image/png, 6 bytes: not shown]";
    assert_eq!(messages[2], json!({ "role": "tool", "tool_name": "dot", "tool_call_id": "call_1", "content": note }));
    assert_eq!(messages[3]["content"], "error: no tool is named `sub`");
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole_at_every_cut() {
    let lines = [
        line(json!({ "role": "assistant", "content": "", "thinking": "Sü" }), false),
        line(json!({ "role": "assistant", "content": "", "thinking": "m." }), false),
        line(json!({ "role": "assistant", "content": "Add" }), false),
        line(json!({ "role": "assistant", "content": "ing." }), false),
        // Each call comes as a whole, and all have the same index.
        line(json!({ "role": "assistant", "content": "", "tool_calls": [call(1)] }), false),
        line(json!({ "role": "assistant", "content": "", "tool_calls": [call(3)] }), false),
        json!({ "model": "qwen3", "created_at": "2026-07-28T06:27:19Z", "message": { "role": "assistant", "content": "" },
            "done": true, "done_reason": "stop", "eval_count": 9 }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let whole = json!({ "model": "qwen3", "created_at": "2026-07-28T06:27:15Z",
        "message": { "role": "assistant", "content": "Adding.", "thinking": "Süm.", "tool_calls": [call(1), call(3)] },
        "done": true, "done_reason": "stop", "eval_count": 9 });
    let whole = ollama::CHAT.read(whole, &names()).unwrap();
    let results = results(&whole);
    assert_eq!((&results[0]["content"], &results[1]["content"]), (&json!("3"), &json!("5")));
    for cut in 0..=text.len() {
        let mut stream = ollama::CHAT.stream(&names());
        let (first, second) = text.as_bytes().split_at(cut);
        let mut events = stream.push(first).unwrap();
        events.extend(stream.push(second).unwrap());
        assert_eq!(events[0], ReplyEvent::Reasoning("Sü".to_owned()));
        assert_eq!(events[6], ReplyEvent::CallStarted { index: 1, name: "add".to_owned() });
        let reply = stream.finish().unwrap();
        assert_eq!((reply.messages(), reply.metadata()), (whole.messages(), whole.metadata()), "{cut}");
        assert_eq!((reply.calls(), reply.stop_reason()), (whole.calls(), whole.stop_reason()));
    }
}

#[test]
fn arguments_go_back_as_an_object() {
    for arguments in [json!("{\"a\": 1, \"b\": 2}"), json!("{\"a\": 1"), json!(null), json!([1])] {
        let call = json!({ "function": { "name": "add", "arguments": arguments } });
        let reply = line(json!({ "role": "assistant", "content": "", "tool_calls": [call] }), true);
        let reply = ollama::CHAT.read(reply, &names()).unwrap();
        assert!(reply.messages()[0]["tool_calls"][0]["function"]["arguments"].is_object());
        assert_eq!(results(&reply).len(), 1);
    }
}

#[test]
fn no_call_of_an_incomplete_reply_runs() {
    let with_call = line(json!({ "role": "assistant", "content": "", "tool_calls": [call(1)] }), false);
    let last = |fields: Value| {
        let mut stream = ollama::CHAT.stream(&names());
        stream.push_event(with_call.clone()).unwrap();
        stream.push_event(fields).unwrap();
        let reply = stream.finish().unwrap();
        assert!(results(&reply)[0]["content"].as_str().unwrap().starts_with("error: "));
        reply.stop_reason().clone()
    };
    assert_eq!(last(json!({ "done": false })), StopReason::Truncated);
    assert_eq!(last(json!({ "done": true, "done_reason": "length" })), StopReason::Truncated);
    assert_eq!(last(json!({ "error": "out of memory" })), StopReason::Failed("out of memory".to_owned()));
}

#[test]
fn an_error_instead_of_a_reply_has_the_message_of_the_provider() {
    let error = json!({ "error": "model 'x' not found" });
    let expected = "not a reply of Ollama: the provider reports: model 'x' not found";
    assert_eq!(ollama::CHAT.read(&error, &names()).unwrap_err().to_string(), expected);
    let mut stream = ollama::CHAT.stream(&names());
    assert_eq!(stream.push(format!("{error}\n").as_bytes()).unwrap_err().to_string(), expected);
    let completion = json!({ "choices": [] });
    assert_eq!(
        ollama::CHAT.read(&completion, &names()).unwrap_err().to_string(),
        "not a reply of Ollama: it has no `message`; it looks like a reply of OpenAI Chat Completions"
    );
}
