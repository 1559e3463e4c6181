//! A completion from the chunks of its stream: its calls from fragments, and their arguments.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::chat::{add_content, add_details, add_fields, error_message, show_reasoning, stop_of};
use crate::reply::{Accumulate, Assembled, InvalidReply, ReplyEvent, append, keep_stop};

/// A completion of which some chunks have arrived. Only its first choice is read.
#[derive(Debug)]
pub(crate) struct Completion {
    api: &'static str,
    body: Value,
    /// The fields of the choice, without its message.
    choice: Value,
    message: Value,
    calls: Calls,
    has_choice: bool,
    is_complete: bool,
}

impl Completion {
    pub(crate) fn new(api: &'static str) -> Self {
        Self {
            api,
            body: json!({ "object": "chat.completion" }),
            choice: json!({ "index": 0 }),
            message: json!({}),
            calls: Calls::default(),
            has_choice: false,
            is_complete: false,
        }
    }

    fn add_choice(&mut self, mut choice: Value, events: &mut Vec<ReplyEvent>) {
        self.has_choice = true;
        let reason = choice["finish_reason"].as_str().filter(|reason| *reason != "null");
        self.is_complete |= reason.is_some_and(|reason| !reason.is_empty());
        let Value::Object(fields) = &mut choice else { return };
        keep_stop(self.choice.get("finish_reason"), fields, "finish_reason", stop_of);
        let delta = fields.remove("delta").filter(Value::is_object);
        // Some servers send a message as a whole. MiniMax repeats it after its parts.
        let message = fields.remove("message").filter(|_| !self.has_message());
        add_fields(&mut self.choice, choice, &[]);
        if let Some(delta) = delta.or(message) {
            self.add_delta(delta, events);
        }
    }

    fn has_message(&self) -> bool {
        self.message.as_object().is_some_and(|message| !message.is_empty()) || !self.calls.is_empty()
    }

    fn add_delta(&mut self, delta: Value, events: &mut Vec<ReplyEvent>) {
        show_reasoning(&delta, events);
        let Value::Object(fields) = delta else { return };
        for (field, value) in fields {
            match (field.as_str(), value) {
                // Padding of a chunk, and the part of the message that the chunk is from.
                ("obfuscation" | "padding" | "p" | "index" | "channel", _) | (_, Value::Null) => {}
                ("content", value) => add_content(&mut self.message, value, events),
                ("tool_calls", Value::Array(fragments)) => {
                    fragments.into_iter().for_each(|fragment| self.calls.add(fragment, events));
                }
                ("reasoning_content" | "reasoning" | "thinking" | "refusal", Value::String(text)) => {
                    append(&mut self.message, &field, &text);
                }
                ("reasoning_details", value) => add_details(&mut self.message, value),
                (_, value) => {
                    let fields = Value::Object([(field, value)].into_iter().collect());
                    // The texts of `audio`.
                    add_fields(&mut self.message, fields, &["data", "transcript"]);
                }
            }
        }
    }
}

impl Accumulate for Completion {
    fn push(&mut self, mut event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply> {
        let is_error = event["object"] == "error" || error_message(&event["error"]).is_some();
        if is_error && !self.has_choice && event.get("choices").is_none() {
            return Err(InvalidReply::unexpected(self.api, "`choices`", &event));
        }
        if event["object"] == "error" {
            self.body["error"] = event;
            return Ok(());
        }
        let Value::Object(fields) = &mut event else { return Ok(()) };
        if let Some(Value::Array(choices)) = fields.remove("choices") {
            for (position, choice) in choices.into_iter().enumerate() {
                let is_first = choice["index"].as_u64().map_or(position == 0, |index| index == 0);
                if is_first {
                    self.add_choice(choice, events);
                }
            }
        }
        for (field, value) in std::mem::take(fields) {
            let is_padding = matches!(field.as_str(), "object" | "obfuscation" | "p");
            if !is_padding && !value.is_null() && value != "" {
                self.body[&field] = value;
            }
        }
        Ok(())
    }

    /// The `[DONE]` is the end also if no chunk states the reason, as in a body without one.
    fn end(&mut self) {
        self.is_complete = true;
    }

    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply> {
        let Self { api, mut body, mut choice, mut message, calls, has_choice, is_complete, .. } = *self;
        if !has_choice {
            return Err(InvalidReply::new(api, "the stream has no `choices`"));
        }
        let calls = calls.finish();
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        choice["message"] = message;
        body["choices"] = Value::Array(vec![choice]);
        Ok(Assembled::new(body, is_complete))
    }
}

// Calls from the fragments of a stream.

/// The calls of which some fragments have arrived, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    /// The latest call of each index.
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
}

/// A call of which some fragments have arrived.
#[derive(Debug)]
pub(super) struct Call {
    /// The number of calls that began before.
    place: usize,
    /// The fields of the call except its function.
    json: Value,
    function: Value,
    arguments: Arguments,
    is_shown: bool,
}

impl Calls {
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds a fragment.
    pub(crate) fn add(&mut self, mut fragment: Value, events: &mut Vec<ReplyEvent>) {
        let Value::Object(fields) = &mut fragment else { return };
        let index = fields.remove("index").and_then(|index| index.as_u64());
        let function = fields.remove("function").unwrap_or_default();
        let body = if function.is_object() { &function } else { &fragment["custom"] };
        let place = self.place(index, &fragment["id"], body);
        if let Some(index) = index {
            self.by_index.insert(index, place);
        }
        if let Some(id) = text(&fragment["id"]) {
            self.by_id.insert(id.to_owned(), place);
        }
        let call = &mut self.calls[place];
        if text(&fragment["id"]).is_some() && text(&call.json["id"]).is_some() {
            fragment["id"] = Value::Null;
        }
        if fragment["type"] == "" {
            fragment["type"] = Value::Null;
        }
        add_fields(&mut call.json, fragment, &["input"]);
        call.add_function(function, events);
        call.show(events);
    }

    /// Returns the place of the call that a fragment belongs to.
    ///
    /// Servers disagree about the index: some omit it, some count from 1, and some have the same for all calls.
    fn place(&mut self, index: Option<u64>, id: &Value, function: &Value) -> usize {
        let id = text(id);
        let known = match (index, id) {
            (Some(index), _) => self.by_index.get(&index).copied(),
            (None, Some(id)) => self.by_id.get(id).copied(),
            (None, None) => self.calls.len().checked_sub(1),
        };
        let is_continued = |place: &usize| !self.calls[*place].is_followed_by(index, id, function);
        known.filter(is_continued).unwrap_or_else(|| {
            self.calls.push(Call::new(self.calls.len()));
            self.calls.len() - 1
        })
    }

    /// Returns the calls, without those of which nothing but an id has arrived.
    pub(crate) fn finish(self) -> Vec<Value> {
        self.calls.into_iter().filter_map(Call::into_call).collect()
    }
}

impl Call {
    pub(super) fn new(place: usize) -> Self {
        Self { place, json: json!({}), function: json!({}), arguments: Arguments::Absent, is_shown: false }
    }

    /// Returns true if a fragment that could belong to this call begins another one.
    fn is_followed_by(&self, index: Option<u64>, id: Option<&str>, function: &Value) -> bool {
        let own_id = text(&self.json["id"]);
        let (Some(name), own_name) = (text(&function["name"]), text(&self.function["name"])) else { return false };
        match (own_id, id) {
            (Some(own_id), Some(id)) if own_id != id => return true,
            // The call as a whole after its fragments.
            (Some(_), Some(_)) if self.arguments.is_same(&function["arguments"]) => return false,
            _ => {}
        }
        let begins_object = match &function["arguments"] {
            Value::String(text) => text.trim_ascii_start().starts_with('{'),
            arguments => arguments.is_object(),
        };
        // A name can come in pieces, before the arguments.
        let is_same_call = if id.is_some() { id == own_id } else { index.is_some() };
        let is_piece = is_same_call && self.arguments.is_empty();
        let is_other = own_name != Some(name) && !is_piece;
        own_name.is_some() && (is_other || self.arguments.is_closed() && begins_object)
    }

    /// Adds a fragment of the function.
    pub(super) fn add_function(&mut self, function: Value, events: &mut Vec<ReplyEvent>) {
        let Value::Object(mut fields) = function else { return };
        match fields.remove("name") {
            // Some servers repeat the name.
            Some(Value::String(name)) if self.function["name"] != name => append(&mut self.function, "name", &name),
            _ => {}
        }
        let arguments = fields.remove("arguments").unwrap_or_default();
        add_fields(&mut self.function, Value::Object(fields), &[]);
        self.show(events);
        let json = match &arguments {
            Value::String(text) => text.clone(),
            Value::Null => return,
            value => value.to_string(),
        };
        if self.arguments.is_closed() && self.arguments.is_same(&arguments) {
            return;
        }
        self.arguments.add(arguments);
        if self.is_shown && !json.is_empty() {
            events.push(ReplyEvent::Arguments { index: self.place, json });
        }
    }

    /// Reports the start of the call when its name has arrived.
    fn show(&mut self, events: &mut Vec<ReplyEvent>) {
        let name = text(&self.function["name"]).or_else(|| text(&self.json["custom"]["name"]));
        if let Some(name) = name.filter(|_| !self.is_shown) {
            events.push(ReplyEvent::CallStarted { index: self.place, name: name.to_owned() });
            self.is_shown = true;
        }
    }

    /// Returns the function as a complete reply contains it.
    pub(super) fn into_function(self) -> Value {
        let mut function = self.function;
        match self.arguments {
            Arguments::Absent => {}
            Arguments::Text(text, _) => function["arguments"] = text.into(),
            Arguments::Value(value) => function["arguments"] = value,
        }
        function
    }

    fn into_call(mut self) -> Option<Value> {
        let mut json = self.json.take();
        let function = self.into_function();
        let is_custom = text(&json["custom"]["name"]).is_some();
        if !is_custom && text(&function["name"]).is_none() && text(&function["arguments"]).is_none() {
            return None;
        }
        if !is_custom {
            json["function"] = function;
        }
        Some(json)
    }
}

/// Returns a text that is not empty. Mistral's client reads an absent id as `null`.
fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !matches!(*text, "" | "null"))
}

// The arguments of a call from the fragments of a stream.

/// The arguments of a call of which some fragments have arrived.
#[derive(Debug, Default)]
pub(super) enum Arguments {
    #[default]
    Absent,
    Text(String, Nesting),
    /// A value instead of JSON text.
    Value(Value),
}

/// The nesting of the JSON text that has arrived, which is known without parsing it again for each fragment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    is_closed: bool,
}

impl Arguments {
    /// Adds a fragment.
    pub(super) fn add(&mut self, piece: Value) {
        match (&mut *self, piece) {
            (Self::Text(text, nesting), Value::String(piece)) => {
                text.push_str(&piece);
                piece.bytes().for_each(|byte| nesting.add(byte));
            }
            (Self::Absent, Value::String(piece)) => {
                let mut nesting = Nesting::default();
                piece.bytes().for_each(|byte| nesting.add(byte));
                *self = Self::Text(piece, nesting);
            }
            (Self::Value(_), Value::String(piece)) if piece.is_empty() => {}
            (Self::Absent, value) => *self = Self::Value(value),
            (Self::Text(text, _), value) if text.is_empty() => *self = Self::Value(value),
            // A mixture is not JSON, and becomes an error that the model can read.
            (Self::Text(text, _), value) => text.push_str(&value.to_string()),
            (Self::Value(value), piece) => {
                let mixture = value.to_string() + piece.as_str().unwrap_or("{}");
                *self = Self::Text(mixture, Nesting::default());
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Text(text, _) => text.is_empty(),
            Self::Value(_) => false,
        }
    }

    /// Returns true if the arguments are complete.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Text(_, nesting) => nesting.is_closed,
            Self::Value(_) => true,
        }
    }

    /// Returns true if a fragment repeats the arguments.
    pub(super) fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Self::Text(text, _), Value::String(other)) => text == other,
            (Self::Value(value), other) => value == other,
            _ => false,
        }
    }
}

impl Nesting {
    fn add(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_in_string => self.is_escaped = true,
            b'"' => self.is_in_string = !self.is_in_string,
            _ if self.is_in_string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_closed |= self.depth == 0;
            }
            _ => {}
        }
    }
}
