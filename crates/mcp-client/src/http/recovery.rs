//! Recovery after a server has lost the session.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use http::StatusCode;
use tokio::time::timeout;

use super::client::Http;
use super::session::Session;
use crate::failure::Failure;
use crate::outgoing::Request;
use crate::peer::{Asking, Peer, PeerAnswer};
use crate::server_info::ServerInfo;

/// The timeout of the request that verifies that the server has lost the session.
const SESSION_CHECK: Duration = Duration::from_secs(5);

/// The timeout of ending a session.
const DELETE_TIMEOUT: Duration = Duration::from_secs(2);

/// The refusal of a request, which may mean that the server does not know its session.
#[derive(PartialEq)]
enum Refusal {
    Status(StatusCode, Option<String>),
    Rpc(i32, String),
}

impl Refusal {
    fn of(answer: &PeerAnswer) -> Option<Self> {
        match answer {
            Err(Failure::Status(failure)) => {
                let status = failure.status;
                // A status with another meaning.
                let is_other = failure.is_busy() || failure.is_unauthorized() || matches!(status.as_u16(), 408 | 413);
                (status.is_client_error() && !is_other).then(|| Self::Status(status, failure.text.clone()))
            }
            // The codes that servers choose themselves, and that of an invalid request.
            Err(Failure::Rpc(error)) if matches!(error.code, -32099..=-32000 | -32600) => {
                Some(Self::Rpc(error.code, error.message.clone()))
            }
            _ => None,
        }
    }
}

impl Http {
    /// Returns true if the server has refused a request because it does not know the session: it refuses `ping` in the same
    /// way. A tool that refuses a call is not repeated.
    ///
    /// # Errors
    ///
    /// Returns an error if the session was lost while the request may have run.
    pub(super) async fn is_lost(
        &self,
        peer: &Arc<Peer>,
        request: &Request,
        session: &Session,
        answer: &PeerAnswer,
    ) -> Result<bool, Failure> {
        // A session that never began is not lost, and revisions without `initialize` have none.
        if request.method == "initialize" || !peer.is_legacy() {
            return Ok(false);
        }
        if matches!(answer, Err(Failure::SessionEnded)) {
            return Ok(true);
        }
        let Some(refusal) = Refusal::of(answer) else { return Ok(false) };
        if request.method == "ping" || self.session.lock().nth != session.nth {
            return Ok(true);
        }
        let ping = Request::new("ping");
        let check = self.attempt(peer, Asking::of(&ping), session);
        match timeout(SESSION_CHECK, check).await.ok().as_ref().and_then(Refusal::of) {
            Some(same) if same == refusal => Ok(true),
            // The session may have ended while the tool was running.
            Some(_) => Err(Failure::SessionLost),
            None => Ok(false),
        }
    }

    /// Starts a session after `lost`, once for all requests.
    ///
    /// # Errors
    ///
    /// Returns an error if the server refuses.
    pub(super) async fn recover(self: &Arc<Self>, peer: &Arc<Peer>, lost: &Session) -> Result<(), Failure> {
        let _one = self.recovery.lock().await;
        if self.session.lock().nth != lost.nth {
            return Ok(());
        }
        self.end();
        let begun = Session { id: None, version: None, nth: lost.nth };
        let request = Request::initialize(peer.info().map(|info| &*info.version), peer.users.capabilities());
        let result = self.attempt(peer, Asking::of(&request), &begun).await.map_err(|failure| match failure {
            Failure::Rpc(error) => Failure::NotInitialized(error),
            other => other,
        })?;
        if let Some(info) = ServerInfo::initialized(&result) {
            self.negotiated(&info.version);
        }
        self.begin(peer).await?;
        peer.is_restarted();
        Ok(())
    }

    /// Records a new session.
    pub(super) fn start_session(&self, id: Option<HeaderValue>) {
        let mut session = self.session.lock();
        *session = Session { id, version: None, nth: session.nth + 1 };
        self.n_sessions.send_replace(session.nth);
    }

    /// Ends a session at the server.
    pub(super) async fn delete(&self, session: &Session) {
        let deleting = async {
            let token = self.token_for_request().await.ok()?;
            let request = self.client.delete(self.url.clone()).headers(self.headers.clone());
            let request = request.headers(session.headers());
            let request = token.into_iter().fold(request, |request, token| request.bearer_auth(token.expose()));
            request.send().await.ok()
        };
        let _ = timeout(DELETE_TIMEOUT, deleting).await;
    }
}
