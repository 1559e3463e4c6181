//! Streams of Chat Completions, which servers cut into fragments in many ways.

use super::*;

#[test]
fn a_stream_is_the_same_reply_as_the_whole_at_every_cut() {
    let fragment = |index: u64, arguments: &str| json!({ "index": index, "function": { "arguments": arguments } });
    let start = |index: u64, call: Value| {
        let mut call = call;
        call["index"] = index.into();
        call
    };
    let mut other_choice = chunk(json!({ "content": "Another choice." }), Value::Null);
    other_choice["choices"][0]["index"] = 1.into();
    let events = [
        json!({ "id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": [] }),
        chunk(json!({ "role": "assistant", "content": null, "refusal": null }), Value::Null),
        chunk(json!({ "reasoning_content": "Ü" }), Value::Null),
        chunk(json!({ "reasoning_content": "ber" }), Value::Null),
        chunk(json!({ "content": "Är" }), Value::Null),
        other_choice,
        chunk(json!({ "content": "ger" }), Value::Null),
        chunk(json!({ "tool_calls": [start(0, call("call_1", "math_add", "")), fragment(0, "{\"a\":")] }), Value::Null),
        chunk(json!({ "tool_calls": [start(1, call("call_2", "answer", ""))] }), Value::Null),
        chunk(json!({ "tool_calls": [fragment(0, "1,\"b\":2}"), fragment(1, "{}")] }), Value::Null),
        chunk(json!({}), "tool_calls".into()),
        json!({ "id": "chatcmpl-1", "choices": [], "usage": { "total_tokens": 12 }, "obfuscation": "xyz" }),
    ];
    let mut sse: String = events.iter().map(|event| format!(": comment\r\ndata: {event}\r\n\r\n")).collect();
    sse.push_str("data: [DONE]\r\n\r\n");
    let whole = json!({ "role": "assistant", "content": "Ärger", "reasoning_content": "Über",
        "tool_calls": [call("call_1", "math_add", "{\"a\":1,\"b\":2}"), call("call_2", "answer", "{}")] });
    let mut whole = completion(whole, "tool_calls");
    whole["prompt_filter_results"] = json!([]);
    let whole = CHAT_COMPLETIONS.read(whole, &names()).unwrap();
    assert_eq!(contents(&whole), ["3", "42"]);
    for cut in sample(0..=sse.len(), 3) {
        let mut stream = CHAT_COMPLETIONS.stream(&names());
        let (first, second) = sse.as_bytes().split_at(cut);
        stream.push(first).unwrap();
        stream.push(second).unwrap();
        let reply = stream.finish().unwrap();
        assert_eq!((reply.messages(), reply.metadata()), (whole.messages(), whole.metadata()), "{cut}");
        assert_eq!((reply.calls(), reply.stop_reason()), (whole.calls(), whole.stop_reason()));
        assert_eq!((reply.text(), reply.reasoning()), ("Ärger", "Über"));
    }
}

#[test]
fn a_stream_shows_what_arrives() {
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    let mut show = |delta: Value| stream.push_event(chunk(delta, Value::Null)).unwrap();
    assert_eq!(show(json!({ "reasoning": "Hm", "reasoning_content": "Hm" })), [ReplyEvent::Reasoning("Hm".to_owned())]);
    assert_eq!(show(json!({ "content": "Well" })), [ReplyEvent::Text("Well".to_owned())]);
    let mut first = call("call_1", "answer", "");
    first["index"] = 1.into();
    assert_eq!(
        show(json!({ "tool_calls": [first] })),
        [ReplyEvent::CallStarted { index: 0, name: "answer".to_owned() }]
    );
    assert_eq!(
        show(json!({ "tool_calls": [{ "index": 1, "function": { "arguments": "{}" } }] })),
        [ReplyEvent::Arguments { index: 0, json: "{}".to_owned() }]
    );
}

#[test]
fn an_index_is_a_key_and_may_be_absent_or_shared() {
    let add = |a: i64| json!({ "name": "math_add", "arguments": format!("{{\"a\":{a},\"b\":0}}") });
    let expected = [("math_add", "{\"a\":1,\"b\":0}".to_owned()), ("math_add", "{\"a\":2,\"b\":0}".to_owned())];
    let streams = [
        // The index begins with 1, or with any number.
        [json!({ "index": 1, "id": "a", "function": add(1) }), json!({ "index": 9, "id": "b", "function": add(2) })],
        [
            json!({ "index": 4_000_000_000_u64, "id": "a", "function": add(1) }),
            json!({ "index": u64::MAX, "id": "b", "function": add(2) }),
        ],
        // All calls have the same index.
        [json!({ "index": 0, "id": "a", "function": add(1) }), json!({ "index": 0, "id": "b", "function": add(2) })],
        [json!({ "index": 0, "id": "", "function": add(1) }), json!({ "index": 0, "id": "", "function": add(2) })],
        // No call has an index.
        [json!({ "id": "a", "function": add(1) }), json!({ "id": "b", "function": add(2) })],
        [json!({ "id": null, "function": add(1) }), json!({ "function": add(2) })],
    ];
    for fragments in streams {
        let reply = stream_calls(&fragments);
        assert_eq!(written(&reply), expected, "{fragments:?}");
        assert_eq!(contents(&reply), ["1", "2"]);
        let both = stream_of(&[json!({ "tool_calls": fragments })], "tool_calls");
        assert_eq!(both.messages(), reply.messages());
    }
}

#[test]
fn fragments_without_an_index_continue_the_call_of_their_id_or_the_latest_one() {
    let piece = |arguments: &str| json!({ "function": { "arguments": arguments } });
    let latest =
        [json!({ "id": "a", "function": { "name": "shout", "arguments": "" } }), piece("{\"text\":"), piece("\"x\"}")];
    assert_eq!(contents(&stream_calls(&latest)), ["X"]);
    let by_id = [
        json!({ "id": "a", "function": { "name": "shout", "arguments": "{\"text\":" } }),
        json!({ "id": "b", "function": { "name": "answer", "arguments": "{" } }),
        json!({ "id": "a", "function": { "arguments": "\"x\"}" } }),
        json!({ "id": "b", "function": { "arguments": "}" } }),
    ];
    assert_eq!(contents(&stream_calls(&by_id)), ["X", "42"]);
}

#[test]
fn a_name_may_come_late_or_again() {
    let late = [
        json!({ "index": 0, "id": "a", "type": "function" }),
        json!({ "index": 0, "function": null }),
        json!({ "index": 0, "function": { "name": "shout", "arguments": null } }),
        json!({ "index": 0, "function": { "name": "shout", "arguments": "{\"text\":" } }),
        json!({ "index": 0, "function": { "name": "", "arguments": "\"x\"}" } }),
        json!({ "index": 0, "id": "a", "function": { "name": "shout", "arguments": "" } }),
        // A fragment without any content is not a call.
        json!({ "index": 7, "id": "b", "type": "function" }),
    ];
    assert_eq!(contents(&stream_calls(&late)), ["X"]);
    let whole_again = call("a", "shout", "{\"text\":\"x\"}");
    let again = [
        json!({ "index": 0, "id": "a", "function": { "name": "shout", "arguments": "{\"text\":\"x\"}" } }),
        whole_again,
    ];
    assert_eq!(contents(&stream_calls(&again)), ["X"]);
}

#[test]
fn a_stream_with_an_empty_finish_reason_is_complete_at_its_done() {
    let last = chunk(json!({ "tool_calls": [call("a", "answer", "{}")] }), "".into());
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    stream.push(format!("data: {last}\n\n").as_bytes()).unwrap();
    assert_eq!(stream.finish().unwrap().stop_reason(), &StopReason::Truncated);
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    stream.push(format!("data: {last}\n\ndata: [DONE]\n\n").as_bytes()).unwrap();
    assert_eq!(stream.finish().unwrap().stop_reason(), &StopReason::ToolCalls);
}

#[test]
fn a_server_may_send_the_whole_message_instead_of_its_pieces_or_after_them() {
    let mut whole = completion(message(json!([call("a", "answer", "{}")])), "tool_calls");
    let expected = CHAT_COMPLETIONS.read(&whole, &names()).unwrap();
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    stream.push_event(whole.clone()).unwrap();
    assert_eq!(stream.finish().unwrap().messages(), expected.messages());
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    let piece = json!({ "role": "assistant", "content": null, "tool_calls": [call("a", "answer", "{}")] });
    stream.push_event(chunk(piece, Value::Null)).unwrap();
    whole["choices"][0]["delta"] = Value::Null;
    stream.push_event(whole).unwrap();
    assert_eq!(stream.finish().unwrap().messages(), expected.messages());
}

#[test]
fn a_name_may_come_in_pieces_before_the_arguments() {
    let fragments = [
        json!({ "index": 0, "id": "a", "function": { "name": "math", "arguments": "" } }),
        json!({ "index": 0, "function": { "name": "_add" } }),
        json!({ "index": 0, "function": { "arguments": "{\"a\":1,\"b\":2}" } }),
    ];
    assert_eq!(contents(&stream_calls(&fragments)), ["3"]);
    let with_id = fragments.map(|mut fragment| {
        fragment["id"] = "a".into();
        fragment
    });
    assert_eq!(contents(&stream_calls(&with_id)), ["3"]);
}

#[test]
fn a_stream_of_many_deltas_and_calls_is_read() {
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    let delta = format!(
        "data: {}\n\n",
        chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "" } }] }), Value::Null)
    );
    let deltas = delta.repeat(1000);
    for _ in 0..100 {
        stream.push(deltas.as_bytes()).unwrap();
    }
    // Neither does a name that comes again with each byte of the arguments.
    let byte = json!({ "tool_calls": [{ "index": 0, "function": { "name": "shout", "arguments": "{" } }] });
    for _ in 0..20_000 {
        stream.push_event(chunk(byte.clone(), Value::Null)).unwrap();
    }
    for n in 0..20_000_u64 {
        let call =
            json!({ "index": n << 32, "id": n.to_string(), "function": { "name": "answer", "arguments": "{}" } });
        stream.push_event(chunk(json!({ "tool_calls": [call] }), Value::Null)).unwrap();
    }
    stream.push_event(chunk(json!({}), "tool_calls".into())).unwrap();
    let reply = stream.finish().unwrap();
    assert_eq!(reply.calls().len(), 20_001);
}

#[test]
fn reasoning_details_with_different_ids_stay_apart() {
    let detail = |id: Option<&str>, data: &str| {
        json!({ "choices": [{ "index": 0, "delta": { "reasoning_details": [
            { "type": "reasoning.encrypted", "index": 0, "id": id, "data": data }] } }] })
    };
    let mut stream = CHAT_COMPLETIONS.stream(&ExportedNames::default());
    for event in [detail(Some("rs_1"), "a"), detail(None, "b"), detail(Some("rs_2"), "c")] {
        stream.push_event(event).unwrap();
    }
    stream
        .push_event(json!({ "choices": [{ "index": 0, "delta": { "content": "Hi" }, "finish_reason": "stop" }] }))
        .unwrap();
    let reply = stream.finish().unwrap();
    let details = reply.messages()[0]["reasoning_details"].as_array().unwrap();
    let details: Vec<(&Value, &Value)> = details.iter().map(|detail| (&detail["id"], &detail["data"])).collect();
    assert_eq!(details, [(&json!("rs_1"), &json!("ab")), (&json!("rs_2"), &json!("c"))]);
}
