//! Responses.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use http_body_util::Full;

use super::super::wire::{self, ToHost};

pub(super) type Reply = Response<Full<Bytes>>;

/// Returns a response with a message.
pub(super) fn message(status: StatusCode, message: &ToHost, max: usize) -> Reply {
    match wire::encode(message, max) {
        Ok(line) => with_body(status, line.into()),
        Err(error) => rejection(StatusCode::BAD_GATEWAY, error.to_string()),
    }
}

/// Returns a response to a request that is rejected.
pub(super) fn rejection(status: StatusCode, reason: impl Into<String>) -> Reply {
    let body = serde_json::to_vec(&ToHost::Error(reason.into())).unwrap_or_default();
    let mut reply = with_body(status, body.into());
    let headers = reply.headers_mut();
    match status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
    reply
}

/// Returns a response without a body.
pub(super) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = status;
    reply
}

/// Adds the path of a new session.
pub(super) fn located(mut reply: Reply, path: &str) -> Reply {
    if let Ok(path) = HeaderValue::from_str(path) {
        reply.headers_mut().insert(LOCATION, path);
    }
    reply
}

fn with_body(status: StatusCode, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}
