//! A response from the chunks of its stream, each of which has the form of a whole response.

use serde_json::{Map, Value};

use super::content::{NAME, position, stop_of};
use super::fields::{
    BLOCK_REASON, FINISH_REASON, FUNCTION_CALL, PARTIAL_ARGS, PROMPT_FEEDBACK, THOUGHT_SIGNATURE, WILL_CONTINUE, get,
    get_mut, take, text,
};
use super::partial_args::PartialArgs;
use crate::reply::{Accumulate, Assembled, InvalidReply, ReplyEvent, stated};

/// The maximum number of items of arrays that a model skips in the arguments of all calls.
const MAX_GAPS: usize = 10_000;

/// A response of which some chunks have arrived.
#[derive(Debug)]
pub(super) struct Response {
    /// The response without its candidate.
    body: Map<String, Value>,
    /// The candidate without its content.
    candidate: Option<Map<String, Value>>,
    /// The content without its parts.
    content: Map<String, Value>,
    parts: Vec<Value>,
    /// The reason to stop.
    reason: Option<Value>,
    /// The arguments of the call in the last part, if more of them are expected.
    open: Option<PartialArgs>,
    n_calls: usize,
    gaps_left: usize,
    is_complete: bool,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            body: Map::new(),
            candidate: None,
            content: Map::new(),
            parts: Vec::new(),
            reason: None,
            open: None,
            n_calls: 0,
            gaps_left: MAX_GAPS,
            is_complete: false,
        }
    }
}

impl Accumulate for Response {
    fn push(&mut self, mut chunk: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        if chunk.get("error").is_some() && self.candidate.is_none() {
            return Err(InvalidReply::unexpected(NAME, "`candidates`", &chunk));
        }
        self.is_complete |= get(&chunk, PROMPT_FEEDBACK).is_some_and(|feedback| text(feedback, BLOCK_REASON).is_some());
        let candidates = chunk.as_object_mut().and_then(|chunk| chunk.remove("candidates"));
        if let Some(Value::Array(mut candidates)) = candidates
            && let Some(position) = position(&candidates)
        {
            self.push_candidate(candidates.swap_remove(position), events)?;
        }
        merge(&mut self.body, chunk);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Assembled, InvalidReply> {
        self.close(&mut Vec::new());
        let mut body = self.body;
        if let Some(mut candidate) = self.candidate {
            candidate.extend(self.reason.map(|reason| (FINISH_REASON[0].to_owned(), reason)));
            self.content.insert("parts".to_owned(), self.parts.into());
            candidate.insert("content".to_owned(), self.content.into());
            body.insert("candidates".to_owned(), Value::Array(vec![candidate.into()]));
        }
        if body.is_empty() {
            return Err(InvalidReply::new(NAME, "the stream has no `candidates`"));
        }
        Ok(Assembled::new(body.into(), self.is_complete))
    }
}

impl Response {
    fn push_candidate(&mut self, mut candidate: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        self.push_reason(take(&mut candidate, FINISH_REASON));
        let mut content = candidate.as_object_mut().and_then(|fields| fields.remove("content")).unwrap_or_default();
        let parts = content.as_object_mut().and_then(|content| content.remove("parts"));
        if let Some(Value::Array(parts)) = parts {
            for part in parts {
                self.push_part(part, events)?;
            }
        }
        merge(&mut self.content, content);
        merge(self.candidate.get_or_insert_default(), candidate);
        Ok(())
    }

    /// Keeps the last reason to stop, but the first one after which no call runs. Some servers state one in each chunk.
    fn push_reason(&mut self, reason: Option<Value>) {
        let is_stated = !matches!(&*stated(reason.as_ref()), "" | "FINISH_REASON_UNSPECIFIED");
        self.is_complete |= is_stated;
        if is_stated && self.reason.as_ref().is_none_or(|before| stop_of(&stated(Some(before))).runs_calls()) {
            self.reason = reason;
        }
    }

    fn push_part(&mut self, part: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        if get(&part, FUNCTION_CALL).is_some_and(Value::is_object) {
            return self.push_call(part, events);
        }
        let text = part["text"].as_str().unwrap_or_default();
        let is_plain = is_plain_text(&part);
        if is_empty_text(&part) {
            return Ok(());
        }
        self.close(events);
        if !text.is_empty() {
            let is_thought = part["thought"] == true;
            let text = text.to_owned();
            events.push(if is_thought { ReplyEvent::Reasoning(text) } else { ReplyEvent::Text(text) });
        }
        // A signature is valid only for its own part, so other parts are not joined.
        match self.parts.last_mut() {
            Some(last) if is_plain && is_plain_text(last) && (last["thought"] == true) == (part["thought"] == true) => {
                if let Value::String(last) = &mut last["text"] {
                    last.push_str(text);
                }
            }
            _ => self.parts.push(part),
        }
        Ok(())
    }

    /// Adds a whole call, or a piece of one.
    fn push_call(&mut self, mut part: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let Some(call) = get_mut(&mut part, FUNCTION_CALL) else { return Ok(()) };
        let name = call["name"].as_str().unwrap_or_default().to_owned();
        let pieces = take(call, PARTIAL_ARGS);
        let will_continue = take(call, WILL_CONTINUE) == Some(Value::Bool(true));
        let is_empty = call.as_object().is_none_or(Map::is_empty);
        if self.open.is_some() && continues(self.parts.last(), call, &name) {
            self.extend_call(&mut part);
        } else {
            self.close(events);
            let is_whole = pieces.is_none() && !will_continue;
            if is_whole && is_empty {
                // The end of a call that has ended already.
                return Ok(());
            }
            self.start_call(part, name, is_whole, events);
        }
        if let (Some(open), Some(Value::Array(pieces))) = (&mut self.open, pieces) {
            for piece in pieces {
                open.push(&piece, &mut self.gaps_left).map_err(invalid_path)?;
            }
        }
        if !will_continue {
            self.close(events);
        }
        Ok(())
    }

    fn start_call(&mut self, mut part: Value, name: String, is_whole: bool, events: &mut Vec<ReplyEvent>) {
        let index = self.n_calls;
        self.n_calls += 1;
        events.push(ReplyEvent::CallStarted { index, name });
        if let Some(call) = get_mut(&mut part, FUNCTION_CALL) {
            if is_whole {
                let json = call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string);
                events.push(ReplyEvent::Arguments { index, json });
            } else {
                let mut open = PartialArgs::default();
                if let Some(Value::Object(args)) = call.as_object_mut().and_then(|call| call.remove("args")) {
                    open.extend(args);
                }
                self.open = Some(open);
            }
        }
        self.parts.push(part);
    }

    /// Adds the fields of a part to the call in the last part.
    fn extend_call(&mut self, part: &mut Value) {
        let (Some(last), Some(open)) = (self.parts.last_mut(), &mut self.open) else { return };
        let call = get_mut(part, FUNCTION_CALL);
        if let Some(Value::Object(args)) = call.and_then(|call| call.as_object_mut()?.remove("args")) {
            open.extend(args);
        }
        if let (None, Some(signature)) = (get(last, THOUGHT_SIGNATURE), take(part, THOUGHT_SIGNATURE)) {
            last["thoughtSignature"] = signature;
        }
    }

    /// Completes the call in the last part.
    fn close(&mut self, events: &mut Vec<ReplyEvent>) {
        let Some(open) = self.open.take() else { return };
        let (args, incomplete) = open.finish();
        let json = incomplete.clone().unwrap_or_else(|| args.to_string());
        events.push(ReplyEvent::Arguments { index: self.n_calls.saturating_sub(1), json });
        let call = self.parts.last_mut().and_then(|part| get_mut(part, FUNCTION_CALL)?.as_object_mut());
        call.and_then(|call| call.insert("args".to_owned(), incomplete.map_or(args, Value::from)));
    }
}

/// Returns true if a call is a piece of the one in the last part: it has no name, or repeats the id.
fn continues(last: Option<&Value>, call: &Value, name: &str) -> bool {
    let id = |call: &Value| call["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
    let last = last.and_then(|last| get(last, FUNCTION_CALL)).and_then(id);
    name.is_empty() || last.is_some_and(|last| id(call) == Some(last))
}

/// Returns true if a part is a text that is empty and has no signature. A request must not contain it.
pub(super) fn is_empty_text(part: &Value) -> bool {
    is_plain_text(part) && part["text"] == ""
}

fn is_plain_text(part: &Value) -> bool {
    let fields = part.as_object();
    part["text"].is_string() && fields.is_some_and(|fields| fields.keys().all(|key| key == "text" || key == "thought"))
}

fn invalid_path(path: String) -> InvalidReply {
    let path: String = path.chars().filter(|c| !c.is_control()).take(100).collect();
    InvalidReply::new(NAME, format!("the path `{path}` of an argument is invalid or too long"))
}

/// Adds the fields of a later chunk.
fn merge(object: &mut Map<String, Value>, fields: Value) {
    let Value::Object(fields) = fields else { return };
    for (name, value) in fields {
        match (object.get_mut(&name), value) {
            (_, Value::Null) => {}
            (Some(Value::Object(old)), new @ Value::Object(_)) => merge(old, new),
            (_, value) => {
                object.insert(name, value);
            }
        }
    }
}
