//! The running calls, which later messages can cancel.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use toolkit::CancelToken;

use super::peer::Peer;
use super::rpc::{Code, RpcError};

/// The running calls, by session and request id.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Arc<Mutex<Calls>>);

type Calls = HashMap<Key, CancelToken>;

/// A session, a line feed, which neither contains, and the id of a request.
type Key = Arc<[u8]>;

fn key(session: &str, id: &str) -> Key {
    session.bytes().chain([b'\n']).chain(id.bytes()).collect()
}

/// The registration of a running call. Dropping it removes the call.
#[derive(Debug)]
pub(super) struct Registered {
    running: Running,
    key: Key,
    token: CancelToken,
}

impl Running {
    /// Registers a call. Returns `None` if the session has a running call with the same id.
    fn register(&self, peer: &str, id: &str) -> Option<Registered> {
        let key = key(peer, id);
        let token = CancelToken::new();
        match self.calls().entry(Arc::clone(&key)) {
            Entry::Occupied(_) => return None,
            Entry::Vacant(place) => drop(place.insert(token.clone())),
        }
        Some(Registered { running: self.clone(), key, token })
    }

    pub(super) fn cancel(&self, peer: &str, id: &str) {
        let token = self.calls().get(&key(peer, id)).cloned();
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// Cancels all calls of a session.
    pub(super) fn cancel_all_of(&self, peer: &str) {
        let calls = self.calls();
        let prefix = key(peer, "");
        calls.iter().filter(|(key, _)| key.starts_with(&prefix)).for_each(|(_, token)| token.cancel());
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers a request of a peer, so that it can be cancelled by its id. A peer without a session has no such requests.
///
/// # Errors
///
/// Returns an error if the session has a running request with the same id.
pub(super) fn register(running: &Running, peer: Peer<'_>, id: &RawValue) -> Result<Option<Registered>, RpcError> {
    let Some(session) = peer.session else { return Ok(None) };
    let taken = || RpcError::new(Code::InvalidRequest, "a request with this `id` is already running");
    running.register(session, id.get()).map(Some).ok_or_else(taken)
}

impl Registered {
    pub(super) fn token(&self) -> &CancelToken {
        &self.token
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.running.calls().remove(&self.key);
    }
}

/// Waits until a token is cancelled. Never returns without one.
pub(super) async fn cancelled_by(token: Option<CancelToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}
