//! Calls from the fragments of a stream.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::content::add_fields;
use crate::reply::{ReplyEvent, append};

/// The calls of which some fragments have arrived, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
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
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds a fragment.
    pub(super) fn add(&mut self, mut fragment: Value, events: &mut Vec<ReplyEvent>) {
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
    pub(super) fn finish(self) -> Vec<Value> {
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
