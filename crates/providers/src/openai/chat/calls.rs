//! Calls from the fragments of a stream.

use serde_json::{Value, json};

use super::stream::add_fields;
use crate::reply::{Assembly, Block, append, field_mut, is_empty_part};

/// Adds a fragment of a call, which becomes a block of the reply.
pub(crate) fn add_call(mut fragment: Value, reply: &mut Assembly) {
    let Value::Object(fields) = &mut fragment else { return };
    let index = fields.shift_remove("index").and_then(|index| index.as_u64());
    let function = fields.shift_remove("function").unwrap_or_default();
    let id = text(&fragment["id"]).map(str::to_owned);
    let body = if function.is_object() { &function } else { &fragment["custom"] };
    let known = known_call(index, id.as_deref(), body, reply);
    if known.is_none() && id.is_none() && is_empty_part(body) {
        return;
    }
    let block = known.unwrap_or_else(|| {
        let block = reply.start(None, json!({}), None);
        // A fragment without an index and an id continues the latest call.
        reply.set_key((None, None), block);
        block
    });
    if index.is_some() {
        reply.set_key((index, None), block);
    }
    let call = reply.json(block);
    if id.is_some() && text(&call["id"]).is_some() {
        fragment["id"] = Value::Null;
    }
    if fragment["type"] == "" {
        fragment["type"] = Value::Null;
    }
    add_fields(call, fragment, &["input"]);
    if id.is_some() {
        reply.set_key((None, id), block);
    }
    add_function(block, function, reply);
}

/// Returns the block of the call that a fragment belongs to, unless it begins one.
///
/// Servers disagree about the index: some omit it, some count from 1, and some have the same for all calls.
fn known_call(index: Option<u64>, id: Option<&str>, function: &Value, reply: &Assembly) -> Option<u64> {
    let known = match (index, id) {
        (None, Some(id)) => reply.with_key(&(None, Some(id.to_owned()))),
        _ => reply.with_key(&(index, None)),
    };
    // The first fragment of a call may be the only one without the index.
    let is_start = id.is_some() || text(&function["name"]).is_some();
    let known = known.or_else(|| reply.with_key(&(None, None)).filter(|_| !is_start));
    known.filter(|block| !is_followed_by(&reply.blocks[block], index, id, function))
}

/// Returns true if a fragment that could belong to a call begins another one.
fn is_followed_by(call: &Block, index: Option<u64>, id: Option<&str>, function: &Value) -> bool {
    let (own_id, own) = (text(&call.json["id"]), &call.json["function"]);
    let (Some(name), own_name) = (text(&function["name"]), text(&own["name"])) else { return false };
    let arguments = &function["arguments"];
    match (own_id, id) {
        (Some(own_id), Some(id)) if own_id != id => return true,
        // The call as a whole after its fragments.
        (Some(_), Some(_)) if !arguments.is_null() && own["arguments"] == *arguments => return false,
        _ => {}
    }
    let begins_object = match arguments {
        Value::String(text) => text.trim_ascii_start().starts_with('{'),
        arguments => arguments.is_object(),
    };
    // A name can come in pieces, before the arguments.
    let is_same_call = if id.is_some() { id == own_id } else { index.is_some() };
    let is_piece = is_same_call && (own["arguments"].is_null() || own["arguments"] == "");
    let is_other = own_name != Some(name) && !is_piece;
    own_name.is_some() && (is_other || call.has_all_arguments() && begins_object)
}

/// Adds a fragment of the function of a call.
fn add_function(block: u64, mut function: Value, reply: &mut Assembly) {
    let mut take = |field: &str| function.get_mut(field).map(Value::take).unwrap_or_default();
    let (name, arguments) = (take("name"), take("arguments"));
    let call = reply.json(block);
    match &name {
        // Some servers repeat the name.
        Value::String(name) if call["function"]["name"] != *name => {
            append(field_mut(call, &["function"]), "name", name);
        }
        _ => {}
    }
    if function.is_object() {
        add_fields(field_mut(call, &["function"]), function, &[]);
    }
    let name = text(&call["function"]["name"]).or_else(|| text(&call["custom"]["name"])).map(Value::from);
    if let Some(name) = name {
        reply.show_call(block, &name);
    }
    let call = reply.block(block);
    if !call.has_all_arguments() || call.json["function"]["arguments"] != arguments {
        reply.add_arguments(block, &["function", "arguments"], arguments);
    }
}

/// Returns the calls, without those of which nothing but an id has arrived.
pub(crate) fn complete_calls(calls: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let is_call = |mut call: Value| {
        let (function, is_custom) = (&call["function"], text(&call["custom"]["name"]).is_some());
        let is_function = text(&function["name"]).is_some() || text(&function["arguments"]).is_some();
        if let Some(call) = call.as_object_mut().filter(|_| is_custom) {
            call.shift_remove("function");
        }
        (is_custom || is_function).then_some(call)
    };
    calls.into_iter().filter_map(is_call).collect()
}

/// Returns a text that is not empty. Mistral's client reads an absent id as `null`.
fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !matches!(*text, "" | "null"))
}
