//! Replies of version 2 of Cohere's chat.

use serde_json::{Value, json};
use test_support::block_on;
use toolkit::catalog::Naming;
use toolkit::{Content, Dispatcher, catalog, tool};
use toolkit_providers::cohere::CHAT;
use toolkit_providers::openai::{Options, tools};
use toolkit_providers::reply::{ReplyEvent, StopReason};
use toolkit_providers::{Export, ollama};

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

fn export() -> Export {
    tools(dispatcher().catalog(), Naming::default(), Options::chat_completions()).unwrap()
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

/// A reply with all parts that a message may have.
fn whole() -> Value {
    let source = json!({ "type": "tool", "id": "add_0:0", "tool_output": { "sum": 3 } });
    json!({ "id": "c14c80c3", "finish_reason": "TOOL_CALL", "usage": { "tokens": { "output_tokens": 9 } }, "message": {
        "role": "assistant",
        "tool_plan": "I will add.",
        "content": [{ "type": "thinking", "thinking": "Hm." }, { "type": "text", "text": "Let me see." }],
        "tool_calls": [call("add_1", "add", "{\"a\": 1, \"b\": 2}"), call("dot_1", "dot", "{}")],
        "citations": [{ "start": 0, "end": 3, "text": "Let", "sources": [source] }],
    } })
}

fn events() -> Vec<Value> {
    let whole = whole();
    let message = |kind: &str, index: u64, message: Value| json!({ "type": kind, "index": index, "delta": { "message": message } });
    let content = |kind: &str, index: u64, content: Value| message(kind, index, json!({ "content": content }));
    let started = |index: u64, id: &str, name: &str| {
        message("tool-call-start", index, json!({ "tool_calls": call(id, name, "") }))
    };
    let more = |index: u64, json: &str| {
        message("tool-call-delta", index, json!({ "tool_calls": { "function": { "arguments": json } } }))
    };
    vec![
        json!({ "id": "c14c80c3", "type": "message-start", "delta": { "message": { "role": "assistant",
            "content": [], "tool_plan": "", "tool_calls": [], "citations": [] } } }),
        json!({ "type": "tool-plan-delta", "delta": { "message": { "tool_plan": "I will" } } }),
        json!({ "type": "tool-plan-delta", "delta": { "message": { "tool_plan": " add." } } }),
        content("content-start", 0, json!({ "type": "thinking", "thinking": "" })),
        content("content-delta", 0, json!({ "thinking": "Hm." })),
        json!({ "type": "content-end", "index": 0 }),
        content("content-start", 1, json!({ "type": "text", "text": "" })),
        content("content-delta", 1, json!({ "text": "Let me" })),
        content("content-delta", 1, json!({ "text": " see." })),
        json!({ "type": "citation-start", "index": 0,
            "delta": { "message": { "citations": whole["message"]["citations"][0] } } }),
        json!({ "type": "citation-end", "index": 0 }),
        started(0, "add_1", "add"),
        more(0, "{\"a\": 1,"),
        more(0, " \"b\": 2}"),
        json!({ "type": "tool-call-end", "index": 0 }),
        started(1, "dot_1", "dot"),
        more(1, "{}"),
        json!({ "type": "message-end", "delta": { "finish_reason": "TOOL_CALL", "usage": whole["usage"] } }),
    ]
}

#[test]
fn a_reply_goes_back_as_it_came_and_its_calls_have_results() {
    let turn = block_on(CHAT.respond(&dispatcher(), &export(), whole())).unwrap();
    assert_eq!((turn.reply.text(), turn.reply.reasoning()), ("Let me see.", "I will add.Hm."));
    assert_eq!(
        turn.messages().unwrap(),
        [
            whole()["message"].clone(),
            json!({ "role": "tool", "tool_call_id": "add_1", "content": "3" }),
            json!({ "role": "tool", "tool_call_id": "dot_1", "content": "[image, image/png, 6 bytes: not shown]" }),
        ]
    );
    assert_eq!(turn.reply.metadata()["usage"]["tokens"]["output_tokens"], 9);
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole_at_every_cut() {
    let names = export().names;
    let expected = CHAT.read(whole(), &names).unwrap();
    let line = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let sse: String = events().into_iter().map(line).collect();
    for cut in 0..=sse.len() {
        let mut stream = CHAT.stream(&names);
        let (first, second) = sse.as_bytes().split_at(cut);
        let mut shown = stream.push(first).unwrap();
        shown.extend(stream.push(second).unwrap());
        assert!(shown.contains(&ReplyEvent::Reasoning(" add.".to_owned())));
        assert!(shown.contains(&ReplyEvent::Arguments { index: 1, json: "{}".to_owned() }));
        let reply = stream.finish().unwrap();
        assert_eq!((reply.messages(), reply.metadata()), (expected.messages(), expected.metadata()), "{cut}");
        assert_eq!((reply.calls(), reply.stop_reason()), (expected.calls(), &StopReason::ToolCalls));
    }
}

#[test]
fn pieces_continue_their_own_part_whatever_comes_between_them() {
    let event = |kind: &str, index: Value, message: Value| json!({ "type": kind, "index": index, "delta": { "message": message } });
    let content = |index: u64, piece: Value| event("content-delta", json!(index), json!({ "content": piece }));
    let more = |call: Value| event("tool-call-delta", Value::Null, json!({ "tool_calls": call }));
    let events = [
        json!({ "type": "message-start", "id": "m1" }),
        content(1, json!({ "text": "b" })),
        content(0, json!({ "thinking": "a" })),
        more(call("add_1", "add", "{\"a\": 1,")),
        content(1, json!({ "text": "c" })),
        content(2, json!({ "text": "d" })),
        more(json!({ "function": { "arguments": "\"b\": 2}" } })),
        json!({ "type": "message-end", "delta": { "finish_reason": "TOOL_CALL" } }),
    ];
    let mut stream = CHAT.stream(&export().names);
    events.into_iter().for_each(|event| drop(stream.push_event(event).unwrap()));
    let content =
        [("thinking", "a"), ("text", "bc"), ("text", "d")].map(|(kind, text)| json!({ "type": kind, kind: text }));
    let message =
        json!({ "role": "assistant", "content": content, "tool_calls": [call("add_1", "add", "{\"a\": 1,\"b\": 2}")] });
    assert_eq!(stream.finish().unwrap().messages(), [message]);
}

#[test]
fn a_part_that_has_only_begun_does_not_go_back() {
    let events = [
        json!({ "type": "message-start", "id": "1", "delta": { "message": { "role": "assistant" } } }),
        json!({ "type": "content-start", "index": 0, "delta": { "message": { "content": { "type": "thinking", "thinking": "" } } } }),
        json!({ "type": "content-delta", "index": 0, "delta": { "message": { "content": { "thinking": "Hm." } } } }),
        json!({ "type": "content-start", "index": 1, "delta": { "message": { "content": { "type": "text", "text": "" } } } }),
    ];
    for n_events in 1..=events.len() {
        let mut stream = CHAT.stream(&export().names);
        for event in &events[..n_events] {
            stream.push(format!("data: {event}\n\n").as_bytes()).unwrap();
        }
        let reply = stream.finish().unwrap();
        for part in reply.messages().iter().filter_map(|message| message["content"].as_array()).flatten() {
            assert!(part["text"].is_string() || part["thinking"].is_string(), "{n_events}: {part}");
        }
    }
}

#[test]
fn a_stream_that_ends_early_is_truncated() {
    let events = events();
    for n_events in 1..events.len() {
        let mut stream = CHAT.stream(&export().names);
        for event in &events[..n_events] {
            stream.push_event(event.clone()).unwrap();
        }
        assert_eq!(stream.finish().unwrap().stop_reason(), &StopReason::Truncated, "{n_events}");
    }
    assert!(CHAT.stream(&export().names).finish().unwrap_err().to_string().contains("the stream has no reply"));
}

#[test]
fn an_error_and_a_reply_of_another_api_are_not_replies() {
    let names = export().names;
    let error = |body: Value| CHAT.read(body, &names).unwrap_err().to_string();
    let unauthorized = json!({ "id": "e1", "message": "invalid api token" });
    assert_eq!(error(unauthorized.clone()), "not a reply of Cohere: the provider reports: invalid api token");
    assert!(CHAT.stream(&names).push_event(unauthorized).unwrap_err().to_string().contains("invalid api token"));
    let of_ollama = json!({ "message": { "role": "assistant", "content": "Hi" }, "done": true });
    assert!(error(of_ollama).ends_with("it looks like a reply of Ollama"));
    let of_cohere = ollama::CHAT.read(whole(), &names).unwrap_err().to_string();
    assert!(of_cohere.ends_with("it looks like a reply of Cohere"), "{of_cohere}");
    for event in [json!("text"), json!([]), json!({ "type": "message-start", "delta": "text" })] {
        let _ = CHAT.stream(&names).push_event(event);
    }
}
