//! The valid ends of a message, for every text of a model and every omission of a reader.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::Api;
use toolkit_providers::{anthropic, bedrock, cohere, gemini, openai};

use super::rules::{is_not_blank, require};

/// A part of a reply.
#[derive(Clone, Debug)]
enum Part {
    Text(&'static str),
    Reasoning,
    Call,
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![
        prop::sample::select(&["", " ", "\n\n", "Hi!"][..]).prop_map(Part::Text),
        Just(Part::Reasoning),
        Just(Part::Call),
    ];
    vec(part, 0..6)
}

/// A rule about the messages of a reply.
type Check = fn(&[Value]) -> Result<(), String>;

/// Writes a reply with some parts.
type Write = fn(&[Part]) -> Value;

/// An API, with a reply that has these parts, and the rules of its messages.
const APIS: [(Api, Write, Check); 6] = [
    (anthropic::MESSAGES, anthropic_reply, anthropic_check),
    (bedrock::CONVERSE, bedrock_reply, bedrock_check),
    (openai::RESPONSES, responses_reply, responses_check),
    (openai::CHAT_COMPLETIONS, chat_reply, chat_check),
    (cohere::CHAT, cohere_reply, chat_check),
    (gemini::GENERATE_CONTENT, gemini_reply, gemini_check),
];

fn written(parts: &[Part], write: impl Fn(usize, &Part) -> Value) -> Vec<Value> {
    parts.iter().enumerate().map(|(nth, part)| write(nth, part)).collect()
}

fn anthropic_reply(parts: &[Part]) -> Value {
    let content = written(parts, |nth, part| match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Reasoning if nth % 2 == 0 => json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" }),
        Part::Reasoning => json!({ "type": "redacted_thinking", "data": "ZGF0YQ==" }),
        Part::Call => json!({ "type": "tool_use", "id": format!("toolu_{nth}"), "name": "f", "input": {} }),
    });
    json!({ "content": content, "stop_reason": "end_turn" })
}

fn anthropic_check(messages: &[Value]) -> Result<(), String> {
    for message in messages {
        let content = message["content"].as_array().ok_or("content is a list")?;
        let last = content.last().ok_or("a message has content")?;
        require(!matches!(last["type"].as_str(), Some("thinking" | "redacted_thinking")), "thinking is not the end")?;
        content.iter().filter(|block| block["type"] == "text").try_for_each(|block| is_not_blank(&block["text"]))?;
    }
    Ok(())
}

fn bedrock_reply(parts: &[Part]) -> Value {
    let content = written(parts, |nth, part| match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Reasoning => json!({ "reasoningContent": { "reasoningText": { "text": "Hm.", "signature": "c2ln" } } }),
        Part::Call => json!({ "toolUse": { "toolUseId": format!("t{nth}"), "name": "f", "input": {} } }),
    });
    json!({ "output": { "message": { "role": "assistant", "content": content } }, "stopReason": "end_turn" })
}

fn bedrock_check(messages: &[Value]) -> Result<(), String> {
    for message in messages {
        let content = message["content"].as_array().ok_or("content is a list")?;
        let last = content.last().ok_or("a message has content")?;
        require(last.get("reasoningContent").is_none(), "reasoning is not the end")?;
        content.iter().filter_map(|block| block.get("text")).try_for_each(is_not_blank)?;
    }
    Ok(())
}

fn responses_reply(parts: &[Part]) -> Value {
    let output = written(parts, |nth, part| match part {
        Part::Text(text) => {
            let content = json!([{ "type": "output_text", "text": text }]);
            json!({ "type": "message", "id": format!("msg_{nth}"), "role": "assistant", "content": content })
        }
        Part::Reasoning => json!({ "type": "reasoning", "id": format!("rs_{nth}"), "summary": [] }),
        Part::Call => json!({ "type": "function_call", "call_id": format!("c{nth}"), "name": "f", "arguments": "{}" }),
    });
    json!({ "output": output, "status": "completed" })
}

fn responses_check(items: &[Value]) -> Result<(), String> {
    require(items.last().is_none_or(|last| last["type"] != "reasoning"), "an item follows the reasoning")
}

fn calls(parts: &[Part]) -> Option<Value> {
    let calls = written(
        parts,
        |nth, _| json!({ "id": format!("c{nth}"), "type": "function", "function": { "name": "f", "arguments": "{}" } }),
    );
    let n_calls = parts.iter().filter(|part| matches!(part, Part::Call)).count();
    (n_calls > 0).then(|| calls[..n_calls].to_vec().into())
}

fn chat_message(parts: &[Part], kinds: &[&str]) -> Value {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(json!({ "type": kinds[0], "text": text })),
        Part::Reasoning => kinds.get(1).map(|kind| json!({ "type": kind, "thinking": "Hm." })),
        Part::Call => None,
    });
    let mut message = json!({ "role": "assistant", "content": texts.collect::<Vec<Value>>() });
    if let Some(calls) = calls(parts) {
        message["tool_calls"] = calls;
    }
    message
}

fn chat_reply(parts: &[Part]) -> Value {
    json!({ "choices": [{ "message": chat_message(parts, &["text"]), "finish_reason": "stop" }] })
}

fn cohere_reply(parts: &[Part]) -> Value {
    json!({ "message": chat_message(parts, &["text", "thinking"]), "finish_reason": "COMPLETE" })
}

fn chat_check(messages: &[Value]) -> Result<(), String> {
    for message in messages {
        let has_calls = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
        match message.get("content") {
            None | Some(Value::Null) => require(has_calls, "a message has content or calls")?,
            Some(Value::Array(parts)) => {
                require(!parts.is_empty(), "a list of parts is not empty")?;
                require(parts.iter().all(|part| part["text"] != ""), "no text is empty")?;
            }
            Some(text) => require(has_calls || text != "", "a message has content or calls")?,
        }
    }
    Ok(())
}

fn gemini_reply(parts: &[Part]) -> Value {
    let parts = written(parts, |_, part| match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Reasoning => json!({ "text": "", "thoughtSignature": "c2ln" }),
        Part::Call => json!({ "functionCall": { "name": "f", "args": {} } }),
    });
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }] })
}

fn gemini_check(contents: &[Value]) -> Result<(), String> {
    for content in contents {
        let parts = content["parts"].as_array().ok_or("a list of parts")?;
        require(!parts.is_empty(), "a content has parts")?;
        let plain = parts.iter().filter(|part| part.get("thoughtSignature").is_none());
        plain.filter_map(|part| part.get("text")).try_for_each(is_not_blank)?;
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_message_of_every_reply_ends_as_its_api_allows(parts in parts()) {
        for (api, reply, check) in APIS {
            let reply = api.read(reply(&parts), &ExportedNames::default()).unwrap();
            let checked = check(reply.messages());
            prop_assert!(checked.is_ok(), "{api}: {checked:?}\n{:#?}", reply.messages());
            // What is not repeated is still read.
            let text: String = parts.iter().map(|part| if let Part::Text(text) = part { text } else { "" }).collect();
            prop_assert_eq!(reply.text(), text, "{}", api);
        }
    }
}
