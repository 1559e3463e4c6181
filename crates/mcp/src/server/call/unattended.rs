//! A call for which no task waits.
//!
//! Most calls end at once. A task for each of them, with its timers, would cost more than the call: the thread of the
//! tool passes on the response itself. A call that takes longer gets a task, which measures its timeouts and observes
//! its cancellation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use toolkit::CancelToken;
use toolkit_http::{CallPermit, ToolBatch};

use super::run::{Ended, run};
use super::running::RunningCall;
use super::{Call, CallEvent, CallResponse};

/// The interval at which the attendant looks for calls without a task. A call is without one for at most twice as long.
const TICK: Duration = Duration::from_millis(5);

/// The number of ticks without calls after which the attendant sleeps until it is notified.
const IDLE_TICKS: u32 = 4;

/// Receives the response of a call.
pub(in crate::server) trait Respond: Send + 'static {
    /// Passes on the response. Must not block.
    fn respond(self, response: CallResponse);
}

/// A call for which no task waits. It is empty once the call has ended, or has a task.
pub(in crate::server) struct Unattended<R>(Mutex<Option<(RunningCall, R)>>);

impl<R> Unattended<R> {
    /// Returns the call to the first that asks for it: the thread on which it has ended, or the attendant.
    fn take(&self) -> Option<(RunningCall, R)> {
        self.slot().take()
    }

    fn slot(&self) -> MutexGuard<'_, Option<(RunningCall, R)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call<'static> {
    /// Returns a permit for [`Call::start_unattended`], or `None` if the call needs a task from the beginning: it may
    /// send messages or become a task, or no permit is free.
    pub(in crate::server) fn unattended_permit(&self) -> Option<CallPermit> {
        let needs_task = self.sends_messages() || self.task.is_some();
        (!needs_task).then(|| self.shared.calls.try_acquire(&self.entry().id).ok())?
    }

    /// Adds the call to a batch of the tool pool.
    pub(in crate::server) fn start_unattended<R: Respond>(
        self,
        permit: CallPermit,
        batch: &mut ToolBatch,
        respond: R,
    ) -> Arc<Unattended<R>> {
        let mut running = self.start(false);
        let slot = Arc::new(Unattended::<R>(Mutex::new(None)));
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
}

/// Starts tasks for calls that have none for too long.
pub(in crate::server) struct Attendant<R> {
    calls: Mutex<Calls<R>>,
    /// Wakes the attendant when it is idle.
    added: Notify,
}

struct Calls<R> {
    /// The calls since the last tick.
    young: Vec<Arc<Unattended<R>>>,
    /// The calls before the last tick.
    old: Vec<Arc<Unattended<R>>>,
    is_idle: bool,
}

impl<R: Respond> Attendant<R> {
    /// Starts an attendant, which ends when `end` is cancelled and all calls have ended or have a task.
    pub(in crate::server) fn start(runtime: &Handle, end: CancelToken) -> Arc<Self> {
        let calls = Calls { young: Vec::new(), old: Vec::new(), is_idle: true };
        let attendant = Arc::new(Self { calls: Mutex::new(calls), added: Notify::new() });
        runtime.spawn(Arc::clone(&attendant).run(end));
        attendant
    }

    /// Adds calls. Leaves an empty list.
    pub(in crate::server) fn add(&self, started: &mut Vec<Arc<Unattended<R>>>) {
        let mut calls = self.calls();
        calls.young.append(started);
        let was_idle = std::mem::take(&mut calls.is_idle);
        drop(calls);
        if was_idle {
            self.added.notify_one();
        }
    }

    async fn run(self: Arc<Self>, end: CancelToken) {
        loop {
            tokio::select! {
                biased;
                () = self.added.notified() => {}
                () = end.cancelled() => return,
            }
            let mut n_idle = 0;
            while n_idle < IDLE_TICKS || !self.becomes_idle() {
                tokio::time::sleep(TICK).await;
                n_idle = if self.tick() { 0 } else { n_idle + 1 };
            }
        }
    }

    /// Starts a task for each call that had none at the last tick. Returns false if there are no calls.
    fn tick(&self) -> bool {
        let mut calls = self.calls();
        let young = std::mem::take(&mut calls.young);
        let old = std::mem::replace(&mut calls.old, young);
        let has_calls = !calls.old.is_empty() || !old.is_empty();
        drop(calls);
        for (mut running, respond) in old.iter().filter_map(|call| call.take()) {
            tokio::spawn(async move {
                loop {
                    if let CallEvent::Response(response) = running.next().await {
                        return respond.respond(response);
                    }
                }
            });
        }
        has_calls
    }

    /// Returns false if there are calls.
    fn becomes_idle(&self) -> bool {
        let mut calls = self.calls();
        calls.is_idle = calls.young.is_empty() && calls.old.is_empty();
        calls.is_idle
    }

    fn calls(&self) -> MutexGuard<'_, Calls<R>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
