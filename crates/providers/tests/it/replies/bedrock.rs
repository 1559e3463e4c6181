//! Replies of Bedrock's Converse.

use serde_json::{Value, json};
use test_support::{block_on, sample};
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Content, Context, Dispatcher, ToolError, catalog, tool};
use toolkit_providers::bedrock::{CONVERSE, Options, tools};
use toolkit_providers::reply::{CallArguments, Reply, ReplyEvent, StopReason};

/// Adds two numbers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// A place.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Place {
    city: String,
}

/// Finds a place.
#[tool]
fn find() -> Place {
    Place { city: "Boston".to_owned() }
}

/// Does nothing.
#[tool]
fn rest() {}

/// Reads a file.
#[tool]
fn open() -> Vec<Content> {
    let file = |mime_type: &str| json!({ "uri": "file:///a/q3_report.pdf", "mimeType": mime_type, "blob": "JVBERg==" });
    let resource = |mime_type| Content::Resource { resource: file(mime_type).as_object().unwrap().clone() };
    vec![
        Content::text(" "),
        Content::image(b"\x89PNG", "image/png"),
        Content::image(b"<svg/>", "image/svg+xml"),
        resource("application/pdf"),
        resource("application/zip"),
    ]
}

/// Fails.
#[tool]
fn fail() -> Result<String, ToolError> {
    Err(ToolError::failed("no such file"))
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![add, find, rest, open, fail].unwrap()).unwrap()
}

fn names() -> ExportedNames {
    tools(dispatcher().catalog(), Naming::default(), Options::default()).unwrap().names
}

fn response(content: Value, stop_reason: &str) -> Value {
    let message = json!({ "role": "assistant", "content": content });
    json!({ "output": { "message": message }, "stopReason": stop_reason, "usage": { "totalTokens": 9 } })
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({ "toolUse": { "toolUseId": id, "name": name, "input": input } })
}

fn read(body: Value) -> Reply {
    CONVERSE.read(body, &names()).unwrap()
}

fn streamed(events: &[Value]) -> Reply {
    let mut stream = CONVERSE.stream(&names());
    for event in events {
        stream.push_event(event.clone()).unwrap();
    }
    stream.finish().unwrap()
}

fn results(reply: &Reply) -> Value {
    let messages = reply.run_sync(&dispatcher(), &Context::new()).messages().unwrap();
    assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")));
    messages[0]["content"].clone()
}

#[test]
fn a_tool_is_a_specification_with_a_schema() {
    let export = tools(&catalog![rest].unwrap(), Naming::default(), Options::default()).unwrap();
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    assert_eq!(
        export.json,
        json!([{ "toolSpec": { "name": "rest", "description": "Does nothing.", "inputSchema": { "json": schema } } }])
    );
}

#[test]
fn all_results_are_in_one_message_and_none_is_empty() {
    let content = json!([
        { "reasoningContent": { "reasoningText": { "text": "I look.", "signature": "c2ln" } } },
        { "reasoningContent": { "redactedContent": "YQ==" } },
        call("t1", "math_add", json!({ "a": 1, "b": 2 })),
        call("t2", "find", json!({})),
        call("t3", "rest", json!({})),
        call("t4", "fail", json!({})),
        // Complete replies have a type.
        { "toolUse": { "toolUseId": "t5", "name": "sub", "input": {}, "type": "tool_use" } },
    ]);
    let export = tools(dispatcher().catalog(), Naming::default(), Options::default()).unwrap();
    let turn = block_on(CONVERSE.respond(&dispatcher(), &export, response(content.clone(), "tool_use"))).unwrap();
    assert_eq!((turn.reply.stop_reason(), turn.reply.reasoning()), (&StopReason::ToolCalls, "I look."));
    let result = |id: &str, content: Value, status: &str| json!({ "toolResult": { "toolUseId": id, "content": [content], "status": status } });
    assert_eq!(
        turn.messages().unwrap(),
        [
            json!({ "role": "assistant", "content": content }),
            json!({ "role": "user", "content": [
                result("t1", json!({ "text": "3" }), "success"),
                result("t2", json!({ "json": { "city": "Boston" } }), "success"),
                result("t3", json!({ "text": "ok" }), "success"),
                result("t4", json!({ "text": "no such file" }), "error"),
                result("t5", json!({ "text": "no tool is named `sub`" }), "error"),
            ] }),
        ]
    );
}

#[test]
fn media_of_other_types_become_notes() {
    let reply = read(response(json!([call("tooluse_A-1", "open", json!({}))]), "tool_use"));
    assert_eq!(
        results(&reply)[0]["toolResult"]["content"],
        json!([
            { "image": { "format": "png", "source": { "bytes": "iVBORw==" } } },
            { "text": "[image, image/svg+xml, 6 bytes: not shown]" },
            { "document": { "format": "pdf", "name": "q3 report pdf tooluse A-1 3", "source": { "bytes": "JVBERg==" } } },
            { "text": "[file, application/zip, 6 bytes: not shown]" },
        ])
    );
}

#[test]
fn calls_of_the_provider_are_repeated_and_not_answered() {
    let content = json!([
        { "text": "\n" },
        { "toolUse": { "toolUseId": "s1", "name": "math_add", "input": {}, "type": "server_tool_use" } },
        { "toolResult": { "toolUseId": "s1", "content": [{ "text": "3" }], "type": "web_search_tool_result" } },
        { "citationsContent": { "content": [{ "text": "It is 3." }], "citations": [] } },
    ]);
    let reply = read(response(content.clone(), "end_turn"));
    assert_eq!((reply.calls().len(), &*reply.provider_calls()[0].kind), (0, "server_tool_use"));
    assert_eq!((reply.needs_results(), reply.text()), (false, "\nIt is 3."));
    assert_eq!(reply.messages()[0]["content"], json!(content.as_array().unwrap()[1..]), "blank texts are rejected");
}

#[test]
fn an_absent_or_repeated_id_is_replaced_in_the_reply_and_the_result() {
    let content = json!([call("t1", "find", json!({})), call("t1", "find", json!({})), call("", "find", json!({}))]);
    let reply = read(response(content, "tool_use"));
    let called = reply.messages()[0]["content"].as_array().unwrap();
    let called: Vec<&Value> = called.iter().map(|block| &block["toolUse"]["toolUseId"]).collect();
    let results = results(&reply);
    let answered: Vec<&Value> =
        results.as_array().unwrap().iter().map(|block| &block["toolResult"]["toolUseId"]).collect();
    assert_eq!(called, answered);
    assert!(called[0] == "t1" && called[1] != called[0] && called[2] != called[1] && called[2] != "");
}

#[test]
fn an_invented_name_goes_back_with_the_characters_that_a_request_may_contain() {
    let reply = read(response(json!([call("t1", "math.add:é", json!({})), call("t2", "", json!({}))]), "tool_use"));
    let names: Vec<&str> = reply.calls().iter().map(|call| &*call.name).collect();
    assert_eq!(names, ["math.add:é", ""]);
    let content = &reply.messages()[0]["content"];
    assert_eq!([&content[0]["toolUse"]["name"], &content[1]["toolUse"]["name"]], ["math_add__", "unknown"]);
}

#[test]
fn the_reason_to_stop_is_read() {
    let stop = |reason: &str| read(response(json!([{ "text": "a" }]), reason)).stop_reason().clone();
    assert_eq!(stop("end_turn"), StopReason::End);
    assert_eq!(stop("tool_use"), StopReason::End, "there are no calls");
    assert_eq!(stop("max_tokens"), StopReason::Truncated);
    assert_eq!(stop("model_context_window_exceeded"), StopReason::Truncated);
    assert_eq!(stop("guardrail_intervened"), StopReason::Refused("guardrail_intervened".to_owned()));
    assert_eq!(stop("malformed_tool_use"), StopReason::Malformed("malformed_tool_use".to_owned()));
    assert_eq!(stop("new_reason"), StopReason::Other("new_reason".to_owned()));
}

fn start(index: u64, id: &str, name: &str) -> Value {
    let tool_use = json!({ "toolUseId": id, "name": name });
    json!({ "contentBlockStart": { "contentBlockIndex": index, "start": { "toolUse": tool_use } } })
}

fn delta(index: u64, delta: Value) -> Value {
    json!({ "contentBlockDelta": { "contentBlockIndex": index, "delta": delta, "p": "abcd" } })
}

fn input(index: u64, text: &str) -> Value {
    delta(index, json!({ "toolUse": { "input": text } }))
}

fn stop(index: u64) -> Value {
    json!({ "contentBlockStop": { "contentBlockIndex": index, "p": "ab" } })
}

fn end(reason: &str) -> Value {
    json!({ "messageStop": { "stopReason": reason, "p": "abc" } })
}

fn events() -> Vec<Value> {
    vec![
        json!({ "messageStart": { "role": "assistant", "p": "abcdefgh" } }),
        delta(0, json!({ "reasoningContent": { "text": "I " } })),
        delta(0, json!({ "reasoningContent": { "text": "look." } })),
        delta(0, json!({ "reasoningContent": { "signature": "c2ln" } })),
        stop(0),
        delta(1, json!({ "text": "" })),
        delta(9, json!({ "unheardOf": 1 })),
        delta(1, json!({ "text": "Größe" })),
        stop(1),
        start(2, "t1", "math_add"),
        start(3, "t2", "find"),
        input(2, "{\"a\": 1,"),
        input(3, ""),
        input(2, " \"b\": 2}"),
        stop(2),
        stop(3),
        delta(4, json!({ "text": "Done" })),
        delta(4, json!({ "citation": { "title": "A" } })),
        delta(4, json!({ "text": "." })),
        stop(4),
        end("tool_use"),
        json!({ "metadata": { "usage": { "totalTokens": 9 }, "p": "abcdef" } }),
    ]
}

fn same(reply: &Reply) -> (&[Value], &Value, &str, &str, &StopReason) {
    (reply.messages(), reply.metadata(), reply.text(), reply.reasoning(), reply.stop_reason())
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole_at_every_cut() {
    let mut whole = response(
        json!([
            { "reasoningContent": { "reasoningText": { "text": "I look.", "signature": "c2ln" } } },
            { "text": "Größe" },
            call("t1", "math_add", json!({ "a": 1, "b": 2 })),
            call("t2", "find", json!({})),
            { "citationsContent": { "content": [{ "text": "Done." }], "citations": [{ "title": "A" }] } },
        ]),
        "tool_use",
    );
    whole["output"] = json!({ "message": whole["output"]["message"] });
    let whole = read(whole);
    let lines: String = events().iter().map(|event| format!("{event}\n")).collect();
    let stop_at = lines.find("messageStop").unwrap();
    for cut in sample(0..=lines.len(), 3) {
        let mut stream = CONVERSE.stream(&names());
        let mut seen = stream.push(&lines.as_bytes()[..cut]).unwrap();
        seen.extend(stream.push(&lines.as_bytes()[cut..]).unwrap());
        let reply = stream.finish().unwrap();
        assert_eq!(same(&reply), same(&whole), "{cut}");
        let arguments: Vec<&CallArguments> = reply.calls().iter().map(|call| &call.arguments).collect();
        let json = |text: &str| CallArguments::Json(text.to_owned());
        assert_eq!((arguments[0], seen.len()), (&json("{\"a\": 1, \"b\": 2}"), 9));
        assert_eq!(seen[4], ReplyEvent::CallStarted { index: 1, name: "find".to_owned() });
        assert_eq!(results(&reply)[0]["toolResult"]["content"], json!([{ "text": "3" }]));

        let mut stream = CONVERSE.stream(&names());
        stream.push(&lines.as_bytes()[..cut]).unwrap();
        if let Ok(reply) = stream.finish() {
            let is_truncated = reply.stop_reason() == &StopReason::Truncated;
            assert!(is_truncated || cut > stop_at, "{cut}");
        }
    }
}

#[test]
fn the_type_of_an_event_may_be_missing() {
    let payloads: Vec<Value> =
        events().iter().map(|event| event.as_object().unwrap().values().next().unwrap().clone()).collect();
    assert_eq!(same(&streamed(&payloads)), same(&streamed(&events())));
}

#[test]
fn incomplete_calls_do_not_run_and_are_repeated_as_an_object() {
    let reply = streamed(&[start(0, "t1", "math_add"), input(0, "{\"a\": 1"), stop(0), end("tool_use")]);
    assert_eq!(reply.stop_reason(), &StopReason::Truncated);
    let reply = streamed(&[start(0, "t1", "math_add"), input(0, "{\"a\": x}"), stop(0), end("tool_use")]);
    assert_eq!(reply.stop_reason(), &StopReason::ToolCalls);
    assert_eq!(reply.messages()[0]["content"][0]["toolUse"]["input"], json!({ "INVALID_JSON": "{\"a\": x}" }));
    assert_eq!(results(&reply)[0]["toolResult"]["status"], "error");
}

#[test]
fn an_error_is_reported_with_its_message() {
    let error = json!({ "message": "The security token is invalid." });
    let expected = "not a reply of Bedrock Converse: the provider reports: The security token is invalid.";
    assert_eq!(CONVERSE.read(&error, &names()).unwrap_err().to_string(), expected);
    let event = json!({ "validationException": error });
    assert_eq!(CONVERSE.stream(&names()).push_event(event).unwrap_err().to_string(), expected);
    assert!(CONVERSE.stream(&names()).finish().is_err());
    let other = CONVERSE.read(json!({ "output": [] }), &names()).unwrap_err().to_string();
    assert!(other.ends_with("it looks like a reply of OpenAI Responses"), "{other}");

    let error = json!({ "modelStreamErrorException": { "message": "Overloaded.", "originalStatusCode": 500 } });
    let reply = streamed(&[start(0, "t1", "rest"), stop(0), error]);
    assert_eq!(reply.stop_reason(), &StopReason::Failed("Overloaded.".to_owned()));
    assert_eq!(results(&reply)[0]["toolResult"]["status"], "error", "the call does not run");
}

#[test]
fn hostile_streams_take_little_memory_and_time() {
    let mut stream = CONVERSE.stream(&names());
    stream.push_event(start(4_000_000_000, "t1", "rest")).unwrap();
    stream.push_event(input(7, "{}")).unwrap();
    for _ in 0..200_000 {
        stream.push_event(input(4_000_000_000, "")).unwrap();
    }
    for index in 0..100_000 {
        stream.push_event(start(index, &index.to_string(), "rest")).unwrap();
    }
    stream.push_event(end("tool_use")).unwrap();
    assert_eq!(stream.finish().unwrap().calls().len(), 100_001);

    let shapes = [json!(5), json!("x"), json!([{}]), json!({ "toolUse": 5 }), json!({ "text": {} }), json!(null)];
    for shape in shapes {
        let start = |start: Value| json!({ "contentBlockStart": { "contentBlockIndex": 0, "start": start } });
        let kinds = ["text", "toolUse", "reasoningContent", "citation", "toolResult", "image", "citationsContent"];
        let of_kind = |kind: &str| json!({ kind: shape });
        for first in kinds.map(of_kind) {
            for second in kinds.map(of_kind).into_iter().chain([
                json!({ "toolUse": { "input": "x" } }),
                json!({ "text": "x" }),
                json!({ "reasoningContent": { "text": "x", "signature": shape } }),
                json!({ "reasoningContent": { "redactedContent": "x" } }),
                json!({ "toolResult": [{ "text": "x" }] }),
                json!({ "image": { "source": 1 } }),
            ]) {
                let mut stream = CONVERSE.stream(&names());
                let body =
                    response(json!([first, second, { "toolUse": { "name": shape, "input": shape } }]), "end_turn");
                for event in [start(first.clone()), delta(0, second.clone()), delta(0, second), end("end_turn")] {
                    let _ = stream.push_event(event);
                }
                let _ = stream.push_event(json!({ "messageStop": shape }));
                let _ = stream.push_event(shape.clone());
                let _ = stream.finish();
                let _ = CONVERSE.read(body, &names());
            }
        }
        for body in [shape.clone(), json!({ "output": shape }), json!({ "output": { "message": shape } })] {
            let _ = CONVERSE.read(body, &names());
        }
        let _ = CONVERSE.read(response(shape.clone(), "end_turn"), &names());
        let _ = CONVERSE.read(response(json!([shape]), "end_turn"), &names());
    }
}

/// Returns an event in a frame of `application/vnd.amazon.eventstream`. Its checksums are not read.
fn frame(kind: &str, payload: &Value) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")] {
        headers.push(u8::try_from(name.len()).unwrap());
        headers.extend_from_slice(name.as_bytes());
        headers.push(7);
        headers.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    let payload = payload.to_string();
    let length = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    let mut frame = [length(16 + headers.len() + payload.len()), length(headers.len()), [0; 4]].concat();
    frame.extend(headers);
    frame.extend_from_slice(payload.as_bytes());
    frame.extend([0; 4]);
    frame
}

#[test]
fn the_binary_frames_of_a_stream_are_its_events_wherever_the_bytes_are_cut() {
    let tool_use = json!({ "toolUseId": "t1", "name": "add" });
    let events = [
        ("messageStart", json!({ "role": "assistant" })),
        ("contentBlockDelta", json!({ "contentBlockIndex": 0, "delta": { "text": "Hé!" }, "p": "abc" })),
        ("contentBlockStart", json!({ "contentBlockIndex": 1, "start": { "toolUse": tool_use } })),
        ("contentBlockDelta", json!({ "contentBlockIndex": 1, "delta": { "toolUse": { "input": "{\"a\": 1}" } } })),
        ("contentBlockStop", json!({ "contentBlockIndex": 1 })),
        ("messageStop", json!({ "stopReason": "tool_use" })),
        ("metadata", json!({ "usage": { "inputTokens": 9, "outputTokens": 3, "totalTokens": 12 } })),
    ];
    let bytes: Vec<u8> = events.iter().flat_map(|(kind, payload)| frame(kind, payload)).collect();
    let mut expected = CONVERSE.stream(&ExportedNames::default());
    for (kind, payload) in events {
        expected.push_event(json!({ kind: payload })).unwrap();
    }
    let expected = expected.finish().unwrap();
    assert_eq!((expected.calls().len(), expected.usage().unwrap().total()), (1, 12));
    for size in [1, 7, 64, bytes.len()] {
        let mut stream = CONVERSE.stream(&ExportedNames::default());
        for piece in bytes.chunks(size) {
            stream.push(piece).unwrap();
        }
        let reply = stream.finish().unwrap();
        assert_eq!((reply.messages(), reply.stop_reason()), (expected.messages(), &StopReason::ToolCalls));
    }
    // A frame that is not complete ends the stream early.
    let mut stream = CONVERSE.stream(&ExportedNames::default());
    let cut = events_before_the_end(&bytes);
    stream.push(&bytes[..cut]).unwrap();
    assert_eq!(stream.finish().unwrap().stop_reason(), &StopReason::Truncated);
    // Bytes of something else are an error.
    for hostile in [&[0; 64][..], &[0, 0, 0, 20, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], b"<html>\n"] {
        let mut stream = CONVERSE.stream(&ExportedNames::default());
        assert!(stream.push(hostile).is_err() || stream.finish().is_err(), "{hostile:?}");
    }
}

/// Returns a place in the frame before the last two.
fn events_before_the_end(bytes: &[u8]) -> usize {
    bytes.len() * 2 / 3
}
