//! Streams of server-sent events.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::{ACCEPT, HeaderName, HeaderValue};
use reqwest::Response;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use toolkit::call::SecretString;
use toolkit_runtime::{EventReader, ServerEvent};

use super::exchange::EVENTS;
use super::session::Session;
use super::{Http, locked};
use crate::backoff::STABLE_AFTER;
use crate::failure::{Failure, HttpFailure};
use crate::peer::Peer;

/// The maximum number of times that the interrupted stream of an answer is resumed.
const MAX_RESUMED: usize = 3;

/// The bounds of the time before a stream is opened again.
const MIN_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(30);

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The events of a response.
pub(super) struct Events {
    response: Response,
    reader: EventReader,
    bytes: Bytes,
    max_bytes: usize,
    place: Place,
}

/// The place at which a stream can be resumed.
#[derive(Clone, Default)]
struct Place {
    last_id: Option<HeaderValue>,
    /// The time that the server wants the client to wait.
    retry: Option<Duration>,
}

impl Events {
    pub(super) fn new(response: Response, max_bytes: usize) -> Self {
        Self { response, reader: EventReader::new(max_bytes), bytes: Bytes::new(), max_bytes, place: Place::default() }
    }

    /// Returns the next event, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is too long, or the connection has failed.
    pub(super) async fn next(&mut self) -> Result<Option<ServerEvent>, Failure> {
        loop {
            let mut rest = &self.bytes[..];
            let event = self.reader.next_event(&mut rest).map_err(|_| Failure::TooLarge(self.max_bytes))?;
            let n_rest = rest.len();
            self.bytes.advance(self.bytes.len() - n_rest);
            if let Some(event) = event {
                self.place.pass(&event);
                return Ok(Some(event));
            }
            match self.response.chunk().await.map_err(Failure::Client)? {
                Some(more) => self.bytes = more,
                None => return Ok(None),
            }
        }
    }

    /// Returns the data of the next message, or `None` at the end. Events with another name, and without data, are none.
    async fn next_message(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        while let Some(event) = self.next().await? {
            if let Some(message) = message(event) {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }
}

/// Returns the data of an event that is a message.
pub(super) fn message(event: ServerEvent) -> Option<Vec<u8>> {
    let is_message = matches!(event.name.as_deref(), None | Some(b"" | b"message"));
    event.data.filter(|data| is_message && !data.trim_ascii().is_empty())
}

impl Place {
    fn pass(&mut self, event: &ServerEvent) {
        if let Some(id) = &event.id {
            self.last_id = HeaderValue::from_bytes(id).ok().filter(|id| !id.is_empty());
        }
        if let Some(retry) = event.retry {
            self.retry = Some(Duration::from_millis(retry));
        }
    }

    /// Returns the wait before the stream is opened for the nth time.
    fn pause(&self, nth: u32) -> Duration {
        let pause = MIN_PAUSE.saturating_mul(1 << nth.min(16));
        self.retry.unwrap_or(Duration::ZERO).max(pause).min(MAX_PAUSE)
    }
}

impl Http {
    /// Reads the stream of a response until it has the answer. An interrupted one is resumed.
    pub(super) async fn read_answer(&self, peer: &Arc<Peer>, id: u64, response: Response) -> Result<(), Failure> {
        let mut events = Events::new(response, self.max_bytes);
        let mut n_resumed = 0;
        let mut n_sessions = self.n_sessions.subscribe();
        let nth = *n_sessions.borrow_and_update();
        loop {
            let next = tokio::select! {
                next = events.next_message() => next,
                _ = n_sessions.wait_for(|n| *n > nth) => return Err(Failure::SessionLost),
            };
            match next {
                Ok(Some(message)) => {
                    peer.receive(message, Some(id)).await;
                    if !peer.is_open(id) {
                        return Ok(());
                    }
                    continue;
                }
                Err(Failure::TooLarge(max)) => return Err(Failure::TooLarge(max)),
                Ok(None) | Err(_) => {}
            }
            let place = events.place.clone();
            loop {
                if place.last_id.is_none() || n_resumed == MAX_RESUMED {
                    return Err(Failure::Closed);
                }
                sleep(place.pause(n_resumed as u32)).await;
                n_resumed += 1;
                let session = self.session().clone();
                if let Ok(resumed) = self.open_stream(&session, &place).await {
                    events = resumed;
                    events.place = place;
                    break;
                }
            }
        }
    }

    /// Opens a stream with a `GET` request.
    async fn open_stream(&self, session: &Session, place: &Place) -> Result<Events, Failure> {
        let open = |token: Option<SecretString>| async move {
            let request = self.client.get(self.url.clone()).headers(self.headers.clone()).headers(session.headers());
            let request = request.header(ACCEPT, EVENTS);
            let request = place.last_id.iter().fold(request, |request, id| request.header(LAST_EVENT, id));
            let request = token.into_iter().fold(request, |request, token| request.bearer_auth(token.expose()));
            let response = request.send().await.map_err(Failure::Client)?;
            match response.status().is_success() {
                true => Ok(response),
                false => Err(Failure::Status(HttpFailure::read(response).await.0)),
            }
        };
        let response = self.authorized(open).await?;
        Ok(Events::new(response, self.max_bytes))
    }

    /// Reads the stream of the session, if there is one.
    pub(super) fn listen(self: &Arc<Self>, peer: &Arc<Peer>) {
        let session = self.session().clone();
        if session.id.is_none() || self.legacy.is_some() {
            return;
        }
        let listening = tokio::spawn(listen(Arc::clone(self), Arc::downgrade(peer), session)).abort_handle();
        if let Some(before) = locked(&self.listening).replace(listening) {
            before.abort();
        }
    }
}

/// Reads the stream of a session until the server has none. It is opened again after longer and longer pauses.
async fn listen(http: Arc<Http>, peer: Weak<Peer>, session: Session) {
    let mut place = Place::default();
    let mut nth = 0;
    loop {
        let begun = Instant::now();
        match http.open_stream(&session, &place).await {
            Ok(mut events) => {
                events.place = place;
                if http.has_listened.swap(true, Ordering::AcqRel)
                    && let Some(peer) = peer.upgrade()
                {
                    peer.has_missed_updates();
                }
                let _open = OpenStream::count(&http.n_streams);
                while let Ok(Some(message)) = events.next_message().await {
                    let Some(peer) = peer.upgrade() else { return };
                    peer.receive(message, None).await;
                }
                place = events.place;
            }
            // The server has no such stream, or not for this session.
            Err(Failure::Status(failure)) if failure.status.is_client_error() && !failure.is_busy() => return,
            Err(Failure::Challenge(..) | Failure::Authorization(_)) => return,
            Err(_) => {}
        }
        nth = if begun.elapsed() > STABLE_AFTER { 0 } else { nth + 1 };
        sleep(place.pause(nth)).await;
    }
}

/// Counts a stream until it is dropped.
pub(super) struct OpenStream(watch::Sender<usize>);

impl OpenStream {
    pub(super) fn count(n_streams: &watch::Sender<usize>) -> Self {
        n_streams.send_modify(|n| *n += 1);
        Self(n_streams.clone())
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_ends_again_and_again_is_opened_less_and_less() {
        let pauses = |retry| {
            let place = Place { last_id: None, retry };
            [0, 1, 2, 8, 99].map(|nth| place.pause(nth).as_millis())
        };
        assert_eq!(pauses(None), [250, 500, 1_000, 30_000, 30_000]);
        assert_eq!(pauses(Some(Duration::from_secs(2))), [2_000, 2_000, 2_000, 30_000, 30_000]);
        assert_eq!(pauses(Some(Duration::MAX)), [30_000; 5]);
    }
}
