//! The calls that run on a worker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use toolkit::CancelToken;

/// The running calls, by their ids.
#[derive(Default)]
pub(super) struct Running(Mutex<HashMap<Arc<str>, Handle>>);

/// The part of a call that messages about it change.
#[derive(Clone)]
pub(super) struct Handle {
    pub(super) cancel: CancelToken,
    /// A permit for each chunk that the caller has room for.
    pub(super) credit: Arc<Semaphore>,
}

/// The entry of a call. Dropping it removes the entry and cancels what is left of the call.
pub(super) struct Entry<'r> {
    running: &'r Running,
    id: Arc<str>,
    pub(super) handle: Handle,
}

/// The maximum number of chunks that a caller may have room for.
const MAX_CREDIT: usize = 1 << 20;

impl Running {
    /// Adds a call. Returns `None` if a call with this id runs.
    pub(super) fn add(&self, id: &str, credit: usize) -> Option<Entry<'_>> {
        let handle = Handle { cancel: CancelToken::new(), credit: Arc::new(Semaphore::new(credit.min(MAX_CREDIT))) };
        let id: Arc<str> = id.into();
        let mut calls = self.calls();
        if calls.contains_key(&id) {
            return None;
        }
        calls.insert(Arc::clone(&id), handle.clone());
        drop(calls);
        Some(Entry { running: self, id, handle })
    }

    pub(super) fn cancel(&self, id: &str) {
        let handle = self.calls().get(id).cloned();
        if let Some(handle) = handle {
            handle.cancel.cancel();
        }
    }

    pub(super) fn cancel_all(&self) {
        let handles: Vec<Handle> = self.calls().values().cloned().collect();
        handles.iter().for_each(|handle| handle.cancel.cancel());
    }

    pub(super) fn add_credit(&self, id: &str, n_chunks: usize) {
        if let Some(handle) = self.calls().get(id) {
            let room = MAX_CREDIT.saturating_sub(handle.credit.available_permits());
            handle.credit.add_permits(n_chunks.min(room));
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<Arc<str>, Handle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.running.calls().remove(&self.id);
        // A tool that cannot be stopped may still observe the token.
        self.handle.cancel.cancel();
    }
}
