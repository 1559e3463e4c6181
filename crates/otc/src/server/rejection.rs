//! Responses to rejected requests.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::wire::{ErrorBody, SCHEMA};

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
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let body = serde_json::to_string(&self.0.body).unwrap_or_default();
        let mut response = (self.0.status, [(CONTENT_TYPE, "application/json")], body).into_response();
        if let Some(seconds) = self.0.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        if self.0.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
