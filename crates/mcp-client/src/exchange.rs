//! Correlation of messages with the request of their HTTP exchange.
//!
//! A response belongs to the request that it answers, whatever id it has: many servers and gateways send errors with the
//! id `null`, without an id, or with one of their own. `rmcp` drops such errors, and the request would never end.
//!
//! Also the server-sent events of a response.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::stream::{self, BoxStream, StreamExt};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::Response;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::{SseError, StreamableHttpError};
use serde_json::Value;
use sse_stream::Sse;
use tokio::time::timeout;
use toolkit_runtime::{EventReader, ServerEvent, media_type, retry_after};

use super::authorizer::AuthorizationError;
use super::verbatim;

/// Returns the JSON-RPC error in a message or a batch, also if it is incomplete.
pub(super) fn error_in(message: &Value) -> Option<ErrorData> {
    if let Value::Array(batch) = message {
        return batch.iter().find_map(error_in);
    }
    let error = message.get("error").filter(|error| !error.is_null() && message.get("method").is_none())?;
    serde_json::from_value(verbatim::error(error.clone())).ok()
}

/// Returns true if a message has the id of a request. Some servers answer `1` with `"1"`.
pub(super) fn has_id(message: &Value, id: &RequestId) -> bool {
    match (&message["id"], id) {
        (Value::Number(theirs), RequestId::Number(ours)) => theirs.as_i64() == Some(*ours),
        (Value::String(theirs), RequestId::Number(ours)) => theirs.parse() == Ok(*ours),
        (Value::String(theirs), RequestId::String(ours)) => **theirs == **ours,
        _ => false,
    }
}

/// Returns the response to a request in a batch, or an error that may be it. Other messages are returned unchanged.
pub(super) fn response_in(message: Value, id: &RequestId) -> Value {
    let Value::Array(mut batch) = message else {
        return message;
    };
    let is_response = |message: &Value| has_id(message, id) && message.get("method").is_none();
    let own = batch.iter().position(is_response);
    match own.or_else(|| batch.iter().position(|message| error_in(message).is_some())) {
        Some(idx) => batch.swap_remove(idx),
        None => Value::Null,
    }
}

/// Returns true for an error that the protocol defines for requests, so that its code has a meaning whatever its HTTP
/// status is.
pub(super) fn is_defined(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::METHOD_NOT_FOUND
            | ErrorCode::INVALID_PARAMS
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
            | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
    )
}

/// Returns true if an error text may report that the server does not know the session, or has not been initialized since
/// it was restarted. Servers have many texts for this.
pub(super) fn may_report_lost_session(text: &str, has_session: bool) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("initiali") || has_session && text.contains("session")
}

// Failed HTTP exchanges.

/// An error of the HTTP transport.
pub(super) type OverHttp = StreamableHttpError<reqwest::Error>;

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
    /// Reads an error response. Also returns its body as JSON, or `null`.
    pub(super) async fn read(mut response: Response) -> (Self, Value) {
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
        let json = verbatim::message(&body).unwrap_or_default();
        let text = match error_in(&json) {
            Some(error) => error.message.into_owned(),
            // The page is written for people.
            None if is_html => String::new(),
            None => String::from_utf8_lossy(&body).trim().to_owned(),
        };
        let text = (!text.is_empty()).then_some(text);
        (Self { status, retry_after, text }, json)
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

    /// Returns the failure in an error of the transport.
    pub(super) fn of(error: &OverHttp) -> Option<&Self> {
        match error {
            StreamableHttpError::Io(error) => error.get_ref()?.downcast_ref(),
            _ => None,
        }
    }
}

/// Wraps the failure in the one kind of error that can hold it.
impl From<HttpFailure> for OverHttp {
    fn from(failure: HttpFailure) -> Self {
        StreamableHttpError::Io(std::io::Error::other(failure))
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

impl Error for HttpFailure {}

/// Returns the reason why the transport had no token for a request.
pub(super) fn authorization_error(error: &DynamicTransportError) -> Option<&AuthorizationError> {
    match error.error.downcast_ref::<OverHttp>() {
        Some(OverHttp::Io(error)) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

/// The state of a server after an error of the transport.
pub(super) enum Reach {
    /// It responds, or was not sent the request.
    Responds,
    /// It may have rejected only this request, or something else may have responded in its place.
    Unknown,
    /// It cannot be reached on this connection.
    Lost,
}

/// Returns the state of a server after an error of the HTTP transport.
pub(super) fn reach(error: &DynamicTransportError) -> Reach {
    let Some(over_http) = error.error.downcast_ref::<OverHttp>() else {
        return Reach::Lost;
    };
    match over_http {
        _ if authorization_error(error).is_some() => Reach::Responds,
        OverHttp::ResponseBodyTooLarge { .. } => Reach::Responds,
        OverHttp::AuthRequired(_)
        | OverHttp::InsufficientScope(_)
        | OverHttp::UnexpectedContentType(_)
        | OverHttp::UnexpectedServerResponse(_) => Reach::Unknown,
        _ => match HttpFailure::of(over_http).map(|failure| failure.status.as_u16()) {
            Some(408 | 413 | 429) => Reach::Responds,
            Some(_) => Reach::Unknown,
            None => Reach::Lost,
        },
    }
}

fn has_html(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| media_type(kind).eq_ignore_ascii_case("text/html"))
}

pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Reads the events of a response. An event of more than `max_bytes` bytes is an error, after which the stream ends.
pub(super) fn read_events(response: Response, max_bytes: usize) -> Events {
    let state = (response, EventReader::new(max_bytes), Bytes::new());
    let events = stream::try_unfold(state, |(mut response, mut events, mut bytes)| async move {
        loop {
            let mut rest = &bytes[..];
            let event = events.next_event(&mut rest).map_err(|error| SseError::Body(error.into()))?;
            let n_rest = rest.len();
            bytes.advance(bytes.len() - n_rest);
            if let Some(event) = event {
                return Ok(Some((converted(event), (response, events, bytes))));
            }
            match response.chunk().await.map_err(|error| SseError::Body(error.into()))? {
                Some(more) => bytes = more,
                None => return Ok(None),
            }
        }
    });
    events.boxed()
}

/// Converts an event to the type of `rmcp`. Invalid UTF-8, which some servers send, becomes U+FFFD.
fn converted(event: ServerEvent) -> Sse {
    let text = |bytes: Option<Vec<u8>>| {
        bytes.map(|bytes| {
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        })
    };
    Sse { event: text(event.name), data: text(event.data), id: text(event.id), retry: event.retry }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_response_in_a_batch_has_the_id_of_the_request() {
        let id = RequestId::Number(7);
        let (own, other) = (json!({ "id": "7", "result": 1 }), json!({ "id": 8, "result": 2 }));
        let error = json!({ "id": null, "error": { "code": -32000, "message": "no" } });
        let request = json!({ "id": 7, "method": "ping" });
        for (batch, expected) in [
            (json!([other, own]), own.clone()),
            (json!([error, own]), own.clone()),
            (json!([other, request, error]), error.clone()),
            (json!([other, request]), Value::Null),
            (json!([]), Value::Null),
            (other.clone(), other.clone()),
        ] {
            assert_eq!(response_in(batch, &id), expected);
        }
    }

    #[test]
    fn incomplete_errors_are_errors() {
        let read = |error: Value| error_in(&json!({ "error": error })).map(|error| (error.code.0, error.message));
        assert_eq!(read(json!("busy")), Some((-32603, "busy".into())));
        assert_eq!(read(json!({ "message": "busy", "code": "x" })), Some((-32603, "busy".into())));
        assert_eq!(read(json!({ "code": -32000 })), Some((-32000, "".into())));
        assert_eq!(read(json!(null)), None);
    }
}
