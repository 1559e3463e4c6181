//! An API of a provider: its interface, what it has to implement about replies (`Format`), the forms of a reply's
//! body and the error of a reply.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Reply;
use super::answer::Item;
use super::assembly::Assembly;
use super::stream::ReplyStream;
use super::tool_call::Parsed;
use toolkit::catalog::ExportedNames;

/// An API of a provider, whose replies can be read and whose results can be written.
///
/// Each module of a provider has a constant for each of its APIs.
///
/// ```
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::reply::{Api, InvalidReply, Reply};
/// use toolkit_providers::{anthropic, openai};
///
/// fn read(provider: &str, body: &[u8], names: &ExportedNames) -> Result<Reply, InvalidReply> {
///     let api: Api = if provider == "openai" { openai::RESPONSES } else { anthropic::MESSAGES };
///     api.read(body, names)
/// }
///
/// let reply = read("openai", br#"{"output": []}"#, &ExportedNames::default())?;
/// assert_eq!(reply.api().name(), "OpenAI Responses");
/// # Ok::<(), InvalidReply>(())
/// ```
#[derive(Clone, Copy)]
pub struct Api(pub(crate) &'static dyn Format);

impl Api {
    /// Returns the name, such as `Anthropic Messages`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Reads a complete reply: the body of the response, without a stream. `names` are those of the export whose tools
    /// were sent with the request.
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON is not a reply of this API.
    pub fn read<'b>(self, body: impl Into<ReplyBody<'b>>, names: &ExportedNames) -> Result<Reply, InvalidReply> {
        let body = body.into().into_value();
        let body = body.map_err(|error| InvalidReply::new(self.name(), format!("not JSON: {error}")))?;
        self.read_assembled(Assembled::new(body, true), names)
    }

    /// Starts to read a streamed reply.
    #[must_use]
    pub fn stream(self, names: &ExportedNames) -> ReplyStream {
        ReplyStream::new(self, names.clone())
    }

    pub(super) fn read_assembled(self, body: Assembled, names: &ExportedNames) -> Result<Reply, InvalidReply> {
        let is_complete = body.is_complete;
        let mut parsed = self.0.read(body, names)?;
        if !is_complete || parsed.has_cut_call {
            parsed.truncate();
        }
        Ok(Reply { api: self, parsed: Arc::new(parsed), names: names.clone() })
    }
}

impl PartialEq for Api {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Api {}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Api({})", self.name())
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

// What an API defines about replies: one implementation for each.

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

    /// Returns the reply of a stream in the form that the API has without one. The arguments of a call may be JSON text
    /// where that has an object.
    fn assemble(&self, reply: Assembly) -> Result<Value, InvalidReply>;

    /// Reads a complete reply, or one that was assembled from a stream.
    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply>;

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

/// Creates an object. Unlike `json!`, it moves the values into it.
pub(crate) fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The JSON of a reply: text or a value.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::openai::RESPONSES;
///
/// let names = ExportedNames::default();
/// let text = RESPONSES.read(r#"{"output": []}"#, &names)?;
/// let value = RESPONSES.read(json!({ "output": [] }), &names)?;
/// assert_eq!(text.stop_reason(), value.stop_reason());
/// # Ok::<(), toolkit_providers::reply::InvalidReply>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReplyBody<'a> {
    /// JSON text, such as the body of an HTTP response.
    Json(&'a [u8]),
    /// A JSON value.
    Value(Value),
}

impl ReplyBody<'_> {
    pub(crate) fn into_value(self) -> Result<Value, serde_json::Error> {
        match self {
            Self::Json(json) => serde_json::from_slice(json),
            Self::Value(value) => Ok(value),
        }
    }
}

impl<'a> From<&'a [u8]> for ReplyBody<'a> {
    fn from(json: &'a [u8]) -> Self {
        Self::Json(json)
    }
}

impl<'a> From<&'a Vec<u8>> for ReplyBody<'a> {
    fn from(json: &'a Vec<u8>) -> Self {
        Self::Json(json)
    }
}

impl<'a> From<&'a str> for ReplyBody<'a> {
    fn from(json: &'a str) -> Self {
        Self::Json(json.as_bytes())
    }
}

impl<'a> From<&'a String> for ReplyBody<'a> {
    fn from(json: &'a String) -> Self {
        Self::Json(json.as_bytes())
    }
}

impl From<Value> for ReplyBody<'_> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<&Value> for ReplyBody<'_> {
    fn from(value: &Value) -> Self {
        Self::Value(value.clone())
    }
}

/// A part of a reply that arrived, for display.
///
/// Events are not complete calls: these are in the [`Reply`] that
/// [`ReplyStream::finish`](super::ReplyStream::finish) returns.
///
/// ```
/// use toolkit_providers::reply::ReplyEvent;
///
/// fn show(event: &ReplyEvent) -> String {
///     match event {
///         ReplyEvent::Text(text) => text.clone(),
///         ReplyEvent::CallStarted { name, .. } => format!("[{name}] "),
///         _ => String::new(),
///     }
/// }
///
/// assert_eq!(show(&ReplyEvent::CallStarted { index: 0, name: "add".to_owned() }), "[add] ");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyEvent {
    /// Text of the reply.
    Text(String),
    /// Text of the model's reasoning, if the provider shows it.
    Reasoning(String),
    /// A call begins.
    CallStarted {
        /// The number of calls that began before.
        index: usize,
        /// The name, as the model writes it.
        name: String,
    },
    /// More of the arguments of a call.
    Arguments {
        /// The index of the call.
        index: usize,
        /// A piece of JSON text.
        json: String,
    },
}

/// The error of a reply that cannot be read.
///
/// ```
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::anthropic::MESSAGES;
///
/// let error = MESSAGES.read(r#"{"choices": []}"#, &ExportedNames::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "not a reply of Anthropic Messages: it has no `content`; it looks like a reply of OpenAI Chat Completions"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidReply {
    api: &'static str,
    reason: String,
}

impl InvalidReply {
    pub(crate) fn new(api: &'static str, reason: impl Into<String>) -> Self {
        Self { api, reason: reason.into() }
    }

    /// Creates the error of JSON that is not a reply of an API, with the API that it may be from.
    pub(crate) fn unexpected(api: &'static str, expected: &str, json: &Value) -> Self {
        let error = json.pointer("/error/message").or_else(|| json.get("error")).or_else(|| json.get("message"));
        if let Some(message) = error.and_then(Value::as_str) {
            return Self::new(api, format!("the provider reports: {}", excerpt(message)));
        }
        match other_api(json) {
            Some(other) => Self::new(api, format!("it has no {expected}; it looks like a reply of {other}")),
            None => Self::new(api, format!("it has no {expected}")),
        }
    }
}

/// Returns the API that a reply seems to be from.
fn other_api(json: &Value) -> Option<&'static str> {
    let apis = [
        ("/content", "Anthropic Messages"),
        ("/choices", "OpenAI Chat Completions"),
        ("/output/message", "Bedrock Converse"),
        ("/output", "OpenAI Responses"),
        ("/candidates", "Gemini"),
        ("/outputs", "Mistral Conversations"),
        ("/steps", "Gemini Interactions"),
        ("/finish_reason", "Cohere"),
        ("/message", "Ollama"),
    ];
    apis.into_iter().find(|(pointer, _)| json.pointer(pointer).is_some()).map(|(_, api)| api)
}

fn excerpt(text: &str) -> String {
    let short: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect();
    short
}

impl fmt::Display for InvalidReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a reply of {}: {}", self.api, self.reason)
    }
}

impl std::error::Error for InvalidReply {}
