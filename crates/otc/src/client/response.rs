//! Conversion of responses, also of those that are server-sent events (WHATWG HTML, 9.2).

use std::time::Duration;

use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::Number;
use serde_json::value::RawValue;
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::{ErrorKind, Progress};
use toolkit::schema::{Violation, child};
use toolkit::stream::Chunk;
use toolkit::{Content, ToolError};
use toolkit_runtime::{EventReader, EventTooLong};

use crate::client::http::{Endpoint, Loss};
use crate::wire::{CallError, CallResult, ErrorBody, ResponseMessage};

/// The length in characters to which a text of the server is truncated.
const MAX_TEXT: usize = 16 << 10;
/// The maximum number of parameter errors that are read.
const MAX_PARAMETERS: usize = 256;

/// Converts a response with status 200.
pub(super) fn read_message(endpoint: &Endpoint, body: &[u8]) -> Result<BackendResponse, ToolError> {
    let message: ResponseMessage<'_> = serde_json::from_slice(body)
        .map_err(|error| endpoint.invalid_response("with an invalid result").caused_by(error))?;
    read_result(endpoint, message.result)
}

pub(super) fn read_result(endpoint: &Endpoint, result: CallResult<'_>) -> Result<BackendResponse, ToolError> {
    match (result.success, result.error) {
        (true, None) => Ok(BackendResponse::Json(result.value.map_or("null", |value| value.get()).as_bytes().to_vec())),
        (false, Some(error)) => Err(failed(error)),
        (true, Some(_)) => Err(endpoint.invalid_response("with both a success and an error")),
        (false, None) => Err(ToolError::failed("the tool failed without a message")),
    }
}

/// Converts the error of a tool. The message for developers becomes the cause, which the model does not read.
fn failed(error: CallError) -> ToolError {
    let message = match error.message.trim() {
        "" => "the tool failed without a message".to_owned(),
        _ => cut(&error.message),
    };
    let mut failed = ToolError::failed(message);
    if let Some(content) = &error.additional_prompt_content {
        failed = failed.with_content([Content::text(cut(content))]);
    }
    if let Some(developer_message) = &error.developer_message {
        failed = failed.caused_by(cut(developer_message));
    }
    match error.can_retry {
        true => failed.retryable(error.retry_after_ms.and_then(|after| millis(&after))),
        false => failed,
    }
}

/// Converts milliseconds, which may have a fraction.
fn millis(number: &Number) -> Option<Duration> {
    let millis =
        number.as_u64().or_else(|| number.as_f64().filter(|millis| *millis >= 0.0).map(|millis| millis as u64));
    millis.map(Duration::from_millis)
}

/// Converts a response with another status.
pub(super) fn rejection(
    endpoint: &Endpoint,
    loss: Loss,
    status: StatusCode,
    retry_after: Option<Duration>,
    body: &[u8],
) -> ToolError {
    let body: Option<ErrorBody> = serde_json::from_slice(body).ok();
    let detail = body.as_ref().map(|body| cut(&body.message)).filter(|message| !message.trim().is_empty());
    let detail = detail.map(|message| format!(": {message}")).unwrap_or_default();
    let error = |kind, what: &str| ToolError::new(kind, format!("{endpoint} {what}{detail}"));
    let error = match (status, body.as_ref()) {
        (StatusCode::BAD_REQUEST, Some(ErrorBody { missing_requirements: Some(missing), .. })) => {
            let links: Vec<Content> = missing
                .authorization
                .iter()
                .filter_map(|missing| {
                    let url = missing.url.as_ref()?;
                    Some(Content::resource_link(cut(url), format!("authorize {}", cut(&missing.required.id))))
                })
                .collect();
            ToolError::missing_requirements(missing.clone().into()).with_content(links)
        }
        (StatusCode::BAD_REQUEST, Some(_)) => error(ErrorKind::UnknownTool, "did not run the tool"),
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
            error(ErrorKind::Unauthorized, "rejected the credentials of this program")
        }
        (StatusCode::PAYLOAD_TOO_LARGE, _) => error(ErrorKind::TooLarge, "rejected the size of the call"),
        (StatusCode::UNPROCESSABLE_ENTITY, Some(body)) => {
            let errors = body.parameter_errors.iter().take(MAX_PARAMETERS);
            let violations = errors.map(|(name, rule)| violation(name, rule)).collect();
            error(ErrorKind::InvalidArguments, "rejected the arguments").with_violations(violations)
        }
        (StatusCode::TOO_MANY_REQUESTS, _) => error(ErrorKind::Overloaded, "is overloaded"),
        (StatusCode::SERVICE_UNAVAILABLE, _) => error(ErrorKind::Unavailable, "cannot run tools now (HTTP 503)"),
        // Something in front of the server may have responded, after it passed the call on.
        (status, _) if status.is_server_error() => {
            endpoint.lost(loss, &format!("responded with HTTP {}{detail}", status.as_u16()))
        }
        (status, _) => {
            let message = format!("with HTTP {}; check its URL", status.as_u16());
            endpoint.invalid_response(&message)
        }
    };
    let error = match body.and_then(|body| body.developer_message) {
        Some(developer_message) => error.caused_by(cut(&developer_message)),
        None => error,
    };
    match retry_after {
        Some(after) if error.is_retryable() => error.retryable(after),
        _ => error,
    }
}

/// Converts the error of a parameter.
fn violation(name: &str, rule: &str) -> Violation {
    let pointer = match name {
        "" => String::new(),
        name => child("", &cut(name)),
    };
    // Messages of our own server begin with the pointer.
    let rule = cut(rule);
    let rule = rule.strip_prefix(&format!("{pointer} ")).unwrap_or(&rule);
    Violation::new(pointer, rule)
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// The end of the message for a connection that is lost.
const LOST: &str = "disconnected while it ran the tool";

/// Passes on the progress and chunks of a call until its last event, and returns its result.
pub(super) async fn read(
    endpoint: &Endpoint,
    call: &BackendCall<'_>,
    mut body: Incoming,
) -> Result<BackendResponse, ToolError> {
    let mut events = EventReader::new(endpoint.max_bytes);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| endpoint.lost(Loss::MayHaveEffects, LOST).caused_by(error))?;
        let Ok(bytes) = frame.into_data() else { continue };
        let mut bytes = &bytes[..];
        while let Some(event) = events.next_event(&mut bytes).map_err(|EventTooLong { .. }| {
            endpoint.invalid_response(&format!("with an event of more than {} bytes", endpoint.max_bytes))
        })? {
            let Some(data) = event.data.filter(|data| !data.is_empty()) else { continue };
            if let Some(end) = pass_on(endpoint, call, &data).await? {
                return read_result(endpoint, end);
            }
        }
    }
    Err(endpoint.lost(Loss::MayHaveEffects, LOST))
}

/// An event: `{"kind", "toolId", "data"}`.
#[derive(Deserialize)]
struct Event<'a> {
    kind: String,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// Passes an event on. Returns the result of the call if the event is the last one.
async fn pass_on<'d>(
    endpoint: &Endpoint,
    call: &BackendCall<'_>,
    data: &'d [u8],
) -> Result<Option<CallResult<'d>>, ToolError> {
    let invalid_response = |error| endpoint.invalid_response("with an invalid event").caused_by(error);
    let event: Event<'_> = serde_json::from_slice(data).map_err(invalid_response)?;
    let json = event.data.map_or("null", RawValue::get);
    match event.kind.as_str() {
        "progress" => {
            let progress: Progress = serde_json::from_str(json).map_err(invalid_response)?;
            call.context().progress(progress.done, progress.total, &progress.message);
        }
        "chunk" => call.send(Chunk::from_json(json.to_owned()).map_err(invalid_response)?).await?,
        "done" | "error" => return serde_json::from_str(json).map(Some).map_err(invalid_response),
        // Later versions may have more kinds of events.
        _ => {}
    }
    Ok(None)
}
