//! The state of an HTTP transport.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use http::HeaderValue;
use http::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Client, Url};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolkit::call::SecretString;
use toolkit_runtime::Mutex;

use super::legacy_sse::LegacySse;
use super::session::Session;
use crate::authorizer::Authorizer;
use crate::endpoint::Endpoint;
use crate::message_memory::MessageLimit;
use crate::remote::Limits;

/// The HTTP transport.
///
/// Each request ends with its HTTP exchange.
pub(super) struct Http {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) token: Option<SecretString>,
    pub(super) authorizer: Option<Arc<dyn Authorizer>>,
    pub(super) limit: MessageLimit,
    /// The maximum time for which a message waits because the server limits the rate of requests.
    pub(super) max_rate_wait: Duration,
    pub(super) session: Mutex<Session>,
    pub(super) recovery: tokio::sync::Mutex<()>,
    /// The number of sessions so far. Another one ends the requests of those before.
    pub(super) n_sessions: watch::Sender<u64>,
    /// The number of open streams besides those of requests.
    pub(super) n_streams: watch::Sender<usize>,
    /// The task that reads the stream of the session.
    pub(super) listening: Mutex<Option<AbortHandle>>,
    pub(super) has_listened: AtomicBool,
    pub(super) legacy: Option<LegacySse>,
}

/// The upper bound of [`Http::max_rate_wait`], within which a server has to respond for the first time.
const MAX_RATE_WAIT: Duration = Duration::from_secs(8);

impl Http {
    pub(super) fn new(
        client: Client,
        endpoint: &Endpoint,
        authorizer: Option<Arc<dyn Authorizer>>,
        limits: &Limits,
        limit: MessageLimit,
    ) -> Self {
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
            limit,
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

    /// Ends the reading of streams.
    pub(super) fn end(&self) {
        if let Some(listening) = self.listening.lock().take() {
            listening.abort();
        }
    }

    /// Sets the revision of the following messages.
    pub(super) fn negotiated(&self, version: &str) {
        self.session.lock().version = HeaderValue::from_str(version).ok();
    }
}
