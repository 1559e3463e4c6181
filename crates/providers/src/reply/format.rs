//! What a provider implements about the replies and results of an API.

use std::fmt;

use serde_json::{Map, Value};

use super::answer::ResultItem;
use super::assembly::{Assembly, field_mut};
use super::framing::Framing;
use super::invalid_reply::InvalidReply;
use super::parsed::Parsed;
use super::usage::UsageFields;
use toolkit::catalog::ExportedNames;

/// The format of the replies and results of an API.
pub(crate) trait Format: fmt::Debug + Sync {
    /// Returns the name of the API.
    fn name(&self) -> &'static str;

    /// Returns the container of the events of a stream.
    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    /// Adds an event of a stream to a reply. Events of unknown types are ignored.
    fn add(&self, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply>;

    /// Notes the `[DONE]` that servers with the protocol of OpenAI send after the last event.
    fn end(&self, _reply: &mut Assembly) {}

    /// Returns the place of the blocks in a reply that is a list of them.
    fn blocks(&self) -> &'static [&'static str] {
        &["content"]
    }

    /// Returns the reply of a stream in the form that the API has without one. The arguments of a call may be JSON text
    /// where that has an object.
    fn assemble(&self, mut reply: Assembly) -> Value {
        *field_mut(&mut reply.body, self.blocks()) = reply.take_blocks().collect();
        reply.body
    }

    /// Reads a complete reply, or one that was assembled from a stream.
    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply>;

    /// Returns where the metadata of a reply has the numbers of tokens.
    fn usage(&self) -> &'static UsageFields {
        &UsageFields::CHAT
    }

    /// Writes the messages that contain the results.
    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value>;
}

/// A complete reply.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) body: Value,
    /// False if a stream ended before its last event.
    pub(crate) is_complete: bool,
}

impl Assembled {
    pub(crate) fn new(body: Value, is_complete: bool) -> Self {
        Self { body, is_complete }
    }
}

/// Returns a value if it is an object, or else an empty one, so that fields can be set.
pub(crate) fn object(value: Value) -> Value {
    if value.is_object() { value } else { Value::Object(Map::new()) }
}

/// Removes the items at the end of a message with which it must not end.
pub(crate) fn remove_end(items: &mut Vec<Value>, must_not_end: impl Fn(&Value) -> bool) {
    items.truncate(items.iter().rposition(|item| !must_not_end(item)).map_or(0, |last| last + 1));
}

/// Creates an object. Unlike `json!`, it moves the values into it.
pub(crate) fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
