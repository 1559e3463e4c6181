//! The permit of a call that may ask its user, which the call does not hold meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_runtime::{CallLimiter, CallPermit};

/// The permit of a call, if it holds one.
#[derive(Clone, Default)]
pub(crate) struct PermitSlot(Arc<Mutex<SlotState>>);

#[derive(Default)]
struct SlotState {
    permit: Option<CallPermit>,
    n_open: usize,
}

/// An open question. Dropping it takes the permit back if one is free.
struct Away<'s> {
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

    /// Waits for the answer of a user without the permit, and takes it back afterwards, within `patience`.
    ///
    /// # Errors
    ///
    /// Returns the error of the answer, or one if no permit is free afterwards.
    pub(super) async fn without<T>(
        &self,
        limiter: &CallLimiter,
        tool: &str,
        patience: Duration,
        answer: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let away = self.leave(limiter, tool);
        let answer = answer.await;
        if !away.come_back(patience).await {
            let message = "the server has no free permit for the call after the answer of its user; try again later";
            return Err(ToolError::new(ErrorKind::Overloaded, message));
        }
        answer
    }

    /// Returns the permit to the limiter while a question is open. The other calls must not wait for this user.
    fn leave<'s>(&'s self, limiter: &'s CallLimiter, tool: &'s str) -> Away<'s> {
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

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Away<'_> {
    /// Closes the question, and waits for a permit if it was the last open one. Returns false if none was free in time.
    async fn come_back(mut self, patience: Duration) -> bool {
        if !self.close() {
            return true;
        }
        match tokio::time::timeout(patience, self.limiter.acquire(self.tool)).await {
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
