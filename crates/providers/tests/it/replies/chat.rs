//! Replies of OpenAI's Chat Completions, and of the servers that are compatible with it.

mod streams;

use serde_json::{Value, json};
use test_support::{block_on, sample};
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Content, Context, Dispatcher, catalog, tool};
use toolkit_providers::openai::{self, CHAT_COMPLETIONS, Options, tools};
use toolkit_providers::reply::{CallArguments, Reply, ReplyEvent, StopReason};

/// Adds two numbers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Returns a constant.
#[tool]
fn answer() -> i64 {
    42
}

/// Repeats a text in capitals.
#[tool]
fn shout(text: String) -> String {
    text.to_uppercase()
}

/// Draws a dot.
#[tool]
fn dot() -> Vec<Content> {
    vec![Content::text("a dot"), Content::image(b"\x89PNG", "image/png"), Content::image(b"<svg/>", "image/svg+xml")]
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![add, answer, shout, dot].unwrap()).unwrap()
}

fn names() -> ExportedNames {
    tools(dispatcher().catalog(), Naming::default(), Options::chat_completions()).unwrap().names
}

fn completion(message: Value, finish_reason: &str) -> Value {
    json!({ "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt",
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason }],
        "usage": { "total_tokens": 12 } })
}

fn read(message: Value, finish_reason: &str) -> Reply {
    CHAT_COMPLETIONS.read(completion(message, finish_reason), &names()).unwrap()
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

fn message(calls: Value) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": calls })
}

fn results(reply: &Reply) -> Vec<Value> {
    reply.run_sync(&dispatcher(), &Context::new()).messages().unwrap()
}

fn contents(reply: &Reply) -> Vec<String> {
    results(reply).iter().map(|result| result["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn chunk(delta: Value, finish_reason: Value) -> Value {
    json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt",
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason }] })
}

/// Streams messages in pieces, and ends with `finish_reason`.
fn stream_of(deltas: &[Value], finish_reason: &str) -> Reply {
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    for delta in deltas {
        stream.push_event(chunk(delta.clone(), Value::Null)).unwrap();
    }
    stream.push_event(chunk(json!({}), finish_reason.into())).unwrap();
    stream.finish().unwrap()
}

/// Streams fragments of calls.
fn stream_calls(fragments: &[Value]) -> Reply {
    let deltas: Vec<Value> = fragments.iter().map(|fragment| json!({ "tool_calls": [fragment] })).collect();
    stream_of(&deltas, "tool_calls")
}

fn written(reply: &Reply) -> Vec<(&str, String)> {
    let json = |arguments: &CallArguments| match arguments {
        CallArguments::Json(text) | CallArguments::Text(text) => text.clone(),
        other => String::from_utf8(other.to_arguments().to_json().unwrap().into_owned()).unwrap(),
    };
    reply.calls().iter().map(|call| (call.name.as_str(), json(&call.arguments))).collect()
}

#[test]
fn results_follow_the_message_that_the_model_sent() {
    let export = tools(dispatcher().catalog(), Naming::default(), Options::chat_completions()).unwrap();
    let message = json!({
        "role": "assistant", "content": "Adding.", "refusal": null, "annotations": [],
        "reasoning_content": "Sum.", "extra_content": { "google": { "thought_signature": "abc" } },
        "tool_calls": [call("call_1", "math_add", "{\"a\":1,\"b\":2}"), call("call_2", "math_sub", "{}")],
    });
    let completion = completion(message.clone(), "tool_calls");
    let turn = block_on(openai::CHAT_COMPLETIONS.respond(&dispatcher(), &export, &completion)).unwrap();
    let messages = turn.messages().unwrap();
    assert_eq!(messages[0], message);
    assert_eq!(messages[1], json!({ "role": "tool", "tool_call_id": "call_1", "content": "3" }));
    let unknown = "error: no tool is named `math_sub`; did you mean `math_add`?";
    assert_eq!(messages[2], json!({ "role": "tool", "tool_call_id": "call_2", "content": unknown }));
    assert_eq!(messages.len(), 3);
    assert_eq!((turn.reply.text(), turn.reply.reasoning()), ("Adding.", "Sum."));
    assert_eq!(turn.reply.metadata()["usage"]["total_tokens"], 12);
    assert_eq!(turn.reply.metadata()["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn a_call_without_an_id_gets_one_that_the_message_contains() {
    for id in [json!(null), json!(""), json!("null"), json!(7)] {
        let mut first = call("", "answer", "{}");
        first["id"] = id;
        let reply = read(message(json!([first, call("call_2", "answer", "")])), "stop");
        let id = &reply.calls()[0].id;
        assert_eq!(id.len(), 9);
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(reply.messages()[0]["tool_calls"][0]["id"], id.as_str());
        let results = results(&reply);
        assert_eq!((&results[0]["tool_call_id"], &results[1]["tool_call_id"]), (&json!(id), &json!("call_2")));
        assert_eq!(reply.stop_reason(), &StopReason::ToolCalls);
    }
    let twice = read(message(json!([call("a", "answer", ""), call("a", "answer", "")])), "tool_calls");
    assert_ne!(twice.calls()[0].id, twice.calls()[1].id);
    assert_eq!(twice.messages()[0]["tool_calls"][1]["id"], twice.calls()[1].id.as_str());
}

#[test]
fn arguments_are_text_or_an_object_or_nothing() {
    let shouts = [json!("{\"text\":\"x\"}"), json!({ "text": "x" }), json!("\"{\\\"text\\\":\\\"x\\\"}\"")];
    for arguments in shouts {
        let mut call = call("call_1", "shout", "");
        call["function"]["arguments"] = arguments;
        assert_eq!(contents(&read(message(json!([call])), "tool_calls")), ["X"]);
        call["index"] = 0.into();
        assert_eq!(contents(&stream_calls(&[call])), ["X"]);
    }
    for arguments in [json!(""), json!(null), json!("null"), json!("{}"), json!({})] {
        let mut call = call("call_1", "answer", "");
        call["function"]["arguments"] = arguments;
        assert_eq!(contents(&read(message(json!([call])), "tool_calls")), ["42"]);
        assert_eq!(contents(&stream_calls(&[call])), ["42"]);
    }
}

#[test]
fn arguments_that_are_not_json_are_an_error_and_go_back_as_json() {
    let calls = json!([call("call_1", "shout", "{\"text\": nothing}"), call("call_2", "answer", "{}")]);
    let reply = read(message(calls), "tool_calls");
    let contents = contents(&reply);
    assert!(contents[0].starts_with("error: "), "{}", contents[0]);
    assert_eq!(contents[1], "42");
    let sent = reply.messages()[0]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
    let sent: Value = serde_json::from_str(sent).unwrap();
    assert_eq!(sent, json!({ "INVALID_JSON": "{\"text\": nothing}" }));
}

#[test]
fn an_invented_name_goes_back_with_the_characters_that_a_request_may_contain() {
    let calls = json!([
        call("a", "functions.answer", "{}"),
        call("b", "", "{}"),
        call("c", "do it!", "{}"),
        call("d", &"x".repeat(70), "")
    ]);
    let reply = read(message(calls), "tool_calls");
    let calls = reply.messages()[0]["tool_calls"].as_array().unwrap();
    let sent: Vec<&Value> = calls.iter().map(|call| &call["function"]["name"]).collect();
    assert_eq!(sent, ["answer", "unknown", "do_it_", &"x".repeat(64)]);
    let contents = contents(&reply);
    assert_eq!(contents[0], "42");
    assert!(contents[2].starts_with("error: no tool is named `do it!`"), "{}", contents[2]);
}

#[test]
fn the_input_of_a_custom_tool_is_text() {
    let custom = json!({ "id": "call_1", "type": "custom", "custom": { "name": "shout", "input": "{x" } });
    let reply = read(message(json!([custom])), "tool_calls");
    assert_eq!(reply.calls()[0].arguments, CallArguments::Text("{x".to_owned()));
    assert_eq!(results(&reply), [json!({ "role": "tool", "tool_call_id": "call_1", "content": "{X" })]);
    assert_eq!(reply.messages()[0]["tool_calls"][0], custom);
    let fragments = [
        json!({ "index": 0, "id": "call_1", "type": "custom", "custom": { "name": "shout", "input": "" } }),
        json!({ "index": 0, "custom": { "input": "{" } }),
        json!({ "index": 0, "custom": { "input": "x" } }),
    ];
    assert_eq!(stream_calls(&fragments).messages(), reply.messages());
}

#[test]
fn only_the_host_can_answer_calls_of_tools_that_it_declared_itself() {
    let custom = json!({ "id": "call_1", "type": "custom", "custom": { "name": "grep", "input": "x" } });
    let reply = read(message(json!([custom, call("call_2", "answer", "{}")])), "tool_calls");
    let mut results = reply.run_sync(&dispatcher(), &Context::new());
    assert!(results.messages().is_err());
    let own = json!({ "role": "tool", "tool_call_id": "call_1", "content": "found" });
    assert!(results.set_host_result("call_1", own.clone()));
    assert_eq!(results.messages().unwrap()[0], own);
}

#[test]
fn calls_inside_an_undeclared_wrapper_have_one_result() {
    let uses = json!({ "tool_uses": [
        { "recipient_name": "functions.math_add", "parameters": { "a": 1, "b": 2 } },
        { "recipient_name": "functions.answer", "parameters": {} },
    ] });
    for name in ["parallel", "multi_tool_use.parallel"] {
        let reply = read(message(json!([call("call_1", name, &uses.to_string())])), "tool_calls");
        assert_eq!(reply.calls().len(), 2);
        let result = json!({ "role": "tool", "tool_call_id": "call_1", "content": "[\"3\",\"42\"]" });
        assert_eq!(results(&reply), [result]);
        let sent = reply.messages()[0]["tool_calls"][0]["function"]["name"].as_str().unwrap();
        assert!(!sent.contains('.'), "{sent}");
    }
    let foreign = uses.to_string().replace("answer", "rm");
    let reply = read(message(json!([call("call_1", "parallel", &foreign)])), "tool_calls");
    assert!(contents(&reply)[0].starts_with("error: no tool is named `parallel`"));
}

#[test]
fn media_follow_all_results_in_one_message_of_the_user() {
    let calls = json!([call("call_1", "dot", "{}"), call("call_2", "dot", "{}"), call("call_3", "answer", "{}")]);
    let messages = results(&read(message(calls), "tool_calls"));
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["tool", "tool", "tool", "user"]);
    let text = "a dot\n[image 1: in the next message of the user]\n[image, image/svg+xml, 6 bytes: not shown]";
    assert_eq!(messages[0]["content"], text);
    assert_eq!(
        messages[3]["content"],
        json!([
            { "type": "text", "text": "[image 1, from the result of dot (call_1)]" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw==" } },
            { "type": "text", "text": "[image 2, from the result of dot (call_2)]" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw==" } },
        ])
    );
}

#[test]
fn an_empty_list_of_calls_is_the_end_and_does_not_go_back() {
    let message = json!({ "role": "assistant", "content": "Done.", "tool_calls": [] });
    let reply = read(message, "tool_calls");
    assert_eq!(reply.stop_reason(), &StopReason::End);
    assert_eq!(reply.messages(), [json!({ "role": "assistant", "content": "Done." })]);
    let empty = read(json!({ "role": "assistant", "content": "", "tool_calls": null }), "stop");
    assert!(empty.messages().is_empty());
}

#[test]
fn calls_printed_in_the_text_are_text() {
    let text = "<tool_call>{\"name\": \"answer\", \"arguments\": {}}</tool_call>";
    let reply = read(json!({ "role": "assistant", "content": text }), "stop");
    assert_eq!((reply.text(), reply.calls().len()), (text, 0));
}

#[test]
fn content_may_be_a_list_of_parts() {
    let content = json!([{ "type": "text", "text": "Well, " }, { "type": "text", "text": "no." }]);
    let reply = read(json!({ "role": "assistant", "content": content }), "stop");
    assert_eq!(reply.text(), "Well, no.");
    let refused = json!({ "role": "assistant", "content": null, "refusal": "I can't." });
    assert_eq!(read(refused, "stop").stop_reason(), &StopReason::Refused("I can't.".to_owned()));
    let deltas = [json!({ "refusal": "I " }), json!({ "refusal": "can't." })];
    assert_eq!(stream_of(&deltas, "stop").stop_reason(), &StopReason::Refused("I can't.".to_owned()));
}

#[test]
fn details_of_reasoning_go_back_with_their_signature() {
    let piece = |fields: Value| json!({ "reasoning": "", "reasoning_details": [fields] });
    let deltas = [
        piece(json!({ "type": "reasoning.text", "text": "Let me", "format": "anthropic", "index": 0 })),
        piece(json!({ "type": "reasoning.text", "text": " think", "index": 0 })),
        piece(json!({ "type": "reasoning.text", "signature": "sig", "index": 0 })),
        piece(json!({ "type": "reasoning.encrypted", "data": "x", "index": 1 })),
        json!({ "content": "Yes." }),
    ];
    let reply = stream_of(&deltas, "stop");
    assert_eq!(reply.reasoning(), "Let me think");
    let text = json!({ "type": "reasoning.text", "text": "Let me think", "format": "anthropic", "signature": "sig", "index": 0 });
    let encrypted = json!({ "type": "reasoning.encrypted", "data": "x", "index": 1 });
    assert_eq!(reply.messages()[0]["reasoning_details"], json!([text, encrypted]));
}

#[test]
fn no_call_of_an_incomplete_reply_runs() {
    let calls = json!([call("a", "answer", "{}"), call("b", "shout", "{\"text\":\"")]);
    for finish_reason in ["length", "tool_calls", "stop"] {
        let reply = read(message(calls.clone()), finish_reason);
        assert_eq!(reply.stop_reason(), &StopReason::Truncated, "{finish_reason}");
        assert!(contents(&reply).iter().all(|content| content.starts_with("error: ")));
    }
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    stream.push_event(chunk(json!({ "tool_calls": [call("a", "answer", "{}")] }), Value::Null)).unwrap();
    let reply = stream.finish().unwrap();
    assert_eq!(reply.stop_reason(), &StopReason::Truncated);
    assert!(contents(&reply)[0].starts_with("error: "));
}

#[test]
fn an_error_instead_of_a_reply_has_the_message_of_the_provider() {
    let expected = "not a reply of OpenAI Chat Completions: the provider reports: Overloaded";
    let errors = [
        json!({ "error": { "message": "Overloaded", "type": "server_error" } }),
        json!({ "error": "Overloaded" }),
        json!({ "object": "error", "message": "Overloaded", "code": 503 }),
    ];
    for error in errors {
        assert_eq!(CHAT_COMPLETIONS.read(&error, &names()).unwrap_err().to_string(), expected);
        assert_eq!(CHAT_COMPLETIONS.stream(&names()).push_event(error.clone()).unwrap_err().to_string(), expected);
        let mut stream = CHAT_COMPLETIONS.stream(&names());
        stream.push_event(chunk(json!({ "tool_calls": [call("a", "answer", "{}")] }), Value::Null)).unwrap();
        stream.push_event(error).unwrap();
        let reply = stream.finish().unwrap();
        assert_eq!(reply.stop_reason(), &StopReason::Failed("Overloaded".to_owned()));
        assert!(contents(&reply)[0].starts_with("error: "));
    }
    let other = json!({ "type": "message", "content": [], "stop_reason": "end_turn" });
    assert_eq!(
        CHAT_COMPLETIONS.read(&other, &names()).unwrap_err().to_string(),
        "not a reply of OpenAI Chat Completions: it has no `choices`; it looks like a reply of Anthropic Messages"
    );
}

#[test]
fn an_error_beside_the_last_choice_fails() {
    let mut last = chunk(json!({ "content": "" }), "error".into());
    last["error"] = json!({ "code": "server_error", "message": "Provider disconnected" });
    let mut stream = CHAT_COMPLETIONS.stream(&names());
    stream.push_event(chunk(json!({ "content": "So" }), Value::Null)).unwrap();
    stream.push_event(last).unwrap();
    let reply = stream.finish().unwrap();
    assert_eq!((reply.text(), reply.stop_reason()), ("So", &StopReason::Failed("Provider disconnected".to_owned())));
}

#[test]
fn each_finish_reason_has_a_stop_reason() {
    let stop = |finish_reason: &str| {
        read(json!({ "role": "assistant", "content": "So" }), finish_reason).stop_reason().clone()
    };
    let malformed = "function_call_filter: MALFORMED_FUNCTION_CALL";
    assert_eq!(stop("tool_calls"), StopReason::End);
    assert_eq!(stop("abort"), StopReason::Truncated);
    assert_eq!(stop("content_filter"), StopReason::Refused("content filter".to_owned()));
    assert_eq!(stop("insufficient_system_resource"), StopReason::Failed("insufficient_system_resource".to_owned()));
    assert_eq!(stop(malformed), StopReason::Malformed(malformed.to_owned()));
    assert_eq!(stop("repetition"), StopReason::Other("repetition".to_owned()));
}

#[test]
fn only_the_first_choice_is_read() {
    let mut completion = completion(message(json!([call("a", "answer", "{}")])), "tool_calls");
    let other = json!({ "index": 1, "message": message(json!([call("b", "answer", "{}")])), "finish_reason": "stop" });
    completion["choices"].as_array_mut().unwrap().insert(0, other);
    let reply = CHAT_COMPLETIONS.read(&completion, &names()).unwrap();
    assert_eq!(reply.calls().len(), 1);
    assert_eq!(reply.calls()[0].id, "a");
}

#[test]
fn empty_fields_of_a_message_are_nothing() {
    let message = json!({ "role": "assistant", "content": "Hi.", "refusal": "",
        "audio": { "id": "", "data": "", "transcript": "" }, "function_call": { "name": "", "arguments": "" } });
    let reply = read(message, "");
    assert_eq!(reply.stop_reason(), &StopReason::End);
    assert_eq!(reply.messages(), [json!({ "role": "assistant", "content": "Hi.", "refusal": "" })]);
}
