//! A response from the chunks of its stream, each of which has the form of a whole response.

use serde_json::{Map, Value, json};

use super::content::{
    BLOCK_REASON, FINISH_REASON, FUNCTION_CALL, NAME, PARTIAL_ARGS, PROMPT_FEEDBACK, THOUGHT_SIGNATURE, WILL_CONTINUE,
    get, get_mut, position, stop_of, take, text,
};
use super::partial_args::add_piece;
use crate::reply::{
    Assembly, Block, InvalidReply, ReplyEvent, field_mut, is_empty_part, keep_stop, merge, object, stated,
};

/// The place of the candidate until the reply is assembled.
const CANDIDATE: &[&str] = &["candidates"];

/// Adds a chunk to a response.
pub(super) fn add_chunk(mut chunk: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
    if chunk.get("error").is_some() && !reply.has_started {
        return Err(InvalidReply::unexpected(NAME, "`candidates`", &chunk));
    }
    reply.is_complete |= get(&chunk, PROMPT_FEEDBACK).is_some_and(|feedback| text(feedback, BLOCK_REASON).is_some());
    let candidates = chunk.as_object_mut().and_then(|chunk| chunk.shift_remove("candidates"));
    if let Some(Value::Array(mut candidates)) = candidates
        && let Some(position) = position(&candidates)
    {
        add_candidate(candidates.swap_remove(position), reply)?;
    }
    merge(&mut reply.body, chunk);
    reply.has_started = true;
    Ok(())
}

/// Returns a response in the form that it has without a stream.
pub(super) fn assemble_response(mut reply: Assembly) -> Value {
    close(&mut reply);
    if reply.body.get("candidates").is_some() {
        *field_mut(&mut reply.body, &["candidates", "content", "parts"]) = reply.take_blocks().collect();
        reply.body["candidates"] = json!([reply.body["candidates"].take()]);
    }
    reply.body
}

fn add_candidate(mut candidate: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
    add_reason(take(&mut candidate, FINISH_REASON), reply);
    let parts = candidate.get_mut("content").and_then(|content| content.as_object_mut()?.shift_remove("parts"));
    if let Some(Value::Array(parts)) = parts {
        for part in parts {
            add_part(part, reply)?;
        }
    }
    merge(field_mut(&mut reply.body, CANDIDATE), candidate);
    Ok(())
}

/// Keeps the last reason to stop, but the first one after which no call runs. Some servers state one in each chunk.
fn add_reason(reason: Option<Value>, reply: &mut Assembly) {
    if !matches!(&*stated(reason.as_ref()), "" | "FINISH_REASON_UNSPECIFIED") {
        reply.is_complete = true;
        let candidate = field_mut(&mut reply.body, CANDIDATE);
        let mut stop = Map::from_iter(reason.map(|reason| (FINISH_REASON[0].to_owned(), reason)));
        keep_stop(candidate.get(FINISH_REASON[0]), &mut stop, FINISH_REASON[0], stop_of);
        merge(candidate, stop.into());
    }
}

fn add_part(part: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
    if get(&part, FUNCTION_CALL).is_some_and(Value::is_object) {
        return add_call(part, reply);
    }
    if is_empty_part(&part) || is_plain_text(&part) && part["text"] == "" {
        return Ok(());
    }
    close(reply);
    let (text, is_thought) = (part["text"].as_str().unwrap_or_default(), part["thought"] == true);
    reply.show(if is_thought { ReplyEvent::Reasoning } else { ReplyEvent::Text }, text);
    // A signature is valid only for its own part, so other parts are not joined.
    let is_continued = |last: &&mut Block| {
        is_plain_text(&part) && is_plain_text(&last.json) && (last.json["thought"] == true) == is_thought
    };
    match reply.latest().filter(is_continued).map(|last| &mut last.json["text"]) {
        Some(Value::String(before)) => before.push_str(text),
        _ => drop(reply.start(None, part, None)),
    }
    Ok(())
}

/// Adds a whole call, or a piece of one.
fn add_call(mut part: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
    let Some(call) = get_mut(&mut part, FUNCTION_CALL) else { return Ok(()) };
    let pieces = take(call, PARTIAL_ARGS);
    let will_continue = take(call, WILL_CONTINUE) == Some(Value::Bool(true));
    if !reply.latest().is_some_and(|last| continues(last, call)) {
        close(reply);
        let is_whole = pieces.is_none() && !will_continue;
        if is_whole && *call == json!({}) {
            // The end of a call that has ended already.
            return Ok(());
        }
        let (name, args) = (call["name"].clone(), call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string));
        let index = reply.start(None, part, Some(name));
        if is_whole {
            reply.block(index).is_done = true;
            reply.show_arguments(index, &args);
        }
    } else if let Some(last) = reply.latest() {
        let args = call.as_object_mut().and_then(|call| call.shift_remove("args"));
        if let (Some(before), Some(Value::Object(args))) = (args_of(last), args) {
            before.extend(args);
        }
        if let (None, Some(signature)) = (get(&last.json, THOUGHT_SIGNATURE), take(&mut part, THOUGHT_SIGNATURE)) {
            last.json["thoughtSignature"] = signature;
        }
    }
    let Assembly { blocks, n_skipped, .. } = reply;
    if let (Some(last), Some(Value::Array(pieces))) = (blocks.values_mut().next_back(), pieces) {
        let mut open_string = last.open_string.take();
        if let Some(args) = args_of(last) {
            let mut pieces = pieces.iter();
            pieces.try_for_each(|piece| add_piece(piece, args, &mut open_string, n_skipped)).map_err(invalid_path)?;
        }
        last.open_string = open_string;
    }
    if !will_continue {
        close(reply);
    }
    Ok(())
}

/// Returns true if a call is a piece of the one in the last part: it has no name, or repeats the id.
fn continues(last: &Block, call: &Value) -> bool {
    let Some(last) = get(&last.json, FUNCTION_CALL).filter(|_| !last.is_done) else { return false };
    let id = |call: &Value| call["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
    call["name"].as_str().unwrap_or_default().is_empty() || id(last).is_some() && id(last) == id(call)
}

/// Completes the call in the last part. Arguments without the end of a string are incomplete JSON text.
fn close(reply: &mut Assembly) {
    let Some((&index, last)) = reply.blocks.iter_mut().next_back() else { return };
    if last.is_done || get(&last.json, FUNCTION_CALL).is_none() {
        return;
    }
    last.is_done = true;
    let mut json = args_of(last).and_then(|args| serde_json::to_string(args).ok()).unwrap_or_default();
    if last.open_string.is_some() {
        json.truncate(json.trim_end_matches('}').len());
        if let Some(call) = get_mut(&mut last.json, FUNCTION_CALL) {
            call["args"] = json.as_str().into();
        }
    }
    reply.show_arguments(index, &json);
}

/// Returns the arguments of a call, which become an object if they are not one.
fn args_of(call: &mut Block) -> Option<&mut Map<String, Value>> {
    let args = field_mut(get_mut(&mut call.json, FUNCTION_CALL)?, &["args"]);
    *args = object(args.take());
    args.as_object_mut()
}

/// Returns true if a part is a blank text without a signature. A request must not contain it.
pub(super) fn is_blank_text(part: &Value) -> bool {
    is_plain_text(part) && part["text"].as_str().is_some_and(|text| text.trim().is_empty())
}

fn is_plain_text(part: &Value) -> bool {
    let fields = part.as_object();
    part["text"].is_string() && fields.is_some_and(|fields| fields.keys().all(|key| key == "text" || key == "thought"))
}

fn invalid_path(path: String) -> InvalidReply {
    let path: String = path.chars().filter(|c| !c.is_control()).take(100).collect();
    InvalidReply::new(NAME, format!("the path `{path}` of an argument is invalid or too long"))
}
