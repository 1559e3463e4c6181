//! The HTTP transport.
//!
//! | module | contains |
//! | --- | --- |
//! | `client` | the state of the transport |
//! | `ask`, `recovery` | requests and their answers, and the recovery of a lost session |
//! | `session` | sessions of revisions up to 2025-11-25 |
//! | `exchange` | the HTTP request and response of a message |
//! | `events`, `event_stream` | events, and streams of them, which are resumed |
//! | `credentials` | tokens, and the repetition of a request with another one |
//! | `legacy_sse` | the transport of revision 2024-11-05 |

mod ask;
mod client;
mod credentials;
mod event_stream;
mod events;
mod exchange;
mod legacy_sse;
mod recovery;
mod session;

use std::sync::Arc;

use reqwest::Client;
use toolkit::dispatch::BoxFuture;

use self::client::Http;
use super::authorizer::Authorizer;
use super::endpoint::Endpoint;
use super::failure::Failure;
use super::message_memory::MessageLimit;
use super::peer::{Asking, Peer, PeerAnswer, Transport};
use super::remote::Limits;

/// The HTTP transport of a connection. Dropping it ends the reading of streams.
pub(super) struct HttpTransport(Arc<Http>);

impl HttpTransport {
    pub(super) fn new(
        client: Client,
        endpoint: &Endpoint,
        authorizer: Option<Arc<dyn Authorizer>>,
        limits: &Limits,
        limit: MessageLimit,
    ) -> Self {
        Self(Arc::new(Http::new(client, endpoint, authorizer, limits, limit)))
    }
}

impl Transport for HttpTransport {
    fn ask<'t>(&'t self, peer: &'t Arc<Peer>, asking: Asking<'t>) -> BoxFuture<'t, PeerAnswer> {
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
            let session = std::mem::take(&mut *self.0.session.lock());
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
