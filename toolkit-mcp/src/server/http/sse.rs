//! Streams of events (`text/event-stream`).

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, unfold};

use crate::server::call::{CallEvent, CallEvents};
use crate::server::listen::Listen;

/// After how long a silence a comment is sent, so that nothing on the way takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What happens during a call, from its first event on to the answer.
pub(super) fn of_call(
    first: Vec<u8>,
    events: CallEvents,
    held: impl Send + 'static,
) -> impl Stream<Item = Bytes> + Send {
    // What the request holds, it holds until the last event.
    unfold((Some(first), Some(events), held), async |(first, mut events, held)| {
        if let Some(first) = first {
            return Some((event(&first), (None, events, held)));
        }
        let next = match awake(events.as_mut()?.next()).await {
            None => return Some((comment(), (None, events, held))),
            Some(next) => next,
        };
        match next {
            CallEvent::Progress(bytes) => Some((event(&bytes), (None, events, held))),
            CallEvent::Answer(answer) if answer.is_cancelled => None,
            CallEvent::Answer(answer) => Some((event(&answer.bytes), (None, None, held))),
        }
    })
}

/// What a client that listens is told.
pub(super) fn of_changes(listen: Listen) -> impl Stream<Item = Bytes> + Send {
    unfold((false, listen), async |(has_begun, mut listen)| {
        // So that the client sees at once that it is connected.
        if !has_begun {
            return Some((comment(), (true, listen)));
        }
        match awake(listen.next()).await {
            None => Some((comment(), (true, listen))),
            Some(next) => next.map(|bytes| (event(&bytes), (true, listen))),
        }
    })
}

/// What comes, or `None` after a silence. What was waited for goes on being waited for when it is asked for again.
async fn awake<T>(next: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(KEEP_ALIVE, next).await.ok()
}

fn event(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ", message, b"\n\n"].concat().into()
}

fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}
