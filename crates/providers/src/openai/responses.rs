//! Replies and results of Responses, and the assembly of a streamed response.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use super::function::push;
use crate::reply::{
    Accumulate, Answer, Assembled, CallArguments, CallForm, Format, InvalidReply, Item, Parsed, Part, ReplyEvent,
    StopReason, ToolCall, WrittenCall, append, fields, find_name, flagged, object, stated,
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

/// The types of images that a result may contain.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

impl Format for Responses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Response::default())
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
        parsed.messages = output;
        Ok(parsed.with_metadata(body, "output"))
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        Item::write_each(items, result)
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
                caller: item.get("caller").filter(|caller| caller.is_object() && caller["type"] != "direct"),
                ..WrittenCall::new(field("call_id").filter(|id| id.len() <= MAX_ID_LEN), name, arguments)
            };
            let read = push(call, names, parsed);
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

fn result(answer: &Answer<'_>) -> Value {
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

fn content(part: &Part, is_error: bool) -> Value {
    media(part).unwrap_or_else(|| json!({ "type": "input_text", "text": flagged(is_error, part.to_text()) }))
}

/// Returns a part that is not text, if the API accepts it.
fn media(part: &Part) -> Option<Value> {
    let url = |mime_type: &str, data: &str| format!("data:{mime_type};base64,{data}");
    match part {
        Part::Image { data, mime_type } if IMAGE_TYPES.contains(&mime_type.as_str()) => {
            Some(fields([("type", "input_image".into()), ("image_url", url(mime_type, data).into())]))
        }
        Part::File { name, data, mime_type } if mime_type == "application/pdf" => Some(fields([
            ("type", "input_file".into()),
            ("filename", name.as_str().into()),
            ("file_data", url(mime_type, data).into()),
        ])),
        _ => None,
    }
}

// A response from the events of its stream.

/// A response of which some events have arrived.
#[derive(Debug, Default)]
struct Response {
    response: Option<Value>,
    /// By `output_index`: some gateways change the id of an item between its events.
    items: BTreeMap<u64, OpenItem>,
    n_calls: usize,
    is_complete: bool,
}

#[derive(Debug)]
struct OpenItem {
    json: Value,
    /// The number of calls before this one.
    call: usize,
    is_done: bool,
}

impl Accumulate for Response {
    fn push(&mut self, mut event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            // The first end of the response stands.
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.created"
            | "response.in_progress"
            | "response.queued"
            | "error"
                if self.is_complete => {}
            "response.completed" | "response.incomplete" | "response.failed" => {
                let mut response = object(event["response"].take());
                if stated(response.get("status")).is_empty() {
                    response["status"] = kind.trim_start_matches("response.").into();
                }
                self.response = Some(response);
                self.is_complete = true;
            }
            "response.created" | "response.in_progress" | "response.queued" => {
                self.response = Some(object(event["response"].take()));
            }
            "response.output_item.added" => self.start(&mut event, events),
            "response.output_item.done" => {
                let item = self.item(&event);
                item.json = object(event["item"].take());
                item.is_done = true;
            }
            "error" => match &mut self.response {
                Some(response) => {
                    response["status"] = "failed".into();
                    response["error"] = match event.get_mut("error") {
                        Some(error) => error.take(),
                        None => json!({ "message": event["message"].take(), "code": event["code"].take() }),
                    };
                    self.is_complete = true;
                }
                None => return Err(InvalidReply::unexpected(NAME, "response", &event)),
            },
            kind => self.extend(kind, &event, events),
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let mut response = match self.response {
            Some(response) => response,
            None if !self.items.is_empty() => json!({}),
            None => return Err(InvalidReply::new(NAME, "the stream has no response")),
        };
        let output = response["output"].as_array().filter(|output| output.len() >= self.items.len());
        let is_whole = self.items.values().all(|item| item.is_done);
        // The last event repeats the items, but some gateways leave them out.
        if output.is_none_or(|output| output.is_empty() || (is_whole && output.len() == self.items.len())) {
            response["output"] = self.items.into_values().map(|item| item.json).collect();
        }
        Ok(Assembled::new(response, self.is_complete))
    }
}

impl Response {
    /// Returns the item of an event. Without an index, this is the one with its id, or else the latest one that has not
    /// ended.
    fn item(&mut self, event: &Value) -> &mut OpenItem {
        let id = event["item_id"].as_str().or_else(|| event["item"]["id"].as_str());
        let of_id = || self.items.iter().rev().find(|(_, item)| id.is_some() && item.json["id"].as_str() == id);
        let latest = || self.items.last_key_value().filter(|(_, item)| !item.is_done);
        let of_event = || of_id().or_else(latest).map_or_else(|| self.next_index(), |(index, _)| *index);
        let index = event["output_index"].as_u64().unwrap_or_else(of_event);
        self.items.entry(index).or_insert_with(|| OpenItem { json: json!({}), call: 0, is_done: false })
    }

    fn next_index(&self) -> u64 {
        self.items.last_key_value().map_or(0, |(index, _)| index.saturating_add(1))
    }

    fn start(&mut self, event: &mut Value, events: &mut Vec<ReplyEvent>) {
        let json = object(event["item"].take());
        let call = self.n_calls;
        if matches!(json["type"].as_str(), Some("function_call" | "custom_tool_call")) {
            self.n_calls += 1;
            let name = json["name"].as_str().unwrap_or_default().to_owned();
            events.push(ReplyEvent::CallStarted { index: call, name });
        }
        let index = event["output_index"].as_u64().unwrap_or_else(|| self.next_index());
        self.items.insert(index, OpenItem { json, call, is_done: false });
    }

    fn extend(&mut self, kind: &str, event: &Value, events: &mut Vec<ReplyEvent>) {
        let delta = event["delta"].as_str().unwrap_or_default();
        let shown = || delta.to_owned();
        match kind {
            "response.output_text.delta" => {
                append_part(&mut self.item(event).json, ("content", "output_text", "text"), delta);
                events.push(ReplyEvent::Text(shown()));
            }
            "response.refusal.delta" => {
                append_part(&mut self.item(event).json, ("content", "refusal", "refusal"), delta);
                events.push(ReplyEvent::Text(shown()));
            }
            "response.reasoning_summary_text.delta" => {
                append_part(&mut self.item(event).json, ("summary", "summary_text", "text"), delta);
                events.push(ReplyEvent::Reasoning(shown()));
            }
            "response.reasoning_text.delta" => {
                append_part(&mut self.item(event).json, ("content", "reasoning_text", "text"), delta);
                events.push(ReplyEvent::Reasoning(shown()));
            }
            "response.function_call_arguments.delta" => self.extend_call("arguments", event, events),
            "response.custom_tool_call_input.delta" => self.extend_call("input", event, events),
            "response.function_call_arguments.done" => self.complete_call("arguments", event),
            "response.custom_tool_call_input.done" => self.complete_call("input", event),
            _ => {}
        }
    }

    fn extend_call(&mut self, field: &str, event: &Value, events: &mut Vec<ReplyEvent>) {
        let json = event["delta"].as_str().unwrap_or_default().to_owned();
        let item = self.item(event);
        append(&mut item.json, field, &json);
        events.push(ReplyEvent::Arguments { index: item.call, json });
    }

    /// Replaces what has arrived of a call by the whole, if the event repeats it.
    fn complete_call(&mut self, field: &str, event: &Value) {
        if let Some(whole) = event.get(field).filter(|whole| !whole.is_null()) {
            self.item(event).json[field] = whole.clone();
        }
    }
}

/// Appends text to the last part of an item. The item is replaced by a complete one if its stream is complete.
fn append_part(item: &mut Value, (list, kind, field): (&str, &str, &str), text: &str) {
    if !item[list].is_array() {
        item[list] = json!([]);
    }
    let Some(parts) = item[list].as_array_mut() else { return };
    match parts.last_mut().filter(|part| part["type"] == kind) {
        Some(part) => append(part, field, text),
        None if kind == "output_text" => parts.push(json!({ "type": kind, field: text, "annotations": [] })),
        None => parts.push(json!({ "type": kind, field: text })),
    }
}
