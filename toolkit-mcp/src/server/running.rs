//! The calls that run, so that a later message can cancel one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolkit::CancelToken;

/// The calls that run, by who made them and the id of the request.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Arc<Mutex<Calls>>);

type Calls = HashMap<Key, CancelToken>;
type Key = (Box<str>, Box<str>);

/// A call that runs; it is forgotten when this is dropped.
#[derive(Debug)]
pub(super) struct Registered {
    running: Running,
    key: Key,
    token: CancelToken,
}

impl Running {
    /// Registers a call. `None` where the same peer has one of that id already.
    pub(super) fn register(&self, peer: &str, id: &str) -> Option<Registered> {
        let key: Key = (peer.into(), id.into());
        let token = CancelToken::new();
        let mut calls = self.calls();
        if calls.contains_key(&key) {
            return None;
        }
        calls.insert(key.clone(), token.clone());
        drop(calls);
        Some(Registered { running: self.clone(), key, token })
    }

    pub(super) fn cancel(&self, peer: &str, id: &str) {
        let token = self.calls().get(&(peer.into(), id.into())).cloned();
        if let Some(token) = token {
            token.cancel();
        }
    }

    /// Cancels all calls of a peer that has said that it goes.
    pub(super) fn cancel_all_of(&self, peer: &str) {
        let calls = self.calls();
        calls.iter().filter(|((of, _), _)| **of == *peer).for_each(|(_, token)| token.cancel());
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
