//! What an API defines about replies: one implementation for each.

use std::fmt;

use serde_json::{Map, Value};
use toolkit::catalog::ExportedNames;

use super::answer::Item;
use super::error::InvalidReply;
use super::event::ReplyEvent;
use super::parsed::Parsed;

/// The format of the replies and results of an API.
pub(crate) trait Format: fmt::Debug + Sync {
    /// Returns the name of the API.
    fn name(&self) -> &'static str;

    /// Returns the container of the events of a stream.
    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    /// Reads a complete reply, which may be one that [`Accumulate`] assembled.
    fn read(&self, body: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply>;

    /// Starts to assemble a reply from the events of a stream.
    fn accumulate(&self) -> Box<dyn Accumulate>;

    /// Writes the messages that contain the results.
    fn write(&self, items: &[Item<'_>]) -> Vec<Value>;
}

/// The container of the events of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`.
    ServerSentEvents,
    /// One JSON value in each line.
    Lines,
}

/// A complete reply.
#[derive(Debug)]
pub(crate) struct Assembled {
    /// The reply, in the form that the API has without a stream. Arguments may be JSON text where that has an object.
    pub(crate) body: Value,
    /// False if a stream ended before its last event.
    pub(crate) is_complete: bool,
}

impl Assembled {
    pub(crate) fn new(body: Value, is_complete: bool) -> Self {
        Self { body, is_complete }
    }
}

/// Assembles a complete reply from the events of a stream.
pub(crate) trait Accumulate: Send {
    /// Adds an event, and reports what it shows. Events of unknown types are ignored.
    fn push(&mut self, event: Value, events: &mut Vec<ReplyEvent>) -> Result<(), InvalidReply>;

    /// Notes the `[DONE]` that servers with the protocol of OpenAI send after the last event.
    fn end(&mut self) {}

    /// Returns the reply so far.
    fn finish(self: Box<Self>) -> Result<Assembled, InvalidReply>;
}

/// Returns a value if it is an object, or else an empty one, so that fields can be set.
pub(crate) fn object(value: Value) -> Value {
    if value.is_object() { value } else { Value::Object(Map::new()) }
}

/// Creates an object. Unlike `json!`, it moves the values into it.
pub(crate) fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Appends text to a field of an object, or sets it.
pub(crate) fn append(object: &mut Value, field: &str, text: &str) {
    match object.get_mut(field) {
        Some(Value::String(before)) => before.push_str(text),
        _ => object[field] = text.into(),
    }
}
