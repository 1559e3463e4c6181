//! The permit of a call that may ask its user, which the call does not hold meanwhile.

use std::sync::Arc;
use std::time::Duration;

use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_runtime::{CallLimiter, CallPermit, Mutex};

/// The permit of a call, if it holds one.
#[derive(Clone)]
pub(crate) struct PermitSlot(Arc<SlotShared>);

struct SlotShared {
    limiter: CallLimiter,
    /// The id of the tool.
    tool: Arc<str>,
    /// The name of the caller that has a share of the permits.
    caller: Option<Box<str>>,
    state: Mutex<SlotState>,
}

#[derive(Default)]
struct SlotState {
    permit: Option<CallPermit>,
    n_open: usize,
}

/// An open question. Dropping it takes the permit back if one is free.
struct Away<'s> {
    slot: &'s PermitSlot,
    is_closed: bool,
}

impl PermitSlot {
    /// Creates the empty slot of a call.
    pub(super) fn new(limiter: &CallLimiter, tool: &Arc<str>, caller: Option<&str>) -> Self {
        let (limiter, tool, caller) = (limiter.clone(), Arc::clone(tool), caller.map(Box::from));
        Self(Arc::new(SlotShared { limiter, tool, caller, state: Mutex::default() }))
    }

    pub(super) fn store(&self, permit: CallPermit) {
        self.0.state.lock().permit = Some(permit);
    }

    pub(super) fn clear(&self) {
        drop(self.0.state.lock().permit.take());
    }

    /// Waits for the answer of a user without the permit, and takes it back afterwards, within `patience`.
    ///
    /// # Errors
    ///
    /// Returns the error of the answer, or one if no permit is free afterwards.
    pub(super) async fn without<T>(
        &self,
        patience: Duration,
        answer: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let away = self.leave();
        let answer = answer.await;
        if !away.come_back(patience).await {
            let message = "the server has no free permit for the call after the answer of its user; try again later";
            return Err(ToolError::new(ErrorKind::Overloaded, message));
        }
        answer
    }

    /// Returns the permit to the limiter while a question is open. The other calls must not wait for this user.
    fn leave(&self) -> Away<'_> {
        let mut state = self.0.state.lock();
        state.n_open += 1;
        drop(state.permit.take());
        Away { slot: self, is_closed: false }
    }

    /// Stores a permit that was acquired for the call, unless another question is open or it has one.
    fn refill(&self, permit: CallPermit) {
        let mut state = self.0.state.lock();
        if state.n_open == 0 && state.permit.is_none() {
            state.permit = Some(permit);
        }
    }
}

impl Away<'_> {
    /// Closes the question, and waits for a permit if it was the last open one. Returns false if none was free in time.
    async fn come_back(mut self, patience: Duration) -> bool {
        if !self.close() {
            return true;
        }
        let SlotShared { limiter, tool, caller, .. } = &*self.slot.0;
        match tokio::time::timeout(patience, limiter.acquire(Arc::clone(tool), caller.as_deref())).await {
            Ok(Ok(permit)) => self.slot.refill(permit),
            _ => return false,
        }
        true
    }

    /// Returns true if the call needs a permit now.
    fn close(&mut self) -> bool {
        self.is_closed = true;
        let mut state = self.slot.0.state.lock();
        state.n_open -= 1;
        state.n_open == 0 && state.permit.is_none()
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        let SlotShared { limiter, tool, caller, .. } = &*self.slot.0;
        if !self.is_closed
            && self.close()
            && let Ok(permit) = limiter.try_acquire(Arc::clone(tool), caller.as_deref())
        {
            self.slot.refill(permit);
        }
    }
}
