//! What happens during a call.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::call::{Progress, RunResult, ToolError};
use crate::tool::Text;

/// One event of a call: `{"kind", "toolId", "data"}` as JSON.
#[derive(Debug)]
#[non_exhaustive]
pub struct StreamEvent {
    /// The tool's id; where no tool was found, the name by which it was called.
    pub tool_id: Text,
    /// What happened.
    pub event: Event,
}

/// What happens during a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// How far the call has come.
    Progress(Progress),
    /// A part of the result: one item of the list that the tool returns.
    Chunk(Chunk),
    /// The call succeeded, and this is the whole result. Nothing comes after it.
    Done(RunResult),
    /// The call did not succeed. Nothing comes after it.
    Error(ToolError),
}

/// A part of a result, as JSON text.
#[derive(Clone, Debug)]
pub struct Chunk(Box<RawValue>);

impl Event {
    /// `progress`, `chunk`, `done` or `error`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Event::Progress(_) => "progress",
            Event::Chunk(_) => "chunk",
            Event::Done(_) => "done",
            Event::Error(_) => "error",
        }
    }

    /// Whether it is the last of its call.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Event::Done(_) | Event::Error(_))
    }
}

impl Chunk {
    /// Takes JSON text, which a backend has received.
    ///
    /// # Errors
    ///
    /// It is not JSON.
    pub fn from_json(json: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json).map(Self)
    }

    /// Its JSON text.
    #[must_use]
    pub fn json(&self) -> &str {
        self.0.get()
    }

    /// Its JSON as a tree.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_str(self.json()).unwrap_or_default()
    }
}

/// The data of the end is the structured result, or the message that a model may read.
impl Serialize for StreamEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.event.kind())?;
        if !self.tool_id.is_empty() {
            map.serialize_entry("toolId", &self.tool_id)?;
        }
        match &self.event {
            Event::Progress(progress) => map.serialize_entry("data", progress)?,
            Event::Chunk(chunk) => map.serialize_entry("data", &chunk.0)?,
            Event::Done(result) => {
                let data: Option<&RawValue> = result.json().and_then(|json| serde_json::from_slice(json).ok());
                if let Some(data) = data {
                    map.serialize_entry("data", data)?;
                }
            }
            Event::Error(error) => map.serialize_entry("data", error.message())?,
        }
        map.end()
    }
}
