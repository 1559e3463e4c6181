//! The permit of a call that may ask its user. The call does not hold it while a question is open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolkit_http::{CallLimiter, CallPermit};

/// The time that a call waits for a permit after its user has answered.
const RETURN_TIMEOUT: Duration = Duration::from_secs(60);

/// The permit of a call, if it holds one.
#[derive(Clone, Default)]
pub(in crate::server) struct PermitSlot(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    permit: Option<CallPermit>,
    n_open: usize,
}

/// An open question. Dropping it takes the permit back if one is free.
pub(super) struct Away<'s> {
    slot: &'s PermitSlot,
    limiter: &'s CallLimiter,
    tool: &'s str,
    is_closed: bool,
}

impl PermitSlot {
    pub(super) fn store(&self, permit: CallPermit) {
        self.state().permit = Some(permit);
    }

    pub(super) fn clear(&self) {
        drop(self.state().permit.take());
    }

    /// Returns the permit to the limiter while a question is open. The other calls must not wait for this user.
    pub(super) fn leave<'s>(&'s self, limiter: &'s CallLimiter, tool: &'s str) -> Away<'s> {
        let mut state = self.state();
        state.n_open += 1;
        drop(state.permit.take());
        Away { slot: self, limiter, tool, is_closed: false }
    }

    /// Stores a permit that was acquired for the call, unless another question is open or it has one.
    fn refill(&self, permit: CallPermit) {
        let mut state = self.state();
        if state.n_open == 0 && state.permit.is_none() {
            state.permit = Some(permit);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Away<'_> {
    /// Closes the question, and waits for a permit if it was the last open one. Returns false if none was free in time.
    pub(super) async fn come_back(mut self) -> bool {
        if !self.close() {
            return true;
        }
        match tokio::time::timeout(RETURN_TIMEOUT, self.limiter.acquire(self.tool)).await {
            Ok(Ok(permit)) => self.slot.refill(permit),
            _ => return false,
        }
        true
    }

    /// Returns true if the call needs a permit now.
    fn close(&mut self) -> bool {
        self.is_closed = true;
        let mut state = self.slot.state();
        state.n_open -= 1;
        state.n_open == 0 && state.permit.is_none()
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        if !self.is_closed
            && self.close()
            && let Ok(permit) = self.limiter.try_acquire(self.tool)
        {
            self.slot.refill(permit);
        }
    }
}
