//! The kinds of HTTP responses.

use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode};

use super::body::Body;
use crate::server::call::CallResponse;

/// Creates the response to a call.
pub(super) fn call_response(response: CallResponse) -> Response<Body> {
    // HTTP requires a response even to a canceled request.
    if response.is_cancelled {
        return accepted();
    }
    let status = if response.is_bad_request { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    json(status, response.bytes)
}

pub(super) fn json(status: StatusCode, bytes: Vec<u8>) -> Response<Body> {
    respond(status, "application/json", Body::whole(bytes))
}

pub(super) fn text(status: StatusCode, text: String) -> Response<Body> {
    respond(status, "text/plain; charset=utf-8", Body::whole(text))
}

pub(super) fn events(events: impl futures_util::Stream<Item = Bytes> + Send + 'static) -> Response<Body> {
    let mut response = respond(StatusCode::OK, "text/event-stream", Body::events(events));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

fn respond(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

pub(super) fn accepted() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// Creates the response to a CORS preflight request.
pub(super) fn preflight(request_headers: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
    // Arguments of tools may have headers of any name.
    if let Some(names) = request_headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(Duration::from_secs(600).as_secs()));
    response
}
