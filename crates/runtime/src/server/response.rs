//! Responses: bodies that are complete or a stream, and the headers of each kind.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::{Frame, SizeHint};

use super::connections::{Connection, EventStreamPermit};
use super::response_budget::ResponsePermit;

/// The body of a response: complete, or a stream.
///
/// # Examples
///
/// ```
/// use http_body_util::BodyExt as _;
/// use toolkit_runtime::Body;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(Body::from("42").collect().await.unwrap().to_bytes(), "42");
/// # }
/// ```
pub struct Body {
    kind: BodyKind,
    /// The connection on which the body is sent.
    sending: Option<Sending>,
}

enum BodyKind {
    Whole(Bytes),
    Stream {
        parts: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
        /// Held until the stream ends.
        permit: Option<EventStreamPermit>,
    },
}

impl Body {
    /// Creates a body whose parts are sent as soon as the stream has them, such as an event stream.
    pub fn from_stream(parts: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self { kind: BodyKind::Stream { parts: Box::pin(parts), permit: None }, sending: None }
    }

    /// Returns the place of a permit that a stream holds until it ends, or `None` for a complete body.
    pub(super) fn permit(&mut self) -> Option<&mut Option<EventStreamPermit>> {
        match &mut self.kind {
            BodyKind::Whole(_) => None,
            BodyKind::Stream { permit, .. } => Some(permit),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self { kind: BodyKind::Whole(bytes.into()), sending: None }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.kind {
            BodyKind::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            BodyKind::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            BodyKind::Stream { parts, .. } => {
                parts.as_mut().poll_next(cx).map(|part| part.map(|part| Ok(Frame::data(part))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.kind, BodyKind::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodyKind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            BodyKind::Stream { .. } => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            BodyKind::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            BodyKind::Stream { .. } => f.write_str("stream"),
        }
    }
}

/// A response that is sent on its connection. Dropping it sets the connection to idle.
struct Sending {
    connection: Connection,
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.connection.idle();
    }
}

/// The bytes of a response that counts towards the budget. The connection drops the body as soon as it holds these, and
/// these when all of them are written.
struct ChargedBytes {
    bytes: Bytes,
    _permit: ResponsePermit,
}

impl AsRef<[u8]> for ChargedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The size in bytes from which on a response counts towards the budget.
const SMALL: usize = 64 << 10;

/// Sends a response on a connection, with memory of the budget. Without memory, the response is an empty `503`.
pub(super) async fn send(mut response: Response<Body>, connection: Connection) -> Response<Body> {
    if let BodyKind::Whole(bytes) = &mut response.body_mut().kind
        && bytes.len() >= SMALL
    {
        match connection.response(bytes.len()).await {
            Some(permit) => *bytes = Bytes::from_owner(ChargedBytes { bytes: std::mem::take(bytes), _permit: permit }),
            None => {
                response = empty_response(StatusCode::SERVICE_UNAVAILABLE);
                response.headers_mut().insert(header::RETRY_AFTER, 1.into());
            }
        }
    }
    response.body_mut().sending = Some(Sending { connection });
    response
}

/// Creates a response with JSON.
///
/// # Examples
///
/// ```
/// use http::StatusCode;
/// use toolkit_runtime::json_response;
///
/// assert_eq!(json_response(StatusCode::OK, "{}").headers()["content-type"], "application/json");
/// ```
pub fn json_response(status: StatusCode, json: impl Into<Bytes>) -> Response<Body> {
    respond(status, "application/json", json.into().into())
}

/// Creates a response with a text for people.
///
/// # Examples
///
/// ```
/// use http::StatusCode;
/// use toolkit_runtime::text_response;
///
/// assert_eq!(text_response(StatusCode::NOT_FOUND, "not found\n").status(), 404);
/// ```
pub fn text_response(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    respond(status, "text/plain; charset=utf-8", text.into().into())
}

/// Creates a response with server-sent events, which no proxy keeps or collects.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use futures_util::stream;
/// use toolkit_runtime::events_response;
///
/// let response = events_response(stream::iter([Bytes::from_static(b"data: 42\n\n")]));
/// assert_eq!(response.headers()["content-type"], "text/event-stream");
/// ```
pub fn events_response(events: impl Stream<Item = Bytes> + Send + 'static) -> Response<Body> {
    let mut response = respond(StatusCode::OK, "text/event-stream", Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Creates a response without a body.
///
/// # Examples
///
/// ```
/// use http::StatusCode;
/// use toolkit_runtime::empty_response;
///
/// assert!(empty_response(StatusCode::ACCEPTED).headers().is_empty());
/// ```
pub fn empty_response(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Bytes::new().into());
    *response.status_mut() = status;
    response
}

fn respond(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
