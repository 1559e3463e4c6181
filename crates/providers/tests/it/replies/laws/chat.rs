//! The shapes and rules of the APIs whose results are messages of the role `tool`.

use serde_json::{Value, json};

use super::rules::{each_once, is_image, is_name, is_not_blank, is_object_text, require};
use super::{Call, sent};

fn tool_calls(calls: &[Call], arguments: impl Fn(&Value) -> Value) -> Vec<Value> {
    let call = |call: &Call| {
        let function = json!({ "name": call.name, "arguments": arguments(&call.arguments) });
        json!({ "id": call.id, "type": "function", "function": function })
    };
    calls.iter().map(call).collect()
}

pub(super) fn chat_reply(calls: &[Call]) -> Value {
    let calls = tool_calls(calls, sent);
    let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
    json!({ "id": "chat", "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] })
}

pub(super) fn ollama_reply(calls: &[Call]) -> Value {
    let mut calls = tool_calls(calls, Value::clone);
    for call in &mut calls {
        call.as_object_mut().expect("it is an object").shift_remove("id");
    }
    let message = json!({ "role": "assistant", "content": "", "tool_calls": calls });
    json!({ "created_at": "2026-11-23T00:00:00Z", "message": message, "done": true, "done_reason": "stop" })
}

pub(super) fn cohere_reply(calls: &[Call]) -> Value {
    let calls = tool_calls(calls, sent);
    let message = json!({ "role": "assistant", "tool_plan": "Hm.", "content": null, "tool_calls": calls });
    json!({ "id": "c14c80c3", "finish_reason": "TOOL_CALL", "message": message })
}

/// Returns the messages with results, directly after the one with the calls, and those after them.
fn results(messages: &[Value]) -> Result<(&Value, &[Value], &[Value]), String> {
    let (assistant, rest) = messages.split_first().ok_or("no message")?;
    require(assistant["role"] == "assistant", "the reply is first")?;
    let n_results = rest.iter().take_while(|message| message["role"] == "tool").count();
    let (results, rest) = rest.split_at(n_results);
    for result in results {
        is_not_blank(&result["content"])?;
    }
    Ok((assistant, results, rest))
}

fn ids(assistant: &Value, results: &[Value]) -> (Vec<String>, Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let called = assistant["tool_calls"].as_array().into_iter().flatten().map(|call| text(&call["id"]));
    (called.collect(), results.iter().map(|result| text(&result["tool_call_id"])).collect())
}

fn functions(assistant: &Value) -> impl Iterator<Item = &Value> {
    assistant["tool_calls"].as_array().into_iter().flatten().map(|call| &call["function"])
}

pub(super) fn chat_check(calls: &[Call], messages: &[Value]) -> Result<(), String> {
    let (assistant, results, rest) = results(messages)?;
    let (called, answered) = ids(assistant, results);
    each_once(calls, &called, &answered)?;
    for function in functions(assistant) {
        is_name(&function["name"], "_-")?;
        is_object_text(&function["arguments"])?;
    }
    require(rest.len() <= 1, "at most one message has the images")?;
    for message in rest {
        require(message["role"] == "user", "images are in a message of the user")?;
        for part in message["content"].as_array().ok_or("the content is a list")? {
            match part["type"].as_str() {
                Some("text") => is_not_blank(&part["text"])?,
                Some("image_url") => {
                    let url = part["image_url"]["url"].as_str().and_then(|url| url.strip_prefix("data:"));
                    let (kind, data) = url.and_then(|url| url.split_once(";base64,")).ok_or("a data URL")?;
                    is_image(&kind.into(), &data.into())?;
                }
                Some("input_audio") => {
                    let format = part["input_audio"]["format"].as_str().unwrap_or_default();
                    require(["wav", "mp3"].contains(&format), "audio has an accepted format")?;
                }
                other => return Err(format!("a part of type {other:?}")),
            }
        }
    }
    Ok(())
}

pub(super) fn mistral_check(calls: &[Call], messages: &[Value]) -> Result<(), String> {
    let (assistant, results, rest) = results(messages)?;
    let (called, answered) = ids(assistant, results);
    each_once(calls, &called, &answered)?;
    require(rest.is_empty(), "only results follow the calls")?;
    for function in functions(assistant) {
        is_name(&function["name"], "_-")?;
        is_object_text(&function["arguments"]).or(require(function["arguments"].is_object(), "arguments"))?;
    }
    let is_accepted = |id: &String| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric());
    require(called.iter().all(is_accepted), "an id has 9 letters and digits")
}

pub(super) fn cohere_check(calls: &[Call], messages: &[Value]) -> Result<(), String> {
    let (assistant, results, rest) = results(messages)?;
    let (called, answered) = ids(assistant, results);
    each_once(calls, &called, &answered)?;
    require(rest.is_empty(), "only results follow the calls")?;
    let fields = assistant.as_object().ok_or("an object")?;
    require(fields.values().all(|value| !value.is_null()), "no field is null")?;
    for function in functions(assistant) {
        is_name(&function["name"], "_-")?;
        is_object_text(&function["arguments"])?;
    }
    Ok(())
}

pub(super) fn ollama_check(calls: &[Call], messages: &[Value]) -> Result<(), String> {
    let (assistant, results, rest) = results(messages)?;
    require(rest.is_empty(), "only results follow the calls")?;
    let called: Vec<&Value> = functions(assistant).map(|function| &function["name"]).collect();
    for function in functions(assistant) {
        is_name(&function["name"], "_-")?;
        require(function["arguments"].is_object(), "arguments are an object")?;
    }
    let answered: Vec<&Value> = results.iter().map(|result| &result["tool_name"]).collect();
    require(called.len() == calls.len() && called == answered, "each call is answered, in order")
}
