//! A call for which no task waits.
//!
//! Most calls end at once. A task for each of them, with its timers, would cost more than the call: the thread of the
//! tool passes on the response itself. A call that takes longer gets a task, which measures its timeouts and observes
//! its cancellation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use toolkit_runtime::{CallPermit, ToolBatch};

use super::run::{Ended, run};
use super::running::RunningCall;
use super::{Call, CallResponse, Events};
use crate::late::MayBeLate;

/// Receives the response of a call.
pub(crate) trait Respond: Send + 'static {
    /// Passes on the response. Must not block.
    fn respond(self, response: CallResponse);
}

/// A call for which no task waits. It is empty once the call has ended, or has a task.
pub(crate) struct Unattended<R> {
    call: Mutex<Option<(RunningCall, R)>>,
    /// Runs the task of a call that is late.
    runtime: Handle,
}

impl<R: Respond> Unattended<R> {
    /// Returns a permit for [`Unattended::start`], or `None` if the call needs a task from the beginning: it may send
    /// messages or become a task, or no permit is free.
    pub(crate) fn permit(call: &Call<'_>) -> Option<CallPermit> {
        let needs_task = call.sends_messages() || call.task.is_some();
        (!needs_task).then(|| call.shared.calls.try_acquire(&call.entry().id).ok())?
    }

    /// Adds a call to a batch of the tool pool.
    pub(crate) fn start(
        call: Call<'static>,
        permit: CallPermit,
        batch: &mut ToolBatch,
        respond: R,
        runtime: Handle,
    ) -> Arc<Self> {
        let mut running = RunningCall::start(call, false);
        let slot = Arc::new(Self { call: Mutex::new(None), runtime });
        let (call, ending) = (Arc::clone(running.call()), Arc::clone(&slot));
        let work = async move {
            let ended = run(call, permit).await;
            match ending.take() {
                Some((mut running, respond)) => {
                    let response = running.finish(ended);
                    // The client may use the id again once it has the response.
                    drop(running);
                    respond.respond(response);
                    Ended::nothing()
                }
                None => ended,
            }
        };
        running.runs(|id| batch.spawn(id, work));
        *slot.slot() = Some((running, respond));
        slot
    }

    /// Returns the call to the first that asks for it: the thread on which it has ended, or the task of a late call.
    fn take(&self) -> Option<(RunningCall, R)> {
        self.slot().take()
    }

    fn slot(&self) -> MutexGuard<'_, Option<(RunningCall, R)>> {
        self.call.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Respond> MayBeLate for Unattended<R> {
    fn is_late(&self) {
        if let Some((mut running, respond)) = self.take() {
            self.runtime.spawn(async move { respond.respond(running.response().await) });
        }
    }
}
