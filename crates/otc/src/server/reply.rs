//! Conversion of outcomes and of rejected requests into responses.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit::schema::pointer::tokens;
use toolkit::{Content, RunResult, ToolError};
use toolkit_runtime::{Body, json_response};

use crate::wire::{CallError, ErrorBody, SCHEMA};

/// The response to a call.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// The tool ran. `result` is JSON.
    Ran { succeeded: bool, result: Bytes },
    /// The tool did not run.
    Rejected(Rejection),
}

/// The id and the start of a call.
#[derive(Clone, Debug)]
pub(super) struct Started {
    pub(super) call_id: String,
    pub(super) at: Instant,
    /// The maximum size of a response.
    pub(super) max_bytes: usize,
}

impl Started {
    /// Creates the response to a call of the tool with this name in the dispatcher.
    pub(super) fn reply(&self, name: &str, outcome: Result<RunResult, ToolError>) -> Reply {
        match outcome {
            Ok(result) => self.succeeded(result),
            Err(error) => match rejection(name, &error) {
                Some(rejection) => Reply::Rejected(rejection),
                None => self.failed(&error_body(&error)),
            },
        }
    }

    fn succeeded(&self, result: RunResult) -> Reply {
        let value = match result.json() {
            Some(_) => result.into_json(),
            None => of_content(&result.content()),
        };
        if value.len() > self.max_bytes {
            let message = format!("the result has {} bytes, more than the limit of {}", value.len(), self.max_bytes);
            return self.failed(&CallError { message, ..CallError::default() });
        }
        let (call_id, duration) = (json!(self.call_id), self.duration());
        let mut body = format!(r#"{{"call_id":{call_id},"duration":{duration},"success":true,"value":"#).into_bytes();
        body.extend_from_slice(&value);
        body.push(b'}');
        Reply::Ran { succeeded: true, result: body.into() }
    }

    /// Creates the response to a call that exceeded the timeout.
    pub(super) fn timed_out(&self, limit: Duration) -> Reply {
        let message = format!("the call took longer than {limit:?}");
        self.failed(&CallError { message, can_retry: true, ..CallError::default() })
    }

    fn failed(&self, error: &CallError) -> Reply {
        let (call_id, duration) = (&self.call_id, self.duration());
        let result = json!({ "call_id": call_id, "duration": duration, "success": false, "error": error });
        Reply::Ran { succeeded: false, result: result.to_string().into() }
    }

    /// Returns the time since the start, in milliseconds.
    fn duration(&self) -> u64 {
        u64::try_from(self.at.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Returns the parts of an error that a model may read, without its cause.
fn error_body(error: &ToolError) -> CallError {
    let texts: Vec<&str> = error.content().iter().filter_map(Content::as_text).collect();
    let retry_after = error.retry_after().map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
    CallError {
        message: error.message().to_owned(),
        developer_message: None,
        can_retry: error.is_retryable(),
        additional_prompt_content: (!texts.is_empty()).then(|| texts.join("\n")),
        retry_after_ms: retry_after.map(Into::into),
    }
}

/// Creates the rejection for a call that did not reach the tool, or `None` if the tool itself failed.
fn rejection(name: &str, error: &ToolError) -> Option<Rejection> {
    // An error of another tool was passed on by this tool, so this tool ran.
    if error.tool().is_some_and(|tool| tool != name) {
        return None;
    }
    let message = error.message();
    match error.kind() {
        ErrorKind::UnknownTool | ErrorKind::AmbiguousTool | ErrorKind::NoBackend => {
            Some(Rejection::bad_request(message))
        }
        ErrorKind::MissingRequirements => {
            Some(Rejection::bad_request(message).with(|body| body.missing_requirements = Some(error.missing().into())))
        }
        ErrorKind::Overloaded => Some(Rejection::busy(message)),
        ErrorKind::InvalidArguments | ErrorKind::MalformedJson | ErrorKind::TooLarge => {
            let mut parameter_errors = BTreeMap::new();
            for violation in error.violations() {
                let name = tokens(&violation.pointer).next().unwrap_or_default().into_owned();
                let text: &mut String = parameter_errors.entry(name).or_default();
                let separator = if text.is_empty() { "" } else { "; " };
                text.push_str(separator);
                text.push_str(&violation.to_string());
            }
            let rejection = Rejection::new(StatusCode::UNPROCESSABLE_ENTITY, message);
            Some(rejection.with(|body| body.parameter_errors = parameter_errors))
        }
        _ => None,
    }
}

/// Returns the result of a tool that returns only content: its text if all blocks are text, or else the blocks.
fn of_content(content: &[Content]) -> Vec<u8> {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    let value = match content {
        [] => json!(null),
        _ if texts.len() == content.len() => json!(texts.join("\n")),
        blocks => json!(blocks),
    };
    value.to_string().into_bytes()
}

impl Reply {
    /// Returns true if repeated calls must get this response, since the tool ran.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Reply::Ran { .. })
    }

    /// Returns the approximate size of the response in memory.
    pub(super) fn size(&self) -> usize {
        match self {
            Reply::Ran { result, .. } => result.len(),
            Reply::Rejected(_) => 0,
        }
    }

    pub(super) fn into_response(self) -> Response<Body> {
        match self {
            Reply::Ran { result, .. } => {
                let mut body = format!(r#"{{"$schema":"{SCHEMA}","result":"#).into_bytes();
                body.extend_from_slice(&result);
                body.push(b'}');
                json_response(StatusCode::OK, body)
            }
            Reply::Rejected(rejection) => rejection.into_response(),
        }
    }
}

/// A response to a rejected request.
#[derive(Clone, Debug)]
pub(super) struct Rejection(Box<Repr>);

#[derive(Clone, Debug)]
struct Repr {
    status: StatusCode,
    body: ErrorBody,
    retry_after: Option<u64>,
}

impl Rejection {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let body = ErrorBody { schema: Some(SCHEMA.to_owned()), message: message.into(), ..ErrorBody::default() };
        Self(Box::new(Repr { status, body, retry_after: None }))
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn not_ready() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is not ready; try again later").retry_after(1)
    }

    /// Creates a `503` that can be retried.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).retry_after(1)
    }

    pub(super) fn developer_message(mut self, message: impl Into<String>) -> Self {
        self.0.body.developer_message = Some(message.into());
        self
    }

    /// Changes further fields of the body.
    pub(super) fn with(mut self, change: impl FnOnce(&mut ErrorBody)) -> Self {
        change(&mut self.0.body);
        self
    }

    pub(super) fn message(&self) -> &str {
        &self.0.body.message
    }

    /// Sets `Retry-After`, in seconds.
    fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let Repr { status, body, retry_after } = *self.0;
        let mut response = json_response(status, serde_json::to_vec(&body).unwrap_or_default());
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<toolkit_runtime::Rejection> for Rejection {
    fn from(rejection: toolkit_runtime::Rejection) -> Self {
        match rejection.status() {
            StatusCode::SERVICE_UNAVAILABLE => Self::busy(rejection.to_string()),
            status => Self::new(status, rejection.to_string()),
        }
    }
}
