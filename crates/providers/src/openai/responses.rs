//! Replies and results of Responses, and the assembly of a streamed response.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::wrapper::push;
use crate::reply::{
    Assembled, Assembly, CallArguments, CallForm, CallResult, Format, IMAGE_TYPES, InvalidReply, Parsed, ReplyEvent,
    ResultItem, ResultPart, StopReason, ToolCall, UsageFields, WrittenCall, add_part, fields, find_name, flagged,
    is_empty, object, remove_end, stated,
};
use toolkit::catalog::ExportedNames;

/// The format of Responses.
#[derive(Debug)]
pub(super) struct Responses;

const NAME: &str = "OpenAI Responses";

/// The calls that only the host can make: those of tools that OpenAI defines, and approvals. Some of them may also run
/// at OpenAI, and are then followed by their output.
const HOST_CALLS: [&str; 6] =
    ["apply_patch_call", "computer_call", "local_shell_call", "mcp_approval_request", "shell_call", "tool_search_call"];

/// The maximum length of an id in a request. Responses of other servers have longer ones.
const MAX_ID_LEN: usize = 64;

impl Format for Responses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn add(&self, mut event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        let mut take = |field: &str| event.get_mut(field).map(Value::take).unwrap_or_default();
        let kind = take("type");
        match kind.as_str().unwrap_or_default().trim_start_matches("response.") {
            // The first end of the response stands.
            "completed" | "incomplete" | "failed" | "created" | "in_progress" | "queued" | "error"
                if reply.is_complete => {}
            status @ ("completed" | "incomplete" | "failed") => {
                reply.body = object(take("response"));
                if stated(reply.body.get("status")).is_empty() {
                    reply.body["status"] = status.into();
                }
                (reply.has_started, reply.is_complete) = (true, true);
            }
            "created" | "in_progress" | "queued" => {
                let response = take("response");
                if !is_empty(&response) {
                    reply.body = object(response);
                }
                reply.has_started = true;
            }
            "error" if reply.has_started => {
                reply.body["status"] = "failed".into();
                reply.body["error"] = match take("error") {
                    Value::Null => json!({ "message": take("message"), "code": take("code") }),
                    error => error,
                };
                reply.is_complete = true;
            }
            "error" => return Err(InvalidReply::unexpected(NAME, "response", &event)),
            "output_item.added" => {
                let item = take("item");
                if is_empty(&item) {
                    return Ok(());
                }
                let is_call = matches!(item["type"].as_str(), Some("function_call" | "custom_tool_call"));
                let name = is_call.then(|| item["name"].clone());
                reply.start(take("output_index").as_u64(), item, name);
            }
            "output_item.done" if is_empty(&event["item"]) => {}
            "output_item.done" => {
                let index = index_of(&event, reply);
                let item = reply.block(index);
                (item.json, item.is_done) = (event["item"].take(), true);
            }
            kind => extend(kind, event, reply),
        }
        Ok(())
    }

    fn assemble(&self, mut reply: Assembly) -> Value {
        // The last event repeats the items, but some gateways leave them out.
        let n_items = reply.blocks.len();
        let output = reply.body["output"].as_array().map(Vec::len).filter(|len| *len > 0 && *len >= n_items);
        let is_whole = reply.blocks.values().all(|item| item.is_done);
        if output.is_none_or(|len| is_whole && len == n_items) {
            reply.body["output"] = reply.take_blocks().collect();
        }
        reply.body
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        let Assembled { mut body, is_complete, .. } = reply;
        let Some(Value::Array(mut output)) = body.get_mut("output").map(Value::take) else {
            return Err(InvalidReply::unexpected(NAME, "`output`", &body));
        };
        let mut parsed = Parsed::new(&body["id"]);
        let answered = answered_ids(&output);
        let mut refusal = None;
        let mut is_cut = false;
        for item in &mut output {
            is_cut |= item["status"] == "incomplete";
            read_item(item, &answered, names, &mut parsed, &mut refusal);
        }
        parsed.stop(stop_reason(&body, refusal, is_cut, is_complete));
        output.retain(|item| item["type"].is_string());
        // The API requires the item that the model wrote after its reasoning.
        remove_end(&mut output, |item| item["type"] == "reasoning");
        parsed.messages = output;
        Ok(parsed.with_metadata(body, "output"))
    }

    fn usage(&self) -> &'static UsageFields {
        &UsageFields {
            input: &["/usage/input_tokens"],
            output: &["/usage/output_tokens"],
            cached: &["/usage/input_tokens_details/cached_tokens"],
            reasoning: &["/usage/output_tokens_details/reasoning_tokens"],
        }
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        ResultItem::write_each(items, result)
    }
}

/// Returns the ids of the calls that OpenAI has answered itself.
fn answered_ids(output: &[Value]) -> HashSet<String> {
    let is_output = |item: &&Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("_output"));
    output.iter().filter(is_output).filter_map(|item| Some(item["call_id"].as_str()?.to_owned())).collect()
}

fn read_item(
    item: &mut Value,
    answered: &HashSet<String>,
    names: &ExportedNames,
    parsed: &mut Parsed,
    refusal: &mut Option<String>,
) {
    let field = |name: &str| item.get(name).and_then(Value::as_str);
    let kind = field("type").unwrap_or_default();
    match kind {
        "message" => read_message(&item["content"], parsed, refusal),
        "reasoning" => {
            for part in ["summary", "content"].into_iter().filter_map(|field| item[field].as_array()).flatten() {
                parsed.reasoning.push_str(part["text"].as_str().unwrap_or_default());
            }
        }
        "function_call" | "custom_tool_call" => {
            let is_custom = kind == "custom_tool_call";
            let name = field("name").unwrap_or_default();
            // Custom tools are not exported, so the host has declared this one.
            if is_custom && find_name(names, field("namespace"), name).is_none() {
                return parsed.push_provider_call(kind, field("call_id"), true);
            }
            let arguments = match is_custom {
                true => CallArguments::Text(field("input").unwrap_or_default().to_owned()),
                false => CallArguments::from_value(item.get("arguments")),
            };
            let call = WrittenCall {
                namespace: field("namespace"),
                form: if is_custom { CallForm::Custom } else { CallForm::Function },
                ..WrittenCall::new(field("call_id").filter(|id| id.len() <= MAX_ID_LEN), name, arguments)
            };
            let read = push(call.with_caller(item), names, parsed);
            write_call(item, read);
        }
        _ if HOST_CALLS.contains(&kind) => {
            let id = field("call_id").or_else(|| field("id"));
            let is_done = field("execution") == Some("server") || id.is_some_and(|id| answered.contains(id));
            parsed.push_provider_call(kind, id, !is_done);
        }
        _ if kind.ends_with("_call") || kind == "program" => parsed.push_provider_call(kind, field("id"), false),
        // Other parts are only repeated.
        _ => {}
    }
}

/// Writes a call in the form of a request.
fn write_call(item: &mut Value, call: &ToolCall) {
    let is_id = |value: &Value| value.as_str().is_some_and(|id| (1..=MAX_ID_LEN).contains(&id.len()));
    if let Some(item) = item.as_object_mut() {
        item.retain(|field, value| match field.as_str() {
            "id" => is_id(value),
            "status" => matches!(value.as_str(), Some("completed" | "incomplete" | "in_progress")),
            "caller" => value.is_object(),
            field => field != "namespace",
        });
    }
    item["call_id"] = call.id.as_str().into();
    item["name"] = call.sent_name.as_str().into();
    if let Some(namespace) = &call.sent_namespace {
        item["namespace"] = namespace.as_str().into();
    }
    match &call.arguments {
        CallArguments::Text(input) => item["input"] = input.as_str().into(),
        _ if item["arguments"] == "" => {}
        arguments => item["arguments"] = json!(arguments.to_object_text()),
    }
}

fn read_message(content: &Value, parsed: &mut Parsed, refusal: &mut Option<String>) {
    for part in content.as_array().into_iter().flatten() {
        match part["type"].as_str().unwrap_or_default() {
            "refusal" => refusal.get_or_insert_default().push_str(part["refusal"].as_str().unwrap_or_default()),
            _ => parsed.text.push_str(part["text"].as_str().unwrap_or_default()),
        }
    }
}

fn stop_reason(body: &Value, refusal: Option<String>, is_cut: bool, is_complete: bool) -> StopReason {
    if let Some(refusal) = refusal {
        return StopReason::Refused(refusal);
    }
    let status = stated(body.get("status"));
    let error = || body["error"]["message"].as_str().unwrap_or("the response failed").to_owned();
    match (&*status, &*stated(body["incomplete_details"].get("reason"))) {
        // Such as `bio_policy` and `image_content_policy_violation`.
        ("failed", _) if stated(body["error"].get("code")).contains("policy") => StopReason::Refused(error()),
        ("failed", _) => StopReason::Failed(error()),
        ("cancelled", _) => StopReason::Failed("the response was cancelled".to_owned()),
        ("incomplete", "content_filter") => StopReason::Refused("content filter".to_owned()),
        ("incomplete", "" | "max_output_tokens" | "max_messages") => StopReason::Truncated,
        ("incomplete", reason) => StopReason::Other(reason.to_owned()),
        ("" | "completed", _) if !is_cut => StopReason::End,
        ("" | "completed", _) => StopReason::Truncated,
        // The state in which a stream began.
        ("queued" | "in_progress", _) if !is_complete => StopReason::Truncated,
        (status, _) => StopReason::Other(status.to_owned()),
    }
}

fn result(answer: &CallResult<'_>) -> Value {
    let mut result = Map::new();
    let kind = if answer.call.form == CallForm::Custom { "custom_tool_call_output" } else { "function_call_output" };
    result.insert("type".to_owned(), kind.into());
    result.insert("call_id".to_owned(), answer.call.id.as_str().into());
    if let Some(caller) = &answer.call.caller {
        result.insert("caller".to_owned(), caller.clone());
    }
    let has_media = answer.parts.iter().any(|part| media(part).is_some());
    let output = match has_media {
        false => Value::from(answer.to_text()),
        true => answer.parts.iter().enumerate().map(|(idx, part)| content(part, answer.is_error && idx == 0)).collect(),
    };
    result.insert("output".to_owned(), output);
    result.into()
}

fn content(part: &ResultPart, is_error: bool) -> Value {
    media(part).unwrap_or_else(|| json!({ "type": "input_text", "text": flagged(is_error, part.to_text()) }))
}

/// Returns a part that is not text, if the API accepts it.
fn media(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Image { mime_type, .. } if IMAGE_TYPES.contains(&mime_type.as_str()) => {
            Some(fields([("type", "input_image".into()), ("image_url", part.data_url().into())]))
        }
        ResultPart::File { name, mime_type, .. } if mime_type == "application/pdf" => Some(fields([
            ("type", "input_file".into()),
            ("filename", name.as_str().into()),
            ("file_data", part.data_url().into()),
        ])),
        _ => None,
    }
}

/// Returns the index of the item of an event, since some gateways change the id of an item between its events. Without
/// an index, this is the one with its id, or else the latest one that has not ended.
fn index_of(event: &Value, reply: &Assembly) -> u64 {
    let id = event["item_id"].as_str().or_else(|| event["item"]["id"].as_str());
    let of_id = || reply.blocks.iter().rev().find(|(_, item)| id.is_some() && item.json["id"].as_str() == id);
    let index = event["output_index"].as_u64();
    let known = if index.is_none() { of_id() } else { None };
    known.map_or_else(|| reply.place_or_latest(index, |item| !item.is_done), |(index, _)| *index)
}

/// Adds a piece to an item. The item is replaced by a complete one if its stream is complete.
fn extend(kind: &str, mut event: Value, reply: &mut Assembly) {
    if kind.ends_with(".delta") && is_empty(&event["delta"]) {
        return;
    }
    let mut part = |list: &str, kind: &str, field: &str, shown: fn(String) -> ReplyEvent| {
        let delta = event["delta"].as_str().unwrap_or_default();
        let mut part = json!({ "type": kind, field: delta });
        if kind == "output_text" {
            part["annotations"] = json!([]);
        }
        let index = index_of(&event, reply);
        add_part(reply.json(index), list, part, field);
        reply.show(shown, delta);
    };
    match kind {
        "output_text.delta" => part("content", "output_text", "text", ReplyEvent::Text),
        "refusal.delta" => part("content", "refusal", "refusal", ReplyEvent::Text),
        "reasoning_summary_text.delta" => part("summary", "summary_text", "text", ReplyEvent::Reasoning),
        "reasoning_text.delta" => part("content", "reasoning_text", "text", ReplyEvent::Reasoning),
        "function_call_arguments.delta" | "custom_tool_call_input.delta" => {
            let field = if kind == "custom_tool_call_input.delta" { "input" } else { "arguments" };
            let index = index_of(&event, reply);
            reply.add_arguments(index, &[field], event["delta"].take());
        }
        // The whole replaces what has arrived of a call, if the event repeats it.
        "function_call_arguments.done" | "custom_tool_call_input.done" => {
            let field = if kind == "custom_tool_call_input.done" { "input" } else { "arguments" };
            let index = index_of(&event, reply);
            reply.set(index, field, event[field].take());
        }
        _ => {}
    }
}
