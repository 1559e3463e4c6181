//! Deduplication of calls by their id.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use tokio::sync::watch;
use toolkit::CancelToken;

use super::refusal::Refusal;
use super::reply::Reply;

/// The running calls and the cached responses.
pub(super) struct Answers {
    state: Mutex<State>,
    max_answers: usize,
    max_bytes: usize,
}

#[derive(Default)]
struct State {
    calls: HashMap<String, Call>,
    /// The ids of the cached responses, in the order of their last use.
    by_age: BTreeMap<u64, String>,
    clock: u64,
    n_bytes: usize,
}

struct Call {
    fingerprint: Fingerprint,
    step: Step,
}

enum Step {
    Runs(Arc<Flight>),
    Ended { reply: Reply, asked_at: u64 },
}

/// A hash of the tool, the input and the context of a call.
pub(super) type Fingerprint = [u8; 32];

/// The handling of an incoming call.
pub(super) enum Admitted {
    /// Run the call, which is the first with its id.
    First(Flying, Waiting),
    /// Wait for the running call with the same id.
    Again(Waiting),
    /// Return the cached response.
    Ended(Reply),
    /// Reject the call, since another one has its id.
    Taken,
}

/// The approximate memory of a cached response apart from its bytes and two copies of its id.
const OVERHEAD: usize = 256;

impl Answers {
    pub(super) fn new(max_answers: usize, max_bytes: usize) -> Self {
        Self { state: Mutex::default(), max_answers, max_bytes }
    }

    pub(super) fn admit(self: &Arc<Self>, call_id: &str, fingerprint: Fingerprint) -> Admitted {
        let mut state = self.state();
        let State { calls, by_age, clock, .. } = &mut *state;
        match calls.get_mut(call_id) {
            Some(call) if call.fingerprint != fingerprint => Admitted::Taken,
            Some(Call { step: Step::Runs(flight), .. }) => Admitted::Again(Waiting::on(flight)),
            Some(Call { step: Step::Ended { reply, asked_at }, .. }) => {
                *clock += 1;
                by_age.remove(asked_at);
                by_age.insert(*clock, call_id.to_owned());
                *asked_at = *clock;
                Admitted::Ended(reply.clone())
            }
            None => {
                let flight = Arc::new(Flight::default());
                let call = Call { fingerprint, step: Step::Runs(Arc::clone(&flight)) };
                calls.insert(call_id.to_owned(), call);
                let waiting = Waiting::on(&flight);
                Admitted::First(Flying { answers: Arc::clone(self), call_id: call_id.to_owned(), flight }, waiting)
            }
        }
    }

    /// Caches a final response, and evicts the least recently used ones.
    fn end(&self, call_id: &str, reply: &Reply) {
        let mut state = self.state();
        let size = cost(call_id, reply);
        if !reply.is_final() || size > self.max_bytes || self.max_answers == 0 {
            state.calls.remove(call_id);
            return;
        }
        state.clock += 1;
        let asked_at = state.clock;
        if let Some(call) = state.calls.get_mut(call_id) {
            call.step = Step::Ended { reply: reply.clone(), asked_at };
            state.by_age.insert(asked_at, call_id.to_owned());
            state.n_bytes += size;
        }
        while state.by_age.len() > self.max_answers || state.n_bytes > self.max_bytes {
            let Some((_, oldest)) = state.by_age.pop_first() else { break };
            if let Some(Call { step: Step::Ended { reply, .. }, .. }) = state.calls.remove(&oldest) {
                state.n_bytes -= cost(&oldest, &reply);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(call_id: &str, reply: &Reply) -> usize {
    reply.size() + 2 * call_id.len() + OVERHEAD
}

/// The shared state of a running call.
#[derive(Default)]
struct Flight {
    cancel: CancelToken,
    n_waiting: AtomicUsize,
    reply: watch::Sender<Option<Reply>>,
}

/// A guard for running a call, which must set the response.
pub(super) struct Flying {
    answers: Arc<Answers>,
    call_id: String,
    flight: Arc<Flight>,
}

impl Flying {
    /// Returns the token that is canceled when no request waits any more.
    pub(super) fn cancel(&self) -> CancelToken {
        self.flight.cancel.clone()
    }

    pub(super) fn land(self, reply: Reply) {
        self.answers.end(&self.call_id, &reply);
        self.flight.reply.send_replace(Some(reply));
    }
}

impl Drop for Flying {
    fn drop(&mut self) {
        if self.flight.reply.borrow().is_none() {
            let lost = Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the call failed with an internal error");
            let lost = Reply::Refused(lost);
            self.answers.end(&self.call_id, &lost);
            self.flight.reply.send_replace(Some(lost));
        }
    }
}

/// A request that waits for a call. Dropping the last one before there is a response cancels the call.
pub(super) struct Waiting {
    flight: Arc<Flight>,
    reply: watch::Receiver<Option<Reply>>,
}

impl Waiting {
    fn on(flight: &Arc<Flight>) -> Self {
        flight.n_waiting.fetch_add(1, Ordering::AcqRel);
        Self { flight: Arc::clone(flight), reply: flight.reply.subscribe() }
    }

    pub(super) async fn reply(&mut self) -> Reply {
        // `self.flight` owns the sender, and a dropped `Flying` sets a response.
        match self.reply.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(reply)) => reply.clone(),
            _ => Reply::Refused(Refusal::not_ready()),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.flight.n_waiting.fetch_sub(1, Ordering::AcqRel) == 1 && self.flight.reply.borrow().is_none() {
            self.flight.cancel.cancel();
        }
    }
}
