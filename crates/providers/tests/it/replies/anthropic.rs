//! Replies of Anthropic Messages.

use serde_json::{Value, json};
use test_support::block_on;
use toolkit::catalog::Naming;
use toolkit::{Dispatcher, tool};
use toolkit_providers::anthropic::{self, Options, tools};

/// Adds two numbers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[test]
fn a_reply_with_a_call_is_answered_in_one_line() {
    let dispatcher = Dispatcher::new(toolkit::catalog![add].unwrap()).unwrap();
    let export = tools(dispatcher.catalog(), Naming::default(), Options::default()).unwrap();
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant",
        "content": [
            { "type": "text", "text": "Let me add." },
            { "type": "tool_use", "id": "toolu_1", "name": "math_add", "input": { "a": 1, "b": 2 } },
            { "type": "tool_use", "id": "toolu_2", "name": "math_sub", "input": { "a": 1, "b": 2 } },
        ],
        "stop_reason": "tool_use",
    });
    let turn = block_on(anthropic::MESSAGES.respond(&dispatcher, &export, &message)).unwrap();
    let messages = turn.messages().unwrap();
    assert_eq!(messages[0], json!({ "role": "assistant", "content": message["content"] }));
    assert_eq!(
        messages[1],
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "toolu_1", "content": "3" },
            { "type": "tool_result", "tool_use_id": "toolu_2", "is_error": true,
              "content": "no tool is named `math_sub`; did you mean `math_add`?" },
        ] })
    );
    assert!(!turn.is_final());
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole_at_every_cut() {
    let dispatcher = Dispatcher::new(toolkit::catalog![add].unwrap()).unwrap();
    let names = tools(dispatcher.catalog(), Naming::default(), Options::default()).unwrap().names;
    let events = [
        json!({ "type": "message_start", "message": { "id": "msg_1", "type": "message", "role": "assistant",
            "content": [], "stop_reason": null, "usage": { "input_tokens": 3 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "ping" }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Ärger" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1,
            "content_block": { "type": "tool_use", "id": "toolu_1", "name": "math_add", "input": {} } }),
        json!({ "type": "content_block_delta", "index": 1,
            "delta": { "type": "input_json_delta", "partial_json": "{\"a\": 1," } }),
        json!({ "type": "content_block_delta", "index": 1,
            "delta": { "type": "input_json_delta", "partial_json": " \"b\": 2}" } }),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
        json!({ "type": "message_stop" }),
    ];
    let sse: String = events.iter().map(|event| format!("event: x\r\ndata: {event}\r\n\r\n")).collect();
    let whole = json!({ "id": "msg_1", "type": "message", "role": "assistant",
        "content": [{ "type": "text", "text": "Ärger" },
            { "type": "tool_use", "id": "toolu_1", "name": "math_add", "input": { "a": 1, "b": 2 } }],
        "stop_reason": "tool_use", "usage": { "input_tokens": 3, "output_tokens": 9 } });
    let whole = anthropic::MESSAGES.read(whole, &names).unwrap();
    for cut in 0..sse.len() {
        let mut stream = anthropic::MESSAGES.stream(&names);
        let (first, second) = sse.as_bytes().split_at(cut);
        stream.push(first).unwrap();
        stream.push(second).unwrap();
        let reply = stream.finish().unwrap();
        assert_eq!((reply.messages(), reply.metadata()), (whole.messages(), whole.metadata()), "{cut}");
        assert_eq!(reply.stop_reason(), whole.stop_reason());
        let results: Vec<Value> = reply.run_sync(&dispatcher, &toolkit::Context::new()).messages().unwrap();
        assert_eq!(results[0]["content"][0]["content"], "3");
    }
}

/// Lists the entry with an id.
#[tool]
fn list(#[serde(rename = "filter[id]")] id: i64, name: Option<String>) -> String {
    format!("{id} {name:?}")
}

#[test]
fn a_renamed_argument_has_its_own_name_in_the_call_that_runs_and_is_repeated_as_it_was_sent() {
    let dispatcher = Dispatcher::new(toolkit::catalog![list].unwrap()).unwrap();
    for options in [Options::default(), Options::default().strict()] {
        let export = tools(dispatcher.catalog(), Naming::default(), options).unwrap();
        let sent = export.json[0]["input_schema"]["properties"].as_object().unwrap().keys();
        let sent = sent.filter(|name| name.starts_with("filter_id_")).collect::<Vec<_>>()[0];
        let input = json!({ sent: 7, "name": null });
        let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "list", "input": input });
        let message = json!({ "content": [call], "stop_reason": "tool_use" });
        let turn = block_on(anthropic::MESSAGES.respond(&dispatcher, &export, &message)).unwrap();
        let messages = turn.messages().unwrap();
        assert_eq!(messages[0]["content"][0]["input"], input);
        assert_eq!(messages[1]["content"][0]["content"], "7 None");
    }
}
