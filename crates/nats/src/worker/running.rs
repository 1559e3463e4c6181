//! The calls that run on a worker.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_nats::Subject;
use tokio::sync::{Notify, Semaphore};
use toolkit::CancelToken;
use toolkit_runtime::{Mutex, Task};

use crate::worker::claims::Claim;

/// The running calls, by their ids.
#[derive(Default)]
pub(super) struct RunningCalls {
    calls: Mutex<HashMap<Arc<str>, Arc<RunningCall>>>,
    permits: Permits,
    /// Notified when a call is added.
    pub(super) added: Notify,
}

/// The number of calls whose tools run, including abandoned ones.
#[derive(Clone, Default)]
struct Permits(Arc<(AtomicUsize, Notify)>);

/// Counts a call until its tool has ended.
pub(super) struct Permit(Permits);

impl RunningCalls {
    /// Adds a call. Returns `None` if a call with its id runs.
    pub(super) fn add(&self, call: RunningCall) -> Option<(Arc<RunningCall>, Permit)> {
        let mut calls = self.calls.lock();
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
    pub(super) fn remove(&self, call: &RunningCall) {
        self.calls.lock().remove(&call.id);
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
    pub(super) fn all(&self) -> Vec<Arc<RunningCall>> {
        self.calls.lock().values().cloned().collect()
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<RunningCall>> {
        self.calls.lock().get(id).cloned()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let (n_permits, ended) = &*self.0.0;
        n_permits.fetch_sub(1, Ordering::AcqRel);
        ended.notify_one();
    }
}

/// A running call.
pub(super) struct RunningCall {
    pub(super) id: Arc<str>,
    pub(super) cancel: CancelToken,
    /// A permit for each chunk that the caller has room for.
    pub(super) credit: Semaphore,
    pub(super) started: Instant,
    pub(super) deadline: Instant,
    state: Mutex<CallState>,
}

/// The state of a call, on which its end and its supervision must agree.
#[derive(Default)]
struct CallState {
    phase: Phase,
    /// The subject of the next event.
    to: Option<Subject>,
    /// The subject of the events after the first.
    events: Option<Subject>,
    /// The time of the next sign of life, if the caller reads them.
    next_alive: Option<Instant>,
    cancelled: Option<Instant>,
    /// The number of beats since the caller has answered one. `None` before it has.
    n_unanswered: Option<u32>,
    /// The time at which the server last reported that the caller is gone.
    gone: Option<Instant>,
    claim: Option<Arc<Claim>>,
    /// True if the call was ended by the future of its tool, which must not be dropped before its reply is sent.
    is_replying: bool,
    /// The tool, whose future is dropped with the handle.
    task: Option<Task<()>>,
}

/// The end of a call.
pub(super) struct EndedCall {
    /// The subject of the last event.
    pub(super) to: Option<Subject>,
    /// The tool. Dropping it cancels the tool at its next suspension.
    pub(super) task: Option<Task<()>>,
    pub(super) claim: Option<Arc<Claim>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    New,
    Accepted,
    Ended,
}

/// The time after which a beat without a receiver is repeated.
const CONFIRM_AFTER: Duration = Duration::from_millis(800);

/// The number of beats that a caller may leave unanswered.
const MAX_UNANSWERED: u32 = 3;

/// The maximum number of chunks that a caller may have room for.
const MAX_CREDIT: usize = 1 << 20;

impl RunningCall {
    /// Creates a call. Its first event goes to `reply` and the others to `events`; `first_alive` is the time of the first
    /// sign of life.
    pub(super) fn new(
        id: &str,
        credit: usize,
        reply: Option<Subject>,
        events: Option<Subject>,
        [started, deadline]: [Instant; 2],
        first_alive: Option<Instant>,
    ) -> Self {
        let events = events.or_else(|| reply.clone());
        let state = CallState { events, to: reply, next_alive: first_alive, ..CallState::default() };
        Self {
            id: id.into(),
            cancel: CancelToken::new(),
            credit: Semaphore::new(credit.min(MAX_CREDIT)),
            started,
            deadline,
            state: Mutex::new(state),
        }
    }

    pub(super) fn cancel(&self) {
        self.state.lock().cancelled.get_or_insert_with(Instant::now);
        self.cancel.cancel();
    }

    /// Returns the time at which the call was cancelled.
    pub(super) fn cancelled(&self) -> Option<Instant> {
        self.state.lock().cancelled
    }

    /// Records that the server has found no receiver of a beat. The call is cancelled if it finds none soon afterwards either:
    /// a caller that has lost its connection reconnects at once.
    pub(super) fn caller_is_gone(&self) {
        let (now, mut state) = (Instant::now(), self.state.lock());
        let before = state.gone.replace(now);
        if before.is_some_and(|before| now.saturating_duration_since(before) <= 3 * CONFIRM_AFTER) {
            drop(state);
            self.cancel();
        } else {
            state.next_alive = state.next_alive.map(|next| next.min(now + CONFIRM_AFTER));
        }
    }

    /// Records that the caller has received a beat.
    pub(super) fn caller_is_here(&self) {
        self.state.lock().n_unanswered = Some(0);
    }

    pub(super) fn add_credit(&self, n_chunks: usize) {
        let room = MAX_CREDIT.saturating_sub(self.credit.available_permits());
        self.credit.add_permits(n_chunks.min(room));
    }

    /// Keeps the claim of the call until it has ended.
    pub(super) fn set_claim(&self, claim: Arc<Claim>) {
        self.state.lock().claim = Some(claim);
    }

    /// Keeps the future of the tool until the call has ended.
    pub(super) fn hold(&self, task: Task<()>) {
        let mut state = self.state.lock();
        if state.phase != Phase::Ended || state.is_replying {
            state.task = Some(task);
            return;
        }
        drop(state);
        // Dropped after unlocking: dropping a future runs code of the tool.
        drop(task);
    }

    /// Ends the call from the future of its tool, which is going to reply. Returns `None` if it has ended before.
    pub(super) fn end_and_reply(&self) -> Option<EndedCall> {
        self.end_with(true)
    }

    /// Ends the call. Returns `None` if it has ended before.
    pub(super) fn end(&self) -> Option<EndedCall> {
        self.end_with(false)
    }

    fn end_with(&self, is_replying: bool) -> Option<EndedCall> {
        let mut state = self.state.lock();
        if state.phase == Phase::Ended {
            return None;
        }
        state.phase = Phase::Ended;
        state.is_replying = is_replying;
        Some(EndedCall { to: state.to.clone(), task: state.task.take(), claim: state.claim.take() })
    }

    /// Returns the name and the subject of a sign of life if one is due, and sets the time of the next.
    pub(super) fn alive(&self, now: Instant, next: impl FnOnce(bool) -> Instant) -> Option<(&'static str, Subject)> {
        let mut state = self.state.lock();
        if state.phase == Phase::Ended || state.next_alive.is_none_or(|due| due > now) {
            return None;
        }
        let is_first = state.phase == Phase::New;
        state.next_alive = Some(next(is_first));
        if let Some(n_unanswered) = &mut state.n_unanswered {
            *n_unanswered += 1;
            if *n_unanswered > MAX_UNANSWERED {
                // The caller is cut off, and the server has not noticed.
                state.cancelled.get_or_insert(now);
                self.cancel.cancel();
            }
        }
        let to = state.to.clone()?;
        if is_first {
            state.phase = Phase::Accepted;
            state.to = state.events.clone();
        }
        Some((if is_first { "accepted" } else { "beat" }, to))
    }

    /// Returns true if the caller waits for the first sign of life.
    pub(super) fn is_new(&self) -> bool {
        let state = self.state.lock();
        state.phase == Phase::New && state.next_alive.is_some()
    }

    /// Returns the subject of the next event.
    pub(super) fn to(&self) -> Option<Subject> {
        self.state.lock().to.clone()
    }
}
