//! The calls that run on a worker.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::running_call::Call;

/// The running calls, by their ids.
#[derive(Default)]
pub(super) struct Running {
    calls: Mutex<HashMap<Arc<str>, Arc<Call>>>,
    permits: Permits,
    /// Notified when a call is added.
    pub(super) added: Notify,
}

/// The number of calls whose tools run, including abandoned ones.
#[derive(Clone, Default)]
struct Permits(Arc<(AtomicUsize, Notify)>);

/// Counts a call until its tool has ended.
pub(super) struct Permit(Permits);

impl Running {
    /// Adds a call. Returns `None` if a call with its id runs.
    pub(super) fn add(&self, call: Call) -> Option<(Arc<Call>, Permit)> {
        let mut calls = self.calls();
        if calls.contains_key(&call.id) {
            return None;
        }
        let call = Arc::new(call);
        calls.insert(Arc::clone(&call.id), Arc::clone(&call));
        drop(calls);
        self.permits.0.0.fetch_add(1, Ordering::AcqRel);
        self.added.notify_one();
        Some((call, Permit(self.permits.clone())))
    }

    /// Removes a call that has ended, and cancels what is left of it.
    pub(super) fn remove(&self, call: &Call) {
        self.calls().remove(&call.id);
        // A tool that cannot be stopped may still observe the token.
        call.cancel.cancel();
    }

    /// Returns the number of calls whose tools run.
    pub(super) fn len(&self) -> usize {
        self.permits.0.0.load(Ordering::Acquire)
    }

    /// Waits until the tool of a call has ended.
    pub(super) async fn ended(&self) {
        self.permits.0.1.notified().await;
    }

    /// Returns the calls at this moment.
    pub(super) fn all(&self) -> Vec<Arc<Call>> {
        self.calls().values().cloned().collect()
    }

    pub(super) fn cancel(&self, id: &str) {
        let call = self.calls().get(id).cloned();
        if let Some(call) = call {
            call.cancel();
        }
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.calls().contains_key(id)
    }

    /// Records that the server has found no receiver of a beat.
    pub(super) fn caller_is_gone(&self, id: &str) {
        let call = self.calls().get(id).cloned();
        let Some(call) = call else { return };
        call.caller_is_gone();
    }

    /// Records that the caller has received a beat.
    pub(super) fn caller_is_here(&self, id: &str) {
        if let Some(call) = self.calls().get(id) {
            call.caller_is_here();
        }
    }

    pub(super) fn add_credit(&self, id: &str, n_chunks: usize) {
        if let Some(call) = self.calls().get(id) {
            call.add_credit(n_chunks);
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Call>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let (n_permits, ended) = &*self.0.0;
        n_permits.fetch_sub(1, Ordering::AcqRel);
        ended.notify_one();
    }
}
