//! The transport HTTP+SSE of revision 2024-11-05, in which one stream of events has the answers to all messages.

use std::sync::{Arc, Weak};

use http::header::ACCEPT;
use reqwest::{RequestBuilder, Url};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use super::events::{EVENTS, Events, OpenStream};
use crate::failure::{Failure, HttpFailure};
use crate::message_memory::MessageLimit;
use crate::peer::Peer;

/// The stream of a server.
#[derive(Default)]
pub(super) struct LegacySse(Mutex<Option<Arc<EventStream>>>);

/// An open stream of events.
pub(super) struct EventStream {
    /// The URL to which messages are sent.
    pub(super) endpoint: Url,
    reading: JoinHandle<()>,
}

/// What a stream is opened with.
pub(super) struct Opening<'h> {
    pub(super) request: RequestBuilder,
    pub(super) limit: MessageLimit,
    /// Counts the stream.
    pub(super) n_streams: &'h watch::Sender<usize>,
}

impl LegacySse {
    /// Returns the stream, which the first message of a session opens.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream, and with it the session, has ended.
    pub(super) async fn stream<'h>(
        &self,
        peer: &Arc<Peer>,
        starts_session: bool,
        opening: impl FnOnce() -> Opening<'h>,
    ) -> Result<Arc<EventStream>, Failure> {
        let mut stream = self.0.lock().await;
        match &*stream {
            Some(open) if !open.reading.is_finished() => return Ok(Arc::clone(open)),
            Some(_) if !starts_session => return Err(Failure::SessionEnded),
            _ => {}
        }
        let opened = Arc::new(EventStream::open(opening(), peer).await?);
        *stream = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl EventStream {
    /// Opens the stream and waits for the event with the endpoint.
    async fn open(Opening { request, limit, n_streams }: Opening<'_>, peer: &Arc<Peer>) -> Result<Self, Failure> {
        let response = request.header(ACCEPT, EVENTS).send().await.map_err(Failure::Client)?;
        if !response.status().is_success() {
            return Err(Failure::Status(HttpFailure::read(response).await.0));
        }
        let base = response.url().clone();
        let mut events = Events::new(response, limit);
        let endpoint = loop {
            let event = events.next().await?.ok_or(Failure::Closed)?;
            if event.name.as_deref() == Some(b"endpoint") {
                break event.data.unwrap_or_default();
            }
        };
        let endpoint = String::from_utf8_lossy(&endpoint);
        // Messages contain credentials of this server.
        let endpoint = base.join(endpoint.trim()).ok().filter(|url| url.origin() == base.origin());
        let endpoint = endpoint.ok_or_else(|| Failure::Invalid("the endpoint is that of another server".to_owned()))?;
        let open = OpenStream::count(n_streams);
        let reading = tokio::spawn(read(events, Arc::downgrade(peer), open));
        Ok(Self { endpoint, reading })
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// Passes on the messages of a stream until it ends.
async fn read(mut events: Events, peer: Weak<Peer>, _open: OpenStream) {
    while let Ok(Some(message)) = events.next_message().await {
        let Some(peer) = peer.upgrade() else { return };
        // An error without an id is the answer to the only request.
        let only = peer.only_open();
        peer.receive(message, only).await;
    }
}
