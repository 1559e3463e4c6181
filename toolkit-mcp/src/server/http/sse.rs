//! Event streams (`text/event-stream`).

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, unfold};
use toolkit_http::EventStreamPermit;

use crate::server::call::{CallEvent, Events};
use crate::server::listen::Listen;

/// The time without events after which a comment is sent, so that proxies keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Returns the events of a call, beginning with `first`, or with a comment if it is `None`.
pub(super) fn of_call(first: Option<Vec<u8>>, events: impl Events) -> impl Stream<Item = Bytes> + Send {
    let first = first.map_or_else(comment, |first| event(&first));
    unfold((Some(first), Some(events)), async |(first, mut events)| {
        if let Some(first) = first {
            return Some((first, (None, events)));
        }
        let next = match awake(events.as_mut()?.next()).await {
            None => return Some((comment(), (None, events))),
            Some(next) => next,
        };
        match next {
            CallEvent::Message(bytes) => Some((event(&bytes), (None, events))),
            CallEvent::Response(response) if response.is_cancelled => None,
            CallEvent::Response(response) => Some((event(&response.bytes), (None, None))),
        }
    })
}

/// Returns the notifications of changes. The stream holds the permit.
pub(super) fn of_changes(listen: Listen, permit: Option<EventStreamPermit>) -> impl Stream<Item = Bytes> + Send {
    unfold((false, listen, permit), async |(has_begun, mut listen, permit)| {
        // Flushes the response head, so that the client sees that it is connected.
        if !has_begun {
            return Some((comment(), (true, listen, permit)));
        }
        match awake(listen.next()).await {
            None => Some((comment(), (true, listen, permit))),
            Some(next) => next.map(|bytes| (event(&bytes), (true, listen, permit))),
        }
    })
}

/// Waits for the next event. Returns `None` when a comment is due, and drops `next`, which must not lose an event then.
pub(super) async fn awake<T>(next: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(KEEP_ALIVE, next).await.ok()
}

fn event(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ", message, b"\n\n"].concat().into()
}

fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}
