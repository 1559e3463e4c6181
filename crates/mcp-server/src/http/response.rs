//! Responses to messages: JSON, or an event stream (`text/event-stream`).

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::stream::{Stream, unfold};
use http::header::{self, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use toolkit::call::BoxFuture;
pub use toolkit_runtime::Body;
use toolkit_runtime::{Mutex, empty_response};
pub(super) use toolkit_runtime::{events_response as events, json_response as json, text_response as text};

use crate::listen::Listen;
use crate::methods::Routed;
use crate::reply::{MessageSink, Reply};

/// Creates the response to a request, or to a message that needs none.
pub(super) fn reply_response(reply: Option<Reply>) -> Response<Body> {
    match reply {
        // HTTP requires a response even to a canceled request.
        None | Some(Reply { is_cancelled: true, .. }) => accepted(),
        Some(Reply { is_bad_request: true, bytes, .. }) => json(StatusCode::BAD_REQUEST, bytes),
        Some(Reply { bytes, .. }) => json(StatusCode::OK, bytes),
    }
}

pub(super) fn accepted() -> Response<Body> {
    empty_response(StatusCode::ACCEPTED)
}

/// Creates the response to a CORS preflight request.
pub(super) fn preflight(request_headers: &HeaderMap) -> Response<Body> {
    let mut response = empty_response(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
    // Arguments of tools may have headers of any name.
    if let Some(names) = request_headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(Duration::from_secs(600).as_secs()));
    response
}

/// The time without events after which a comment is sent, so that proxies keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Answers a request: with JSON if its response comes first, or else with an event stream, in which a comment from time to time
/// keeps the connection open.
pub(super) fn respond(routed: Routed) -> impl Future<Output = Response<Body>> + Send {
    let slot = EventSlot::default();
    // Boxed outside of the future, for whose room a connection has to pay.
    let request = AnsweredRequest { reply: Box::pin(routed.answer(slot.clone())), slot, ended: None };
    respond_with(request)
}

async fn respond_with(mut request: AnsweredRequest) -> Response<Body> {
    let first = match awake(request.next()).await {
        // A request that is answered before it sends a message needs no stream.
        Some(Next::Reply(reply)) => return reply_response(reply),
        Some(Next::Message(message)) => event(&message),
        None => comment(),
    };
    events(unfold((Some(first), Some(request)), async |(first, mut request)| {
        if let Some(first) = first {
            return Some((first, (None, request)));
        }
        match awake(request.as_mut()?.next()).await {
            None => Some((comment(), (None, request))),
            Some(Next::Message(message)) => Some((event(&message), (None, request))),
            Some(Next::Reply(reply)) => Some((event(&reply.and_then(Reply::into_answer)?), (None, None))),
        }
    }))
}

/// A request that is being answered. Dropping it cancels the request.
struct AnsweredRequest {
    reply: BoxFuture<'static, Option<Reply>>,
    slot: EventSlot,
    /// The reply, while a message precedes it.
    ended: Option<Option<Reply>>,
}

enum Next {
    Message(Vec<u8>),
    Reply(Option<Reply>),
}

impl AnsweredRequest {
    /// Waits for the next message or the reply. Dropping the future loses nothing.
    async fn next(&mut self) -> Next {
        poll_fn(|cx| {
            if self.ended.is_none()
                && let Poll::Ready(reply) = self.reply.as_mut().poll(cx)
            {
                self.ended = Some(reply);
            }
            match self.slot.take() {
                Some(message) => Poll::Ready(Next::Message(message)),
                None => self.ended.take().map_or(Poll::Pending, |reply| Poll::Ready(Next::Reply(reply))),
            }
        })
        .await
    }
}

/// The message that a request sends next. The body of the response polls the request, and takes the message afterwards, so that
/// neither has to wake the other.
#[derive(Clone, Default)]
struct EventSlot(Arc<Mutex<Option<Vec<u8>>>>);

impl EventSlot {
    fn take(&self) -> Option<Vec<u8>> {
        self.0.lock().take()
    }
}

impl MessageSink for EventSlot {
    async fn send(&mut self, message: Vec<u8>) {
        // The body polls again once the client has read the last message.
        poll_fn(|_| if self.0.lock().is_some() { Poll::Pending } else { Poll::Ready(()) }).await;
        *self.0.lock() = Some(message);
    }
}

/// Returns the notifications of changes.
pub(super) fn of_changes(listen: Listen) -> impl Stream<Item = Bytes> + Send {
    unfold((false, listen), async |(has_begun, mut listen)| {
        // Flushes the response head, so that the client sees that it is connected.
        if !has_begun {
            return Some((comment(), (true, listen)));
        }
        match awake(listen.next()).await {
            None => Some((comment(), (true, listen))),
            Some(next) => next.map(|bytes| (event(&bytes), (true, listen))),
        }
    })
}

/// Waits for the next event. Returns `None` when a comment is due, and drops `next`, which must not lose an event then.
pub(super) fn awake<T>(next: impl Future<Output = T>) -> impl Future<Output = Option<T>> {
    tokio::time::timeout(KEEP_ALIVE, next).map(Result::ok)
}

fn event(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ", message, b"\n\n"].concat().into()
}

fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}
