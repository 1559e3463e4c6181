//! Recent calls as an event stream.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{Stream, unfold};
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::record::Record;
use super::{RecentCalls, Viewer};

/// The time without events after which a comment is sent, so that proxies keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

struct State {
    /// Calls that are known already.
    known: VecDeque<Arc<Record>>,
    changes: broadcast::Receiver<Arc<Record>>,
    viewer: Viewer,
    has_begun: bool,
}

impl RecentCalls {
    /// Returns the calls that the viewer may see, as server-sent events: those that are kept, and then each change. A
    /// reader that falls behind is disconnected; it gets the kept calls when it connects again.
    pub(crate) fn events(&self, viewer: Viewer) -> impl Stream<Item = Bytes> + Send + use<> {
        let calls = self.shared.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let state = State { known: calls.clone(), changes: self.shared.changes.subscribe(), viewer, has_begun: false };
        drop(calls);
        unfold(state, async |mut state| {
            // Flushes the head of the response, so that the page sees that it is connected.
            if !std::mem::replace(&mut state.has_begun, true) {
                return Some((comment(), state));
            }
            loop {
                let record = match state.known.pop_front() {
                    Some(record) => record,
                    None => match timeout(KEEP_ALIVE, state.changes.recv()).await {
                        Err(_) => return Some((comment(), state)),
                        Ok(Err(_)) => return None,
                        Ok(Ok(record)) => record,
                    },
                };
                if state.viewer.sees(&record) {
                    return Some((event(&record), state));
                }
            }
        })
    }
}

fn event(record: &Record) -> Bytes {
    let mut event = b"event: call\ndata: ".to_vec();
    serde_json::to_writer(&mut event, record).expect("a record is serializable, and writing to a vector cannot fail");
    event.extend_from_slice(b"\n\n");
    event.into()
}

fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}
