//! Streams of answers, which are resumed, and the stream of a session.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use http::header::{ACCEPT, HeaderName};
use reqwest::Response;
use tokio::time::{Instant, sleep};
use toolkit::call::SecretString;
use toolkit::internals::CallerToken;

use super::client::Http;
use super::events::{EVENTS, Events, OpenStream, StreamPlace};
use super::session::Session;
use crate::backoff::STABLE_AFTER;
use crate::failure::{Failure, HttpFailure};
use crate::peer::Peer;

/// The maximum number of times that the interrupted stream of an answer is resumed.
const MAX_RESUMED: usize = 3;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

impl Http {
    /// Reads the stream of a response until it has the answer. An interrupted one is resumed.
    pub(super) async fn read_answer(
        &self,
        peer: &Arc<Peer>,
        id: u64,
        caller: Option<&CallerToken>,
        response: Response,
    ) -> Result<(), Failure> {
        let mut events = Events::new(response, self.limit.clone());
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
                let session = self.session.lock().clone();
                if let Ok(resumed) = self.open_stream(caller, &session, &place).await {
                    events = resumed;
                    events.place = place;
                    break;
                }
            }
        }
    }

    /// Opens a stream with a `GET` request.
    async fn open_stream(
        &self,
        caller: Option<&CallerToken>,
        session: &Session,
        place: &StreamPlace,
    ) -> Result<Events, Failure> {
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
        let response = self.authorized(caller, open).await?;
        Ok(Events::new(response, self.limit.clone()))
    }

    /// Reads the stream of the session, if there is one.
    pub(super) fn listen(self: &Arc<Self>, peer: &Arc<Peer>) {
        let session = self.session.lock().clone();
        if session.id.is_none() || self.legacy.is_some() {
            return;
        }
        let listening = tokio::spawn(listen(Arc::clone(self), Arc::downgrade(peer), session)).abort_handle();
        if let Some(before) = self.listening.lock().replace(listening) {
            before.abort();
        }
    }
}

/// Reads the stream of a session until the server has none. It is opened again after longer and longer pauses.
async fn listen(http: Arc<Http>, peer: Weak<Peer>, session: Session) {
    let mut place = StreamPlace::default();
    let mut nth = 0;
    loop {
        let begun = Instant::now();
        match http.open_stream(None, &session, &place).await {
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
