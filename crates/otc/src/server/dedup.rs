//! Deduplication of calls by their id. How many responses are kept is a limit of `server`.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::StatusCode;
use tokio::sync::watch;
use toolkit::CancelToken;

use super::reply::{Rejection, Reply};

/// The running calls and the cached responses.
pub(super) struct Dedup {
    state: Mutex<DedupState>,
    max_cached_responses: usize,
    max_bytes: usize,
}

#[derive(Default)]
struct DedupState {
    calls: HashMap<String, KnownCall>,
    /// The ids of the cached responses, in the order of their last use.
    by_age: BTreeMap<u64, String>,
    clock: u64,
    n_bytes: usize,
}

struct KnownCall {
    fingerprint: Fingerprint,
    step: CallStep,
}

enum CallStep {
    Runs(Arc<RunningCall>),
    Ended { reply: Reply, asked_at: u64 },
}

/// A hash of the tool, the input and the context of a call.
pub(super) type Fingerprint = [u8; 32];

/// The handling of an incoming call.
pub(super) enum Admission {
    /// Run the call, which is the first with its id.
    First(CallGuard, Waiter),
    /// Wait for the running call with the same id.
    Again(Waiter),
    /// Return the cached response.
    Ended(Reply),
    /// Reject the call, since another one has its id.
    Taken,
}

/// The approximate memory of a cached response apart from its bytes and two copies of its id.
const OVERHEAD: usize = 256;

impl Dedup {
    pub(super) fn new(max_cached_responses: usize, max_bytes: usize) -> Self {
        Self { state: Mutex::default(), max_cached_responses, max_bytes }
    }

    pub(super) fn admit(self: &Arc<Self>, call_id: &str, fingerprint: Fingerprint) -> Admission {
        let mut state = self.state();
        let DedupState { calls, by_age, clock, .. } = &mut *state;
        match calls.get_mut(call_id) {
            Some(call) if call.fingerprint != fingerprint => Admission::Taken,
            Some(KnownCall { step: CallStep::Runs(running), .. }) => Admission::Again(Waiter::on(running)),
            Some(KnownCall { step: CallStep::Ended { reply, asked_at }, .. }) => {
                *clock += 1;
                by_age.remove(asked_at);
                by_age.insert(*clock, call_id.to_owned());
                *asked_at = *clock;
                Admission::Ended(reply.clone())
            }
            None => {
                let running = Arc::new(RunningCall::default());
                let call = KnownCall { fingerprint, step: CallStep::Runs(Arc::clone(&running)) };
                calls.insert(call_id.to_owned(), call);
                let waiter = Waiter::on(&running);
                Admission::First(CallGuard { dedup: Arc::clone(self), call_id: call_id.to_owned(), running }, waiter)
            }
        }
    }

    /// Caches a final response, and evicts the least recently used ones.
    fn end(&self, call_id: &str, reply: &Reply) {
        let mut state = self.state();
        let size = cost(call_id, reply);
        if !reply.is_final() || size > self.max_bytes || self.max_cached_responses == 0 {
            state.calls.remove(call_id);
            return;
        }
        state.clock += 1;
        let asked_at = state.clock;
        if let Some(call) = state.calls.get_mut(call_id) {
            call.step = CallStep::Ended { reply: reply.clone(), asked_at };
            state.by_age.insert(asked_at, call_id.to_owned());
            state.n_bytes += size;
        }
        while state.by_age.len() > self.max_cached_responses || state.n_bytes > self.max_bytes {
            let Some((_, oldest)) = state.by_age.pop_first() else { break };
            if let Some(KnownCall { step: CallStep::Ended { reply, .. }, .. }) = state.calls.remove(&oldest) {
                state.n_bytes -= cost(&oldest, &reply);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, DedupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(call_id: &str, reply: &Reply) -> usize {
    reply.size() + 2 * call_id.len() + OVERHEAD
}

/// The shared state of a running call.
#[derive(Default)]
struct RunningCall {
    cancel: CancelToken,
    n_waiting: AtomicUsize,
    reply: watch::Sender<Option<Reply>>,
}

/// A guard for running a call, which must set the response.
pub(super) struct CallGuard {
    dedup: Arc<Dedup>,
    call_id: String,
    running: Arc<RunningCall>,
}

impl CallGuard {
    /// Returns the token that is canceled when the last waiting request has ended.
    pub(super) fn cancel(&self) -> CancelToken {
        self.running.cancel.clone()
    }

    pub(super) fn complete(self, reply: Reply) {
        self.dedup.end(&self.call_id, &reply);
        self.running.reply.send_replace(Some(reply));
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        if self.running.reply.borrow().is_none() {
            let lost = Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, "the call failed with an internal error");
            let lost = Reply::Rejected(lost);
            self.dedup.end(&self.call_id, &lost);
            self.running.reply.send_replace(Some(lost));
        }
    }
}

/// A request that waits for a call. Dropping the last one before there is a response cancels the call.
pub(super) struct Waiter {
    running: Arc<RunningCall>,
    reply: watch::Receiver<Option<Reply>>,
}

impl Waiter {
    fn on(running: &Arc<RunningCall>) -> Self {
        running.n_waiting.fetch_add(1, Ordering::AcqRel);
        Self { running: Arc::clone(running), reply: running.reply.subscribe() }
    }

    pub(super) async fn reply(&mut self) -> Reply {
        // `self.running` owns the sender, and a dropped `CallGuard` sets a response.
        match self.reply.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(reply)) => reply.clone(),
            _ => Reply::Rejected(Rejection::not_ready()),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if self.running.n_waiting.fetch_sub(1, Ordering::AcqRel) == 1 && self.running.reply.borrow().is_none() {
            self.running.cancel.cancel();
        }
    }
}
