//! Failures of requests, and what they tell about the server.

#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::Response;
use serde_json::Value;
use tokio::time::timeout;
use toolkit_mcp::Code;
use toolkit_runtime::{media_type, retry_after};

use super::authorizer::AuthorizationError;
use super::incoming::{self, Messages};
use super::raw::Raw;
use super::redaction::Redaction;

/// The failure of a request.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server has answered with an error.
    Rpc(ServerError),
    /// The HTTP response is not a message of the protocol.
    Status(HttpFailure),
    /// The server requires other credentials, as this challenge states.
    Challenge(StatusCode, String),
    /// There is no token for the request, which was not sent.
    Authorization(AuthorizationError),
    /// The response has more than this number of bytes.
    TooLarge(usize),
    /// The response is not the answer to the request, for this reason.
    Invalid(String),
    /// The connection of the HTTP client has failed.
    Client(reqwest::Error),
    /// The pipe to the process has failed.
    Pipe(io::Error),
    /// The session has ended before the request was sent.
    SessionEnded,
    /// The session was lost, and the request may have run in it.
    SessionLost,
    /// The server has refused to start another session.
    NotInitialized(ServerError),
    /// The connection has ended before the answer.
    Closed,
}

/// The error in an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ServerError {
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl ServerError {
    /// Reads an error. Servers send codes of any size, and errors that are only a text.
    pub(super) fn read(error: &Raw) -> Self {
        let error: Value = match error.parse() {
            Ok(error) => error,
            Err(error) => return Self { code: UNREADABLE, message: unreadable(&error), data: None },
        };
        let (code, message) = (&error["code"], &error["message"]);
        let code = code.as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(Code::Internal as i32);
        let message = match (message, &error) {
            (Value::String(text), _) | (Value::Null, Value::String(text)) => text.clone(),
            (Value::Null, Value::Object(_) | Value::Null) => String::new(),
            (Value::Null, other) | (other, _) => other.to_string(),
        };
        Self { code, message, data: error.get("data").filter(|data| !data.is_null()).cloned() }
    }

    pub(super) fn has_code(&self, code: Code) -> bool {
        self.code == code as i32
    }

    /// Returns true for an error that the protocol defines for requests, so that its code has a meaning whatever its HTTP
    /// status is.
    pub(super) fn is_defined(&self) -> bool {
        [
            Code::MethodNotFound,
            Code::InvalidParams,
            Code::HeaderMismatch,
            Code::MissingClientCapability,
            Code::UnsupportedVersion,
        ]
        .iter()
        .any(|code| self.has_code(*code))
    }
}

/// The code of an error that cannot be read. It is not a code of the protocol.
pub(super) const UNREADABLE: i32 = i32::MIN;

/// Returns the reason why a text cannot be read.
pub(super) fn unreadable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.starts_with("recursion limit exceeded") {
        true => "it is nested deeper than 127 levels".to_owned(),
        false => format!("it is not JSON: {text}"),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rpc(error) => write!(f, "error {}: {}", error.code, error.message),
            Self::Invalid(reason) => f.write_str(reason),
            Self::Status(failure) => failure.fmt(f),
            Self::Challenge(status, challenge) => write!(f, "status {}: {challenge}", status.as_u16()),
            Self::Authorization(error) => error.fmt(f),
            Self::TooLarge(max) => write!(f, "the response has more than {max} bytes"),
            Self::Client(error) => error.fmt(f),
            Self::Pipe(error) => error.fmt(f),
            Self::SessionEnded => f.write_str("the session has ended"),
            Self::SessionLost => f.write_str("the session was lost"),
            Self::NotInitialized(error) => write!(f, "no new session: error {}: {}", error.code, error.message),
            Self::Closed => f.write_str("the connection has ended"),
        }
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Client(error) => error.source(),
            Self::Pipe(error) => error.source(),
            _ => None,
        }
    }
}

/// The state of a server after a failure over HTTP.
pub(super) enum Reach {
    /// It responds, or was not sent the request.
    Responds,
    /// It may have rejected only this request, or something else may have responded in its place.
    Unknown,
    /// It cannot be reached on this connection.
    Lost,
}

impl Failure {
    /// Replaces secrets in the texts of the server.
    pub(super) fn without(mut self, secrets: &Redaction) -> Self {
        let hide = |text: &mut String| secrets.apply(text);
        match &mut self {
            Self::Rpc(error) | Self::NotInitialized(error) => {
                hide(&mut error.message);
                error.data.iter_mut().for_each(|data| each_text(data, &hide));
            }
            Self::Status(failure) => failure.text.iter_mut().for_each(hide),
            Self::Challenge(_, text) | Self::Invalid(text) => hide(text),
            _ => {}
        }
        self
    }

    /// Returns the state of a server that is reached over HTTP.
    pub(super) fn reach(&self) -> Reach {
        match self {
            Self::Rpc(_) | Self::Authorization(_) | Self::TooLarge(_) => Reach::Responds,
            Self::Status(failure) if matches!(failure.status.as_u16(), 408 | 413 | 429) => Reach::Responds,
            // A response that ended too early; the server may go on.
            Self::Status(_) | Self::Challenge(..) | Self::Invalid(_) | Self::Closed => Reach::Unknown,
            Self::Client(_) | Self::Pipe(_) | Self::SessionEnded | Self::SessionLost | Self::NotInitialized(_) => {
                Reach::Lost
            }
        }
    }
}

/// Changes the strings in a value, apart from keys.
fn each_text(value: &mut Value, change: &dyn Fn(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_text(field, change)),
        _ => {}
    }
}

/// The maximum size of the body of an error response.
const MAX_BYTES: usize = 64 << 10;

/// The time that the body of an error response may take. The status suffices to end the request.
const BODY_TIMEOUT: Duration = Duration::from_millis(500);

/// An HTTP response that ends a request without a message of the protocol.
#[derive(Debug)]
pub(super) struct HttpFailure {
    pub(super) status: StatusCode,
    /// The header `Retry-After`.
    pub(super) retry_after: Option<Duration>,
    /// The text of the server.
    pub(super) text: Option<String>,
}

impl HttpFailure {
    /// Creates the failure of a response without a body.
    pub(super) fn of_status(status: StatusCode) -> Self {
        Self { status, retry_after: None, text: None }
    }

    /// Reads an error response. Also returns the messages in its body.
    pub(super) async fn read(mut response: Response) -> (Self, Messages) {
        let (status, is_html) = (response.status(), has_html(&response));
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| retry_after(value.to_str().ok()?));
        let mut body = Vec::new();
        let reading = async {
            while let Ok(Some(chunk)) = response.chunk().await {
                body.extend_from_slice(&chunk[..chunk.len().min(MAX_BYTES - body.len())]);
                if body.len() == MAX_BYTES {
                    break;
                }
            }
        };
        let _ = timeout(BODY_TIMEOUT, reading).await;
        let messages = incoming::read(body.clone().into()).await;
        let error = messages.messages.iter().find_map(|message| message.error.as_ref());
        let text = match error {
            Some(error) => ServerError::read(error).message,
            // The page is written for people.
            None if is_html => String::new(),
            None => String::from_utf8_lossy(&body).trim().to_owned(),
        };
        let text = (!text.is_empty()).then_some(text);
        (Self { status, retry_after, text }, messages)
    }

    /// Returns true if the server, or a gateway in front of it, is too busy or too slow, so that its text is not the
    /// response to the request.
    pub(super) fn is_busy(&self) -> bool {
        self.retry_after.is_some() || matches!(self.status.as_u16(), 429 | 502 | 503 | 504)
    }

    /// Returns true if the server rejects the credentials of the request.
    pub(super) fn is_unauthorized(&self) -> bool {
        matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
    }
}

/// A phrase that completes "The server …".
impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "responded with status {}", self.status.as_u16())?;
        if let Some(after) = self.retry_after {
            write!(f, " (retry after {after:?})")?;
        }
        match &self.text {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

fn has_html(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| media_type(kind).eq_ignore_ascii_case("text/html"))
}
