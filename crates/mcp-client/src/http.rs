//! The HTTP transport.
//!
//! | module | contains |
//! | --- | --- |
//! | `session` | sessions of revisions up to 2025-11-25, and their recovery after the server has lost one |
//! | `exchange` | the HTTP request and response of a message |
//! | `event_stream` | streams of events, which are resumed, and the stream of a session |
//! | `credentials` | tokens, and the repetition of a request with another one |
//! | `legacy_sse` | the transport of revision 2024-11-05 |

mod credentials;
mod event_stream;
mod exchange;
mod legacy_sse;
mod session;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use http::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Client, Url};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolkit::call::SecretString;
use toolkit::dispatch::BoxFuture;

use self::exchange::{Delivery, Post};
use self::legacy_sse::LegacySse;
use self::session::Session;
use super::authorizer::Authorizer;
use super::endpoint::Endpoint;
use super::failure::{Failure, HttpFailure};
use super::peer::{Answer, Asking, Peer, Transport};
use super::remote::Limits;

/// The HTTP transport.
///
/// Each request ends with its HTTP exchange.
struct Http {
    client: Client,
    url: Url,
    headers: HeaderMap,
    token: Option<SecretString>,
    authorizer: Option<Arc<dyn Authorizer>>,
    max_bytes: usize,
    /// The maximum time for which a message waits because the server limits the rate of requests.
    max_rate_wait: Duration,
    session: Mutex<Session>,
    recovery: tokio::sync::Mutex<()>,
    /// The number of sessions so far. Another one ends the requests of those before.
    n_sessions: watch::Sender<u64>,
    /// The number of open streams besides those of requests.
    n_streams: watch::Sender<usize>,
    /// The task that reads the stream of the session.
    listening: Mutex<Option<AbortHandle>>,
    has_listened: AtomicBool,
    legacy: Option<LegacySse>,
}

/// The upper bound of [`Http::max_rate_wait`], within which a server has to respond for the first time.
const MAX_RATE_WAIT: Duration = Duration::from_secs(8);

impl Http {
    fn new(client: Client, endpoint: &Endpoint, authorizer: Option<Arc<dyn Authorizer>>, limits: &Limits) -> Self {
        let mut headers = endpoint.headers.clone();
        if endpoint.token.is_some() || authorizer.is_some() {
            headers.remove(AUTHORIZATION);
        }
        Self {
            client,
            url: endpoint.url.clone(),
            headers,
            token: endpoint.token.clone(),
            authorizer,
            max_bytes: limits.message_bytes,
            // Half of the time, so that the reason is known before the timeout.
            max_rate_wait: (limits.start / 2).min(MAX_RATE_WAIT),
            session: Mutex::default(),
            recovery: tokio::sync::Mutex::default(),
            n_sessions: watch::Sender::new(0),
            n_streams: watch::Sender::new(0),
            listening: Mutex::default(),
            has_listened: AtomicBool::new(false),
            legacy: endpoint.is_sse.then(LegacySse::default),
        }
    }

    /// Sends a request and returns the answer. If the server has lost the session, starts another one and repeats the
    /// request in it.
    async fn ask(self: &Arc<Self>, peer: &Arc<Peer>, asking: Asking<'_>) -> Answer {
        let (request, session) = (asking.request, self.session().clone());
        let answer = self.attempt(peer, asking, &session).await;
        match self.is_lost(peer, request, &session, &answer).await? {
            true => {
                self.recover(peer, &session).await?;
                let session = self.session().clone();
                self.attempt(peer, Asking::of(request), &session).await
            }
            false => answer,
        }
    }

    /// Sends a request in a session.
    async fn attempt(&self, peer: &Arc<Peer>, asking: Asking<'_>, session: &Session) -> Answer {
        let Asking { request, acknowledged, sent } = asking;
        let mut asked = peer.open(request, acknowledged)?;
        let id = asked.id;
        sent(id);
        let message = request.message(id, peer.meta(request).as_ref());
        let post = Post::of_request(request, id, message, session);
        asked.is_sent = true;
        let delivered = tokio::select! {
            biased;
            answer = &mut asked.answer => {
                asked.is_sent = false;
                return answer.unwrap_or(Err(Failure::Closed));
            }
            delivered = self.exchange(peer, &post) => delivered,
        };
        match delivered {
            Ok(Delivery::Answered) => {
                asked.is_sent = false;
                asked.answer.try_recv().unwrap_or(Err(Failure::Closed))
            }
            Ok(Delivery::Accepted(status)) => {
                // Only a stream of another request can deliver the answer.
                let mut n_streams = self.n_streams.subscribe();
                let is_over = async { n_streams.wait_for(|n| *n == 0).await.is_ok() };
                tokio::select! {
                    biased;
                    answer = &mut asked.answer => {
                        asked.is_sent = false;
                        answer.unwrap_or(Err(Failure::Closed))
                    }
                    _ = is_over => {
                        asked.is_sent = false;
                        match self.legacy {
                            Some(_) => Err(Failure::Closed),
                            None => Err(Failure::Status(HttpFailure::of_status(status))),
                        }
                    }
                }
            }
            Err(failure) => {
                asked.is_sent = false;
                Err(failure)
            }
        }
    }

    /// Sends a message that has no answer.
    async fn send(&self, peer: &Arc<Peer>, message: Vec<u8>) -> Result<(), Failure> {
        let session = self.session().clone();
        self.exchange(peer, &Post::of_message(message, &session)).await.map(|_| ())
    }

    /// Ends the reading of streams.
    fn end(&self) {
        if let Some(listening) = locked(&self.listening).take() {
            listening.abort();
        }
    }

    /// Sends the notification that a session has begun, and reads its stream.
    async fn begin(self: &Arc<Self>, peer: &Arc<Peer>) -> Result<(), Failure> {
        let initialized = toolkit_mcp::notification("notifications/initialized", &json!({}));
        self.send(peer, initialized).await?;
        self.listen(peer);
        Ok(())
    }

    /// Sets the revision of the following messages.
    fn negotiated(&self, version: &str) {
        self.session().version = HeaderValue::from_str(version).ok();
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.session)
    }
}

/// The HTTP transport of a connection. Dropping it ends the reading of streams.
pub(super) struct HttpTransport(Arc<Http>);

impl HttpTransport {
    pub(super) fn new(
        client: Client,
        endpoint: &Endpoint,
        authorizer: Option<Arc<dyn Authorizer>>,
        limits: &Limits,
    ) -> Self {
        Self(Arc::new(Http::new(client, endpoint, authorizer, limits)))
    }
}

impl Transport for HttpTransport {
    fn ask<'t>(&'t self, peer: &'t Arc<Peer>, asking: Asking<'t>) -> BoxFuture<'t, Answer> {
        Box::pin(self.0.ask(peer, asking))
    }

    fn send<'t>(&'t self, peer: &'t Arc<Peer>, message: Vec<u8>) -> BoxFuture<'t, Result<(), Failure>> {
        Box::pin(self.0.send(peer, message))
    }

    fn agreed(&self, version: &str) {
        self.0.negotiated(version);
    }

    fn begin<'t>(&'t self, peer: &'t Arc<Peer>) -> BoxFuture<'t, Result<(), Failure>> {
        Box::pin(self.0.begin(peer))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.0.end();
            let session = std::mem::take(&mut *self.0.session());
            if session.id.is_some() {
                self.0.delete(&session).await;
            }
        })
    }

    fn is_http(&self) -> bool {
        true
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
