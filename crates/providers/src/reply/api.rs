//! An API of a provider, with the events and the error of its replies.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::Reply;
use super::body::ReplyBody;
use super::format::{Assembled, Format};
use super::stream::ReplyStream;
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
        let body = body.map_err(|error| InvalidReply::not_json(self.name(), "the body", error))?;
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
#[derive(Clone, Debug)]
pub struct InvalidReply {
    api: &'static str,
    reason: String,
    source: Option<Arc<serde_json::Error>>,
}

impl InvalidReply {
    pub(crate) fn new(api: &'static str, reason: impl Into<String>) -> Self {
        Self { api, reason: reason.into(), source: None }
    }

    /// Creates the error of a body or an event that is not JSON.
    pub(super) fn not_json(api: &'static str, what: &str, error: serde_json::Error) -> Self {
        Self { api, reason: format!("{what} is not JSON: {error}"), source: Some(Arc::new(error)) }
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

impl std::error::Error for InvalidReply {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|error| error as &(dyn std::error::Error + 'static))
    }
}
