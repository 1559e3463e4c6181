//! The steps of a conversation, without a network.

use std::time::Duration;

use serde_json::{Value, json};
use toolkit_providers::reply::{Api, InvalidReply};
use toolkit_providers::request::{Conversation, NextStep, Request};
use toolkit_providers::{anthropic, bedrock, gemini, ollama, openai};

use super::catalog;

fn conversation(api: Api) -> Conversation {
    Conversation::new(Request::new(api, "model-1").tools(&api.export(&catalog()).unwrap()).user("What is 2 + 3?"))
}

fn streamed(api: Api) -> Conversation {
    let request = Request::new(api, "model-1").tools(&api.export(&catalog()).unwrap()).user("What is 2 + 3?");
    Conversation::new(request.streamed())
}

fn receive(chat: &mut Conversation, status: u16, body: &str) -> Result<NextStep, InvalidReply> {
    let mut stream = chat.response(status, |_| None);
    for piece in body.as_bytes().chunks(7) {
        stream.push(piece)?;
    }
    chat.finish(stream)
}

fn message(content: Value, reason: &str) -> String {
    json!({ "content": content, "stop_reason": reason, "usage": { "input_tokens": 20, "output_tokens": 10 } })
        .to_string()
}

fn call() -> String {
    let input = json!({ "a": 2, "b": 3 });
    message(json!([{ "type": "tool_use", "id": "toolu_1", "name": "math_add", "input": input }]), "tool_use")
}

fn text() -> Value {
    json!([{ "type": "text", "text": "5" }])
}

#[test]
fn a_conversation_runs_calls_until_the_model_has_answered() {
    let mut chat = conversation(anthropic::MESSAGES).max_tokens(100);
    let NextStep::RunCalls(reply) = receive(&mut chat, 200, &call()).unwrap() else { panic!() };
    assert_eq!(reply.calls().len(), 1);
    let results = json!([{ "type": "tool_result", "tool_use_id": "toolu_1", "content": "5" }]);
    chat.add([json!({ "role": "user", "content": results })]);
    assert_eq!(chat.request().unwrap().body["messages"].as_array().unwrap().len(), 3);
    let NextStep::Answered(reply) = receive(&mut chat, 200, &message(text(), "end_turn")).unwrap() else { panic!() };
    assert_eq!((reply.text(), chat.usage().total(), chat.messages().len()), ("5", 60, 4));
}

#[test]
fn a_paused_reply_is_continued_and_a_refused_one_is_the_end() {
    let mut chat = conversation(anthropic::MESSAGES);
    let paused = receive(&mut chat, 200, &message(text(), "pause_turn")).unwrap();
    assert!(matches!(paused, NextStep::RunCalls(reply) if reply.calls().is_empty()));
    let stopped = receive(&mut chat, 200, &message(text(), "refusal")).unwrap();
    assert!(matches!(stopped, NextStep::Stopped(reason) if reason == "the model stopped without an answer: refused"));
    // What was refused is not repeated.
    assert_eq!(chat.messages().len(), 2);
}

#[test]
fn a_limit_ends_a_conversation_before_the_calls_run() {
    let limits: [(Conversation, &str); 4] = [
        (conversation(anthropic::MESSAGES).max_turns(1), "the limit of 1 turns is reached"),
        (conversation(anthropic::MESSAGES).max_calls(0), "the limit of 0 calls is reached"),
        (conversation(anthropic::MESSAGES).max_tokens(29), "the limit of 29 tokens is reached"),
        (
            conversation(ollama::CHAT).max_tokens(29),
            "the limit of 29 tokens cannot be kept: the server does not count them",
        ),
    ];
    for (mut chat, limit) in limits {
        let function = json!({ "name": "math_add", "arguments": { "a": 2, "b": 3 } });
        let reply = json!({ "role": "assistant", "content": "", "tool_calls": [{ "function": function }] });
        let body = match chat.api().id() {
            "ollama" => json!({ "message": reply, "done": true }).to_string(),
            _ => call(),
        };
        let step = receive(&mut chat, 200, &body).unwrap();
        assert!(matches!(&step, NextStep::Limit(reason) if reason == limit), "{step:?}");
        // An answer is one, also at a limit.
        if chat.api() == anthropic::MESSAGES {
            let step = receive(&mut chat, 200, &message(text(), "end_turn")).unwrap();
            assert!(matches!(step, NextStep::Answered(_)));
        }
    }
}

#[test]
fn an_overload_is_waited_for_and_another_error_has_the_message_of_the_provider() {
    for api in Api::all() {
        for mut chat in [conversation(api), streamed(api)] {
            let busy = json!({ "error": { "message": "slow down" } }).to_string();
            assert!(matches!(receive(&mut chat, 429, &busy).unwrap(), NextStep::Wait(_)), "{api}");
            assert!(matches!(receive(&mut chat, 503, "<html>").unwrap(), NextStep::Wait(_)), "{api}");
            let wrong = json!({ "error": { "message": "no such model" } }).to_string();
            let error = receive(&mut chat, 404, &wrong).unwrap_err().to_string();
            assert!(error.ends_with("the server responded with status 404: no such model"), "{error}");
            let error = receive(&mut chat, 301, "<html>moved").unwrap_err().to_string();
            assert!(error.ends_with("the server responded with status 301: <html>moved"), "{error}");
        }
    }
}

#[test]
fn a_response_that_breaks_off_is_requested_again() {
    let mut chat = conversation(anthropic::MESSAGES).max_retries(2);
    let whole = message(text(), "end_turn");
    assert!(matches!(receive(&mut chat, 200, &whole[..20]).unwrap(), NextStep::Wait(_)));
    assert!(matches!(receive(&mut chat, 200, "").unwrap(), NextStep::Wait(_)));
    assert!(receive(&mut chat, 200, "").is_err());

    let mut chat = streamed(anthropic::MESSAGES).max_retries(1);
    let start = "data: {\"type\": \"message_start\", \"message\": {\"role\": \"assistant\"}}\n\n";
    assert!(matches!(receive(&mut chat, 200, start).unwrap(), NextStep::Wait(_)));
    assert!(matches!(receive(&mut chat, 200, start).unwrap(), NextStep::Stopped(_)));
    assert_eq!(chat.messages().len(), 1);

    assert_eq!(conversation(anthropic::MESSAGES).max_retries(0).send_failed(), None);
    assert!(conversation(anthropic::MESSAGES).send_failed().is_some_and(|time| time < Duration::from_secs(1)));
}

#[test]
fn a_server_that_ignores_the_wish_for_a_stream_is_understood() {
    let completion =
        json!({ "choices": [{ "message": { "role": "assistant", "content": "5" }, "finish_reason": "stop" }] });
    let bodies: [(Api, String); 4] = [
        (anthropic::MESSAGES, message(text(), "end_turn")),
        (openai::CHAT_COMPLETIONS, completion.to_string()),
        (
            gemini::GENERATE_CONTENT,
            json!([{ "candidates": [{ "content": { "parts": [{ "text": "5" }] },
            "finishReason": "STOP" }] }])
            .to_string(),
        ),
        (ollama::CHAT, json!({ "message": { "role": "assistant", "content": "5" }, "done": true }).to_string()),
    ];
    for (api, body) in bodies {
        let step = receive(&mut streamed(api), 200, &body).unwrap();
        assert!(matches!(&step, NextStep::Answered(reply) if reply.text() == "5"), "{api}: {step:?}");
    }
    // Without the wish, each API has a body.
    let body = json!({ "output": { "message": { "role": "assistant", "content": [{ "text": "5" }] } },
        "stopReason": "end_turn" });
    let step = receive(&mut conversation(bedrock::CONVERSE), 200, &body.to_string()).unwrap();
    assert!(matches!(step, NextStep::Answered(_)));
}
