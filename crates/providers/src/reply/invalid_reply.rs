//! The error of a reply that cannot be read.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

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

    /// Creates the error of a response with a status and a body.
    pub(super) fn status(api: &'static str, status: u16, body: &[u8]) -> Self {
        let json = serde_json::from_slice::<Value>(body).unwrap_or_default();
        let text = String::from_utf8_lossy(body);
        let message = error_message(&json).unwrap_or(&text);
        Self::new(api, format!("the server responded with status {status}: {}", excerpt(message)))
    }

    /// Returns true if the JSON ends early.
    pub(crate) fn is_cut(&self) -> bool {
        self.source.as_ref().is_some_and(|error| error.is_eof())
    }

    /// Creates the error of JSON that is not a reply of an API, with the API that it may be from.
    pub(crate) fn unexpected(api: &'static str, expected: &str, json: &Value) -> Self {
        if let Some(message) = error_message(json) {
            return Self::new(api, format!("the provider reports: {}", excerpt(message)));
        }
        match other_api(json) {
            Some(other) => Self::new(api, format!("it has no {expected}; it looks like a reply of {other}")),
            None => Self::new(api, format!("it has no {expected}")),
        }
    }
}

/// Returns the message of an error of a provider.
fn error_message(json: &Value) -> Option<&str> {
    // Gemini's streams have a list with the error.
    let json = json.get(0).unwrap_or(json);
    let error = json.pointer("/error/message").or_else(|| json.get("error")).or_else(|| json.get("message"));
    error.and_then(Value::as_str)
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
